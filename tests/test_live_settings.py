"""What a node can be told, what settings demand of each other, and what they stand for."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from colme import Agent
from colme.bounds import EmpiricalBernstein, NormalMixture, Restarted, Student
from colme.live.settings import AgentSettings, NodeSettings

LEAST: dict[str, Any] = {"fleet": "home", "id": "hall", "state": "hall", "sigma": 0.5}
NAME = "must be 1 to 64 of the characters"


def test_the_least_that_must_be_said_leaves_a_node_that_talks_to_this_machine_only() -> None:
    settings = NodeSettings.make(LEAST)
    assert (settings.state, settings.source, settings.mode) == (Path("hall"), "-", "peer")
    assert (settings.interval, settings.sync, settings.keys) == (1.0, True, None)
    connection = settings.connection_of(settings.mode)
    assert (connection.listen, connection.connect, connection.insecure) == (
        ("127.0.0.1:0",),
        (),
        False,
    )


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no noise": ({"sigma": None}, "one of sigma, range and estimated; received none"),
    "two noises": ({"range": [0, 1]}, "received sigma, range"),
    "three noises": ({"range": [0, 1], "estimated": True}, "received sigma, range, estimated"),
    "sigma 0": ({"sigma": 0}, "sigma: Input should be greater than 0; received 0"),
    "range upside down": ({"sigma": None, "range": [1, 0]}, "needs low < high"),
    "range of three": ({"sigma": None, "range": [0, 1, 2]}, "range"),
    "text for a number": ({"sigma": "high"}, "received 'high'"),
    "infinite": ({"interval": math.inf}, "interval"),
    "fleet": ({"fleet": "my home"}, f"fleet: a name {NAME}"),
    "empty id": ({"id": ""}, f"id: a name {NAME}"),
    "id with a slash": ({"id": "a/b"}, "received 'a/b'"),
    "id that is a wildcard": ({"id": "*"}, NAME),
    "long id": ({"id": "x" * 65}, NAME),
    "peer": ({"peers": ["b", "**"]}, f"peers.1: a name {NAME}"),
    "delta 1": ({"delta": 1}, "delta"),
    "unknown algorithm": ({"algorithm": "magic"}, "unknown algorithm 'magic'"),
    "algorithm that is told": ({"algorithm": "oracle"}, "knows its class"),
    "relays below 0": ({"relays": -1}, "relays: Input should be greater than or equal to 0"),
    "relays beyond a bundle": ({"relays": 33}, "relays: Input should be less than or equal to 32"),
    "room 1": ({"room": 1}, "room"),
    "cap below 1": ({"cap": 0.5}, "cap"),
    "rate 0": ({"rate": 0}, "rate"),
    "trusting and judging": ({"trusting": True, "rate": 2}, "leave out trusting or rate"),
    "interval 0": ({"interval": 0}, "interval"),
    "every negative": ({"every": -1}, "every"),
    "one address, no list": ({"listen": "127.0.0.1:7"}, "received '127.0.0.1:7'"),
    "no address": ({"listen": ["here"]}, "HOST:PORT, like 127.0.0.1:7447"),
    "open to all": ({"listen": ["0.0.0.0:7447"]}, "--insecure"),
    "by name to anywhere": ({"connect": ["router.example:7447"]}, "'colme keys'"),
    "client without router": ({"mode": "client"}, "--connect HOST:PORT"),
    "client that listens": (
        {"mode": "client", "connect": ["127.0.0.1:7"], "listen": ["127.0.0.1:8"]},
        "leave out listen",
    ),
    "mode": ({"mode": "router"}, "'peer' or 'client'"),
    "in step with nobody": ({"in_step": True}, "name the peers"),
    "in step, with relays": ({"in_step": True, "peers": ["b"], "relays": 2}, "leave out relays"),
    "in step, from anew": ({"in_step": True, "peers": ["b"], "restart": True}, "leave out restart"),
    "metrics": ({"metrics": "9100"}, "received '9100'"),
    "unknown key": ({"colour": "red"}, "colour: Extra inputs are not permitted"),
}


@pytest.mark.parametrize(("more", "message"), BAD.values(), ids=BAD.keys())
def test_settings_that_make_no_sense_are_refused_in_words(
    more: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        NodeSettings.make(LEAST | more)


def test_an_agent_that_cannot_be_is_refused_in_words() -> None:
    settings = NodeSettings.make(LEAST | {"peers": ["b", "c"], "max_agents": 2})
    with pytest.raises(ValueError, match="a larger max_agents"):
        settings.agent(settings.id, settings.peers)


def test_all_faults_are_reported_at_once() -> None:
    with pytest.raises(ValueError, match=r"delta.*fleet.*id.*state.*zoo"):
        NodeSettings.make({"sigma": 0.5, "delta": 2, "zoo": 1})


@pytest.mark.parametrize(
    ("noise", "kind"),
    [
        ({"sigma": 0.5}, NormalMixture),
        ({"range": (0, 1)}, EmpiricalBernstein),
        ({"estimated": True}, Student),
        ({"sigma": 0.5, "restart": True}, Restarted),
        ({"range": (0, 1), "restart": True}, Restarted),
    ],
)
def test_what_is_known_of_the_noise_becomes_a_bound(
    noise: dict[str, Any], kind: type[object]
) -> None:
    settings = AgentSettings(**noise)
    assert isinstance(settings.bound, kind)
    agent = settings.agent("a")
    assert isinstance(agent.bound, kind)


def test_the_agent_is_the_one_that_the_settings_describe() -> None:
    settings = AgentSettings(
        sigma=0.5, delta=0.01, algorithm="robust", max_agents=9, room=4, cap=3.0
    )
    agent = settings.agent("a", ("b", "c"))
    expected = Agent(
        "a",
        sigma=0.5,
        delta=0.01,
        max_agents=9,
        algorithm="robust",
        peers=("b", "c"),
        room=4,
        cap=3.0,
    )
    assert agent.snapshot() == expected.snapshot()


def test_replies_are_judged_at_the_risk_of_one_comparison_or_not_at_all() -> None:
    settings = AgentSettings(sigma=0.5, max_agents=10, rate=2.0, burst=7)
    checks = settings.reply_checks(settings.agent("a"))
    assert checks is not None
    assert checks.log_risk == -math.log(settings.agent("a").bound.gamma)
    assert (checks.rate, checks.burst) == (2.0, 7)
    trusting = AgentSettings(sigma=0.5, trusting=True)
    assert trusting.reply_checks(trusting.agent("a")) is None
    assert trusting.agent("a").cap is None


def test_a_client_listens_nowhere_and_keys_open_the_way_to_other_machines() -> None:
    client = NodeSettings.make(LEAST | {"mode": "client", "connect": ["127.0.0.1:7"]})
    assert client.connection_of(client.mode).listen == ()
    away = LEAST | {"connect": ["router.example:7447"]}
    assert NodeSettings.make(away | {"keys": "keys/hall"}).keys is not None
    assert NodeSettings.make(away | {"insecure": True}).keys is None
