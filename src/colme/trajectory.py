"""What a run kept: estimates and class counts over time, with the facts needed to read them.

Lives here: Record (what to keep) and Trajectory (what was kept), saved, loaded, labelled.  Must
not know how it was computed.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from colme import _check
from colme._files import replacing
from colme.algorithm import Algorithm

if TYPE_CHECKING:
    import xarray

__all__ = ["Record", "Trajectory", "check_path", "count_type"]

_ARRAYS = ("estimates", "class_counts", "likely_counts")

DEFAULT_LIMIT = 1 << 30
"""One trajectory takes at most this many bytes (1 GiB) unless told otherwise."""


@dataclass(frozen=True)
class Record:
    """What a simulation keeps.

    Parameters
    ----------
    estimates, class_counts, likely_counts
        Whether each array is kept.
    every
        Keep every so-many steps (and always the last).  By default every step if the arrays fit
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
        count = np.dtype(count_type(n_agents)).itemsize
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

    def to_xarray(self) -> xarray.Dataset:
        """Return the trajectory as a labelled Dataset, ready for NetCDF or Zarr.

        Examples
        --------
        >>> import colme
        >>> samples = colme.Problem.gaussian([0.0], n_agents=2, sigma=0.1).draw(3)
        >>> colme.simulate(samples, "local", sigma=0.1).to_xarray()["estimates"].dims
        ('run', 'time', 'agent')
        """
        xr = _import_xarray()
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
        facts = np.array(json.dumps(self._facts()))
        with draft.open("wb") as stream:
            np.savez(stream, facts=facts, times=self.times, labels=self.labels, **kept)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the trajectory that `save` wrote; raise ValueError for anything else."""
        source = check_path(path)
        try:
            arrays, facts = _read_netcdf(source) if source.suffix == ".nc" else _read_npz(source)
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


def count_type(n_agents: int) -> type[np.int16] | type[np.int32]:
    """Return the smallest type that counts so many agents.

    Examples
    --------
    >>> count_type(200)
    <class 'numpy.int16'>
    """
    return np.int16 if n_agents <= np.iinfo(np.int16).max else np.int32


def check_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of a trajectory file, or raise ValueError for a suffix nobody can read.

    Examples
    --------
    >>> check_path("run.nc").suffix
    '.nc'
    """
    target = Path(path)
    if target.suffix not in {".npz", ".nc"}:
        raise ValueError(f"a trajectory is kept as .npz or .nc (NetCDF); received {str(target)!r}")
    return target


def _import_xarray() -> Any:
    try:
        for engine in ("h5netcdf", "h5py"):  # what writes NetCDF
            importlib.import_module(engine)
        return importlib.import_module("xarray")
    except ImportError:
        raise ImportError(
            "labelled and NetCDF trajectories need xarray: pip install 'colme[xarray]'"
        ) from None


def _read_npz(source: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    # Opened here, because numpy leaves a file open that turns out to be no archive.
    with source.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
        arrays = dict(stored)
    return arrays, json.loads(str(arrays.pop("facts")))


def _read_netcdf(source: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    with _import_xarray().open_dataset(source, engine="h5netcdf") as dataset:
        arrays = {name: dataset[name].to_numpy() for name in dataset.data_vars}
        arrays |= {"times": dataset["time"].to_numpy(), "labels": arrays.pop("label")}
        return arrays, dict(dataset.attrs)
