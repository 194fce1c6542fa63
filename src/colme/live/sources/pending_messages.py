"""Messages of an MQTT broker that it does not yet know to be durable.

Lives here: telling repeated messages from new ones, and which to acknowledge.  Must not know
sockets, nor the MQTT library.
"""

from __future__ import annotations

from dataclasses import dataclass

from colme.live.sources.sample_source import JsonPosition, Sample
from colme.live.sources.sample_text import parse_numbered


@dataclass(frozen=True)
class TopicPosition(JsonPosition):
    """After a certain message of a topic: samples so far, and the last sequence number.

    Examples
    --------
    >>> TopicPosition(samples=1, sequence=7).to_text()
    '{"samples": 1, "sequence": 7}'
    """

    place = "a topic"
    optional = ("sequence",)

    samples: int
    sequence: int | None


@dataclass
class _Message:
    number: int
    """Of its sample; if it has none, of the last sample before it, which it may repeat."""
    identifier: int
    payload: bytes
    is_announced: bool = True
    """Whether the broker has sent it over the present connection."""


class PendingMessages:
    """Messages of one session, from their arrival until they are acknowledged to the broker.

    Until then a broker cannot give a message's identifier to another one: a message that comes
    again after a lost connection is the same one if identifier and payload are.  After a crash
    only sequence numbers show that.

    Parameters
    ----------
    resume
        The position up to which everything is durable; None: nothing is.

    Examples
    --------
    >>> pending = PendingMessages()
    >>> pending.take(1, b'{"value": 0.5, "sequence": 7}')
    Sample(value=0.5, position='{"samples": 1, "sequence": 7}')
    >>> pending.take_durable()
    []
    >>> pending.acknowledge('{"samples": 1, "sequence": 7}')
    >>> pending.take_durable()
    [1]
    >>> pending = PendingMessages('{"samples": 1, "sequence": 7}')  # after a crash
    >>> pending.take(1, b'{"value": 0.5, "sequence": 7}', is_marked=True)
    >>> pending.take_durable()
    [1]
    """

    def __init__(self, resume: str | None = None) -> None:
        self._last = TopicPosition(0, None) if resume is None else TopicPosition.of(resume)
        self._n_durable = self._last.samples
        self._messages: list[_Message] = []

    def take(
        self, identifier: int, payload: bytes, *, is_marked: bool = False, is_retained: bool = False
    ) -> Sample | None:
        """Return the sample of a message, or None if it is a repeated one.

        Identifier 0 needs no acknowledgement.  A retained message comes again at every
        subscription: only a sequence shows whether it is a new one.

        Raises
        ------
        ValueError
            The message is not a sample; or it seems to be a repeated one and is not marked as such.
        """
        message = self.add(identifier, payload)
        if message is None:
            return None
        value, sequence = parse_numbered(payload)
        if self._is_old(sequence, is_marked, is_retained):
            return None
        last = self._last.sequence if sequence is None else sequence
        self._last = TopicPosition(self._last.samples + 1, last)
        message.number = self._last.samples
        return Sample(value, self._last.to_text())

    def add(self, identifier: int, payload: bytes) -> _Message | None:
        """Add a message without reading it; return None if it came before."""
        message = _Message(self._last.samples, identifier, payload)
        for one in self._messages:
            is_same = (one.identifier, one.payload) == (identifier, payload)
            if is_same and not one.is_announced:
                one.is_announced = True
                return None
        if identifier:
            self._messages.append(message)
        return message

    def acknowledge(self, position: str) -> None:
        """Note that everything up to `position` is durable."""
        self._n_durable = max(self._n_durable, TopicPosition.of(position).samples)

    def take_durable(self) -> list[int]:
        """Remove the durable messages; return their identifiers in the order of arrival."""
        announced = [message for message in self._messages if message.is_announced]
        durable = [message for message in announced if message.number <= self._n_durable]
        waiting = [message for message in announced if message.number > self._n_durable]
        self._messages = [one for one in self._messages if not one.is_announced] + waiting
        return [message.identifier for message in durable]

    def disconnect(self) -> None:
        """Note that the connection is lost: the broker repeats what is not acknowledged."""
        for message in self._messages:
            message.is_announced = False

    def forget(self) -> None:
        """Note that the broker has forgotten the session: nothing needs an acknowledgement."""
        self._messages.clear()

    def _is_old(self, sequence: int | None, is_marked: bool, is_retained: bool) -> bool:
        last = self._last.sequence
        if sequence is None:
            return is_retained
        if last is None or sequence > last:
            return False
        if not (is_marked or is_retained):
            raise ValueError(
                f"sequence {sequence} is not above {last}, the last one: treated as a repeated "
                "message; never start a sequence again"
            )
        return True
