"""What a fitted model says: of the agent's own mean, of its sums, and of who is alike."""

import math

import numpy as np
import pytest
from fitted_models import SEPARATED, Array, estimate, fitted, memory, noisy, problems, summed
from hypothesis import given
from hypothesis import strategies as st
from judges import expectation

from colme.model import (
    MAX_CLASSES,
    add_member,
    drop_member,
    expected_mean,
    likely,
    mean_precision,
    peer_chances,
    sum_members,
    update_peer,
    update_peers,
)
from colme.summary import View, view_at


@SEPARATED
@pytest.mark.parametrize("seed", range(3))
def test_separated_classes_are_pooled_and_told(centers: list[float], seed: int) -> None:
    labels, means, precisions = noisy(centers, 12 * len(centers), seed)
    row = memory(means, precisions)
    model, scratch = fitted(row)
    for a in range(len(means)):
        sum_members(a, len(means), row, model, scratch)
        pooled = np.average(means[labels == labels[a]], weights=precisions[labels == labels[a]])
        noise = 1 / math.sqrt(precisions[a])
        if abs(means[a] - pooled) < 2.5 * noise:
            assert abs(expected_mean(view_at(row.views, a), model, scratch) - pooled) < 0.1 * noise
        same = [False] * len(means)
        peer_chances(len(means), row, model, scratch)
        likely(a, len(means), row, model, scratch, same)
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
            model, scratch = fitted(row, a)
            model.fit.trust = trust
            size = int(model.fit.n_classes)
            others = np.array(member) & (np.arange(len(means)) != a)
            expected = expectation(
                (means[a], precisions[a]),
                (means[others], precisions[others]),
                np.array(model.atoms[:size]),
                np.append(model.shares[:size], model.shares[MAX_CLASSES]),
                model.fit.width,
                (model.fit.crowd_mean, model.fit.crowd_variance),
                trust,
            )
            here = expected_mean(view_at(row.views, a), model, scratch)
            assert here == pytest.approx(expected, abs=1e-12)


@problems
def test_what_is_pooled_is_a_member_or_the_agent_itself(problem: tuple[Array, Array]) -> None:
    means, precisions = problem
    member = [l % 3 != 1 for l in range(len(means))]
    row = memory(means, precisions, member)
    model, scratch = fitted(row)
    before, old = expected_mean(view_at(row.views, 0), model, scratch), summed(model)
    for l in range(1, len(means)):
        mean = row.views.mean[l]
        row.views.mean[l] = mean + 0.01
        sum_members(0, len(means), row, model, scratch)
        assert (summed(model) == old) == (not member[l])
        if not member[l]:
            assert expected_mean(view_at(row.views, 0), model, scratch) == before
        row.views.mean[l] = mean
    row.views.mean[0] += 0.01
    sum_members(0, len(means), row, model, scratch)
    assert summed(model) == old  # the agent is not in its own sums


def test_the_unheard_weigh_nothing() -> None:
    _, means, precisions = noisy([0.0, 1.0], 30, 9)
    heard = memory(means, precisions)
    more = memory(np.append(means, [0.0] * 9), np.append(precisions, [1.0] * 9))
    for l in range(30, 39):
        more.views.precision[l] = more.views.n_samples[l] = 0.0
    for a in range(0, 30, 7):
        assert estimate(more, a) == pytest.approx(estimate(heard, a), abs=1e-12)
        model, scratch = fitted(more, a)
        same = [False] * 39
        peer_chances(39, more, model, scratch)
        likely(a, 39, more, model, scratch, same)
        assert not any(same[30:])  # neither class has more than half of all


@given(st.integers(0, 10**6))
def test_sums_kept_up_to_date_are_the_sums_made_anew(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 30))
    _, means, precisions = noisy([0.0, 0.3, 1.0], n, seed)
    row = memory(means, precisions, [True, *(rng.random(n - 1) < 0.7).tolist()])
    model, scratch = fitted(row)
    for l in rng.integers(1, n, 20).tolist():
        seen = View(rng.normal(0.5, 0.5), 12.0, radius=1.0, squares=rng.uniform(0.2, 2))
        update_peer(l, seen, row, model, scratch)
        precision = mean_precision(12.0, seen.squares, model)
        assert precision > 0
        assert view_at(row.views, l) == seen._replace(precision=precision)
    kept = summed(model)
    sum_members(0, n, row, model, scratch)
    np.testing.assert_allclose(kept, summed(model), rtol=1e-9, atol=1e-7)


