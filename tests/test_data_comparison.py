"""Splits are fair, errors without bias, intervals hold the truth, verdicts say what numbers say."""

import json
import math
import time
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binomtest

from colme.data import (
    Comparison,
    LeftOutError,
    Score,
    Summaries,
    compare,
    compare_rows,
    default_methods,
    split,
)
from colme.data.comparison.methods import Method, empirical_bayes, grand_mean, james_stein, local
from colme.data.comparison.scores import score

METHODS: dict[str, Method] = {"grand_mean": grand_mean, "empirical_bayes": empirical_bayes}
Pair = tuple[Summaries, Summaries]
Drawn = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]


def remembered(methods: dict[str, Method]) -> tuple[dict[str, Method], dict[str, Any]]:
    """Return the same methods, and where each leaves what it has answered last."""
    answered: dict[str, Any] = {}

    def remembering(name: str) -> Method:
        def method(summaries: Summaries) -> NDArray[np.float64]:
            answered[name] = methods[name](summaries)
            return np.asarray(answered[name])

        return method

    return {name: remembering(name) for name in methods}, answered


def drawn(rng: np.random.Generator, n_agents: int, each: int, spread: float) -> Drawn:
    """Return agents, values and true means; agents differ in noise, which is not normal."""
    truth = rng.normal(0.0, spread, n_agents)
    noise = np.sqrt(rng.gamma(2.0, 0.5, n_agents))
    whose = np.repeat(np.arange(n_agents), each)
    return whose, truth[whose] + noise[whose] * (rng.exponential(1.0, len(whose)) - 1), truth


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=40),
    st.sampled_from([0.01, 0.3, 0.5, 0.99, 1 - 1e-16]),
    st.integers(0, 99),
)
def test_a_split_parts_every_agents_rows(agents: list[int], share: float, seed: int) -> None:
    values = np.arange(len(agents)) ** 1.5
    fit, held_out = split(agents, values, share=share, seed=seed)
    whole, joined = Summaries.of(agents, values), fit + held_out
    for name in ("agents", "counts", "means", "squares"):
        expected = getattr(whole, name).tolist()
        assert getattr(joined, name).tolist() == pytest.approx(expected)
    assert fit.agents.tolist() == whole.agents.tolist()
    n = whole.counts
    expected_fit = np.clip(np.floor(share * n), 1, np.maximum(n - 1, 1))
    assert fit.counts.tolist() == expected_fit.tolist()
    assert held_out.agents.tolist() == whole.agents[n > 1].tolist()


def test_every_row_is_as_likely_to_be_fitted() -> None:
    """Of eight agents with four rows and eight with three, by 150 seeds."""
    agents = np.repeat(np.arange(16), [4] * 8 + [3] * 8)
    values = [1.0, 2.0, 4.0, 8.0] * 8 + [1.0, 2.0, 4.0] * 8
    fits = np.array([split(agents, values, seed=seed)[0].means for seed in range(150)])
    pairs = (2 * fits[:, :8]).round().ravel().tolist()
    for pair in (3, 5, 9, 6, 10, 12):
        assert binomtest(pairs.count(pair), len(pairs), 1 / 6).pvalue > 1e-3
    singles = fits[:, 8:].ravel().tolist()
    for single in (1.0, 2.0, 4.0):
        assert binomtest(singles.count(single), len(singles), 1 / 3).pvalue > 1e-3


def test_a_split_depends_on_its_seed_alone_whatever_the_columns_are() -> None:
    frame = pd.DataFrame({"who": list("abcabcaabb"), "x": np.arange(10) ** 2 / 3})
    plain = split(frame["who"].tolist(), frame["x"].tolist(), seed=4)
    columns = [
        (frame["who"], frame["x"]),
        (pl.Series(frame["who"].tolist()), pl.Series(frame["x"].tolist())),
        (pa.array(frame["who"].tolist()), pa.array(frame["x"].tolist())),
    ]
    for who, x in columns:
        for part, expected in zip(split(who, x, seed=4), plain, strict=True):
            assert list(part.agents) == list(expected.agents)
            for name in ("counts", "means", "squares"):
                assert getattr(part, name).tolist() == getattr(expected, name).tolist()
    assert split(frame["who"], frame["x"], seed=5)[0].means.tolist() != plain[0].means.tolist()


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, 1.5])
def test_a_share_leaves_rows_on_both_sides(share: float) -> None:
    with pytest.raises(ValueError, match="share"):
        split([1, 1], [0.0, 1.0], share=share)


def test_a_row_without_number_is_named_by_its_place_in_the_table() -> None:
    with pytest.raises(ValueError, match="row 3"):
        split([1, 1, 2, 2], [0.0, 1.0, 2.0, math.nan])


def test_a_million_rows_are_split_in_seconds() -> None:
    rng = np.random.default_rng(0)
    start = time.perf_counter()
    split(rng.integers(200_000, size=1_000_000), rng.random(1_000_000))
    assert time.perf_counter() - start < 15


