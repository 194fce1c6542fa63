"""Baselines against their formulas, other programs' answers, and tables that have no answer."""

import sys
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize

from colme.data import LeftOutError, Summaries
from colme.data.comparison.methods import (
    MOST_AGENTS,
    MOST_ROWS,
    Method,
    empirical_bayes,
    grand_mean,
    james_stein,
    k_means,
    local,
    mixed_model,
)
from colme.data.estimator.crowd import fit_crowd
from colme.data.estimator.noise import pooled_variance

ALL: list[Method] = [local, grand_mean, james_stein, empirical_bayes, mixed_model, k_means]
SHRINKING: list[Method] = [james_stein, empirical_bayes, mixed_model]
Rows = tuple[NDArray[np.int64], NDArray[np.float64]]


def rows(seed: int, n_agents: int = 30, spread: float = 1.0, most: int = 9) -> Rows:
    """Return agents with 1 to `most` rows, true means scattered by `spread`, noise 2."""
    rng = np.random.default_rng(seed)
    whose = np.repeat(np.arange(n_agents), rng.integers(1, most, n_agents))
    return whose, rng.normal(5.0, spread, n_agents)[whose] + rng.normal(0.0, 2.0, len(whose))


def test_grand_mean_is_the_mean_of_all_rows() -> None:
    whose, values = rows(0)
    assert grand_mean(Summaries.of(whose, values)) == pytest.approx(np.full(30, values.mean()))


def test_pooled_variance_is_that_of_rows_around_their_agents_means() -> None:
    whose, values = rows(1)
    groups = [values[whose == agent] for agent in range(30)]
    total = sum(float(((group - group.mean()) ** 2).sum()) for group in groups)
    assert pooled_variance(Summaries.of(whose, values)) == pytest.approx(total / (len(values) - 30))
    assert np.isnan(pooled_variance(Summaries.of([0, 1], [1.0, 2.0])))


def test_james_stein_of_equal_counts_is_the_textbook_one() -> None:
    values = np.random.default_rng(2).normal(0.0, 1.0, (12, 5)) + np.arange(12)[:, np.newaxis] / 4
    table = Summaries.of(np.repeat(np.arange(12), 5), values.ravel())
    means, center = values.mean(axis=1), values.mean()
    error = values.var(axis=1, ddof=1).mean() / 5
    kept = 1 - (12 - 3) * error / ((means - center) ** 2).sum()
    assert 0.5 < kept < 1
    assert james_stein(table) == pytest.approx(center + kept * (means - center))


def test_james_stein_never_turns_means_around() -> None:
    values = np.random.default_rng(5).normal(0.0, 1.0, (40, 4))
    table = Summaries.of(np.repeat(np.arange(40), 4), values.ravel())
    kept = (james_stein(table) - values.mean()) / (table.means - values.mean())
    assert kept == pytest.approx(np.full(40, kept[0]))
    assert 0 <= kept[0] < 0.5


@given(st.integers(0, 1000), st.sampled_from([0.0, 0.5, 3.0, 300.0]))
@settings(deadline=None, max_examples=30)
def test_no_other_crowd_is_likelier_than_the_one_fitted(seed: int, spread: float) -> None:
    table = Summaries.of(*rows(seed, spread=spread))
    noise = pooled_variance(table) / table.counts
    prior = fit_crowd(table.means, noise)

    def deviance(point: NDArray[np.float64]) -> float:
        total = point[1] ** 2 + noise
        return float(np.sum(np.log(total) + (table.means - point[0]) ** 2 / total))

    best = deviance(np.array([prior.center, np.sqrt(prior.variance)]))
    start = np.array([table.means.mean(), table.means.std()])
    assert best <= minimize(deviance, start, method="Nelder-Mead").fun + 1e-6


def test_mixed_model_on_made_up_rows_is_that_on_the_rows_themselves() -> None:
    from statsmodels.regression.mixed_linear_model import MixedLM  # noqa: PLC0415

    whose, values = rows(7, n_agents=40, spread=1.5)
    fit = MixedLM(values, np.ones((len(values), 1)), groups=whose).fit(reml=True)
    expected = [float(fit.fe_params[0]) + float(fit.random_effects[a].iloc[0]) for a in range(40)]
    assert mixed_model(Summaries.of(whose, values)) == pytest.approx(np.array(expected), abs=1e-3)


def test_mixed_model_does_not_care_for_origin_and_unit() -> None:
    whose, values = rows(8)
    plain = mixed_model(Summaries.of(whose, values))
    moved = mixed_model(Summaries.of(whose, 1e6 + 1e-3 * values))
    assert (moved - 1e6) / 1e-3 == pytest.approx(plain, abs=1e-3)


@pytest.mark.parametrize("method", SHRINKING)
def test_shrinkage_beats_own_means_of_agents_alike(method: Method) -> None:
    table = Summaries.of(*rows(9, n_agents=200, spread=0.7))
    truth = np.random.default_rng(9)
    truth.integers(1, 9, 200)
    means = truth.normal(5.0, 0.7, 200)
    assert ((method(table) - means) ** 2).mean() < 0.6 * ((table.means - means) ** 2).mean()


