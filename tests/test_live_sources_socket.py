"""Sockets: the line protocol from both sides, and what each may do to the other."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from colme.live.sources import Listening, Sample, socket_feed
from colme.live.sources.addresses import Address

LOCAL = "tcp:127.0.0.1:0"


class Node:
    """Reads a source, keeps values and position together, acknowledges in batches."""

    def __init__(self, address: str, values: list[float] | None = None, resume: str | None = None):
        self.values = [] if values is None else values
        self.notes: list[str] = []
        self.position = resume
        self.source = Listening(address, on_bad=self.notes.append)
        self.is_stalled = False

    async def __aenter__(self) -> "Node":
        self.address = await self.source.bind()
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._settle())]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.source.close()

    async def _read(self) -> None:
        async for sample in self.source.samples(self.position):
            self.values.append(sample.value)
            self.position = sample.position

    async def _settle(self) -> None:
        while True:
            await asyncio.sleep(0.002)
            if self.position is not None and not self.is_stalled:
                await self.source.acknowledge(self.position)


class Device:
    """A device that does only what it is told to."""

    def __init__(self, address: str) -> None:
        self._address = Address.of(address)

    async def __aenter__(self) -> "Device":
        self._reader, self.writer = await self._address.connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()
        with suppress(OSError):
            await self.writer.wait_closed()

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def hear(self) -> dict[str, Any] | None:
        """Return the node's next answer, None once it has hung up."""
        with suppress(OSError):
            line = await asyncio.wait_for(self._reader.readline(), 5)
            if line:
                return dict(json.loads(line))
        return None

    async def hear_until(self, answer: dict[str, Any]) -> None:
        while (heard := await self.hear()) != answer:
            assert heard is not None


