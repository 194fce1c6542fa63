"""Who is there, for how long one waits for them, and their lives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colme.live.membership import MOST_LIVES, Membership
from colme.live.wire import Refused


def test_a_peer_that_does_not_answer_is_left_alone_twice_as_long_each_time() -> None:
    fleet = Membership(interval=0.5)
    fleet.appear("b")
    now, pauses = 0.0, []
    fleet.appear("c")
    for _ in range(9):
        assert fleet.reachable(now) == {"b", "c"}
        fleet.missed("b", now)
        pauses.append(fleet.paused["b"] - now)
        assert fleet.reachable(now) == {"c"}
        now += pauses[-1]
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 32.0, 32.0, 32.0]
    fleet.hear("b", life=1, epoch=0, at=0.0)
    assert "b" in fleet.reachable(now)


def test_who_comes_back_may_be_asked_at_once() -> None:
    fleet = Membership(interval=1.0)
    fleet.appear("b")
    fleet.missed("b", now=0.0)
    fleet.vanish("b")
    assert not fleet.reachable(100.0)
    fleet.appear("b")
    assert fleet.reachable(0.0) == {"b"}


def test_who_was_never_here_cannot_vanish() -> None:
    fleet = Membership(interval=1.0)
    fleet.vanish("b")
    assert fleet.present == set()
    assert fleet.to_plain() == {}


def test_a_peer_that_leaves_keeps_when_it_was_heard() -> None:
    fleet = Membership(interval=1.0)
    fleet.appear("b")
    assert fleet.status("b").heard is None
    fleet.hear("b", life=1, epoch=0, at=10.0)
    fleet.vanish("b")
    assert (fleet.status("b").heard, fleet.present) == (10.0, set())


def test_a_life_that_was_left_is_over() -> None:
    fleet = Membership(interval=1.0)
    fleet.hear("b", life=1, epoch=4, at=0.0)
    fleet.hear("b", life=2, epoch=0, at=1.0)
    with pytest.raises(Refused, match="a life it has left") as caught:
        fleet.epoch_of("b", life=1, epoch=5)
    assert caught.value.reason == "old life"


def test_too_many_lives_are_not_believed() -> None:
    fleet = Membership(interval=1.0)
    for life in range(MOST_LIVES):
        fleet.hear("b", life=life, epoch=0, at=0.0)
    with pytest.raises(Refused, match="more than 64 lives") as caught:
        fleet.epoch_of("b", life=MOST_LIVES, epoch=0)
    assert caught.value.reason == "too many lives"
    assert fleet.epoch_of("b", life=MOST_LIVES - 1, epoch=1) == MOST_LIVES


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=20))
def test_epochs_only_grow_whatever_lives_are_told(told: list[tuple[int, int]]) -> None:
    fleet, last = Membership(interval=1.0), -1
    for life, epoch in told:
        try:
            total = fleet.epoch_of("b", life, epoch)
        except Refused:
            continue
        if total < last:  # the agent refuses it; nothing is noted
            continue
        fleet.hear("b", life, epoch, at=0.0)
        assert fleet.status("b").epoch == total >= last
        last = total


def test_memory_of_lives_outlives_a_restart() -> None:
    before, after = Membership(interval=1.0), Membership(interval=1.0)
    before.hear("b", life=2**62, epoch=3, at=1.5)
    before.hear("b", life=5, epoch=1, at=2.5)
    before.appear("c")
    after.restore(before.to_plain())
    assert after.to_plain() == before.to_plain()
    assert after.epoch_of("b", life=5, epoch=2) == before.epoch_of("b", life=5, epoch=2) == 6
    assert "c" not in after.to_plain()
    assert after.present == set()
