"""All pairs of a table: counts as by brute force, and classes in which no two are told apart."""

import math
import time

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from colme.bounds import separated
from colme.data.estimating import classes
from colme.data.estimating.classes import Told, count_alike, group, is_alike

INF = math.inf


@st.composite
def tellers(draw: st.DrawFn, most: int = 25) -> Told:
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
    return Told(centers, spreads, offsets, draw(st.floats(0.5, 30)), eta)


def apart(told: Told) -> NDArray[np.bool_]:
    """Return [a, b]: whether the test of the pair tells them apart, one pair at a time."""
    n = len(told.centers)
    found = np.zeros((n, n), dtype=bool)
    for a in range(n):
        for b in range(n):
            distance = max(abs(told.centers[a] - told.centers[b]) - told.eta, 0.0)
            here = (told.spreads[a], INF, told.offsets[a])
            there = (told.spreads[b], INF, told.offsets[b])
            answers = [separated(distance * x, *here, *there, told.log_risk) for x in CARE]
            assume(len(set(answers)) == 1)  # a pair on the very edge may fall either way
            found[a, b] = answers[0]
    return found


CARE = (1 - 1e-9, 1.0, 1 + 1e-9)


@given(tellers())
def test_counts_are_those_of_all_pairs_tested_one_by_one(told: Told) -> None:
    alike = ~apart(told)
    assert count_alike(told).tolist() == alike.sum(axis=1).tolist()
    for a in range(len(told.centers)):
        np.testing.assert_array_equal(is_alike(a, told), alike[a])
    assert alike.diagonal().all()
    np.testing.assert_array_equal(alike, alike.T)


@given(tellers(12))
def test_compiled_and_plain_counts_agree(told: Told) -> None:
    apart(told)
    shelf = classes._shelve(told)
    in_order = told._replace(centers=told.centers[shelf.order])
    n = len(told.centers)
    plain = np.zeros(n, np.int64)
    classes._count.function(0, n, told, shelf, in_order, plain)
    assert plain.tolist() == count_alike(told).tolist()


def assert_consistent(told: Told, order: NDArray[np.int64], labels: NDArray[np.int64]) -> None:
    """Check a grouping against all pairs: consistent, in runs, within borders, no cut in vain."""
    found, told_apart = group(told, order, labels), apart(told)
    along = found[order]
    assert along[0] == 0
    assert set(np.diff(along)) <= {0, 1}
    for number in range(along[-1] + 1):
        members = order[along == number]
        assert not told_apart[np.ix_(members, members)].any()
        assert len(set(labels[members])) == 1
        following = order[along == number + 1][:1]
        for agent in following:
            crosses = labels[agent] != labels[members[0]]
            assert crosses or told_apart[agent, members].any()


@given(tellers(), st.integers(0, 99), st.integers(1, 4))
def test_classes_are_runs_in_which_no_two_are_told_apart(
    told: Told, seed: int, n_labels: int
) -> None:
    rng, n = np.random.default_rng(seed), len(told.centers)
    labels = rng.integers(-1, n_labels - 1, n)
    by_center = np.argsort(told.centers, kind="stable")
    assert_consistent(told, by_center, np.zeros(n, np.int64))
    assert_consistent(told, by_center, labels)
    assert_consistent(told, rng.permutation(n), labels)


@given(tellers(), st.integers(0, 99))
def test_classes_do_not_depend_on_the_names_of_agents(told: Told, seed: int) -> None:
    assume(len(set(told.centers)) == len(told.centers))
    apart(told)
    moved = np.random.default_rng(seed).permutation(len(told.centers))
    other = told._replace(
        centers=told.centers[moved], spreads=told.spreads[moved], offsets=told.offsets[moved]
    )
    here = group(told, np.argsort(told.centers))
    there = group(other, np.argsort(other.centers))
    assert there.tolist() == here[moved].tolist()
    assert count_alike(other).tolist() == count_alike(told)[moved].tolist()


@given(tellers(12))
def test_compiled_and_plain_classes_agree(told: Told) -> None:
    apart(told)
    order = np.argsort(told.centers, kind="stable")
    along = told._replace(
        centers=told.centers[order], spreads=told.spreads[order], offsets=told.offsets[order]
    )
    cut = np.empty(len(order), np.int64)
    classes._walk.function(along, np.zeros(len(order), np.int64), cut)
    assert cut.tolist() == group(told, order)[order].tolist()


def alike_all(n: int, spread: float = 1.0) -> Told:
    return Told(np.zeros(n), np.full(n, spread), np.ones(n), 10.0, 0.0)


def test_the_extremes() -> None:
    nobody = alike_all(0)
    assert group(nobody, np.empty(0, np.int64)).tolist() == []
    for told in (alike_all(1), alike_all(5), alike_all(5, INF), alike_all(5, 1e-300)):
        n = len(told.centers)
        assert count_alike(told).tolist() == [n] * n
        assert group(told, np.arange(n)).tolist() == [0] * n
    far = alike_all(5, 1e-12)._replace(centers=np.arange(5.0))
    assert count_alike(far).tolist() == [1] * 5
    assert group(far, np.arange(5)).tolist() == [0, 1, 2, 3, 4]
    assert group(far._replace(eta=1.0), np.arange(5)).tolist() == [0, 0, 1, 1, 2]
    assert count_alike(far._replace(eta=1.0)).tolist() == [2, 3, 3, 3, 2]


def test_who_says_nothing_is_told_from_nobody() -> None:
    told = Told(np.array([0.0, 50.0, 100.0]), np.array([1e-3, INF, 1e-3]), np.ones(3), 5.0, 0.0)
    assert count_alike(told).tolist() == [2, 3, 2]
    assert group(told, np.arange(3)).tolist() == [0, 0, 1]


def many(kind: str, n: int) -> Told:
    rng = np.random.default_rng(2)
    centers = {
        "one class": rng.normal(0.0, 0.1, n),
        "crowd": rng.normal(0.0, 1.0, n),
        "three classes": rng.integers(0, 3, n) + rng.normal(0.0, 0.1, n),
    }[kind]
    spreads = 1.0 / rng.integers(2, 200, n)
    return Told(centers, spreads, 0.5 * np.log1p(1 / spreads), 16.0, 0.0)


@pytest.mark.parametrize(
    ("kind", "n"), [("one class", 100_000), ("crowd", 20_000), ("three classes", 20_000)]
)
def test_many_agents_take_seconds_and_some_of_them_are_checked(kind: str, n: int) -> None:
    told = many(kind, n)
    start = time.perf_counter()
    counts = count_alike(told)
    order = np.argsort(told.centers)
    found = group(told, order)
    assert time.perf_counter() - start < 60
    for a in (0, 777, n // 2, n - 1):
        assert counts[a] == is_alike(a, told).sum()
    assert (np.diff(found[order]) >= 0).all()
    middle = found == found[order[n // 2]]
    for a in np.flatnonzero(middle)[:: max(1, middle.sum() // 20)]:
        assert is_alike(int(a), told)[middle].all()
