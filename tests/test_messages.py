"""Queries, replies and snapshots refuse to be born wrong."""

import json
import math
from dataclasses import FrozenInstanceError, fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colme import Agent, Algorithm, Query, Reply, Snapshot
from colme.bounds import Laplace, split_risk
from colme.model import Fit, Model

BOUND = Laplace(0.5, split_risk(0.01, 3))
SNAPSHOT = Snapshot(
    name="a",
    algorithm=Algorithm("round-robin", "soft", "known", eta=0.25),
    bound=BOUND,
    delta=0.01,
    max_agents=3,
    replies=(
        Reply("b", 0.1, 3, 12.0, BOUND.shape(3), variance=BOUND.variance),
        Reply("a", 0.2, 4, 16.0, BOUND.shape(4), variance=BOUND.variance),
    ),
    turn=(0, -1, 1),
    classmates=("a",),
    excluded=(),
    shown=(),
    stream={"count": 4, "_mean": 0.2, "_squares": 0.125},
    model=Model.blank().parts(),
    room=None,
    heard=(0.0, 0.0),
)
JOINT = Snapshot(
    **(
        vars(SNAPSHOT)
        | {"algorithm": Algorithm("round-robin", "model", "joint"), "classmates": None}
        | {"excluded": ("b",)}
    )
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


@pytest.mark.parametrize("squares", [math.nan, math.inf, -1e-9, "x"])
def test_a_reply_tells_squares_from_0_on_or_none(squares: Any) -> None:
    with pytest.raises(ValueError, match=f"squares must be .*; received .*{squares}"):
        Reply("b", 0.0, 1, squares)


@pytest.mark.parametrize(
    "shape",
    [
        (math.nan, 1.0, 0.0),
        (-0.1, 1.0, 0.0),
        (0.1, 0.0, 0.0),
        (0.1, -2.0, 0.0),
        (0.1, math.nan, 0.0),
        (0.1, 1.0, math.nan),
        (0.1, 1.0, math.inf),
        (0.1, 1.0),
        (0.1, 1.0, 0.0, 0.0),
        ("wide", 1.0, 0.0),
        0.1,
    ],
    ids=str,
)
def test_a_reply_tells_a_shape_that_evidence_can_have_or_none(shape: Any) -> None:
    with pytest.raises(ValueError, match=r"shape must .*; received .*"):
        Reply("b", 0.0, 1, 4.0, shape)


@pytest.mark.parametrize("shape", [(0.0, 1e-9, -3.0), (math.inf, math.inf, 0.0)])
def test_evidence_may_be_a_line_or_nothing_at_all(shape: Any) -> None:
    assert Reply("b", 0.0, 1, 0.0, shape).shape == shape


def test_a_reply_holds_plain_numbers() -> None:
    shape: Any = [np.float32(0.5), 2, np.float64(1)]
    reply = Reply("b", np.float32(0.5), np.int16(3), np.float16(4), shape)  # type: ignore[arg-type]
    assert (type(reply.mean), type(reply.count), type(reply.squares)) == (float, int, float)
    assert type(reply.shape) is tuple
    assert {type(value) for value in reply.shape} == {float}
    assert reply == Reply("b", 0.5, 3, 4.0, (0.5, 2.0, 1.0))


@pytest.mark.parametrize(
    ("message", "field"), [(Query("a", "b"), "sender"), (Reply("b", 0, 0), "mean")]
)
def test_messages_cannot_change(message: Any, field: str) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(message, field, "z")


numbers = st.floats(-1e150, 1e150)
spreads = st.one_of(st.just(math.inf), st.floats(0, 1e300))
slopes = st.one_of(st.just(math.inf), st.floats(1e-300, 1e300))


@given(
    st.tuples(numbers, numbers),
    st.one_of(st.none(), st.floats(0, 1e300)),
    st.one_of(st.none(), st.tuples(spreads, slopes, numbers)),
    numbers,
)
def test_json_keeps_every_bit_of_a_snapshot(
    means: tuple[float, float], squares: float | None, shape: Any, fact: float
) -> None:
    changes = {
        "replies": (Reply("b", means[0], 3, squares, shape), Reply("a", means[1], 4)),
        "classmates": None,
        "stream": {"count": 4, "_mean": means[1], "_squares": abs(fact)},
        "model": ((fact,) * len(fields(Fit)), *SNAPSHOT.model[1:]),
    }
    snapshot = Snapshot(**(vars(SNAPSHOT) | changes))
    text = snapshot.to_json()
    assert Snapshot.from_json(text) == snapshot
    assert "Infinity" not in text


def test_json_keeps_the_algorithm_as_words() -> None:
    text = SNAPSHOT.to_json()
    assert Snapshot.from_json(text) == SNAPSHOT
    assert json.loads(text)["algorithm"] == {
        "query": "round-robin",
        "weighting": "soft",
        "class_test": "known",
        "eta": 0.25,
        "meaning": "composed by the user",
        "within": None,
        "relays": 0,
    }
    assert json.loads(text)["bound"] == {"kind": "Laplace", "sigma": 0.5, "gamma": BOUND.gamma}


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", "{}", '{"algorithm": {}}'])
def test_text_that_is_no_snapshot_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a snapshot of an agent"):
        Snapshot.from_json(text)


B, A = json.loads(SNAPSHOT.to_json())["replies"]
STREAM = json.loads(SNAPSHOT.to_json())["stream"]
MODEL = json.loads(SNAPSHOT.to_json())["model"]
TAMPERED = [
    {"extra": 1},
    {"algorithm": None},
    {"algorithm": {"query": "gossip", "weighting": "soft"}},
    {"replies": None},
    {"replies": [A, A]},
    {"replies": [B, B | {"sender": "c"}]},
    {"replies": [B]},
    {"replies": [B | {"mean": math.nan}, A]},
    {"replies": [B | {"count": -4}, A]},
    {"replies": [B | {"count": None}, A]},
    {"replies": [B | {"squares": -1}, A]},
    {"replies": [B | {"shape": [1.0, 0.0, 1.0]}, A]},
    {"replies": [B | {"shape": [1.0, 2.0]}, A]},
    {"replies": [B | {"age": 3}, A]},
    {"bound": None},
    {"bound": {"kind": "Guess", "sigma": 1.0, "gamma": 0.1}},
    {"bound": {"kind": "Laplace", "gamma": 0.1}},
    {"bound": {"kind": "Laplace", "sigma": 0, "gamma": 0.1}},
    {"bound": {"kind": "Laplace", "sigma": "wide", "gamma": 0.1}},
    {"stream": None},
    {"stream": {}},
    {"stream": STREAM | {"more": 1}},
    {"stream": STREAM | {"_mean": math.nan}},
    {"stream": STREAM | {"_mean": [0.1, 0.2]}},
    {"stream": STREAM | {"_mean": "x"}},
    {"stream": STREAM | {"count": -1}},
    {"stream": STREAM | {"count": 2.5}},
    {"model": None},
    {"model": []},
    {"model": [["x"]] * 5},
    {"model": [*MODEL[:-1], MODEL[-1][1:]]},
    {"model": [[3, 9, 1, 1, 0, 0], *MODEL[1:]]},
    {"model": [[3, 0.5, 1, 1, 0, 0], *MODEL[1:]]},
    {"model": [[3, 0, math.nan, 1, 0, 0], *MODEL[1:]]},
    {"excluded": ["c"]},
    {"excluded": ["a"]},
    {"excluded": None},
    {"turn": [2, -1, 0]},
    {"turn": [-2, -1, 0]},
    {"turn": ["first", -1, 0]},
    {"turn": [0.5, -1, 0]},
    {"turn": [0, 2, 0]},
    {"turn": [0, -1, -1]},
    {"turn": [0, -1]},
    {"turn": None},
    {"shown": ["c"]},
    {"shown": None},
    {"room": 0},
    {"room": 1},
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


@pytest.mark.parametrize("snapshot", [SNAPSHOT, JOINT])
def test_an_agent_rises_from_the_untampered_snapshot(snapshot: Snapshot) -> None:
    assert Agent.restore(Snapshot.from_json(snapshot.to_json())).snapshot() == snapshot