@given(st.integers(0, 10**6))
def test_several_peers_at_once_are_one_after_the_other(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 30))
    _, means, precisions = noisy([0.0, 0.3, 1.0], n, seed)
    rows = [memory(means, precisions, [l % 4 != 1 for l in range(n)]) for _ in range(2)]
    rows[0].views.precision[n - 1] = rows[1].views.precision[n - 1] = 0.0  # not heard of yet
    (one, scratch), (several, _) = fitted(rows[0]), fitted(rows[1])
    entries = (1 + rng.permutation(n - 1))[: rng.integers(1, n)].tolist()
    seen = [View(rng.normal(0.5, 0.5), 12.0, radius=1.0, squares=0.9) for _ in entries]
    for l, news in zip(entries, seen, strict=True):
        update_peer(l, news, rows[0], one, scratch)
    columns = View(*(list(column) for column in zip(*seen, strict=True)))
    update_peers(len(entries), entries, columns, rows[1], several, scratch)
    assert rows[0] == rows[1]
    np.testing.assert_allclose(summed(several), summed(one), rtol=1e-9, atol=1e-7)


def test_a_member_that_is_dropped_leaves_the_sums_of_the_others() -> None:
    _, means, precisions = noisy([0.0, 1.0], 20, 10)
    row = memory(means, precisions)
    model, scratch = fitted(row)
    drop_member(7, row, model, scratch)
    row.member[7] = False
    dropped = summed(model)
    drop_member(7, row, model, scratch)
    assert summed(model) == dropped  # it is in them no longer
    sum_members(0, 20, row, model, scratch)
    np.testing.assert_allclose(dropped, summed(model), rtol=1e-9, atol=1e-9)


def test_who_enters_and_leaves_leaves_no_trace() -> None:
    _, means, precisions = noisy([0.0, 1.0], 20, 10)
    model, scratch = fitted(memory(means, precisions))
    before = summed(model)
    for sign in (1.0, -1.0):
        add_member(sign, 0.4, 300.0, model, scratch)
        assert (summed(model) != before) == (sign > 0)
    np.testing.assert_allclose(summed(model), before, rtol=1e-12, atol=1e-12)


@given(st.integers(0, 10**6), st.floats(0, 3))
def test_an_estimate_stays_in_the_agents_own_interval(seed: int, radius: float) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    _, means, precisions = noisy(rng.normal(0, 0.1, rng.integers(1, 6)).tolist(), n, seed)
    row = memory(means, precisions)
    for a in range(n):
        row.views.radius[a] = radius / math.sqrt(precisions[a])
        off = abs(estimate(row, a) - means[a])
        assert off <= row.views.radius[a] * (1 + 1e-9) + 1e-15


def test_without_an_interval_that_narrow_the_estimate_would_leave_it() -> None:
    _, means, precisions = noisy([0.0], 30, 11)
    row = memory(means, precisions)
    a = int(np.argmax(abs(means) * np.sqrt(precisions)))
    free = estimate(row, a)
    row.views.radius[a] = abs(free - means[a]) / 2
    assert estimate(row, a) == pytest.approx((free + means[a]) / 2)


@given(st.integers(0, 10**6))
def test_a_likely_class_holds_the_agent_and_nobody_excluded(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 40))
    _, means, precisions = noisy([0.0, 0.4], n, seed)
    a = int(rng.integers(n))
    member = (rng.random(n) < 0.7).tolist()
    row = memory(means, precisions, member)
    model, scratch = fitted(row, a)
    same = [False] * n
    peer_chances(n, row, model, scratch)
    likely(a, n, row, model, scratch, same)
    assert same[a]
    assert all(member[l] or l == a for l in range(n) if same[l])
