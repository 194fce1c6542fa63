"""Addresses HOST:PORT as text, and whether they lead beyond this machine.

Lives here: reading them.  Must not know what listens there.
"""

from __future__ import annotations

import ipaddress

__all__ = ["split_address", "stays_here"]


def split_address(address: str) -> tuple[str, int]:
    """Return host and port of HOST:PORT, or raise ValueError.

    Examples
    --------
    >>> split_address("localhost:7447"), split_address("[::1]:0")
    (('localhost', 7447), ('::1', 0))
    """
    host, _, port = address.rpartition(":")
    six = host.startswith("[") and host.endswith("]")
    host = host[1:-1] if six else host
    if not host or (":" in host) != six or not _is_port(port):
        raise ValueError(
            f"an address is HOST:PORT, like 127.0.0.1:7447 or [::1]:7447; received {address!r}"
        )
    return host, int(port)


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdecimal() and int(text) <= 65535


def stays_here(host: str) -> bool:
    """Return whether a host is this machine and nobody else can reach it.

    Examples
    --------
    >>> stays_here("localhost"), stays_here("127.0.0.7"), stays_here("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name, which may lead anywhere
        return False
