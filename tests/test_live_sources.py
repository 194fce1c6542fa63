"""What every source shares: lines, positions, and the words that name sources."""

import asyncio
import contextlib
import itertools
import json
import math
import sys
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colme.live.sources import (
    Following,
    Iterating,
    Listening,
    Mqtt,
    Sample,
    Source,
    StandardInput,
    parse,
    source_of,
)
from colme.live.sources.addresses import Address
from colme.live.sources.parsing import LONGEST_LINE, Lines, parse_numbered
from colme.live.sources.topics import Topic


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("20.5", 20.5),
        (b" -3 \r\n", -3.0),
        ("+1.5e-3", 0.0015),
        (".5", 0.5),
        ("5.", 5.0),
        ("\ufeff1", 1.0),
        ('{"value": 2}', 2.0),
        ('{"unit": "C", "value": 2e1, "more": [true, null]}', 20.0),
        ("0" * (LONGEST_LINE - 1) + "7", 7.0),
    ],
)
def test_a_line_is_a_number_or_an_object_with_a_value(line: bytes | str, value: float) -> None:
    assert parse(line) == value


@pytest.mark.parametrize(
    "line",
    [
        "",
        "  ",
        "nan",
        "inf",
        "-Infinity",
        "1_000",
        "1,5",
        "0x10",
        "1 2",
        "true",
        '"3"',
        "null",
        "[1]",
        "1e999",
        "1e151",
        "９",
        '{"value": "3"}',
        '{"value": true}',
        '{"value": null}',
        '{"value": NaN}',
        '{"value": 1e999}',
        '{"value": ' + "9" * 400 + "}",
        '{"values": 3}',
        '{"value": 3',
        '{"value": 3, "sequence": -1}',
        '{"value": 3, "sequence": 1.5}',
        '{"value": 3, "sequence": true}',
        '{"value": ' + "[" * 4000,
        "9" * (LONGEST_LINE + 1),
        b"\xff\xfe1",
        b"1\x00",
        "\udcff",
    ],
    ids=lambda line: repr(line)[:30],
)
def test_anything_else_is_refused_with_what_was_received_and_is_allowed(line: bytes | str) -> None:
    with pytest.raises(
        ValueError, match=r"(?s)no sample: received .*; allowed is a finite"
    ) as info:
        parse(line)
    assert len(str(info.value)) < 600


@given(st.binary(), st.booleans())
def test_no_line_does_worse_than_being_refused(data: bytes, is_text: bool) -> None:
    line = data.decode(errors="surrogateescape") if is_text else data
    with contextlib.suppress(ValueError):
        assert math.isfinite(parse(line))


@given(st.floats(-1e150, 1e150))
def test_a_number_keeps_every_bit(value: float) -> None:
    assert parse(repr(value)) == value
    assert parse_numbered(json.dumps({"value": value, "sequence": 2**70})) == (value, 2**70)


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=5))
def test_lines_do_not_depend_on_the_pieces_they_arrive_in(data: bytes, cuts: list[int]) -> None:
    lines, found, ends = Lines(), [], [0, *sorted(cuts), len(data)]
    for start, end in itertools.pairwise(ends):
        found += list(lines.split(data[start : max(start, end)]))
    *complete, rest = data.split(b"\n")
    assert found == [(line, len(line) + 1) for line in complete]
    assert lines.rest() == rest


def test_a_long_line_takes_little_memory_and_counts_in_full() -> None:
    lines = Lines()
    for _ in range(100):
        assert list(lines.split(b"9" * 10_000)) == []
    ((line, length),) = lines.split(b"\n")
    assert (len(line), length) == (LONGEST_LINE + 1, 1_000_001)
    assert list(lines.split(b"1\n")) == [(b"1", 2)]


async def three(n: int) -> AsyncIterator[float]:
    for value in (0.5, 0.7, 0.6)[n:]:
        yield value


async def collect(source: Source, resume: str | None = None) -> list[tuple[float, str]]:
    return [(sample.value, sample.position) async for sample in source.samples(resume)]


def test_an_iterator_made_for_a_number_resumes_after_it() -> None:
    assert asyncio.run(collect(Iterating(three))) == [(0.5, "1"), (0.7, "2"), (0.6, "3")]
    assert asyncio.run(collect(Iterating(three), "2")) == [(0.6, "3")]


def test_a_plain_iterator_says_that_it_cannot_resume() -> None:
    notes: list[str] = []
    source = Iterating(three(0), on_bad=notes.append)
    assert asyncio.run(collect(source, "7")) == [(0.5, "8"), (0.7, "9"), (0.6, "10")]
    assert len(notes) == 1
    assert "cannot be resumed" in notes[0]


def test_values_that_are_no_samples_are_refused_and_counted() -> None:
    async def mixed() -> AsyncIterator[Any]:
        for value in (1, math.nan, "2", True, None, np.float32(0.5), 10**400, 2.0):
            yield value

    notes: list[str] = []
    samples = asyncio.run(collect(Iterating(mixed(), on_bad=notes.append)))
    assert samples == [(1.0, "1"), (0.5, "6"), (2.0, "8")]
    assert len(notes) == 5
    assert "value 3 of the iterator: a sample must be a finite number" in notes[1]


def test_what_an_iterator_raises_comes_after_what_it_gave() -> None:
    async def failing() -> AsyncIterator[float]:
        yield 1.0
        raise OSError("the sensor is gone")

    async def read() -> list[float]:
        samples = Iterating(failing()).samples(None)
        found = [(await anext(samples)).value]
        with pytest.raises(OSError, match="the sensor is gone"):
            await anext(samples)
        return found

    assert asyncio.run(read()) == [1.0]


