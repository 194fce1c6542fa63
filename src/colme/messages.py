"""What agents say to each other, and what one keeps of itself: frozen, validated at birth.

Lives here: Query, Reply, Snapshot.  Must not know how a message travels.
"""

from __future__ import annotations

import json
import operator
from dataclasses import asdict, dataclass
from typing import Any, Self

from colme import _check
from colme.algorithm import Algorithm

__all__ = ["Query", "Reply", "Snapshot"]


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
    """`sender` asks `receiver` what it knows about its own stream.

    Examples
    --------
    >>> Query("a", "b").receiver
    'b'
    """

    sender: str
    receiver: str

    def __post_init__(self) -> None:
        _name("sender", self.sender)
        _name("receiver", self.receiver)


@dataclass(frozen=True)
class Reply:
    """`sender` says that the mean of its first `count` samples is `mean`.

    Examples
    --------
    >>> Reply("b", mean=0.5, count=10)
    Reply(sender='b', mean=0.5, count=10)
    >>> Reply("b", mean=float("nan"), count=10)
    Traceback (most recent call last):
    ValueError: mean must be a finite number; received nan
    """

    sender: str
    mean: float
    count: int

    def __post_init__(self) -> None:
        _name("sender", self.sender)
        object.__setattr__(self, "mean", _check.sample("mean", self.mean))
        object.__setattr__(self, "count", _whole("count", self.count, 0, _MOST))


@dataclass(frozen=True)
class Snapshot:
    """Everything an agent needs to go on after a restart; plain values, ready for JSON.

    Peers stand in the order in which they are asked; `classmates` is None unless the class is
    known a priori.

    Examples
    --------
    >>> from colme import Agent
    >>> snapshot = Agent("a", sigma=1.0, delta=0.1, max_agents=2).snapshot()
    >>> Snapshot.from_json(snapshot.to_json()) == snapshot
    True
    """

    name: str
    algorithm: Algorithm
    sigma: float
    delta: float
    max_agents: int
    peers: tuple[str, ...]
    means: tuple[float, ...]
    counts: tuple[int, ...]
    cursor: int
    classmates: tuple[str, ...] | None

    def __post_init__(self) -> None:
        if not len(set(self.peers)) == len(self.peers) == len(self.means) == len(self.counts):
            raise ValueError("each peer has one mean and one count")
        if self.name not in self.peers:
            raise ValueError(f"{self.name!r} is missing from its own row")
        _whole("cursor", self.cursor, -1, len(self.peers) - 1)
        for peer, mean, count in zip(self.peers, self.means, self.counts, strict=True):
            Reply(peer, mean, count)

    def to_json(self) -> str:
        """Return the snapshot as one line of JSON."""
        record = asdict(self)
        choices = ("query", "class_test", "weighting")
        record["algorithm"] |= {key: record["algorithm"][key].word for key in choices}
        return json.dumps(record)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the snapshot written by `to_json`; refuse anything else."""
        try:
            record: dict[str, Any] = json.loads(text)
            record["algorithm"] = Algorithm(**record["algorithm"])
            for key in ("peers", "means", "counts"):
                record[key] = tuple(record[key])
            if record["classmates"] is not None:
                record["classmates"] = tuple(record["classmates"])
            return cls(**record)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"not a snapshot of an agent: {error}") from None
