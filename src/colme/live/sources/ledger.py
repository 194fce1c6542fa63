"""What is owed to an MQTT broker: which messages are delivered, durable, and to be acknowledged.

Lives here: telling repeated messages from new ones.  Must not know sockets, nor the MQTT library.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Self

from colme import _check
from colme.live.sources.parsing import parse_numbered
from colme.live.sources.source import Sample

__all__ = ["Ledger"]


@dataclass
class _Entry:
    number: int
    """Of its sample; of the last sample before it if it is none, as it may repeat that one."""
    identifier: int
    payload: bytes
    is_announced: bool = True
    """Whether the broker has sent it over the present connection."""


class Ledger:
    """Messages of one session, from their arrival until the broker has heard they are durable.

    Until then a broker cannot give a message's identifier to another one: a message that comes
    again after a lost connection is the same one if identifier and payload are.  After a crash
    only sequence numbers tell.

    Parameters
    ----------
    n_durable
        Samples before the first one of this ledger.
    sequence
        The last sequence number among them.

    Examples
    --------
    >>> ledger = Ledger()
    >>> ledger.take(1, b'{"value": 0.5, "sequence": 7}')
    Sample(value=0.5, position='{"samples": 1, "sequence": 7}')
    >>> ledger.payable()
    []
    >>> ledger.acknowledge('{"samples": 1, "sequence": 7}')
    >>> ledger.payable()
    [1]
    >>> ledger = Ledger.of('{"samples": 1, "sequence": 7}')  # after a crash
    >>> ledger.take(1, b'{"value": 0.5, "sequence": 7}', is_marked=True)
    >>> ledger.payable()
    [1]
    """

    def __init__(self, n_durable: int = 0, sequence: int | None = None) -> None:
        self._n_samples = self._n_durable = n_durable
        self._sequence = sequence
        self._entries: list[_Entry] = []

    @classmethod
    def of(cls, position: str | None) -> Self:
        """Go on after a position, or begin; raise ValueError if it is none."""
        return cls() if position is None else cls(*_read(position))

    def take(
        self,
        identifier: int,
        payload: bytes,
        *,
        is_marked: bool = False,
        is_retained: bool = False,
    ) -> Sample | None:
        """Give the sample of a message, or None if it came before; identifier 0 owes nothing.

        A retained message comes again at every subscription: only a sequence tells whether it is
        a new one.

        Raises
        ------
        ValueError
            The message is no sample; or it is taken for a repeated one and not marked as such.
        """
        entry = self._entered(identifier, payload)
        if entry is None:
            return None
        value, sequence = parse_numbered(payload)
        if self._is_old(sequence, is_marked, is_retained):
            return None
        self._sequence = self._sequence if sequence is None else sequence
        self._n_samples += 1
        entry.number = self._n_samples
        record = {"samples": self._n_samples, "sequence": self._sequence}
        return Sample(value, json.dumps(record))

    def skip(self, identifier: int, payload: bytes) -> None:
        """Take a message that is not to be looked at."""
        self._entered(identifier, payload)

    def acknowledge(self, position: str) -> None:
        """Hear that everything up to `position` is durable."""
        self._n_durable = max(self._n_durable, _read(position)[0])

    def payable(self) -> list[int]:
        """Give the identifiers to acknowledge now, in the order of arrival, and forget them."""
        announced = [entry for entry in self._entries if entry.is_announced]
        paid = [entry for entry in announced if entry.number <= self._n_durable]
        unpaid = [entry for entry in announced if entry.number > self._n_durable]
        self._entries = [entry for entry in self._entries if not entry.is_announced] + unpaid
        return [entry.identifier for entry in paid]

    def disconnect(self) -> None:
        """Hear that the connection is lost: the broker will send again what is not acknowledged."""
        for entry in self._entries:
            entry.is_announced = False

    def forget(self) -> None:
        """Hear that the broker has forgotten the session: nothing is owed."""
        self._entries.clear()

    def _entered(self, identifier: int, payload: bytes) -> _Entry | None:
        for entry in self._entries:
            if not entry.is_announced and (entry.identifier, entry.payload) == (
                identifier,
                payload,
            ):
                entry.is_announced = True
                return None
        entry = _Entry(self._n_samples, identifier, payload)
        if identifier:
            self._entries.append(entry)
        return entry

    def _is_old(self, sequence: int | None, is_marked: bool, is_retained: bool) -> bool:
        if sequence is None:
            return is_retained
        if self._sequence is None or sequence > self._sequence:
            return False
        if not (is_marked or is_retained):
            raise ValueError(
                f"sequence {sequence} is not above {self._sequence}, the last one: taken for a "
                "repeated message; never start a sequence again"
            )
        return True


def _read(position: str) -> tuple[int, int | None]:
    try:
        record = json.loads(position)
        n_samples, sequence = record["samples"], record["sequence"]
        _check.non_negative_int("samples", n_samples)
        _check.non_negative_int("sequence", 0 if sequence is None else sequence)
    except (TypeError, KeyError, ValueError):
        raise ValueError(
            f"no position in a topic: received {position!r}; resume with the source that gave it"
        ) from None
    return n_samples, sequence