@pytest.mark.parametrize("centers", [[0.0], [0.0, 4.0], [0.0, 4.0, 12.0]])
def test_k_means_finds_classes_far_apart_and_only_those(centers: list[float]) -> None:
    rng = np.random.default_rng(10)
    label = rng.integers(len(centers), size=120)
    whose = np.repeat(np.arange(120), 20)
    values = np.array(centers)[label][whose] + rng.normal(0.0, 1.0, len(whose))
    estimates = k_means(Summaries.of(whose, values))
    for own in range(len(centers)):
        assert estimates[label == own] == pytest.approx(values[label[whose] == own].mean())


def test_k_means_of_few_agents_among_many_chooses_from_a_sample() -> None:
    rng = np.random.default_rng(11)
    label = rng.integers(2, size=12_000)
    whose = np.repeat(np.arange(12_000), 4)
    values = 20.0 * label[whose] + rng.normal(0.0, 1.0, len(whose))
    estimates = k_means(Summaries.of(whose, values))
    assert estimates == pytest.approx(np.where(label, 20.0, 0.0), abs=0.05)


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize(
    "values",
    [
        [[0.0, 1.0], [5.0, 6.0]],
        [[0.0], [1.0], [2.0], [3.0], [9.0]],
        [[1.0, 2.0, 4.0]],
        [[1.0, 3.0]] * 6,
        [[1.0, 1.0], [3.0, 3.0], [3.0, 3.0], [4.0, 4.0], [7.0]],
        [[1.0, 1.0]] * 5,
        [[1.0], [2.0, 3.0], [2.0, 2.0, 3.0, 1.0]],
        [[1e100, 2e100], [-1e100, 0.0], [3e100, 1e100], [0.0, 1e99], [0.0]],
        [[1e-100, 2e-100], [-1e-100, 0.0], [3e-100, 1e-100], [0.0, 1e-101], [0.0]],
        [[1e9, 1e9 + 1], [1e9 + 3, 1e9 + 2], [1e9 - 5, 1e9], [1e9, 1e9 + 2]],
    ],
    ids=str,
)
def test_estimates_stay_among_own_means(method: Method, values: list[list[float]]) -> None:
    whose = np.repeat(np.arange(len(values)), [len(own) for own in values])
    table = Summaries.of(whose, np.concatenate(values))
    estimates = method(table)
    slack = 1e-6 * (np.ptp(table.means) + 1e-9 * np.abs(table.means).max())
    assert estimates.shape == (len(values),)
    assert (estimates >= table.means.min() - slack).all()
    assert (estimates <= table.means.max() + slack).all()


@pytest.mark.parametrize("method", [*SHRINKING, k_means])
def test_without_known_noise_means_stay(method: Method) -> None:
    for whose, values in ((range(5), [0.0, 1.0, 2.0, 3.0, 9.0]), ([0, 0, 1, 1], [1, 1, 2, 2])):
        table = Summaries.of(list(whose), values)
        assert method(table).tolist() == table.means.tolist()


@pytest.mark.parametrize("method", [local, grand_mean, james_stein, empirical_bayes, k_means])
def test_a_hundred_thousand_agents_take_seconds(method: Method) -> None:
    table = Summaries.of(*rows(12, n_agents=100_000))
    start = time.perf_counter()
    assert np.isfinite(method(table)).all()
    assert time.perf_counter() - start < 20


@pytest.mark.parametrize(("n_agents", "each"), [(MOST_AGENTS + 1, 2), (2, MOST_ROWS)])
def test_mixed_model_says_what_is_too_much(n_agents: int, each: int) -> None:
    table = Summaries(
        np.arange(n_agents), np.full(n_agents, each), np.zeros(n_agents), np.ones(n_agents)
    )
    with pytest.raises(LeftOutError, match=f"received {n_agents} and {n_agents * each}"):
        mixed_model(table)


@pytest.mark.parametrize(
    ("method", "module"),
    [(mixed_model, "statsmodels.regression.mixed_linear_model"), (k_means, "sklearn.cluster")],
)
def test_a_missing_library_is_named_with_its_remedy(
    method: Method, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(LeftOutError, match=r"pip install 'colme\[compare\]'"):
        method(Summaries.of(*rows(13)))


def test_methods_take_summaries_of_named_agents() -> None:
    frame = pd.DataFrame({"who": ["b", "a", "b", "a"], "x": [1.0, 2.0, 3.0, 6.0]})
    assert local(Summaries.of(frame["who"], frame["x"])).tolist() == [4.0, 2.0]


def test_fitting_leaves_warnings_as_they_were() -> None:
    before = list(warnings.filters)
    mixed_model(Summaries.of(*rows(14, spread=0.0)))
    assert list(warnings.filters) == before
