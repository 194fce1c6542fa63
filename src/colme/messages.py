"""What agents say to each other, and what one keeps of itself: frozen, validated at birth.

Lives here: Query, Reply, Snapshot.  Must not know how a message travels.
"""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Container, Mapping
from dataclasses import asdict, dataclass, fields
from itertools import chain
from typing import Any, Self, TypeAlias

from colme import _check
from colme.algorithm import Algorithm
from colme.bounds import Bound, from_plain, to_plain

Shape: TypeAlias = tuple[float, float, float]
"""Spread, slope and offset of the evidence around a mean."""


def _name(role: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{role} must be a non-empty string; received {value!r}")
    return value


_MOST = 2**53
"""Beyond this a count and the next one are the same floating-point number."""


def _whole(name: str, value: object, low: int, high: int) -> int:
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ValueError(f"{name} must be a whole number; received {value!r}") from None
    if not low <= number <= high:
        raise ValueError(f"{name} must be between {low} and {high}; received {str(number)[:20]}")
    return number


@dataclass(frozen=True)
class Query:
    """`sender` asks `receiver` what it knows about its own stream, and perhaps of others.

    Parameters
    ----------
    relays
        How many summaries of others the sender would like beside.
    wanted
        The names of those it wants to hear of, or anything that can be asked whether a name is
        among them; None: of anybody.

    Examples
    --------
    >>> Query("a", "b").receiver
    'b'
    """

    sender: str
    receiver: str
    relays: int = 0
    wanted: Container[str] | None = None

    def __post_init__(self) -> None:
        _name("sender", self.sender)
        _name("receiver", self.receiver)
        object.__setattr__(self, "relays", _whole("relays", self.relays, 0, _MOST))


@dataclass(frozen=True)
class Reply:
    """`sender` says that the mean of its first `count` samples is `mean`.

    Parameters
    ----------
    squares
        Σ (x - x̄)² over those samples: how much the stream scatters.
    shape
        (spread, slope, offset) of the evidence around it, see `colme.bounds.Evidence`: what the
        receiver needs to test whether both means are equal, whatever bound the sender has.

    epoch
        How often the sender's stream has restarted; what it said before no longer holds.
    variance
        The variance of a sample, if the sender knows it beforehand and `mean` is over all samples
        of the epoch; +∞: it does not.

    Without squares, shape or variance the receiver reads the reply with its own bound.

    Examples
    --------
    >>> Reply("b", mean=0.5, count=10).count
    10
    >>> Reply("b", mean=float("nan"), count=10)
    Traceback (most recent call last):
    ValueError: mean must be a finite number; received nan
    """

    sender: str
    mean: float
    count: int
    squares: float | None = None
    shape: Shape | None = None
    epoch: int = 0
    variance: float | None = None

    def __post_init__(self) -> None:
        _name("sender", self.sender)
        object.__setattr__(self, "mean", _check.sample("mean", self.mean))
        object.__setattr__(self, "count", _whole("count", self.count, 0, _MOST))
        object.__setattr__(self, "epoch", _whole("epoch", self.epoch, 0, _MOST))
        if self.squares is not None:
            squares = _check.non_negative("squares", self.squares)
            object.__setattr__(self, "squares", squares)
        if self.shape is not None:
            object.__setattr__(self, "shape", _checked_shape(self.shape))
        if self.variance is not None and self.variance != math.inf:
            object.__setattr__(self, "variance", _check.positive("variance", self.variance))


def _checked_shape(shape: Shape) -> Shape:
    try:
        spread, slope, offset = (float(value) for value in shape)
    except (TypeError, ValueError):
        raise ValueError(f"shape must be (spread, slope, offset); received {shape!r}") from None
    if not (spread >= 0 and slope > 0 and math.isfinite(offset)):
        raise ValueError(
            "shape must have a spread of 0 or more, a slope above 0 and a finite offset; "
            f"received {shape!r}"
        )
    return spread, slope, offset


@dataclass(frozen=True)
class Snapshot:
    """Everything an agent needs to go on after a restart; plain values, ready for JSON.

    Replies stand in the order in which peers are asked, the agent's own among them; `classmates`
    is None unless the class is known a priori; `turn` is where the agent is in its round of
    queries (the peer asked last, the excluded peer asked last, how many queries); `excluded` are
    the peers ruled out for good and `shown` those shown to be close enough; `stream` is the state
    of the agent's own stream, `model` the last fit and `room` the length of a limited row.  `cap`
    is the largest weight of a peer, in multiples of the agent's own count.  Without a declared
    maximum, `places` are the order in which peers were met, 0 for the agent itself, and `n_met` is
    their number.  `heard` is the number of queries when
    there was news of each peer.  For the paired test, `evidence` is what was found against each,
    and `past` are pairs of a count and the agent's own mean after that many samples.

    Examples
    --------
    >>> from colme import Agent
    >>> snapshot = Agent("a", sigma=1.0, delta=0.1, max_agents=2).snapshot()
    >>> Snapshot.from_json(snapshot.to_json()) == snapshot
    True
    """

    name: str
    algorithm: Algorithm
    bound: Bound
    delta: float
    max_agents: int | None
    replies: tuple[Reply, ...]
    turn: tuple[int, int, int]
    classmates: tuple[str, ...] | None
    excluded: tuple[str, ...]
    shown: tuple[str, ...]
    stream: Mapping[str, float | list[float]]
    model: tuple[tuple[float, ...], ...]
    room: int | None
    cap: float | None = None
    places: tuple[int, ...] = ()
    n_met: int = 0
    evidence: tuple[float, ...] = ()
    heard: tuple[float, ...] = ()
    past: tuple[tuple[float, float], ...] = ()

    def __post_init__(self) -> None:
        peers = [reply.sender for reply in self.replies]
        if len(set(peers)) != len(peers):
            raise ValueError("each peer has one reply")
        if self.name not in peers:
            raise ValueError(f"{self.name!r} is missing from its own row")
        if not set(self.excluded) <= set(peers) - {self.name}:
            raise ValueError("only peers in the row are excluded")
        if not set(self.shown) <= set(peers):
            raise ValueError("only agents in the row are shown to be close")
        cursor, visited, n_asked = self.turn
        _whole("cursor", cursor, -1, len(peers) - 1)
        _whole("visited", visited, -1, len(peers) - 1)
        _whole("n_asked", n_asked, 0, _MOST)
        _whole("n_met", self.n_met, 0, _MOST)
        for place, peer in zip(self.places, peers, strict=self.max_agents is None):
            own = peer == self.name
            _whole(f"the place of {peer!r}", place, 0 if own else 1, 0 if own else self.n_met)
        if len(set(self.places)) != len(self.places):
            raise ValueError("no two peers are met in the same place")
        if self.max_agents is not None and (self.places or self.n_met):
            raise ValueError("places are kept only where risk is spent peer by peer")
        if not {len(self.evidence), len(self.heard)} <= {0, len(peers)}:
            raise ValueError(f"evidence is kept for each of {len(peers)} agents, or for none")
        if not all(map(math.isfinite, chain(self.evidence, self.heard, *self.past))):
            raise ValueError("evidence, past means and queries must be finite numbers")

    def to_json(self) -> str:
        """Return the snapshot as one line of JSON; what is infinite there is null."""
        record = {field.name: getattr(self, field.name) for field in fields(self)}
        algorithm = asdict(self.algorithm)
        for key in ("query", "class_test", "weighting"):
            algorithm[key] = algorithm[key].word
        record["algorithm"] = algorithm
        record["bound"] = to_plain(self.bound)
        record["replies"] = [_without_infinities(reply) for reply in self.replies]
        return json.dumps(record, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the snapshot written by `to_json`; refuse anything else."""
        try:
            record: dict[str, Any] = json.loads(text)
            record["algorithm"] = Algorithm(**record["algorithm"])
            record["bound"] = from_plain(record["bound"])
            record["replies"] = tuple(_with_infinities(reply) for reply in record["replies"])
            for key in {"turn", "excluded", "shown", "places", "evidence", "heard"} & record.keys():
                record[key] = tuple(record[key])
            record["past"] = tuple((float(n), float(x)) for n, x in record.get("past", ()))
            record["model"] = tuple(tuple(map(float, part)) for part in record["model"])
            if record["classmates"] is not None:
                record["classmates"] = tuple(record["classmates"])
            return cls(**record)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"not a snapshot of an agent: {error}") from None


def _without_infinities(reply: Reply) -> dict[str, Any]:
    record = asdict(reply)
    if reply.shape is not None:
        record["shape"] = [None if math.isinf(value) else value for value in reply.shape]
    record["variance"] = None if reply.variance == math.inf else reply.variance
    return record


def _with_infinities(record: dict[str, Any]) -> Reply:
    shape = record.pop("shape")
    if shape is not None:
        shape = tuple(math.inf if value is None else value for value in shape)
    return Reply(**record, shape=shape)
