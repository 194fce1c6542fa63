"""simulate at its limits, on any number of threads, and its refusals."""

import math
from typing import Any

import numpy as np
import pytest
from twins import LABELLED, SAMPLES, close, simulated

from colme import ALGORITHMS, Algorithm, Problem, Record, lockstep, simulate
from colme.bounds import Laplace, NormalMixture


def test_the_same_bound_for_each_is_one_bound_and_the_usual_one_goes_by_sigma() -> None:
    usual = NormalMixture(0.1, 1000)
    expected = simulate(SAMPLES, sigma=0.1)
    close(simulate(SAMPLES, bound=usual), expected)
    close(simulate(SAMPLES, bound=(usual for _ in range(11))), expected)
    close(
        simulate(SAMPLES, "round-robin", bound=Laplace(0.1, 0.7)),
        simulate(SAMPLES, "round-robin", sigma=0.1),
    )
    assert expected.name == "sharp"


def test_an_agent_with_a_small_sigma_decides_for_itself_alone() -> None:
    bounds = [Laplace(0.1 if a < 2 else 100.0, 0.05) for a in range(4)]
    means = np.array([0.0, 3.0, 0.0, 3.0])
    samples = np.random.default_rng(1).normal(means, 0.1, (50, 4))
    trajectory = simulate(samples, "sharp", bound=bounds, labels=[0, 1, 2, 3])
    assert trajectory.class_counts is not None
    last = trajectory.class_counts[0, -1]
    assert last.tolist() == [[1, 0, 1, 1], [0, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]]
    assert trajectory.sigma == 100.0


@pytest.mark.parametrize("name", ["sharp", "oracle"])
def test_once_excluded_never_comes_back(name: str) -> None:
    trajectory = simulate(
        SAMPLES, name, sigma=0.02, delta=0.9, labels=LABELLED.labels, record=Record(every=5)
    )
    assert trajectory.class_counts is not None
    change = np.diff(trajectory.class_counts.astype(int), axis=1)
    assert (change <= 0).all()
    assert (change < 0).any() == (name == "sharp")


def test_likely_classes_are_within_the_classes_and_hold_the_agent() -> None:
    one_each = np.arange(11)
    keep = Record(likely_counts=True)
    trajectory = simulate(SAMPLES, sigma=0.1, labels=one_each, record=keep)
    assert trajectory.class_counts is not None
    assert trajectory.likely_counts is not None
    assert (trajectory.likely_counts <= trajectory.class_counts).all()
    assert (trajectory.likely_counts[:, :, one_each, one_each] == 1).all()
    assert trajectory.likely_counts.sum() < trajectory.class_counts.sum()


def test_only_a_model_knows_likely_classes() -> None:
    for door in (simulate, lockstep):
        with pytest.raises(ValueError, match=r"'simple' with Record\(likely_counts=True\)"):
            door(SAMPLES, "round-robin", sigma=0.1, record=Record(likely_counts=True))


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize(("n_agents", "n_classes"), [(1, 1), (2, 1), (2, 2), (6, 1), (6, 6)])
def test_few_agents_few_classes_and_lone_agents_work(
    name: str, n_agents: int, n_classes: int
) -> None:
    labels = np.arange(n_agents) % n_classes
    samples = Problem(labels, labels.astype(float), LABELLED.noise).draw(40, runs=2)
    fast = simulated(samples, name, judged=1, sigma=0.02, delta=0.1, labels=labels)
    assert np.isfinite(fast.estimates).all()  # type: ignore[arg-type]


def test_local_is_the_running_mean() -> None:
    running = SAMPLES.cumsum(axis=1) / np.arange(1, 61)[:, np.newaxis]
    estimates = simulate(SAMPLES, "local", sigma=0.3).estimates
    assert estimates is not None
    np.testing.assert_allclose(estimates, running, rtol=0, atol=1e-13)


def test_oracle_with_one_class_is_round_robin_with_endless_intervals() -> None:
    one_class = np.zeros(11, np.int64)
    oracle = simulate(SAMPLES, "oracle", sigma=0.3, labels=one_class)
    close(oracle, simulate(SAMPLES, "round-robin", sigma=100.0, labels=one_class))
    close(oracle, simulate(SAMPLES, "restricted-round-robin", sigma=100.0, labels=one_class))


