"""`colme estimate`: every flag, every bad table in one line, files complete or not at all."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tables import written
from test_cli import run
from test_data_writing import READERS

import colme._terminal
from colme.cli.estimate import estimate as command
from colme.data import MEANINGS, Estimates, estimate, read
from colme.data.export import FORMATS

Capture = pytest.CaptureFixture[str]


def sales() -> dict[str, list[Any]]:
    """Return a table of 24 stores in two classes, with days and one more column."""
    rng = np.random.default_rng(5)
    stores = [f"store {k:02}" for k in range(24) for _ in range(12)]
    means = np.repeat(np.where(np.arange(24) % 3 == 0, 9.0, 5.0), 12)
    values = np.clip(rng.normal(means, 1.0), 0.0, 20.0).round(3)
    days = [f"2024-05-{1 + k % 12:02}" for k in range(288)]
    return {"store": stores, "sales": values.tolist(), "day": days, "till": ["x"] * 288}


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(colme._terminal.out, "_width", 100)
    return written(tmp_path, sales(), name="sales")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Estimates:
    """What the library finds in that table if nothing else is asked for."""
    path = written(tmp_path_factory.mktemp("found"), sales())
    return estimate(read(path, "store", "sales").summaries)


def few(folder: Path) -> Path:
    """Write a small table, which is soon compared."""
    values = [1.0, 2.0, 1.5, 4.0, 2.0, 7.0, 2.5, 5.0, 9.0, 6.0, 6.5, 8.0]
    return written(folder, {"store": list("abc") * 4, "sales": values}, name="few")


COLUMNS = ["--agent", "store", "--value", "sales"]
USED = ["sales.csv", *COLUMNS]


def asked(capsys: Capture, *arguments: str) -> dict[str, Any]:
    """Return what --json prints, which must be strict JSON."""
    code, out, err = run(capsys, "estimate", *arguments, "--json")
    assert (code, err) == (0, "")
    answer: dict[str, Any] = json.loads(out, parse_constant=_refused)
    return answer


def _refused(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


def said(capsys: Capture, *arguments: str) -> str:
    """Return what is printed for people, in one line."""
    code, out, _ = run(capsys, "estimate", *arguments)
    assert code == 0
    return " ".join(out.split())


def test_json_says_what_the_library_finds(capsys: Capture, table: Path, found: Estimates) -> None:
    answer = asked(capsys, *USED)
    assert answer["columns"] == {"agent": "store", "value": "sales", "time": None, "guessed": []}
    assert (answer["rows"], answer["bad_rows"]) == (288, {})
    assert answer["noise"]["scale"] == found.noise.scale
    assert answer["noise"]["meaning"] == found.noise.meaning
    assert (answer["delta"], answer["eta"], answer["algorithm"]) == (0.05, 0.0, "sharp")
    assert answer["meanings"] == MEANINGS
    assert [one["size"] for one in answer["classes"]] == [one.size for one in found.class_table]
    assert [row["agent"] for row in answer["agents"]] == found.summaries.agents.tolist()
    assert answer["agents"] == [found[agent] for agent in found.summaries.agents]
    assert (answer["comparison"], answer["drift"], answer["members"]) == (None, None, [])


def test_json_of_many_agents_is_one_object(capsys: Capture, tmp_path: Path) -> None:
    n = 25_000
    numbers = {"agent": [k for k in range(n) for _ in range(2)], "value": [0.0, 1.0] * n}
    path = written(tmp_path, numbers, "parquet")
    answer = asked(capsys, str(path), "--algorithm", "local")
    assert [row["agent"] for row in answer["agents"]] == list(range(n))


def test_people_read_the_story_the_classes_and_the_highest_agents(
    capsys: Capture, table: Path, found: Estimates
) -> None:
    _, out, _ = run(capsys, "estimate", *USED, "--top", "2")
    text = " ".join(out.split())
    assert "Read 288 rows of 24 agents; columns: agent 'store', value 'sales'." in text
    assert "Noise is estimated" in text
    assert "2 classes are found: 16 agents around" in text
    assert "holds only if the class is right" in text
    assert "With probability 0.95 an agent's true mean is between low and high" in text
    assert "There are 22 more agents" in text
    order = np.argsort(-found.estimates)
    rows = [line for line in out.splitlines() if line.startswith(" store ")]
    assert [row.split("  ")[0].strip() for row in rows] == found.summaries.agents[
        order[:2]
    ].tolist()
    best = found[found.summaries.agents[order[0]]]
    numbers = [f"{best[name]:.3f}" for name in ("mean", "low", "high", "estimate")]
    assert rows[0].split()[2:] == ["12", *numbers, str(best["class"]), f"{best['gain']:.3g}"]


def test_all_or_no_agents_are_printed_if_asked_for(capsys: Capture, table: Path) -> None:
    every = said(capsys, *USED, "--top", "100")
    assert "more agents" not in every
    assert all(f"store {k:02}" in every for k in range(24))
    assert "There are 24 more agents" in said(capsys, *USED, "--top", "0")


def test_guesses_are_printed(capsys: Capture, tmp_path: Path) -> None:
    path = written(tmp_path, {"store": ["a", "a", "b", "b"], "sales": [1.0, 2.0, 3.0, 5.0]})
    assert "Took column 'store' for the agent and 'sales' for the value." in said(capsys, str(path))
    assert asked(capsys, str(path))["columns"]["guessed"] == ["agent", "value"]


def test_sigma_range_delta_eta_and_algorithm_reach_the_estimate(
    capsys: Capture, table: Path
) -> None:
    summaries = read(table, "store", "sales").summaries
    settings: list[tuple[list[str], dict[str, Any]]] = [
        (["--sigma", "1.5"], {"sigma": 1.5}),
        (["--range", "0", "20"], {"value_range": (0.0, 20.0)}),
        (["--range", "-5", "25", "--delta", "0.3"], {"value_range": (-5.0, 25.0), "delta": 0.3}),
        (["--eta", "2"], {"eta": 2.0}),
        (["--algorithm", "restricted-round-robin"], {"algorithm": "restricted-round-robin"}),
    ]
    for flags, how in settings:
        expected, answer = estimate(summaries, **how), asked(capsys, *USED, *flags)
        assert [row["estimate"] for row in answer["agents"]] == expected.estimates.tolist()
        assert [row["low"] for row in answer["agents"]] == expected.low.tolist()
        assert [row["class"] for row in answer["agents"]] == expected.classes.tolist()


def test_members_are_named_with_those_indistinguishable_from_them(
    capsys: Capture, table: Path, found: Estimates
) -> None:
    members = ["--members", "store 03", "store 04"]
    one, two = asked(capsys, *USED, *members)["members"]
    assert one["members"] == found.members("store 03").tolist()
    assert two["not_told_from"] == found.indistinguishable_from("store 04").tolist()
    text = said(capsys, *USED, *members)
    peers = ", ".join(name for name in one["members"] if name != "store 03")
    assert f"store 03 is in class {one['class']} with {peers}." in text


def test_agents_with_numbers_for_names_are_found_by_them(capsys: Capture, tmp_path: Path) -> None:
    path = written(tmp_path, {"agent": [-7, -7, 8, 8], "value": [1.0, 2.0, 90.0, 91.5]})
    one, two = asked(capsys, str(path), "--sigma", "0.1", "--members", "-7", "8")["members"]
    assert (one["agent"], one["members"], two["not_told_from"]) == (-7, [-7], [8])
    text = said(capsys, str(path), "--sigma", "0.1", "--members", "8")
    assert "8 is in class 2 with nobody else. It is shown to differ from all agents of" in text


def test_names_are_printed_as_they_are_and_cannot_paint_the_terminal(
    capsys: Capture, tmp_path: Path
) -> None:
    names = ["[red]x[/red]", "a\x1b[31mb", "n" * 300]
    columns = {"agent": [name for name in names for _ in range(3)], "value": list(range(9))}
    _, out, _ = run(capsys, "estimate", str(written(tmp_path, columns, "parquet")))
    assert "[red]x[/red]" in out
    assert "\x1b" not in out
    assert "n" * 41 not in out


def test_times_are_replayed(capsys: Capture, table: Path) -> None:
    text = said(capsys, *USED, "--time", "day")
    assert "columns: agent 'store', value 'sales', time 'day'" in text
    drift = asked(capsys, *USED, "--time", "day")["drift"]
    assert {"drifts", "story"} <= drift.keys()
    assert all(" ".join(line.split()) in text for line in drift["story"])


def test_equal_and_unordered_times_are_fine_and_noted(capsys: Capture, tmp_path: Path) -> None:
    columns = {"agent": list("aabbab"), "value": [1.0, 2, 4, 5, 3, 7], "time": [3, 3, 1, 2, 1, 9]}
    path = written(tmp_path, columns)
    answer = asked(capsys, str(path), "--time", "time")
    assert any("2 rows have the agent and time of another" in note for note in answer["notes"])
    assert [row["mean"] for row in answer["agents"]] == [2.0, 16 / 3]


def test_comparison_judges_what_was_asked_for(capsys: Capture, table: Path) -> None:
    compared = asked(capsys, *USED, "--range", "0", "20", "--compare", "--splits", "2")
    comparison = compared["comparison"]
    assert comparison["n_splits"] == 2
    names = [score["name"] for score in comparison["scores"]]
    assert (names[0], names[-1], len(names)) == ("local", "sharp", 7)
    known = comparison["scores"][-1]["mse"]
    estimated = asked(capsys, *USED, "--compare", "--splits", "2")["comparison"]["scores"][-1]
    assert known != estimated["mse"]
    text = said(capsys, *USED, "--range", "0", "20", "--compare", "--splits", "2")
    assert f"Verdict: {comparison['verdict']}" in text
    assert "errors on held-out rows of 24 agents, 2 splits" in text


def test_another_algorithm_is_compared_under_its_name(capsys: Capture, table: Path) -> None:
    flags = ["--compare", "--splits", "1", "--algorithm", "round-robin"]
    scores = asked(capsys, *USED, *flags)["comparison"]["scores"]
    assert [score["name"] for score in scores][-1] == "round-robin"
    assert "sharp" not in [score["name"] for score in scores]


def test_the_seed_chooses_the_splits(capsys: Capture, tmp_path: Path) -> None:
    path, flags = str(few(tmp_path)), ["--compare", "--splits", "1", "--algorithm", "local"]
    once, again, other = (asked(capsys, path, *COLUMNS, *flags, "--seed", s) for s in "778")
    assert once["comparison"] == again["comparison"] != other["comparison"]


@pytest.mark.parametrize("ending", FORMATS)
def test_out_keeps_every_agent(capsys: Capture, table: Path, found: Estimates, ending: str) -> None:
    path = table.with_name(f"means.{ending}")
    assert f"kept {path}" in said(capsys, *USED, "--out", str(path))
    rows = READERS[ending](path).to_dicts()
    assert rows == [found[agent] for agent in found.summaries.agents]


def test_a_report_is_written(capsys: Capture, table: Path) -> None:
    said(capsys, *USED, "--html", "report.html", "--out", "means.csv")
    assert "html" in table.with_name("report.html").read_text()[:100].lower()
    assert sorted(path.name for path in table.parent.iterdir()) == [
        "means.csv",
        "report.html",
        "sales.csv",
    ]


def test_one_row_per_agent_is_no_error(capsys: Capture, tmp_path: Path) -> None:
    path = str(written(tmp_path, {"agent": list("abc"), "value": [1.0, 2.0, 4.0]}))
    answer = asked(capsys, path)
    assert [row["estimate"] for row in answer["agents"]] == [1.0, 2.0, 4.0]
    assert {row["low"] for row in answer["agents"]} == {None}
    assert {row["gain"] for row in answer["agents"]} == {None}
    assert answer["noise"]["scale"] is None
    text = said(capsys, path)
    assert "Noise is unknown: no agent has two samples." in text
    assert "Every agent has one row" in text
    assert re.search(r"b 1 2\.000 unknown unknown 2\.000 1 unknown", text)


def test_bad_rows_are_left_out_counted_and_named(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("agent,value\na,1\na,2\nb,3\nb,oops\nb,5\n,7\nc,nan\nc,8\n")
    answer = asked(capsys, str(path), "--skip-bad-rows", "--compare", "--splits", "1")
    assert answer["bad_rows"] == {"no agent": 1, "no value": 1, "text instead of a number": 1}
    assert [row["n"] for row in answer["agents"]] == [2, 2, 1]
    assert "Rows left out: 3 (no agent: 1" in said(capsys, str(path), "--skip-bad-rows")


def test_several_files_are_one_table(capsys: Capture, tmp_path: Path) -> None:
    columns = sales()
    half = {name: column[::2] for name, column in columns.items()}
    rest = {name: column[1::2] for name, column in columns.items()}
    paths = [written(tmp_path, half, "parquet", "one"), written(tmp_path, rest, "csv", "two")]
    whole = written(tmp_path, columns, "csv", "whole")
    together = asked(capsys, *map(str, paths), *COLUMNS)["agents"]
    for row, expected in zip(together, asked(capsys, str(whole), *COLUMNS)["agents"], strict=True):
        assert row["estimate"] == pytest.approx(expected["estimate"], rel=1e-6)


def test_standard_input_is_a_table(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, flags = few(tmp_path), [*COLUMNS, "--compare", "--splits", "1"]
    expected = asked(capsys, str(path), *flags)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert asked(capsys, "-", *flags) == expected


def test_a_narrow_terminal_breaks_no_number(
    capsys: Capture, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = asked(capsys, *USED)["agents"]
    monkeypatch.setattr(colme._terminal.out, "_width", 30)
    _, out, _ = run(capsys, "estimate", *USED, "--compare", "--splits", "1", "--top", "24")
    assert all(f"{row['estimate']:.3f}" in out for row in wide)
    assert all(f"{row['low']:.3f}" in out for row in wide)


def test_numbers_keep_the_digits_in_which_agents_differ(capsys: Capture, tmp_path: Path) -> None:
    cases = [
        (1e6, 1e-2, ("1000000.01500", "1000000.03750")),
        (0.0, 1e-20, ("1.5e-20", "3.75e-20")),
        (0.0, 1e30, ("1.5e+30", "3.75e+30")),
        (0.0, 1000.0, ("1500", "3750")),
    ]
    for offset, scale, means in cases:
        values = [offset + scale * value for value in (1.0, 2.0, 3.0, 4.5)]
        path = written(tmp_path, {"agent": list("aabb"), "value": values}, "parquet")
        text = said(capsys, str(path))
        assert all(f" 2 {mean} " in text for mean in means)


BAD_TABLES: dict[str, tuple[str | bytes, list[str], str]] = {
    "missing column": ("agent,value\na,1\nb,2\n", ["--value", "vlaue"], "did you mean 'value'?"),
    "text among values": ("agent,value\na,1\nb,high\n", [], "text instead of a number: 1"),
    "nan": ("agent,value\na,1\nb,nan\n", [], "no value: 1"),
    "infinity": ("agent,value\na,1\nb,inf\n", [], "infinite value: 1"),
    "empty file": ("", [], "is empty"),
    "header only": ("agent,value\n", [], "no rows"),
    "one agent": ("agent,value\na,1\na,2\n", [], "one agent only (a in column 'agent')"),
    "constant values": ("agent,value\na,1\na,1\nb,2\nb,2\n", [], "--sigma S"),
    "too many agents": ("agent,value\na,1\nb,2\nc,3\n", ["--max-agents", "2"], "3 agents"),
    "unreadable times": ("agent,value,t\na,1,soon\nb,2,2024-05-01\n", ["--time", "t"], "time: 1"),
    "mixed encodings": ("agent,value\nzürich,1\n".encode() + b"z\xfcrich,2\n", [], "not UTF-8: 1"),
    "outside the range": ("agent,value\na,1\nb,7\n", ["--range", "0", "5"], "outside 0 to 5: 1"),
    "unknown member": ("agent,value\na,1\na,2\nb,3\n", ["--members", "z"], "no agent 'z'"),
    "nothing to compare": ("agent,value\na,1\nb,2\n", ["--compare", "--sigma", "1"], "two rows"),
}


def refused(capsys: Capture, folder: Path, *arguments: str) -> str:
    """Return the one line about bad input; files that were there stay, no other appears."""
    kept = {folder / name: f"{name} as it was" for name in ("means.csv", "report.html")}
    for path, text in kept.items():
        path.write_text(text)
    before = sorted(folder.iterdir())
    code, out, err = run(capsys, "estimate", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("colme: ")
    assert {path: path.read_text() for path in kept} == kept
    assert sorted(folder.iterdir()) == before
    return err


@pytest.mark.parametrize(("content", "flags", "named"), BAD_TABLES.values(), ids=BAD_TABLES.keys())
def test_a_bad_table_is_one_clear_line_and_nothing_is_written(
    capsys: Capture, tmp_path: Path, content: str | bytes, flags: list[str], named: str
) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    kept = ["--out", str(tmp_path / "means.csv"), "--html", str(tmp_path / "report.html")]
    assert named in refused(capsys, tmp_path, str(path), *kept, *flags)


def test_a_truncated_file_is_named(capsys: Capture, tmp_path: Path) -> None:
    path = written(tmp_path, sales(), "parquet", "sales")
    path.write_bytes(path.read_bytes()[:900])
    assert "sales.parquet cannot be read" in refused(capsys, tmp_path, str(path))


BAD_FLAGS: dict[str, tuple[list[str], str]] = {
    "no file": ([], "at least one file"),
    "no such file": (["nowhere.csv"], "nowhere.csv"),
    "unknown extension": (["x.csv", "--out", "means.xlsx"], ".csv, .tsv, .parquet, .json"),
    "missing folder": (["x.csv", "--out", "nowhere/means.csv"], "no folder 'nowhere'"),
    "missing folder for the report": (["x.csv", "--html", "nowhere/a.html"], "no folder 'nowhere'"),
    "sigma and range": (["x.csv", "--sigma", "1", "--range", "0", "1"], "not both"),
    "sigma 0": (["x.csv", "--sigma", "0"], "sigma must be greater than 0"),
    "half a range": (["x.csv", "--range", "0"], "range"),
    "no range": (["x.csv", "--range", "1", "1"], "a range needs low < high"),
    "delta 0": (["x.csv", "--delta", "0"], "received 0"),
    "delta 1": (["x.csv", "--delta", "1"], "received 1"),
    "eta negative": (["x.csv", "--eta", "-1"], "received -1"),
    "unknown algorithm": (["x.csv", "--algorithm", "magic"], "unknown algorithm 'magic'"),
    "oracle": (["x.csv", "--algorithm", "oracle"], "knows the true classes"),
    "splits 0": (["x.csv", "--compare", "--splits", "0"], "splits"),
    "top negative": (["x.csv", "--top", "-1"], "top must be 0 or greater"),
    "no agents allowed": (["x.csv", "--max-agents", "0"], "max_agents"),
    "seed negative": (["x.csv", "--seed", "-1"], "seed"),
    "unknown flag": (["x.csv", "--sgima", "3"], "unknown flag '--sgima'"),
    "over the table": (["means.csv", "--out", "means.csv"], "among the files read"),
    "over one of a pattern": (["*.csv", "--out", "./means.csv"], "among the files read"),
}


@pytest.mark.parametrize(("arguments", "named"), BAD_FLAGS.values(), ids=BAD_FLAGS.keys())
def test_bad_flags_are_refused_before_anything_is_read(
    capsys: Capture,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    named: str,
) -> None:
    """There is no file x.csv: a complaint about it would show that it was read first."""
    monkeypatch.chdir(tmp_path)
    assert named in refused(capsys, tmp_path, *arguments)


def examples() -> list[str]:
    lines = [line.strip() for line in (command.__doc__ or "").splitlines()]
    return [line for line in lines if line.startswith("colme estimate")]


@pytest.mark.parametrize("example", examples())
def test_the_examples_of_the_help_run(capsys: Capture, table: Path, example: str) -> None:
    columns = sales()
    names = {"store 00": "north", "store 01": "south"}
    columns["store"] = [names.get(name, name) for name in columns["store"]]
    del columns["till"]
    written(table.parent, columns, name="sales")
    arguments = shlex.split(example)[1:]
    code, out, err = run(capsys, *arguments)
    assert (code, err) == (0, "")
    assert out


def test_the_help_has_its_examples(capsys: Capture) -> None:
    shown = run(capsys, "estimate", "--help")[1]
    assert all(example.split("--", maxsplit=1)[0].strip() in shown for example in examples())


def started(folder: Path, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "colme", "estimate", *arguments],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"COLUMNS": "100", "TMPDIR": str(folder)},
        **options,
    )


def test_as_a_program_it_reads_a_pipe_and_loads_nothing_needless(table: Path) -> None:
    code = (
        "import sys; from colme.cli import main\n"
        "try: main(['estimate', '-', '--agent', 'store', '--value', 'sales', '--json'])\n"
        "except SystemExit as stop: assert stop.code == 0\n"
        "needless = {'matplotlib', 'sklearn', 'statsmodels', 'pandas', 'pyarrow'}\n"
        "assert not needless & set(sys.modules), needless & set(sys.modules)\n"
    )
    with table.open() as file:
        done = subprocess.run(
            [sys.executable, "-c", code], stdin=file, capture_output=True, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(json.loads(done.stdout)["agents"]) == 24


def test_as_a_program_it_ends_with_code_2_and_without_a_traceback(tmp_path: Path) -> None:
    out, err = (process := started(tmp_path, "-")).communicate("agent,value\na,1\na,2\n")
    assert (process.returncode, out) == (2, "")
    assert re.fullmatch(r"colme: one agent only .*\n", err)


def test_interrupting_stops_at_once_and_leaves_no_file(tmp_path: Path) -> None:
    process = started(tmp_path, "-", "--out", "means.csv")
    assert process.stdin is not None
    process.stdin.write("agent,value\n")
    process.stdin.flush()
    while not list(tmp_path.glob("colme-*/standard-input")):  # then it waits for the rest
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=10)
    _, err = process.communicate()
    assert (process.returncode, err.strip()) == (130, "colme: interrupted")
    assert list(tmp_path.iterdir()) == []
