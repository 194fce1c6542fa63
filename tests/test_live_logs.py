"""Log lines, what the transport says, and signals."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator

import pytest

from colme.live.logs import JsonLines, is_stranger, start_logging
from colme.live.signals import stop_on_signals

LOGGER = logging.getLogger("colme.live")


@pytest.fixture
def as_before() -> Iterator[None]:
    """Leave the logger as it was."""
    before = LOGGER.handlers, LOGGER.level, LOGGER.propagate
    yield
    LOGGER.handlers, LOGGER.level, LOGGER.propagate = before


def test_a_line_is_one_json_object_whatever_is_in_it(
    as_before: None, capsys: pytest.CaptureFixture[str]
) -> None:
    start_logging("info")
    LOGGER.debug("not this")
    LOGGER.info("%s said %r", "b\nc", 'ä "quote"\x1b[31m')
    try:
        raise ValueError("in the middle")  # noqa: TRY301
    except ValueError:
        LOGGER.exception("it failed")
    first, second = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    assert first.keys() == {"time", "level", "message"}
    assert first["level"] == "info"
    assert first["message"].startswith("b\nc said")
    assert (second["level"], second["message"]) == ("error", "it failed")
    assert "ValueError: in the middle" in second["fault"]


def test_starting_again_does_not_repeat_lines(
    as_before: None, capsys: pytest.CaptureFixture[str]
) -> None:
    start_logging("error")
    start_logging("warning")
    LOGGER.warning("once")
    assert capsys.readouterr().err.count("once") == 1


def test_unknown_levels_are_refused() -> None:
    with pytest.raises(ValueError, match="one of debug, info, warning, error; received 'loud'"):
        start_logging("loud")


def test_numbers_in_a_line_are_those_of_the_event() -> None:
    record = logging.LogRecord("colme.live", logging.WARNING, "", 0, "gone", (), None)
    assert json.loads(JsonLines().format(record))["time"] == pytest.approx(record.created, abs=1e-3)


@pytest.mark.parametrize(
    ("level", "origin", "text", "expected"),
    [
        ("warn", "zenoh_link_tls::unicast", "peer sent no certificates", True),
        ("error", "zenoh_link_quic::unicast", "invalid peer certificate: BadSignature", True),
        ("debug", "zenoh_link_tls::unicast", "accepted a connection", False),
        ("warn", "zenoh_link_tls::unicast", "Too many open files (os error 24)", False),
        ("warn", "zenoh_link_tcp::unicast", "peer sent no certificates", False),
        ("warn", "zenoh::net::runtime::orchestrator", "Unable to connect", False),
    ],
)
def test_strangers_are_those_whose_certificates_are_refused(
    level: str, origin: str, text: str, expected: bool
) -> None:
    assert is_stranger(level, origin, text) is expected


READ_ALONG = """
    import os, subprocess, sys, threading
    from colme.live.logs import capture_output
    heard, three = [], threading.Event()

    def hear(*what):
        heard.append(what)
        len(heard) == 3 and three.set()

    print("before")
    capture_output(hear)
    print("from Python")
    os.write(1, b"\\x1b[2m2026-01-01T00:00:00.1Z\\x1b[0m \\x1b[33m WARN\\x1b[0m "
        b"\\x1b[2mzenoh_link_tls::unicast\\x1b[0m\\x1b[2m:\\x1b[0m "
        b"peer sent no certificates at /a/b.rs:7.\\n")
    os.write(1, b"no line of a log \\xff\\n")
    os.write(1, b"2026-01-01T00:00:00.1Z ERROR net-0 ThreadId(05) zenoh::net::runtime: half ")
    os.write(1, b"a line\\n" + b"2026-01-01T00:00:00.1Z  INFO zenoh: " + b"x" * 70000 + b"\\n")
    assert three.wait(20)
    print(heard[:2], heard[2][:2], len(heard[2][2]))
    print("the end")
"""


def test_what_the_transport_prints_is_read_and_what_python_prints_is_printed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(READ_ALONG)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    tls = ("warn", "zenoh_link_tls::unicast", "peer sent no certificates")
    half = ("error", "zenoh::net::runtime", "half a line")
    told = f"{[tls, half]} {('info', 'zenoh')} 500"
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["before", "from Python", told, "the end"]


@pytest.fixture
def usual_signals() -> Iterator[None]:
    """Leave what signals do as it was."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_and_one_after_the_end_does_nothing(
    usual_signals: None, number: signal.Signals
) -> None:
    async def main() -> None:
        stopped = asyncio.Event()
        stop_on_signals(stopped.set)
        signal.raise_signal(number)
        await asyncio.wait_for(stopped.wait(), 10)

    asyncio.run(main())
    signal.raise_signal(signal.SIGTERM)
