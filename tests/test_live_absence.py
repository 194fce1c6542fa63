"""New sessions for those who lost each other: when, and that they bring everything back."""

import asyncio
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from colme.live.absence import Absence
from colme.live.aside import aside
from colme.live.host import Host, Resident
from colme.live.network import Link
from colme.live.pace import Pace
from colme.live.settings import AgentSettings
from colme.live.sources import Iterating
from colme.live.wiring import Wiring


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def absent(*peers: str, since: float = 0.0) -> Absence:
    absence = Absence()
    for peer in peers:
        absence.note(peer, True, since)
        absence.note(peer, False, since)
    return absence


def first_due(absence: Absence, begin: float) -> float:
    return next(now for now in range(int(begin), 100_000) if absence.is_due(float(now)))


def test_nobody_waits_for_those_who_were_never_here_or_are_back() -> None:
    absence = Absence()
    absence.note("b", False, 0.0)
    assert not absence.is_due(1e9)
    absence = absent("b", "c")
    absence.note("b", True, 5.0)
    assert absence.is_due(1e9)
    absence.note("c", True, 6.0)
    assert not absence.is_due(1e9)
    assert absence.here == {"b", "c"}


def test_each_new_session_waits_longer_up_to_an_hour_or_two() -> None:
    absence, now, waits = absent("b"), 0.0, []
    for _ in range(12):
        waits.append(first_due(absence, now) - now)
        now += waits[-1]
        absence.renewed(now)
    for n, wait in enumerate(waits):
        patience = min(20.0 * 2**n, 3600.0)
        assert patience <= wait <= 2 * patience + 1


def test_who_has_everybody_back_is_as_impatient_as_before() -> None:
    absence = absent("b")
    for now in (100.0, 300.0, 700.0):
        absence.renewed(now)
    absence.note("b", True, 800.0)
    absence.note("b", False, 900.0)
    assert 920.0 <= first_due(absence, 900.0) <= 941.0


def test_not_all_come_back_at_the_same_time() -> None:
    assert len({first_due(absent("b"), 0.0) for _ in range(40)}) > 5


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.02)


def test_a_new_session_has_all_that_was_declared() -> None:
    async def run() -> list[bytes]:
        address = f"127.0.0.1:{free_port()}"
        seed = Link(Wiring("peer", (address,)), "home")
        other = Link(Wiring("peer", ("127.0.0.1:0",), (address,)), "home")
        news: list[str] = []
        seed.watch(lambda peer: news.append(f"+{peer}"), lambda peer: news.append(f"-{peer}"))
        other.serve("b", lambda question: question.answer(b"me"))
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
        link = Link(Wiring("peer", (address,)), "home")
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
            await aside(fail)
        return await aside(lambda: 7)

    assert asyncio.run(run()) == 7


def test_work_aside_that_nobody_waits_for_any_more_is_undone() -> None:
    begun, go, undone = threading.Event(), threading.Event(), threading.Event()

    def act() -> threading.Event:
        begun.set()
        go.wait(20)
        return undone

    async def run() -> None:
        result = aside(act, threading.Event.set)
        await asyncio.to_thread(begun.wait, 20)
        result.cancel()
        go.set()
        assert await asyncio.to_thread(undone.wait, 20)

    asyncio.run(run())


PROGRAM = """
import asyncio, threading
from colme.live.aside import aside

async def main():
    try:
        await asyncio.wait_for(aside(lambda: threading.Event().wait(60)), 0.1)
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
    monkeypatch.setattr("colme.live.absence._SOON", 0.2)
    caplog.set_level("INFO", "colme.live")

    async def silence(_: int) -> AsyncIterator[float]:
        await asyncio.Event().wait()
        yield 0.0

    async def run() -> None:
        address = f"127.0.0.1:{free_port()}"
        settings = AgentSettings(sigma=0.5)
        running: list[tuple[Host, asyncio.Task[None]]] = []

        def start(name: str, wiring: Wiring) -> None:
            host = Host("home", settings, tmp_path / name, wiring, Pace(0.02), sync=False)
            life = host.run([Resident(name, Iterating(silence))])
            running.append((host, asyncio.create_task(life)))

        def present(host: Host) -> set[str]:
            return {
                peer for node in host.nodes.values() for peer in node.station.membership.present
            }

        start("a", Wiring("peer", (address,)))
        start("b", Wiring("peer", ("127.0.0.1:0",), (address,)))
        seed, other = (host for host, _ in running)
        await until(lambda: present(seed) == {"b"})
        other.stop()
        await running.pop()[1]
        await until(lambda: "a new session is opened" in caplog.text)
        start("b", Wiring("peer", ("127.0.0.1:0",), (address,)))
        await until(lambda: [present(host) for host, _ in running] == [{"b"}, {"a"}])
        for host, life in running:
            host.stop()
            await life

    asyncio.run(asyncio.wait_for(run(), 60.0))
