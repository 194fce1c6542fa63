"""A store of an earlier version, whose `sharp` had another test, goes on as it began."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hosts import living, until

from colme import Agent
from colme.live.host import _check_same
from colme.live.settings import AgentSettings
from colme.live.store import Store

SETTINGS = AgentSettings(sigma=0.5, delta=0.01, max_agents=3)
BLANK = [0.0] * 9
REPLIES = [
    ["a", 0.25, 16, 0.0, [0.06830153296842553, None, 0.12988107465017282]],
    ["b", 0.375, 2, 0.03125, [3.496298109979234, None, 0.01820342992805897]],
    ["c", 8.0, 64, 0.0, [0.007198533310526596, None, 0.3911479794910113]],
]
AGENT: dict[str, Any] = {
    "name": "a",
    "algorithm": {
        "query": "restricted-round-robin",
        "weighting": "model",
        "class_test": "joint",
        "eta": 0.0,
        "meaning": "recommended: sharper test, peers weighed by how likely they are classmates",
        "within": None,
    },
    "bound": {
        "kind": "NormalMixture",
        "sigma": 0.5,
        "n_opt": 1000.0,
        "gamma": 0.0004166666666666667,
    },
    "delta": 0.01,
    "max_agents": 3,
    "replies": [
        dict(zip(("sender", "mean", "count", "squares", "shape"), reply, strict=True), epoch=0)
        for reply in REPLIES
    ],
    "turn": [-1, -1, 0],
    "classmates": None,
    "excluded": ["c"],
    "shown": [],
    "stream": {"count": 16, "_mean": 0.25, "_squares": 0.0},
    "model": [
        [18.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.016544117647058824, 0.0, 0.0, 0.0, 0.0, 1.0],
        *[BLANK] * 5,
    ],
    "room": None,
    "cap": 100.0,
    "places": [],
    "n_met": 0,
}
"""What an agent with the algorithm `sharp` of that version kept, word for word."""
MEMBERSHIP = {
    name: {"heard": 5.0, "lives": [[life, 0]], "epoch": 0}
    for name, life in {"b": 2, "c": 3}.items()
}


def has_count(agent: Agent, n: int) -> bool:
    return agent.count == n


async def write_store(folder: Path) -> None:
    """Write the state of an agent as the earlier version did."""
    state = {"agent": json.dumps(AGENT), "membership": MEMBERSHIP}
    store = Store(folder, "home", sync=False)
    store.register("a")
    await store.checkpoint("a", json.dumps(state | {"position": "16", "n_samples": 16}).encode())
    await store.close()


def test_a_node_with_the_same_settings_goes_on_with_the_test_it_began_with(tmp_path: Path) -> None:
    async def main() -> None:
        await write_store(tmp_path / "a")
        for n in (18, 20):  # and once more, from what it writes itself
            async with living(tmp_path, "a", [0.25] * n, settings=SETTINGS) as node:
                agent = node.core.agent
                await until(partial(has_count, agent, n))
                assert agent.algorithm.class_test.word == "joint"
                assert agent.optimistic_class == {"a", "b"}
                assert agent.estimate == pytest.approx(0.25, abs=0.05)
                assert not node.core.refused

    asyncio.run(main())


@pytest.mark.parametrize("change", [{"relays": 4}, {"algorithm": "robust"}, {"eta": 0.1}], ids=str)
def test_what_that_test_does_not_promise_needs_a_new_life(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    async def main() -> None:
        await write_store(tmp_path / "a")
        settings = AgentSettings.make(SETTINGS.model_dump() | change)
        with pytest.raises(ValueError, match="'a' has lived with algorithm = "):
            async with living(tmp_path, "a", [0.25], settings=settings):
                raise AssertionError("it was accepted")

    asyncio.run(main())


def test_an_agent_of_today_does_not_go_on_with_a_test_of_before() -> None:
    today = SETTINGS.agent("a")
    assert today.algorithm.class_test.word == "paired"
    for name in ("sharp", "robust", "local"):
        agent = AgentSettings.make(SETTINGS.model_dump() | {"algorithm": name}).agent("a")
        _check_same(agent, agent)
    with pytest.raises(ValueError, match="'a' has lived with algorithm = "):
        _check_same(today, AgentSettings(sigma=0.5, delta=0.01, algorithm="local").agent("a"))


def test_the_number_of_relays_can_change_where_there_are_some(tmp_path: Path) -> None:
    def with_relays(relays: int) -> AgentSettings:
        return AgentSettings.make(SETTINGS.model_dump() | {"relays": relays})

    async def main() -> None:
        for relays in (4, 16):
            async with living(tmp_path, "a", [0.25], settings=with_relays(relays)) as node:
                assert node.core.agent.query_to("b").relays == relays
        with pytest.raises(ValueError, match=r"relays=16.*; received .*relays=0"):
            async with living(tmp_path, "a", [0.25], settings=with_relays(0)):
                raise AssertionError("it was accepted")

    asyncio.run(main())
