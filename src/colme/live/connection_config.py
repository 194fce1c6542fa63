"""How a session is connected: where it listens, whom it calls, and who may speak.

Holds what is allowed, and the settings of a session as plain values.  Must not know sessions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from colme.live.addresses import is_local, split_address
from colme.live.keys.files import AUTHORITY_CERTIFICATE, DEVICE_CERTIFICATE, DEVICE_KEY

Mode = Literal["peer", "client", "router"]

_OWN = ["put", "delete", "reply", "declare_queryable", "liveliness_token"]
"""What an agent does in its own name."""
_ALL = ["query", "declare_subscriber", "declare_liveliness_subscriber", "liveliness_query"]
"""What an agent does towards all others."""


@dataclass(frozen=True)
class ConnectionConfig:
    """How one session is connected.

    Parameters
    ----------
    mode
        peer (every node connects to every other), client (through routers) or router.
    listen, connect
        Addresses HOST:PORT; with port 0 the system chooses one.
    keys
        Folder with certificates: links are encrypted, and both ends must belong to the fleet.
    insecure
        Allow links without keys beyond this machine.
    members
        Who may speak through a router, each only in its own name; None: whoever can connect.

    Examples
    --------
    >>> ConnectionConfig("peer", listen=("127.0.0.1:7447",)).config("home")["listen"]["endpoints"]
    ['tcp/127.0.0.1:7447']
    >>> ConnectionConfig("peer", listen=("0.0.0.0:7447",))
    Traceback (most recent call last):
    ValueError: links beyond this machine need keys: received 0.0.0.0:7447 without any; make them \
with 'colme keys', or accept links that anybody can read and forge with --insecure
    """

    mode: Mode
    listen: tuple[str, ...] = ()
    connect: tuple[str, ...] = ()
    keys: Path | None = None
    insecure: bool = False
    members: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for address in (*self.listen, *self.connect):
            host, port = split_address(address)
            if port == 0 and address in self.connect:
                raise ValueError(f"nobody can be reached at port 0; received --connect {address}")
            if self.keys is None and not self.insecure and not is_local(host):
                raise ValueError(
                    f"links beyond this machine need keys: received {address} without any; make "
                    "them with 'colme keys', or accept links that anybody can read and forge with "
                    "--insecure"
                )
        if self.mode == "client" and not self.connect:
            raise ValueError("a client connects to a router: give --connect HOST:PORT")

    def config(self, fleet: str) -> dict[str, Any]:
        """Return the settings of a session, ready for JSON."""
        kind = "tcp" if self.keys is None else "tls"
        config: dict[str, Any] = {
            "mode": self.mode,
            "listen": {"endpoints": [f"{kind}/{address}" for address in self.listen]},
            "connect": {
                "endpoints": [f"{kind}/{address}" for address in self.connect],
                # A client tries once, however slow the way is, and is started again; peers and
                # routers go on trying in the background.
                "timeout_ms": {"client": 0, "peer": -1, "router": -1},
                "exit_on_failure": {"client": True, "peer": False, "router": False},
                "retry": {"period_init_ms": 200, "period_max_ms": 2000},
            },
            "scouting": {
                "multicast": {"enabled": False},
                # By default two peers that start together may each wait for the other.
                "gossip": {
                    "autoconnect_strategy": {
                        "peer": {"to_router": "always", "to_peer": "greater-zid"}
                    }
                },
            },
            # With shared memory a machine runs out of sessions at a few hundred.
            "transport": {"shared_memory": {"enabled": False}},
        }
        if self.keys is not None:
            config["transport"]["link"] = {"tls": _tls(self.keys)}
        if self.members is not None:
            config["access_control"] = access_control(fleet, self.members)
        return config


def _tls(keys: Path) -> dict[str, Any]:
    certificate, key = str(keys / DEVICE_CERTIFICATE), str(keys / DEVICE_KEY)
    return {
        "root_ca_certificate": str(keys / AUTHORITY_CERTIFICATE),
        "enable_mtls": True,
        "verify_name_on_connect": True,
        "listen_certificate": certificate,
        "listen_private_key": key,
        "connect_certificate": certificate,
        "connect_private_key": key,
    }


def access_control(fleet: str, members: Sequence[str]) -> dict[str, Any]:
    """Return rules by which each member speaks only in its own name.

    Examples
    --------
    >>> rules = access_control("home", ["kitchen"])
    >>> rules["default_permission"], rules["rules"][-1]["key_exprs"]
    ('deny', ['colme/home/kitchen/**'])
    """
    everything = [f"colme/{fleet}/**"]

    def rule(name: str, flows: list[str], messages: list[str], keys: list[str]) -> dict[str, Any]:
        fixed = {"id": name, "permission": "allow"}
        return fixed | {"flows": flows, "messages": messages, "key_exprs": keys}

    return {
        "enabled": True,
        "default_permission": "deny",
        "rules": [
            rule("ask", ["ingress", "egress"], _ALL, everything),
            rule("hear", ["egress"], _OWN, everything),
            *(
                rule(f"own {name}", ["ingress"], _OWN, [f"colme/{fleet}/{name}/**"])
                for name in members
            ),
        ],
        "subjects": [{"id": name, "cert_common_names": [name]} for name in members],
        "policies": [
            {"rules": ["ask", "hear", f"own {name}"], "subjects": [name]} for name in members
        ],
    }
