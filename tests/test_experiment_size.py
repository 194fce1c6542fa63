"""Experiments too large to keep: what they take, what cannot fit, and that they say the same."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import colme.experiment.scenario
from colme import Trajectory
from colme.cli import main
from colme.experiment import Experiment
from colme.experiment.duration import estimate_seconds
from colme.experiment.memory import free_memory
from colme.experiment.scenario import Size
from colme.neighbours import METHODS
from colme.results import Digest

PROBLEM = {"class_means": [0.2, 0.8], "n_agents": 40, "sigma": 0.3}
BASE: dict[str, Any] = {"problem": PROBLEM, "horizon": 60, "runs": 2, "contacts": {"size": 8}}


@pytest.fixture
def all_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fold every experiment, as if a kilobyte of samples were too much to keep."""
    monkeypatch.setattr(colme.experiment.scenario, "DEFAULT_LIMIT", 1024)


def summaries(content: dict[str, Any], keeps: bool) -> list[dict[str, Any]]:
    experiment = Experiment.make(content)
    scenario = experiment.build(experiment.size(keeps))
    return [scenario.summarise(result) for result in experiment.results(scenario)]


def assert_alike(one: Any, other: Any) -> None:
    """Hold two summaries against each other, up to rounding; the folded one may tell more."""
    if isinstance(one, dict):
        assert set(one) - set(other) <= {"likely_identification_time"}
        for key in set(one) & set(other):
            assert_alike(one[key], other[key])
    elif isinstance(one, float):
        assert math.isclose(one, other, rel_tol=1e-9)
    else:
        assert one == other


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"algorithms": ["local", "sharp", "oracle"], "epsilons": [0.2]},
        {"contacts": {"size": 8, "gossip": True, "gossip_every": 2}},
        {"arrivals": {"batch": 3}},
        {"bound": {"kind": "normal-mixture", "n_opt": 50}},
        {
            "drift": {"window": 20},
            "problem": PROBLEM | {"changes": [{"at": 31, "from": 0, "to": 1, "share": 0.5}]},
        },
        {"contacts": {"regular": 4}},
        {"contacts": {"probability": 0.2}},
        {"contacts": {"tree": 2}},
    ],
    ids=", ".join,
)
@pytest.mark.usefixtures("all_is_large")
def test_what_is_folded_says_what_is_kept(more: dict[str, Any]) -> None:
    content = BASE | more
    folded, kept = summaries(content, keeps=False), summaries(content, keeps=True)
    for one, other in zip(kept, folded, strict=True):
        assert "error_over_time" in other
        assert "error_over_time" not in one
        assert_alike(one, other)


@pytest.mark.parametrize(
    ("more", "kept_for"),
    [
        ({"arrivals": {"rates": 0.5}}, "samples at uneven rates"),
        ({"drift": {"restart": True}}, "a stream that restarts"),
        ({"problem": PROBLEM | {"sigma": [0.3] * 39 + [0.4]}}, "a scale for each agent"),
    ],
)
@pytest.mark.usefixtures("all_is_large")
def test_what_cannot_be_folded_is_kept(more: dict[str, Any], kept_for: str) -> None:
    experiment = Experiment.make(BASE | more)
    assert experiment.size().kept_for == kept_for
    assert not experiment.size().is_folded
    assert all(isinstance(result, Trajectory) for result in experiment.results())


def test_small_experiments_are_kept_and_large_ones_folded() -> None:
    assert not Experiment.make(BASE).size().is_folded
    large = BASE | {"problem": PROBLEM | {"n_agents": 10**6}, "horizon": 1000}
    assert Experiment.make(large).size().is_folded
    assert not Experiment.make(large).size(keeps=True).is_folded


