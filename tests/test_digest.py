"""Metrics folded on the way: the same as those of what would have been kept."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colme import engine
from colme.results import QUANTILES, Digest, RunningMetrics, default_times

RNG = np.random.default_rng(5)
ESTIMATES = RNG.normal(0, 1, (7, 30)) / np.sqrt(np.arange(1, 31))  # [agent, step]
TARGETS = RNG.normal(0, 0.1, 7)
EPSILONS = (1.0, 0.3, 0.05)


def folded(cuts: list[int], parts: list[int], times: list[int] | None = None) -> RunningMetrics:
    """Return the metrics of all estimates, in blocks that end at `cuts`, agents cut at `parts`."""
    metrics = RunningMetrics(TARGETS, 30, epsilons=EPSILONS, times=times)
    start = 0
    for stop in cuts:
        metrics.open(start, stop - start)
        first = 0
        for last in parts:
            metrics.fold(first, np.ascontiguousarray(ESTIMATES[first:last, start:stop]))
            first = last
        metrics.close()
        start = stop
    return metrics


@given(st.sets(st.integers(1, 29)), st.sets(st.integers(1, 6)))
def test_blocks_and_parts_do_not_matter(cuts: set[int], parts: set[int]) -> None:
    one = folded([30], [7])
    many = folded([*sorted(cuts), 30], [*sorted(parts), 7])
    for name in ("errors", "mean_errors", "wrong_shares", "estimates", "convergence_times"):
        np.testing.assert_array_equal(getattr(one, name), getattr(many, name))


def test_a_share_is_the_number_next_to_it() -> None:
    metrics = RunningMetrics(np.zeros(10_000), 1, epsilons=(0.5,))
    metrics.open(0, 1)
    metrics.fold(0, (np.arange(10_000) < 100).astype(float)[:, np.newaxis])
    metrics.close()
    assert metrics.wrong_shares[0, 0] == 0.01


def test_metrics_are_those_of_their_definitions() -> None:
    times = [1, 4, 17, 30]
    metrics = folded([8, 30], [7], times)
    errors = np.abs(ESTIMATES - TARGETS[:, None])
    for slot, time in enumerate(times):
        here = errors[:, time - 1]
        np.testing.assert_allclose(metrics.errors[slot], np.quantile(here, QUANTILES))
        np.testing.assert_allclose(metrics.mean_errors[slot], here.mean())
        np.testing.assert_allclose(
            metrics.wrong_shares[slot], [(here > epsilon).mean() for epsilon in EPSILONS]
        )
    for e, epsilon in enumerate(EPSILONS):
        for a in range(7):
            wrong = np.flatnonzero(errors[a] > epsilon)
            expected = wrong[-1] + 2 if wrong.size else 1
            assert metrics.convergence_times[e, a] == expected
    np.testing.assert_array_equal(metrics.estimates, ESTIMATES[:, -1])


def test_who_has_no_estimate_is_wrong_but_no_part_of_the_error() -> None:
    metrics = RunningMetrics([0.0, 0.0], 1, epsilons=(0.5,))
    metrics.open(0, 1)
    metrics.fold(0, np.array([[math.nan], [0.25]]))
    metrics.close()
    assert metrics.mean_errors.tolist() == [0.25]
    assert metrics.errors[0].tolist() == [0.25] * len(QUANTILES)
    assert metrics.wrong_shares.tolist() == [[0.5]]
    assert metrics.convergence_times.tolist() == [[2, 1]]


def test_a_class_is_right_with_all_mates_and_nobody_else() -> None:
    counts = np.array([[[2, 0], [1, 0], [2, 0], [2, 1], [2, 0]]], np.int16)
    metrics = RunningMetrics([0.0], 5, identifiable=True)
    metrics.open(0, 5)
    metrics.fold(0, np.zeros((1, 5)))
    metrics.fold_classes(0, counts, np.zeros(1, np.int64), np.array([2]))
    metrics.close()
    assert metrics.identification_times is not None
    assert metrics.identification_times.tolist() == [5]


def test_means_may_change_between_blocks() -> None:
    metrics = RunningMetrics([0.0], 2, epsilons=(0.5,))
    for start, target in enumerate((0.0, 3.0)):
        metrics.aim([target])
        metrics.open(start, 1)
        metrics.fold(0, np.array([[target]]))
        metrics.close()
    assert metrics.convergence_times.tolist() == [[1]]


@pytest.mark.parametrize("horizon", [1, 2, 99, 100, 101, 2500, 12_345])
def test_default_times_are_even_and_end_with_the_horizon(horizon: int) -> None:
    times = default_times(horizon)
    assert times[-1] == horizon
    assert times[0] >= 1
    assert times.size <= 100
    assert np.unique(np.diff(times[:-1])).size <= 1


def test_plain_and_compiled_folds_agree() -> None:
    last, kept = np.zeros((2, 3, 7), np.int32), np.zeros((2, 2, 7))
    slots = np.full(30, -1)
    slots[[4, 20]] = 0, 1
    epsilons = np.array(EPSILONS)
    engine.fold_errors(ESTIMATES, TARGETS, 5, epsilons, last[0], slots, kept[0])
    engine.fold_errors.function(ESTIMATES, TARGETS, 5, epsilons, last[1], slots, kept[1])
    np.testing.assert_array_equal(last[0], last[1])
    np.testing.assert_array_equal(kept[0], kept[1])


def test_runs_are_put_side_by_side() -> None:
    digest = Digest.of("any", np.zeros(7, np.int64), [folded([30], [7]), folded([30], [7])])
    assert digest.errors.shape == (2, 30, len(QUANTILES))
    assert digest.convergence_times.shape == (2, 3, 7)
    assert digest.identification_times is None
