"""From bytes to samples: lines of bounded length, and what a line may contain.

Lives here: splitting a stream of bytes into lines, and reading one line.  Must not know where
bytes come from.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from colme import _check

CHUNK = 65536
"""Bytes read at once: what a pipe holds on Linux."""
LONGEST_LINE = 4096
"""Bytes of the longest line that is read: room for any record of a device, and for no attack."""

SHOWN = 60
"""Characters of a line that a message about it repeats."""

ALLOWED = (
    'allowed is a finite number such as 20.5, or a JSON object such as {"value": 20.5}, '
    f"in at most {LONGEST_LINE} bytes"
)
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass
class LineSplitter:
    r"""Bytes in, complete lines out, whatever the pieces in which the bytes arrive.

    Of a line that is too long only as much is kept as shows that it is.

    Examples
    --------
    >>> splitter = LineSplitter()
    >>> list(splitter.split(b"0.5\n0."))
    [(b'0.5', 4)]
    >>> list(splitter.split(b"7\n1")), splitter.rest()
    ([(b'0.7', 4)], b'1')
    """

    _start: bytes = b""
    _length: int = 0

    def split(self, data: bytes) -> Iterator[tuple[bytes, int]]:
        """Give each line that `data` completes: what is kept of it, and its length in bytes."""
        for number, piece in enumerate(data.split(b"\n")):
            if number > 0:  # an end of line stood before this piece
                length = self._length + 1
                yield self.rest(), length
            self._start += piece[: LONGEST_LINE + 1 - len(self._start)]
            self._length += len(piece)

    def rest(self) -> bytes:
        """Return the last line if it is incomplete, and forget it."""
        line, self._start, self._length = self._start, b"", 0
        return line


class NumberedSample(NamedTuple):
    """A sample and, if its record has one, its "sequence" number.

    Examples
    --------
    >>> NumberedSample(20.5, sequence=7).value
    20.5
    """

    value: float
    sequence: int | None


def parse(line: bytes | str) -> float:
    r"""Read one sample: a number, or a JSON object whose "value" is one.

    Raises
    ------
    ValueError
        Anything else, with what was received and what is allowed.

    Examples
    --------
    >>> parse(b"20.5\r\n"), parse('{"value": 20.5, "unit": "C"}')
    (20.5, 20.5)
    >>> parse("warm")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: not a sample: received 'warm'; allowed is a finite number such as 20.5, or a JSO...
    """
    return parse_numbered(line).value


def parse_numbered(line: bytes | str) -> NumberedSample:
    """Read one sample and, if its record has one, its "sequence": a whole number from 0 on.

    Examples
    --------
    >>> parse_numbered('{"value": 20.5, "sequence": 7}')
    NumberedSample(value=20.5, sequence=7)
    """
    data = line.encode(errors="surrogateescape") if isinstance(line, str) else line
    if len(data.rstrip(b"\r\n")) > LONGEST_LINE:
        raise _refusal(data, f"more than {LONGEST_LINE} bytes")
    try:
        text = data.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise _refusal(data, "not UTF-8") from None
    record = {"value": float(text)} if NUMBER.fullmatch(text) else _record(text)
    sequence = record.get("sequence")
    if sequence is not None and (type(sequence) is not int or sequence < 0):
        raise _refusal(text, f"sequence {_short(sequence)} is not a whole number from 0 on")
    try:
        return NumberedSample(as_sample(record["value"]), sequence)
    except ValueError as error:
        raise _refusal(text, str(error)) from None


def as_sample(value: Any) -> float:
    """Return `value` as a sample, or raise ValueError unless it is a finite number.

    Examples
    --------
    >>> as_sample(3)
    3.0
    """
    is_text = isinstance(value, bool | str | bytes | bytearray)  # what `float` would read as well
    try:
        return _check.sample("a sample", math.nan if is_text else value)
    except (ValueError, OverflowError):
        raise ValueError(
            f"a sample must be a finite number of size at most {_check.LARGEST_SAMPLE:g}; "
            f"received {_short(value)}"
        ) from None


def _record(text: str) -> dict[str, Any]:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise _refusal(text)
    if "value" not in record:
        raise _refusal(text, 'no "value"')
    return record


def _refusal(received: object, why: str = "") -> ValueError:
    reason = f" ({why})" if why else ""
    return ValueError(f"not a sample: received {_short(received)}{reason}; {ALLOWED}")


def _short(value: object) -> str:
    part = value[:SHOWN] if isinstance(value, str | bytes) else value
    shown = repr(part)
    return shown if part == value and len(shown) <= 2 * SHOWN else f"{shown[:SHOWN]}..."
