"""All pairs of a table: counts as by brute force, and groups within which no two are separated."""

import math
import time

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from colme.bounds import separated
from colme.data.estimator import groups
from colme.data.estimator.groups import TableEvidence, count_alike, cut_groups, is_alike

INF = math.inf


@st.composite
def all_evidence(draw: st.DrawFn, most: int = 25) -> TableEvidence:
    """Return the evidence of some agents: ties, unequal and infinite spreads, large offsets."""
    n = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    centers = rng.normal(0.0, draw(st.sampled_from([0.1, 1.0, 30.0])), n)
    if draw(st.booleans()):
        centers = centers.round(1)
    spreads = 0.01 * np.exp(rng.normal(0.0, draw(st.sampled_from([0.0, 0.3, 4.0])), n))
    spreads[rng.random(n) < draw(st.sampled_from([0.0, 0.2, 1.0]))] = INF
    offsets = rng.exponential(draw(st.sampled_from([0.0, 1.0, 10.0])), n)
    eta = draw(st.sampled_from([0.0, 0.2, 3.0]))
    return TableEvidence(centers, spreads, offsets, draw(st.floats(0.5, 30)), eta)


def apart(evidence: TableEvidence) -> NDArray[np.bool_]:
    """Return [a, b]: whether the test separates the pair, one pair at a time."""
    n = len(evidence.centers)
    found = np.zeros((n, n), dtype=bool)
    for a in range(n):
        for b in range(n):
            distance = max(abs(evidence.centers[a] - evidence.centers[b]) - evidence.eta, 0.0)
            here = (evidence.spreads[a], INF, evidence.offsets[a])
            there = (evidence.spreads[b], INF, evidence.offsets[b])
            answers = [separated(distance * x, *here, *there, evidence.log_risk) for x in CARE]
            assume(len(set(answers)) == 1)  # a pair on the very edge may fall either way
            found[a, b] = answers[0]
    return found


CARE = (1 - 1e-9, 1.0, 1 + 1e-9)


@given(all_evidence())
def test_counts_are_those_of_all_pairs_tested_one_by_one(evidence: TableEvidence) -> None:
    alike = ~apart(evidence)
    assert count_alike(evidence).tolist() == alike.sum(axis=1).tolist()
    for a in range(len(evidence.centers)):
        np.testing.assert_array_equal(is_alike(a, evidence), alike[a])
    assert alike.diagonal().all()
    np.testing.assert_array_equal(alike, alike.T)


@given(all_evidence(12))
def test_compiled_and_plain_counts_agree(evidence: TableEvidence) -> None:
    apart(evidence)
    n = len(evidence.centers)
    plain = np.zeros(n, np.int64)
    groups._count.function(0, n, evidence, groups._shelve(evidence), plain)
    assert plain.tolist() == count_alike(evidence).tolist()


def assert_consistent(
    evidence: TableEvidence, order: NDArray[np.int64], labels: NDArray[np.int64]
) -> None:
    """Check a grouping against all pairs: consistent, in runs, within borders, no cut in vain."""
    found, separated_pairs = cut_groups(evidence, order, labels), apart(evidence)
    along = found[order]
    assert along[0] == 0
    assert set(np.diff(along)) <= {0, 1}
    for number in range(along[-1] + 1):
        members = order[along == number]
        assert not separated_pairs[np.ix_(members, members)].any()
        assert len(set(labels[members])) == 1
        following = order[along == number + 1][:1]
        for agent in following:
            crosses = labels[agent] != labels[members[0]]
            assert crosses or separated_pairs[agent, members].any()


@given(all_evidence(), st.integers(0, 99), st.integers(1, 4))
def test_classes_are_runs_in_which_no_two_are_separated_pairs(
    evidence: TableEvidence, seed: int, n_labels: int
) -> None:
    rng, n = np.random.default_rng(seed), len(evidence.centers)
    labels = rng.integers(-1, n_labels - 1, n)
    by_center = np.argsort(evidence.centers, kind="stable")
    assert_consistent(evidence, by_center, np.zeros(n, np.int64))
    assert_consistent(evidence, by_center, labels)
    assert_consistent(evidence, rng.permutation(n), labels)


