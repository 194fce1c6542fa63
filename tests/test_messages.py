"""Queries, replies and snapshots refuse to be born wrong."""

import json
import math
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colme import Agent, Algorithm, Query, Reply, Snapshot

SNAPSHOT = Snapshot(
    name="a",
    algorithm=Algorithm("round-robin", "soft", "known", eta=0.25),
    sigma=0.5,
    delta=0.01,
    max_agents=3,
    peers=("b", "a"),
    means=(0.1, 0.2),
    counts=(3, 4),
    cursor=0,
    classmates=("a",),
)


@pytest.mark.parametrize("name", ["", None, 3, b"a"])
def test_every_name_is_a_non_empty_string(name: Any) -> None:
    with pytest.raises(ValueError, match=f"sender must be a non-empty string; received {name!r}"):
        Query(name, "b")
    with pytest.raises(ValueError, match=f"receiver must be a non-empty string; received {name!r}"):
        Query("a", name)
    with pytest.raises(ValueError, match=f"sender must be a non-empty string; received {name!r}"):
        Reply(name, 0.0, 1)


@pytest.mark.parametrize("mean", [math.nan, math.inf, None, "x"])
def test_a_reply_tells_a_finite_mean(mean: Any) -> None:
    with pytest.raises(ValueError, match="mean must be a finite number; received"):
        Reply("b", mean, 1)


@pytest.mark.parametrize("count", [-1, 1.5, None, "3", math.nan])
def test_a_reply_tells_a_whole_count(count: Any) -> None:
    with pytest.raises(ValueError, match=f"count must be .*; received {count!r}"):
        Reply("b", 0.0, count)


def test_a_reply_holds_plain_numbers() -> None:
    reply = Reply("b", np.float32(0.5), np.int16(3))  # type: ignore[arg-type]
    assert (type(reply.mean), type(reply.count)) == (float, int)
    assert reply == Reply("b", 0.5, 3)


@pytest.mark.parametrize(
    ("message", "field"), [(Query("a", "b"), "sender"), (Reply("b", 0, 0), "mean")]
)
def test_messages_cannot_change(message: Any, field: str) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(message, field, "z")


@given(
    st.lists(st.floats(-1e150, 1e150), min_size=len(SNAPSHOT.peers), max_size=len(SNAPSHOT.peers))
)
def test_json_keeps_every_bit_of_a_snapshot(means: list[float]) -> None:
    snapshot = Snapshot(**(vars(SNAPSHOT) | {"means": tuple(means), "classmates": None}))
    assert Snapshot.from_json(snapshot.to_json()) == snapshot


def test_json_keeps_the_algorithm_as_words() -> None:
    text = SNAPSHOT.to_json()
    assert Snapshot.from_json(text) == SNAPSHOT
    assert json.loads(text)["algorithm"] == {
        "query": "round-robin",
        "weighting": "soft",
        "class_test": "known",
        "eta": 0.25,
        "meaning": "composed by the user",
    }


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", "{}", '{"algorithm": {}}'])
def test_text_that_is_no_snapshot_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a snapshot of an agent"):
        Snapshot.from_json(text)


TAMPERED = [
    {"extra": 1},
    {"algorithm": None},
    {"algorithm": {"query": "gossip", "weighting": "soft"}},
    {"peers": None},
    {"peers": ["a", "a"]},
    {"peers": ["b", "c"]},
    {"means": [0.1]},
    {"means": [0.1, math.nan]},
    {"counts": [3, -4]},
    {"counts": [3, None]},
    {"cursor": 2},
    {"cursor": -2},
    {"cursor": "first"},
    {"cursor": 0.5},
    {"sigma": 0},
    {"sigma": "wide"},
    {"delta": 2},
    {"max_agents": 1},
    {"name": ""},
    {"classmates": None},
]


@pytest.mark.parametrize("change", TAMPERED, ids=str)
def test_no_agent_rises_from_a_tampered_snapshot(change: dict[str, Any]) -> None:
    text = json.dumps(json.loads(SNAPSHOT.to_json()) | change)
    with pytest.raises(ValueError, match=r"."):
        Agent.restore(Snapshot.from_json(text))


def test_an_agent_rises_from_the_untampered_snapshot() -> None:
    assert Agent.restore(Snapshot.from_json(SNAPSHOT.to_json())).snapshot() == SNAPSHOT
