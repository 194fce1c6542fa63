"""Both results of a simulation answer alike, and both sinks take what the loop writes."""

from typing import Any

import numpy as np
import pytest

from colme import ALGORITHMS, Change, Contacts, Problem, Record, Trajectory, simulate
from colme import simulate_large as digested
from colme.results import Digest, Fold, Keep, SimulationResult
from colme.setup import Setup

PROBLEM = Problem.gaussian([0.0, 1.0], n_agents=24, sigma=0.4, seed=3)
HORIZON, EPSILON = 50, 0.25


def both(name: str, runs: int = 2, **options: Any) -> tuple[Trajectory, Digest]:
    """Return the same simulation kept whole and digested."""
    samples = PROBLEM.draw(HORIZON, runs, seed=5)
    common: dict[str, Any] = {"sigma": 0.4, "delta": 0.05, "labels": PROBLEM.labels} | options
    kept = simulate(samples, name, record=Record(), **common)
    how: dict[str, Any] = {"horizon": HORIZON, "runs": runs, "seed": 5, "epsilons": (EPSILON,)}
    return kept, digested(PROBLEM, name, **how, **common)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_trajectory_and_a_digest_give_the_same_answers(name: str) -> None:
    kept, digest = both(name)
    results: list[SimulationResult] = [kept, digest]
    one, other = results
    means = PROBLEM.true_means
    for ask in (
        lambda result: result.times_to_converge(means, EPSILON),
        lambda result: result.times_to_identify(),
        lambda result: result.final_errors(means),
        lambda result: result.labels,
        lambda result: result.times,
    ):
        np.testing.assert_array_equal(ask(one), ask(other))  # type: ignore[no-untyped-call]
    np.testing.assert_allclose(one.average_errors(means), other.average_errors(means), rtol=1e-12)
    assert (one.name, one.horizon) == (other.name, other.horizon) == (name, HORIZON)
    times = one.times_to_converge(means, EPSILON)
    assert times.min() > 1 or times.max() <= HORIZON  # something was to be found


def test_a_digest_answers_only_for_the_accuracies_it_was_made_for() -> None:
    _, digest = both("local", runs=1)
    with pytest.raises(ValueError, match=r"followed at epsilon 0.25; received 0.1: name it in"):
        digest.times_to_converge(PROBLEM.true_means, 0.1)


def test_keep_writes_into_the_trajectory_each_agent_at_its_place() -> None:
    setup = Setup.of(4, "sharp", sigma=0.5, labels=[0, 1, 1, 0])
    trajectory = setup.trajectory(2, 6, Record(likely_counts=True, every=2))
    sink = Keep(trajectory)
    assert sink.bytes_per_step == 0
    for run in range(2):
        slots = [sink.open(run, start, start + 3).tolist() for start in (0, 3)]
        assert slots == [[-1, 0, -1], [1, -1, 2]]
        for first, last in ((0, 1), (1, 4)):
            output = sink.output(first, last)
            assert output.estimates.shape == (last - first, 3)
            for a in range(last - first):
                output.estimates[a] = 100 * run + 10 * (first + a) + np.arange(3)
                output.class_counts[a] = first + a
                output.likely_counts[a] = -(first + a)
            sink.take(first, output)
    assert trajectory.estimates is not None
    assert trajectory.class_counts is not None
    assert trajectory.likely_counts is not None
    runs, slot, agent = np.indices(trajectory.estimates.shape)
    np.testing.assert_array_equal(trajectory.estimates, 100 * runs + 10 * agent + slot)
    for k in range(2):
        np.testing.assert_array_equal(trajectory.class_counts[..., k], agent)
        np.testing.assert_array_equal(trajectory.likely_counts[..., k], -agent)


@pytest.mark.parametrize("part", ["estimates", "class_counts", "likely_counts"])
def test_keep_has_no_room_for_what_is_not_kept(part: str) -> None:
    setup = Setup.of(3, "sharp", sigma=0.5)
    every = {"estimates": True, "class_counts": True, "likely_counts": True}
    output = Keep(setup.trajectory(1, 5, Record(**(every | {part: False})))).output(0, 3)
    sizes = {name: len(getattr(output, name)) for name in every}
    assert sizes == {name: 3 * (name != part) for name in every}


def test_fold_keeps_metrics_of_every_run_and_uses_memory_again() -> None:
    problem = Problem([0, 0, 1], [0.0, 0.0, 1.0], PROBLEM.noise)
    sink = Fold(problem, None, 5, (0.5,), None, identifiable=True)
    assert sink.bytes_per_step == 8 + 4 * 2
    memory = set()
    for run in range(2):
        for start, stop in ((0, 3), (3, 5)):
            sink.open(run, start, stop)
            output = sink.output(0, 3)
            memory.add(output.estimates.__array_interface__["data"][0])
            output.estimates[:] = [[0.0], [0.75], [1.0 + run]]
            output.class_counts[:] = np.array([[[2, 0]], [[2, start == 0]], [[0, 1]]])
            sink.take(0, output)
    assert len(memory) == 1
    digest = sink.digest("any")
    assert digest.convergence_times.tolist() == [[[1, 6, 1]], [[1, 6, 6]]]
    assert digest.identification_times is not None
    assert digest.identification_times.tolist() == [[1, 4, 1]] * 2
    assert digest.final_errors(problem.true_means).tolist() == [[0.0, 0.75, 0.0], [0.0, 0.75, 1.0]]


def test_fold_compares_with_the_means_of_the_block() -> None:
    problem = Problem([0], [0.0], PROBLEM.noise).changing([Change(3, [0], 2.0)])
    sink = Fold(problem, None, 4, (0.5,), None, identifiable=False)
    for start, stop, estimate in ((0, 2, 0.0), (2, 4, 2.0)):
        sink.open(0, start, stop)
        output = sink.output(0, 1)
        assert len(output.class_counts) == 0
        output.estimates[:] = estimate
        sink.take(0, output)
    digest = sink.digest("any")
    assert digest.convergence_times.tolist() == [[[1]]]
    assert digest.identification_times is None


def test_fold_counts_the_mates_among_contacts() -> None:
    contacts = Contacts.of_lists([[1, 2], [], [0]])
    problem = Problem([0, 0, 1], [0.0, 0.0, 1.0], PROBLEM.noise)
    sink = Fold(problem, contacts, 1, (0.5,), None, identifiable=True)
    sink.open(0, 0, 1)
    output = sink.output(0, 3)
    output.estimates[:] = 0.0
    output.class_counts[:, 0] = [[2, 0], [2, 0], [0, 1]]  # agent 1 knows only itself
    sink.take(0, output)
    digest = sink.digest("any")
    assert digest.identification_times is not None
    assert digest.identification_times.tolist() == [[1, 2, 1]]
