"""A listening socket: the line protocol from the node's side, and what a device may do to it."""

import asyncio
import socket
from contextlib import suppress
from pathlib import Path

import pytest
from socket_pairs import LOCAL, Device, Node, eventually

from colme.live.sources import Sample, SocketSource, socket_feed
from colme.live.sources.source_addresses import SocketAddress


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
        source = SocketSource(LOCAL)
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
    monkeypatch.setattr("colme.live.sources.device_connection.PATIENCE", 0.02)

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
        source = SocketSource(LOCAL)
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
        source = SocketSource(LOCAL)
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
            await SocketAddress.of(address).connect()

    asyncio.run(run())


def test_a_dead_socket_file_is_replaced_and_a_living_one_refused(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))

    async def run() -> None:
        async with Node(f"unix:{path}") as node:
            with pytest.raises(OSError, match=f"cannot listen at unix:{path}: another process"):
                await SocketSource(node.address).bind()
            assert await socket_feed(node.address, [1.0]) == 1
            assert node.values == [1.0]

    asyncio.run(run())


def test_a_file_that_is_no_socket_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_text("mine")
    with pytest.raises(
        OSError, match="a file of that name is not a socket: choose another address"
    ):
        asyncio.run(SocketSource(f"unix:{path}").bind())
    assert path.read_text() == "mine"


def test_a_port_in_use_is_refused_with_a_remedy() -> None:
    async def run() -> None:
        async with Node(LOCAL) as node:
            with pytest.raises(OSError, match=f"cannot listen at {node.address}: .*choose another"):
                await SocketSource(node.address).bind()

    asyncio.run(run())
