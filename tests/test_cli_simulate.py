"""`colme simulate`: flags say what tables say, override them, and bad ones are told in a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_cli import run

import colme

PROBLEM = ["--class-means", "0.2", "0.8", "--class-sizes", "5", "4", "--sigma", "0.3"]
SHORT = ["--horizon", "40", "--runs", "2", "--algorithm", "local", "sharp"]

HEAD = """
algorithms = ["local", "sharp"]
horizon = 40
runs = 2
within = 0.7

[problem]
class_means = [0.2, 0.8]
class_sizes = [5, 4]
sigma = [0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.4]
seed = 2

[[problem.changes]]
at = 10
from = 0
to = 1
share = 0.4

[[problem.changes]]
at = 20
from = 1
to = 0
share = 0.25
"""
HEAD_FLAGS = (
    "--class-means 0.2 0.8 --class-sizes 5 4 --sigma 0.3 0.3 0.3 0.3 0.3 0.3 0.3 0.3 0.4 "
    "--problem-seed 2 --horizon 40 --runs 2 --algorithm local sharp --within 0.7 "
    "--change 10 0 1 0.4 --change 20 1 0 0.25 "
)
TABLES = {
    "batch": ("[arrivals]\nbatch = 3", "--batch 3"),
    "rates": (
        '[arrivals]\nrates = 2\npattern = "bursts"\nburst = 4\nlate = 0.3\nlate_by = 0.2\n'
        "silent = 0.1\nseed = 9",
        "--rates 2 --pattern bursts --burst 4 --late 0.3 --late-by 0.2 --silent 0.1 "
        "--arrivals-seed 9",
    ),
    "between": ("[arrivals]\nbetween = [0.5, 3]", "--rates-between 0.5 3"),
    "contacts": (
        "[contacts]\nsize = 5\ngossip = true\ngossip_every = 2\nseed = 3",
        "--contacts 5 --gossip --gossip-every 2 --contacts-seed 3",
    ),
    "graph": (
        '[contacts]\ngraph = "edges.txt"\ndisconnected = true',
        "--graph edges.txt --disconnected",
    ),
    "mixture": (
        '[bound]\nkind = "normal-mixture"\nn_opt = 50\n[drift]\nwindow = 20\nrevisit = 5',
        "--bound normal-mixture --n-opt 50 --window 20 --revisit 5",
    ),
    "betting": (
        '[bound]\nkind = "betting"\nlow = -9\nhigh = 9\nn_grid = 20',
        "--bound betting --range -9 9 --n-grid 20",
    ),
    "asymptotic": (
        '[bound]\nkind = "asymptotic"\nburn_in = 5\n[drift]\nrestart = true\nalarm = 0.01\n'
        'detector = "sequences"',
        "--bound asymptotic --burn-in 5 --restart --alarm 0.01 --detector sequences",
    ),
    "stitched": (
        '[bound]\nkind = "stitched"\nn_min = 3\n[drift]\ndiscount = 0.9',
        "--bound stitched --n-min 3 --discount 0.9",
    ),
}


@pytest.mark.parametrize(("table", "flags"), TABLES.values(), ids=TABLES.keys())
def test_flags_say_what_tables_say(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    table: str,
    flags: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("edges.txt").write_text("0 1\n1 2\n3 4\n")
    Path("experiment.toml").write_text(HEAD + table)
    code, from_file, err = run(capsys, "simulate", "experiment.toml", "--json")
    assert (code, err) == (0, "")
    arguments = (HEAD_FLAGS + flags).split()
    assert run(capsys, "simulate", *arguments, "--json") == (0, from_file, "")
    said = json.loads(from_file)
    assert said["experiment"]["problem"]["changes"][1] == {
        "at": 20,
        "from": 1,
        "to": 0,
        "share": 0.25,
    }
    assert [list(row["error_before_change"]) for row in said["results"]] == [["10", "20"]] * 2


OVERRIDES = {
    "the same choice keeps the rest": (
        '[arrivals]\nrates = 2\npattern = "poisson"',
        "--rates 1",
        {"arrivals": {"rates": 1.0, "pattern": "poisson"}},
    ),
    "another choice replaces the table": (
        '[arrivals]\nrates = 2\npattern = "poisson"',
        "--batch 3",
        {"arrivals": {"batch": 3}},
    ),
    "a setting is added": (
        "[drift]\nwindow = 20",
        "--revisit 3",
        {"drift": {"window": 20, "revisit": 3}},
    ),
    "another way to forget": (
        "[drift]\nrestart = true\nalarm = 0.1",
        "--window 9",
        {"drift": {"window": 9}},
    ),
    "another bound": (
        '[bound]\nkind = "stitched"\nn_min = 3',
        "--bound laplace",
        {"bound": {"kind": "laplace"}},
    ),
    "the same bound": (
        '[bound]\nkind = "normal-mixture"\nn_opt = 3',
        "--bound normal-mixture --n-opt 5",
        {"bound": {"kind": "normal-mixture", "n_opt": 5.0}},
    ),
    "contacts for a graph": (
        '[contacts]\ngraph = "nowhere"',
        "--contacts 3",
        {"contacts": {"size": 3}},
    ),
}


@pytest.mark.parametrize(("table", "flags", "told"), OVERRIDES.values(), ids=OVERRIDES.keys())
def test_flags_override_tables(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    table: str,
    flags: str,
    told: dict[str, dict[str, object]],
) -> None:
    file = tmp_path / "experiment.toml"
    file.write_text(HEAD + table)
    code, out, err = run(capsys, "simulate", str(file), *flags.split(), "--json")
    assert (code, err) == (0, "")
    experiment = json.loads(out)["experiment"]
    for name, keys in told.items():
        given = {
            key: value
            for key, value in experiment[name].items()
            if value not in (None, False) and key != "seed"
        }
        assert given == keys


def test_a_graph_in_a_flag_is_looked_for_here_and_one_in_a_file_beside_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tmp_path / "there"
    there.mkdir()
    edges = "".join(f"{a} {a + 1}\n" for a in range(8))
    (there / "edges.txt").write_text(edges)
    (there / "experiment.toml").write_text(HEAD + '[contacts]\ngraph = "edges.txt"')
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "simulate", "there/experiment.toml")[0] == 0
    flags = ["simulate", "there/experiment.toml", "--graph", "edges.txt"]
    assert run(capsys, *flags)[0] == 2
    Path("edges.txt").write_text(edges)
    assert run(capsys, *flags)[0] == 0


def test_the_table_for_people_tells_what_changed_and_what_cannot_be_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(colme._terminal.out, "_width", 200)
    change = ["--change", "20", "0", "1", "0.4", "--restart", "--batch", "3"]
    code, out, _ = run(capsys, "simulate", *PROBLEM, *SHORT, *change)
    assert code == 0
    assert "error before step 20" in out
    assert "3 samples per step and agent" in out
    (row,) = [line for line in out.splitlines() if "sharp" in line]
    assert row.split("│")[2].strip() == "-"
    assert "guaranteed" not in out


def test_a_class_is_promised_only_where_bounds_hold_at_all_times(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, out, _ = run(capsys, "simulate", *PROBLEM, *SHORT)
    assert "1 - delta/8" in out
    for flags in (["--window", "30"], ["--bound", "asymptotic"]):
        _, out, _ = run(capsys, "simulate", *PROBLEM, *SHORT, *flags)
        assert "nothing is guaranteed" in " ".join(out.split())
        assert "1 - delta/8" not in out


def test_help_has_a_group_for_each_table(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "simulate", "--help")
    groups = ["Problem", "Running", "Arrivals", "Contacts", "Bound", "Drift", "Output"]
    places = [out.index(f"─ {group} ─") for group in groups]
    assert places == sorted(places)


BAD = {
    "huge noise": ("--sigma 1e308", "sigma must be at most 1e+150 in size; received 1e+308"),
    "huge bias": ("--bias 1e308", "bias must be at most 1e+150 in size; received 1e+308"),
    "huge window": (f"--window {10**21}", f"at most {2**31 - 1}; received {10**21}"),
    "threads beyond": (f"--threads {10**20}", f"threads must be at most 1024; received {10**20}"),
    "no threads": ("--threads 0", "threads must be at least 1; received 0"),
    "epsilons alike": ("--epsilon 0.1 0.10000001", "epsilons must differ in six digits"),
    "rates negative": ("--rates -1", "rates: Input should be greater than or equal to 0"),
    "rates for others": ("--rates 1 2", "each of the 9 agents; received 2"),
    "rates beyond": ("--rates 1e9", "received 1e+09"),
    "rates reversed": ("--rates-between 3 1", "low <= high; received 3, 1"),
    "one end of rates": ("--rates-between 3", "--rates-between"),
    "batch 0": ("--batch 0", "arrivals.batch"),
    "batch with rates": ("--batch 2 --rates 1", "received rates as well"),
    "batch with late": ("--batch 2 --late 0.5", "received late as well"),
    "unknown pattern": ("--pattern waves", 'Choose from: "steady"'),
    "burst without bursts": ("--burst 5", 'pattern = "bursts"'),
    "late beyond": ("--late 1.5", "arrivals.late"),
    "silent negative": ("--silent -0.5", "arrivals.silent"),
    "contacts beyond": ("--contacts 10", "1 to 9; received 10"),
    "contacts 0": ("--contacts 0", "contacts.size"),
    "contacts and graph": ("--contacts 3 --graph edges.txt", "give one of size"),
    "no such graph": ("--graph nowhere.txt", "cannot read 'nowhere.txt'"),
    "disconnected graph": ("--graph edges.txt", "must be connected; received 7 parts"),
    "gossip alone": ("--gossip", "give one of size"),
    "gossip of all": ("--contacts 9 --gossip", "gossip helps"),
    "disconnected alone": ("--contacts 3 --disconnected", "is about a graph"),
    "unknown bound": ("--bound magic", "received 'magic'"),
    "range of laplace": ("--bound laplace --range 0 1", "not used: low, high"),
    "range without bound": ("--range 0 1", "bound.kind"),
    "betting without range": ("--bound betting", "give low and high"),
    "betting outside": ("--bound betting --range 0 0.1 --horizon 9", "samples must be"),
    "range reversed": ("--bound betting --range 1 0", "low < high"),
    "window 0": ("--window 0", "drift.window"),
    "window and discount": ("--window 9 --discount 0.9", "received window, discount"),
    "discount beyond": ("--discount 1.5", "received 1.5"),
    "alarm alone": ("--alarm 0.1", "received none"),
    "alarm 2": ("--restart --alarm 2", "received 2"),
    "unknown detector": ("--restart --detector eye", '"eye" for --detector'),
    "change outside": ("--change 99 0 1 0.5 --horizon 40", "step 1 to 40; received 99"),
    "change at 0": ("--change 0 0 1 0.5", "received 0"),
    "change of nobody": ("--change 9 0 1 0.01", "is no agent at all"),
    "change to nowhere": ("--change 9 0 5 0.5", "no agent is of class 5"),
    "change of three": ("--change 9 0 1", "--change"),
    "share beyond": ("--change 9 0 1 1.5", "received 1.5"),
    "within 0": ("--within 0", "within"),
}


@pytest.mark.parametrize(("flags", "named"), BAD.values(), ids=BAD.keys())
def test_bad_flags_are_one_clear_line_and_code_2(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    flags: str,
    named: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("edges.txt").write_text("0 1\n2 3\n")
    code, out, err = run(capsys, "simulate", *PROBLEM, *flags.split())
    assert (code, out) == (2, "")
    assert err.startswith("colme: ")
    assert err.count("\n") == 1
    assert named in err
