"""A row with names: the peers an agent knows, what each said last, and who is in its class.

Lives here: entries that are added, written and replaced.  Must not know streams, models or what
follows from a row.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from colme import rules
from colme.algorithm import ClassTest
from colme.messages import Query, Reply, Snapshot
from colme.summary import UNHEARD, View, set_view, view_at


class Memory:
    """The memory of one agent; entry `own` is about itself.

    Parameters
    ----------
    owner
        The agent's name.
    names
        The agents it knows from the start, itself among them.
    most
        The number of agents that its risk was split over; None: it is spent peer by peer.
    choice
        Its algorithm.
    classmates
        The true class, if the algorithm knows it.
    room
        The most entries; None: any number.

    Attributes
    ----------
    places, n_met
        For each entry, its place in the order in which peers were met, 0 for the agent; and how
        many were met.

    Examples
    --------
    >>> memory = Memory("a", ["b", "a"], 2, rules.Choice(1, 2, 0, eta=0.0, log_risk=1.0))
    >>> memory.own, memory.index["b"], sorted(memory.named(memory.row.member))
    (1, 0, ['a', 'b'])
    >>> memory.replace(0, "c")
    >>> memory.places, memory.n_met
    ([2, 0], 2)
    """

    def __init__(
        self,
        owner: str,
        names: Iterable[str],
        most: int | None,
        choice: rules.Choice,
        classmates: Iterable[str] | None = None,
        room: int | None = None,
    ) -> None:
        known = list(dict.fromkeys(names))
        if room is not None and len(known) > room:
            raise ValueError(
                f"{owner!r} has room for {room} agents, itself included; received "
                f"{len(known)}: name fewer peers or give it more room"
            )
        if (classmates is None) == (choice.class_test == ClassTest.KNOWN):
            raise ValueError(
                "classmates are given exactly when the algorithm's class test is 'known'; received "
                f"classmates={classmates!r} with {ClassTest(choice.class_test).word!r}"
            )
        self.names: list[str] = []
        self.index: dict[str, int] = {}
        self.replies: list[Reply] = []
        self.places: list[int] = []
        self.n_met = 0
        self.row = rules.Row.blank(0)
        self.past = rules.Past.blank()
        self.classmates = None if classmates is None else frozenset(classmates) | {owner}
        self.room = room
        self._owner, self._most, self._choice = owner, most, choice
        for name in known:
            self.add(name)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def own(self) -> int:
        """The agent's own entry."""
        return self.index[self._owner]

    @property
    def is_full(self) -> bool:
        """Whether a newcomer must replace another peer."""
        return self.room is not None and len(self.names) >= self.room

    def add(self, peer: str) -> None:
        """Add an entry for a peer never heard of."""
        _check_name(peer)
        if self._most is not None and len(self.names) >= self._most:
            raise ValueError(
                f"{self._owner!r} split its risk over {self._most} agents and knows as many; "
                f"received one more, {peer!r}: declare a larger max_agents"
            )
        for column, value in zip(self.row.views, UNHEARD, strict=True):
            column.append(value)  # type: ignore[union-attr]
        for flags in (self.row.member, self.row.confirmed):
            flags.append(True)  # type: ignore[union-attr]
        for column in (self.row.evidence, self.row.heard):
            column.append(0.0)  # type: ignore[union-attr]
        self.names.append(peer)
        self.replies.append(Reply(peer, 0.0, 0))
        self.places.append(self._next_place(peer))
        self.index[peer] = len(self.names) - 1
        self._clear(len(self.names) - 1)

    def replace(self, l: int, peer: str) -> None:
        """Give entry l to another peer, never heard of."""
        _check_name(peer)
        del self.index[self.names[l]]
        self.names[l], self.replies[l] = peer, Reply(peer, 0.0, 0)
        self.places[l] = self._next_place(peer)
        self.index[peer] = l
        set_view(self.row.views, l, UNHEARD)
        self._clear(l)

    def write(self, reply: Reply, seen: View[float]) -> None:
        """Keep a reply, and in the row the view that the agent makes of it."""
        l = self.index[reply.sender]
        self.replies[l] = reply
        if reply.sender != self._owner:
            rules.reset_peer(self._choice, l, seen, self.row)
        set_view(self.row.views, l, seen)

    def write_own(self, reply: Reply, seen: View[float]) -> None:
        """Keep what the agent knows of its own stream, and exclude whom that rules out."""
        self.write(reply, seen)
        rules.keep_past(seen, self.past)
        rules.test_remembered(self._choice, self.own, len(self), self.row)
        if self._choice.class_test == ClassTest.JOINT:
            self._test_jointly(rules.suspects(self._choice, self.own, self.row))

    def write_news(self, reply: Reply, seen: View[float], price: float, now: int) -> None:
        """Keep what a peer said, after `now` queries, and exclude for good whom that rules out.

        `price` is how much more evidence this peer needs than others.  The class tests that are not
        final decide anew at every step.
        """
        l, choice, row = self.index[reply.sender], self._choice, self.row
        mine = view_at(row.views, self.own)
        if choice.class_test == ClassTest.PAIRED and seen.epoch == row.views.epoch[l]:
            rules.add_evidence(choice, mine, l, self.past, row)
        self.write(reply, seen)
        row.heard[l] = now
        if choice.class_test == ClassTest.JOINT:
            self._test_jointly([l])
        if choice.class_test == ClassTest.PAIRED:
            unpriced = seen._replace(offset=seen.offset - price)
            found = rules.news_evidence(choice, mine, self.past, unpriced) - price
            row.evidence[l] = max(row.evidence[l], found)
            rules.exclude(choice, len(self), row)
            rules.confirm_all(choice, self.own, len(self), row)

    def is_current(self, reply: Reply) -> bool:
        """Return whether a reply of a peer in the row is no older than what is known of it."""
        known = self.replies[self.index[reply.sender]]
        if reply.epoch < known.epoch:
            raise ValueError(
                f"{reply.sender!r} is in epoch {known.epoch}, and its reply says {reply.epoch}: "
                "drop it, or let a device that has lost its memory go on from a later epoch"
            )
        return reply.epoch > known.epoch or reply.count >= known.count

    def is_news(self, reply: Reply) -> bool:
        """Return whether a reply is about a peer in the row, and later than what is known of it."""
        l = self.index.get(reply.sender, self.own)
        known = self.replies[l]
        return l != self.own and (reply.epoch, reply.count) > (known.epoch, known.count)

    def wanted(self) -> frozenset[str]:
        """Return the names of the peers that the agent still wants to hear of."""
        return self.named(self.row.member) - {self._owner}

    def relayed(self, query: Query) -> tuple[Reply, ...]:
        """Return what others said last, of those that the query asks for."""
        if not query.relays:
            return ()
        others = {query.sender, self._owner}
        wanted = [
            name not in others and (query.wanted is None or name in query.wanted)
            for name in self.names
        ]
        picked, start = [0] * query.relays, self.index.get(query.sender, 0)
        counts = self.row.views.n_samples
        n = rules.pick_relays(query.relays, len(self), start, wanted, counts, picked)
        return tuple(self.replies[l] for l in picked[:n])

    def _test_jointly(self, suspects: Iterable[int]) -> None:
        """Exclude those whom the joint test rules out now."""
        row = self.row
        mine = view_at(row.views, self.own)
        for l in suspects:
            row.member[l] = rules.belongs(self._choice, mine, view_at(row.views, l), row.member[l])
        rules.confirm_all(self._choice, self.own, len(self), row)

    def named(self, flags: rules.Flags) -> frozenset[str]:
        """Return the names of the entries that a flag is set for."""
        return frozenset(self.listed(flags))

    def listed(self, flags: rules.Flags) -> tuple[str, ...]:
        """Return the names of the entries that a flag is set for, in the order of the row."""
        return tuple(name for name, flag in zip(self.names, flags, strict=True) if flag)

    def state(self) -> dict[str, Any]:
        """Return what a `Snapshot` keeps of the memory, by the names of its fields."""
        test = ClassTest(self._choice.class_test)
        sticky, paired = test.is_final, test == ClassTest.PAIRED
        careful = sticky and self._choice.within < math.inf
        spent = self._most is None
        return {
            "replies": tuple(self.replies),
            "classmates": None if self.classmates is None else tuple(sorted(self.classmates)),
            "excluded": self.listed([sticky and not member for member in self.row.member]),
            "shown": self.listed([careful and shown for shown in self.row.confirmed]),
            "room": self.room,
            "places": tuple(self.places) if spent else (),
            "n_met": self.n_met if spent else 0,
            "evidence": tuple(self.row.evidence) if paired else (),
            "heard": tuple(self.row.heard),
            "past": tuple(
                (float(n), mean) for n, mean in zip(*self.past, strict=True) if paired and n > 0
            ),
        }

    def restore_decisions(self, snapshot: Snapshot) -> None:
        """Restore the decisions that are final, and what the paired test goes on from."""
        for peer in snapshot.excluded:
            self.row.member[self.index[peer]] = False
        for peer in snapshot.shown:
            self.row.confirmed[self.index[peer]] = True
        self.row.evidence[: len(snapshot.evidence)] = snapshot.evidence
        self.row.heard[: len(snapshot.heard)] = snapshot.heard
        for count, mean in snapshot.past:
            rules.keep_past(View(mean=mean, n_samples=count), self.past)

    def _next_place(self, peer: str) -> int:
        """Count one more peer met, and return how many; the agent itself has place 0."""
        self.n_met += peer != self._owner
        return self.n_met if peer != self._owner else 0

    def _clear(self, l: int) -> None:
        """Set the flags of an entry never heard of."""
        peer = self.names[l]
        self.row.member[l] = self.classmates is None or peer in self.classmates
        self.row.evidence[l] = self.row.heard[l] = 0.0
        self.row.confirmed[l] = peer == self._owner or rules.is_confirmed(
            self._choice, UNHEARD, UNHEARD, confirmed=False
        )


def _check_name(peer: object) -> None:
    if not isinstance(peer, str) or not peer:
        raise ValueError(f"a peer is named by a non-empty string; received {peer!r}")
