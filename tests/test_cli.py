from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cyclopts import App

import colme
from colme.cli import main
from colme.cli.app import COMMANDS

PROBLEM = ["--class-means", "0.2", "0.8", "--agents", "6", "--sigma", "0.5"]
SHORT = ["simulate", *PROBLEM, "--horizon", "40", "--runs", "2"]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    printed = capsys.readouterr()
    assert isinstance(stop.value.code, int)
    return stop.value.code, printed.out, printed.err


def test_algorithms_lists_every_name(capsys: pytest.CaptureFixture[str]) -> None:
    _, people, _ = run(capsys, "algorithms")
    _, programs, _ = run(capsys, "algorithms", "--json")
    names = [*colme.ALGORITHMS, *colme.METHODS]
    assert all(name in people for name in names)
    assert [row["name"] for row in json.loads(programs)] == names


def test_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version")[:2] == (0, f"{colme.__version__}\n")


NAMES = [place.partition(":")[2] for place in COMMANDS]


@pytest.mark.parametrize("place", COMMANDS)
def test_the_list_of_commands_says_what_each_says_of_itself(place: str) -> None:
    module, _, name = place.partition(":")
    command = getattr(importlib.import_module(f"colme.cli.{module}"), name)
    text = command.help if isinstance(command, App) else command.__doc__
    assert " ".join(text.split("\n\n")[0].split()) == COMMANDS[place]


@pytest.mark.parametrize(
    "command", [*([name] for name in NAMES), ["keys", "init"], ["keys", "issue"]], ids=" ".join
)
def test_help_names_every_command_and_gives_examples(
    capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    assert command[0] in run(capsys, "--help")[1]
    _, out, _ = run(capsys, *command, "--help")
    usage, _, rest = out.partition("\n")
    assert f"colme {' '.join(command)}" in usage
    if command not in (["keys"], ["algorithms"]):  # with commands of its own; nothing to choose
        assert f"colme {' '.join(command)}" in rest


WITHOUT = """
import sys
sys.modules[{blocked!r}] = None
from colme.cli import main
for arguments in {calls!r}:
    try:
        main(arguments)
    except SystemExit as stop:
        print("code", stop.code, flush=True)
"""


@pytest.mark.parametrize(
    ("blocked", "calls"),
    [
        (
            "zenoh",
            [
                ["node", "--fleet", "home", "--id", "a", "--state", "state", "--sigma", "1"],
                ["router", "--fleet", "home", "--help"],
                ["watch", "--fleet", "home", "--connect", "127.0.0.1:7447"],
                ["fleet"],
            ],
        ),
        (
            "cryptography",
            [["keys", "init", "keys", "--fleet", "home"], ["keys", "issue", "keys", "a"], ["node"]],
        ),
    ],
)
def test_a_command_whose_library_is_missing_says_what_to_install_and_others_work(
    tmp_path: Path, blocked: str, calls: list[list[str]]
) -> None:
    fine = [["--help"], ["plan", "--help"], ["keys", "--help"]]
    mistaken = [["nodee"], ["--hlep"]]
    script = WITHOUT.format(blocked=blocked, calls=[*fine, *mistaken, *calls])
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    codes = [line for line in done.stdout.splitlines() if line.startswith("code")]
    assert codes == ["code 0"] * len(fine) + ["code 2"] * len(mistaken + calls)
    typed, flag, *missing = done.stderr.splitlines()
    assert typed.startswith("colme: unknown command 'nodee'; choose from algorithms, ")
    assert flag.startswith("colme: unknown command '--hlep'; choose from ")
    assert len(missing) == len(calls)
    assert all(line.endswith(": pip install 'colme[live]'") for line in missing)
    assert all(line.startswith("colme: ") for line in missing)
    assert list(tmp_path.iterdir()) == []


def test_simulate_prints_the_same_numbers_as_the_library(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, out, _ = run(capsys, *SHORT, "--algorithm", "local", "oracle", "--json")
    problem = colme.Problem.gaussian([0.2, 0.8], n_agents=6, sigma=0.5, seed=0)
    samples = problem.draw(horizon=40, runs=2, seed=1)
    results = json.loads(out)["results"]
    assert [row["algorithm"] for row in results] == ["local", "oracle"]
    for row in results:
        trajectory = colme.simulate(samples, row["algorithm"], sigma=0.5, labels=problem.labels)
        times = colme.metrics.convergence_times(trajectory, problem.true_means, 0.1)
        assert row["convergence_time"]["0.1"]["all"]["avg"] == times.mean()
        assert row["convergence_time"]["0.1"]["all"]["max"] == times.max()


def test_simulate_gives_the_same_result_with_any_number_of_threads(
    capsys: pytest.CaptureFixture[str],
) -> None:
    one = run(capsys, *SHORT, "--threads", "1", "--json")
    assert run(capsys, *SHORT, "--threads", "2", "--json") == one


def test_a_file_describes_the_experiment_and_flags_override_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "experiment.toml"
    file.write_text(
        'algorithms = ["local"]\nhorizon = 40\nruns = 9\n'
        "[problem]\nclass_means = [0.2, 0.8]\nn_agents = 6\nsigma = 0.5\n"
    )
    _, from_file, _ = run(capsys, "simulate", str(file), "--runs", "2", "--json")
    _, from_flags, _ = run(capsys, *SHORT, "--algorithm", "local", "--json")
    assert from_file == from_flags


@pytest.mark.parametrize("suffix", ["nc", "npz"])
def test_out_keeps_one_trajectory_for_each_algorithm(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, suffix: str
) -> None:
    out = str(tmp_path / f"run-{{algorithm}}.{suffix}")
    run(capsys, *SHORT, "--algorithm", "local", "oracle", "--out", out)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"run-local.{suffix}",
        f"run-oracle.{suffix}",
    ]
    kept = colme.Trajectory.load(tmp_path / f"run-local.{suffix}")
    assert kept.estimates is not None
    assert kept.estimates.shape == (2, 40, 6)


BAD = {
    "sigma 0": ([*PROBLEM[:-1], "0"], "sigma"),
    "sigma negative": ([*PROBLEM[:-1], "-1"], "received -1"),
    "sigma nan": ([*PROBLEM[:-1], "nan"], "received nan"),
    "delta 0": ([*PROBLEM, "--delta", "0"], "delta"),
    "delta 1": ([*PROBLEM, "--delta", "1"], "received 1"),
    "eta negative": ([*PROBLEM, "--eta", "-0.1"], "received -0.1"),
    "unknown algorithm": ([*PROBLEM, "--algorithm", "magic"], "unknown algorithm 'magic'"),
    "same algorithm twice": ([*PROBLEM, "--algorithm", "local", "local"], "once"),
    "zero agents": (["--class-means", "0", "--agents", "0", "--sigma", "1"], "received 0"),
    "horizon 0": ([*PROBLEM, "--horizon", "0"], "horizon"),
    "runs 0": ([*PROBLEM, "--runs", "0"], "runs"),
    "threads 0": ([*PROBLEM, "--threads", "0"], "threads"),
    "epsilon 0": ([*PROBLEM, "--epsilon", "0"], "epsilon"),
    "text for a number": (["--class-means", "high", "--agents", "3", "--sigma", "1"], "high"),
    "sizes and agents": ([*PROBLEM, "--class-sizes", "3", "3"], "either"),
    "no problem": ([], "problem"),
    "mean out of range": (["--class-means", "2", "--agents", "3", "--noise", "bernoulli"], "2"),
    "sigma for bernoulli": ([*PROBLEM, "--noise", "bernoulli"], "sigma"),
    "unknown flag": ([*PROBLEM, "--sgima", "3"], "sgima"),
    "no such file": (["nowhere.toml"], "nowhere.toml"),
    "no such folder": ([*PROBLEM, "--out", "nowhere/run.nc"], "nowhere"),
    "unknown format": ([*PROBLEM, "--out", "run.csv"], "run.csv"),
    "one file for two": ([*PROBLEM, "--algorithm", "local", "oracle", "--out", "a.nc"], "{alg"),
}


@pytest.mark.parametrize(("arguments", "named"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_one_clear_line_and_code_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], named: str
) -> None:
    code, out, err = run(capsys, "simulate", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("colme: ")
    assert err.count("\n") == 1
    assert named in err


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("horizon = [", "not a TOML file"),
        ("horizon = 10", "problem"),
        ("problem = 3", "problem"),
        ("[problem]\nclass_means = [0.2]\nn_agents = 3\nclass_sizes = [3]\nsigma = 1", "either"),
        ("colour = 1\n[problem]\nclass_means = [0.2]\nn_agents = 3\nsigma = 1", "colour"),
        ("[problem]\nclass_means = [0.2]\nn_agents = 'x'\nsigma = -1", "sigma"),
    ],
)
def test_a_bad_file_is_one_clear_line_and_code_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str, named: str
) -> None:
    file = tmp_path / "experiment.toml"
    file.write_text(content)
    code, out, err = run(capsys, "simulate", str(file), "--out", str(tmp_path / "run.nc"))
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert named in err
    assert list(tmp_path.iterdir()) == [file]


