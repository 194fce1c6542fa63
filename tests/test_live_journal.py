"""Events come back from their bytes as they were, also from those that colme 0.1 wrote."""

import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from node_cores import core

from colme import Reply
from colme.live.journal import PeerAdded, RelayAccepted, ReplyAccepted, SamplesFolded, pack, unpack

numbers = st.floats(allow_nan=False, allow_infinity=False)
replies = st.builds(Reply, st.text(min_size=1), st.floats(-1e150, 1e150), st.integers(0, 2**53))
lives = st.integers(0, 2**63 - 1)
events = st.one_of(
    st.builds(PeerAdded, st.text(min_size=1)),
    st.builds(SamplesFolded, st.lists(numbers).map(tuple), st.text()),
    st.builds(
        ReplyAccepted,
        replies,
        lives,
        numbers,
        st.lists(st.builds(RelayAccepted, replies, lives), max_size=3).map(tuple),
    ),
)


@given(events)
def test_an_event_comes_back_as_it_was(event: Any) -> None:
    assert repr(unpack(pack(event))) == repr(event)  # tells -0.0 from 0.0


def test_all_that_a_reply_says_is_kept() -> None:
    reply = Reply("b", -0.0, 3, 0.5, (0.25, math.inf, 1.5), 2, math.inf)
    alone = ReplyAccepted(reply, 7, 5.0)
    event = ReplyAccepted(reply, 7, 5.0, (RelayAccepted(reply, 8),))
    assert [unpack(pack(one)) for one in (alone, event)] == [alone, event]
    assert b"relayed" not in pack(alone)  # as it was before there were relays


OLD: dict[bytes, Any] = {
    b'{"met": "b"}': PeerAdded("b"),
    b'{"folded": [0.1, -0.0, 1e-300], "position": "17"}': SamplesFolded((0.1, -0.0, 1e-300), "17"),
    b'{"heard": "434d0102853d0d62030000000000000007000000000000000900000000000000030000000000000002'
    b"013fb999999999999a3fe00000000000003fd00000000000007ff00000000000003ff800000000000062"
    b'", "at": 5.5}': ReplyAccepted(Reply("b", 0.1, 3, 0.5, (0.25, math.inf, 1.5), 2), 9, 5.5),
    b'{"heard": "434d0102f165f26e000000000000000007000000000000000900000000000000040000000000000000'
    b'038000000000000000626f62", "at": 5.5}': ReplyAccepted(Reply("bob", -0.0, 4), 9, 5.5),
    b'{"heard": "434d01021ae202af010000000000000007000000000000000900000000000000040000000000000000'
    b'013ff0000000000000400000000000000062", "at": 5.5}': ReplyAccepted(
        Reply("b", 1.0, 4, 2.0), 9, 5.5
    ),
}


@pytest.mark.parametrize(("payload", "event"), OLD.items(), ids=[str(i) for i in range(len(OLD))])
def test_events_of_colme_0_1_are_read(payload: bytes, event: Any) -> None:
    assert repr(unpack(payload)) == repr(event)


def test_a_journal_of_colme_0_1_leads_to_the_same_agent() -> None:
    old, new = core("a"), core("a")
    before, after = list(OLD)[:4], list(OLD.values())[:4]
    old.resume(None, before)
    new.resume(None, [pack(event) for event in after])
    assert old.checkpoint() == new.checkpoint()
    assert old.agent.peers == ("a", "b", "bob")
    assert (old.n_samples, old.position, old.agent.count) == (3, "17", 3)


@pytest.mark.parametrize(
    "payload",
    [b"", b"{}", b'{"heard": "00", "at": 1}', b'{"heard": "434d", "at": 1}', b"\x80", b"\xc0",
     msgspec.msgpack.encode({"type": "dream"}), b'{"folded": ["x"], "position": "1"}'],
)  # fmt: skip
def test_bytes_that_are_no_event_are_refused(payload: bytes) -> None:
    with pytest.raises(ValueError, match="not an event of a device's journal"):
        unpack(payload)
