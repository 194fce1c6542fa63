"""Who belongs: against the definition of each test, and at limits where tests coincide."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from one_row import POOLING, OneRow, choice, rows
from streams import FAMILY, name

from colme import rules
from colme.algorithm import ClassTest
from colme.bounds import Bound, separated
from colme.summary import View, view_at


@given(rows(), st.floats(0, 0.5))
def test_members_are_those_within_eta_of_the_agents_interval(row: OneRow, eta: float) -> None:
    a = row.a
    for l, belongs in enumerate(row.members(eta)):
        gap = abs(row.means[a] - row.means[l]) - row.radii[a] - row.radii[l]
        assert belongs == (gap <= eta)
        assert gap == rules.optimistic_distance(
            row.means[a], row.radii[a], row.means[l], row.radii[l]
        )


@given(rows())
def test_the_agent_and_the_unheard_are_members(row: OneRow) -> None:
    member = row.members()
    assert member[row.a]
    assert all(member[l] for l in range(row.n) if row.counts[l] == 0)


@pytest.mark.parametrize(("eta", "belongs"), [(0.0, [True, False]), (0.25, [True, True])])
def test_intervals_that_just_touch_or_just_reach_eta_belong(
    eta: float, belongs: list[bool]
) -> None:
    row = OneRow(0, [0.0, 0.5, -0.75], [1.0] * 3, [0.25] * 3)
    assert row.members(eta) == [True, *belongs]


@given(rows(), st.data())
def test_classifying_counts_the_peers_that_change_sides(row: OneRow, data: st.DataObject) -> None:
    before = data.draw(st.lists(st.booleans(), min_size=row.n, max_size=row.n))
    n_moved = sum(b != f for b, f in zip(before, row.members(), strict=True))
    assert row.classified(choice(), before) == (n_moved, row.members())
    for weighting in POOLING:
        memory = row.memory(before)
        assert rules.pool(choice(weighting=weighting), row.a, row.n, memory)[0] == n_moved
        assert memory.member == row.members()


@given(rows(), st.data())
def test_a_known_class_is_never_touched(row: OneRow, data: st.DataObject) -> None:
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
    row: OneRow, eta: float, log_risk: float, data: st.DataObject
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
def test_the_joint_test_never_rules_out_the_agent_or_the_unheard(
    row: OneRow, log_risk: float
) -> None:
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
        told = stream.evidence.around(stream.mean)
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
def test_a_larger_eta_rules_out_no_more(row: OneRow, eta: float) -> None:
    for test in (ClassTest.OVERLAP, ClassTest.JOINT):
        _, narrow = row.classified(choice(test))
        _, wide = row.classified(choice(test, eta=eta))
        assert all(w or not n for n, w in zip(narrow, wide, strict=True))
        assert row.classified(choice(test, eta=3.0))[1] == [True] * row.n


@pytest.mark.parametrize("within", [0.5, math.inf])
@pytest.mark.parametrize("test", [ClassTest.OVERLAP, ClassTest.JOINT], ids=lambda test: test.word)
def test_of_a_peer_that_begins_anew_nothing_stays_decided(test: ClassTest, within: float) -> None:
    chosen = choice(test, within=within)
    row = rules.Row.blank(3, member=[True, False, False], confirmed=[True, True, True])
    assert rules.reset_peer(chosen, 1, View(epoch=0), row) == 0  # it has not begun anew
    assert (row.member, row.confirmed) == ([True, False, False], [True, True, True])
    assert rules.reset_peer(chosen, 1, View(epoch=1), row) == 1
    assert row.member == [True, True, False]
    assert row.confirmed == [True, within == math.inf, True]


@pytest.mark.parametrize("within", [0.5, math.inf])
@pytest.mark.parametrize("test", [ClassTest.OVERLAP, ClassTest.JOINT], ids=lambda test: test.word)
def test_an_agent_that_begins_anew_is_sure_only_of_itself(test: ClassTest, within: float) -> None:
    row = rules.Row.blank(3, member=[False, True, False], confirmed=[True, False, True])
    rules.reset_peers(choice(test, within=within), 1, 3, row)
    assert row.member == [True] * 3
    assert row.confirmed == [within == math.inf, True, within == math.inf]


def test_a_known_class_stays_whoever_begins_anew() -> None:
    chosen = choice(ClassTest.KNOWN, within=0.5)
    row = rules.Row.blank(3, member=[True, False, True], confirmed=[True, True, False])
    assert rules.reset_peer(chosen, 1, View(epoch=1), row) == 1
    rules.reset_peers(chosen, 0, 3, row)
    assert (row.member, row.confirmed) == ([True, False, True], [True, True, False])


@given(rows(), st.floats(0.01, 20), st.data())
def test_the_joint_test_rules_out_nobody_but_suspects(
    row: OneRow, log_risk: float, data: st.DataObject
) -> None:
    before = data.draw(st.lists(st.booleans(), min_size=row.n, max_size=row.n))
    joint = choice(ClassTest.JOINT, log_risk=log_risk)
    suspects = rules.suspects(joint, row.a, row.memory(before))
    _, after = row.classified(joint, before)
    out = [l for l in range(row.n) if before[l] and not after[l]]
    assert set(out) <= set(suspects) <= {l for l in range(row.n) if before[l]}


@given(rows(), st.floats(0.01, 2), st.floats(0.01, 5))
def test_who_is_confirmed_is_closer_than_the_gap_by_overlap_and_by_evidence(
    row: OneRow, within: float, log_risk: float
) -> None:
    a, memory = row.a, row.memory()
    own = view_at(memory.views, a)
    for l in range(row.n):
        peer = view_at(memory.views, l)
        gap = abs(own.mean - peer.mean)
        overlap = choice(within=within)
        near = gap + own.radius + peer.radius <= within
        assert rules.is_confirmed(overlap, own, peer, True) == near
        joint = choice(ClassTest.JOINT, within=within, log_risk=log_risk)
        shapes = *own[4:7], *peer[4:7]
        shown = separated(max(0.0, within - gap), *shapes, log_risk)
        assert rules.is_confirmed(joint, own, peer, False) == shown
        assert rules.is_confirmed(joint, own, peer, True)