def test_methods_on_graphs_give_digests_beside_trajectories() -> None:
    content = BASE | {"contacts": {"regular": 6}, "algorithms": ["local", "c-colme"]}
    results = list(Experiment.make(content).results())
    assert [type(result) for result in results] == [Trajectory, Digest]
    assert [result.name for result in results] == ["local", "c-colme"]
    with pytest.raises(ValueError, match="c-colme leaves no trajectory"):
        list(Experiment.make(content).run())


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"contacts": {"size": 8}}, "c-colme works on a graph: .*received size = 8"),
        ({"contacts": None}, "c-colme works on a graph: .*received none"),
        (
            {"contacts": {"regular": 4}, "arrivals": {"batch": 2}, "eta": 0.1},
            "only loses edges; received arrivals, eta: drop that",
        ),
        ({"contacts": {"regular": 4, "gossip": True}}, "received contacts.gossip"),
        ({"contacts": {"regular": 41}}, "contacts: "),
        ({"contacts": {"regular": 4, "tree": 2}}, "give one of size.*received regular, tree"),
    ],
)
def test_methods_on_graphs_need_a_graph_and_nothing_else(
    more: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Experiment.make(BASE | {"algorithms": ["c-colme"]} | more).build()


def test_what_cannot_fit_is_refused_with_what_would() -> None:
    free = free_memory()
    assert free is not None
    knows_all = Size(10**6, horizon=2500, runs=1, longest_row=10**6)
    too_many = Size(10**9, horizon=2500, runs=1, longest_row=16)
    kept = Size(10**6, horizon=10**5, runs=1, longest_row=16, kept_for="a trajectory that is kept")
    with pytest.raises(ValueError, match=r"GB are free: let each agent know (64|32|16) "):
        knows_all.check()
    with pytest.raises(ValueError, match=r"ask for at most about \d+ agents"):
        too_many.check()
    with pytest.raises(ValueError, match="a trajectory that is kept needs all samples at once"):
        kept.check()
    with pytest.raises(ValueError, match="ask for fewer runs or steps"):
        Size(200, horizon=2500, runs=10**12, longest_row=200).check()
    Size(200, horizon=2500, runs=20, longest_row=200).check()


def test_a_problem_that_cannot_fit_is_refused_before_it_is_built() -> None:
    with pytest.raises(ValueError, match=r"problem: this experiment takes about .* GB of memory"):
        Experiment.make(BASE | {"problem": PROBLEM | {"n_agents": 10**11}}).build()


MOVING = PROBLEM | {"changes": [{"at": 31, "from": 0, "to": 1, "share": 0.5}]}


@pytest.mark.parametrize(
    "more",
    [
        {"contacts": {"regular": 6}, "algorithms": ["local", "sharp", "c-colme"]},
        {"problem": MOVING},
        {"problem": MOVING, "drift": {"restart": True}, "contacts": None},
        {"problem": PROBLEM | {"sigma": [0.3] * 39 + [0.4]}, "arrivals": {"rates": 0.5}},
        {"arrivals": {"batch": 3}, "contacts": {"size": 8, "gossip": True}},
    ],
    ids=", ".join,
)
def test_how_long_it_takes_is_found_by_trial(more: dict[str, Any]) -> None:
    experiment = Experiment.make(BASE | more)
    seconds = estimate_seconds(experiment.build())
    assert 0 < seconds < 60


def test_a_trial_on_a_graph_of_pairs(tmp_path: Path) -> None:
    path = tmp_path / "pairs.txt"
    path.write_text("".join(f"{a} {a + 1}\n" for a in range(0, 40, 2)))
    content = BASE | {"problem": PROBLEM | {"n_agents": 41}, "algorithms": ["c-colme"]}
    pairs = {"graph": str(path), "disconnected": True}
    experiment = Experiment.make(content | {"contacts": pairs})
    assert estimate_seconds(experiment.build()) > 0


def test_windows_and_graphs_take_what_they_keep() -> None:
    crowd = BASE | {"problem": PROBLEM | {"n_agents": 100_000}, "horizon": 5000}
    plain = Experiment.make(crowd).size()
    window = Experiment.make(crowd | {"drift": {"window": 500}}).size()
    assert window.bytes - plain.bytes > 100_000 * 32 * 500
    assert (plain.bytes_per_view, window.bytes_per_view) == (16, 72)
    far = (METHODS["b-colme"],)
    graph: dict[str, Any] = {"n_agents": 100_000, "horizon": 5000, "longest_row": 17}
    graph["methods"] = far
    one = Size(runs=1, on_graph_alone=True, **graph).bytes
    assert one < Size(runs=1, **graph).bytes
    assert Size(runs=8, threads=8, on_graph_alone=True, **graph).bytes > 5 * one
    pair = {"problem": PROBLEM | {"sigma": [0.3] * 39 + [0.4]}, "contacts": {"regular": 4}}
    on_graph = Experiment.make(BASE | pair | {"algorithms": ["b-colme"]}).size()
    assert (on_graph.kept_for, on_graph.methods, on_graph.on_graph_alone) == ("", far, True)
    many: dict[str, Any] = {"n_agents": 2000, "runs": 20, "longest_row": 201, "horizon": 2500}
    assert Size(**many, methods=far, on_graph_alone=True).is_long


@pytest.mark.usefixtures("all_is_large")
def test_a_large_fleet_at_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    flags = "--class-means 0 1 --agents 9000 --sigma 2 --contacts 4 --horizon 2000 --runs 1"
    with pytest.raises(SystemExit) as stop:
        main(["simulate", *flags.split(), "--algorithm", "local", "--json"])
    assert stop.value.code == 0
    out, err = capsys.readouterr()
    assert "this takes about" in err
    assert "GB of memory" in err
    (result,) = json.loads(out)["results"]
    errors = result["error_over_time"]
    # Means of 2000 samples of scale 2: the mean error is 2 sqrt(2 / (pi 2000)) = 0.0357.
    assert errors["step"][-1] == 2000
    assert errors["mean"][-1] == pytest.approx(0.0357, rel=0.05)
    assert errors["wrong_share"]["0.1"][-1] == pytest.approx(0.0254, rel=0.2)
    assert np.all(np.diff(errors["mean"][::10]) < 0)


def test_a_fleet_that_cannot_fit_is_one_clear_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["simulate", "--class-means", "0", "1", "--agents", "10000000", "--sigma", "2"])
    assert stop.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "let each agent know" in err or "ask for at most" in err
    assert err.count("\n") == 1


def test_a_digest_is_no_trajectory_to_keep(capsys: pytest.CaptureFixture[str]) -> None:
    flags = "--class-means 0 1 --agents 40 --sigma 2 --regular 4 --algorithm c-colme --out a.npz"
    with pytest.raises(SystemExit) as stop:
        main(["simulate", *flags.split()])
    assert stop.value.code == 2
    assert "c-colme leaves no trajectory" in capsys.readouterr().err
