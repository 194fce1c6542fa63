"""Streams of many agents, folded into columns of views block by block.

Lives here: the folder that steps streams, which serves every bound.  Must not know which agents
they are, or where samples come from.
"""

from __future__ import annotations

import math
from typing import Any

from colme.bounds.evidence import Numbers
from colme.bounds.protocol import Stream
from colme.view import View

EVIDENCE = ("radius", "spread", "slope", "offset")
"""The columns of a view that say how far its mean may be off."""


def view_of_stream(stream: Stream[Any], log_risk: float) -> View[Any]:
    """Return what is known of one stream, or of n followed at once, at risk γ = exp(-log_risk).

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> stream = Laplace(sigma=0.5, gamma=0.05).stream()
    >>> stream.update(0.25)
    >>> view = view_of_stream(stream, log_risk=-math.log(0.05))
    >>> view.mean, view.n_samples, round(view.radius, 3)
    (0.25, 1, 1.828)
    """
    mean = stream.mean
    evidence = stream.evidence.around(mean)
    return View(
        mean=mean,
        n_samples=stream.count,
        radius=evidence.radius(log_risk),
        spread=evidence.spread,
        slope=evidence.slope,
        offset=evidence.offset,
        squares=stream.squares,
        epoch=stream.epoch,
        variance=stream.variance,
    )


class StreamFolder:
    """A folder that steps one stream for each agent, all at once.

    Examples
    --------
    >>> from colme.bounds import EmpiricalBernstein
    >>> import numpy as np
    >>> views = View(*np.empty((len(View._fields), 1, 2)))
    >>> folder = StreamFolder(EmpiricalBernstein(0, 1), n_agents=1, batch=1)
    >>> folder.fold(np.array([[0.0], [1.0]]), 0, views, views)
    >>> views.mean.tolist()
    [[0.0, 0.5]]
    """

    def __init__(self, bound: Any, n_agents: int, batch: int) -> None:
        self._stream: Any = bound.stream(n_agents)
        self._batch, self._log_risk = batch, -math.log(bound.gamma)

    def fold(
        self, samples: Numbers, before: int, private: View[Numbers], public: View[Numbers]
    ) -> None:
        """Fold the next samples; see `Folder.fold`."""
        for k, sample in enumerate(samples, start=before + 1):
            self._stream.update(sample)
            if k % self._batch == 0:
                step = k // self._batch - 1
                self._write(private, step, self._stream)
                if public is not private:
                    self._write(public, step, self._stream.public)

    def _write(self, views: View[Numbers], step: int, stream: Stream[Any]) -> None:
        view = view_of_stream(stream, self._log_risk)
        for name, column, value in zip(View._fields, views, view, strict=True):
            if name != "precision":  # for whoever looks to estimate
                column[:, step] = value


def write_evidence(bound: Any, samples: Numbers, views: View[Numbers]) -> None:
    """Write what streams of samples[k, agent] say about their means, after each sample.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> import numpy as np
    >>> views = View(*np.zeros((len(View._fields), 1, 2)))
    >>> write_evidence(Laplace(sigma=0.5, gamma=0.05), np.ones((2, 1)), views)
    >>> views.spread.tolist()
    [[0.5, 0.1875]]
    """
    stream, log_risk = bound.stream(samples.shape[1]), -math.log(bound.gamma)
    for t, sample in enumerate(samples):
        stream.update(sample)
        view = view_of_stream(stream, log_risk)
        for name in EVIDENCE:
            getattr(views, name)[:, t] = getattr(view, name)
