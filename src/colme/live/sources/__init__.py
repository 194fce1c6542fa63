"""Where an agent's samples come from: no sample is lost or counted twice, where that is possible.

Lives here: the sources, one per file, each stating what it guarantees, and which text names which.
Must not know agents, nodes, stores or the network between agents.
"""

from __future__ import annotations

from pathlib import Path

from colme.live.sources.file_source import FileSource
from colme.live.sources.iterator_source import IteratorSource
from colme.live.sources.mqtt_source import MqttSource
from colme.live.sources.sample_source import OnBad, Sample, SampleSource, log_refusal
from colme.live.sources.sample_text import parse
from colme.live.sources.socket_feed import socket_feed
from colme.live.sources.socket_source import SocketSource
from colme.live.sources.stdin_source import StdinSource

__all__ = [
    "FileSource",
    "IteratorSource",
    "MqttSource",
    "Sample",
    "SampleSource",
    "SocketSource",
    "StdinSource",
    "make_source",
    "parse",
    "socket_feed",
]

ALLOWED = (
    "allowed are - or stdin (standard input), file:PATH (followed as it grows), tcp:HOST:PORT or "
    "unix:PATH (a socket to listen at), and mqtt://HOST/TOPIC or mqtts://HOST/TOPIC"
)


def make_source(
    text: str,
    *,
    on_bad: OnBad = log_refusal,
    allow_remote: bool = False,
    client_id: str | None = None,
    ca_file: str | Path | None = None,
) -> SampleSource:
    """Make the source that a text describes.

    Parameters
    ----------
    text
        `-` or `stdin`, `file:PATH`, `tcp:HOST:PORT`, `unix:PATH`, `mqtt://...` or `mqtts://...`.
    on_bad
        Called with the reason for each line refused.
    allow_remote
        For a TCP socket: whether other machines may connect.
    client_id, ca_file
        For MQTT: the name of the session, which is required, and the file with the certificates
        of the authority that signs the broker's.

    Examples
    --------
    >>> make_source("file:/var/log/readings").path
    PosixPath('/var/log/readings')
    """
    scheme, _, rest = text.partition(":")
    if text in ("-", "stdin"):
        return StdinSource(on_bad=on_bad)
    if scheme == "file" and rest:
        return FileSource(rest, on_bad=on_bad)
    if scheme in ("tcp", "unix"):
        return SocketSource(text, allow_remote=allow_remote, on_bad=on_bad)
    if scheme in ("mqtt", "mqtts"):
        return MqttSource(text, client_id=client_id, ca_file=ca_file, on_bad=on_bad)
    raise ValueError(f"not a source of samples: received {text!r}; {ALLOWED}")
