"""The log of a node or a router: one JSON object per line on standard error.

Holds the form of a log line, and capturing what the transport library prints.  Must not know what
happens to whom.
"""

from __future__ import annotations

import errno
import io
import json
import logging
import os
import re
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

LEVELS = ("debug", "info", "warning", "error")

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_PLACE = re.compile(r"\s+at /\S+\.rs:\d+\.?")
"""The place in the library's source, which is of no use here."""
_LINE = re.compile(r"\S+Z\s+(?P<level>[A-Z]+)\s.*?(?P<origin>zenoh\w*(?:::\w+)*):\s(?P<text>.*)")


class JsonLines(logging.Formatter):
    """One JSON object per line: time, level, what happened.

    Examples
    --------
    >>> record = logging.LogRecord("colme.live", logging.INFO, "", 0, "b %s", ("left",), None)
    >>> json.loads(JsonLines().format(record))["message"]
    'b left'
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line = {
            "time": round(record.created, 3),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        if record.exc_info is not None:
            line["fault"] = self.formatException(record.exc_info)
        return json.dumps(line)


def start_logging(level: str) -> None:
    """Write log lines of at least that level to standard error.

    Examples
    --------
    >>> start_logging("loud")
    Traceback (most recent call last):
    ValueError: a log level is one of debug, info, warning, error; received 'loud'
    """
    if level not in LEVELS:
        raise ValueError(f"a log level is one of {', '.join(LEVELS)}; received {level!r}")
    try:
        stream: TextIO = _Output(sys.stderr.fileno())  # type: ignore[assignment]
    except OSError:  # no file at all, as in a notebook
        stream = sys.stderr
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("colme.live")
    logger.handlers = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False


def is_stranger(level: str, origin: str, text: str) -> bool:
    """Return whether a line of the transport is about a link without a valid certificate.

    Examples
    --------
    >>> is_stranger("warn", "zenoh_link_tls::unicast", "peer sent no certificates")
    True
    >>> is_stranger("warn", "zenoh_link_tls::unicast", "Too many open files (os error 24)")
    False
    """
    encrypted = origin.startswith(("zenoh_link_tls", "zenoh_link_quic"))
    return encrypted and level in ("warn", "error") and "(os error" not in text


@dataclass(eq=False)
class _Output(io.TextIOBase):
    """Standard output or error that loses what a full disk does not take, and nothing else.

    A node goes on unseen, and keeps nothing back that would fail again at its end.
    """

    descriptor: int
    is_torn: bool = False

    def fileno(self) -> int:
        """Return the descriptor that is written to."""
        return self.descriptor

    def write(self, text: str) -> int:
        """Write the text, or as much of it as there is room for."""
        data = b"\n" * self.is_torn + text.encode("utf-8", "replace")
        rest = data
        try:
            while rest:
                rest = rest[os.write(self.descriptor, rest) :]
        except OSError as error:
            if error.errno not in _FULL:
                raise
        if len(rest) < len(data):
            self.is_torn = bool(rest)
        return len(text)


def capture_output(heard: Callable[[str, str, str], None]) -> None:
    r"""Call `heard` with level, origin and text of what the transport library prints.

    The library prints to the standard output of the process.  From here on only Python's own output
    goes there, and a thread reads whatever else is written to it.  For programs, once.

    Examples
    --------
    >>> import subprocess
    >>> program = r'''
    ... import os, threading
    ... from colme.live.logs import capture_output
    ... heard = threading.Event()
    ... capture_output(lambda level, origin, text: (print(level, text), heard.set()))
    ... os.write(1, b"2026-01-01T00:00:00Z  WARN main ThreadId(1) zenoh::net: no router\n")
    ... heard.wait(20)
    ... '''
    >>> subprocess.run([sys.executable, "-c", program], capture_output=True).stdout
    b'warn no router\n'
    """
    sys.stdout.flush()
    sys.stdout = _Output(os.dup(1))
    reading, writing = os.pipe()
    os.dup2(writing, 1)
    os.close(writing)

    def follow() -> None:
        with os.fdopen(reading, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                found = _LINE.match(_COLOUR.sub("", line))
                if found:
                    text = _PLACE.sub("", found["text"]).strip()
                    heard(found["level"].lower(), found["origin"], text[:500])

    threading.Thread(target=follow, name="transport log", daemon=True).start()
