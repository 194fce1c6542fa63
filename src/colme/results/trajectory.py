"""What a run kept: estimates and class counts over time, with the facts needed to read them.

Lives here: Trajectory, saved, loaded, labelled.  Must not know how it was computed.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from zipfile import BadZipFile

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check, engine
from colme._files import replacing
from colme.algorithm import Algorithm
from colme.results.files import check_path, import_xarray, read, write_npz

if TYPE_CHECKING:
    import xarray


Array = NDArray[np.float64]

_ARRAYS = ("estimates", "class_counts", "likely_counts")


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

    estimates: NDArray[np.float64] | None
    class_counts: NDArray[np.int16 | np.int32] | None
    likely_counts: NDArray[np.int16 | np.int32] | None
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

    def errors(self, true_means: ArrayLike) -> NDArray[np.float64]:
        """Return |estimate - true mean|, [run, kept time, agent]; means as in `times_to_converge`.

        Examples
        --------
        >>> import colme
        >>> colme.simulate([[1.0], [3.0]], "local", sigma=0.1).errors([0.0]).tolist()
        [[[1.0], [2.0]]]
        """
        kept: Array = _kept("estimates", self.estimates)
        return np.abs(kept - self._targets(true_means))

    def final_errors(self, true_means: ArrayLike) -> NDArray[np.float64]:
        """Return |estimate - true mean| at the horizon, [run, agent]; NaN without an estimate."""
        last = self._targets(true_means)
        estimates: Array = _kept("estimates", self.estimates)[:, -1]
        return np.abs(estimates - (last if last.ndim == 1 else last[-1]))

    def average_errors(self, true_means: ArrayLike) -> NDArray[np.float64]:
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
        estimates = _kept("estimates", self.estimates)
        targets, epsilon = self._targets(true_means), _check.positive("epsilon", epsilon)
        if targets.ndim == 2:
            estimates, targets = estimates - targets, np.zeros(self.n_agents)
        last = np.empty((estimates.shape[0], self.n_agents), np.int64)
        by_agent = np.ascontiguousarray(estimates.swapaxes(1, 2))
        engine.last_wrong_estimate(by_agent, targets, epsilon, last)
        return self._times_after(last)

    def times_to_identify(
        self, true_counts: ArrayLike | None = None, *, likely: bool = False
    ) -> NDArray[np.int64]:
        """Return the first time from which each class is the true class for good, [run, agent].

        The class is the optimistic one, or the likely one.  The true class of an agent is everyone
        with its label, or true_counts[agent, class].
        """
        name = "likely_counts" if likely else "class_counts"
        counts: engine.ClassCounts = _kept(name, getattr(self, name))
        sizes = self.class_sizes
        if true_counts is None:
            true_counts = np.where(np.arange(sizes.size) == self.labels[:, None], sizes, 0)
        truth = np.asarray(true_counts, dtype=np.int64)
        if truth.shape != counts.shape[2:]:
            raise ValueError(
                f"true_counts must be [agent, class] = {counts.shape[2:]}; received {truth.shape}"
            )
        last = np.empty((counts.shape[0], self.n_agents), np.int64)
        engine.last_wrong_class(np.ascontiguousarray(counts.swapaxes(1, 2)), truth, last)
        return self._times_after(last)

    def _times_after(self, last: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the kept time that follows the last wrong one; horizon + 1 if there is none."""
        times: NDArray[np.int64] = np.append(self.times, self.horizon + 1)[last]
        return times

    def _targets(self, true_means: ArrayLike) -> NDArray[np.float64]:
        targets = np.asarray(true_means, dtype=np.float64)
        shape = self.times.size, self.n_agents
        if targets.shape not in (shape, shape[1:]):
            raise ValueError(
                f"true_means must be [agent], or [time, agent] for the {shape[0]} kept times, with "
                f"one for each of the {shape[1]} agents; received shape {targets.shape}"
            )
        return targets

    def to_xarray(self) -> xarray.Dataset:
        """Return the trajectory as a labelled Dataset, ready for NetCDF or Zarr.

        Examples
        --------
        >>> import colme
        >>> samples = colme.Problem.gaussian([0.0], n_agents=2, sigma=0.1).draw(3)
        >>> colme.simulate(samples, "local", sigma=0.1).to_xarray()["estimates"].dims
        ('run', 'time', 'agent')
        """
        xr = import_xarray()
        data: dict[str, Any] = {"label": (("agent",), self.labels)}
        if self.estimates is not None:
            data["estimates"] = (("run", "time", "agent"), self.estimates)
        for name in ("class_counts", "likely_counts"):
            if getattr(self, name) is not None:
                data[name] = (("run", "time", "agent", "class"), getattr(self, name))
        dataset: xarray.Dataset = xr.Dataset(data, coords={"time": self.times}, attrs=self._facts())
        return dataset.transpose("run", "time", "agent", "class", missing_dims="ignore")

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
        target = check_path(path)
        try:
            with replacing(target) as draft:
                self._write(draft)
        except OSError as error:
            raise ValueError(f"cannot write {str(target)!r}: {error.strerror or error}") from None

    def _write(self, draft: Path) -> None:
        if draft.suffix == ".nc":
            self.to_xarray().to_netcdf(draft, engine="h5netcdf")
            return
        arrays = {key: getattr(self, key) for key in _ARRAYS}
        kept: dict[str, Any] = {key: array for key, array in arrays.items() if array is not None}
        write_npz(draft, self._facts(), {"times": self.times, "labels": self.labels, **kept})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the trajectory that `save` wrote; raise ValueError for anything else."""
        source = check_path(path)
        try:
            arrays, facts = read(source)
            return cls(
                **{key: arrays.get(key) for key in _ARRAYS},
                times=arrays["times"],
                labels=arrays["labels"],
                algorithm=Algorithm(
                    facts["query"],
                    facts["weighting"],
                    facts["class_test"],
                    facts["eta"],
                    facts["meaning"],
                    None if math.isinf(facts["within"]) else facts["within"],
                ),
                name=facts["algorithm"],
                horizon=int(facts["horizon"]),
                sigma=float(facts["sigma"]),
                delta=float(facts["delta"]),
            )
        except (KeyError, TypeError, ValueError, OSError, EOFError, BadZipFile) as error:
            raise ValueError(f"{source} does not hold a trajectory: {error}") from None

    def _facts(self) -> dict[str, Any]:
        algorithm = self.algorithm
        return {
            "algorithm": self.name,
            "query": algorithm.query.word,
            "weighting": algorithm.weighting.word,
            "class_test": algorithm.class_test.word,
            "eta": algorithm.eta,
            "meaning": algorithm.meaning,
            "within": math.inf if algorithm.within is None else algorithm.within,
            "horizon": self.horizon,
            "sigma": self.sigma,
            "delta": self.delta,
        }


def _kept(name: str, array: Any) -> Any:
    """Return an array that was kept, or raise ValueError."""
    if array is None:
        raise ValueError(
            f"this needs {name.replace('_', ' ')}: simulate with record=colme.Record({name}=True)"
        )
    return array
