"""Addresses of sources: sockets (`tcp:127.0.0.1:9000`, `unix:/path`) and topics (`mqtt://...`).

Lives here: reading and writing them, without ever showing a password.  Must not know what is sent
there.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import unquote, urlsplit

from colme.live.addresses import is_local, split_address

SOCKETS = "allowed are tcp:HOST:PORT, tcp:[HOST]:PORT for IPv6, and unix:PATH"
TOPICS = (
    "allowed is mqtt://[user:password@]host[:port]/topic/levels, or mqtts:// for TLS, with "
    "%2B, %23 and %3F for +, # and ? in names and passwords; a topic has no wildcards"
)
PORTS = {"mqtt": 1883, "mqtts": 8883}
"""The port of a broker unless the address names another one, by scheme."""


@dataclass(frozen=True)
class SocketAddress:
    """Where a socket is: a host and a port, or a path.

    Attributes
    ----------
    host, port
        Of a TCP socket; port 0 lets the system choose one when listening.
    path
        Of a Unix socket, else empty.

    Examples
    --------
    >>> SocketAddress.of("tcp:[::1]:9000")
    SocketAddress(host='::1', port=9000, path='')
    >>> str(SocketAddress.of("unix:/run/colme/a.socket"))
    'unix:/run/colme/a.socket'
    """

    host: str = ""
    port: int = 0
    path: str = ""

    @classmethod
    def of(cls, text: str) -> Self:
        """Read the address from its text, or raise ValueError."""
        path = text.removeprefix("unix:")
        if path and path != text and "\0" not in path:
            return cls(path=path)
        kind, _, rest = text.partition(":")
        try:
            host, port = split_address(rest if kind == "tcp" else "")
        except ValueError:
            host = ""
        if not host or "[" in host or "]" in host:
            raise ValueError(f"not a socket address: received {text!r}; {SOCKETS}")
        return cls(host, port)

    def __str__(self) -> str:
        return f"unix:{self.path}" if self.path else f"tcp:{_joined(self.host, self.port)}"

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it.

        Examples
        --------
        >>> [SocketAddress(host).is_local for host in ("localhost", "0.0.0.0")]
        [True, False]
        """
        return bool(self.path) or is_local(self.host)

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to the process that listens there."""
        if self.path:
            return await asyncio.open_unix_connection(self.path)
        return await asyncio.open_connection(self.host, self.port)


@dataclass(frozen=True)
class MqttTopic:
    """One topic of one broker: its host and port, the topic's name, and how to log in.

    Examples
    --------
    >>> topic = MqttTopic.of("mqtt://north:secret@broker.example/rooms/north")
    >>> topic.name, topic.port, topic.password
    ('rooms/north', 1883, 'secret')
    >>> str(topic)
    'mqtt://broker.example:1883/rooms/north'
    >>> MqttTopic.of("mqtt://north:secret@broker.example/")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: not an MQTT topic: received 'mqtt://...@broker.example/'; allowed is mqtt://[user...
    """

    host: str
    port: int
    name: str
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    is_secure: bool = False

    @classmethod
    def of(cls, url: str) -> Self:
        """Read the topic from its address, or raise ValueError."""
        try:
            parts = urlsplit(url)
            port = parts.port or PORTS[parts.scheme]
            host, name = parts.hostname or "", unquote(parts.path, errors="strict")[1:]
        except (ValueError, KeyError):
            host = name = ""
        if not host or not name or re.search(r"[+#\0]", name) or re.search("[?#]", url):
            shown = re.sub(r"//.*@", "//...@", url)
            raise ValueError(f"not an MQTT topic: received {shown!r}; {TOPICS}")
        user, password = (part and unquote(part) for part in (parts.username, parts.password))
        return cls(host, port, name, user, password, parts.scheme == "mqtts")

    def __str__(self) -> str:
        scheme = "mqtts" if self.is_secure else "mqtt"
        return f"{scheme}://{_joined(self.host, self.port)}/{self.name}"


def _joined(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
