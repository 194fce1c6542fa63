"""Intervals and tests of a table fail as seldom as they say, at one time and at all at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.stats import binomtest

from colme.bounds import split_risk
from colme.data import MEANINGS, Estimates, Noise, Summaries, estimate
from colme.data.estimator.groups import TableEvidence, is_alike

Array = NDArray[np.float64]
Draw = Callable[[Generator, Array], Array]
"""From means to one sample of each."""

DELTA = 0.05


class World(NamedTuple):
    """How samples scatter around a mean, what is known of it, and the means that can be."""

    draw: Draw
    how: dict[str, Any]
    means: tuple[float, float, float]


def unequal(rng: Generator, means: Array) -> Array:
    """Draw Gaussian samples, the first agent's a hundred times as scattered as the last one's."""
    scales = np.geomspace(10.0, 0.1, means.shape[-1])
    return rng.normal(means, scales)


WORLDS = {
    "sigma": World(lambda rng, m: rng.normal(m, 1.0), {"sigma": 1.0}, (0.0, 2.0, 5.0)),
    "coins": World(
        lambda rng, m: rng.binomial(1, m).astype(float), {"value_range": (0, 1)}, (0.1, 0.5, 0.9)
    ),
    "beta": World(
        lambda rng, m: rng.beta(4 * m, 4 * (1 - m)), {"value_range": (0, 1)}, (0.1, 0.5, 0.9)
    ),
    "gaussian": World(lambda rng, m: rng.normal(m, 1.0), {}, (0.0, 2.0, 5.0)),
    "unequal": World(unequal, {}, (0.0, 20.0, 50.0)),
}
EASY = (WORLDS["sigma"], WORLDS["gaussian"])
"""Where so much is known, or so simple, that less than what is done would fail."""
every_world = pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)

COUNTS: dict[str, Callable[[Generator, int], NDArray[np.int64]]] = {
    "geometric": lambda rng, n: rng.geometric(0.1, n),
    "from 2 to 50": lambda rng, n: rng.integers(2, 51, n),
}
every_count = pytest.mark.parametrize("counts", COUNTS.values(), ids=COUNTS)


def p_value(events: int, trials: int, risk: float) -> float:
    """Return the p-value of 'events have at most this probability'."""
    return float(binomtest(events, trials, risk, "greater").pvalue)


class Drawn(NamedTuple):
    """True means and what was found."""

    truth: Array
    found: Estimates


def tables(
    world: World, counts: Callable[[Generator, int], NDArray[np.int64]], n: int, **more: Any
) -> Iterator[Drawn]:
    """Draw n tables of twelve agents in three classes of 6, 4 and 2, and estimate each."""
    rng = np.random.default_rng(31)
    for _ in range(n):
        truth = rng.permutation(np.repeat(world.means, [6, 4, 2]))
        rows = counts(rng, 12)
        samples = np.array([world.draw(rng, truth) for _ in range(rows.max())])
        whose = np.repeat(np.arange(12), rows)
        values = np.concatenate([samples[:count, a] for a, count in enumerate(rows)])
        yield Drawn(truth, estimate(Summaries.of(whose, values), **world.how, **more))


def misses(truth: Array, low: Array, high: Array, factor: float = 1.0) -> NDArray[np.bool_]:
    """Return which true means lie outside the intervals, shrunk towards their middles."""
    with np.errstate(invalid="ignore"):
        found: NDArray[np.bool_] = np.abs(truth - (low + high) / 2) > factor * (high - low) / 2
    return found


@every_world
@every_count
def test_at_one_time_intervals_and_tests_fail_as_seldom_as_they_say(
    world: World, counts: Callable[[Generator, int], NDArray[np.int64]]
) -> None:
    """Where classes are often right, a third of their interval would not do."""
    n, own, of_class, left_out, exact, in_a_third = 150, 0, 0, 0, 0, 0
    for truth, found in tables(world, counts, n, algorithm="local", delta=DELTA):
        same = truth[:, np.newaxis] == truth
        right = (same == (found.classes[:, np.newaxis] == found.classes)).all(axis=1)
        alike = np.array([is_alike(a, found.evidence) for a in range(12)])
        own += int(misses(truth, found.low, found.high).sum())
        of_class += int((right & misses(truth, found.class_low, found.class_high)).sum())
        in_a_third += int((right & misses(truth, found.class_low, found.class_high, 0.3)).sum())
        left_out += int((same & ~alike).any(axis=1).sum())
        exact += int(right.sum())
        assert found.alike.tolist() == alike.sum(axis=1).tolist()
    assert p_value(own, 12 * n, DELTA) > 1e-3
    assert p_value(of_class, 12 * n, DELTA) > 1e-3
    assert p_value(left_out, 12 * n, DELTA / 8) > 1e-3
    assert exact > 0
    if counts is COUNTS["from 2 to 50"] and world in EASY:
        assert exact > 0.4 * 12 * n
        assert p_value(in_a_third, exact, DELTA) < 1e-4


@every_world
def test_estimates_lie_in_their_intervals(world: World) -> None:
    for counts in COUNTS.values():
        for _, found in tables(world, counts, 4):
            assert (found.low <= found.estimates).all()
            assert (found.estimates <= found.high).all()
            assert np.isfinite(found.estimates).all()


class Followed(NamedTuple):
    """How often agents were ever outside their interval, or separated from one of their class."""

    trials: int
    outside: int
    left_out: int


def follow(world: World, *, n: int = 80, steps: int = 50) -> dict[float, Followed]:
    """Fold rows one by one, to some agents more often than to others, and look every time.

    Tables have eight agents of one mean.  Of the two factors each shrinks intervals and stretches
    distances.
    """
    rng = np.random.default_rng(32)
    truth, rates = np.full((n, 8), world.means[1]), np.linspace(0.3, 1.0, 8)
    counts, means, squares = np.ones((n, 8), np.int64), world.draw(rng, truth), np.zeros((n, 8))
    out, lost = ({factor: np.zeros((n, 8), bool) for factor in (1.0, 0.5)} for _ in range(2))
    for _ in range(steps):
        coming = rng.random((n, 8)) < rates
        off = np.where(coming, world.draw(rng, truth) - means, 0.0)
        counts = counts + coming
        means = means + off / counts
        squares = squares + off**2 * (1 - 1 / counts)
        for i in np.flatnonzero(squares.max(axis=1) > 0):
            table = Summaries(np.arange(8), counts[i], means[i], squares[i])
            radii, evidence = look(world, table)
            off_truth = np.abs(truth[i] - means[i])
            apart = np.subtract.outer(evidence.centers, evidence.centers)
            level = evidence.log_risk + np.add.outer(evidence.offsets, evidence.offsets)
            allowed = 2 * np.add.outer(evidence.spreads, evidence.spreads) * level
            for factor in out:
                out[factor][i] |= off_truth > factor * radii
                lost[factor][i] |= ((apart / factor) ** 2 >= allowed).any(axis=1)
    return {each: Followed(8 * n, int(out[each].sum()), int(lost[each].sum())) for each in out}


def look(world: World, table: Summaries) -> tuple[Array, TableEvidence]:
    """Return the radii and the evidence of a table, without what else `estimate` finds out."""
    noise, gamma = Noise.of(table, **world.how), split_risk(DELTA, len(table))
    spreads, offsets = noise.evidence(table.counts, table.squares, gamma)
    evidence = TableEvidence(table.means, spreads, offsets, -math.log(gamma), 0.0)
    return noise.radii(table.counts, table.squares, DELTA), evidence


@every_world
def test_what_is_looked_at_is_what_estimate_returns(world: World) -> None:
    for _, found in tables(world, COUNTS["geometric"], 3, algorithm="local", delta=DELTA):
        radii, evidence = look(world, found.summaries)
        low, high = found.noise.low, found.noise.high
        np.testing.assert_array_equal(found.low, np.maximum(found.summaries.means - radii, low))
        np.testing.assert_array_equal(found.high, np.minimum(found.summaries.means + radii, high))
        for here, there in zip(found.evidence, evidence, strict=True):
            np.testing.assert_array_equal(here, there)


@every_world
def test_at_all_times_at_once_they_fail_as_seldom_as_they_say_and_half_would_not_do(
    world: World,
) -> None:
    found = follow(world)
    whole, half = found[1.0], found[0.5]
    assert p_value(whole.outside, whole.trials, DELTA) > 1e-3
    assert p_value(whole.left_out, whole.trials, DELTA / 8) > 1e-3
    if world in EASY:
        assert p_value(half.outside, half.trials, DELTA) < 1e-4
        assert p_value(half.left_out, half.trials, DELTA / 8) < 1e-4


def heavy_tailed(rng: Generator, means: Array) -> Array:
    """Draw lognormal samples."""
    return means * rng.lognormal(-0.5, 1.0, means.shape)


def test_with_noise_estimated_skewed_samples_break_the_promise() -> None:
    found = follow(World(heavy_tailed, {}, (1.0, 1.0, 1.0)))[1.0]
    assert p_value(found.outside, found.trials, DELTA) < 1e-4


def test_of_coins_the_range_is_known_without_being_given() -> None:
    rare = World(lambda rng, m: rng.binomial(1, m).astype(float), {}, (0.05, 0.05, 0.05))
    found = follow(rare)[1.0]
    assert p_value(found.outside, found.trials, DELTA) > 1e-3


def test_an_agent_of_one_row_has_an_interval_only_if_noise_is_known() -> None:
    table = Summaries.of(["a", "b", "b", "b", "b", "b", "b"], [5.0, 1, 2, 1, 2, 1, 2])
    hows: list[dict[str, Any]] = [{}, {"sigma": 1.0}, {"value_range": (0, 9)}]
    for how, known in zip(hows, (False, True, True), strict=True):
        found = estimate(table, **how)
        assert np.isfinite([found.low[0], found.high[0]]).all() == known
        assert np.isfinite([found.low[1], found.high[1]]).all()


def test_without_any_agent_of_two_rows_nothing_is_known() -> None:
    found = estimate(Summaries.of(["a", "b", "c"], [5.0, 1.0, 2.0]))
    assert not found.noise.known
    assert found.estimates.tolist() == [5.0, 1.0, 2.0]
    for ends in (found.low, found.high, found.class_low, found.class_high):
        assert np.isinf(ends).all()
    assert found.alike.tolist() == [3, 3, 3]
    assert np.isnan(found.effective_counts).all()
    assert "noise cannot be distinguished from differences" in found.notes[0]


def test_adding_the_pooled_variance_only_widens() -> None:
    rng = np.random.default_rng(33)
    counts, squares = rng.integers(1, 60, 300), rng.exponential(20.0, 300)
    bare, pooled = Noise("estimated", 1e-200), Noise("estimated", 3.0)
    for risk in (0.05, 1e-6):
        assert (pooled.radii(counts, squares, risk) >= bare.radii(counts, squares, risk)).all()
        wide, narrow = (one.evidence(counts, squares, risk) for one in (pooled, bare))
        assert (wide[0] >= narrow[0]).all()
        np.testing.assert_array_equal(wide[1], narrow[1])


@pytest.mark.parametrize(("n", "delta"), [(2, 0.9), (20, 0.05), (1000, 0.001)])
def test_a_tables_evidence_reaches_as_far_as_any_of_its_tests(n: int, delta: float) -> None:
    """Student's parabolas are used up to ln(1/γ) and the largest offset: ln M is no lower."""
    rng = np.random.default_rng(34)
    counts, squares = rng.integers(2, 5000, n), rng.exponential(5000.0, n)
    gamma = delta / (8 * n)
    spreads, offsets = Noise("estimated", 1.0).evidence(counts, squares, gamma)
    level = -math.log(gamma) + offsets.max()
    some = np.isfinite(spreads)
    assert some.any() or n == 2
    counts, squares, spreads, offsets = counts[some], squares[some], spreads[some], offsets[some]
    kappa = np.exp(-2 * offsets)
    for part in (0.2, 0.7, 1.0):
        d2 = part * 2 * spreads * (level + offsets)
        ratio = (squares + 1 + counts * d2) / (squares + 1 + kappa * counts * d2)
        evidence = counts / 2 * np.log(ratio) - offsets
        assert (evidence >= d2 / (2 * spreads) - offsets - 1e-6).all()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"sigma": 1.0, "value_range": (0, 1)}, "give sigma or a range, not both"),
        ({"sigma": 0.0}, "sigma must be"),
        ({"value_range": (0, 1)}, r"all samples must lie in \[0, 1\]; the mean of b is 7"),
        ({"value_range": (1, 1)}, "received|give"),
        ({"delta": 1.5}, "delta"),
    ],
)
def test_noise_that_cannot_be_is_refused(how: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        estimate(Summaries.of(["a", "a", "b"], [0.0, 1.0, 7.0]), **how)


def test_equal_samples_say_nothing_of_noise() -> None:
    table = Summaries.of(["a", "a", "b", "b"], [1.0, 1.0, 2.0, 2.0])
    with pytest.raises(ValueError, match="all samples of each agent are equal"):
        estimate(table)
    assert np.isfinite(estimate(table, sigma=1.0).high).all()


def test_every_column_has_its_meaning() -> None:
    found = estimate(Summaries.of(["a", "a", "b", "b"], [1.0, 1.5, 2.0, 2.5]))
    assert list(found.columns) == list(MEANINGS)
    assert set(found["b"]) == set(MEANINGS)
