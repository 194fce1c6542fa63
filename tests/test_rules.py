"""The decisions over one row: against their definitions, and at limits where rules coincide."""

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from colme import kernels, rules
from colme.algorithm import ClassTest, QueryStrategy, Weighting
from colme.bounds import Laplace

RR, RRR = QueryStrategy.ROUND_ROBIN, QueryStrategy.RESTRICTED_ROUND_ROBIN
BOUND = Laplace(0.3, 0.01)


@dataclass
class Row:
    """One agent's memory; entry `a` is the agent itself and always has samples."""

    a: int
    means: list[float]
    counts: list[float]
    radii: list[float]

    @property
    def n(self) -> int:
        return len(self.means)

    def members(self, eta: float = 0.0) -> list[bool]:
        member = [True] * self.n
        rules.classify(ClassTest.OVERLAP, self.a, self.n, eta, self.means, self.radii, member)
        return member

    def pooled(self, weighting: Weighting, known: list[bool] | None = None) -> float:
        test = ClassTest.OVERLAP if known is None else ClassTest.KNOWN
        row = self.means, self.counts, self.radii, list(known or [True] * self.n)
        return rules.pool(weighting, test, self.a, self.n, 0.0, *row)[1]

    def next(self, query: QueryStrategy, cursor: int, known: list[bool] | None = None) -> int:
        test = ClassTest.OVERLAP if known is None else ClassTest.KNOWN
        row = self.means, self.radii, list(known or [True] * self.n)
        return rules.next_peer(query, test, self.a, self.n, cursor, 0.0, *row)


@st.composite
def rows(draw: st.DrawFn, *, equal_intervals: bool = False) -> Row:
    n = draw(st.integers(1, 12))
    a = draw(st.integers(0, n - 1))
    means = draw(st.lists(st.floats(-1, 1), min_size=n, max_size=n))
    counts = draw(st.lists(st.integers(0, 30), min_size=n, max_size=n))
    counts[a] += 1
    if equal_intervals:
        means, counts = [means[a]] * n, [counts[a]] * n
    return Row(a, means, [float(c) for c in counts], [BOUND.radius(c) for c in counts])


@given(rows(), st.floats(0, 0.5))
def test_members_are_those_within_eta_of_the_agents_interval(row: Row, eta: float) -> None:
    a = row.a
    for l, belongs in enumerate(row.members(eta)):
        gap = abs(row.means[a] - row.means[l]) - row.radii[a] - row.radii[l]
        assert belongs == (gap <= eta)
        assert gap == rules.optimistic_distance(
            row.means[a], row.radii[a], row.means[l], row.radii[l]
        )


@given(rows())
def test_the_agent_and_the_unheard_are_members(row: Row) -> None:
    member = row.members()
    assert member[row.a]
    assert all(member[l] for l in range(row.n) if row.counts[l] == 0)


@pytest.mark.parametrize(("eta", "belongs"), [(0.0, [True, False]), (0.25, [True, True])])
def test_intervals_that_just_touch_or_just_reach_eta_belong(
    eta: float, belongs: list[bool]
) -> None:
    row = Row(0, [0.0, 0.5, -0.75], [1.0] * 3, [0.25] * 3)
    assert row.members(eta) == [True, *belongs]


@given(rows(), st.data())
def test_classifying_counts_the_peers_that_change_sides(row: Row, data: st.DataObject) -> None:
    before = data.draw(st.lists(st.booleans(), min_size=row.n, max_size=row.n))
    n_moved = sum(b != f for b, f in zip(before, row.members(), strict=True))
    place = ClassTest.OVERLAP, row.a, row.n, 0.0, row.means
    after = list(before)
    assert rules.classify(*place, row.radii, after) == n_moved
    assert after == row.members()
    for weighting in Weighting:
        after = list(before)
        assert rules.pool(weighting, *place, row.counts, row.radii, after)[0] == n_moved
        assert after == row.members()


@given(rows(), st.data())
def test_a_known_class_is_never_touched(row: Row, data: st.DataObject) -> None:
    known = data.draw(st.lists(st.booleans(), min_size=row.n, max_size=row.n))
    member = list(known)
    assert (
        rules.classify(ClassTest.KNOWN, row.a, row.n, 0.0, row.means, row.radii, member),
        member,
    ) == (0, known)


@given(rows())
def test_round_robin_asks_everyone_else_in_turn(row: Row) -> None:
    cursor, asked = -1, []
    for _ in range(row.n - 1):
        cursor = row.next(RR, cursor)
        asked.append(cursor)
    assert asked == [l for l in range(row.n) if l != row.a]
    assert row.next(RR, cursor) == (asked[0] if asked else -1)


