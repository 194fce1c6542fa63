"""The model of all means: against a slow judge, under other units, and in odd places."""

import math
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judges import expectation, mixture
from numpy.typing import NDArray

from colme import Agent, Query, Record, Trajectory, lockstep, simulate
from colme.bounds import Asymptotic, Bound, EmpiricalBernstein, NormalMixture
from colme.model import (
    MOST_CLASSES,
    Bench,
    Model,
    enter,
    expected_mean,
    gather,
    hear,
    learn_noise,
    likely,
    mean_precision,
    meet_all,
    refit,
    refit_due,
    reset,
)
from colme.model.state import NEXT_ASKED, SIZE
from colme.rules import Row, view
from colme.summary import View
from colme.views import views_of

Array = NDArray[np.float64]


def memory(means: Array, precisions: Array, member: list[bool] | None = None) -> Row:
    """Return the row of an agent that has heard of everyone; intervals are wide."""
    n = len(means)
    return Row.blank(n)._replace(
        means=means.tolist(),
        precisions=precisions.tolist(),
        counts=[10.0] * n,
        radii=(9.0 / np.sqrt(precisions)).tolist(),
        member=list(member or [True] * n),
    )


def fitted(row: Row, a: int = 0) -> tuple[Model, Bench]:
    model, bench = Model.blank(), Bench.blank(len(row.means))
    refit(a, len(row.means), 10.0, 10.0, row, model, bench)
    gather(a, len(row.means), row, model, bench)
    return model, bench


def estimate(row: Row, a: int = 0) -> float:
    model, bench = fitted(row, a)
    return expected_mean(view(row, a), model, bench)


def estimates(means: Array, precisions: Array, agents: Iterable[int]) -> Array:
    row = memory(means, precisions)
    return np.array([estimate(row, a) for a in agents])


def some(means: Array) -> range:
    """Return every third agent, or all where there are few."""
    return range(0, len(means), 3 if len(means) > 10 else 1)


def classes_of(model: Model) -> Array:
    return np.sort(np.array(model.atoms[: int(model.facts[1])]))


