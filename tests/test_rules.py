"""The decisions over one row: against their definitions, and at limits where rules coincide."""

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from streams import FAMILY, name

from colme import kernels, rules
from colme.algorithm import ClassTest, QueryStrategy, Weighting
from colme.bounds import Bound, Laplace, separated
from colme.summary import View, recentred
from colme.views import views_of

RR, RRR = QueryStrategy.ROUND_ROBIN, QueryStrategy.RESTRICTED_ROUND_ROBIN
BOUND = Laplace(0.3, 0.01)
LOG_RISK = -math.log(BOUND.gamma)
POOLING = [weighting for weighting in Weighting if weighting != Weighting.MODEL]
"""Weights of the row alone; the model has tests of its own."""
SUMS = [weighting for weighting in POOLING if weighting != Weighting.ROBUST]
"""Weights that no other weight changes; the robust ones have tests of their own."""


def choice(
    test: ClassTest = ClassTest.OVERLAP,
    *,
    query: QueryStrategy = RR,
    weighting: Weighting = Weighting.SIMPLE,
    eta: float = 0.0,
    log_risk: float = LOG_RISK,
) -> rules.Choice:
    return rules.Choice(query, test, weighting, eta, log_risk)


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

    def memory(self, member: list[bool] | None = None) -> rules.Row:
        """Return the row as the rules have it, with quadratic evidence."""
        shapes = [BOUND.shape(int(n)) if n else (math.inf, math.inf, 0.0) for n in self.counts]
        spreads, slopes, offsets = (list(part) for part in zip(*shapes, strict=True))
        return rules.Row(
            means=list(self.means),
            counts=list(self.counts),
            radii=list(self.radii),
            precisions=[n / 0.09 for n in self.counts],
            spreads=spreads,
            slopes=slopes,
            offsets=offsets,
            squares=[0.0] * self.n,
            epochs=[0.0] * self.n,
            member=list(member or [True] * self.n),
            shown=[True] * self.n,
        )

    def classified(
        self, chosen: rules.Choice, before: list[bool] | None = None
    ) -> tuple[int, list[bool]]:
        row = self.memory(before)
        n_changed = rules.classify(chosen, self.a, self.n, row)
        return n_changed, list(row.member)

    def members(self, eta: float = 0.0) -> list[bool]:
        return self.classified(choice(eta=eta))[1]

    def pooled(self, weighting: Weighting, known: list[bool] | None = None) -> float:
        test = ClassTest.OVERLAP if known is None else ClassTest.KNOWN
        return rules.pool(choice(test, weighting=weighting), self.a, self.n, self.memory(known))[1]

    def next(self, query: QueryStrategy, cursor: int, known: list[bool] | None = None) -> int:
        test = ClassTest.OVERLAP if known is None else ClassTest.KNOWN
        row = self.memory(known)
        return rules.next_peer(choice(test, query=query), self.a, self.n, cursor, row)


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
    assert row.classified(choice(), before) == (n_moved, row.members())
    for weighting in POOLING:
        memory = row.memory(before)
        assert rules.pool(choice(weighting=weighting), row.a, row.n, memory)[0] == n_moved
        assert memory.member == row.members()


@given(rows(), st.data())
def test_a_known_class_is_never_touched(row: Row, data: st.DataObject) -> None:
    known = data.draw(st.lists(st.booleans(), min_size=row.n, max_size=row.n))
    for eta in (0.0, 0.3):
        assert row.classified(choice(ClassTest.KNOWN, eta=eta), known) == (0, known)
    for weighting in POOLING:
        memory = row.memory(known)
        knowing = choice(ClassTest.KNOWN, weighting=weighting)
        assert rules.pool(knowing, row.a, row.n, memory)[0] == 0
        assert memory.member == known


@given(rows(), st.floats(0, 0.5), st.floats(0.01, 20), st.data())
def test_the_joint_test_of_parabolas_is_its_formula_and_never_takes_anyone_back(
    row: Row, eta: float, log_risk: float, data: st.DataObject
) -> None:
    before = data.draw(st.lists(st.booleans(), min_size=row.n, max_size=row.n))
    joint = choice(ClassTest.JOINT, eta=eta, log_risk=log_risk)
    n_changed, after = row.classified(joint, before)
    assert n_changed == sum(b != f for b, f in zip(before, after, strict=True))
    a, n = row.a, row.counts
    for l, belongs in enumerate(after):
        if n[l] == 0:
            assert belongs == before[l]
            continue
        spread = sum(0.3**2 * (n[i] + 1) / n[i] ** 2 for i in (a, l))
        offset = sum(0.5 * math.log(1 + n[i]) for i in (a, l))
        beyond = max(0.0, abs(row.means[a] - row.means[l]) - eta)
        level = 2 * spread * (log_risk + offset)
        if beyond**2 != pytest.approx(level, rel=1e-9):
            assert belongs == (before[l] and beyond**2 < level)


@given(rows(), st.floats(0.5, 20))
def test_the_joint_test_never_rules_out_the_agent_or_the_unheard(row: Row, log_risk: float) -> None:
    _, after = row.classified(choice(ClassTest.JOINT, log_risk=log_risk))
    assert after[row.a]
    assert all(after[l] for l in range(row.n) if row.counts[l] == 0)


