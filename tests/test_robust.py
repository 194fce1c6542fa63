"""The robust weighting: against its definition, and against liars."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from engine_runs import NO_COUNTS, everyone, run_block
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from numpy.typing import NDArray

from colme import Agent, Algorithm, Problem, Query, Reply
from colme.algorithm import ALGORITHMS
from colme.bounds import NormalMixture, split_risk
from colme.engine import Output
from colme.rules import Choice, Numbers, Row, agreement, robust_mean
from colme.summary import View, views_of

Array = NDArray[np.float64]
Lie = Callable[[Array, Array], tuple[Array, Array]]


def row_of(means: list[float], counts: list[float], variance: float = 0.25) -> Row:
    """Return a row whose agent 0 has samples of that variance, and an endless interval."""
    row = Row.blank(len(means), mean=list(means), n_samples=list(counts))
    row.views.squares[0] = variance * (counts[0] - 1)
    return row


def with_views(row: Row, **columns: Numbers) -> Row:
    """Return the row with other columns."""
    return row._replace(views=row.views._replace(**columns))


def by_definition(row: Row) -> float:
    """Return the estimate of agent 0 once more, from whole arrays."""
    means, counts = np.array(row.views.mean), np.array(row.views.n_samples)
    own, n = means[0], counts[0]
    variance = row.views.squares[0] / (n - 1)
    votes = np.minimum(counts, n) * np.array(row.member) * np.array(row.confirmed)
    votes[0] = n  # the agent itself always counts
    heard = votes > 0
    means, votes = means[heard], votes[heard]
    near = (means - own) ** 2 <= np.log(1 + n) * variance * (1 / n + 1 / votes)
    itself = np.arange(len(means)) == 0
    center = own
    for _ in range(5):
        u = np.sqrt(votes / variance) * np.abs(means - center) / 3
        weights = np.where(itself, n, votes * near * np.where(u < 1, (1 - u**2) ** 2, 0))
        center = weights @ means / weights.sum()
    return float(center)


@st.composite
def rows(draw: st.DrawFn) -> Row:
    n = draw(st.integers(1, 12))
    means = draw(st.lists(st.floats(-1, 1), min_size=n, max_size=n))
    counts = draw(st.lists(st.integers(0, 30), min_size=n, max_size=n))
    row = row_of(means, [counts[0] + 2.0, *map(float, counts[1:])], draw(st.floats(0.01, 9)))
    row.member[:] = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    return row


@given(rows())
def test_the_estimate_follows_its_definition(row: Row) -> None:
    assert robust_mean(0, len(row.views.mean), row) == pytest.approx(by_definition(row), abs=1e-12)


@given(rows(), st.floats(-100, 100), st.floats(0.01, 100))
def test_where_zero_is_and_how_large_units_are_is_all_the_same(
    row: Row, zero: float, unit: float
) -> None:
    n, expected = len(row.views.mean), by_definition(row)
    moved = with_views(row, mean=[zero + unit * mean for mean in row.views.mean])
    moved.views.squares[0] *= unit**2
    assert robust_mean(0, n, moved) == pytest.approx(zero + unit * expected, abs=1e-7 * unit)


@given(rows(), st.floats(0, 1e6), st.integers(31, 10**9))
def test_what_a_peer_says_of_its_count_and_its_noise_buys_it_nothing(
    row: Row, squares: float, count: int
) -> None:
    n, a = len(row.views.mean), row.views.n_samples[0]
    honest = with_views(row, n_samples=[a] * n)
    boasting = with_views(row, n_samples=[a, *[float(count)] * (n - 1)])
    boasting.views.squares[1:] = [squares] * (n - 1)
    assert robust_mean(0, n, boasting) == robust_mean(0, n, honest)


@given(rows(), st.floats(3.0, 1e9), st.sampled_from([-1, 1]), st.integers(1, 10**6))
def test_who_is_far_away_has_no_say_at_all(row: Row, off: float, sign: int, count: int) -> None:
    n = len(row.views.mean)
    views: View[Numbers] = View(*([*values, values[0]] for values in row.views))
    flags = [*row.member, True], [*row.confirmed, True]
    joined = Row.blank(n + 1, *flags)._replace(views=views)
    views.mean[n], views.n_samples[n] = sign * off * 10, float(count)
    scale = math.sqrt(row.views.squares[0] / (row.views.n_samples[0] - 1))
    if off * 10 - 1 > 3 * scale * math.sqrt(1 + math.log(1 + row.views.n_samples[0])):
        assert robust_mean(0, n + 1, joined) == robust_mean(0, n, row)


@given(rows(), st.floats(0, 0.5))
def test_the_estimate_never_leaves_the_own_interval(row: Row, radius: float) -> None:
    row.views.radius[0] = radius
    off = robust_mean(0, len(row.views.mean), row) - row.views.mean[0]
    assert abs(off) <= radius * (1 + 1e-12)
    assert abs(off) == pytest.approx(min(radius, abs(by_definition(row) - row.views.mean[0])))


def test_without_samples_there_is_no_estimate_and_without_scatter_only_ones_own() -> None:
    assert math.isnan(robust_mean(0, 2, row_of([0.5, 0.5], [0.0, 9.0], 0.0)))
    assert robust_mean(0, 2, row_of([0.5, 0.6], [1.0, 9.0])) == 0.5
    assert robust_mean(0, 2, row_of([0.5, 0.6], [9.0, 9.0], 0.0)) == 0.5


def test_agreement_ends_at_three_standard_errors() -> None:
    assert agreement(0.0, 4.0, 1.0) == 1.0
    assert agreement(1.5, 4.0, 1.0) == agreement(-1.5, 4.0, 1.0) == agreement(1e200, 4.0, 1.0) == 0
    assert 0 < agreement(1.499, 4.0, 1.0) < 1e-5


# liars


def shifted(by: float, times: int) -> Lie:
    return lambda means, counts: (means + by, counts * times)


def random(means: Array, counts: Array) -> tuple[Array, Array]:
    return default_rng(8).uniform(-0.5, 1.5, means.shape), counts


STEPS, BATCH, RUNS, N_AGENTS = 120, 5, 48, 60
LIARS, HONEST = np.arange(0, 60, 10), np.array([1, 2, 3, 4])
PROBLEM = Problem.gaussian([0.2, 0.8], class_sizes=[30, 30], sigma=0.5)
ROBUST, TRUSTING = ALGORITHMS["robust"], Algorithm("restricted-round-robin", "simple", "joint")
LIES = {
    "nobody": shifted(0.0, 1),
    "shifted by 2 standard errors": shifted(0.04, 1),
    "shifted by 5": shifted(0.1, 1),
    "shifted by 10": shifted(0.2, 1),
    "boasting": shifted(0.05, 100),
    "random": random,
}


def final_errors() -> dict[tuple[str, Algorithm], float]:
    """Return the average error of some honest agents when every tenth agent lies."""
    gamma = split_risk(0.001, N_AGENTS)
    bound, arrivals = NormalMixture(0.5, 1000, gamma), np.full((STEPS, N_AGENTS), BATCH)
    errors = {(name, algorithm): 0.0 for name in LIES for algorithm in (ROBUST, TRUSTING)}
    for run in range(RUNS):
        samples = PROBLEM.draw(STEPS * BATCH, 1, seed=run)[0]
        honest = views_of(samples, [bound] * N_AGENTS, with_squares=True, arrivals=arrivals)
        views = View(*(field.copy() for field in honest))
        for name, algorithm in errors:
            tell(LIES[name], bound, honest, views)
            found = final_estimates(views, Choice.of(algorithm, gamma))
            off = np.abs(found - PROBLEM.true_means[HONEST])
            errors[name, algorithm] += float(off.mean()) / RUNS
    return errors


def final_estimates(views: View[Array], choice: Choice) -> Array:
    first, last = int(HONEST[0]), int(HONEST[-1]) + 1
    estimates: Array = np.empty((last - first, 1))
    slots, output = np.append(np.full(STEPS - 1, -1), 0), Output(estimates, NO_COUNTS, NO_COUNTS)
    run_block(choice, everyone([0] * N_AGENTS), views, slots, output, first=first, last=last)
    found: Array = estimates[HONEST - first, 0]
    return found


def tell(lie: Lie, bound: NormalMixture, honest: View[Array], views: View[Array]) -> None:
    """Let the liars say what they want, with evidence as sharp as their counts."""
    views.mean[LIARS], views.n_samples[LIARS] = lie(honest.mean[LIARS], honest.n_samples[LIARS])
    shapes = zip(*(bound.shape(count) for count in views.n_samples[LIARS[0]]), strict=True)
    for field, values in zip((views.spread, views.slope, views.offset), shapes, strict=True):
        field[LIARS] = values


def test_a_tenth_of_liars_does_little_to_the_robust_and_much_to_the_others() -> None:
    errors = final_errors()
    assert errors["nobody", ROBUST] < 1.4 * errors["nobody", TRUSTING]
    ratios = {name: errors[name, ROBUST] / errors["nobody", ROBUST] for name in LIES}
    assert max(ratios.values()) < 1.5, ratios
    hurt = {name: errors[name, TRUSTING] / errors["nobody", TRUSTING] for name in LIES}
    # Over 400 runs these are 1.48, 3.2 and 14; over 48 they scatter by 0.17, 0.33 and 1.5.
    assert hurt["shifted by 2 standard errors"] > 1.2, hurt
    assert hurt["shifted by 5"] > 2.3, hurt
    assert hurt["boasting"] > 9, hurt


def fleet_error(algorithm: Algorithm, n_liars: int) -> float:
    """Return the error of honest plain agents in a fleet where some boast and lie."""
    names = [str(i) for i in range(16)]
    agents = {
        name: Agent(name, sigma=0.5, delta=0.01, algorithm=algorithm, peers=names) for name in names
    }
    for now in default_rng(2).normal(0.3, 0.5, (90, 16)).tolist():
        for agent, sample in zip(agents.values(), now, strict=True):
            agent.perceive(sample)
        for agent in agents.values():
            peer = agent.choose_peer()
            if peer is not None:
                reply = agents[peer].answer(Query(agent.name, peer))
                if int(peer) < n_liars:
                    reply = Reply(peer, reply.mean + 0.2, 1000 * reply.count)
                agent.receive(reply)
    return float(np.mean([abs(agents[name].estimate - 0.3) for name in names[n_liars:]]))


def test_two_of_sixteen_plain_agents_that_boast_move_the_robust_little() -> None:
    robust, trusting = (
        fleet_error(algorithm, 2) / fleet_error(algorithm, 0) for algorithm in (ROBUST, TRUSTING)
    )
    assert robust < 1.5
    assert trusting > 4