@given(all_evidence(), st.integers(0, 99))
def test_classes_do_not_depend_on_the_names_of_agents(evidence: TableEvidence, seed: int) -> None:
    assume(len(set(evidence.centers)) == len(evidence.centers))
    apart(evidence)
    moved = np.random.default_rng(seed).permutation(len(evidence.centers))
    other = evidence._replace(
        centers=evidence.centers[moved],
        spreads=evidence.spreads[moved],
        offsets=evidence.offsets[moved],
    )
    here = cut_groups(evidence, np.argsort(evidence.centers))
    there = cut_groups(other, np.argsort(other.centers))
    assert there.tolist() == here[moved].tolist()
    assert count_alike(other).tolist() == count_alike(evidence)[moved].tolist()


@given(all_evidence(12))
def test_compiled_and_plain_classes_agree(evidence: TableEvidence) -> None:
    apart(evidence)
    order = np.argsort(evidence.centers, kind="stable")
    along = evidence._replace(
        centers=evidence.centers[order],
        spreads=evidence.spreads[order],
        offsets=evidence.offsets[order],
    )
    cut = np.empty(len(order), np.int64)
    groups._walk.function(along, np.zeros(len(order), np.int64), cut)
    assert cut.tolist() == cut_groups(evidence, order)[order].tolist()


def alike_all(n: int, spread: float = 1.0) -> TableEvidence:
    return TableEvidence(np.zeros(n), np.full(n, spread), np.ones(n), 10.0, 0.0)


def test_the_extremes() -> None:
    nobody = alike_all(0)
    assert cut_groups(nobody, np.empty(0, np.int64)).tolist() == []
    for evidence in (alike_all(1), alike_all(5), alike_all(5, INF), alike_all(5, 1e-300)):
        n = len(evidence.centers)
        assert count_alike(evidence).tolist() == [n] * n
        assert cut_groups(evidence, np.arange(n)).tolist() == [0] * n
    far = alike_all(5, 1e-12)._replace(centers=np.arange(5.0))
    assert count_alike(far).tolist() == [1] * 5
    assert cut_groups(far, np.arange(5)).tolist() == [0, 1, 2, 3, 4]
    assert cut_groups(far._replace(eta=1.0), np.arange(5)).tolist() == [0, 0, 1, 1, 2]
    assert count_alike(far._replace(eta=1.0)).tolist() == [2, 3, 3, 3, 2]


def test_agents_without_evidence_are_indistinguishable_from_all() -> None:
    evidence = TableEvidence(
        np.array([0.0, 50.0, 100.0]), np.array([1e-3, INF, 1e-3]), np.ones(3), 5.0, 0.0
    )
    assert count_alike(evidence).tolist() == [2, 3, 2]
    assert cut_groups(evidence, np.arange(3)).tolist() == [0, 0, 1]


def many(kind: str, n: int) -> TableEvidence:
    rng = np.random.default_rng(2)
    centers = {
        "one class": rng.normal(0.0, 0.1, n),
        "crowd": rng.normal(0.0, 1.0, n),
        "three classes": rng.integers(0, 3, n) + rng.normal(0.0, 0.1, n),
    }[kind]
    spreads = 1.0 / rng.integers(2, 200, n)
    return TableEvidence(centers, spreads, 0.5 * np.log1p(1 / spreads), 16.0, 0.0)


@pytest.mark.parametrize(
    ("kind", "n"), [("one class", 100_000), ("crowd", 20_000), ("three classes", 20_000)]
)
def test_many_agents_take_seconds_and_some_of_them_are_checked(kind: str, n: int) -> None:
    evidence = many(kind, n)
    start = time.perf_counter()
    counts = count_alike(evidence)
    order = np.argsort(evidence.centers)
    found = cut_groups(evidence, order)
    assert time.perf_counter() - start < 60
    for a in (0, 777, n // 2, n - 1):
        assert counts[a] == is_alike(a, evidence).sum()
    assert (np.diff(found[order]) >= 0).all()
    middle = found == found[order[n // 2]]
    for a in np.flatnonzero(middle)[:: max(1, middle.sum() // 20)]:
        assert is_alike(int(a), evidence)[middle].all()