@given(rows(), st.data())
def test_restricted_asks_the_first_member_after_the_cursor(row: Row, data: st.DataObject) -> None:
    cursor = data.draw(st.integers(-1, row.n - 1))
    member = row.members()
    turn = [(cursor + 1 + i) % row.n for i in range(row.n)]
    allowed = [l for l in turn if l != row.a and member[l]]
    assert row.next(RRR, cursor) == (allowed[0] if allowed else -1)
    assert row.next(RRR, cursor) == row.next(RRR, cursor, member)  # the same class, known


@given(rows())
def test_restricted_with_a_class_of_everybody_is_round_robin(row: Row) -> None:
    for cursor in range(-1, row.n):
        assert row.next(RRR, cursor, [True] * row.n) == row.next(RR, cursor)


@given(rows())
def test_nobody_is_asked_without_a_strategy_or_without_a_classmate(row: Row) -> None:
    alone = [l == row.a for l in range(row.n)]
    assert row.next(QueryStrategy.NONE, -1) == -1
    assert all(row.next(RRR, cursor, alone) == -1 for cursor in range(-1, row.n))


@given(rows(equal_intervals=True))
def test_soft_and_aggressive_with_equal_intervals_are_simple(row: Row) -> None:
    simple = row.pooled(Weighting.SIMPLE)
    assert row.pooled(Weighting.SOFT) == pytest.approx(simple, abs=1e-12)
    assert row.pooled(Weighting.AGGRESSIVE) == pytest.approx(simple, abs=1e-12)


@given(rows(), st.sampled_from(Weighting))
def test_the_pooled_mean_follows_its_definition(row: Row, weighting: Weighting) -> None:
    member, a = row.members(), row.a
    low, high = row.means[a] - row.radii[a], row.means[a] + row.radii[a]
    weights = np.zeros(row.n)
    for l in range(row.n):
        common = min(high, row.means[l] + row.radii[l]) - max(low, row.means[l] - row.radii[l])
        hull = max(high, row.means[l] + row.radii[l]) - min(low, row.means[l] - row.radii[l])
        weights[l] = {
            Weighting.SIMPLE: row.counts[l],
            Weighting.CLASS_UNIFORM: float(row.counts[l] > 0),
            Weighting.SOFT: row.counts[l] * common / hull,
            Weighting.AGGRESSIVE: row.counts[l]
            * (common / hull if common > min(row.radii[a], row.radii[l]) else 0.0),
        }[weighting] * member[l]
    expected = float(weights @ np.array(row.means) / weights.sum())
    assert row.pooled(weighting) == pytest.approx(expected, abs=1e-12)


@given(rows(), st.sampled_from(Weighting))
def test_an_agent_alone_in_its_known_class_pools_only_itself(
    row: Row, weighting: Weighting
) -> None:
    alone = [l == row.a for l in range(row.n)]
    assert row.pooled(weighting, alone) == pytest.approx(row.means[row.a], abs=1e-12)


@pytest.mark.parametrize("weighting", Weighting)
def test_nothing_known_pools_to_nan(weighting: Weighting) -> None:
    row = Row(0, [0.0, 0.0], [0.0, 0.0], [math.inf, math.inf])
    assert math.isnan(row.pooled(weighting))


@pytest.mark.parametrize("weighting", Weighting)
def test_intervals_too_narrow_for_floating_point_still_pool(weighting: Weighting) -> None:
    assert Row(0, [1e10, 1e10], [4.0, 4.0], [1e-7, 1e-7]).pooled(weighting) == 1e10


def test_the_compiled_loop_is_the_plain_loop() -> None:
    rng = np.random.default_rng(3)
    labels: NDArray[np.int64] = np.array([0, 1, 0, 2, 1, 0, 2])
    steps = np.arange(1, 26.0)
    means = rng.normal(labels[:, np.newaxis], 0.3, (7, 25)).cumsum(axis=1) / steps
    counts = np.broadcast_to(steps, means.shape)
    radii = np.broadcast_to(BOUND.radius(steps), means.shape)
    slots = np.where(steps % 3 == 1, steps // 3, -1).astype(np.int64)

    def outcome(plain: bool, codes: tuple[int, int, int]) -> tuple[NDArray[np.float64], ...]:
        estimates, class_counts = np.empty((7, 9)), np.empty((7, 9, 3), np.int16)
        loop = kernels.collaborate.function if plain else kernels.collaborate
        row = means, counts, radii
        loop(*row, 0, 7, *codes, 0.1, labels, slots, estimates, class_counts)
        return estimates, class_counts.astype(np.float64)

    for codes in product(map(int, QueryStrategy), map(int, ClassTest), map(int, Weighting)):
        for compiled, plain in zip(outcome(False, codes), outcome(True, codes), strict=True):
            np.testing.assert_allclose(compiled, plain, rtol=0, atol=1e-12)
