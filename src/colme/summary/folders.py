"""Folders made of the folders of bounds: whole runs with arrivals, agents of different bounds.

Lives here: the step from views by sample to views by time, and from one bound to several.  Must not
know where samples come from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme.bounds import Bound
from colme.bounds.protocol import Folder
from colme.view import UNHEARD, View

Array: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[np.int64]

COLUMNS = tuple(name for name in View._fields if name != "precision")
"""The columns that samples fill; precisions are for whoever looks to estimate."""


def count_arrived(arrivals: NDArray[np.integer[Any]], n_samples: int, n_agents: int) -> Counts:
    """Return how many of its samples each agent has by each step, [agent, time].

    Examples
    --------
    >>> count_arrived(np.array([[0, 1], [2, 0]]), n_samples=3, n_agents=2).tolist()
    [[0, 2], [1, 1]]
    """
    counts = np.asarray(arrivals)
    if counts.ndim != 2 or counts.shape[1] != n_agents or counts.dtype.kind not in "iu":
        raise ValueError(
            f"arrivals must be whole numbers [time, agent] for {n_agents} agents; "
            f"received {counts.dtype} of shape {counts.shape}"
        )
    arrived = np.ascontiguousarray(counts.astype(np.int64).cumsum(axis=0).T)
    least, most = counts.min(initial=0), arrived.max(initial=0)
    if least < 0 or most > n_samples:
        raise ValueError(
            f"arrivals must be 0 or more and add up to at most the {n_samples} samples of an "
            f"agent; received {least} as the least and {most} together: draw more samples"
        )
    return arrived


class RunFolder:
    """Folds the whole streams of some agents at once.

    Parameters
    ----------
    bound
        The bound of these agents.
    arrived
        int[agent, time]: how many samples each agent has by each step; None: one more each step.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> views = View(*np.empty((len(View._fields), 1, 2)))
    >>> folder = RunFolder(Laplace(sigma=0.5, gamma=0.05), np.array([[0, 2]]))
    >>> folder.fold(np.ones((2, 1)), 0, views, views)
    >>> views.n_samples.tolist(), views.radius.round(3).tolist()
    ([[0.0, 2.0]], [[inf, 1.153]])
    """

    def __init__(self, bound: Bound, arrived: Counts | None) -> None:
        self._bound, self._arrived = bound, arrived

    def fold(self, samples: Array, _before: int, private: View[Array], public: View[Array]) -> None:
        """Write the views[agent, time] of all samples[k, agent]."""
        if self._arrived is None:
            self._fold_all(samples, private, public)
            return
        n_samples = int(self._arrived.max(initial=0))
        shape = 2, len(View._fields), len(self._arrived), n_samples
        own, shown = (View(*columns) for columns in np.empty(shape))
        if n_samples:
            looked_at = np.arange(n_samples)[:, None] < self._arrived[:, -1]
            some = samples[:n_samples]
            # Any good sample may stand where none arrives: what follows from it is never seen.
            filled = np.where(looked_at, some, some[looked_at][0])
            self._fold_all(filled, own, own if public is private else shown)
        for views, by_sample in ((private, own), (public, shown))[: 1 + (public is not private)]:
            for name in COLUMNS:
                known = np.insert(getattr(by_sample, name), 0, getattr(UNHEARD, name), axis=1)
                getattr(views, name)[:] = np.take_along_axis(known, self._arrived, axis=1)

    def _fold_all(self, samples: Array, private: View[Array], public: View[Array]) -> None:
        if public is private:
            self._bound.fold_run(samples, private)
        else:
            self._bound.folder(samples.shape[1]).fold(samples, 0, private, public)


class MixedFolder:
    """Folds the samples of agents with different bounds.

    Parameters
    ----------
    bounds
        One for each agent.
    folder_of
        Called with a bound and the agents that have it.
    batch
        How many samples end a step; None: all steps are written at once.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> bounds = [Laplace(sigma=1, gamma=0.05), Laplace(sigma=2, gamma=0.05)]
    >>> views = View(*np.empty((len(View._fields), 2, 1)))
    >>> folder = MixedFolder(bounds, lambda bound, agents: bound.folder(agents.size), batch=1)
    >>> folder.fold(np.ones((1, 2)), 0, views, views)
    >>> views.spread.tolist()
    [[2.0], [8.0]]
    """

    def __init__(
        self,
        bounds: Sequence[Bound],
        folder_of: Callable[[Bound, Counts], Folder],
        batch: int | None,
    ) -> None:
        agents_of: dict[Bound, list[int]] = {}
        for agent, bound in enumerate(bounds):
            agents_of.setdefault(bound, []).append(agent)
        groups = [(bound, np.array(agents)) for bound, agents in agents_of.items()]
        self._groups = [(*group, folder_of(*group)) for group in groups]
        self._batch = batch

    def fold(self, samples: Array, before: int, private: View[Array], public: View[Array]) -> None:
        """Fold the next samples; see `Folder.fold`."""
        steps = slice(None)
        if self._batch is not None:
            steps = slice(before // self._batch, (before + len(samples)) // self._batch)
        for bound, agents, folder in self._groups:
            own, shown = (
                View(*np.empty((len(View._fields), agents.size, private.mean.shape[1])))
                for _ in range(2)
            )
            shown = shown if bound.has_public_view else own
            folder.fold(np.ascontiguousarray(samples[:, agents]), before, own, shown)
            for views, found in ((private, own), (public, shown)):
                for name in COLUMNS:
                    getattr(views, name)[agents, steps] = getattr(found, name)[:, steps]


def joint_folder(
    bounds: Sequence[Bound],
    n_agents: int,
    folder_of: Callable[[Bound, Counts], Folder],
    batch: int | None,
) -> Folder:
    """Return the folder of n agents, which have one bound or one each; see `MixedFolder`.

    Examples
    --------
    >>> from colme.bounds import Laplace
    >>> folder = joint_folder(
    ...     [Laplace(0.5, 0.05)], 3, lambda bound, _: bound.folder(3, 1, with_squares=False), 1
    ... )
    >>> isinstance(folder, MixedFolder)
    False
    """
    if all(bound == bounds[0] for bound in bounds):
        return folder_of(bounds[0], np.arange(n_agents))
    return MixedFolder(bounds, folder_of, batch)
