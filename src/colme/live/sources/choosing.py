"""A source from a word of the command line.

Lives here: which word means which source.  Must not know how any of them works.
"""

from __future__ import annotations

from pathlib import Path

from colme.live.sources.following import Following
from colme.live.sources.listening import Listening
from colme.live.sources.mqtt import Mqtt
from colme.live.sources.source import OnBad, Source, log_refusal
from colme.live.sources.stdin import StandardInput

__all__ = ["source_of"]

ALLOWED = (
    "allowed are - or stdin (standard input), file:PATH (followed as it grows), tcp:HOST:PORT or "
    "unix:PATH (a socket to listen at), and mqtt://HOST/TOPIC or mqtts://HOST/TOPIC"
)


def source_of(
    text: str,
    *,
    on_bad: OnBad = log_refusal,
    interval: float = 0.1,
    allow_remote: bool = False,
    client_id: str | None = None,
    ca_file: str | Path | None = None,
) -> Source:
    """Make the source that a word of the command line names.

    Parameters
    ----------
    text
        `-` or `stdin`, `file:PATH`, `tcp:HOST:PORT`, `unix:PATH`, `mqtt://...` or `mqtts://...`.
    on_bad
        Told the reason for each line refused.
    interval
        For a file: seconds between two looks at it.
    allow_remote
        For a TCP socket: whether other machines may connect.
    client_id, ca_file
        For MQTT: the name of the session, which is needed; and who vouches for the broker.

    Examples
    --------
    >>> type(source_of("-")).__name__
    'StandardInput'
    >>> source_of("file:/var/log/readings").path
    PosixPath('/var/log/readings')
    """
    scheme, _, rest = text.partition(":")
    if text in ("-", "stdin"):
        return StandardInput(on_bad=on_bad)
    if scheme == "file" and rest:
        return Following(rest, interval=interval, on_bad=on_bad)
    if scheme in ("tcp", "unix"):
        return Listening(text, allow_remote=allow_remote, on_bad=on_bad)
    if scheme in ("mqtt", "mqtts"):
        return Mqtt(text, client_id=client_id, ca_file=ca_file, on_bad=on_bad)
    raise ValueError(f"no source of samples: received {text!r}; {ALLOWED}")
