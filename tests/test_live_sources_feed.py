"""The device's side of a socket: a feed that outlives restarts and bad answers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
from socket_pairs import LOCAL, Node, eventually

from colme.live.sources import socket_feed


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
