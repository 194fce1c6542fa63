"""Three node cores: one asks the second, which relays what the third said."""

from __future__ import annotations

from collections.abc import Callable

from node_cores import core, exchange, fold

from colme import Reply
from colme.live.keys import Authority, Identity
from colme.live.node_core import NodeCore

Frames = list[bytes]


def known(one: NodeCore, peer: str) -> Reply:
    """Return what a core knows of a peer."""
    (reply,) = (reply for reply in one.agent.snapshot().replies if reply.sender == peer)
    return reply


class Trio:
    """`a` asks `c`, which has heard `b` and relays what `relay` makes of that."""

    def __init__(self, relays: int = 4, authority: Authority | None = None) -> None:
        seals: dict[str, object] = dict.fromkeys("abc")
        if authority is not None:
            folders = authority.issue_all(list("abc"))
            seals = {folder.name: Identity.load(folder) for folder in folders}
        self.relay: Callable[[Frames], Frames] = list
        self.a = core("a", relays=relays, seal=seals["a"])
        self.b = core("b", seal=seals["b"])
        self.c = core("c", seal=seals["c"], relay_filter=self._relay)
        self.a.appear("b", "c")
        self.c.appear("a", "b")
        fold(self.a, 0.4)
        fold(self.b, 0.4, 0.6, 0.5)
        fold(self.c, 0.7)
        assert exchange(self.c, self.b, now=0.0)

    def _relay(self, frames: Frames) -> Frames:
        return self.relay(frames)

    def ask(self, now: float = 0.0) -> bool:
        """Let `a` ask `c`."""
        return exchange(self.a, self.c, now)
