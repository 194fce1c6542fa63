"""`colme sweep`: a grid over an experiment, measured into one table.

Lives here: its flags.  Must not know how anything is computed or printed.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Literal

from colme import _terminal
from colme._terminal.sweep import print_outcome, print_points, say_resumable, show_points
from colme.sweep import Sweep, run_sweep


def sweep(
    spec: Path,
    /,
    *,
    out: Path | None = None,
    engine: Literal["local", "dask"] | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
    overwrite: bool = False,
    dry_run: bool = False,
    json: bool = False,
) -> None:
    """Run an experiment for every combination of some of its keys, into one table of results.

    The file is that of `colme simulate` with a table [grid] that gives a list of values for some
    keys, and if wanted tables [[points]] that each give one value for the same keys.  A sweep that
    was interrupted or killed continues when it is run again.  Examples:

        colme sweep grid.toml

        colme sweep grid.toml --out results.parquet --engine dask --workers 2

        colme sweep grid.toml --scheduler tls://10.0.0.1:8786

    Parameters
    ----------
    spec
        TOML file: an experiment and its grid.
    out
        Parquet file for the results: one row for each point, algorithm and run (by default beside
        the TOML file, of the same name).
    engine
        Who measures the points: processes of this machine (local), or a Dask cluster (dask).
    scheduler
        Address of a Dask cluster, instead of one that is made on this machine.
    workers
        Number of processes on this machine (one for each core); the results do not depend on it.
    overwrite
        Replace whatever results are there, or the unfinished points of another sweep.
    dry_run
        Check the file and print its points instead.
    json
        Print what was done as JSON.
    """
    asked = Sweep.read(spec)
    if dry_run:
        rows = [point.values for point in asked.points]
        if json:
            _terminal.print_json(rows)
        else:
            print_points(rows)
        return
    target = spec.with_suffix(".parquet") if out is None else out
    if target.resolve() == spec.resolve():
        raise ValueError(f"the results would replace {str(spec)!r}: choose another name with --out")
    engine = engine or ("local" if scheduler is None else "dask")
    chosen = {"engine": engine, "workers": workers, "scheduler": scheduler}
    _run(asked, target, json, overwrite=overwrite, **chosen)


def _run(asked: Sweep, target: Path, as_json: bool, **settings: Any) -> None:
    begin = time.monotonic()
    try:
        with show_points(len(asked.points)) as progress:
            outcome = run_sweep(asked, target, progress=progress, **settings)
    except KeyboardInterrupt:
        say_resumable(target)
        raise
    seconds = time.monotonic() - begin
    if as_json:
        plain = {"out": str(outcome.path), "points": outcome.n_points, "rows": outcome.n_rows}
        found = {"measured": outcome.n_measured, "seconds": round(seconds, 3)}
        _terminal.print_json(plain | found)
    else:
        print_outcome(outcome, asked.keys, seconds)
