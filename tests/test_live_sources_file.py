"""A followed file: it grows, is cut, moved and replaced, and each line counts once."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from colme.live.sources import FileSource, Sample
from colme.live.sources.file_source import HEAD

Story = Callable[["Reader"], Awaitable[None]]


class Reader:
    """What a node does with a followed file, one sample at a time."""

    def __init__(self, path: Path, resume: str | None = None) -> None:
        self.path = path
        self.notes: list[str] = []
        self.source = FileSource(path, interval=0.001, on_bad=self.notes.append)
        self.samples: AsyncIterator[Sample] = self.source.samples(resume)
        self.position = ""

    async def take(self, *values: float) -> None:
        for value in values:
            sample = await asyncio.wait_for(anext(self.samples), 5)
            self.position = sample.position
            assert sample.value == value

    async def wait(self) -> None:
        """Let the source look at the file a few times and find nothing."""
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._next()), 0.02)

    def _next(self) -> "asyncio.Task[Sample]":
        task = asyncio.ensure_future(anext(self.samples))
        self.samples = _after(task, self.samples)
        return task


async def _after(
    task: "asyncio.Task[Sample]", samples: AsyncIterator[Sample]
) -> AsyncIterator[Sample]:
    yield await task
    async for sample in samples:
        yield sample


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def tell(path: Path, story: Story, resume: str | None = None) -> Reader:
    async def run() -> Reader:
        reader = Reader(path, resume)
        await story(reader)
        await reader.source.close()
        return reader

    return asyncio.run(run())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "readings"


def test_it_waits_for_the_file_for_lines_and_for_their_ends(path: Path) -> None:
    async def story(reader: Reader) -> None:
        await reader.wait()
        append(path, "1\n2\n3")
        await reader.take(1, 2)
        await reader.wait()
        append(path, "4\n")
        await reader.take(34)

    assert tell(path, story).notes == []


def test_bad_lines_are_told_and_lose_nothing_around_them(path: Path) -> None:
    path.write_bytes(b"1\n\nwarm\n\xff\n" + b"9" * 200_000 + b"\n" + b'{"value": 2}\n')

    async def story(reader: Reader) -> None:
        await reader.take(1, 2)

    reader = tell(path, story)
    assert [note.partition("received")[2][:7] for note in reader.notes] == [
        " 'warm'",
        " b'\\xff'"[:7],
        " b'9999",
    ]
    assert json.loads(reader.position)["offset"] == path.stat().st_size


@pytest.mark.parametrize("n", [1, 3, 1000])
def test_it_resumes_after_any_line(path: Path, n: int) -> None:
    path.write_text("".join(f"{i}\n" for i in range(1, 1002)))

    async def first(reader: Reader) -> None:
        await reader.take(*range(1, n + 1))

    async def rest(reader: Reader) -> None:
        await reader.take(*range(n + 1, 1002))
        append(path, "-1\n")
        await reader.take(-1)

    assert tell(path, rest, tell(path, first).position).notes == []


def test_a_file_that_is_cut_begins_anew(path: Path) -> None:
    path.write_text("1\n2\n3")

    async def story(reader: Reader) -> None:
        await reader.take(1, 2)
        await reader.wait()
        path.write_text("")  # the same file, emptied
        append(path, "4\n")
        await reader.take(4)

    (note,) = tell(path, story).notes
    assert "truncated or rewritten" in note


def test_a_file_cut_and_grown_beyond_its_old_size_between_two_looks_begins_anew(path: Path) -> None:
    path.write_text("1\n2\n")

    async def story(reader: Reader) -> None:
        await reader.take(1, 2)
        path.write_text("7\n8\n9\n")
        await reader.take(7, 8, 9)

    assert len(tell(path, story).notes) == 1


def test_a_rotated_file_is_read_to_its_end_before_the_new_one(path: Path) -> None:
    append(path, "1\n2\n")

    async def story(reader: Reader) -> None:
        await reader.take(1)
        with path.open("a") as old:
            path.rename(path.with_name("readings.1"))
            await reader.take(2)
            await reader.wait()
            path.touch()  # its writer may still add to the old one
            await reader.wait()
            old.write("3\n4\n")
            old.flush()
            await reader.take(3, 4)
            old.write("5\n6")
        append(path, "7\n")
        await reader.take(5, 7)

    (note,) = tell(path, story).notes
    assert "replaced by another file" in note
    assert "ignoring its incomplete last line b'6'" in note


def test_a_file_removed_and_made_again_begins_anew(path: Path) -> None:
    append(path, "1\n2\n")

    async def story(reader: Reader) -> None:
        await reader.take(1, 2)
        path.unlink()
        await reader.wait()
        append(path, "3\n")
        await reader.take(3)

    assert len(tell(path, story).notes) == 1


def test_a_file_moved_while_no_one_looked_is_found_and_finished_first(path: Path) -> None:
    append(path, "1\n2\n3\n")

    async def first(reader: Reader) -> None:
        await reader.take(1)

    position = tell(path, first).position
    path.rename(path.with_name("readings.1"))
    append(path.with_name("readings.0"), "0\n")
    append(path, "4\n")

    async def rest(reader: Reader) -> None:
        await reader.take(2, 3, 4)

    (note,) = tell(path, rest, position).notes
    assert "replaced by another file" in note


@pytest.mark.parametrize("change", ["replaced", "shorter", "rewritten in place", "missing"])
def test_a_file_that_is_not_the_one_left_is_read_from_its_start(path: Path, change: str) -> None:
    append(path, "1\n2\n")

    async def first(reader: Reader) -> None:
        await reader.take(1, 2)

    position = tell(path, first).position
    if change == "replaced":
        append(path.with_name("new"), "1\n2\n3\n")
        path.with_name("new").replace(path)
    elif change == "missing":
        path.unlink()
        append(path, "1\n")
    else:
        path.write_text("1\n" if change == "shorter" else "1\n3\n5\n")

    async def rest(reader: Reader) -> None:
        await reader.take(1)

    (note,) = tell(path, rest, position).notes
    assert "is not the file that was read up to byte 4" in note


def test_a_file_is_known_again_by_its_start_and_not_by_its_number_alone(path: Path) -> None:
    lines = "".join(f"{i}\n" for i in range(HEAD))
    path.write_text(lines)

    async def first(reader: Reader) -> None:
        await reader.take(*range(HEAD))

    position = tell(path, first).position
    path.write_text("7" + lines[1:] + "9\n")  # the same number, longer, one digit changed

    async def rest(reader: Reader) -> None:
        await reader.take(7)

    assert len(tell(path, rest, position).notes) == 1


def test_it_reads_no_further_than_it_is_asked(path: Path) -> None:
    path.write_text("1\n" * 1_000_000)

    async def story(reader: Reader) -> None:
        await reader.take(1)
        path.write_text("")
        append(path, "2\n")
        n_ahead = 0
        async for sample in reader.samples:
            if sample.value == 2:
                break
            n_ahead += 1
        assert n_ahead <= 65536 / 2

    tell(path, story)


@pytest.mark.parametrize("how", ["close", "cancel"])
def test_waiting_for_a_line_can_be_ended(path: Path, how: str) -> None:
    append(path, "1\n")

    async def run() -> None:
        source = FileSource(path, interval=60)
        samples = source.samples(None)
        await anext(samples)
        waiting = asyncio.ensure_future(anext(samples))
        await asyncio.sleep(0.01)
        await source.close() if how == "close" else waiting.cancel()
        (end,) = await asyncio.wait_for(asyncio.gather(waiting, return_exceptions=True), 1)
        assert type(end) is (StopAsyncIteration if how == "close" else asyncio.CancelledError)

    before = os.dup(0)  # the lowest free descriptor: the same again if none was left open
    os.close(before)
    asyncio.run(run())
    after = os.dup(0)
    os.close(after)
    assert after == before


def test_only_regular_files_can_be_followed(path: Path) -> None:
    os.mkfifo(path)

    async def story(reader: Reader) -> None:
        with pytest.raises(ValueError, match="only a regular file can be followed; received"):
            await reader.take(1)

    tell(path, story)


def test_the_interval_is_positive(path: Path) -> None:
    with pytest.raises(ValueError, match="interval must be greater than 0; received 0"):
        FileSource(path, interval=0)
