"""What studies share: their results, their files, their numbers, and the command."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from cyclopts import App, Parameter
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from colme import simulate, studies
from colme.cli.study import study
from colme.studies import STUDIES, Curve, Study, run, save
from colme.studies.figure import draw
from colme.studies.finding import text_of
from colme.studies.work import Work, chance_of, ever_excluded, three_classes

DEMO = Study(
    name="demo",
    question="How many?",
    answer="Two.",
    columns=("case", "n", "share"),
    rows=(("all", 2, 0.25), ("none", None, 1234.5)),
    curves=(
        Curve("seen", (1.0, 2.0, 5.0), (3.0, 2.0, 1.0)),
        Curve("seen (theory)", (1.0, 2.0, 5.0), (4.0, 3.0, 2.0), theory=True),
    ),
    x_label="m",
    y_label="steps",
    log="xy",
    notes=("A note.",),
    runs=3,
)

app = App(
    name="colme",
    default_parameter=Parameter(consume_multiple=True, negative=()),
    result_action="return_value",
)
app.command(study)


def command(*arguments: str) -> None:
    app(["study", *arguments], exit_on_error=False, print_error=False)


def test_a_result_becomes_json_and_back() -> None:
    plain = DEMO.to_plain()
    again = json.loads(json.dumps(plain))
    assert again == plain
    curves = tuple(
        Curve(c["name"], tuple(c["x"]), tuple(c["y"]), c["theory"]) for c in again.pop("curves")
    )
    again["columns"], again["notes"] = tuple(again["columns"]), tuple(again["notes"])
    again["rows"] = tuple(tuple(cells) for cells in again["rows"])
    assert Study(**again, curves=curves) == DEMO


def test_a_table_is_one_line_for_each_row_and_all_have_as_many_cells() -> None:
    lines = [line for line in DEMO.to_markdown().splitlines() if line.startswith("|")]
    assert lines[:2] == ["| case | n | share |", "|---|---|---|"]
    assert lines[2:] == ["| all | 2 | 0.25 |", "| none |  | 1234 |"]


@pytest.mark.parametrize(
    ("row", "column", "words"),
    [
        ("some", "n", "unknown row 'some'; known: all, none"),
        ("all", "m", "unknown column 'm'; known: case, n, share"),
    ],
)
def test_a_cell_that_is_not_there_is_refused(row: str, column: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        DEMO.value(row, column)


@given(st.floats(-1e9, 1e9))
def test_a_number_keeps_three_digits(value: float) -> None:
    assert float(text_of(value)) == pytest.approx(value, rel=0.0051, abs=1e-300)


def test_files_hold_the_study_and_its_figure_is_the_same_every_time(tmp_path: Path) -> None:
    paths = save(DEMO, tmp_path / "new")
    assert [path.name for path in paths] == ["demo.json", "demo.md", "demo.svg"]
    assert json.loads(paths[0].read_text()) == DEMO.to_plain()
    assert paths[1].read_text() == DEMO.to_markdown()
    assert paths[2].read_bytes() == draw(DEMO)
    picture = paths[2].read_text()
    assert picture.count("#0072B2".lower()) >= 2  # both lines of one name have its colour
    assert {path.name for path in (tmp_path / "new").iterdir()} == {path.name for path in paths}


@given(n=st.integers(1, 2000), risk=st.floats(1e-4, 0.2), data=st.data())
def test_the_chance_is_that_of_an_exact_binomial_test(
    n: int, risk: float, data: st.DataObject
) -> None:
    failed = data.draw(st.integers(0, min(n, 12)))
    exact = binomtest(failed, n, risk, alternative="greater").pvalue
    assert chance_of(failed, n, risk) == pytest.approx(exact, rel=1e-6, abs=1e-11)


def test_who_ruled_out_a_classmate_is_found() -> None:
    samples = np.zeros((2, 5, 4))
    samples[1, :, 3] = 9.0
    trajectory = simulate(samples, "round-robin", sigma=0.1, labels=[0, 0, 1, 1])
    assert ever_excluded(trajectory).tolist() == [[False] * 4, [False, False, True, True]]


def test_progress_goes_up_to_the_end_and_names_what_runs() -> None:
    told: list[tuple[str, float]] = []
    work = Work(runs=2, parts=2, progress=lambda *what: told.append(what))
    scenario = work.scenario(three_classes(6), 20)
    for name in ("one", "two"):
        work.simulate(name, scenario, "local")
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert list(dict.fromkeys(name for name, _ in told)) == ["one", "two"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"name": "swarms"}, "unknown study 'swarms'; known: batches, rates, views, noise, drift"),
        ({"name": "rates", "runs": 0}, "runs must be at least 1; received 0"),
        ({"name": "rates", "seed": -1}, "seed must be 0 or greater; received -1"),
        ({"name": "rates", "threads": 0}, "threads must be at least 1; received 0"),
    ],
)
def test_bad_input_is_refused_before_any_work(settings: dict[str, int], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        run(**settings)  # type: ignore[arg-type]


def test_the_command_lists_every_study(capsys: pytest.CaptureFixture[str]) -> None:
    command("--list")
    words = " ".join(capsys.readouterr().out.split())
    command("--list", "--json")
    questions = json.loads(capsys.readouterr().out)
    assert questions == {name: recipe.question for name, recipe in STUDIES.items()}
    assert all(name in words for name in STUDIES)


def test_the_command_prints_writes_and_repeats_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["rates", "--runs", "1", "--threads", "1", "--out", str(tmp_path)]
    command(*arguments, "--json")
    kept = (tmp_path / "rates.json").read_text()
    assert json.loads(capsys.readouterr().out) == json.loads(kept)
    figure = (tmp_path / "rates.svg").read_bytes()
    command("rates", "--runs", "1", "--threads", "2", "--out", str(tmp_path))
    assert (tmp_path / "rates.json").read_text() == kept
    assert (tmp_path / "rates.svg").read_bytes() == figure
    out = capsys.readouterr().out
    words = " ".join(out.split())
    assert json.loads(kept)["answer"] in words
    assert f"kept {tmp_path / 'rates.md'}" in out
    assert "\x1b" not in out


def test_the_command_refuses_before_it_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="name a study; known: batches, rates"):
        command()
    with pytest.raises(ValueError, match="unknown study 'swarms'; known: batches, rates"):
        command("swarms")
    assert list(tmp_path.iterdir()) == []
    Path("a-file").write_text("kept")
    with pytest.raises(ValueError, match="'a-file': it is a file, not a folder"):
        command("rates", "--out", "a-file")


def test_the_help_names_every_study_and_shows_no_python(
    capsys: pytest.CaptureFixture[str],
) -> None:
    app(["study", "--help"])
    out = capsys.readouterr().out
    assert all(name in out for name in STUDIES)
    assert ">>>" not in out


def test_the_package_offers_its_names_in_order() -> None:
    assert studies.__all__ == ["STUDIES", "Curve", "Study", "run", "save"]


def test_one_command_draws_every_figure_of_the_documentation() -> None:
    root = Path(__file__).parents[1]
    target = (root / "Makefile").read_text().split("\nfigures:")[1].split("\n\n")[0]
    for figure in (root / "docs" / "figures").iterdir():
        assert figure.stem.removeprefix("study-") in target
