"""The means expected of a table's agents: what helps, what does not hurt, what changes nothing."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import Generator
from numpy.typing import NDArray

from colme.data import Halves, Noise, Summaries, estimate
from colme.data.comparison.methods import empirical_bayes
from colme.data.estimator.crowd import fit_crowd
from colme.data.estimator.descriptions import describe, expect
from colme.data.estimator.sharp import SharpMeans, sharp_means
from colme.model import mixture
from colme.model.mixture import LEAST_OUTLIERS, component_chances, fit_components

Array = NDArray[np.float64]
Means = Callable[[Generator, int], Array]


def classes(values: list[float], shares: list[float]) -> Means:
    return lambda rng, n: np.array(values)[rng.choice(len(values), n, p=shares)]


WITH_CLASSES: dict[str, Means] = {
    "one": classes([0.0], [1.0]),
    "two": classes([0.0, 1.5], [0.5, 0.5]),
    "three unequal": classes([0.0, 1.0, 3.0], [0.6, 0.3, 0.1]),
    "few": classes([0.0, 2.0], [0.95, 0.05]),
    "eight": classes([float(k) for k in range(8)], [1 / 8] * 8),
}
WITHOUT: dict[str, Means] = {
    "normal": lambda rng, n: rng.normal(0.0, 0.5, n),
    "wide": lambda rng, n: rng.normal(0.0, 3.0, n),
    "exponential": lambda rng, n: rng.exponential(1.0, n),
    "uniform": lambda rng, n: rng.uniform(0.0, 3.0, n),
    "spike and slab": lambda rng, n: np.where(rng.random(n) < 0.5, 0.0, rng.normal(0.0, 1.5, n)),
    "two humps": lambda rng, n: np.where(rng.random(n) < 0.5, -1.0, 1.0) + rng.normal(0, 0.3, n),
}
RUNS = {20: 8, 60: 5, 200: 2}
"""How many tables of so many agents."""


def table(rng: Generator, means: Array, most: int = 20, noise: Any = None) -> Summaries:
    """Return a table with 3 to `most` rows for each agent, Gaussian of σ = 1 unless given."""
    whose = np.repeat(np.arange(len(means)), rng.integers(3, most + 1, len(means)))
    off = rng.normal(0.0, 1.0, len(whose)) if noise is None else noise(rng, len(whose))
    return Summaries.of(whose, means[whose] + off)


def sharpened(summaries: Summaries) -> SharpMeans:
    return sharp_means(summaries, Noise.of(summaries))


def errors(family: Means, n: int) -> tuple[float, float, float]:
    """Return the square errors of local, empirical Bayes and sharp, over all tables."""
    rng, total = np.random.default_rng(41), np.zeros(3)
    for _ in range(RUNS[n]):
        truth = family(rng, n)
        found = table(rng, truth)
        for i, means in enumerate((found.means, empirical_bayes(found), sharpened(found).means)):
            total[i] += np.mean((means - truth) ** 2)
    local, bayes, sharp = total.tolist()
    return local, bayes, sharp


MOST: dict[str, float] = {"one": 0.1, "two": 0.6, "three unequal": 0.85, "few": 0.4, "eight": 1.02}
"""The most of the own means' square error that is left, by kind of classes."""


@pytest.mark.parametrize("n", RUNS)
@pytest.mark.parametrize("name", WITH_CLASSES)
def test_classes_help(name: str, n: int) -> None:
    local, bayes, sharp = errors(WITH_CLASSES[name], n)
    assert sharp <= MOST[name] * local
    if name not in ("one", "eight"):
        assert sharp <= 0.95 * bayes


@pytest.mark.parametrize("n", RUNS)
@pytest.mark.parametrize("name", WITHOUT)
def test_without_classes_nothing_is_lost(name: str, n: int) -> None:
    local, bayes, sharp = errors(WITHOUT[name], n)
    assert sharp <= 1.02 * local
    # Of few agents a crowd is not trusted at once: that is what keeps tables that are none safe.
    assert sharp <= (1.12 if n == 20 else 1.06) * min(local, bayes)


