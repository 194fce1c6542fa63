"""Addresses of sockets as text: `tcp:127.0.0.1:9000`, `tcp:[::1]:9000`, `unix:/path/to/socket`.

Lives here: reading an address, and the difference between this machine and others.  Must not know
what travels over a socket.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Self

from colme.live.addresses import split_address, stays_here

__all__ = ["Address"]

ALLOWED = "allowed are tcp:HOST:PORT, tcp:[HOST]:PORT for IPv6, and unix:PATH"


@dataclass(frozen=True)
class Address:
    """Where a socket is: a host and a port, or a path.

    Attributes
    ----------
    host, port
        Of a TCP socket; port 0 lets the system choose one when listening.
    path
        Of a Unix socket, else empty.

    Examples
    --------
    >>> Address.of("tcp:[::1]:9000")
    Address(host='::1', port=9000, path='')
    >>> str(Address.of("unix:/run/colme/a.socket"))
    'unix:/run/colme/a.socket'
    """

    host: str = ""
    port: int = 0
    path: str = ""

    @classmethod
    def of(cls, text: str) -> Self:
        """Read the address from its text, or raise ValueError.

        Examples
        --------
        >>> Address.of("udp:127.0.0.1:9000")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        ValueError: no address of a socket: received 'udp:127.0.0.1:9000'; allowed are tcp:HOST:...
        """
        path = text.removeprefix("unix:")
        if path and path != text and "\0" not in path:
            return cls(path=path)
        kind, _, rest = text.partition(":")
        try:
            host, port = split_address(rest if kind == "tcp" else "")
        except ValueError:
            host = ""
        if not host or "[" in host or "]" in host:
            raise ValueError(f"no address of a socket: received {text!r}; {ALLOWED}")
        return cls(host, port)

    def __str__(self) -> str:
        if self.path:
            return f"unix:{self.path}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"tcp:{host}:{self.port}"

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it.

        Examples
        --------
        >>> Address.of("tcp:localhost:9000").is_local, Address.of("tcp:0.0.0.0:9000").is_local
        (True, False)
        """
        return bool(self.path) or stays_here(self.host)

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to whoever listens there."""
        if self.path:
            return await asyncio.open_unix_connection(self.path)
        return await asyncio.open_connection(self.host, self.port)