@pytest.mark.parametrize("bound", FAMILY, ids=name)
@given(st.integers(0, 10**6))
def test_the_joint_test_is_the_test_of_the_pair_with_eta_taken_off(bound: Bound, seed: int) -> None:
    rng = np.random.default_rng(seed)
    seen = []
    for mean in rng.random(2):
        stream = bound.stream()
        for sample in rng.beta(20 * mean + 0.1, 20.1 - 20 * mean, rng.integers(1, 120)):
            stream.update(sample)
        told = recentred(stream.evidence, stream.mean)
        seen.append(View(stream.mean, stream.count, 1.0, 1.0, told.spread, told.slope, told.offset))
    own, peer = seen
    for eta in (0.0, 0.1):
        joint = choice(ClassTest.JOINT, eta=eta, log_risk=3.0)
        beyond = max(0.0, abs(own.mean - peer.mean) - eta)
        apart = separated(beyond, *own[4:7], *peer[4:7], 3.0)
        assert rules.belongs(joint, own, peer, True) == (not apart)
        assert rules.belongs(joint, peer, own, True) == (not apart)
        assert not rules.belongs(joint, own, peer, False)


@given(rows(), st.floats(0, 1))
def test_a_larger_eta_rules_out_no_more(row: Row, eta: float) -> None:
    for test in (ClassTest.OVERLAP, ClassTest.JOINT):
        _, narrow = row.classified(choice(test))
        _, wide = row.classified(choice(test, eta=eta))
        assert all(w or not n for n, w in zip(narrow, wide, strict=True))
        assert row.classified(choice(test, eta=3.0))[1] == [True] * row.n


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


@given(rows(), st.sampled_from(SUMS))
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


@given(rows(), st.sampled_from(POOLING))
def test_an_agent_alone_in_its_known_class_pools_only_itself(
    row: Row, weighting: Weighting
) -> None:
    alone = [l == row.a for l in range(row.n)]
    assert row.pooled(weighting, alone) == pytest.approx(row.means[row.a], abs=1e-12)


@pytest.mark.parametrize("weighting", POOLING)
def test_nothing_known_pools_to_nan(weighting: Weighting) -> None:
    row = Row(0, [0.0, 0.0], [0.0, 0.0], [math.inf, math.inf])
    assert math.isnan(row.pooled(weighting))


@pytest.mark.parametrize("weighting", POOLING)
def test_an_agent_whose_interval_has_no_end_yet_has_its_own_mean_at_least(
    weighting: Weighting,
) -> None:
    row = Row(0, [0.5, 0.25], [3.0, 1.0], [math.inf, math.inf])
    whole = {Weighting.SIMPLE: 0.4375, Weighting.CLASS_UNIFORM: 0.375}
    assert row.pooled(weighting) == whole.get(weighting, 0.5)


@pytest.mark.parametrize("weighting", POOLING)
def test_intervals_too_narrow_for_floating_point_still_pool(weighting: Weighting) -> None:
    assert Row(0, [1e10, 1e10], [4.0, 4.0], [1e-7, 1e-7]).pooled(weighting) == 1e10


LABELS: NDArray[np.int64] = np.array([0, 1, 0, 2, 1, 0, 2])
SAMPLES = np.random.default_rng(3).normal(LABELS, 0.3, (40, 7))


def outcome(
    plain: bool, chosen: rules.Choice, bounds: list[Bound], every: int
) -> list[NDArray[np.float64]]:
    """Return estimates and class counts at every so-many steps, by the compiled or plain loop."""
    by_model = chosen.weighting == Weighting.MODEL
    with_squares = Weighting(chosen.weighting).needs_squares
    views = views_of(SAMPLES, bounds, with_squares=with_squares)
    steps = np.arange(40)
    slots = np.where(steps % every == every - 1, steps // every, -1)
    n_slots = int(slots.max()) + 1
    estimates = np.empty((7, n_slots))
    counts, likely = np.empty((2, 7, n_slots, 3), np.int16)
    fleet = kernels.Fleet.of_all(7)._replace(scales=np.array([bound.scale for bound in bounds]))
    desk = kernels.Desk.blank(longest_row=7, n_classes=3)
    common = fleet, desk, np.empty((0, 0), np.int64), True, 0, 7, LABELS, slots, estimates, counts
    if by_model:
        loop = kernels.collaborate_by_model
        (loop.function if plain else loop)(views, chosen, *common, likely)
        return [estimates, counts.astype(float), likely.astype(float)]
    (kernels.collaborate.function if plain else kernels.collaborate)(views, chosen, *common)
    return [estimates, counts.astype(float)]


@pytest.mark.parametrize("query", QueryStrategy, ids=lambda query: query.word)
@pytest.mark.parametrize("test", ClassTest, ids=lambda test: test.word)
def test_the_compiled_loop_is_the_plain_loop(query: QueryStrategy, test: ClassTest) -> None:
    counted: list[Bound] = [Laplace(0.1, 0.01)] * 7
    for weighting, (eta, every) in product(Weighting, ((0.0, 3), (0.1, 1))):
        chosen = rules.Choice(int(query), int(test), int(weighting), eta, LOG_RISK)
        both = (outcome(plain, chosen, counted, every) for plain in (False, True))
        for compiled, plain in zip(*both, strict=True):
            np.testing.assert_allclose(compiled, plain, rtol=0, atol=1e-12)


@pytest.mark.parametrize("weighting", Weighting, ids=lambda weighting: weighting.word)
def test_once_out_stays_out_also_between_the_steps_that_are_kept(weighting: Weighting) -> None:
    chosen = rules.Choice(int(RR), int(ClassTest.JOINT), int(weighting), 0.0, 1.0)
    daring: list[Bound] = [Laplace(0.05, 0.3)] * 7
    _, every_step, *_ = outcome(False, chosen, daring, 1)
    assert (np.diff(every_step, axis=1) <= 0).all()
    assert every_step[:, -1].sum() < every_step[:, 0].sum()
    for every in (4, 10, 40):
        _, kept, *_ = outcome(False, chosen, daring, every)
        np.testing.assert_array_equal(kept, every_step[:, every - 1 :: every])