@pytest.mark.parametrize(("n_agents", "each", "spread"), [(8, 4, 0.5), (30, 6, 0.3), (30, 7, 3.0)])
def test_the_error_is_estimated_without_bias(n_agents: int, each: int, spread: float) -> None:
    """Over 200 tables the mean of (estimated - true error) lies within 4 standard errors of 0."""
    rng = np.random.default_rng(20)
    off: dict[str, list[float]] = {name: [] for name in ("local", *METHODS)}
    methods, answered = remembered(METHODS)
    for seed in range(200):
        whose, values, truth = drawn(rng, n_agents, each, spread)
        pair = split(whose, values, seed=seed)
        found = compare([pair], methods, n_bootstrap=2)
        for name, means in {"local": local(pair[0]), **answered}.items():
            off[name].append(found[name].mse - float(((means - truth) ** 2).mean()))
    for differences in off.values():
        assert abs(np.mean(differences)) < 4 * np.std(differences) / math.sqrt(200)


def test_the_interval_holds_the_ratio_nearly_as_often_as_it_says() -> None:
    """Of 200 tables of 100 agents, 95 % are promised; percentiles of so few give about 93 %."""
    rng = np.random.default_rng(21)
    errors, intervals = [], []
    methods, answered = remembered({"empirical_bayes": empirical_bayes})
    for seed in range(200):
        whose, values, truth = drawn(rng, 100, 8, 0.5)
        pair = split(whose, values, seed=seed)
        found = compare([pair], methods, n_bootstrap=200, seed=seed)["empirical_bayes"]
        both = local(pair[0]), answered["empirical_bayes"]
        errors.append([((means - truth) ** 2).mean() for means in both])
        intervals.append((found.ratio_low, found.ratio_high))
    own, shrunk = np.mean(errors, axis=0)
    held = sum(low <= shrunk / own <= high for low, high in intervals)
    assert binomtest(held, 200, 0.93).pvalue > 1e-3


def test_the_interval_is_as_wide_as_theory_says() -> None:
    """Where the own means' error is 1 for all, the ratio is a mean: ± 1.96 s / √n."""
    other = 1 + np.random.default_rng(28).normal(0.5, 1.0, 2000)
    held_out = {"local": np.full(2000, 2.0), "other": other}
    found = score(held_out, np.ones(2000), np.ones(2000), n_bootstrap=4000)[1]
    assert found.ratio == pytest.approx(other.mean() - 1)
    expected = 2 * 1.96 * other.std() / math.sqrt(2000)
    assert found.ratio_high - found.ratio_low == pytest.approx(expected, rel=0.08)


def test_splits_are_averaged_agent_by_agent() -> None:
    rng = np.random.default_rng(22)
    whose, values, _ = drawn(rng, 20, 5, 1.0)
    pairs = [split(whose, values, seed=seed) for seed in range(3)]
    single = [compare([pair], METHODS) for pair in pairs]
    together = compare(pairs, METHODS)
    assert together.n_splits == 3
    for name in ("local", *METHODS):
        expected = np.mean([one[name].mse_held_out for one in single])
        assert together[name].mse_held_out == pytest.approx(expected)


def test_more_splits_are_steadier() -> None:
    whose, values, _ = drawn(np.random.default_rng(23), 30, 6, 0.5)
    method = {"grand_mean": grand_mean}
    few, many = (
        [compare_rows(whose, values, method, n_splits=n, n_bootstrap=2, seed=s) for s in range(20)]
        for n in (1, 8)
    )
    spread = [np.std([one["grand_mean"].ratio for one in kind]) for kind in (few, many)]
    assert spread[1] < 0.7 * spread[0]


def test_a_method_equal_to_local_has_exactly_its_error() -> None:
    whose, values, _ = drawn(np.random.default_rng(24), 30, 6, 0.5)
    twin = compare_rows(whose, values, {"twin": local})["twin"]
    assert (twin.ratio, twin.ratio_low, twin.ratio_high, twin.closer) == (1.0, 1.0, 1.0, 0.0)


def test_agents_without_rows_on_both_sides_are_not_judged() -> None:
    fit = Summaries.of(["a", "a", "b", "c"], [0.0, 2.0, 5.0, 7.0])
    held_out = Summaries.of(["a", "a", "b", "z"], [1.0, 5.0, 6.0, 9.0])
    found = compare([(fit, held_out)], {"grand_mean": grand_mean})
    assert (found.n_agents, found.n_left_out) == (2, 2)
    assert found["local"].mse_held_out == pytest.approx((2.0**2 + 1.0**2) / 2)
    assert found["grand_mean"].mse_held_out == pytest.approx((0.5**2 + 2.5**2) / 2)
    variance_a, variance_b = np.var([0, 2, 1, 5], ddof=1), np.var([5, 6], ddof=1)
    assert found["local"].mse == pytest.approx((variance_a / 2 + variance_b) / 2)
    assert found["grand_mean"].closer == 0.5


def test_methods_that_do_not_apply_are_noted() -> None:
    def picky(summaries: Summaries) -> NDArray[np.float64]:
        raise LeftOutError(f"{len(summaries)} agents are too few")

    found = compare_rows([1, 1, 2, 2], [0.0, 1.0, 2.0, 4.0], {"picky": picky})
    assert [one.name for one in found.scores] == ["local"]
    assert found.notes == ("picky is left out: 2 agents are too few",)
    with pytest.raises(KeyError, match="no method 'picky' was compared; there are local"):
        found["picky"]


