"""Summaries of experiments whose means change, whose agents know few, or hear little."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_docs import blocks

from colme import Record, metrics
from colme.experiment import Experiment

PAGE = Path(__file__).parents[1] / "docs" / "5-experiments.md"
CONTENT: dict[str, Any] = {
    "problem": {"class_means": [0.2, 0.8], "class_sizes": [6, 9], "sigma": 0.2, "seed": 3},
    "algorithms": ["sharp"],
    "horizon": 200,
    "runs": 3,
    "epsilons": [0.1],
}
CHANGE = {"at": 80, "from": 0, "to": 1, "share": 0.5}


def moving(**change: Any) -> dict[str, Any]:
    return CONTENT | {"problem": CONTENT["problem"] | {"changes": [CHANGE | change]}}


def run(content: dict[str, Any], record: Record | None = None) -> tuple[Any, Any, dict[str, Any]]:
    experiment = Experiment.make(content)
    scenario = experiment.build()
    (trajectory,) = experiment.run(scenario, record=record)
    return scenario, trajectory, scenario.summarise(trajectory)


def test_without_tables_a_summary_has_what_it_always_had() -> None:
    _, trajectory, summary = run(CONTENT)
    assert list(summary) == [
        "algorithm",
        "identification_time",
        "likely_identification_time",
        "convergence_time",
        "final_error",
    ]
    times = metrics.identification_times(trajectory)
    assert summary["identification_time"]["all"]["avg"] == times.mean()


@pytest.mark.parametrize("every", [1, 30])
def test_errors_are_told_before_each_change_and_at_the_end(every: int) -> None:
    content = moving() | {"drift": {"window": 40}}
    scenario, trajectory, summary = run(content, Record(every=every))
    assert trajectory.estimates is not None
    last = int(np.flatnonzero(trajectory.times < 80)[-1])
    before = abs(trajectory.estimates[:, last] - scenario.problem.true_means).mean()
    after = abs(trajectory.estimates[:, -1] - scenario.problem.true_means_at([200])[0]).mean()
    assert summary["error_before_change"] == {"80": pytest.approx(before)}
    assert summary["final_error"] == pytest.approx(after)
    assert summary["identification_time"] is None
    assert "likely_identification_time" not in summary


def test_convergence_is_to_the_mean_of_the_day() -> None:
    scenario, trajectory, summary = run(moving() | {"drift": {"window": 40}})
    truth = scenario.problem.true_means_at(trajectory.times)
    moved = truth[0] != truth[-1]
    assert moved.sum() == 3
    times = metrics.convergence_times(trajectory, truth, 0.1)
    assert (times[:, moved] > 80).all()
    assert np.median(times[:, ~moved]) < 80
    assert summary["convergence_time"]["0.1"]["all"]["avg"] == times.mean()
    assert summary["convergence_time"]["0.1"]["2"]["avg"] == times[:, moved].mean()


def test_a_window_follows_a_change_that_the_usual_bound_cannot() -> None:
    _, _, deaf = run(moving())
    for drift in ({"window": 40}, {"discount": 0.95}, {"restart": True}):
        _, _, heard = run(moving() | {"drift": drift})
        assert heard["final_error"] < deaf["final_error"] / 2


def test_nothing_is_told_before_the_first_step() -> None:
    _, _, summary = run(moving(at=1) | {"drift": {"window": 40}})
    assert summary["error_before_change"] == {"1": None}


def test_with_contacts_the_true_class_is_among_them() -> None:
    scenario, trajectory, summary = run(CONTENT | {"contacts": {"size": 6, "seed": 2}})
    labels, truth = scenario.labels, scenario.true_counts(scenario.contacts)
    for a in range(15):
        mates = [l for l in scenario.contacts.known_by(a) if labels[l] == labels[a]]
        assert truth[a].tolist() == [len(mates) * (k == labels[a]) for k in range(2)]
    times = metrics.identification_times(trajectory, truth)
    assert (times <= 200).all()
    assert summary["identification_time"]["all"]["avg"] == times.mean()
    likely = metrics.likely_identification_times(trajectory, truth)
    assert summary["likely_identification_time"]["all"]["avg"] == likely.mean()
    assert (likely <= 200).mean() > 0.5


def test_with_gossip_classes_are_not_one_thing() -> None:
    _, _, summary = run(CONTENT | {"contacts": {"size": 6, "gossip": True}})
    assert summary["identification_time"] is None
    assert summary["final_error"] < 0.1


@pytest.mark.parametrize(
    ("arrivals", "rate"),
    [({"batch": 4}, 4), ({"rates": 0.5}, 0.5), ({"rates": [0.5] * 5 + [2.0] * 10}, 1.5)],
)
def test_samples_per_step_are_told_unless_one(arrivals: dict[str, Any], rate: float) -> None:
    _, _, summary = run(CONTENT | {"arrivals": arrivals})
    assert summary["samples_per_step"] == pytest.approx(rate)


def test_who_has_no_estimate_is_left_out_of_errors_and_late_in_times() -> None:
    content = CONTENT | {"algorithms": ["local"]}
    rates = [0.0] * 5 + [1.0] * 10
    _, trajectory, summary = run(content | {"arrivals": {"rates": rates}})
    assert trajectory.estimates is not None
    truth = [0.2] * 6 + [0.8] * 9
    errors = abs(trajectory.estimates[:, -1] - truth)[:, 5:]
    assert summary["final_error"] == pytest.approx(errors.mean())
    assert summary["convergence_time"]["0.1"]["all"]["within_horizon"] <= 10 / 15
    _, _, silence = run(content | {"arrivals": {"rates": 0}})
    assert silence["final_error"] is None
    json.dumps(silence, allow_nan=False)


@pytest.mark.parametrize("number", range(len(blocks(PAGE, "toml"))))
def test_every_file_on_the_page_runs(number: int, tmp_path: Path) -> None:
    (tmp_path / "experiment.toml").write_text(blocks(PAGE, "toml")[number])
    (tmp_path / "edges.txt").write_text("".join(blocks(PAGE, "text")))
    experiment = Experiment.make(Experiment.read(tmp_path / "experiment.toml"))
    scenario = experiment.build()
    for trajectory in experiment.run(scenario):
        summary = scenario.summarise(trajectory)
        assert summary["final_error"] < 0.3