def test_eta_zero_is_the_plain_class_and_a_huge_eta_is_everybody() -> None:
    how: dict[str, Any] = {"sigma": 0.05, "labels": LABELLED.labels}
    plain = simulate(SAMPLES, "round-robin", **how)
    close(plain, simulate(SAMPLES, "round-robin", eta=0.0, **how))
    exact = simulate(SAMPLES, "eta-round-robin", **how)
    np.testing.assert_array_equal(exact.class_counts, plain.class_counts)
    wide = simulate(SAMPLES, "eta-restricted-round-robin", eta=100.0, **how)
    close(wide, simulate(SAMPLES, "eta-round-robin", eta=100.0, **how))
    assert wide.class_counts is not None
    assert (wide.class_counts - LABELLED.class_sizes == 0).all()


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_same_bits_for_any_number_of_threads(name: str) -> None:
    how: dict[str, Any] = {"sigma": 0.1, "labels": LABELLED.labels}
    one, *more = (simulate(SAMPLES, name, threads=n, **how) for n in (1, 2, 3))
    for other in more:
        np.testing.assert_array_equal(one.estimates, other.estimates)
        np.testing.assert_array_equal(one.class_counts, other.class_counts)


def test_the_same_likely_classes_for_any_number_of_threads() -> None:
    keep = Record(likely_counts=True)
    one, *more = (simulate(SAMPLES, sigma=0.1, record=keep, threads=n) for n in (1, 2, 3))
    for other in more:
        np.testing.assert_array_equal(one.likely_counts, other.likely_counts)


