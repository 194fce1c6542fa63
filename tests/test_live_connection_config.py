"""Addresses, how sessions are connected, and who may speak through a router."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import zenoh

from colme.live.addresses import is_local, split_address
from colme.live.connection_config import ConnectionConfig, access_control

KEYS = Path("keys")


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("127.0.0.1:7447", ("127.0.0.1", 7447)),
        ("[::1]:0", ("::1", 0)),
        ("router.example:65535", ("router.example", 65535)),
    ],
)
def test_an_address_is_a_host_and_a_port(address: str, parts: tuple[str, int]) -> None:
    assert split_address(address) == parts


@pytest.mark.parametrize(
    "address",
    ["", ":", "host", "host:", ":7447", "host:seven", "host:65536", "::1:7447", "[::1]", "[host]:1",
     "host:-1", "host:７４４７", "host: 1", "[]:1"],
)  # fmt: skip
def test_what_is_no_address_is_refused_and_repeated(address: str) -> None:
    with pytest.raises(ValueError, match="HOST:PORT") as error:
        split_address(address)
    assert repr(address) in str(error.value)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "::1"])
def test_these_hosts_are_this_machine(host: str) -> None:
    assert is_local(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.20", "localhost.example", "hall", ""])
def test_these_hosts_lead_or_may_lead_elsewhere(host: str) -> None:
    assert not is_local(host)


@pytest.mark.parametrize("where", ["listen", "connect"])
@pytest.mark.parametrize("address", ["0.0.0.0:7447", "[::]:7447", "192.168.1.20:7447", "hall:7447"])
def test_links_beyond_this_machine_need_keys_or_carelessness(where: str, address: str) -> None:
    more: dict[str, Any] = {where: (address,)}
    with pytest.raises(ValueError, match=r"need keys: received .* --insecure"):
        ConnectionConfig("peer", **more)
    assert ConnectionConfig("peer", **more, insecure=True).config("home")[where]["endpoints"] == [
        f"tcp/{address}"
    ]
    assert ConnectionConfig("peer", **more, keys=KEYS).config("home")[where]["endpoints"] == [
        f"tls/{address}"
    ]


def test_a_client_needs_somebody_to_call_who_can_be_reached() -> None:
    with pytest.raises(ValueError, match="a client connects to a router"):
        ConnectionConfig("client")
    with pytest.raises(ValueError, match="nobody can be reached at port 0"):
        ConnectionConfig("peer", connect=("127.0.0.1:0",))
    assert ConnectionConfig("peer", listen=("127.0.0.1:0",)).connect == ()


@pytest.mark.parametrize("mode", ["peer", "client", "router"])
def test_the_transport_understands_the_settings_and_finds_nobody_by_itself(mode: Any) -> None:
    connection = ConnectionConfig(
        mode, ("127.0.0.1:0",), ("127.0.0.1:7447",), KEYS, members=("hall",)
    )
    config = zenoh.Config.from_json5(json.dumps(connection.config("home")))
    assert json.loads(config.get_json("mode")) == mode
    assert json.loads(config.get_json("scouting/multicast/enabled")) is False
    assert json.loads(config.get_json("transport/shared_memory/enabled")) is False
    tls = json.loads(config.get_json("transport/link/tls"))
    assert tls["enable_mtls"] is tls["verify_name_on_connect"] is True
    assert tls["root_ca_certificate"] == "keys/ca.pem"
    assert tls["listen_certificate"] == tls["connect_certificate"] == "keys/device.pem"
    assert tls["listen_private_key"] == tls["connect_private_key"] == "keys/device.key"
    assert json.loads(config.get_json("access_control/enabled")) is True


def test_only_a_client_gives_up_when_nobody_is_there() -> None:
    connect = ConnectionConfig("client", connect=("127.0.0.1:7447",)).config("home")["connect"]
    modes = ("client", "peer", "router")
    assert [connect["exit_on_failure"][mode] for mode in modes] == [True, False, False]
    # Tries once, with no limit but the transport's: a limit here keeps out all on slow networks.
    assert [connect["timeout_ms"][mode] for mode in modes] == [0, -1, -1]


def allowed(rules: dict[str, Any], who: str, flow: str, message: str) -> set[str]:
    """Return the keys for which a member's message may pass, by reading the rules."""
    by_name = {rule["id"]: rule for rule in rules["rules"]}
    own = [policy["rules"] for policy in rules["policies"] if policy["subjects"] == [who]]
    chosen = [by_name[name] for names in own for name in names]
    return {
        key
        for rule in chosen
        if flow in rule["flows"] and message in rule["messages"]
        for key in rule["key_exprs"]
    }


@pytest.mark.parametrize(
    "message", ["put", "delete", "reply", "declare_queryable", "liveliness_token"]
)
def test_each_member_speaks_in_its_own_name_and_hears_all(message: str) -> None:
    rules = access_control("home", ["hall", "attic"])
    assert rules["enabled"]
    assert rules["default_permission"] == "deny"
    assert all(rule["permission"] == "allow" for rule in rules["rules"])
    for name in ("hall", "attic"):
        assert allowed(rules, name, "ingress", message) == {f"colme/home/{name}/**"}
        assert allowed(rules, name, "egress", message) == {"colme/home/**"}
        assert allowed(rules, name, "ingress", "query") == {"colme/home/**"}
    assert allowed(rules, "stranger", "ingress", "query") == set()
    assert [one["cert_common_names"] for one in rules["subjects"]] == [["hall"], ["attic"]]


def test_without_members_whoever_can_connect_may_speak() -> None:
    assert "access_control" not in ConnectionConfig("router", ("127.0.0.1:0",)).config("home")
    nobody = ConnectionConfig("router", ("127.0.0.1:0",), keys=KEYS, members=()).config("home")
    assert nobody["access_control"]["policies"] == []