async def eventually(predicate: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not predicate():
            await asyncio.sleep(0.001)


@pytest.mark.parametrize("kind", ["tcp", "tcp6", "unix"])
def test_the_protocol_as_it_is_written_down(kind: str, tmp_path: Path) -> None:
    address = {"tcp": LOCAL, "tcp6": "tcp:[::1]:0", "unix": f"unix:{tmp_path}/socket"}[kind]

    async def run() -> None:
        async with Node(address, resume="3") as node, Device(node.address) as device:
            assert await device.hear() == {"acknowledged": 3}
            device.send(b"0.5\n\nwarm\n")
            device.send(b"9" * 10_000 + b'\n{"value": 0.7}\n')
            answers = []
            while (answer := await device.hear()) != {"acknowledged": 8}:
                answers.append(answer)
            refused = [answer for answer in answers if answer and "refused" in answer]
            assert [answer["refused"] for answer in refused] == [6, 7]
            assert "received 'warm'" in refused[0]["reason"]
            assert node.values == [0.5, 0.7]
            assert [note.partition(" at ")[0] for note in node.notes] == ["line 6", "line 7"]
        assert not kind.startswith("unix") or not (tmp_path / "socket").exists()

    asyncio.run(run())


def test_a_refused_line_is_acknowledged_with_the_sample_after_it() -> None:
    async def run() -> None:
        async with Node(LOCAL) as node:
            async with Device(node.address) as device:
                device.send(b"1\nbad\n")
                await device.hear_until({"acknowledged": 1})
            async with Device(node.address) as device:
                assert await device.hear() == {"acknowledged": 1}
                device.send(b"bad\n3\n")
                await device.hear_until({"acknowledged": 3})
            assert node.values == [1.0, 3.0]

    asyncio.run(run())


def test_a_new_connection_replaces_the_old_one_and_nothing_comes_twice() -> None:
    async def run() -> None:
        async with Node(LOCAL) as node, Device(node.address) as old:
            node.is_stalled = True
            await old.hear_until({"acknowledged": 0})
            old.send(b"1\n2\n3")
            await eventually(lambda: node.values == [1.0, 2.0])
            async with Device(node.address) as new:
                assert await old.hear() is None  # hung up, with its third line unfinished
                greeting = asyncio.create_task(new.hear())
                await asyncio.sleep(0.02)
                assert not greeting.done()  # as long as two lines are on their way
                node.is_stalled = False
                assert await greeting == {"acknowledged": 2}
                new.send(b"3\n")
                await new.hear_until({"acknowledged": 3})
            assert node.values == [1.0, 2.0, 3.0]

    asyncio.run(run())


def test_lines_of_a_replaced_device_that_were_not_delivered_are_dropped() -> None:
    async def run() -> None:
        source = Listening(LOCAL)
        address = await source.bind()
        samples = source.samples(None)
        async with Device(address) as old:
            old.send(b"1\n2\n3\n")
            assert await anext(samples) == Sample(1.0, "1")
            async with Device(address) as new:
                assert await old.hear() == {"acknowledged": 0}
                assert await old.hear() is None
                await source.acknowledge("1")
                assert await new.hear() == {"acknowledged": 1}
                new.send(b"20\n")
                assert await anext(samples) == Sample(20.0, "2")
        await source.close()

    asyncio.run(run())


def test_a_device_that_only_sends_and_hangs_up_is_heard_and_answered() -> None:
    async def run() -> None:
        async with Node(LOCAL) as node, Device(node.address) as device:
            device.send(b"1\n2\n3")
            device.writer.write_eof()
            await device.hear_until({"acknowledged": 2})
            assert await device.hear() is None
            assert node.values == [1.0, 2.0]
            assert node.notes == [f"line 3 at {node.address} has no end: received b'3'"]

    asyncio.run(run())


def test_a_device_that_never_reads_holds_no_one_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("colme.live.sources.connection.PATIENCE", 0.02)

    async def run() -> None:
        async with Node(f"unix:{tmp_path}/socket") as node:
            async with Device(node.address) as device:
                for _ in range(10):
                    device.send(b"bad\n" * 1000)
                    await device.writer.drain()
                device.send(b"5\n")
                await device.writer.drain()
                await eventually(lambda: node.values == [5.0])
                assert node.source._connection is not None
                transport = node.source._connection._writer.transport
                assert 0 < transport.get_write_buffer_size() < 100_000
                async with Device(node.address) as other:
                    assert await other.hear() == {"acknowledged": 10_001}
                    other.send(b"6\n")
                    await other.hear_until({"acknowledged": 10_002})
            assert len(node.notes) == 10_000

    asyncio.run(run())


def test_a_device_is_held_back_when_the_node_is_busy() -> None:
    async def run() -> int:
        source = Listening(LOCAL)
        address = await source.bind()
        samples = source.samples(None)
        async with Device(address) as device:
            device.send(b"1\n")
            await anext(samples)
            n_sent = 0
            with suppress(TimeoutError):
                async with asyncio.timeout(0.3):
                    while n_sent < 100_000_000:
                        device.send(b"1\n" * 50_000)
                        await device.writer.drain()
                        n_sent += 100_000
            await source.close()
        return n_sent

    assert asyncio.run(run()) < 50_000_000  # what the system itself keeps of a connection


@pytest.mark.parametrize("how", ["close", "cancel"])
def test_waiting_for_a_device_can_be_ended(how: str) -> None:
    async def run() -> None:
        source = Listening(LOCAL)
        address = await source.bind()
        samples = source.samples(None)
        async with Device(address) as device:
            waiting = asyncio.ensure_future(anext(samples))
            assert await device.hear() == {"acknowledged": 0}
            await source.close() if how == "close" else waiting.cancel()
            (end,) = await asyncio.wait_for(asyncio.gather(waiting, return_exceptions=True), 1)
            assert type(end) is (StopAsyncIteration if how == "close" else asyncio.CancelledError)
            assert await device.hear() is None
        with pytest.raises(OSError, match=r"."):
            await Address.of(address).connect()

    asyncio.run(run())


def test_a_dead_socket_file_is_replaced_and_a_living_one_refused(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))

    async def run() -> None:
        async with Node(f"unix:{path}") as node:
            with pytest.raises(OSError, match=f"cannot listen at unix:{path}: someone else"):
                await Listening(node.address).bind()
            assert await socket_feed(node.address, [1.0]) == 1
            assert node.values == [1.0]

    asyncio.run(run())


def test_a_file_that_is_no_socket_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_text("mine")
    with pytest.raises(OSError, match="a file of that name is no socket: choose another address"):
        asyncio.run(Listening(f"unix:{path}").bind())
    assert path.read_text() == "mine"


def test_a_port_in_use_is_refused_with_a_remedy() -> None:
    async def run() -> None:
        async with Node(LOCAL) as node:
            with pytest.raises(OSError, match=f"cannot listen at {node.address}: .*choose another"):
                await Listening(node.address).bind()

    asyncio.run(run())


@pytest.mark.parametrize("is_log", [True, False])
def test_a_feed_outlives_restarts_of_the_node(is_log: bool, tmp_path: Path) -> None:
    numbers, address = [float(n) for n in range(2000)], f"unix:{tmp_path}/socket"

    async def once() -> AsyncIterator[float]:
        for number in numbers:
            yield number

    async def run() -> list[float]:
        values: list[float] = []
        position = None
        feed = asyncio.create_task(
            socket_feed(address, numbers if is_log else once(), longest_delay=0.05, most_kept=50)
        )
        while not feed.done():
            # What was not acknowledged may be durable or not: here it always is.
            async with Node(address, values, position) as node:
                await asyncio.wait({feed}, timeout=0.02)
            position = node.position
        assert await feed == 2000
        return values

    assert asyncio.run(run()) == numbers


