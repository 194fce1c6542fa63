"""Messages that wait for their acknowledgement: which are new, and which are durable."""

import pytest

from colme.live.sources.pending_messages import PendingMessages


def test_messages_are_paid_for_in_the_order_of_arrival() -> None:
    pending = PendingMessages()
    positions = []
    for number in (1, 2, 3):
        sample = pending.take(number, b"%d" % number)
        assert sample is not None
        positions.append(sample.position)
    with pytest.raises(ValueError, match="not a sample: received 'warm'"):
        pending.take(4, b"warm")
    assert pending.take_durable() == []
    pending.acknowledge(positions[1])
    assert pending.take_durable() == [1, 2]
    pending.acknowledge(positions[0])
    assert pending.take_durable() == []
    pending.acknowledge(positions[2])
    assert pending.take_durable() == [3, 4]


def test_nothing_is_paid_for_before_the_sample_it_repeats_is_durable() -> None:
    pending = PendingMessages()
    sample = pending.take(1, b'{"value": 0.5, "sequence": 7}')
    assert sample is not None
    pending.disconnect()
    assert pending.take(2, b'{"value": 0.5, "sequence": 7}', is_marked=True) is None  # another name
    assert pending.take_durable() == []
    pending.acknowledge(sample.position)
    assert pending.take_durable() == [2]


def test_a_broker_that_forgot_the_session_is_owed_nothing() -> None:
    pending = PendingMessages()
    sample = pending.take(1, b"0.5")
    assert sample is not None
    pending.disconnect()
    pending.forget()
    assert pending.take(1, b"0.5") is not None  # a new message that looks the same
    pending.acknowledge(sample.position)
    assert pending.take_durable() == []


def test_a_sequence_that_starts_again_is_told() -> None:
    pending = PendingMessages('{"samples": 3, "sequence": 7}')
    with pytest.raises(ValueError, match="sequence 1 is not above 7, the last one"):
        pending.take(1, b'{"value": 0.5, "sequence": 1}')
    assert pending.take_durable() == [1]
