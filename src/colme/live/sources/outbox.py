"""What a device still has to send: lines with numbers, kept until they are durable or refused.

Lives here: the numbers of a device's lines.  Must not know sockets, nor where values come from.
"""

from __future__ import annotations

from collections import deque

from colme import _check
from colme.live.sources.changes import Changes


class Outbox:
    r"""Lines to send, and how far the node is with them.

    Attributes
    ----------
    acknowledged
        The number of the last line that is durable.

    Parameters
    ----------
    most
        Values kept, at most.

    Examples
    --------
    >>> import asyncio
    >>> async def conversation():
    ...     outbox = Outbox()
    ...     await outbox.add(0.5)
    ...     await outbox.add(0.7)
    ...     outbox.end()
    ...     outbox.begin(7)
    ...     first = await outbox.next_line()
    ...     outbox.begin(8)  # connected again: the node has that line
    ...     return first, await outbox.next_line(), await outbox.next_line()
    >>> asyncio.run(conversation())
    (b'0.5\n', b'0.7\n', None)
    """

    def __init__(self, most: int = 1000) -> None:
        self.acknowledged = 0
        self._most = _check.positive_int("most", most)
        self._values: deque[float] = deque()
        self._n_sent = self._n_ever_sent = 0
        self._refused: set[int] = set()
        self._is_complete = False
        self._changes = Changes()

    async def add(self, value: float) -> None:
        """Keep a value to send, once there is room."""
        # Refused lines do not count: none is acknowledged before a sample follows it.
        await self._changes.until(lambda: len(self._values) - len(self._refused) < self._most)
        self._values.append(float(value))
        self._changes.notify()

    def end(self) -> None:
        """Note that no value will follow."""
        self._is_complete = True
        self._changes.notify()

    def begin(self, acknowledged: int) -> None:
        """Begin a connection, with the number of the last line that the node says is durable.

        If that is none of the lines kept, the node has lost lines or received others: those kept
        are then the lines after that number.
        """
        n_durable = acknowledged - self.acknowledged
        self._forget(min(n_durable, self._n_ever_sent) if n_durable > 0 else 0)
        self.acknowledged = acknowledged
        self._n_sent = 0
        self._refused.clear()

    def acknowledge(self, number: int) -> None:
        """Forget all lines up to the number, which are durable."""
        n_durable = min(number - self.acknowledged, self._n_sent)
        if n_durable > 0:
            self._forget(n_durable)
            self._n_sent -= n_durable
            self.acknowledged += n_durable
            self._refused = {line for line in self._refused if line > number}

    def refuse(self, number: int) -> None:
        """Note that a line is not a sample."""
        if self.acknowledged < number <= self.acknowledged + self._n_sent:
            self._refused.add(number)
            self._changes.notify()

    async def next_line(self) -> bytes | None:
        """Return the next line to send, once there is one; None if there will be none."""
        await self._changes.until(lambda: self._is_complete or self._n_sent < len(self._values))
        if self._n_sent == len(self._values):
            return None
        self._n_sent += 1
        self._n_ever_sent = max(self._n_ever_sent, self._n_sent)
        return f"{self._values[self._n_sent - 1]!r}\n".encode()

    async def finished(self) -> None:
        """Wait until every line is durable or refused, and none will follow."""
        await self._changes.until(
            lambda: self._is_complete and len(self._values) == len(self._refused)
        )

    @property
    def is_waiting(self) -> bool:
        """Whether the node owes an answer to a line that was sent."""
        return self._n_sent > len(self._refused)

    def _forget(self, number: int) -> None:
        for _ in range(number):
            self._values.popleft()
        self._n_ever_sent -= number
        self._changes.notify()
