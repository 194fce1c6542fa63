"""New sessions for those who lost each other: when, and that they bring everything back."""

import asyncio
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from colme.live.background import in_background
from colme.live.connection_config import ConnectionConfig
from colme.live.host import Host, HostedAgent
from colme.live.network import Link
from colme.live.schedule import Schedule
from colme.live.session_renewal import SessionRenewal
from colme.live.settings import AgentSettings
from colme.live.sources import IteratorSource


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def absent(*peers: str, since: float = 0.0) -> SessionRenewal:
    renewal = SessionRenewal()
    for peer in peers:
        renewal.note(peer, True, since)
        renewal.note(peer, False, since)
    return renewal


def first_due(renewal: SessionRenewal, begin: float) -> float:
    return next(now for now in range(int(begin), 100_000) if renewal.is_due(float(now)))


def test_nobody_waits_for_those_who_were_never_here_or_are_back() -> None:
    renewal = SessionRenewal()
    renewal.note("b", False, 0.0)
    assert not renewal.is_due(1e9)
    renewal = absent("b", "c")
    renewal.note("b", True, 5.0)
    assert renewal.is_due(1e9)
    renewal.note("c", True, 6.0)
    assert not renewal.is_due(1e9)
    assert renewal.present == {"b", "c"}


def test_each_new_session_waits_longer_up_to_an_hour_or_two() -> None:
    renewal, now, waits = absent("b"), 0.0, []
    for _ in range(12):
        waits.append(first_due(renewal, now) - now)
        now += waits[-1]
        renewal.renewed(now)
    for n, wait in enumerate(waits):
        patience = min(20.0 * 2**n, 3600.0)
        assert patience <= wait <= 2 * patience + 1


def test_who_has_everybody_back_is_as_impatient_as_before() -> None:
    renewal = absent("b")
    for now in (100.0, 300.0, 700.0):
        renewal.renewed(now)
    renewal.note("b", True, 800.0)
    renewal.note("b", False, 900.0)
    assert 920.0 <= first_due(renewal, 900.0) <= 941.0


def test_not_all_come_back_at_the_same_time() -> None:
    assert len({first_due(absent("b"), 0.0) for _ in range(40)}) > 5


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.02)


def test_a_new_session_has_all_that_was_declared() -> None:
    async def run() -> list[bytes]:
        address = f"127.0.0.1:{free_port()}"
        seed = Link(ConnectionConfig("peer", (address,)), "home")
        other = Link(ConnectionConfig("peer", ("127.0.0.1:0",), (address,)), "home")
        news: list[str] = []
        seed.watch(lambda peer: news.append(f"+{peer}"), lambda peer: news.append(f"-{peer}"))
        other.serve("b", lambda question: question.reply(b"me"))
        other.announce("b")
        await seed.open()
        await other.open()
        await until(lambda: news == ["+b"])
        await other.renew()
        await until(lambda: news == ["+b", "-b", "+b"])
        heard: list[bytes] = []

        def take(said: bytes) -> bool:
            heard.append(said)
            return True

        while not heard:
            await seed.ask("b", b"who?", take, 1.0)
        await other.close()
        await seed.close()
        return heard

    assert asyncio.run(asyncio.wait_for(run(), 30.0)) == [b"me"]


def test_a_new_session_is_tried_until_its_address_is_free() -> None:
    async def run() -> None:
        taken = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
        address = "127.0.0.1:{1}".format(*taken.sockets[0].getsockname())
        link = Link(ConnectionConfig("peer", (address,)), "home")
        renewing = asyncio.create_task(link.renew())
        await asyncio.sleep(0.3)
        assert not renewing.done()
        taken.close()
        await taken.wait_closed()
        await renewing
        await link.close()

    asyncio.run(asyncio.wait_for(run(), 20.0))


# Work that nobody waits for in the end


def test_work_aside_gives_its_result_or_raises_its_error() -> None:
    def fail() -> None:
        raise OSError("in the middle")

    async def run() -> int:
        with pytest.raises(OSError, match="in the middle"):
            await in_background(fail)
        return await in_background(lambda: 7)

    assert asyncio.run(run()) == 7


def test_work_aside_that_nobody_waits_for_any_more_is_undone() -> None:
    begun, go, undone = threading.Event(), threading.Event(), threading.Event()

    def act() -> threading.Event:
        begun.set()
        go.wait(20)
        return undone

    async def run() -> None:
        result = in_background(act, threading.Event.set)
        await asyncio.to_thread(begun.wait, 20)
        result.cancel()
        go.set()
        assert await asyncio.to_thread(undone.wait, 20)

    asyncio.run(run())


PROGRAM = """
import asyncio, threading
from colme.live.background import in_background

async def main():
    try:
        await asyncio.wait_for(in_background(lambda: threading.Event().wait(60)), 0.1)
    except TimeoutError:
        print("enough")

asyncio.run(main())
"""


def test_a_program_ends_before_its_work_aside() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=30, check=True
    )
    assert (done.stdout, done.stderr) == ("enough\n", "")


def test_a_node_that_misses_somebody_opens_a_new_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("colme.live.session_renewal._FIRST_WAIT", 0.2)
    caplog.set_level("INFO", "colme.live")

    async def silence(_: int) -> AsyncIterator[float]:
        await asyncio.Event().wait()
        yield 0.0

    async def run() -> None:
        address = f"127.0.0.1:{free_port()}"
        running: list[tuple[Host, asyncio.Task[None]]] = []

        def start(name: str, connection: ConnectionConfig) -> None:
            host = Host("home", tmp_path / name, connection, Schedule(0.02), sync=False)
            life = host.run(
                [HostedAgent(AgentSettings(sigma=0.5).agent(name), IteratorSource(silence))]
            )
            running.append((host, asyncio.create_task(life)))

        def present(host: Host) -> set[str]:
            return {peer for node in host.nodes.values() for peer in node.core.membership.present}

        start("a", ConnectionConfig("peer", (address,)))
        start("b", ConnectionConfig("peer", ("127.0.0.1:0",), (address,)))
        seed, other = (host for host, _ in running)
        await until(lambda: present(seed) == {"b"})
        other.stop()
        await running.pop()[1]
        await until(lambda: "opening a new session" in caplog.text)
        start("b", ConnectionConfig("peer", ("127.0.0.1:0",), (address,)))
        await until(lambda: [present(host) for host, _ in running] == [{"b"}, {"a"}])
        for host, life in running:
            host.stop()
            await life

    asyncio.run(asyncio.wait_for(run(), 60.0))
