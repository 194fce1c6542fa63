"""Standard input: pipes, files and terminals, none of which may hold anyone up."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from colme.live.sources import Sample, StdinSource

LINES = b"0.5\n\nwarm\n0.7\r\n" + b"9" * 100_000 + b'\n{"value": 0.6}\n'
SAMPLES = [Sample(0.5, "1"), Sample(0.7, "4"), Sample(0.6, "6")]


async def collect(source: StdinSource) -> list[Sample]:
    return [sample async for sample in source.samples(None)]


@contextmanager
def pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    try:
        yield reader, writer
    finally:
        os.close(reader)
        os.close(writer)


def test_a_file_is_read_to_its_end(tmp_path: Path) -> None:
    path, notes = tmp_path / "readings", list[str]()
    path.write_bytes(LINES)
    with path.open("rb") as file:
        assert asyncio.run(collect(StdinSource(file.fileno(), on_bad=notes.append))) == SAMPLES
    assert [note[:27] for note in notes] == [f"line {n} of standard input: n" for n in (3, 5)]


def test_a_last_line_without_an_end_counts(tmp_path: Path) -> None:
    (tmp_path / "readings").write_bytes(b"1\n2")
    with (tmp_path / "readings").open("rb") as file:
        found = asyncio.run(collect(StdinSource(file.fileno())))
    assert found == [Sample(1.0, "1"), Sample(2.0, "2")]


def test_nothing_is_an_end() -> None:
    with Path(os.devnull).open("rb") as nothing:
        assert asyncio.run(collect(StdinSource(nothing.fileno()))) == []


def test_a_pipe_is_read_as_it_is_written() -> None:
    async def read(reader: int, writer: int) -> list[Sample]:
        samples, found = StdinSource(reader).samples(None), []
        for piece in (b"1\n", b"2\n3", b"4\n"):
            os.write(writer, piece)
            found.append(await asyncio.wait_for(anext(samples), 5))
        return found

    with pipe() as (reader, writer):
        found = asyncio.run(read(reader, writer))
    assert [sample.value for sample in found] == [1.0, 2.0, 34.0]


def test_a_pipe_is_not_read_ahead() -> None:
    async def read(reader: int, writer: int) -> int:
        os.set_blocking(writer, False)
        samples, n_written = StdinSource(reader).samples(None), 0
        await asyncio.to_thread(os.write, writer, b"1\n")
        await anext(samples)
        for _ in range(20):
            try:
                n_written += os.write(writer, b"1\n" * 20_000)
            except BlockingIOError:
                break
            await asyncio.sleep(0.001)
        return n_written

    with pipe() as (reader, writer):
        assert asyncio.run(read(reader, writer)) < 200_000


@pytest.mark.parametrize("how", ["close", "cancel"])
def test_an_open_pipe_holds_no_one_up(how: str) -> None:
    async def read(reader: int) -> list[Sample]:
        source = StdinSource(reader)
        reading = asyncio.create_task(collect(source))
        await asyncio.sleep(0.01)
        if how == "close":
            await source.close()
        else:
            reading.cancel()
        (found,) = await asyncio.wait_for(asyncio.gather(reading, return_exceptions=True), 1)
        return [] if isinstance(found, BaseException) else found

    with pipe() as (reader, writer):
        assert asyncio.run(read(reader)) == []
        os.write(writer, b"1\n")
        assert os.read(reader, 10) == b"1\n"  # nothing was taken after the end


def test_the_event_loop_goes_on_while_nothing_comes() -> None:
    async def read(reader: int, writer: int) -> float:
        reading = asyncio.ensure_future(anext(StdinSource(reader).samples(None)))
        for _ in range(20):
            await asyncio.sleep(0)
        os.write(writer, b"3\n")
        return (await asyncio.wait_for(reading, 5)).value

    with pipe() as (reader, writer):
        assert asyncio.run(read(reader, writer)) == 3.0


@pytest.mark.parametrize("is_hung_up", [False, True])
def test_a_terminal_is_read_line_by_line_to_its_end(is_hung_up: bool) -> None:
    keyboard, terminal = os.openpty()

    async def read() -> list[Sample]:
        reading = asyncio.create_task(collect(StdinSource(terminal)))
        os.write(keyboard, b"1\n2\n")
        await asyncio.sleep(0.01)
        if is_hung_up:
            os.close(keyboard)
        else:
            os.write(keyboard, b"\x04")  # the key for the end
        return await asyncio.wait_for(reading, 5)

    try:
        assert asyncio.run(read()) == [Sample(1.0, "1"), Sample(2.0, "2")]
    finally:
        os.close(terminal)
        if not is_hung_up:
            os.close(keyboard)


def test_it_says_that_it_cannot_be_resumed() -> None:
    async def read() -> None:
        source = StdinSource(os.open(os.devnull, os.O_RDONLY), on_bad=notes.append)
        assert [sample async for sample in source.samples("12")] == []

    notes: list[str] = []
    asyncio.run(read())
    assert len(notes) == 1
    assert "standard input cannot resume" in notes[0]


PROGRAM = """
import asyncio
from colme.live.sources import make_source

async def read():
    source = make_source("-")
    samples = source.samples(None)
    print((await anext(samples)).value, flush=True)
    try:
        await asyncio.wait_for(anext(samples), 0.05)
    except TimeoutError:
        print("nothing more", flush=True)

asyncio.run(read())
"""


def test_a_process_ends_while_its_input_stays_open() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"0.5\n")
    process.stdin.flush()
    assert process.stdout.read() == b"0.5\nnothing more\n"
    start = time.monotonic()
    assert process.wait(5) == 0
    assert time.monotonic() - start < 1
    process.stdin.close()
    process.stdout.close()