@pytest.mark.parametrize("answer", [np.zeros(3), np.array([0.0, math.nan])])
def test_a_method_that_answers_nonsense_is_named(answer: NDArray[np.float64]) -> None:
    with pytest.raises(ValueError, match=r"one finite estimate for each of 2 agents.*'odd'"):
        compare_rows([1, 1, 2, 2], [0.0, 1.0, 2.0, 4.0], {"odd": lambda _: answer})


def test_a_comparison_needs_something_to_compare() -> None:
    with pytest.raises(ValueError, match="at least one"):
        compare([], METHODS)
    with pytest.raises(ValueError, match="two rows or more"):
        compare_rows([1, 2], [0.0, 1.0], METHODS)
    with pytest.raises(ValueError, match="n_splits"):
        compare_rows([1, 1], [0.0, 1.0], METHODS, n_splits=0)


@pytest.mark.parametrize("values", [[1.0] * 8, [1.0, 1.0, 3.0, 3.0, 3.0, 3.0, 4.0, 4.0]])
def test_own_means_without_error_cannot_be_beaten(values: list[float]) -> None:
    found = compare_rows(np.repeat(np.arange(4), 2), values, METHODS)
    assert found["local"].mse == 0
    assert math.isnan(found["grand_mean"].ratio)
    assert found.best == "local"
    assert found.verdict == "no method beats local: the own means are the best."
    assert json.loads(json.dumps(found.to_plain(), allow_nan=False))["scores"][1]["ratio"] is None


def scored(name: str, low: float, ratio: float, high: float) -> Score:
    return Score(name, ratio, 1 + ratio, ratio, low, high, 0.5)


@pytest.mark.parametrize(
    ("low", "ratio", "high", "words"),
    [
        (0.4, 0.5, 0.6, "sharp beats local, with 0.50"),
        (0.8, 0.95, 1.1, "sharp probably beats local, with 0.95"),
        (0.9, 1.05, 1.2, "sharp probably does not beat local, with 1.05"),
        (1.2, 1.3, 1.4, "sharp is worse than local, with 1.30"),
        (0.995, 0.997, 0.999, "sharp is as good as local, with 1.00"),
        (0.99, 1.001, 1.015, "sharp is as good as local, with 1.00"),
        (-math.inf, math.nan, math.inf, "sharp cannot beat local"),
    ],
)
def test_the_verdict_says_what_the_interval_says(
    low: float, ratio: float, high: float, words: str
) -> None:
    own, other = scored("local", 1.0, 1.0, 1.0), scored("other", 0.2, 0.3, 0.4)
    found = Comparison(9, 0, 1, (own, other, scored("sharp", low, ratio, high)), ())
    assert found.verdict.startswith(words)
    assert found.verdict.endswith("the best is other, with 0.30.")


def test_the_verdict_makes_nothing_of_a_hair() -> None:
    own, other = scored("local", 1.0, 1.0, 1.0), scored("other", 0.3, 0.499, 0.6)
    found = Comparison(9, 0, 1, (own, other, scored("sharp", 0.4, 0.501, 0.6)), ())
    assert found.best == "other"
    assert found.verdict.endswith("(0.40 to 0.60); no method is noticeably better.")
    tied = Comparison(9, 0, 1, (own, scored("sharp", 0.99, 0.996, 1.002)), ())
    assert tied.verdict == (
        "sharp is as good as local, with 1.00 of its mean square error (0.99 to 1.00); no method "
        "is noticeably better."
    )


def test_everything_becomes_plain() -> None:
    whose, values, _ = drawn(np.random.default_rng(25), 10, 4, 1.0)
    found = compare_rows(whose, values, METHODS)
    plain = json.loads(json.dumps(found.to_plain(), allow_nan=False))
    assert plain["n_agents"] == 10
    assert plain["best"] == found.best
    assert plain["scores"][2]["rmse"] == found["empirical_bayes"].rmse
    assert plain["verdict"] == found.verdict


def test_the_same_seed_gives_the_same_comparison() -> None:
    whose, values, _ = drawn(np.random.default_rng(26), 10, 4, 1.0)
    once, again, other = (compare_rows(whose, values, METHODS, seed=s) for s in (3, 3, 4))
    assert once == again
    assert once != other


def test_many_agents_are_compared_within_bounds() -> None:
    rng = np.random.default_rng(27)
    whose, values, _ = drawn(rng, 50_000, 4, 1.0)
    start = time.perf_counter()
    found = compare([split(whose, values)], {"james_stein": james_stein})
    assert time.perf_counter() - start < 30
    assert found["james_stein"].ratio_high < 1


def test_the_default_methods_are_the_baselines_and_sharp() -> None:
    names = ["local", "grand_mean", "james_stein", "empirical_bayes", "mixed_model", "k_means"]
    assert list(default_methods()) == [*names, "sharp"]
