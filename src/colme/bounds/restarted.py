"""Restarts: a stream begins anew when its mean must have changed.

Lives here: the bound with a detector of changes, and its streams.  Must not know how changes are
detected, nor agents.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from colme import _check
from colme.bounds.adwin import Adwin
from colme.bounds.changes import Sequences
from colme.bounds.evidence import Evidence, Numbers
from colme.bounds.protocol import Bound, Stream
from colme.bounds.wrapper import Wrapper, checked_revisit, checked_within

__all__ = ["DETECTORS", "Restarted", "RestartedStream", "RestartedStreams"]

DETECTORS = ("sequences", "adwin")
"""The detectors by name."""


@dataclass(frozen=True)
class Restarted(Wrapper):
    """A bound that begins anew whenever the mean must have changed.

    In each epoch the guarantee of the bound within holds anew, with risk γ for each, if the mean
    is constant from the first sample of the epoch on.  Between a change and its alarm it does not.

    Parameters
    ----------
    bound
        Any bound for a mean that does not change.
    alarm
        The probability that a stream whose mean never changes is ever restarted.  It holds for
        samples of scale `bound.scale`; if that is infinite, asymptotically.
    detector
        ``"sequences"``, or for comparison ``"adwin"``, which does not keep `alarm` and after
        `resume` begins with an empty memory.
    revisit
        Every so many queries one goes to an excluded peer; 0: none.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> stream = Restarted(Laplace(sigma=0.5, gamma=0.05)).stream()
    >>> for sample in [0.0] * 200 + [1.0] * 50:
    ...     stream.update(sample)
    >>> stream.epoch, stream.mean, stream.count
    (1.0, 1.0, 38)

    Notes
    -----
    An alarm takes effect with the next sample: it is the first of the new epoch, whose samples
    are therefore independent of the alarm that began it.
    """

    bound: Bound
    alarm: float = 0.001
    detector: str = "sequences"
    revisit: int = 10

    def __post_init__(self) -> None:
        if self.detector not in DETECTORS:
            raise ValueError(f"detector must be one of {DETECTORS}; received {self.detector!r}")
        bound: Any = checked_within(self.bound)
        alarm = _check.risk("alarm", self.alarm)
        self._keep(bound=bound, alarm=alarm, revisit=checked_revisit(self.revisit))

    def revisit_in(self, epoch: int) -> int:  # noqa: ARG002 - a peer may change at any time
        """Return every how many queries one goes to an excluded peer."""
        return self.revisit

    def _start(self, n: int | None) -> Stream[Any]:
        return RestartedStream(self) if n is None else RestartedStreams(self, n)


class RestartedStream:
    """One stream: that of the bound within since the last restart, and its detector.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> stream = RestartedStream(Restarted(Laplace(sigma=0.5, gamma=0.05)))
    >>> stream.update(2.0)
    >>> stream.count, stream.epoch
    (1, 0.0)
    """

    def __init__(self, bound: Restarted) -> None:
        self._bound = bound
        self._epoch = 0
        self._due = False
        self._within: Any = bound.bound.stream()
        self._detector = _started(bound)

    @property
    def count(self) -> int:
        """How many samples this epoch has."""
        return int(self._within.count)

    @property
    def epoch(self) -> float:
        """How often the stream has begun anew."""
        return float(self._epoch)

    @property
    def mean(self) -> float:
        """The mean of the samples of this epoch; 0 before the first."""
        return float(self._within.mean)

    @property
    def squares(self) -> float:
        """Σ (x - x̄)² over the samples of this epoch."""
        return float(self._within.squares)

    @property
    def interval(self) -> tuple[float, float]:
        """(low, high): that of the bound within, over this epoch."""
        return cast("tuple[float, float]", self._within.interval)

    @property
    def evidence(self) -> Evidence[float]:
        """What the samples of this epoch say."""
        return cast("Evidence[float]", self._within.evidence)

    def update(self, sample: ArrayLike) -> None:
        """Fold one sample, the first of a new epoch if an alarm is due."""
        within = self._bound.bound.stream() if self._due else self._within
        within.update(sample)
        if self._due:
            self._within, self._epoch, self._due = within, self._epoch + 1, False
            self._detector = _started(self._bound)
        self._due = self._alarmed(float(np.asarray(sample, dtype=np.float64)))

    def _alarmed(self, sample: float) -> bool:
        if isinstance(self._detector, Adwin):
            return self._detector.changed(sample)
        return self._detector.changed(self.count, self.mean, self.squares)

    def state(self) -> dict[str, float | list[float]]:
        """Return all that the samples have left behind, ready for JSON."""
        within = {f"within.{name}": value for name, value in self._within.state().items()}
        return {"epoch": self._epoch, "due": int(self._due), **self._watched(), **within}

    def _watched(self) -> dict[str, list[float]]:
        return {} if isinstance(self._detector, Adwin) else self._detector.state()

    def _resume(self, state: Mapping[str, Any]) -> None:
        own = {"epoch", "due", *self._watched()}
        parts = {name for name in dict(state) if not str(name).startswith("within.")}
        if parts != own or state["due"] not in (0, 1) or not _is_count(state["epoch"]):
            raise ValueError(
                f"a restarted stream's state holds {sorted(own)} and the stream within; "
                f"received {state!r}"
            )
        self._epoch, self._due = int(state["epoch"]), bool(state["due"])
        self._within = self._bound.bound.resume(
            {name[len("within.") :]: state[name] for name in state if name not in own}
        )
        if not isinstance(self._detector, Adwin):
            self._detector.resume(state)


def _started(bound: Restarted) -> Sequences | Adwin:
    if bound.detector == "adwin":
        return Adwin(bound.alarm)
    return Sequences(bound.scale, bound.alarm)


def _is_count(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and value >= 0 and value % 1 == 0


class RestartedStreams:
    """Several streams, each of which is restarted on its own.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> streams = Restarted(Laplace(sigma=0.5, gamma=0.05)).stream(2)
    >>> streams.update([1.0, 2.0])
    >>> streams.mean, streams.epoch
    (array([1., 2.]), array([0., 0.]))
    """

    def __init__(self, bound: Restarted, n: int) -> None:
        self._streams = [RestartedStream(bound) for _ in range(_check.positive_int("n", n))]
        self._check: Any = bound.bound.stream(n)

    @property
    def count(self) -> int:
        """The smallest of the `counts`."""
        return min(stream.count for stream in self._streams)

    @property
    def counts(self) -> Numbers:
        """How many samples the epoch of each stream has."""
        return self._each("count")

    @property
    def epoch(self) -> Numbers:
        """How often each stream has begun anew."""
        return self._each("epoch")

    @property
    def mean(self) -> Numbers:
        """The mean of each stream's epoch."""
        return self._each("mean")

    @property
    def squares(self) -> Numbers:
        """Σ (x - x̄)² over each stream's epoch."""
        return self._each("squares")

    @property
    def interval(self) -> tuple[Numbers, Numbers]:
        """(low, high) of each stream."""
        low, high = np.transpose([stream.interval for stream in self._streams])
        return low.copy(), high.copy()

    @property
    def evidence(self) -> Evidence[Numbers]:
        """What each stream tells."""
        told = [list(vars(stream.evidence).values()) for stream in self._streams]
        return Evidence(*np.array(np.transpose(told), order="C"))

    def state(self) -> dict[str, float | list[float]]:
        """Return nothing: one stream is resumed at a time, see `RestartedStream.state`."""
        raise ValueError("several restarted streams have no common state: follow each of its own")

    def update(self, sample: ArrayLike) -> None:
        """Fold one sample of each stream; refuse all of them before anything changes."""
        self._check.update(sample)
        for stream, x in zip(self._streams, np.asarray(sample, dtype=np.float64), strict=True):
            stream.update(x)

    def _each(self, name: str) -> Numbers:
        return np.array([getattr(stream, name) for stream in self._streams], dtype=np.float64)
