"""What an honest peer says is believed, and what cannot be true is not."""

import math

import numpy as np
import pytest
from fleets import p_value
from hypothesis import given
from hypothesis import strategies as st

from colme import Agent, Query, Reply
from colme.bounds import NormalMixture, Student
from colme.live.reply_checks import ReplyChecks
from colme.live.wire import Refused

CHECKS = ReplyChecks(log_risk=15.0, rate=10.0, burst=5)


def reply(mean: float = 0.5, count: int = 100, squares: float = 25.0, epoch: int = 0) -> Reply:
    shape = NormalMixture(0.5, 1000).shape(count) if count else None
    return Reply("b", mean, count, squares, shape, epoch)


def reason(before: Reply, now: Reply, elapsed: float | None = 1.0) -> str | None:
    try:
        CHECKS.check(before, now, elapsed)
    except Refused as refused:
        return refused.reason
    return None


@given(
    samples=st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=60),
    steps=st.lists(st.integers(1, 20), min_size=1, max_size=10),
    away=st.sampled_from([0.0, 1e6, -1e9]),
)
def test_sums_of_real_samples_are_never_a_contradiction(
    samples: list[float], steps: list[int], away: float
) -> None:
    agent = Agent("b", bound=Student(100), delta=0.1, max_agents=2)
    before, values = agent.answer(Query("a", "b")), iter(samples)
    for n in steps:
        agent.perceive(*(away + value for _, value in zip(range(n), values, strict=False)))
        now = agent.answer(Query("a", "b"))
        ReplyChecks(log_risk=700.0).check(before, now, None)  # no jump is too far
        before = now
    assert before.count == min(len(samples), sum(steps))


def test_honest_gaussian_peers_jump_with_at_most_the_stated_risk() -> None:
    rng, n_refused = np.random.default_rng(0), 0
    checks = ReplyChecks(log_risk=math.log(1 / 0.1))
    for _ in range(150):
        agent = Agent("b", bound=NormalMixture(1.0, 20), delta=0.1, max_agents=2)
        before = agent.answer(Query("a", "b"))
        for sample in rng.normal(size=30).tolist():
            agent.perceive(sample)
            now = agent.answer(Query("a", "b"))
            try:
                checks.check(before, now, None)
            except Refused:
                n_refused += 1
                break
            before = now
    assert p_value(n_refused, 0.1, 150) > 1e-3


def test_a_count_that_falls_is_refused() -> None:
    assert reason(reply(count=100), reply(count=99)) == "count fell"


def test_a_count_that_rises_too_fast_is_refused_where_a_rate_is_declared() -> None:
    before, now = reply(squares=25.0), reply(count=116, squares=29.0)
    assert reason(before, now, elapsed=1.0) == "too fast"
    assert reason(before, now, elapsed=1.1) is None
    assert reason(before, now, elapsed=None) is None
    ReplyChecks(log_risk=15.0).check(before, now, elapsed=0.0)


def test_another_mean_of_the_same_samples_is_a_contradiction() -> None:
    assert reason(reply(mean=0.5), reply(mean=0.6)) == "contradiction"
    assert reason(reply(squares=25.0), reply(squares=26.0)) == "contradiction"
    assert reason(reply(), reply()) is None


def test_squares_that_shrink_or_grow_too_little_are_a_contradiction() -> None:
    assert reason(reply(squares=25.0), reply(count=101, squares=24.0)) == "contradiction"
    # One more sample that moves the mean of 100 by 0.1 lies 10 away: its square is about 100.
    assert reason(reply(mean=0.5), reply(mean=0.6, count=101, squares=26.0)) == "contradiction"


def test_a_mean_that_jumps_beyond_both_radii_is_refused() -> None:
    far = reply(mean=50.5, count=105, squares=1e9)
    assert reason(reply(), far) == "jump"


@pytest.mark.parametrize("before", [reply(epoch=1), Reply("b", 0.0, 0)])
def test_nothing_binds_a_new_epoch_or_a_first_word(before: Reply) -> None:
    assert reason(before, reply(mean=9.0, count=3)) is None


def test_replies_without_squares_or_shape_are_judged_by_their_counts_alone() -> None:
    assert reason(Reply("b", 0.5, 10), Reply("b", 9.5, 11)) is None
    assert reason(Reply("b", 0.5, 10), Reply("b", 0.5, 9)) == "count fell"