def test_a_run_is_the_same_whatever_runs_beside_it() -> None:
    many = simulate(LABELLED.draw(30, runs=5, seed=3), "soft-restricted-round-robin", sigma=0.1)
    few = simulate(LABELLED.draw(30, runs=2, seed=3), "soft-restricted-round-robin", sigma=0.1)
    assert many.estimates is not None
    np.testing.assert_array_equal(many.estimates[:2], few.estimates)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_thinned_record_holds_slices_of_the_full_one(name: str) -> None:
    how: dict[str, Any] = {"sigma": 0.1, "labels": LABELLED.labels}
    full = simulate(SAMPLES, name, **how)
    thin = simulate(SAMPLES, name, record=Record(every=7), **how)
    assert thin.times.tolist() == [7, 14, 21, 28, 35, 42, 49, 56, 60]
    assert full.estimates is not None
    assert full.class_counts is not None
    assert thin.estimates is not None
    kept = thin.times - 1
    np.testing.assert_allclose(thin.estimates, full.estimates[:, kept], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(thin.class_counts, full.class_counts[:, kept])
    for record in (Record(estimates=False), Record(class_counts=False)):
        part = simulate(SAMPLES, name, record=record, **how)
        assert (part.estimates is None) == (not record.estimates)
        assert (part.class_counts is None) == (not record.class_counts)
        if part.class_counts is not None:
            np.testing.assert_array_equal(part.class_counts, full.class_counts)
        if part.estimates is not None:
            np.testing.assert_array_equal(part.estimates, full.estimates)


def test_input_may_be_any_array_of_numbers_and_is_left_alone() -> None:
    grid = [[0, 1], [1, 0], [1, 1]]
    expected = simulate(np.array(grid, float), "round-robin", sigma=0.5)
    for samples in (grid, np.array(grid, np.int8), np.array(grid, np.float32, order="F")):
        close(simulate(samples, "round-robin", sigma=0.5), expected)
    frozen = SAMPLES.copy()
    frozen.flags.writeable = False
    simulate(frozen, "round-robin", sigma=0.5)
    np.testing.assert_array_equal(frozen, SAMPLES)


def test_progress_rises_to_one_and_an_interrupt_from_it_stops_the_work() -> None:
    shares: list[float] = []
    simulate(SAMPLES, "local", sigma=0.5, threads=2, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1

    def interrupt(share: float) -> None:
        shares.append(share)
        raise KeyboardInterrupt

    shares.clear()
    with pytest.raises(KeyboardInterrupt):
        simulate(SAMPLES, "local", sigma=0.5, progress=interrupt)
    assert len(shares) == 1


def test_a_composed_algorithm_is_named_in_the_trajectory() -> None:
    assert simulate(SAMPLES, ALGORITHMS["local"], sigma=0.5).name == "local"
    composed = Algorithm("round-robin", "soft", eta=0.25)
    assert simulate(SAMPLES, composed, sigma=0.5).name == "round-robin soft eta=0.25"


BAD = [
    ({"samples": [[0.0, math.nan]]}, "received nan at run 0, time 0, agent 1"),
    ({"samples": [[0.0, 0.0], [-math.inf, 0.0]]}, "received -inf at run 0, time 1, agent 0"),
    ({"samples": [0.0, 1.0]}, r"received shape \(2,\)"),
    ({"samples": np.zeros((1, 1, 1, 1))}, r"received shape \(1, 1, 1, 1\)"),
    ({"samples": np.zeros((2, 0, 3))}, r"received shape \(2, 0, 3\)"),
    ({"samples": np.zeros((2, 3, 0))}, r"received shape \(2, 3, 0\)"),
    ({"samples": [["a", "b"]]}, "samples must be an array of numbers"),
    ({"samples": [[1.0], [1.0, 2.0]]}, "samples must be an array of numbers"),
    ({"algorithm": "gossip"}, "unknown algorithm 'gossip'; known: sharp, robust, round-robin"),
    ({"algorithm": "oracle"}, "labels"),
    ({"sigma": 0}, "sigma must be greater than 0; received 0"),
    ({"sigma": -1}, "sigma must be greater than 0; received -1"),
    ({"sigma": math.nan}, "sigma must be a finite number; received nan"),
    ({"delta": 0}, r"delta .* in \(0, 1\); received 0"),
    ({"delta": 1}, r"delta .* in \(0, 1\); received 1"),
    ({"delta": math.nan}, "delta must be a finite number; received nan"),
    ({"sigma": None}, "either sigma=.* or bound=.*received sigma=None, bound=None"),
    ({"bound": Laplace(1.0, 0.05)}, "either sigma=.* or bound=.*received sigma=0.5, bound=Lap"),
    ({"sigma": None, "bound": 3}, "bound must be one from colme.bounds; received 3"),
    (
        {"sigma": None, "bound": [Laplace(1.0, 0.05)] * 3},
        "bound must be one, or one for each of the 2 agents; received 3",
    ),
    ({"sigma": None, "bound": [Laplace(1.0, 0.05), "wide"]}, "bounds; received 'wide'"),
    ({"eta": -0.1}, "eta must be 0 or greater; received -0.1"),
    ({"labels": [0]}, r"each of the 2 agents; received shape \(1,\)"),
    ({"labels": [0, -7]}, "whole numbers .*received .*-7"),
    ({"labels": [0, 0.5]}, r"whole numbers .*received .*0\.5"),
    ({"labels": [0, 10**9]}, "below 4096.*received .*1000000000"),
    ({"labels": ["a", "b"]}, "whole numbers .*received .*a"),
]


@pytest.mark.parametrize(("changes", "message"), BAD)
@pytest.mark.parametrize("door", [simulate, lockstep])
def test_bad_input_is_refused_with_what_was_received(
    door: Any, changes: dict[str, Any], message: str
) -> None:
    good = {"samples": [[0.0, 1.0]], "algorithm": "local", "sigma": 0.5}
    with pytest.raises(ValueError, match=message):
        door(**(good | changes))


@pytest.mark.parametrize("threads", [0, -2, 1.5])
def test_threads_must_be_a_positive_whole_number(threads: Any) -> None:
    with pytest.raises(ValueError, match=f"threads must be .*received {threads}"):
        simulate([[0.0]], "local", sigma=0.5, threads=threads)


def test_a_bound_named_by_a_word_is_refused_as_a_whole() -> None:
    bound: Any = "laplace"
    with pytest.raises(ValueError, match=r"one from colme\.bounds; received 'laplace'"):
        simulate([[0.0, 1.0]], bound=bound)