@st.composite
def means_to_fit(draw: st.DrawFn) -> tuple[Array, Array, Array, Array | None]:
    """Return means, precisions, and where components start."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, size = draw(st.integers(2, 40)), draw(st.integers(1, 4))
    noise = rng.uniform(0.02, 1.0, n)
    truth = draw(st.sampled_from([*WITH_CLASSES.values(), *WITHOUT.values()]))(rng, n)
    means = rng.normal(truth, np.sqrt(noise))
    start = draw(st.sampled_from([None, 1e-3, 0.3, 5.0]))
    centers = rng.choice(means, size)
    return means, 1 / noise, centers, None if start is None else np.full(size, start)


def followed(fit: mixture._Fit, width: float, free: bool, steps: int) -> list[float]:
    """Return the likelihood before each step of a fit."""
    found = []
    for _ in range(steps):
        found.append(mixture._explain(width, fit))
        mass = mixture._move(free, fit)
        fit.shares[:] *= (1 - LEAST_OUTLIERS) / mass
    return found


def started(
    means: Array, precisions: Array, centers: Array, variances: Array | None
) -> mixture._Fit:
    size = len(centers)
    spread = np.zeros(size) if variances is None else variances
    shares = np.full(size, (1 - LEAST_OUTLIERS) / size)
    return mixture._started(means, precisions, centers, spread, shares)


@given(means_to_fit())
def test_no_step_of_a_fit_makes_it_less_likely(start: tuple[Array, Array, Array, Any]) -> None:
    likelihoods = followed(started(*start), 10.0, start[3] is not None, 15)
    assert min(np.diff(likelihoods)) > -1e-9


@given(means_to_fit())
def test_compiled_and_plain_fits_agree(start: tuple[Array, Array, Array, Any]) -> None:
    compiled, plain = started(*start), started(*start)
    free = start[3] is not None
    here = mixture._climb(200, 10.0, free, compiled)
    there = mixture._climb.function(200, 10.0, free, plain)
    assert here == pytest.approx(there, rel=1e-7, abs=1e-7)
    for one, other in zip(compiled[2:5], plain[2:5], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7)


@given(means_to_fit())
def test_a_fit_is_a_distribution_and_chances_are_chances(
    start: tuple[Array, Array, Array, Any],
) -> None:
    means, precisions, _, _ = start
    fitted = fit_components(*start)
    assert 1 - fitted.shares.sum() == pytest.approx(LEAST_OUTLIERS)
    assert (fitted.variances >= 0).all()
    assert fitted.centers.min() >= means.min() - 1e-9
    assert fitted.centers.max() <= means.max() + 1e-9
    chances = component_chances(fitted, means, precisions)
    assert (chances >= 0).all()
    assert (chances.sum(axis=0) <= 1 + 1e-12).all()
    expected = expect(fitted, means, 1 / precisions)
    assert expected.means.min() >= means.min() - 1e-9
    assert expected.means.max() <= means.max() + 1e-9
    assert (expected.errors >= 0).all()


@given(st.integers(0, 10**6), st.integers(4, 60))
def test_the_weights_of_descriptions_are_those_of_their_scores(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    noise = rng.uniform(0.02, 0.5, n)
    described = describe(rng.normal(rng.integers(0, 3, n), np.sqrt(noise)), noise)
    assert sum(weight for weight, _ in described) == pytest.approx(1.0)
    for (w, one), (v, other) in itertools.pairwise(described):
        assert math.log(w / v) == pytest.approx(one.score - other.score, abs=1e-9)


@pytest.mark.parametrize("name", ["two", "few", "normal", "spike and slab"])
@pytest.mark.parametrize(("a", "b"), [(1.0, 1e4), (-1.0, 0.0), (1e-6, 0.0), (1e6, -3e7)])
def test_other_units_give_the_same_in_other_units(name: str, a: float, b: float) -> None:
    rng = np.random.default_rng(42)
    truth = (WITH_CLASSES | WITHOUT)[name](rng, 40)
    whose = np.repeat(np.arange(40), rng.integers(3, 15, 40))
    x = rng.normal(truth[whose], 1.0)
    here, there = estimate(Summaries.of(whose, x)), estimate(Summaries.of(whose, a * x + b))
    np.testing.assert_allclose(
        (there.estimates - b) / a, here.estimates, rtol=0, atol=1e-6 * np.ptp(here.estimates)
    )
    np.testing.assert_allclose(there.effective_counts, here.effective_counts, rtol=1e-4)
    assert there.alike.tolist() == here.alike.tolist()
    assert there.class_sizes.tolist() == here.class_sizes.tolist()
    ends = [(there.low - b) / a, (there.high - b) / a]
    for end, expected in zip(ends if a > 0 else ends[::-1], (here.low, here.high), strict=True):
        np.testing.assert_allclose(end, expected, rtol=1e-6, atol=1e-6)


def test_the_names_of_agents_change_nothing_but_who_is_who() -> None:
    rng = np.random.default_rng(43)
    found = table(rng, WITH_CLASSES["three unequal"](rng, 60))
    moved = rng.permutation(60)
    assert found.halves is not None
    counts, means, squares = found.halves
    other = Summaries(
        found.agents,
        found.counts[moved],
        found.means[moved],
        found.squares[moved],
        Halves(counts[:, moved], means[:, moved], squares[:, moved]),
    )
    here, there = sharpened(found), sharpened(other)
    np.testing.assert_allclose(there.means, here.means[moved], rtol=0, atol=1e-6)


def test_the_same_table_gives_the_same_whatever_the_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(44)
    found = table(rng, WITH_CLASSES["two"](rng, 50))
    for algorithm in ("sharp", "soft-restricted-round-robin"):
        results = []
        for n_threads in (1, 2, 7):
            monkeypatch.setattr(os, "cpu_count", lambda n=n_threads: n)
            results.append(estimate(found, algorithm=algorithm))
        for other in results[1:]:
            for here, there in zip(
                results[0].columns.values(), other.columns.values(), strict=True
            ):
                np.testing.assert_array_equal(here, there)


DEGENERATE: dict[str, list[list[float]]] = {
    "two agents": [[1.0, 2.0], [5.0, 6.0]],
    "three agents": [[1.0, 2.0], [5.0, 6.0], [1.0, 1.0]],
    "four agents": [[1.0, 2.0], [5.0, 6.0], [1.0, 1.0], [9.0]],
    "equal means": [[0.0, 2.0], [1.0, 1.0], [-3.0, 5.0], [1.0], [0.5, 1.5], [1.0]],
    "one outlier": [*([0.0, 1.0, 2.0] for _ in range(9)), [1e8, 1e8 + 1]],
    "most without scatter": [*([float(k % 2)] * 3 for k in range(20)), [0.0, 1.0]],
    "most with one row": [*([float(k)] for k in range(20)), [0.0, 1.0]],
    "far from zero": [[1e9, 1e9 + 1], [1e9 + 3, 1e9 + 2], [1e9 - 5, 1e9], [1e9, 1e9 + 2], [1e9]],
    "tiny": [[1e-90, 2e-90], [-1e-90, 0.0], [3e-90, 1e-90], [0.0, 1e-91], [0.0]],
    "huge": [[1e90, 2e90], [-1e90, 0.0], [3e90, 1e90], [0.0, 1e89], [0.0]],
    "one class of coins": [[0.0, 1.0, 1.0, 0.0, 1.0]] * 30,
}


@pytest.mark.parametrize("values", DEGENERATE.values(), ids=DEGENERATE)
@pytest.mark.parametrize("known", [False, True])
def test_strange_tables_have_estimates_among_their_means(
    values: list[list[float]], known: bool
) -> None:
    whose = np.repeat(np.arange(len(values)), [len(own) for own in values])
    found = Summaries.of(whose, np.concatenate(values))
    scale = float(np.sqrt(found.squares.sum() / (len(whose) - len(values))))
    result = estimate(found, sigma=scale if known else None)
    slack = 1e-6 * np.ptp(found.means) + 1e-12 * np.abs(found.means).max()
    assert not np.isnan(result.estimates).any()
    assert (result.estimates >= found.means.min() - slack).all()
    assert (result.estimates <= found.means.max() + slack).all()
    assert (result.effective_counts > 0).all()
    assert (result.effective_counts <= found.counts.sum()).all()
    assert not np.isnan([result.low, result.high, result.class_low, result.class_high]).any()
    assert sorted(set(result.classes)) == list(range(1, result.classes.max() + 1))
    if len(values) < 4:
        assert result.estimates.tolist() == found.means.tolist()


@pytest.mark.parametrize("name", ["two", "three unequal", "few"])
def test_classes_of_gaussian_samples_are_trusted(name: str) -> None:
    trusts = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        trusts.append(sharpened(table(rng, 2 * WITH_CLASSES[name](rng, 120))).trust.descriptions)
    assert np.mean(trusts) > 0.85


def test_heavy_tails_are_not_taken_for_classes() -> None:
    local, sharp, trusts = 0.0, 0.0, []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        truth = rng.normal(0.0, 2.0, 150)
        found = table(rng, truth, most=5, noise=lambda rng, n: rng.exponential(1.0, n) ** 2 - 2)
        result = sharpened(found)
        trusts.append(result.trust.descriptions)
        local += float(np.mean((found.means - truth) ** 2))
        sharp += float(np.mean((result.means - truth) ** 2))
    assert np.mean(trusts) < 0.15
    assert sharp < 0.8 * local


def test_the_labels_of_clear_classes_are_right() -> None:
    rng = np.random.default_rng(45)
    truth = np.tile([0.0, 3.0, 6.0], 20)
    found = estimate(table(rng, truth, most=12))
    assert (found.classes - 1).tolist() == (np.arange(60) % 3).tolist()
    assert [one.size for one in found.class_table] == [20, 20, 20]
    assert found.gains.min() > 3


def deviance(means: Array, noise: Array, center: float, variance: float) -> float:
    """Return -2 log likelihood of a crowd, up to a constant."""
    total = variance + noise
    return float(np.sum(np.log(total) + (means - center) ** 2 / total))


def test_the_crowd_is_that_of_the_largest_likelihood() -> None:
    rng = np.random.default_rng(46)
    for _ in range(5):
        noise = rng.uniform(0.1, 2.0, 30)
        means = rng.normal(3.0, np.sqrt(rng.uniform(0.0, 2.0) + noise))
        best = fit_crowd(means, noise)

        def deviance(
            center: float, variance: float, means: Array = means, s2: Array = noise
        ) -> Any:
            return np.sum(np.log(variance + s2) + (means - center) ** 2 / (variance + s2))

        least = deviance(best.center, best.variance)
        for factor, shift in itertools.product((0.9, 1.0, 1.1), (-0.05, 0.0, 0.05)):
            other = deviance(best.center + shift, best.variance * factor + 1e-3 * (factor > 1))
            assert other >= least - 1e-9
