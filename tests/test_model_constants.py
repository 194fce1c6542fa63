"""Every constant of the model, where it decides something: a test fails when it changes."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from fitted_models import Array, classes_of, fitted, memory, noisy

from colme.model import MAX_CLASSES, Model, Scratch, classes, expected_mean, fit, refit
from colme.model.classes import em_fit, explain, fit_variances
from colme.model.quantiles import fit_from_quantiles
from colme.model.state import CROWD_OUTLIERS, MIN_MEANS, OUTLIERS
from colme.rules import Row
from colme.summary import View


def scratch_of(means: Array, precision: float) -> Scratch:
    n = len(means)
    return Scratch.blank(n)._replace(
        means=means.tolist(), precisions=[precision] * n, roots=[math.sqrt(precision)] * n
    )


def two_classes() -> tuple[list[float], list[float]]:
    """Return atoms and shares to start from: classes at 0 and 1 among outliers."""
    atoms = [0.0, 1.0] + [0.0] * (MAX_CLASSES - 1)
    shares = [0.4, 0.4] + [0.0] * (MAX_CLASSES - 2) + [0.2]
    return atoms, shares


def equal_means(n: int, deviation: float, count: float) -> Model:
    """Return a model fitted to n equal means of that standard error, after `count` samples."""
    row, model = memory(np.zeros(n), np.full(n, deviation**-2)), Model.blank()
    refit(0, n, count, count, row, model, Scratch.blank(n))
    return model


def test_a_class_costs_0_3_times_the_squared_logarithm_of_the_number_of_means() -> None:
    scratch, (atoms, shares) = scratch_of(np.repeat([0.0, 1.0], 20), 400.0), two_classes()
    size, penalised = em_fit(40, 2, -1, 15, 1.0, atoms, shares, scratch)
    likelihood = explain(40, size, 1.0, atoms, shares, scratch)
    assert likelihood - penalised == pytest.approx(2 * 0.3 * math.log(40) ** 2, rel=1e-9)


@pytest.mark.parametrize(("n_members", "kept"), [(2, False), (4, True)])
def test_a_class_that_gains_less_than_it_costs_is_removed(n_members: int, kept: bool) -> None:
    # Each agent at 1 gains ln(density / outliers) = 1.9 or so, and a class among 40 costs 4.1.
    means = np.append(np.zeros(40 - n_members), np.ones(n_members))
    scratch, (atoms, shares) = scratch_of(means, 400.0), two_classes()
    size, _ = em_fit(40, 2, -1, 15, 0.8, atoms, shares, scratch)
    assert size == 1 + kept


@pytest.mark.parametrize("excess", [-0.5, 0.5, 20.0])
def test_a_class_is_spread_out_beyond_four_and_a_half_deviations_of_its_scatter(
    excess: float,
) -> None:
    n, precision = 50, 4.0
    scatter = n + 4.5 * math.sqrt(2 * n) + excess
    means = np.where(np.arange(n) % 2, 1.0, -1.0) * math.sqrt(scatter / n / precision)
    model = Model.blank()
    model.shares[0] = 1.0
    fit_variances(n, 1, 1.0, model, scratch_of(means, precision))
    assert model.variances[0] == pytest.approx(max(excess, 0.0) / (n * precision))


@pytest.mark.parametrize(("apart", "left"), [(2.99, 1), (3.01, 2)])
def test_classes_less_than_three_standard_errors_apart_are_one(apart: float, left: int) -> None:
    # Of 20 and 30 means of precision 4 the two averages differ by a standard error of √(1/48).
    atoms, shares = [1.0, 1.0 + apart / math.sqrt(48), 0.0], [20.0, 30.0, 0.0]
    assert classes._merge_closest(2, 4.0, atoms, shares) == left
    if left == 1:
        assert shares[0] == 50.0
        assert atoms[0] == pytest.approx(1.0 + 0.6 * apart / math.sqrt(48))


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[list[float], list[int]]]:
    """Return the move that every step of a fit reports, and a list with an item for each step."""
    move, taken = [1.0], list[int]()

    def take(n: int, size: int, *_: Any) -> tuple[int, float]:
        taken.append(n)
        return size, move[0]

    monkeypatch.setattr(classes, "_em_step", take)
    return move, taken  # type: ignore[return-value]


@pytest.mark.parametrize(("move", "n_steps"), [(0.049, 4), (0.051, 15)])
def test_a_fit_from_quantiles_ends_when_it_has_settled_or_after_15_steps(
    move: float, n_steps: int, steps: tuple[list[float], list[int]]
) -> None:
    moves, taken = steps
    moves[0] = move
    fit_from_quantiles(40, 1.0, scratch_of(np.arange(40.0), 4e6))
    assert len(taken) == n_steps


def test_a_fit_from_the_last_one_takes_five_steps(steps: tuple[list[float], list[int]]) -> None:
    _, taken = steps
    row, model = memory(np.repeat([0.0, 1.0], 20), np.full(40, 400.0)), Model.blank()
    model.fit.n_classes, model.fit.width, model.fit.next_fresh = 2.0, 1.0, math.inf
    model.atoms[:2], model.shares[:] = [0.0, 1.0], two_classes()[1]
    refit(0, 40, 10.0, 10.0, row, model, Scratch.blank(40))
    assert len(taken) == 5


def test_a_fit_from_quantiles_comes_again_with_half_as_many_queries_more() -> None:
    row, model = memory(np.zeros(9), np.ones(9)), Model.blank()
    for n_asked, expected in ((10.0, 15.0), (14.0, 15.0), (15.0, 22.5)):
        refit(0, 9, 10.0, n_asked, row, model, Scratch.blank(9))
        assert model.fit.next_fresh == expected


def test_a_fit_starts_from_a_class_for_every_three_means_and_from_eight_at_most() -> None:
    assert MAX_CLASSES == 8
    for n_classes, found in ((8, 8), (12, 0)):
        _, means, precisions = noisy([10.0 * k for k in range(n_classes)], 12 * n_classes, 3)
        model, _ = fitted(memory(means, precisions))
        if found:
            np.testing.assert_allclose(classes_of(model), 10.0 * np.arange(found), atol=0.1)
        else:
            assert len(classes_of(model)) <= 8
    row, model = memory(np.repeat([0.0, 1.0], 4), np.full(8, 1e4)), Model.blank()
    scratch = Scratch.blank(8)
    refit(0, 8, 10.0, 10.0, row, model, scratch)
    assert len(classes_of(model)) <= 2


def test_three_means_are_needed_for_a_fit() -> None:
    assert MIN_MEANS == 3
    for n in (2, 3):
        model, _ = fitted(memory(np.zeros(n), np.ones(n)))
        assert (model.fit.width > 0) == (n == 3)


def test_where_all_means_are_explained_one_in_100000_is_left_to_outliers() -> None:
    assert equal_means(40, 0.05, 1000.0).shares[OUTLIERS] == 1e-5


@pytest.mark.parametrize(("count", "widths"), [(600.0, 2.5), (300.0, 2.5), (150.0, 1.25)])
def test_outliers_lie_over_more_than_the_noise_of_a_class_spans(
    count: float, widths: float
) -> None:
    spanned = math.sqrt(8 * math.log(20))
    assert equal_means(20, 0.1, count).fit.width == pytest.approx(widths * spanned * 0.1)
    assert equal_means(20, 0.1, 3.0).fit.width == pytest.approx(2.0 * 0.1)  # known badly


def test_outliers_lie_over_half_more_than_a_uniform_crowd_would() -> None:
    means = np.repeat([0.0, 1.0], 20)
    model, _ = fitted(memory(means, np.full(40, 1e6)))
    assert model.fit.width == pytest.approx(1.5 * math.sqrt(12 * (means.var(ddof=1) - 1e-6)))


def test_outliers_lie_over_at_most_a_million_million_standard_errors() -> None:
    model, _ = fitted(memory(np.repeat([0.0, 1.0], 20), np.full(40, 1e30)))
    assert model.fit.width == pytest.approx(1e12 * 1e-15)


def test_trust_is_never_surer_than_fifty_in_log_odds() -> None:
    crowd = np.random.default_rng(5).normal(0, 1, 400)
    model, _ = fitted(memory(crowd, np.full(400, 25.0)))
    assert model.fit.n_classes > 0
    assert model.fit.trust == 1 / (1 + math.exp(50))


def crowd_by_definition(row: Row, width: float) -> tuple[float, float]:
    """Return mean and variance of the crowd after two moves, once more from whole arrays."""
    means, precisions = np.array(row.views.mean), np.array(row.views.precision)
    center = means.mean()
    variance = max(means.var(ddof=1) - (1 / precisions).mean(), 0.0)
    for _ in range(2):
        shrunk = 1 / (variance + 1 / precisions)
        bell = np.sqrt(shrunk / (2 * np.pi)) * np.exp(-0.5 * (means - center) ** 2 * shrunk)
        chance = 0.8 * bell / (0.8 * bell + 0.2 / width)
        excess = chance @ ((means - center) ** 2 - 1 / precisions)
        center = (chance * shrunk) @ means / (chance @ shrunk)
        variance = max(excess / chance.sum(), 0.0)
    return float(center), float(variance)


def test_the_crowd_moves_twice_and_a_fifth_are_outliers_beside_it() -> None:
    assert CROWD_OUTLIERS == 0.2
    rng = np.random.default_rng(6)
    means = np.append(rng.normal(0, 1, 40), [9.0, -12.0])
    row = memory(means, rng.uniform(1, 100, 42))
    model, _ = fitted(row)
    expected = crowd_by_definition(row, model.fit.width)
    assert (model.fit.crowd_mean, model.fit.crowd_variance) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("step", "penalised"), [(0, False), (1, False), (2, True)])
def test_a_class_gathers_its_means_for_two_steps_before_it_can_be_removed(
    step: int, penalised: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    penalties = list[float]()

    def take(_n: int, size: int, _kept: int, penalty: float, *_: Any) -> tuple[int, float]:
        penalties.append(penalty)
        return size, 1.0

    monkeypatch.setattr(classes, "_em_step", take)
    scratch, (atoms, shares) = scratch_of(np.zeros(40), 400.0), two_classes()
    em_fit(40, 2, -1, 3, 1.0, atoms, shares, scratch)
    assert penalties[step] == (0.3 * math.log(40) ** 2 if penalised else -math.inf)


@pytest.mark.parametrize(("me", "left"), [(-1, 1), (0, 1), (39, 2)])
def test_the_agents_own_class_is_never_too_small(me: int, left: int) -> None:
    means = np.append(np.zeros(38), np.ones(2))
    scratch, (atoms, shares) = scratch_of(means, 400.0), two_classes()
    assert em_fit(40, 2, me, 15, 0.8, atoms, shares, scratch)[0] == left


def test_an_agent_of_a_small_class_finds_it_without_any_other_class() -> None:
    row, model = memory(np.arange(12.0), np.full(12, 400.0)), Model.blank()
    row.views.mean[1] = 0.01
    refit(0, 12, 10.0, 10.0, row, model, Scratch.blank(12))
    assert classes_of(model) == pytest.approx([0.005], abs=1e-3)


@pytest.mark.parametrize(("n_far", "excluded", "beyond"), [(2, 0, 0), (5, 0, 3), (5, 3, 0)])
def test_only_members_make_outliers_common_and_two_are_chance(
    n_far: int, excluded: int, beyond: int
) -> None:
    # Far apart from each other, so that no two of them are a class.
    means = np.append(np.zeros(40), 10.0 * np.arange(1, n_far + 1))
    n, member = 40 + n_far, [True] * (40 + n_far - excluded) + [False] * excluded
    model, _ = fitted(memory(means, np.full(n, 400.0), member))
    assert model.shares[OUTLIERS] == pytest.approx(beyond / (n - excluded), abs=1e-3)


@pytest.mark.parametrize(
    ("count", "costs"), [(0.0, -0.9), (65.0, -0.45), (130.0, 0.9), (900.0, 0.9)]
)
def test_a_crowd_without_spread_is_preferred_at_first_and_one_class_later(
    count: float, costs: float
) -> None:
    model, scratch = Model.blank(), scratch_of(np.zeros(40), 4.0)
    prior = fit._prior_odds(40, count, model, scratch)
    assert prior == pytest.approx(costs * math.log(40) ** 2)
    model.fit.crowd_variance = 0.25  # as much as the noise
    spread = fit._prior_odds(40, count, model, scratch)
    resolved = min(count / 130, 1) ** 2
    assert spread == pytest.approx(0.9 * math.log(40) ** 2 * (resolved / 2 - (1 - resolved)))


def test_a_crowd_draws_a_mean_by_seven_tenths_of_a_standard_error_at_most() -> None:
    model = Model.blank()
    model.fit.width, model.fit.crowd_mean = 4.0, 0.0
    model.weights[OUTLIERS] = 1e9
    for off, drawn in ((0.5, None), (1.0, 0.7), (-1.5, -0.7)):
        own = View(mean=off, n_samples=1.0, radius=9.0, precision=1.0)
        shift = own.mean - expected_mean(own, model, Scratch.blank(1))
        assert abs(shift) <= 0.7
        assert drawn is None or shift == pytest.approx(drawn)
