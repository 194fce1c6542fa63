"""The network: sessions that carry questions, answers, presence and snapshots.

Lives here: the only use of the transport library, joined to the event loop.  Must not know what
the bytes mean.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

try:
    import zenoh
    from zenoh.handlers import Callback
except ImportError:
    raise ImportError("the network needs eclipse-zenoh: pip install 'colme[live]'") from None

from colme.live.aside import aside
from colme.live.wire import MOST_BYTES
from colme.live.wiring import Wiring

__all__ = ["Link", "Question", "let_transport_speak"]

_TOO_LONG = b"CM\1\0" + bytes(MOST_BYTES)
_GRACE = 1.0
"""Seconds after which a question that should have ended is taken for ended."""
_PAUSE = 0.5
"""Seconds from one attempt to reach a router to the next."""
_FAREWELL = 0.8
"""Seconds that may pass while the others are told that a session ends."""


def let_transport_speak() -> None:
    """Let the transport library print its warnings; see `colme.live.logs.read_along`.

    Examples
    --------
    >>> let_transport_speak.__name__
    'let_transport_speak'
    """
    zenoh.init_log_from_env_or("warn")


class Question:
    """A question that waits for its answer.

    Examples
    --------
    >>> Question.__name__
    'Question'
    """

    def __init__(self, query: zenoh.Query) -> None:
        self._query = query
        self.payload = b"" if query.payload is None else _bytes_of(query.payload)

    def answer(self, payload: bytes) -> None:
        """Send the answer; if who asked has gone, nothing happens."""
        with suppress(zenoh.ZError):
            self._query.reply(self._query.key_expr, payload)
        self.drop()

    def drop(self) -> None:
        """Let who asked know that there is no answer."""
        self._query.drop()  # type: ignore[no-untyped-call]


class Link:
    """One session, for one agent or for all agents of a process.

    Must be made and used within a running event loop; callbacks run there.  What is declared
    before the link is open comes to life when it opens.

    Examples
    --------
    >>> async def main() -> bytes:
    ...     link = Link(Wiring("peer", listen=("127.0.0.1:0",)), "home")
    ...     link.serve("a", lambda question: question.answer(b"me"))
    ...     await link.open()
    ...     heard = []
    ...     await link.ask("a", b"who?", lambda payload: heard.append(payload) or True, timeout=5.0)
    ...     await link.close()
    ...     return heard[0]
    >>> asyncio.run(main())
    b'me'
    """

    def __init__(self, wiring: Wiring, fleet: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._wiring, self._fleet = wiring, fleet
        self._session: zenoh.Session | None = None
        self._wanted: list[Callable[[zenoh.Session], Any]] = []
        self._declared: list[Any] = []

    async def open(self) -> None:
        """Open the session; a client waits until a router is there, as long as it takes."""
        config = json.dumps(self._wiring.config(self._fleet))
        while True:
            try:
                session = await aside(lambda: _open(config), lambda late: _leave(late, ()))
            except zenoh.ZError as error:
                if self._wiring.mode != "client":
                    raise OSError(_explain(error, self._wiring)) from None
                await asyncio.sleep(_PAUSE)
            else:
                self._session = session
                self._declared = [declare(session) for declare in self._wanted]
                return

    def serve(self, name: str, answer: Callable[[Question], None]) -> None:
        """Answer questions to an agent."""
        self._declare(
            lambda session: session.declare_queryable(
                self._key(name, "ask"), self._hop(lambda query: answer(Question(query)))
            )
        )

    def announce(self, name: str) -> None:
        """Let all know that an agent is here, until the link is closed or lost."""
        self._declare(lambda session: session.liveliness().declare_token(self._key(name, "here")))

    def watch(self, appear: Callable[[str], None], vanish: Callable[[str], None]) -> None:
        """Be told of every agent that is here, comes or goes."""

        def change(sample: zenoh.Sample) -> None:
            (appear if sample.kind == zenoh.SampleKind.PUT else vanish)(_agent_in(sample))

        self._declare(
            lambda session: session.liveliness().declare_subscriber(
                self._key("*", "here"), self._hop(change), history=True
            )
        )

    def ask(
        self, name: str, payload: bytes, take: Callable[[bytes], bool], timeout: float
    ) -> asyncio.Future[bool]:
        """Ask an agent; offer its answers to `take` until it takes one: the result is whether.

        Nobody there, nobody who answers in time, or nothing but answers that are not taken: False.
        """
        done: asyncio.Future[bool] = self._loop.create_future()
        if self._session is None:
            done.set_result(False)
            return done

        def reply(answer: zenoh.Reply) -> None:
            if answer.ok is None or done.done():
                return
            if take(_bytes_of(answer.ok.payload)):
                done.set_result(True)

        def end() -> None:
            if not done.done():
                done.set_result(False)

        self._session.get(
            self._key(name, "ask"),
            self._hop(reply, end),
            payload=payload,
            timeout=timeout,
            # Whoever says it is the agent is heard, so that nobody can answer in its place.
            target=zenoh.QueryTarget.ALL,
            consolidation=zenoh.ConsolidationMode.NONE,
        )
        late = self._loop.call_later(timeout + _GRACE, end)  # in case the transport forgets it
        done.add_done_callback(lambda _: late.cancel())
        return done

    def publish(self, name: str, payload: bytes) -> None:
        """Send a snapshot to whoever watches."""
        if self._session is not None:
            with suppress(zenoh.ZError):
                self._session.put(self._key(name, "snapshot"), payload)

    def follow(self, take: Callable[[str, bytes], None]) -> None:
        """Be given every snapshot that any agent publishes, and who that is."""
        self._declare(
            lambda session: session.declare_subscriber(
                self._key("*", "snapshot"),
                self._hop(lambda sample: take(_agent_in(sample), sample.payload.to_bytes())),
            )
        )

    def links(self, change: Callable[[bool, str | None], None]) -> None:
        """Be told of links that open (True) and close, and the name on the other's certificate."""

        def declare(session: zenoh.Session) -> Any:
            there: set[tuple[str, ...]] = set()

            def note(event: Any) -> None:
                link, opened = event.link, event.kind == zenoh.SampleKind.PUT
                key = str(link.zid), str(link.src), str(link.dst)
                if opened == (key in there):  # one that opens just now may be told twice
                    return
                (there.add if opened else there.discard)(key)
                change(opened, link.auth_identifier)

            return session.info.declare_link_events_listener(self._hop(note), history=True)

        self._declare(declare)

    @property
    def n_links(self) -> int:
        """How many links are open."""
        return 0 if self._session is None else len(self._session.info.links())

    async def close(self) -> None:
        """Take back all that was declared, and close the session; do nothing the second time.

        A network that carries nothing is not waited for: the others will notice.
        """
        with suppress(TimeoutError):
            await asyncio.wait_for(self._take_leave(), _FAREWELL)

    async def renew(self) -> None:
        """Close the session and open another, with all that was declared, whatever it takes."""
        await self._take_leave()
        while True:
            try:
                return await self.open()
            except OSError:
                await asyncio.sleep(_PAUSE)

    async def _take_leave(self) -> None:
        session, self._session = self._session, None
        declared, self._declared = self._declared, []
        if session is not None:
            await aside(lambda: _leave(session, declared))

    def _key(self, name: str, what: str) -> str:
        return f"colme/{self._fleet}/{name}/{what}"

    def _declare(self, declare: Callable[[zenoh.Session], Any]) -> None:
        self._wanted.append(declare)
        if self._session is not None:
            self._declared.append(declare(self._session))

    def _hop(
        self, act: Callable[[Any], None], end: Callable[[], None] | None = None
    ) -> Callback[Any]:
        """Return a callback for the threads of the transport that acts in the event loop."""

        def later(*arguments: Any) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody is interested any more
                self._loop.call_soon_threadsafe(*arguments)

        return Callback(
            lambda item: later(act, item),
            None if end is None else lambda: later(end),
            indirect=False,
        )


def _bytes_of(payload: zenoh.ZBytes) -> bytes:
    """Return the bytes, or what will be refused for its length if they are too many to look at."""
    return payload.to_bytes() if len(payload) <= MOST_BYTES else _TOO_LONG


def _agent_in(sample: zenoh.Sample) -> str:
    """Return whose key it is."""
    return str(sample.key_expr).split("/")[-2]


def _open(config: str) -> zenoh.Session:
    return zenoh.open(zenoh.Config.from_json5(config))


def _leave(session: zenoh.Session, declared: Sequence[Any]) -> None:
    """Take back what was declared, and close the session."""
    for one in reversed(declared):
        with suppress(zenoh.ZError):
            one.undeclare()
    with suppress(zenoh.ZError):  # of a link that is dead already
        session.close()  # type: ignore[no-untyped-call]


def _explain(error: zenoh.ZError, wiring: Wiring) -> str:
    """Return in one line why a session did not open."""
    text = str(error).split(" at /")[0]
    where = ", ".join((*wiring.listen, *wiring.connect)) or "no address"
    return f"cannot open the network ({where}): {text}"
