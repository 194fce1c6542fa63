"""Trajectories on disk: NumPy's archive or NetCDF.

Lives here: reading and writing arrays and facts.  Must not know what they mean.
"""

from __future__ import annotations

import importlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np


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


def import_xarray() -> Any:
    """Return the module, or say how to install what it needs.

    Examples
    --------
    >>> import_xarray().Dataset({"mean": ("agent", [0.5])})["mean"].dims
    ('agent',)
    """
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
    with import_xarray().open_dataset(source, engine="h5netcdf") as dataset:
        arrays = {name: dataset[name].to_numpy() for name in dataset.data_vars}
        arrays |= {"times": dataset["time"].to_numpy(), "labels": arrays.pop("label")}
        return arrays, dict(dataset.attrs)


def read(source: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arrays and the facts of a file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_npz(Path(folder, "run.npz"), {"horizon": 3}, {"times": np.arange(3)})
    ...     arrays, facts = read(Path(folder, "run.npz"))
    >>> arrays["times"].tolist(), facts
    ([0, 1, 2], {'horizon': 3})
    """
    return _read_netcdf(source) if source.suffix == ".nc" else _read_npz(source)


def write_npz(draft: Path, facts: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Write arrays and facts to NumPy's archive.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_npz(Path(folder, "run.npz"), {"horizon": 3}, {"times": np.arange(3)})
    ...     sorted(np.load(Path(folder, "run.npz")).files)
    ['facts', 'times']
    """
    with draft.open("wb") as stream:
        np.savez(stream, facts=np.array(json.dumps(facts)), **arrays)
