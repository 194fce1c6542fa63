"""Restarts: a stream starts again when its mean must have changed.

Lives here: the bound with a detector of changes, and its streams.  Must not know how changes are
detected, nor agents.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from colme._compile import kernel
from colme.bounds.adwin import AdwinDetector
from colme.bounds.base import Bound, StreamBase
from colme.bounds.change_detector import SequencesDetector
from colme.bounds.counted import Counted, views_by_count
from colme.bounds.evidence import Evidence, Numbers
from colme.bounds.folder import EVIDENCE, write_evidence
from colme.bounds.moments import folded_mean, folded_squares
from colme.bounds.protocol import Folder, Stream
from colme.bounds.wrapper import ForgettingStream, Wrapper
from colme.view import View

DETECTORS: Mapping[str, type[SequencesDetector | AdwinDetector]] = MappingProxyType(
    {"sequences": SequencesDetector, "adwin": AdwinDetector}
)
"""The detectors by name."""


@kernel
def fold_epochs(
    samples: Numbers, epochs: Numbers, means: Numbers, counts: Numbers, squares: Numbers
) -> None:
    """Fold samples into means, counts and squares[agent, time], anew in each epoch.

    Examples
    --------
    >>> fields = np.empty((3, 1, 3))
    >>> fold_epochs(np.array([[9.0], [1.0], [2.0]]), np.array([[0.0, 1.0, 1.0]]), *fields)
    >>> fields[:, 0].tolist()
    [[9.0, 1.0, 1.5], [1.0, 1.0, 2.0], [0.0, 0.0, 0.5]]
    """
    horizon, n_agents = samples.shape
    for a in range(n_agents):
        mean, square, count = 0.0, 0.0, 0.0
        for t in range(horizon):
            if t > 0 and epochs[a, t] != epochs[a, t - 1]:
                mean, square, count = 0.0, 0.0, 0.0
            before = mean
            mean = folded_mean(before, count, samples[t, a])
            square = folded_squares(square, before, mean, samples[t, a])
            count += 1.0
            means[a, t], counts[a, t], squares[a, t] = mean, count, square


class RestartedStream(ForgettingStream[float]):
    """One stream: that of the bound within since the last restart, and its detector.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> stream = Restarted(Laplace(sigma=0.5, gamma=0.05)).stream()
    >>> stream.update(2.0)
    >>> stream.count, stream.epoch
    (1, 0.0)
    """

    def __init__(self, bound: Restarted) -> None:
        super().__init__(bound, None)
        self._epoch = 0
        self._due = False
        self._detector = bound.new_detector()

    @property
    def epoch(self) -> float:
        """How often the stream has restarted."""
        return float(self._epoch)

    @property
    def variance(self) -> float:
        """That of the bound within: an epoch forgets none of its samples."""
        return float(self._bound.variance)

    def update(self, sample: ArrayLike) -> None:
        """Fold one sample, the first of a new epoch if an alarm is due."""
        within = self._bound.bound.stream() if self._due else self._within
        within.update(sample)
        if self._due:
            self._within, self._epoch = within, self._epoch + 1
            self._detector = self._bound.new_detector()
        self._show()
        x = float(np.asarray(sample, dtype=np.float64))
        self._due = self._detector.changed(x, self.count, self.mean, self.squares)

    def _show(self) -> None:
        within = self._within
        self.count, self._mean, self._squares = within.count, within.mean, within.squares

    def state(self) -> dict[str, float | list[float]]:
        """Return all that the samples have left behind, ready for JSON."""
        within = {f"within.{name}": value for name, value in self._within.state().items()}
        return {"epoch": self._epoch, "due": int(self._due), **self._detector.state(), **within}

    def _resume(self, state: Mapping[str, Any]) -> None:
        own = {"epoch", "due", *self._detector.state()}
        parts = {name for name in dict(state) if not str(name).startswith("within.")}
        if parts != own or state["due"] not in (0, 1) or not _is_count(state["epoch"]):
            raise ValueError(
                f"a restarted stream's state holds {sorted(own)} and the stream within; "
                f"received {state!r}"
            )
        self._epoch, self._due = int(state["epoch"]), bool(state["due"])
        self._within = self._bound.bound.resume(
            {name.removeprefix("within."): state[name] for name in state if name not in own}
        )
        self._detector.resume(state)
        self._show()


def _is_count(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and value >= 0 and value % 1 == 0


class RestartedStreams(StreamBase[Numbers]):
    """Several streams, each of which restarts on its own.

    Attributes
    ----------
    count
        The smallest of the `counts`.
    counts
        How many samples the epoch of each stream has.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> streams = Restarted(Laplace(sigma=0.5, gamma=0.05)).stream(2)
    >>> streams.update([1.0, 2.0])
    >>> streams.mean, streams.epoch
    (array([1., 2.]), array([0., 0.]))
    """

    def __init__(self, bound: Restarted, n: int) -> None:
        super().__init__(bound, n)
        self._streams = [RestartedStream(bound) for _ in range(n)]
        self._check: Any = bound.bound.stream(n)
        self.counts = np.zeros(n)

    @property
    def epoch(self) -> Numbers:
        """How often each stream has restarted."""
        return self._each("epoch")

    @property
    def interval(self) -> tuple[Numbers, Numbers]:
        """(low, high) of each stream."""
        low, high = np.transpose([stream.interval for stream in self._streams])
        return low.copy(), high.copy()

    @property
    def evidence(self) -> Evidence[Numbers]:
        """What each stream says."""
        found = [list(vars(stream.evidence).values()) for stream in self._streams]
        return Evidence(*np.array(np.transpose(found), order="C"))

    def state(self) -> dict[str, float | list[float]]:
        """Return nothing: one stream is resumed at a time, see `RestartedStream.state`."""
        raise ValueError("several restarted streams have no common state: follow each of its own")

    def update(self, sample: ArrayLike) -> None:
        """Fold one sample of each stream; refuse all of them before anything changes."""
        self._check.update(sample)
        for stream, x in zip(self._streams, np.asarray(sample, dtype=np.float64), strict=True):
            stream.update(x)
        self.counts = self._each("count")
        self.count = int(self.counts.min())
        self._mean, self._squares = self._each("mean"), self._each("squares")

    def _each(self, name: str) -> Numbers:
        return np.array([getattr(stream, name) for stream in self._streams], dtype=np.float64)


def _write_evidence_of_epochs(bound: Bound, samples: Numbers, views: View[Numbers]) -> None:
    """Write the evidence of streams that restart wherever the count is 1.

    Epochs of similar length are followed together, as many at a time as there are agents.
    """
    horizon, n_agents = samples.shape
    agents, starts = np.nonzero(views.n_samples == 1)
    ends = np.where(np.append(agents[1:], -1) == agents, np.append(starts[1:], 0), horizon)
    by_length = np.argsort(starts - ends, kind="stable")
    for part in np.array_split(by_length, math.ceil(agents.size / n_agents)):
        longest = int((ends - starts)[part].max())
        # Beyond its end an epoch is filled with its first sample; what it says there is not kept.
        rows = np.minimum(starts[part] + np.arange(longest)[:, None], horizon - 1)
        inside = np.arange(longest)[:, None] < (ends - starts)[part]
        padded = np.where(inside, samples[rows, agents[part]], samples[starts, agents][part])
        here = View(*np.empty((len(View._fields), part.size, longest)))
        write_evidence(bound, padded, here)
        for column, i in enumerate(part):
            for name in EVIDENCE:
                found = getattr(here, name)[column, : ends[i] - starts[i]]
                getattr(views, name)[agents[i], starts[i] : ends[i]] = found


@dataclass(frozen=True)
class Restarted(Wrapper):
    """A bound that starts again whenever the mean must have changed.

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
        Every how many queries an excluded peer is asked again; 0: never.

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

    @staticmethod
    def stream_type(bound: Restarted, n: int | None) -> Stream[Any]:
        """Start to follow one stream, or n streams at once."""
        return RestartedStream(bound) if n is None else RestartedStreams(bound, n)

    def __post_init__(self) -> None:
        if self.detector not in DETECTORS:
            raise ValueError(
                f"detector must be one of {tuple(DETECTORS)}; received {self.detector!r}"
            )
        super().__post_init__()

    @property
    def variance(self) -> float:
        """That of the bound within: an epoch forgets none of its samples."""
        return self.bound.variance

    def revisit_in(self, epoch: int) -> int:  # noqa: ARG002 - a peer may change at any time
        """Return every how many queries one goes to an excluded peer."""
        return self.revisit

    def new_detector(self) -> SequencesDetector | AdwinDetector:
        """Return a detector that has seen no sample of its epoch."""
        return DETECTORS[self.detector](self.bound.scale, self.alarm)

    def folder(self, *_: Any, **__: Any) -> Folder:
        """Refuse: no stream of a fleet restarts at the same time as another."""
        raise ValueError(
            "streams that restart are followed one by one, not block by block; received "
            f"{self!r}: choose a window or a discount, or simulate fewer agents"
        )

    def fold_run(self, samples: Numbers, views: View[Numbers]) -> None:
        """Write the views[agent, k] of whole streams samples[k, agent]."""
        self.new_detector().find_epochs(samples, views.epoch)
        fold_epochs(samples, views.epoch, views.mean, views.n_samples, views.squares)
        views.variance[:] = self.variance
        if not isinstance(self.bound, Counted):
            _write_evidence_of_epochs(self.bound, samples, views)
            return
        known = views_by_count(self.bound, 0, len(samples))
        for name in EVIDENCE:
            getattr(views, name)[:] = getattr(known, name)[views.n_samples.astype(np.int64) - 1]