def test_a_log_that_grows_goes_on_where_it_was() -> None:
    async def run() -> None:
        async with Node(LOCAL) as node:
            log = [1.0, 2.0]
            assert await socket_feed(node.address, log) == 2
            assert await socket_feed(node.address, log) == 2
            log.append(3.0)
            assert await socket_feed(node.address, log) == 3
            assert node.values == [1.0, 2.0, 3.0]
            with pytest.raises(ValueError, match="the node has 3 lines of this source, the log 1"):
                await socket_feed(node.address, [1.0])

    asyncio.run(run())


def test_a_feed_without_a_log_goes_on_with_the_nodes_numbers() -> None:
    async def run() -> None:
        async with Node(LOCAL) as node:
            for values in ([1.0, 2.0], [3.0]):
                await socket_feed(node.address, iter(values))
            assert node.values == [1.0, 2.0, 3.0]
            assert node.position == "3"

    asyncio.run(run())


def test_a_feed_without_a_log_keeps_no_more_than_it_may() -> None:
    taken: list[float] = []

    async def endless() -> AsyncIterator[float]:
        while True:
            taken.append(len(taken))
            yield taken[-1]

    async def run() -> None:
        async with Node(LOCAL) as node:
            node.is_stalled = True
            feed = asyncio.create_task(socket_feed(node.address, endless(), most_kept=7))
            await eventually(lambda: len(node.values) == 7)
            await asyncio.sleep(0.01)
            assert len(taken) <= 8
            node.is_stalled = False
            await eventually(lambda: len(node.values) >= 20)
            feed.cancel()
            await asyncio.gather(feed, return_exceptions=True)
            assert node.values == taken[: len(node.values)]

    asyncio.run(run())


def test_a_feed_ends_when_its_last_lines_are_refused() -> None:
    async def run() -> None:
        notes: list[str] = []
        async with Node(LOCAL) as node:
            values = [1.0, float("nan"), 3.0, float("inf")]
            assert await socket_feed(node.address, values, on_bad=notes.append) == 3
            assert node.values == [1.0, 3.0]
        assert [note[:18] for note in notes] == ["line 2 was refused", "line 4 was refused"]

    asyncio.run(run())


def test_a_feed_hears_of_every_line_refused_however_many() -> None:
    async def run() -> None:
        notes: list[str] = []
        async with Node(LOCAL) as node:
            assert await socket_feed(node.address, [float("nan")] * 3000, on_bad=notes.append) == 0
            assert node.values == []
        assert len(notes) == 3000

    asyncio.run(run())


def test_a_feed_without_a_log_sends_only_samples() -> None:
    async def run() -> None:
        notes: list[str] = []
        async with Node(LOCAL) as node:
            values = iter([1.0, float("nan"), 2.0])
            assert await socket_feed(node.address, values, on_bad=notes.append) == 2
            assert node.values == [1.0, 2.0]
        assert len(notes) == 1
        assert "left out: a sample must be a finite number" in notes[0]

    asyncio.run(run())


def test_a_feed_delivers_what_came_before_an_error() -> None:
    async def failing() -> AsyncIterator[float]:
        yield 1.0
        raise ZeroDivisionError

    async def run() -> None:
        async with Node(LOCAL) as node:
            with pytest.raises(ZeroDivisionError):
                await socket_feed(node.address, failing())
            assert node.values == [1.0]

    asyncio.run(run())


async def serve_once(reply: bytes) -> tuple[asyncio.Server, str]:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(reply)
        with suppress(OSError):
            await reader.read()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    return server, f"tcp:127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize(
    "reply", [b"", b'{"acknowledged": 0}\n', b"HTTP/1.1 400 Bad Request\n", b"[]\n", b"9" * 100_000]
)
def test_a_feed_does_not_wait_for_ever_for_answers(reply: bytes) -> None:
    async def run() -> None:
        server, address = await serve_once(reply)
        feed = asyncio.create_task(socket_feed(address, [1.0], timeout=0.05, longest_delay=0.05))
        await asyncio.sleep(0.1)
        server.close()
        async with Node(address) as node:
            assert await asyncio.wait_for(feed, 5) == 1
            assert node.values == [1.0]

    asyncio.run(run())


def test_a_feed_can_be_stopped() -> None:
    async def run() -> None:
        feed = asyncio.create_task(socket_feed("tcp:127.0.0.1:9", [1.0]))
        await asyncio.sleep(0.01)
        feed.cancel()
        await asyncio.gather(feed, return_exceptions=True)
        assert feed.cancelled()

    asyncio.run(run())
