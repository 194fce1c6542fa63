"""Windows: only the last samples count.

Lives here: the bound over a window, its stream, and the sums of a window that never subtract.
Must not know agents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from colme._compile import compiled, kernel
from colme.bounds.base import Bound
from colme.bounds.evidence import N_co, Numbers
from colme.bounds.moments import folded_mean, folded_squares, merged_mean, merged_squares
from colme.bounds.wrapper import Forgetting, ForgettingStream
from colme.view import View

_LONGEST = 2**31 - 1
"""More samples than any stream has, and few enough to be counted by any loop."""


@compiled
def fold_tails(block: Any, means: Any, squares: Any) -> None:
    """Write mean and squares of the samples from each place of the block to its end.

    Examples
    --------
    >>> means, squares = [0.0] * 3, [0.0] * 3
    >>> fold_tails([9.0, 1.0, 2.0], means, squares)
    >>> means[1:], squares[1:]
    ([1.5, 2.0], [0.5, 0.0])
    """
    last = len(block) - 1
    means[last] = block[last]
    squares[last] = 0.0
    for i in range(last - 1, -1, -1):
        means[i] = folded_mean(means[i + 1], last - i, block[i])
        squares[i] = folded_squares(squares[i + 1], means[i + 1], means[i], block[i])


@kernel
def fold_windows(
    samples: Numbers, length: int, tails: Numbers, means: Numbers, squares: Numbers
) -> None:
    """Fold the last `length` samples at every time into means and squares[agent, time].

    `tails` is room for two numbers per sample of a window.

    Examples
    --------
    >>> means, squares = np.empty((1, 3)), np.empty((1, 3))
    >>> fold_windows(np.array([[9.0], [1.0], [2.0]]), 2, np.empty((2, 2)), means, squares)
    >>> means.tolist(), squares.tolist()
    ([[9.0, 5.0, 1.5]], [[0.0, 32.0, 0.5]])
    """
    horizon, n_agents = samples.shape
    tail_means, tail_squares = tails[0], tails[1]
    for a in range(n_agents):
        mean, square = 0.0, 0.0
        for t in range(horizon):
            place = t % length
            if place == 0:
                if t > 0:
                    fold_tails(samples[t - length : t, a], tail_means, tail_squares)
                mean, square = 0.0, 0.0
            before = mean
            mean = folded_mean(before, place, samples[t, a])
            square = folded_squares(square, before, mean, samples[t, a])
            means[a, t], squares[a, t] = mean, square
            here = place + 1
            if t >= length and here < length:
                tail = tail_means[here]
                rest = length - here
                means[a, t] = merged_mean(tail, rest, mean, here)
                squares[a, t] = merged_squares(tail_squares[here], tail, rest, square, mean, here)


class WindowedStream(ForgettingStream[N_co]):
    """The last samples of a stream: at most two windows of them are kept.

    Samples come in blocks of the length of the window.  A window is the end of one block and the
    beginning of the next, and both are folded like any samples: nothing is ever subtracted, so
    rounding errors leave with the samples that made them.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> stream = Windowed(Laplace(sigma=0.5, gamma=0.05), length=2).stream()
    >>> for sample in (1e100, 1.0, 2.0):
    ...     stream.update(sample)
    >>> stream.mean, stream.squares
    (1.5, 0.5)
    """

    def __init__(self, bound: Windowed, n: int | None) -> None:
        super().__init__(bound, n)
        self._length = bound.length
        self._last: list[Any] = []  # the block before
        self._tails: tuple[list[Any], list[Any]] = ([], [])  # its means and squares to its end
        self._block: list[Any] = []
        self._head: tuple[Any, Any] = (self._mean, 0.0)  # mean and squares of the block so far

    @property
    def epoch(self) -> N_co:
        """How many windows have passed since the first."""
        return self._answer(max(self._seen - 1, 0) // self._length)

    def state(self) -> dict[str, float | list[float]]:
        """Return the samples of this block and the last, ready for JSON."""
        return {"seen": self._seen, "samples": np.asarray(self._last + self._block).tolist()}

    def _resume(self, state: Mapping[str, Any]) -> None:
        if not isinstance(state, Mapping) or sorted(state) != ["samples", "seen"]:
            raise ValueError(f"a window's state holds samples and seen; received {state!r}")
        seen, samples = state["seen"], state["samples"]
        whole = isinstance(seen, int) and not isinstance(seen, bool) and seen >= 0
        block = max(seen - 1, 0) // self._length if whole else 0
        kept = seen - max(block - 1, 0) * self._length if whole else -1
        if not isinstance(samples, list) or len(samples) != kept:
            raise ValueError(
                "a window keeps the samples of this block and of the last; received "
                f"{samples!r} after {seen!r} samples: use the state as it was written"
            )
        self._seen = seen - kept
        for sample in samples:
            self.update(sample)

    def _fold(self, x: Any) -> None:
        if len(self._block) == self._length:
            self._tails = ([0.0] * self._length, [0.0] * self._length)
            fold_tails(self._block, *self._tails)
            self._last, self._block, self._head = self._block, [], (0.0, 0.0)
        mean, squares = self._head
        after = folded_mean(mean, len(self._block), x)
        self._head = after, folded_squares(squares, mean, after, x)
        self._block.append(x)

    def _show(self) -> None:
        self._mean, self._squares = self._head
        here = len(self._block)
        self.count = self._length if self._last else here
        if here < self.count:
            means, squares = self._tails
            tail = (squares[here], means[here], self._length - here)
            self._mean = merged_mean(*tail[1:], self._head[0], here)
            self._squares = merged_squares(*tail, self._head[1], self._head[0], here)
        self._within._stand_for(self.count, self._mean, self._squares)


@dataclass(frozen=True)
class Windowed(Forgetting):
    """A bound over the last `length` samples, for a mean that may change.

    The interval holds the mean of a stream that was constant over the window **at each time** with
    probability at least 1 - γ, not at all times at once.

    Parameters
    ----------
    bound
        `Laplace`, `NormalMixture`, `Stitched` or `Asymptotic`.
    length
        How many samples count, at least 2.
    revisit
        Every how many queries an excluded peer is asked again; 0: never.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> stream = Windowed(Laplace(sigma=0.5, gamma=0.05), length=100).stream()
    >>> for sample in [0.0] * 200 + [1.0] * 100:
    ...     stream.update(sample)
    >>> stream.count, stream.mean, stream.epoch
    (100, 1.0, 2.0)

    Notes
    -----
    The last n samples are n samples like any others, and at a fixed n the evidence is an e-value.
    The epoch is ⌊(k - 1) / length⌋ after k samples: what was said an epoch ago is forgotten, or
    is about to be.
    """

    bound: Bound
    length: int
    revisit: int = 10
    stream_type = WindowedStream

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 < self.length <= _LONGEST:
            raise ValueError(
                f"length must be at least 2, to see samples scatter, and at most {_LONGEST}; "
                f"received {self.length}"
            )
        self._check_within(self.length)

    def _fold_means(self, samples: Numbers, views: View[Numbers]) -> None:
        tails = np.empty((2, min(self.length, len(samples))))
        fold_windows(samples, self.length, tails, views.mean, views.squares)