def noisy(
    centers: list[float], n: int, seed: int, deviation: float = 0.05
) -> tuple[NDArray[np.int64], Array, Array]:
    """Return labels, means and precisions of n agents."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % len(centers))
    precisions = rng.uniform(0.5, 2, n) / deviation**2
    return labels, rng.normal(np.array(centers)[labels], 1 / np.sqrt(precisions)), precisions


PROBLEMS: dict[str, tuple[Array, Array]] = {
    "two": noisy([0.0, 1.0], 40, 1)[1:],
    "three, near": noisy([0.0, 0.2, 0.4], 60, 2)[1:],
    "one": noisy([0.5], 30, 3)[1:],
    "five": noisy([0.0, 1.0, 2.0, 3.0, 5.0], 30, 4)[1:],
    "crowd": noisy(np.random.default_rng(5).normal(0, 1, 40).tolist(), 40, 5)[1:],
    "few": noisy([0.0, 0.5], 3, 6)[1:],
}
problems = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=list(PROBLEMS))


@cache
def plain_estimates(name: str) -> Array:
    """Return what some agents of a problem estimate as it is."""
    means, precisions = PROBLEMS[name]
    return estimates(means, precisions, some(means))


SEPARATED = pytest.mark.parametrize(
    "centers", [[0.0, 1.0], [-2.0, 0.0, 1.0], [0.0, 1.0, 2.0, 3.0, 5.0]], ids=str
)


@SEPARATED
def test_separated_classes_are_found_where_a_slow_judge_finds_them(centers: list[float]) -> None:
    n_right = 0
    for seed in range(10):
        _, means, precisions = noisy(centers, 12 * len(centers), seed)
        model, _ = fitted(memory(means, precisions))
        found = classes_of(model)
        if len(found) != len(centers):  # one class split in two, now and then
            continue
        n_right += 1
        atoms, shares = mixture(means, precisions, np.array(centers), model.facts[2])
        np.testing.assert_allclose(found, np.sort(atoms), rtol=0, atol=5e-6)
        np.testing.assert_allclose(shares[:-1], 1 / len(centers), atol=0.06)
        assert model.facts[3] == pytest.approx(1, abs=1e-4)
    assert n_right >= 8


@SEPARATED
@pytest.mark.parametrize("seed", range(3))
def test_separated_classes_are_pooled_and_told(centers: list[float], seed: int) -> None:
    labels, means, precisions = noisy(centers, 12 * len(centers), seed)
    row = memory(means, precisions)
    model, bench = fitted(row)
    for a in range(len(means)):
        gather(a, len(means), row, model, bench)
        pooled = np.average(means[labels == labels[a]], weights=precisions[labels == labels[a]])
        noise = 1 / math.sqrt(precisions[a])
        if abs(means[a] - pooled) < 2.5 * noise:
            assert abs(expected_mean(view(row, a), model, bench) - pooled) < 0.1 * noise
        same = [False] * len(means)
        meet_all(len(means), row, model, bench)
        likely(a, len(means), row, model, bench, same)
        assert not (np.array(same) & (labels != labels[a])).any()
        if abs(means[a] - pooled) < 2.5 * noise:
            assert np.array(same)[labels == labels[a]].mean() > 0.8


@problems
def test_the_expected_mean_is_what_its_definition_gives(problem: tuple[Array, Array]) -> None:
    means, precisions = problem
    member = (np.random.default_rng(8).random(len(means)) < 0.8).tolist()
    for trust in (0.0, 0.3, 1.0):
        for a in range(0, len(means), 5):
            row = memory(means, precisions, member)
            model, bench = fitted(row, a)
            model.facts[3] = trust
            size = int(model.facts[1])
            others = np.array(member) & (np.arange(len(means)) != a)
            expected = expectation(
                (means[a], precisions[a]),
                (means[others], precisions[others]),
                np.array(model.atoms[:size]),
                np.append(model.shares[:size], model.shares[MOST_CLASSES]),
                model.facts[2],
                (model.facts[4], model.facts[5]),
                trust,
            )
            here = expected_mean(view(row, a), model, bench)
            assert here == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("factor", [1e-8, 0.3, 1e8, -1.0])
def test_other_units_give_the_same_estimates_in_other_units(name: str, factor: float) -> None:
    means, precisions = PROBLEMS[name]
    after = estimates(factor * means, precisions / factor**2, some(means))
    np.testing.assert_allclose(after / factor, plain_estimates(name), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("shift", [-3.0, 0.7, 1e4])
def test_a_shift_of_all_means_shifts_the_estimates(name: str, shift: float) -> None:
    means, precisions = PROBLEMS[name]
    after = estimates(means + shift, precisions, some(means))
    np.testing.assert_allclose(after - shift, plain_estimates(name), rtol=0, atol=1e-9)


@pytest.mark.parametrize(("factor", "shift"), [(1e-8, 0.0), (1e8, 0.0), (1.0, 50.0), (3.0, -2.0)])
def test_a_whole_run_does_not_depend_on_the_units(factor: float, shift: float) -> None:
    samples = np.random.default_rng(7).normal(np.arange(12) % 3 * 0.5, 0.3, (80, 12))
    keep = Record(likely_counts=True)
    plain = simulate(samples, sigma=0.3, record=keep)
    other = simulate(factor * samples + shift, sigma=0.3 * factor, record=keep)
    assert plain.estimates is not None
    assert other.estimates is not None
    np.testing.assert_allclose((other.estimates - shift) / factor, plain.estimates, atol=1e-9)
    np.testing.assert_array_equal(other.class_counts, plain.class_counts)
    np.testing.assert_array_equal(other.likely_counts, plain.likely_counts)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_order_of_the_peers_does_not_matter(name: str) -> None:
    means, precisions = PROBLEMS[name]
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(means))
        places = np.argsort(order)[list(some(means))].tolist()
        after = estimates(means[order], precisions[order], places)
        np.testing.assert_allclose(after, plain_estimates(name), rtol=0, atol=1e-9)


def summed(model: Model) -> list[float]:
    return [*model.weights, *model.totals]


@problems
def test_what_is_pooled_is_a_member_or_the_agent_itself(problem: tuple[Array, Array]) -> None:
    means, precisions = problem
    member = [l % 3 != 1 for l in range(len(means))]
    row = memory(means, precisions, member)
    model, bench = fitted(row)
    before, old = expected_mean(view(row, 0), model, bench), summed(model)
    for l in range(1, len(means)):
        mean = row.means[l]
        row.means[l] = mean + 0.01
        gather(0, len(means), row, model, bench)
        assert (summed(model) == old) == (not member[l])
        if not member[l]:
            assert expected_mean(view(row, 0), model, bench) == before
        row.means[l] = mean
    row.means[0] += 0.01
    gather(0, len(means), row, model, bench)
    assert summed(model) == old  # the agent is not in its own sums


def test_the_unheard_weigh_nothing() -> None:
    _, means, precisions = noisy([0.0, 1.0], 30, 9)
    heard = memory(means, precisions)
    more = memory(np.append(means, [0.0] * 9), np.append(precisions, [1.0] * 9))
    for l in range(30, 39):
        more.precisions[l] = more.counts[l] = 0.0
    for a in range(0, 30, 7):
        assert estimate(more, a) == pytest.approx(estimate(heard, a), abs=1e-12)
        model, bench = fitted(more, a)
        same = [False] * 39
        meet_all(39, more, model, bench)
        likely(a, 39, more, model, bench, same)
        assert not any(same[30:])  # neither class has more than half of all


@given(st.integers(0, 10**6))
def test_sums_kept_up_to_date_are_the_sums_made_anew(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 30))
    _, means, precisions = noisy([0.0, 0.3, 1.0], n, seed)
    row = memory(means, precisions, [True, *(rng.random(n - 1) < 0.7).tolist()])
    model, bench = fitted(row)
    for l in rng.integers(1, n, 20).tolist():
        seen = View(rng.normal(0.5, 0.5), 12.0, radius=1.0, squares=rng.uniform(0.2, 2))
        hear(l, seen, row, model, bench)
        precision = mean_precision(12.0, seen.squares, model)
        assert precision > 0
        assert view(row, l) == seen._replace(precision=precision)
    kept = summed(model)
    gather(0, n, row, model, bench)
    np.testing.assert_allclose(kept, summed(model), rtol=1e-9, atol=1e-7)


def test_who_enters_and_leaves_leaves_no_trace() -> None:
    _, means, precisions = noisy([0.0, 1.0], 20, 10)
    model, bench = fitted(memory(means, precisions))
    before = summed(model)
    for sign in (1.0, -1.0):
        enter(sign, 0.4, 300.0, model, bench)
        assert (summed(model) != before) == (sign > 0)
    np.testing.assert_allclose(summed(model), before, rtol=1e-12, atol=1e-12)


@given(st.integers(0, 10**6), st.floats(0, 3))
def test_an_estimate_stays_in_the_agents_own_interval(seed: int, radius: float) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    _, means, precisions = noisy(rng.normal(0, 0.1, rng.integers(1, 6)).tolist(), n, seed)
    row = memory(means, precisions)
    for a in range(n):
        row.radii[a] = radius / math.sqrt(precisions[a])
        off = abs(estimate(row, a) - means[a])
        assert off <= row.radii[a] * (1 + 1e-9) + 1e-15


def test_without_an_interval_that_narrow_the_estimate_would_leave_it() -> None:
    _, means, precisions = noisy([0.0], 30, 11)
    row = memory(means, precisions)
    a = int(np.argmax(abs(means) * np.sqrt(precisions)))
    free = estimate(row, a)
    row.radii[a] = abs(free - means[a]) / 2
    assert estimate(row, a) == pytest.approx((free + means[a]) / 2)


@pytest.mark.parametrize("n", [1, 2])
def test_too_few_means_leave_an_agent_with_its_own(n: int) -> None:
    _, means, precisions = noisy([0.0], n, 12)
    row = memory(means, precisions)
    model, bench = fitted(row)
    assert expected_mean(view(row, 0), model, bench) == means[0]
    same = [False] * n
    meet_all(n, row, model, bench)
    likely(0, n, row, model, bench, same)
    assert same == [True, False][:n]


@pytest.mark.parametrize("counted", ["samples", "queries", "both"])
def test_a_fit_is_kept_until_there_are_a_fifth_more_samples_or_queries(counted: str) -> None:
    row, model, bench = memory(*PROBLEMS["two"]), Model.blank(), Bench.blank(40)
    fits = []
    for count in range(1, 1001):
        clocks = (count * (counted != "queries"), count * (counted != "samples"))
        if refit_due(model, *clocks):
            refit(0, 40, *clocks, row, model, bench)
            fits.append(count)
    assert fits[:5] == [3, 4, 5, 6, 7]
    later = np.array(fits[10:])
    assert (np.diff(later) == np.floor(later[:-1] * 1.2) - later[:-1]).all()
    assert len(fits) < 40


def test_neither_samples_nor_queries_wait_for_the_other() -> None:
    row, model, bench = memory(*PROBLEMS["two"]), Model.blank(), Bench.blank(40)
    refit(0, 40, 1000.0, 10.0, row, model, bench)
    assert not refit_due(model, 1199.0, 11.0)
    assert refit_due(model, 1000.0, 12.0)
    assert refit_due(model, 1200.0, 10.0)


def test_a_fit_from_before_queries_were_counted_is_kept_and_soon_made_again() -> None:
    model, _ = fitted(memory(*PROBLEMS["two"]))
    old = [list(part) for part in model]
    assert Model.of(old) == model
    del old[0][NEXT_ASKED]
    read = Model.of(old)
    assert read[1:] == model[1:]
    assert read.facts[SIZE] == model.facts[SIZE]
    assert refit_due(read, 3.0, 0.0)
    assert refit_due(read, 0.0, 3.0)
    del old[0][-1]
    with pytest.raises(ValueError, match="12 facts"):
        Model.of(old)


def test_the_noise_of_all_streams_is_their_pooled_variance() -> None:
    rng = np.random.default_rng(20)
    streams = [rng.normal(l, 0.3, 2 + l) for l in range(30)]
    row = Row.blank(31)  # one more, never heard of
    for l, stream in enumerate(streams):
        row.counts[l], row.squares[l] = float(len(stream)), float(stream.var() * len(stream))
    pooled = sum(row.squares) / sum(len(stream) - 1 for stream in streams)
    for scale, share in ((math.inf, 0.0), (2.0, 1.0)):
        model = Model.blank()
        learn_noise(31, scale, row, model)
        degrees = sum(len(stream) - 1 for stream in streams)
        noise = (degrees * pooled + share * 4.0) / (degrees + share)
        for l, stream in enumerate(streams):
            n = len(stream)
            variance = (10 * noise + row.squares[l]) / (10 + n - 1)
            assert row.precisions[l] == pytest.approx(n / variance)
        assert row.precisions[30] == 0.0


def test_a_scale_five_times_too_large_soon_does_no_harm() -> None:
    samples = np.random.default_rng(21).normal(0.0, 0.1, (40, 20))
    views = views_of(samples, [NormalMixture(0.5, 1000)] * 20, with_squares=True)
    row = Row.blank(20)
    for l in range(20):
        row.counts[l], row.squares[l] = views.counts[l, 5], views.squares[l, 5]
    model = Model.blank()
    learn_noise(20, 0.5, row, model)
    deviations = 1 / np.sqrt(np.array(row.precisions) / 6)
    assert 0.08 < deviations.mean() < 0.13


def test_no_noise_of_unknown_scale_is_no_precision() -> None:
    row, model = Row.blank(3)._replace(counts=[1.0, 5.0, 0.0]), Model.blank()
    learn_noise(3, math.inf, row, model)
    assert row.precisions == [0.0, 0.0, 0.0]
    assert mean_precision(7, 0.0, model) == 0.0


def test_forgetting_leaves_a_blank_model() -> None:
    parts: Any = [np.full(len(part), np.nan) for part in Model.blank()]
    model = Model(*parts)
    reset(model)
    assert [list(part) for part in model] == [list(part) for part in Model.blank()]


@given(st.integers(0, 10**6))
def test_a_likely_class_holds_the_agent_and_nobody_excluded(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 40))
    _, means, precisions = noisy([0.0, 0.4], n, seed)
    a = int(rng.integers(n))
    member = (rng.random(n) < 0.7).tolist()
    row = memory(means, precisions, member)
    model, bench = fitted(row, a)
    same = [False] * n
    meet_all(n, row, model, bench)
    likely(a, n, row, model, bench, same)
    assert same[a]
    assert all(member[l] or l == a for l in range(n) if same[l])


def run_both(samples: Array, **how: Any) -> Trajectory:
    """Return the compiled run, after comparing it with the plain one in units of its size."""
    keep = Record(likely_counts=True)
    fast = simulate(samples, record=keep, **how)
    slow = lockstep(samples, record=keep, **how)
    assert fast.estimates is not None
    assert slow.estimates is not None
    assert np.isfinite(fast.estimates).all()
    unit = max(abs(samples).max(), 1e-300)
    np.testing.assert_allclose(fast.estimates / unit, slow.estimates / unit, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(fast.class_counts, slow.class_counts)
    return fast


NOISE: Array = np.random.default_rng(13).normal(size=(12, 6))
ODD: dict[str, Array] = {
    "all equal": np.full((12, 6), 0.3),
    "all zero": np.zeros((12, 6)),
    "equal apart from one": np.column_stack([np.full((12, 5), 0.3), NOISE[:, 0]]),
    "constant streams": np.tile(np.arange(6.0), (12, 1)),
    "constant, one class": np.tile([0.0, 0.0, 0.0, 1.0, 1.0, 1.0], (12, 1)),
    "huge": np.tile([-1e150, 1e150, 0.0, 1e150, -1e150, 1.0], (12, 1)),
    "huge steps": 1e150 * np.sign(NOISE),
    "tiny": 1e-150 * NOISE,
    "denormal": 1e-310 * NOISE,
    "huge beside tiny": NOISE * np.array([1e100, 1e-100, 1.0, 1e10, 1e-10, 0.0]),
    "far away": 1e9 + NOISE,
}


@pytest.mark.parametrize("samples", ODD.values(), ids=list(ODD))
@pytest.mark.parametrize("sigma", [1e-150, 1e-3, 1.0, 1e150])
def test_odd_samples_give_finite_estimates_without_a_warning(samples: Array, sigma: float) -> None:
    run_both(samples, sigma=sigma)


@pytest.mark.parametrize("samples", ODD.values(), ids=list(ODD))
def test_odd_samples_of_unknown_scale_give_finite_estimates(samples: Array) -> None:
    run_both(samples, bound=Asymptotic(n_opt=100, burn_in=3))


@pytest.mark.parametrize(
    "bound", [EmpiricalBernstein(0, 1), NormalMixture(0.5, 100), Asymptotic(100, burn_in=2)]
)
@pytest.mark.parametrize("n_agents", [1, 2, 3, 4])
def test_few_agents_work(bound: Bound, n_agents: int) -> None:
    samples = np.random.default_rng(14).integers(0, 2, (30, n_agents)).astype(float)
    fast = run_both(samples, bound=bound)
    assert fast.estimates is not None
    local = samples.cumsum(axis=0) / np.arange(1, 31)[:, np.newaxis]
    assert np.allclose(fast.estimates[0], local) == (n_agents < 3)


def test_an_agent_of_the_real_world_learns_who_is_alike() -> None:
    names = [f"thermometer {i}" for i in range(12)]
    agents = {
        name: Agent(name, sigma=0.5, delta=0.01, max_agents=12, peers=names) for name in names
    }
    rng = np.random.default_rng(15)
    for _ in range(300):
        for i, agent in enumerate(agents.values()):
            agent.perceive(rng.normal(20 + i % 2, 0.5))
        for agent in agents.values():
            peer = agent.choose_peer()
            if peer is not None:
                agent.receive(agents[peer].answer(Query(agent.name, peer)))
    for i, agent in enumerate(agents.values()):
        assert agent.likely_class == agent.optimistic_class == set(names[i % 2 :: 2])
        assert abs(agent.estimate - 20 - i % 2) < 0.04  # 3.4 standard errors of six streams
