"""Where an MQTT topic is: `mqtt://[user:password@]host[:port]/topic/levels`.

Lives here: reading such an address, without ever showing its password.  Must not know what is
published there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import unquote, urlsplit

__all__ = ["Topic"]

PORTS = {"mqtt": 1883, "mqtts": 8883}
ALLOWED = (
    "allowed is mqtt://[user:password@]host[:port]/topic/levels, or mqtts:// for TLS, with "
    "%2B, %23 and %3F for +, # and ? in names and passwords; a topic has no wildcards"
)


@dataclass(frozen=True)
class Topic:
    """One topic of one broker.

    Attributes
    ----------
    host, port
        Where the broker is.
    name
        The topic's levels.
    user, password
        For brokers that ask for them.
    is_secure
        Whether the broker is reached over TLS.

    Examples
    --------
    >>> topic = Topic.of("mqtt://north:secret@broker.example/rooms/north")
    >>> topic.name, topic.port, topic.password
    ('rooms/north', 1883, 'secret')
    >>> str(topic)
    'mqtt://broker.example:1883/rooms/north'
    """

    host: str
    port: int
    name: str
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    is_secure: bool = False

    @classmethod
    def of(cls, url: str) -> Self:
        """Read the topic from its address, or raise ValueError.

        Examples
        --------
        >>> Topic.of("mqtt://north:secret@broker.example/")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        ValueError: no MQTT topic: received 'mqtt://...@broker.example/'; allowed is mqtt://[user...
        """
        try:
            parts = urlsplit(url)
            port = parts.port or PORTS[parts.scheme]
            host, name = parts.hostname or "", unquote(parts.path, errors="strict")[1:]
        except (ValueError, KeyError):
            host = name = ""
        if not host or not name or re.search(r"[+#\0]", name) or re.search("[?#]", url):
            shown = re.sub(r"//.*@", "//...@", url)
            raise ValueError(f"no MQTT topic: received {shown!r}; {ALLOWED}")
        user, password = (part and unquote(part) for part in (parts.username, parts.password))
        return cls(host, port, name, user, password, parts.scheme == "mqtts")

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        scheme = "mqtts" if self.is_secure else "mqtt"
        return f"{scheme}://{host}:{self.port}/{self.name}"
