"""What a simulation is asked to keep, and what it kept: estimates and class counts over time.

Lives here: `Record`, `Trajectory`, and the sink that writes it.  Must not know how anything was
computed, nor the formats of files.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check, engine
from colme.algorithm import Algorithm
from colme.results import files

if TYPE_CHECKING:
    import xarray


Array = NDArray[np.float64]
Counts = NDArray[np.int16 | np.int32]

DEFAULT_LIMIT = 1 << 30
"""One trajectory takes at most this many bytes (1 GiB) unless another limit is given."""
MOST_IN_INT16 = 2**15 - 1
"""Up to this many agents are counted in 16 bits, more in 32."""


@dataclass(frozen=True)
class Record:
    """What a simulation keeps.

    Parameters
    ----------
    estimates, class_counts, likely_counts
        Whether each array is kept.
    every
        Keep every n-th step (and always the last).  By default every step if the arrays fit
        in `limit` bytes, otherwise as many as fit, with a warning that says so.
    limit
        Most bytes the kept arrays may take when `every` is not given.

    Examples
    --------
    >>> Record(every=10).times(horizon=25, runs=1, n_agents=2, n_classes=1).tolist()
    [10, 20, 25]
    """

    estimates: bool = True
    class_counts: bool = True
    likely_counts: bool = False
    every: int | None = None
    limit: int = DEFAULT_LIMIT

    def __post_init__(self) -> None:
        if self.every is not None:
            _check.positive_int("every", self.every)
        _check.positive_int("limit", self.limit)

    def bytes_per_time(self, runs: int, n_agents: int, n_classes: int) -> int:
        """Return what one kept time step costs."""
        count = 2 if n_agents <= MOST_IN_INT16 else 4
        n_counts = self.class_counts + self.likely_counts
        return runs * n_agents * (8 * self.estimates + count * n_classes * n_counts)

    def times(self, horizon: int, runs: int, n_agents: int, n_classes: int) -> NDArray[np.int64]:
        """Return the time steps kept, counted from 1."""
        every = self.every
        if every is None:
            each = self.bytes_per_time(runs, n_agents, n_classes)
            n_fitting = max(1, self.limit // each) if each else horizon
            every = max(1, -(-horizon // n_fitting))
            if every > 1:
                warnings.warn(
                    f"keeping every step would take {horizon * each / 2**30:.1f} GiB; "
                    f"keeping every {every}th (pass record=colme.Record(...) to choose)",
                    stacklevel=3,
                )
        times = np.arange(every, horizon + 1, every, dtype=np.int64)
        return times if times.size and times[-1] == horizon else np.append(times, horizon)


@dataclass(frozen=True, eq=False)
class Trajectory:
    """What a simulation kept, and the facts needed to read it.

    Attributes
    ----------
    estimates
        float64[run, time, agent], or None if not kept.
    class_counts
        int[run, time, agent, class]: how many agents of each true class stand in the agent's
        optimistic class; None if not kept.
    likely_counts
        The same of its likely class, of which nothing is guaranteed; None if not kept.
    times
        int64[time]: the steps kept, counted from 1.
    labels
        int64[agent]: the true class of each agent.
    algorithm, name
        What ran, and under which name.
    horizon, sigma, delta
        The simulation's parameters; sigma is +∞ where the scale of a sample is not known.

    Examples
    --------
    >>> import colme
    >>> samples = colme.Problem.gaussian([0.0, 1.0], class_sizes=[2, 1], sigma=0.1).draw(5)
    >>> trajectory = colme.simulate(samples, "round-robin", sigma=0.1, delta=0.01)
    >>> trajectory.estimates.shape, trajectory.class_counts.shape
    ((1, 5, 3), (1, 5, 3, 1))
    """

    estimates: Array | None
    class_counts: Counts | None
    likely_counts: Counts | None
    times: NDArray[np.int64]
    labels: NDArray[np.int64]
    algorithm: Algorithm
    name: str
    horizon: int
    sigma: float
    delta: float

    @property
    def n_agents(self) -> int:
        """How many agents took part."""
        return self.labels.size

    @property
    def class_sizes(self) -> NDArray[np.int64]:
        """How many agents carry each label."""
        return np.bincount(self.labels)

    def errors(self, true_means: ArrayLike) -> Array:
        """Return |estimate - true mean|, [run, kept time, agent]; means as in `times_to_converge`.

        Examples
        --------
        >>> import colme
        >>> colme.simulate([[1.0], [3.0]], "local", sigma=0.1).errors([0.0]).tolist()
        [[[1.0], [2.0]]]
        """
        estimates, targets = self._with_targets(true_means)
        return np.abs(estimates - targets)

    def final_errors(self, true_means: ArrayLike) -> Array:
        """Return |estimate - true mean| at the horizon, [run, agent]; NaN without an estimate."""
        estimates, targets = self._with_targets(true_means)
        return np.abs(estimates[:, -1] - (targets if targets.ndim == 1 else targets[-1]))

    def average_errors(self, true_means: ArrayLike) -> Array:
        """Return the error at each kept time, averaged over runs and agents that have one."""
        errors = self.errors(true_means)
        known = ~np.isnan(errors)
        sums: Array = np.where(known, errors, 0.0).sum(axis=(0, 2))
        return sums / np.where(known.any(axis=(0, 2)), known.sum(axis=(0, 2)), np.nan)

    def times_to_converge(self, true_means: ArrayLike, epsilon: float) -> NDArray[np.int64]:
        """Return the first time from which each error stays at most ε for good, [run, agent].

        True means are [agent], or [kept time, agent].  On a thinned trajectory only the kept times
        are looked at; horizon + 1 means not within the horizon.
        """
        estimates, targets = self._with_targets(true_means)
        epsilon = _check.positive("epsilon", epsilon)
        if targets.ndim == 2:
            estimates, targets = estimates - targets, np.zeros(self.labels.size)
        last = np.empty((len(estimates), self.labels.size), np.int64)
        by_agent = np.ascontiguousarray(estimates.swapaxes(1, 2))
        engine.last_wrong_estimate(by_agent, targets, epsilon, last)
        times: NDArray[np.int64] = np.append(self.times, self.horizon + 1)[last]
        return times

    def times_to_identify(
        self, true_counts: ArrayLike | None = None, *, likely: bool = False
    ) -> NDArray[np.int64]:
        """Return the first time from which each class is the true class for good, [run, agent].

        The class is the optimistic one, or the likely one.  The true class of an agent is everyone
        with its label, or true_counts[agent, class].
        """
        counts = self.likely_counts if likely else self.class_counts
        if counts is None:
            kind = "likely" if likely else "class"
            raise ValueError(
                f"this needs {kind} counts: simulate with record=colme.Record({kind}_counts=True)"
            )
        if true_counts is None:
            sizes = np.bincount(self.labels)
            true_counts = np.where(np.arange(sizes.size) == self.labels[:, None], sizes, 0)
        truth = np.asarray(true_counts, dtype=np.int64)
        if truth.shape != counts.shape[2:]:
            raise ValueError(
                f"true_counts must be [agent, class] = {counts.shape[2:]}; received {truth.shape}"
            )
        last = np.empty((len(counts), self.labels.size), np.int64)
        engine.last_wrong_class(np.ascontiguousarray(counts.swapaxes(1, 2)), truth, last)
        times: NDArray[np.int64] = np.append(self.times, self.horizon + 1)[last]
        return times

    def _with_targets(self, true_means: ArrayLike) -> tuple[Array, Array]:
        """Return the estimates, and the means that they are compared with."""
        if self.estimates is None:
            raise ValueError(
                "this needs estimates: simulate with record=colme.Record(estimates=True)"
            )
        targets = np.asarray(true_means, dtype=np.float64)
        shape = self.times.size, self.labels.size
        if targets.shape not in (shape, shape[1:]):
            raise ValueError(
                f"true_means must be [agent], or [time, agent] for the {shape[0]} kept times, with "
                f"one for each of the {shape[1]} agents; received shape {targets.shape}"
            )
        return self.estimates, targets

    def to_xarray(self) -> xarray.Dataset:
        """Return the trajectory as a labelled Dataset, ready for NetCDF or Zarr.

        Examples
        --------
        >>> import colme
        >>> samples = colme.Problem.gaussian([0.0], n_agents=2, sigma=0.1).draw(3)
        >>> colme.simulate(samples, "local", sigma=0.1).to_xarray()["estimates"].dims
        ('run', 'time', 'agent')
        """
        dataset: xarray.Dataset = files.dataset(vars(self))
        return dataset

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trajectory to ``.npz`` or ``.nc`` (NetCDF).

        A path that cannot be written raises ValueError; a failure leaves no file behind.

        Examples
        --------
        >>> import tempfile, colme
        >>> samples = colme.Problem.gaussian([0.0], n_agents=2, sigma=0.1).draw(3)
        >>> trajectory = colme.simulate(samples, "local", sigma=0.1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     trajectory.save(f"{folder}/run.npz")
        ...     Trajectory.load(f"{folder}/run.npz").name
        'local'
        """
        files.save(path, vars(self))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the trajectory that `save` wrote; raise ValueError for anything else."""
        return cls(**files.load(path))


@dataclass
class Keep:
    """The sink that keeps everything: agents write straight into a trajectory.

    Examples
    --------
    >>> import colme
    >>> trajectory = colme.simulate([[0.0, 1.0]] * 3, "local", sigma=0.1)
    >>> sink = Keep(trajectory)
    >>> sink.open(0, 0, 3).tolist(), sink.output(0, 2).estimates.shape
    ([0, 1, 2], (2, 3))
    """

    trajectory: Trajectory
    run: int = 0
    bytes_per_step: ClassVar[int] = 0

    def open(self, run: int, start: int, stop: int) -> NDArray[np.int64]:
        """Begin a block of time; return where each of its steps is written, -1 for nowhere."""
        self.run, slots = run, np.full(self.trajectory.horizon, -1)
        slots[self.trajectory.times - 1] = np.arange(self.trajectory.times.size)
        return slots[start:stop]

    def output(self, first: int, last: int) -> engine.Output:
        """Return where agents first..last-1 write."""
        kept, n_classes = self.trajectory, int(self.trajectory.labels.max()) + 1
        arrays: list[Any] = [np.empty((0, 0)), *np.empty((2, 0, 0, n_classes), np.int16)]
        for i, array in enumerate((kept.estimates, kept.class_counts, kept.likely_counts)):
            if array is not None:
                arrays[i] = array[self.run].swapaxes(0, 1)[first:last]
        return engine.Output(*arrays)

    def take(self, first: int, output: engine.Output) -> None:
        """Do nothing: what agents wrote is where it belongs."""
