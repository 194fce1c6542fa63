"""simulate and lockstep against the literal transcription, each other, and their limits."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from literal import literal
from numpy.typing import NDArray

from colme import ALGORITHMS, Algorithm, Problem, Record, Trajectory, lockstep, simulate
from colme.algorithm import ClassTest, QueryStrategy, Weighting

Labels = NDArray[np.int64]
Samples = NDArray[np.float64]
LABELLED = Problem.gaussian([0.0, 0.4, 1.0], n_agents=11, sigma=0.3, seed=1)
SAMPLES = LABELLED.draw(60, runs=2, seed=2)


@st.composite
def problems(draw: st.DrawFn, most_agents: int = 40) -> tuple[Samples, Labels, float, float]:
    """Samples[time, agent], labels in any order and with gaps, sigma (right or wrong), delta."""
    n_agents = draw(st.integers(1, most_agents))
    classes = draw(st.sampled_from([(0,), (2,), (0, 1), (3, 1), (0, 1, 2)]))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    labels = rng.choice(classes, n_agents).astype(np.int64)
    means = np.array([0.15, 0.5, 0.8, 0.3])[labels]
    shape = (draw(st.integers(1, 18)), n_agents)
    if draw(st.booleans()):
        samples = (rng.random(shape) < means).astype(np.float64)
    else:
        samples = rng.normal(means, 0.1, shape)
    return samples, labels, draw(st.floats(0.02, 0.5)), draw(st.floats(0.001, 0.9))


def close(one: Trajectory, other: Trajectory, atol: float = 1e-12) -> None:
    assert one.estimates is not None
    assert other.estimates is not None
    np.testing.assert_allclose(one.estimates, other.estimates, rtol=0, atol=atol)
    np.testing.assert_array_equal(one.class_counts, other.class_counts)


@pytest.mark.parametrize("name", ALGORITHMS)
@settings(max_examples=40)
@given(problem=problems(), eta=st.sampled_from([0.0, 0.05, 0.3]))
def test_simulate_and_lockstep_are_the_literal_transcription(
    name: str, problem: tuple[Samples, Labels, float, float], eta: float
) -> None:
    samples, labels, sigma, delta = problem
    estimates, class_counts = literal(samples, name, labels, sigma, delta, eta)
    how: dict[str, Any] = {"sigma": sigma, "delta": delta, "labels": labels}
    if name.startswith("eta-"):
        how["eta"] = eta
    for door in (simulate, lockstep):
        trajectory = door(samples, name, **how)
        assert trajectory.estimates is not None
        np.testing.assert_allclose(trajectory.estimates[0], estimates, rtol=0, atol=1e-9)
        np.testing.assert_array_equal(trajectory.class_counts, class_counts[np.newaxis])


@pytest.mark.parametrize("name", ALGORITHMS)
@settings(max_examples=15)
@given(problem=problems(most_agents=20), eta=st.sampled_from([None, 0.2]))
def test_lockstep_is_simulate_for_every_preset(
    name: str, problem: tuple[Samples, Labels, float, float], eta: float | None
) -> None:
    samples, labels, sigma, delta = problem
    how: dict[str, Any] = {"sigma": sigma, "delta": delta, "labels": labels, "eta": eta}
    close(simulate(samples, name, **how), lockstep(samples, name, **how))


@pytest.mark.parametrize("eta", [0.0, 0.25])
@pytest.mark.parametrize(
    ("query", "weighting", "test"),
    list(product(QueryStrategy, Weighting, ClassTest)),
    ids=lambda choice: choice.word,
)
def test_lockstep_is_simulate_for_every_composition(
    query: QueryStrategy, weighting: Weighting, test: ClassTest, eta: float
) -> None:
    composed = Algorithm(query, weighting, test, eta)
    how: dict[str, Any] = {"sigma": 0.1, "delta": 0.1, "labels": LABELLED.labels}
    close(simulate(SAMPLES, composed, **how), lockstep(SAMPLES, composed, **how))


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize(("n_agents", "n_classes"), [(1, 1), (2, 1), (2, 2), (6, 1), (6, 6)])
def test_few_agents_few_classes_and_lone_agents_work(
    name: str, n_agents: int, n_classes: int
) -> None:
    labels = np.arange(n_agents) % n_classes
    samples = Problem(labels, labels.astype(float), LABELLED.noise).draw(40, runs=2)
    how: dict[str, Any] = {"sigma": 0.02, "delta": 0.1, "labels": labels}
    fast = simulate(samples, name, **how)
    assert np.isfinite(fast.estimates).all()  # type: ignore[arg-type]
    close(fast, lockstep(samples, name, **how))


def test_long_runs_of_many_agents_stay_as_exact_as_short_ones() -> None:
    problem = Problem.gaussian([1e3, 1e3 + 0.5], n_agents=20, sigma=0.2, seed=5)
    samples = problem.draw(150, seed=6)
    how: dict[str, Any] = {"sigma": 0.2, "labels": problem.labels}
    for name in ALGORITHMS:
        close(simulate(samples, name, **how), lockstep(samples, name, **how), atol=1e-12 * 1e3)


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
    ({"algorithm": "gossip"}, "unknown algorithm 'gossip'; known: round-robin"),
    ({"algorithm": "oracle"}, "labels"),
    ({"sigma": 0}, "sigma must be greater than 0; received 0"),
    ({"sigma": -1}, "sigma must be greater than 0; received -1"),
    ({"sigma": math.nan}, "sigma must be a finite number; received nan"),
    ({"delta": 0}, r"delta .* in \(0, 1\); received 0"),
    ({"delta": 1}, r"delta .* in \(0, 1\); received 1"),
    ({"delta": math.nan}, "delta must be a finite number; received nan"),
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
