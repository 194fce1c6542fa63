"""Trajectories on disk: NumPy's archive or NetCDF.

Lives here: the layout and the facts of both formats.  Must not know how anything was computed.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from colme import _extras
from colme._files import replacing
from colme.algorithm import Algorithm

_ARRAYS = ("estimates", "class_counts", "likely_counts")
_NEED = "labelled and NetCDF trajectories need xarray"
_MODULES = ("h5netcdf", "h5py", "xarray")


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


def dataset(content: Mapping[str, Any]) -> Any:
    """Return the fields of a trajectory as a labelled Dataset of xarray.

    Examples
    --------
    >>> import colme
    >>> dataset(vars(colme.simulate([[0.0], [1.0]], "local", sigma=0.1)))["label"].dims
    ('agent',)
    """
    axes = ("run", "time", "agent", "class")
    kept = {key: content[key] for key in _ARRAYS if content[key] is not None}
    data = {key: (axes[: array.ndim], array) for key, array in kept.items()}
    labelled = _extras.load(_NEED, "xarray", *_MODULES).Dataset(
        {"label": (("agent",), content["labels"]), **data},
        coords={"time": content["times"]},
        attrs=_facts(content),
    )
    return labelled.transpose(*axes, missing_dims="ignore")


def save(path: str | os.PathLike[str], content: Mapping[str, Any]) -> None:
    """Write the fields of a trajectory; raise ValueError for a path that cannot be written.

    Examples
    --------
    >>> import tempfile, colme
    >>> trajectory = colme.simulate([[0.0], [1.0]], "local", sigma=0.1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(f"{folder}/run.npz", vars(trajectory))
    ...     load(f"{folder}/run.npz")["horizon"]
    2
    """
    target = check_path(path)
    try:
        with replacing(target) as draft:
            if draft.suffix == ".nc":
                dataset(content).to_netcdf(draft, engine="h5netcdf")
                return
            keys = ("times", "labels", *(key for key in _ARRAYS if content[key] is not None))
            with draft.open("wb") as stream:
                facts = np.array(json.dumps(_facts(content)))
                np.savez(stream, facts=facts, **{key: content[key] for key in keys})
    except OSError as error:
        raise ValueError(f"cannot write {str(target)!r}: {error.strerror or error}") from None


def load(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the fields of a trajectory that `save` wrote; raise ValueError for anything else.

    Examples
    --------
    >>> load("nowhere.npz")
    Traceback (most recent call last):
    ValueError: nowhere.npz does not hold a trajectory: [Errno 2] No such file or directory: \
'nowhere.npz'
    """
    source = check_path(path)
    try:
        arrays, facts = _read_netcdf(source) if source.suffix == ".nc" else _read_npz(source)
        how = {key: facts[key] for key in ("query", "weighting", "class_test", "eta", "meaning")}
        within = None if math.isinf(facts["within"]) else facts["within"]
        return {
            **{key: arrays.get(key) for key in _ARRAYS},
            "times": arrays["times"],
            "labels": arrays["labels"],
            "algorithm": Algorithm(**how, within=within),
            "name": facts["algorithm"],
            "horizon": int(facts["horizon"]),
            "sigma": float(facts["sigma"]),
            "delta": float(facts["delta"]),
        }
    except (KeyError, TypeError, ValueError, OSError, EOFError, BadZipFile) as error:
        raise ValueError(f"{source} does not hold a trajectory: {error}") from None


def _read_npz(source: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    # Opened here, because numpy leaves a file open that turns out to be no archive.
    with source.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
        arrays = dict(stored)
    return arrays, json.loads(str(arrays.pop("facts")))


def _read_netcdf(source: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    xarray = _extras.load(_NEED, "xarray", *_MODULES)
    with xarray.open_dataset(source, engine="h5netcdf") as stored:
        arrays = {name: stored[name].to_numpy() for name in stored.data_vars}
        arrays |= {"times": stored["time"].to_numpy(), "labels": arrays.pop("label")}
        return arrays, dict(stored.attrs)


def _facts(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is no array, as plain values."""
    algorithm: Algorithm = content["algorithm"]
    return {
        "algorithm": content["name"],
        "query": algorithm.query.word,
        "weighting": algorithm.weighting.word,
        "class_test": algorithm.class_test.word,
        "eta": algorithm.eta,
        "meaning": algorithm.meaning,
        "within": math.inf if algorithm.within is None else algorithm.within,
        "horizon": content["horizon"],
        "sigma": content["sigma"],
        "delta": content["delta"],
    }
