"""Sessions that follow none of our rules, and the keys of a fleet that they try to enter."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import zenoh

from colme.live.connection_config import ConnectionConfig
from colme.live.keys import Authority, Identity
from colme.live.node import Node
from colme.live.wire import WireReply, encode
from colme.messages import Reply


class Keys:
    """Identities of one fleet, and of two strangers that call themselves the same."""

    def __init__(self, folder: Path) -> None:
        home = Authority.create(folder / "home", "home")
        home.issue_all(["router", "hall", "attic", "mallory", "watcher"])
        Authority.create(folder / "false", "home").issue_all(["hall"])
        Authority.create(folder / "farm", "farm").issue_all(["mallory"])
        self.folder = folder

    def of(self, name: str, authority: str = "home") -> Identity:
        """Load somebody's keys."""
        return Identity.load(self.folder_of(name, authority))

    def folder_of(self, name: str, authority: str = "home") -> Path:
        """Return the folder of somebody's keys."""
        return self.folder / authority / name


class Attacker:
    """A session without any of our rules."""

    def __init__(self, session: zenoh.Session) -> None:
        self.session = session
        self._declared: list[object] = []  # what is not kept is taken back

    def pretend(self, name: str, answer: Callable[[zenoh.Query], None] | None = None) -> None:
        """Be here under a name, and answer questions to it."""
        key = f"colme/home/{name}"
        if answer is not None:
            self._declared.append(
                self.session.declare_queryable(f"{key}/ask", answer, complete=True)
            )
        self._declared.append(self.session.liveliness().declare_token(f"{key}/here"))


@contextmanager
def attacker(connection: ConnectionConfig | dict[str, Any]) -> Iterator[Attacker]:
    """Open a session that is not ours to judge."""
    config = connection.config("home") if isinstance(connection, ConnectionConfig) else connection
    with zenoh.open(zenoh.Config.from_json5(json.dumps(config))) as session:
        yield Attacker(session)


def told(count: int, sender: str = "hall", nonce: int = 0, mean: float = 9.0) -> bytes:
    """Return what somebody could say."""
    return encode(WireReply(nonce, 1, Reply(sender, mean, count, shape=(0.5, 0.5, 0.5))))


def reply_of(node: Node, name: str) -> Reply:
    (reply,) = (one for one in node.core.agent.snapshot().replies if one.sender == name)
    return reply
