"""The network: one session that carries queries, replies, presence and snapshots.

Holds the only use of the transport library, joined to the event loop.  Must not know what the bytes
mean.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from operator import methodcaller
from typing import Any

try:
    import zenoh
    from zenoh.handlers import Callback
except ImportError:
    raise ImportError("the network needs eclipse-zenoh: pip install 'colme[live]'") from None

from colme.live.background import in_background
from colme.live.connection_config import ConnectionConfig
from colme.live.wire import MOST_BYTES

_TOO_LONG = b"CM\2\0" + bytes(MOST_BYTES)
_GRACE = 1.0
"""Seconds after the timeout of a query at which it ends even if the transport does not say so."""
_RETRY = 0.5
"""Seconds from one attempt to open a session to the next."""
_CLOSE_LIMIT = 0.8
"""Maximum seconds to wait while a session is closed."""


print_transport_warnings = partial(zenoh.init_log_from_env_or, "warn")
"""Lets the transport library print its warnings; see `colme.live.logs.capture_output`."""


class IncomingQuery:
    """A query that waits for its reply.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> query = SimpleNamespace(payload=None, drop=lambda: print("no reply"))
    >>> IncomingQuery(query).drop()
    no reply
    """

    def __init__(self, query: zenoh.Query) -> None:
        self._query = query
        self.payload = b"" if query.payload is None else _bytes_of(query.payload, MOST_BYTES)

    def reply(self, payload: bytes) -> None:
        """Send the reply; if the sender of the query has gone, nothing happens."""
        with suppress(zenoh.ZError):
            self._query.reply(self._query.key_expr, payload)
        self.drop()

    def drop(self) -> None:
        """Let the sender of the query know that there is no reply."""
        self._query.drop()  # type: ignore[no-untyped-call]


@dataclass(eq=False)
class Link:
    """One session, for one agent or for all agents of a process.

    Create and use it within a running event loop; callbacks run there.  What is declared before the
    link is open takes effect when it opens.

    Examples
    --------
    >>> async def main() -> bytes:
    ...     link = Link(ConnectionConfig("peer", listen=("127.0.0.1:0",)), "home")
    ...     link.serve("a", lambda query: query.reply(b"me"))
    ...     await link.open()
    ...     heard = []
    ...     await link.ask("a", b"who?", lambda payload: heard.append(payload) or True, timeout=5.0)
    ...     await link.close()
    ...     return heard[0]
    >>> asyncio.run(main())
    b'me'
    """

    connection: ConnectionConfig
    fleet: str
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    _session: zenoh.Session | None = None
    _wanted: list[Callable[[zenoh.Session], Any]] = field(default_factory=list)
    _declared: list[Any] = field(default_factory=list)

    async def open(self) -> None:
        """Open the session; a client waits for a router, as long as it takes."""
        config = json.dumps(self.connection.config(self.fleet))
        while self._session is None:
            try:
                opening = partial(zenoh.open, zenoh.Config.from_json5(config))
                self._session = await in_background(opening, partial(_close, declared=()))
            except zenoh.ZError as error:
                if self.connection.mode != "client":
                    where = ", ".join((*self.connection.listen, *self.connection.connect))
                    reason = str(error).split(" at /")[0]
                    raise OSError(
                        f"cannot open the network ({where or 'no address'}): {reason}"
                    ) from None
                await asyncio.sleep(_RETRY)
        for declare in self._wanted:
            self._declared.append(declare(self._session))

    def serve(self, name: str, answer: Callable[[IncomingQuery], None]) -> None:
        """Answer queries to an agent."""
        handler = self._in_loop(lambda query: answer(IncomingQuery(query)))
        key = f"colme/{self.fleet}/{name}/ask"
        self._declare(methodcaller("declare_queryable", key, handler))

    def announce(self, name: str) -> None:
        """Let everybody know that an agent is present, until the link is closed or lost."""
        key = f"colme/{self.fleet}/{name}/here"
        self._declare(lambda session: session.liveliness().declare_token(key))

    def watch(self, appear: Callable[[str], None], vanish: Callable[[str], None]) -> None:
        """Call back for every agent that is present, comes or goes."""

        def change(sample: zenoh.Sample) -> None:
            name = str(sample.key_expr).split("/")[-2]
            (appear if sample.kind == zenoh.SampleKind.PUT else vanish)(name)

        key, handler = f"colme/{self.fleet}/*/here", self._in_loop(change)
        self._declare(
            lambda session: session.liveliness().declare_subscriber(key, handler, history=True)
        )

    def follow(self, take: Callable[[str, bytes], None]) -> None:
        """Call back for every snapshot that an agent publishes, with its name."""

        def arrive(sample: zenoh.Sample) -> None:
            take(str(sample.key_expr).split("/")[-2], sample.payload.to_bytes())

        handler = self._in_loop(arrive)
        self._declare(
            lambda session: session.declare_subscriber(f"colme/{self.fleet}/*/snapshot", handler)
        )

    def links(self, change: Callable[[bool, str | None], None]) -> None:
        """Call back for links that open (True) and close, with the name on the certificate."""

        def declare(session: zenoh.Session) -> Any:
            known: set[tuple[str, ...]] = set()

            def note(event: Any) -> None:
                link, is_open = event.link, event.kind == zenoh.SampleKind.PUT
                key = str(link.zid), str(link.src), str(link.dst)
                if is_open == (key in known):  # a link that opens just now may be reported twice
                    return
                (known.add if is_open else known.discard)(key)
                change(is_open, link.auth_identifier)

            return session.info.declare_link_events_listener(self._in_loop(note), history=True)

        self._declare(declare)

    def ask(
        self,
        name: str,
        payload: bytes,
        take: Callable[[bytes], bool],
        timeout: float,
        most: int = MOST_BYTES,
    ) -> asyncio.Future[bool]:
        """Ask an agent; offer its replies to `take` until one is accepted: the result says whether.

        The result is False if nobody is there, nobody replies in time, or no reply is accepted.  Of
        a reply with more than `most` bytes none is kept.
        """
        done: asyncio.Future[bool] = self._loop.create_future()
        if self._session is None:
            done.set_result(False)
            return done

        def reply(answer: zenoh.Reply) -> None:
            if answer.ok is None or done.done():
                return
            if take(_bytes_of(answer.ok.payload, most)):
                done.set_result(True)

        def end() -> None:
            if not done.done():
                done.set_result(False)

        self._session.get(
            f"colme/{self.fleet}/{name}/ask",
            self._in_loop(reply, end),
            payload=payload,
            timeout=timeout,
            # Hear everybody who claims to be the agent, so that nobody can reply in its place.
            target=zenoh.QueryTarget.ALL,
            consolidation=zenoh.ConsolidationMode.NONE,
        )
        late = self._loop.call_later(timeout + _GRACE, end)  # in case the transport forgets it
        done.add_done_callback(lambda _: late.cancel())
        return done

    def publish(self, name: str, payload: bytes) -> None:
        """Send a snapshot to everybody who follows."""
        if self._session is not None:
            with suppress(zenoh.ZError):
                self._session.put(f"colme/{self.fleet}/{name}/snapshot", payload)

    async def close(self) -> None:
        """Withdraw all declarations and close the session; the second time does nothing.

        A network that carries nothing is not waited for: the others will notice.
        """
        with suppress(TimeoutError):
            await asyncio.wait_for(self._close_session(), _CLOSE_LIMIT)

    async def renew(self) -> None:
        """Close the session and open another with the same declarations, whatever it takes."""
        await self._close_session()
        while True:
            try:
                return await self.open()
            except OSError:
                await asyncio.sleep(_RETRY)

    async def _close_session(self) -> None:
        session, self._session = self._session, None
        declared, self._declared = self._declared, []
        if session is not None:
            await in_background(partial(_close, session, declared))

    def _declare(self, declare: Callable[[zenoh.Session], Any]) -> None:
        self._wanted.append(declare)
        if self._session is not None:
            self._declared.append(declare(self._session))

    def _in_loop(
        self, act: Callable[[Any], None], end: Callable[[], None] | None = None
    ) -> Callback[Any]:
        """Return a callback for the transport's threads that acts in the event loop."""

        def later(*call: Any) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody is interested any more
                self._loop.call_soon_threadsafe(*call)

        return Callback(
            partial(later, act), None if end is None else partial(later, end), indirect=False
        )


def _bytes_of(payload: zenoh.ZBytes, most: int) -> bytes:
    """Return the bytes, or bytes that will be refused for their length if they are too many."""
    return payload.to_bytes() if len(payload) <= most else _TOO_LONG


def _close(session: zenoh.Session, declared: Any) -> None:
    """Withdraw what was declared, and close the session."""
    for one in reversed(declared):
        with suppress(zenoh.ZError):
            one.undeclare()
    with suppress(zenoh.ZError):  # of a link that is dead already
        session.close()  # type: ignore[no-untyped-call]
