"""What every source shares: lines, positions, and the words that name sources."""

import asyncio
import contextlib
import itertools
import json
import math
import sys
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colme.live.sources import (
    FileSource,
    IteratorSource,
    MqttSource,
    Sample,
    SampleSource,
    SocketSource,
    StdinSource,
    make_source,
    parse,
)
from colme.live.sources.sample_text import LONGEST_LINE, LineSplitter, parse_numbered
from colme.live.sources.source_addresses import MqttTopic, SocketAddress


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
        ValueError, match=r"(?s)not a sample: received .*; allowed is a finite"
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
    lines, found, ends = LineSplitter(), [], [0, *sorted(cuts), len(data)]
    for start, end in itertools.pairwise(ends):
        found += list(lines.split(data[start : max(start, end)]))
    *complete, rest = data.split(b"\n")
    assert found == [(line, len(line) + 1) for line in complete]
    assert lines.rest() == rest


def test_a_long_line_takes_little_memory_and_counts_in_full() -> None:
    lines = LineSplitter()
    for _ in range(100):
        assert list(lines.split(b"9" * 10_000)) == []
    ((line, length),) = lines.split(b"\n")
    assert (len(line), length) == (LONGEST_LINE + 1, 1_000_001)
    assert list(lines.split(b"1\n")) == [(b"1", 2)]


async def three(n: int) -> AsyncIterator[float]:
    for value in (0.5, 0.7, 0.6)[n:]:
        yield value


async def collect(source: SampleSource, resume: str | None = None) -> list[tuple[float, str]]:
    return [(sample.value, sample.position) async for sample in source.samples(resume)]


@pytest.mark.parametrize("resume", ["", "-1", "1.5", "x", "²"])
def test_a_position_of_another_source_is_refused(resume: str) -> None:
    for source in (IteratorSource(three), SocketSource("tcp:127.0.0.1:0")):
        with pytest.raises(ValueError, match="not a number of samples: received"):
            asyncio.run(collect(source, resume))
    for other in (FileSource("nowhere"), MqttSource("mqtt://127.0.0.1/a", client_id="a")):
        with pytest.raises(ValueError, match=r"not a position in a (file|topic): received"):
            asyncio.run(collect(other, resume))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("-", StdinSource),
        ("stdin", StdinSource),
        ("file:readings.txt", FileSource),
        ("tcp:127.0.0.1:9000", SocketSource),
        ("tcp:[::1]:9000", SocketSource),
        ("unix:/tmp/a.socket", SocketSource),
        ("mqtt://broker/a/b", MqttSource),
        ("mqtts://broker/a/b", MqttSource),
    ],
)
def test_a_word_names_a_source(text: str, kind: type) -> None:
    source = make_source(text, client_id="a")
    assert type(source) is kind
    assert isinstance(source, SampleSource)


@pytest.mark.parametrize("text", ["", "file:", "readings.txt", "http://a/b", "udp:127.0.0.1:9"])
def test_other_words_name_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a source of samples: received .*; allowed are - or"):
        make_source(text)


@pytest.mark.parametrize(
    "text", ["tcp:9000", "tcp::9000", "tcp:a:", "tcp:a:65536", "tcp:::1:90", "unix:", "tcp:[a:1"]
)
def test_an_address_is_complete(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a socket address: received .*; allowed are tcp:"):
        SocketAddress.of(text)


@pytest.mark.parametrize("text", ["tcp:0.0.0.0:1", "tcp:[::]:1", "tcp:10.0.0.1:1", "tcp:device:1"])
def test_other_machines_are_let_in_only_on_request(text: str) -> None:
    with pytest.raises(ValueError, match=f"{text.partition('[')[0]}.*allow_remote=True"):
        make_source(text)
    assert isinstance(make_source(text, allow_remote=True), SocketSource)
    assert str(SocketAddress.of(text)) == text


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
    with pytest.raises(ValueError, match="not an MQTT topic: received '") as info:
        MqttTopic.of(url)
    assert "secret" not in str(info.value)
    assert "secret" not in repr(MqttTopic.of("mqtt://u:secret@host/a"))


def test_a_topic_has_its_parts() -> None:
    topic = MqttTopic.of("mqtts://u%40:p%2F%3A@[::1]:99/rooms/%2Fnorth")
    assert topic == MqttTopic("::1", 99, "rooms//north", "u@", "p/:", is_secure=True)
    assert str(topic) == "mqtts://[::1]:99/rooms//north"


def test_mqtt_needs_a_name_for_its_session() -> None:
    with pytest.raises(ValueError, match="an MQTT source needs a client_id; received None"):
        make_source("mqtt://broker/a")


def test_mqtt_needs_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "paho.mqtt.client", None)
    with pytest.raises(ImportError, match=r"pip install 'colme\[mqtt\]'"):
        MqttSource("mqtt://broker/a", client_id="a")


def test_a_sample_cannot_change() -> None:
    with pytest.raises(AttributeError):
        Sample(1.0, "1").value = 2.0  # type: ignore[misc]
