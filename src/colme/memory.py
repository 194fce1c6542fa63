"""A row with names: whom an agent knows, what each said last, and who is thought to be alike.

Lives here: entries that are added, written and given to others.  Must not know streams, models or
what follows from a row.
"""

from __future__ import annotations

from collections.abc import Iterable

from colme import rules
from colme.messages import Reply
from colme.summary import View

__all__ = ["Memory"]


class Memory:
    """The memory of one agent; entry `own` is about itself.

    Parameters
    ----------
    owner
        The agent's name.
    names
        Whom it knows from the start, itself among them.
    most
        The most agents that its risk was split over.
    choice
        Its algorithm.
    classmates
        The true class, if the algorithm knows it.

    Examples
    --------
    >>> memory = Memory("a", ["b", "a"], 2, rules.Choice(1, 2, 0, eta=0.0, log_risk=1.0))
    >>> memory.own, memory.index["b"], sorted(memory.named(memory.row.member))
    (1, 0, ['a', 'b'])
    """

    def __init__(
        self,
        owner: str,
        names: Iterable[str],
        most: int,
        choice: rules.Choice,
        classmates: frozenset[str] | None = None,
    ) -> None:
        self.names: list[str] = []
        self.index: dict[str, int] = {}
        self.replies: list[Reply] = []
        self.row = rules.Row.blank(0)
        self.classmates = classmates
        self._owner, self._most, self._choice = owner, most, choice
        for name in dict.fromkeys(names):
            self.add(name)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def own(self) -> int:
        """Where the agent itself stands."""
        return self.index[self._owner]

    def add(self, peer: str) -> None:
        """Make the row one entry longer, for a peer never heard of."""
        _check_name(peer)
        if len(self.names) == self._most:
            raise ValueError(
                f"{self._owner!r} split its risk over {self._most} agents and knows as many; "
                f"received one more, {peer!r}: declare a larger max_agents"
            )
        for values, value in zip(self.row, (*View(), True, True), strict=True):
            values.append(value)  # type: ignore[union-attr, arg-type]
        self.names.append(peer)
        self.replies.append(Reply(peer, 0.0, 0))
        self.index[peer] = len(self.names) - 1
        self._clear(len(self.names) - 1)

    def give(self, l: int, peer: str) -> None:
        """Give an entry to another peer, never heard of."""
        _check_name(peer)
        del self.index[self.names[l]]
        self.names[l], self.replies[l] = peer, Reply(peer, 0.0, 0)
        self.index[peer] = l
        rules.remember(self.row, l, View())
        self._clear(l)

    def write(self, reply: Reply, seen: View) -> None:
        """Keep a reply, and in the row how the agent reads it."""
        l = self.index[reply.sender]
        self.replies[l] = reply
        if reply.sender != self._owner:
            rules.renew(self._choice, l, seen, self.row)
        rules.remember(self.row, l, seen)

    def named(self, flags: rules.Flags) -> frozenset[str]:
        """Return the names of the entries that a flag is set for."""
        return frozenset(name for name, flag in zip(self.names, flags, strict=True) if flag)

    def _clear(self, l: int) -> None:
        """Decide about an entry never heard of: a member, and shown to be one if need be."""
        peer = self.names[l]
        self.row.member[l] = self.classmates is None or peer in self.classmates
        self.row.shown[l] = peer == self._owner or rules.is_shown(
            self._choice, View(), View(), shown=False
        )


def _check_name(peer: object) -> None:
    if not isinstance(peer, str) or not peer:
        raise ValueError(f"a peer is named by a non-empty string; received {peer!r}")
