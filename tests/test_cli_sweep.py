"""`colme sweep`: its flags, what it says, and bad files in one clear line."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from test_cli import run

from colme.sweep.point_journal import Journal

SPEC = """
algorithms = ["local"]
horizon = 20
runs = 2

[problem]
class_means = [0.2, 0.8]
sigma = 0.3

[grid]
"problem.n_agents" = [4, 6]
delta = [0.1, 0.01]
"""


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("grid.toml")
    path.write_text(SPEC)
    return path


def test_a_sweep_says_what_it_did_and_how_to_ask_its_results(
    capsys: pytest.CaptureFixture[str], spec: Path
) -> None:
    code, out, err = run(capsys, "sweep", "grid.toml", "--workers", "1")
    assert code == 0
    assert err.splitlines() == [f"{done} of 4 points" for done in range(5)]
    said = out.splitlines()
    assert said[0].startswith("4 points measured: ")
    assert said[1] == "8 rows in grid.parquet; for instance:"
    assert said[2].strip() == (
        'SELECT "problem.n_agents", "delta", algorithm, avg(final_error_mean) '
        "FROM 'grid.parquet' GROUP BY ALL ORDER BY ALL"
    )
    assert pq.read_table("grid.parquet").num_rows == 8
    code, out, err = run(capsys, "sweep", "grid.toml")
    assert (code, err) == (0, "")
    assert out == "grid.parquet holds all 4 points of this sweep already\n"


def test_a_dry_run_lists_the_points_and_does_nothing(
    capsys: pytest.CaptureFixture[str], spec: Path
) -> None:
    code, out, err = run(capsys, "sweep", "grid.toml", "--dry-run")
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert lines[:3] == [["4", "points"], ["point", "problem.n_agents", "delta"], ["0", "4", "0.1"]]
    code, out, _ = run(capsys, "sweep", "grid.toml", "--dry-run", "--json")
    assert json.loads(out)[3] == {"problem.n_agents": 6, "delta": 0.01}
    spec.write_text(SPEC + f"seed = {list(range(50))}\n")
    _, out, _ = run(capsys, "sweep", "grid.toml", "--dry-run")
    numbers = [line.split()[0] for line in out.splitlines()[2:]]
    assert numbers == [*map(str, range(10)), "...", *map(str, range(190, 200))]
    assert [path.name for path in Path().iterdir()] == ["grid.toml"]


def test_two_sweeps_cannot_write_to_one_file(
    capsys: pytest.CaptureFixture[str], spec: Path
) -> None:
    with Journal(Path("grid.parquet.journal")):  # as the first of them holds it
        code, _, err = run(capsys, "sweep", "grid.toml", "--workers", "1")
    assert code == 2
    assert "another sweep is writing to" in err


def test_names_are_shown_as_they_are(capsys: pytest.CaptureFixture[str], spec: Path) -> None:
    odd = Path("it's [bold]:bug:.toml")
    spec.rename(odd)
    code, out, _ = run(capsys, "sweep", str(odd), "--workers", "1")
    assert code == 0
    assert "rows in it's [bold]:bug:.parquet" in out
    assert "FROM 'it''s [bold]:bug:.parquet'" in out


def test_results_never_replace_what_asks_for_them(
    capsys: pytest.CaptureFixture[str], spec: Path
) -> None:
    spec.rename("grid.parquet")
    code, _, err = run(capsys, "sweep", "grid.parquet", "--overwrite")
    assert code == 2
    assert "the results would replace 'grid.parquet': choose another name with --out" in err
    assert Path("grid.parquet").read_text() == SPEC


def test_an_interrupted_sweep_says_where_its_points_are(
    capsys: pytest.CaptureFixture[str], spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        Path("a[/b].parquet.journal").touch()
        raise KeyboardInterrupt

    Path("a[").mkdir()
    monkeypatch.setattr("colme.cli.sweep.run_sweep", interrupt)
    code, _, err = run(capsys, "sweep", "grid.toml", "--out", "a[/b].parquet")
    assert code == 130
    assert err.splitlines() == [
        "colme: finished points are kept in a[/b].parquet.journal: the same command continues from "
        "there",
        "colme: interrupted",
    ]


BAD = {
    "no file": (None, "", "cannot read 'grid.toml'"),
    "no TOML": ("[grid", "", "is not a TOML file"),
    "nested": (f"x = {'[' * 3000}", "", "grid.toml is not a TOML file"),
    "no grid": (SPEC.replace("grid", "gird"), "", "needs a table [grid]"),
    "empty grid": (SPEC[: SPEC.index('"problem.n')], "", "needs a table [grid]"),
    "overlapping": (SPEC + "problem = [{sigma = 1}]", "", "problem.n_agents in problem: write"),
    "many faults": (SPEC + f"seed = {list(range(-99, 0))}", "", "; and 89 more"),
    "bad value": (SPEC.replace("0.01]", "7]"), "", "points 1, 3 (delta = 7): delta: Input should"),
    "unknown key": (SPEC + '"problem.colour" = [1]', "", "all points: problem.colour: Extra"),
    "bad engine": (SPEC, "--engine spark", "--engine"),
    "no Parquet": (SPEC, "--out a.csv", "ends in .parquet"),
    "no folder": (SPEC, "--out nowhere/a.parquet", "there is no folder 'nowhere'"),
    "scheduler here": (SPEC, "--engine local --scheduler tcp://a:1", "received engine 'local'"),
    "workers there": (SPEC, "--workers 2 --scheduler tcp://a:1", "received workers = 2"),
    "no workers": (SPEC, "--workers 0", "workers must be at least 1"),
}


@pytest.mark.parametrize(("text", "flags", "named"), BAD.values(), ids=BAD.keys())
def test_bad_files_and_flags_are_one_clear_line_and_code_2(
    capsys: pytest.CaptureFixture[str], spec: Path, text: str | None, flags: str, named: str
) -> None:
    spec.unlink() if text is None else spec.write_text(text)
    code, out, err = run(capsys, "sweep", "grid.toml", *flags.split())
    assert (code, out) == (2, "")
    assert err.startswith("colme: ")
    assert err.count("\n") == 1
    assert named in err
    assert [path.name for path in Path().iterdir()] == ["grid.toml"][text is None :]


def test_results_of_another_sweep_are_replaced_only_when_told_so_and_json_tells_what_was_done(
    capsys: pytest.CaptureFixture[str], spec: Path
) -> None:
    flags = ["--out", "a.parquet", "--workers", "1", "--engine", "local", "--json"]
    with Journal(Path("a.parquet.journal")) as journal:
        journal.begin({"specification": "another", "versions": {}})
        journal.append(0, {})
    code, _, err = run(capsys, "sweep", "grid.toml", *flags)
    assert code == 2
    assert "holds points of another sweep" in err
    assert "--overwrite" in err
    code, out, _ = run(capsys, "sweep", "grid.toml", *flags, "--overwrite")
    assert code == 0
    assert not Path("a.parquet.journal").exists()
    said = json.loads(out)
    assert said.pop("seconds") > 0
    assert said == {"out": "a.parquet", "points": 4, "rows": 8, "measured": 4}