def test_a_binary_file_is_no_experiment(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "experiment.toml"
    file.write_bytes(bytes(range(256)))
    assert run(capsys, "simulate", str(file))[0] == 2


def test_interrupting_a_long_simulation_stops_at_once_and_leaves_no_file(tmp_path: Path) -> None:
    size = ["--class-means", "0", "1", "--agents", "1500", "--sigma", "1"]
    long = ["simulate", *size, "--horizon", "4000", "--runs", "1", "--out", "run.npz"]
    process = subprocess.Popen(
        [sys.executable, "-m", "colme", *long],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"COLUMNS": "200"},
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("this takes about")
    time.sleep(1)  # well inside the simulation, which takes minutes
    assert process.poll() is None
    asked = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert time.monotonic() - asked < 3  # one second, with room for a busy machine
    assert process.returncode == 130
    assert err == "colme: interrupted\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (MemoryError(), "not enough memory for this experiment: ask for fewer agents"),
        (OverflowError("int too large"), "a number is too large: int too large"),
    ],
)
def test_what_the_machine_cannot_do_is_one_line(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    told: str,
) -> None:
    def fail(_: object) -> None:
        raise error

    monkeypatch.setattr("colme.cli.simulate.Experiment.make", fail)
    code, out, err = run(capsys, "simulate", "--agents", "3")
    assert (code, out) == (2, "")
    assert err.startswith(f"colme: {told}")
