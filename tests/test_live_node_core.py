"""A core over perfect and over bad links, through crashes, among liars and strangers."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from node_cores import core, exchange, fleet_of, fold, lie, live_through, save

import colme
from colme import Agent
from colme.live.membership import Membership
from colme.live.node_core import NodeCore
from colme.live.node_report import node_report
from colme.live.wire import Refused, WireReply, decode
from colme.messages import Reply

PROBLEM = colme.Problem.gaussian([0.0, 3.0], class_sizes=[3, 3], sigma=0.5, seed=0)


def test_cores_over_perfect_links_do_what_lockstep_does() -> None:
    samples = PROBLEM.draw(60, seed=1)[0]
    names = [str(a) for a in range(6)]
    fleet = fleet_of(names, max_agents=6, peers=names, in_step=True, delta=0.001, cap=1.0)
    live_through(fleet, samples)
    slow = colme.lockstep(samples, "sharp", sigma=0.5, delta=0.001)
    assert slow.estimates is not None
    estimates = [one.agent.estimate for one in fleet.values()]
    assert estimates == pytest.approx(slow.estimates[0, -1], rel=1e-12)


def test_peers_hear_only_of_samples_that_are_safe() -> None:
    a, b = core("a"), core("b")
    fold(b, 0.5)
    b.fold([0.7, 0.9], "3")
    assert exchange(a, b, now=0.0)
    assert [reply.count for reply in a.agent.snapshot().replies if reply.sender == "b"] == [1]
    save(b)
    assert exchange(a, b, now=1.0)
    assert [reply.count for reply in a.agent.snapshot().replies if reply.sender == "b"] == [3]


def test_bad_samples_are_refused_one_by_one() -> None:
    a = core("a")
    assert a.fold([0.5, float("nan"), 0.7, 1e200], "4") == 2
    assert a.refused == {"sample": 2}
    assert (a.n_samples, a.position, a.agent.count) == (2, "4", 2)


def test_who_asks_as_of_later_samples_must_wait() -> None:
    a, b = core("a", in_step=True), core("b", in_step=True)
    fold(a, 0.1)
    fold(a, 0.2)
    ask = b.read_query(a.query_to("b"))
    assert ask.as_of == 2
    fold(b, 0.5)
    assert b.answer(ask) is None
    fold(b, 0.6)
    fold(b, 0.7)
    told = b.answer(ask)
    assert told is not None
    message = decode(told)
    assert isinstance(message, WireReply)
    assert message.reply.count == 2
    again = core("b", in_step=True)
    again.resume(b.checkpoint(), [])
    with pytest.raises(Refused, match="forgotten"):
        again.answer(ask)


# Links that drop, repeat, delay, mix up and spoil messages


def bad_link(payload: bytes, rng: random.Random) -> bytes:
    spoilt = bytearray(payload)
    spoilt[rng.randrange(len(spoilt))] ^= 1 << rng.randrange(8)
    return bytes(spoilt)


def test_bad_links_change_nothing_but_the_pace() -> None:
    rng, late = random.Random(0), []
    samples = PROBLEM.draw(400, seed=2)[0]
    names = [str(a) for a in range(6)]
    good, bad = fleet_of(names), fleet_of(names)
    live_through(good, samples)
    for t, row in enumerate(samples.tolist()):
        for one, sample in zip(bad.values(), row, strict=True):
            fold(one, sample)
        for one in bad.values():
            chosen = one.next_query(float(t))
            if chosen is None:
                continue
            peer, question = chosen
            told = bad[peer].answer(bad[peer].read_query(question))
            assert told is not None
            late.append((one, peer, told))
            fate = rng.random()
            if fate < 0.2:  # lost
                one.missed(peer, float(t))
            elif fate < 0.4:  # spoilt
                assert not one.receive(peer, bad_link(told, rng), float(t), 0.0)
                one.missed(peer, float(t))
            elif fate < 0.6:  # an old answer, perhaps to somebody else's question
                asker, about, old = late.pop(rng.randrange(len(late)))
                asker.receive(about, old, float(t), 0.0)
            else:  # repeated
                assert one.receive(peer, told, float(t), 0.0)
                assert not one.receive(peer, told, float(t), 0.0)
            save(one)
    refused = sum((one.refused for one in bad.values()), start=type(one.refused)())
    assert refused["unasked"] > 100
    assert refused["checksum"] > 100
    assert set(refused) <= {"unasked", "checksum", "garbage", "version", "kind"}
    for honest, disturbed, truth in zip(
        good.values(), bad.values(), PROBLEM.true_means, strict=True
    ):
        assert disturbed.agent.count == honest.agent.count == 400
        assert disturbed.agent.local_mean == honest.agent.local_mean
        assert disturbed.agent.optimistic_class == honest.agent.optimistic_class
        assert disturbed.agent.estimate == pytest.approx(truth, abs=0.1)
        assert disturbed.agent.estimate == pytest.approx(honest.agent.estimate, abs=0.02)


def test_questions_that_are_spoilt_repeated_or_late_change_nothing() -> None:
    rng = random.Random(0)
    a, b = core("a"), core("b")
    fold(b, 0.5, 0.7)
    before = b.checkpoint()
    for n in range(1, 101):
        with pytest.raises(Refused):
            b.read_query(bad_link(a.query_to("b"), rng))
        assert sum(b.refused.values()) == n
    early, late = a.query_to("b"), a.query_to("b")
    answers = [b.answer(b.read_query(question)) for question in (late, early, late)]
    assert None not in answers
    heard = [a.receive("b", answer, 0.0, 0.0) for answer in answers if answer is not None]
    assert heard == [True, False, False]  # the others are old or were answered before
    assert a.refused == {"unasked": 2}
    assert b.checkpoint() == before


# Clocks


def test_clocks_that_are_set_change_nothing_but_times_of_hearing() -> None:
    year = 365 * 24 * 3600.0
    samples = PROBLEM.draw(60, seed=3)[0].tolist()
    names = [str(a) for a in range(6)]
    steady, jumping = fleet_of(names), fleet_of(names)
    for t, row in enumerate(samples):
        for fleet, at in ((steady, float(t)), (jumping, (t % 3 - 1) * year)):
            for one, sample in zip(fleet.values(), row, strict=True):
                fold(one, sample)
            for one in fleet.values():
                peer = names[(int(one.agent.name) + 1 + t % 5) % 6]
                told = fleet[peer].answer(fleet[peer].read_query(one.query_to(peer)))
                assert told is not None
                assert one.receive(peer, told, float(t), at)
                save(one)
    for before, after in zip(steady.values(), jumping.values(), strict=True):
        assert after.agent.snapshot() == before.agent.snapshot()
        assert not after.refused
        times = {after.membership.status(peer).heard for peer in after.membership.present}
        assert times <= {-year, 0.0, year}


def test_a_device_that_slept_for_a_day_goes_on() -> None:
    day = 24 * 3600.0
    a, b = core("a"), core("b")
    fold(a, 0.4)
    fold(b, 0.6)
    a.appear("b")
    assert exchange(a, b, now=0.0)
    a.missed("b", now=1.0)
    assert a.next_query(now=1.0) is None
    fold(b, *[0.5, 0.6] * 1000)  # more than it may take in a second, not in a day
    assert a.next_query(now=day) is not None
    assert exchange(a, b, now=day)
    assert not a.refused


# Liars and strangers


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"count": 19}, "count fell"),
        ({"count": 1000}, "too fast"),
        ({"mean": 0.9}, "contradiction"),
        ({"sender": "c"}, "impostor"),
    ],
)
def test_replies_that_cannot_be_true_are_refused_and_change_nothing(
    changes: dict[str, object], reason: str
) -> None:
    a, b = core("a"), core("b")
    fold(a, 0.4)
    fold(b, *[0.4, 0.6] * 10)
    assert exchange(a, b, now=0.0)
    save(a)
    before = a.checkpoint()
    told = b.answer(b.read_query(a.query_to("b")))
    assert told is not None
    assert not a.receive("b", lie(told, **changes), now=1.0, at=1.0)
    assert a.refused == {reason: 1}
    assert a.checkpoint() == before
    assert a.unsaved == []


def test_a_fleet_that_trusts_believes_all_that() -> None:
    agent = Agent("a", sigma=0.5, delta=0.01)
    a, b = NodeCore(agent, "home", 1, Membership(1.0)), core("b")
    fold(b, *[0.4, 0.6] * 10)
    assert exchange(a, b, now=0.0)
    told = b.answer(b.read_query(a.query_to("b")))
    assert told is not None
    assert a.receive("b", lie(told, count=10**6, mean=9.0), now=0.0, at=0.0)


def test_questions_for_others_and_things_that_are_no_question_are_refused() -> None:
    a, b, c = core("a"), core("b"), core("c")
    with pytest.raises(Refused, match="a query for 'b' came here"):
        c.read_query(a.query_to("b"))
    told = b.answer(b.read_query(a.query_to("b")))
    assert told is not None
    with pytest.raises(Refused, match="a query was expected"):
        c.read_query(told)
    assert not a.receive("b", a.query_to("b"), now=0.0, at=0.0)
    assert c.refused == {"misdirected": 1, "not a question": 1}
    assert a.refused == {"not an answer": 1}


@given(st.binary(max_size=300))
def test_whatever_bytes_come_nothing_changes(payload: bytes) -> None:
    a = core("a")
    fold(a, 0.4)
    before = a.checkpoint()
    a.query_to("b")
    assert not a.receive("b", payload, now=0.0, at=0.0)
    with pytest.raises(Refused):
        a.read_query(payload)
    assert a.checkpoint() == before
    assert sum(a.refused.values()) == 2


def test_one_agent_more_than_the_risk_was_split_over_is_refused_and_counted() -> None:
    a = core("a", max_agents=2)
    a.appear("b", "c")
    assert a.agent.peers == ("a", "b")
    assert a.refused == {"no room": 1}


def test_a_row_that_is_full_takes_strangers_in_the_place_of_the_excluded() -> None:
    a = core("a", room=3)
    names = [f"p{i}" for i in range(5)]
    peers = {name: core(name, i) for i, name in enumerate(names)}
    for i, peer in enumerate(peers.values()):
        fold(peer, *np.full(400, 5.0 if i < 3 else 0.0).tolist())
    fold(a, *[0.0] * 400)
    a.appear(*names)
    for t in range(40):
        a.add_peer()
        chosen = a.next_query(float(t))
        if chosen is not None:
            exchange(a, peers[chosen[0]], float(t))
    assert set(a.agent.peers) == {"a", "p3", "p4"}


def test_an_agent_can_be_made_to_lie_for_trying_out_liars() -> None:
    agent = Agent("b", sigma=0.5, delta=0.01)

    def reply_filter(reply: Reply) -> Reply:
        return replace(reply, mean=reply.mean + 1.0)

    a, b = core("a"), NodeCore(agent, "home", 1, Membership(1.0), reply_filter=reply_filter)
    fold(b, 0.5)
    assert exchange(a, b, now=0.0)
    assert [one.mean for one in a.agent.snapshot().replies if one.sender == "b"] == [1.5]


def test_a_report_says_what_is_known() -> None:
    a, b = core("a"), core("b")
    empty = node_report(a, at=5.0)
    assert (empty["mean"], empty["estimate"], empty["interval"]) == (None, None, None)
    fold(a, 0.4)
    fold(b, 0.6)
    a.appear("b")
    assert exchange(a, b, now=0.0)
    report = node_report(a, at=6.0)
    assert (report["agent"], report["time"], report["count"]) == ("a", 6.0, 1)
    assert (report["known"], report["present"], report["class_size"]) == (1, 1, 2)
    assert report["messages"] == {"asked": 1, "heard": 1}


def test_samples_that_are_all_bad_have_been_seen_all_the_same() -> None:
    a = core("a")
    assert a.fold([float("nan")], "1") == 0
    assert a.position == "1"
    again = core("a")
    again.resume(None, a.unsaved)
    assert (again.position, again.agent.count) == ("1", 0)


def test_agents_of_one_process_fit_at_steps_of_their_own_unless_in_step() -> None:
    free, stepping = fleet_of("ab"), fleet_of("ab", in_step=True)
    assert len({one.agent._estimator.refit_jitter for one in free.values()}) == 2
    assert {one.agent._estimator.refit_jitter for one in stepping.values()} == {0.0}
    again = core("a")
    again.resume(free["a"].checkpoint(), [])
    assert again.agent._estimator.refit_jitter == free["a"].agent._estimator.refit_jitter