def test_an_iterator_is_not_read_ahead_and_is_closed_in_the_end() -> None:
    given_out, closed = [], []

    async def endless(n: int) -> AsyncIterator[float]:
        try:
            while True:
                n += 1
                given_out.append(n)
                yield float(n)
        finally:
            closed.append(True)

    async def read() -> None:
        source = Iterating(endless)
        async for sample in source.samples(None):
            await asyncio.sleep(0.001)
            if sample.position == "3":
                await source.close()

    asyncio.run(read())
    assert len(given_out) <= 5
    assert closed == [True]


def test_closing_ends_the_wait_for_an_iterator() -> None:
    async def silent(n: int) -> AsyncIterator[float]:
        await asyncio.Event().wait()
        yield 0.0

    async def read() -> list[tuple[float, str]]:
        source = Iterating(silent)
        reading = asyncio.create_task(collect(source))
        await asyncio.sleep(0.01)
        await source.close()
        return await asyncio.wait_for(reading, 1)

    assert asyncio.run(read()) == []


def test_only_iterators_can_be_iterated() -> None:
    values: Any = [1.0]
    with pytest.raises(ValueError, match=r"values must be an async iterator.*received \[1.0\]"):
        Iterating(values)


@pytest.mark.parametrize("resume", ["", "-1", "1.5", "x", "²"])
def test_a_position_of_another_source_is_refused(resume: str) -> None:
    for source in (Iterating(three), Listening("tcp:127.0.0.1:0")):
        with pytest.raises(ValueError, match="no number of samples: received"):
            asyncio.run(collect(source, resume))
    for other in (Following("nowhere"), Mqtt("mqtt://127.0.0.1/a", client_id="a")):
        with pytest.raises(ValueError, match=r"no position in a (file|topic): received"):
            asyncio.run(collect(other, resume))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("-", StandardInput),
        ("stdin", StandardInput),
        ("file:readings.txt", Following),
        ("tcp:127.0.0.1:9000", Listening),
        ("tcp:[::1]:9000", Listening),
        ("unix:/tmp/a.socket", Listening),
        ("mqtt://broker/a/b", Mqtt),
        ("mqtts://broker/a/b", Mqtt),
    ],
)
def test_a_word_names_a_source(text: str, kind: type) -> None:
    source = source_of(text, client_id="a")
    assert type(source) is kind
    assert isinstance(source, Source)


@pytest.mark.parametrize("text", ["", "file:", "readings.txt", "http://a/b", "udp:127.0.0.1:9"])
def test_other_words_name_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"no source of samples: received .*; allowed are - or"):
        source_of(text)


@pytest.mark.parametrize(
    "text", ["tcp:9000", "tcp::9000", "tcp:a:", "tcp:a:65536", "tcp:::1:90", "unix:", "tcp:[a:1"]
)
def test_an_address_is_complete(text: str) -> None:
    with pytest.raises(ValueError, match=r"no address of a socket: received .*; allowed are tcp:"):
        Address.of(text)


@pytest.mark.parametrize("text", ["tcp:0.0.0.0:1", "tcp:[::]:1", "tcp:10.0.0.1:1", "tcp:device:1"])
def test_other_machines_are_let_in_only_on_request(text: str) -> None:
    with pytest.raises(ValueError, match=f"{text.partition('[')[0]}.*allow_remote=True"):
        source_of(text)
    assert isinstance(source_of(text, allow_remote=True), Listening)
    assert str(Address.of(text)) == text


@pytest.mark.parametrize(
    "url",
    [
        "mqtt://u:secret@host",
        "mqtt://u:secret@host/",
        "mqtt://u:secret@/topic",
        "mqtt://u:secret@host:0x1/topic",
        "mqtt://u:secret@host:99999/topic",
        "mqtt://u:secret@host/a/+",
        "mqtt://u:secret@host/a/#",
        "mqtt://u:secret@host/a?b",
        "mqtt://u:secret@host/%ff",
        "http://u:secret@host/a",
        "mqtt://u:secret@[::1/a",
    ],
)
def test_a_topic_is_complete_and_no_error_shows_a_password(url: str) -> None:
    with pytest.raises(ValueError, match="no MQTT topic: received '") as info:
        Topic.of(url)
    assert "secret" not in str(info.value)
    assert "secret" not in repr(Topic.of("mqtt://u:secret@host/a"))


def test_a_topic_has_its_parts() -> None:
    topic = Topic.of("mqtts://u%40:p%2F%3A@[::1]:99/rooms/%2Fnorth")
    assert topic == Topic("::1", 99, "rooms//north", "u@", "p/:", is_secure=True)
    assert str(topic) == "mqtts://[::1]:99/rooms//north"


def test_mqtt_needs_a_name_for_its_session() -> None:
    with pytest.raises(ValueError, match="an MQTT source needs a client_id; received None"):
        source_of("mqtt://broker/a")


def test_mqtt_needs_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "paho.mqtt.client", None)
    with pytest.raises(ImportError, match=r"pip install 'colme\[mqtt\]'"):
        Mqtt("mqtt://broker/a", client_id="a")


def test_a_sample_cannot_change() -> None:
    with pytest.raises(AttributeError):
        Sample(1.0, "1").value = 2.0  # type: ignore[misc]
