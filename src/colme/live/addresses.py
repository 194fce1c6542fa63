"""Addresses HOST:PORT as text, and whether other machines can reach them.

Holds their parser.  Must not know what listens there.
"""

from __future__ import annotations

import ipaddress

_LAST_PORT = 65535


def split_address(address: str) -> tuple[str, int]:
    """Return host and port of HOST:PORT, or raise ValueError.

    Examples
    --------
    >>> split_address("localhost:7447"), split_address("[::1]:0")
    (('localhost', 7447), ('::1', 0))
    """
    host, _, port = address.rpartition(":")
    is_six = host.startswith("[") and host.endswith("]")
    host = host[1:-1] if is_six else host
    is_port = port.isascii() and port.isdecimal() and int(port) <= _LAST_PORT
    if not host or (":" in host) != is_six or not is_port:
        raise ValueError(
            f"an address is HOST:PORT, like 127.0.0.1:7447 or [::1]:7447; received {address!r}"
        )
    return host, int(port)


def is_local(host: str) -> bool:
    """Return whether only this machine can reach a host.

    Examples
    --------
    >>> is_local("localhost"), is_local("127.0.0.7"), is_local("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name, which may lead anywhere
        return False
