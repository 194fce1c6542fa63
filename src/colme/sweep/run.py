"""Run a sweep: measure all points into one file, and continue after any interruption.

Lives here: which points are left, which engine measures them, and when the results are written.
Must not know how points are measured or results laid out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

from colme import _check
from colme.sweep.engines import PointError, Task, compute_here, compute_on_cluster
from colme.sweep.engines.cluster_client import import_distributed
from colme.sweep.parquet import check_target, digest_of, import_arrow, write_results
from colme.sweep.point_journal import Journal
from colme.sweep.point_rows import Columns
from colme.sweep.spec import FORMAT, Sweep
from colme.sweep.versions import versions

Progress = Callable[[int, int], None]
Compute = Callable[[list[Task]], Generator[tuple[int, Columns], None, None]]

ENGINES: Mapping[str, str] = MappingProxyType(
    {
        "local": "processes of this machine",
        "dask": "a Dask cluster, made on this machine unless a scheduler is named",
    }
)
"""What can measure points."""


@dataclass(frozen=True)
class Outcome:
    """What a sweep did.

    Attributes
    ----------
    path
        The results.
    n_points, n_measured
        Points of the sweep, and how many of them this call measured; the others were there.
    n_rows
        Columns of the results; None if they had been complete before.

    Examples
    --------
    >>> Outcome(Path("results.parquet"), 8, 3, 40).n_found
    5
    """

    path: Path
    n_points: int
    n_measured: int
    n_rows: int | None

    @property
    def n_found(self) -> int:
        """How many points had been finished before."""
        return self.n_points - self.n_measured


def run_sweep(
    sweep: Sweep,
    out: str | os.PathLike[str],
    *,
    engine: str = "local",
    workers: int | None = None,
    scheduler: str | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Outcome:
    """Measure all points of a sweep into one Parquet file.

    Finished points are kept in a journal beside the file.  Called again after a kill, it continues,
    and the file is the same to the byte, whichever process measured a point, in whichever order.

    Parameters
    ----------
    sweep, out
        The points, and a name that ends in ``.parquet``.
    engine
        One of `ENGINES`.
    workers, scheduler
        Number of processes on this machine, by default one for each core; or, for the engine
        ``dask``, the address of a cluster.
    overwrite
        Replace whatever results are there, or the unfinished journal of another sweep.
    progress
        Called with the numbers of finished points and of all.

    Examples
    --------
    >>> import tempfile
    >>> problem = {"class_means": [0.2, 0.8], "sigma": 0.3}
    >>> content = {"problem": problem, "horizon": 20, "runs": 2, "algorithms": ["local"]}
    >>> sweep = Sweep.make(content | {"grid": {"problem.n_agents": [4, 8]}})
    >>> with tempfile.TemporaryDirectory() as place:
    ...     run_sweep(sweep, f"{place}/results.parquet").n_rows
    4
    """
    path = check_target(Path(out))
    compute = _choose(engine, workers, scheduler)
    import_arrow()  # a missing library must show before the work, not after it
    head = {"format": FORMAT, "specification": sweep.digest, "versions": versions()}
    with Journal(path.with_name(path.name + ".journal")) as journal:
        if digest_of(path) == sweep.digest and not overwrite:
            if journal.go_on(head):  # killed between the last two steps
                journal.remove()
            return Outcome(path, len(sweep.points), 0, None)
        if scheduler is None:
            _check_memory(sweep)
        if not journal.go_on(head):
            if not overwrite:
                journal.check_free(head)
                _check_free(path)
            journal.begin(head)
        n_found = len(journal)
        _measure(sweep, journal, compute, progress)
        n_rows = write_results(path, sweep, journal.read)
        journal.remove()
    return Outcome(path, len(sweep.points), len(sweep.points) - n_found, n_rows)


def _measure(sweep: Sweep, journal: Journal, compute: Compute, progress: Progress | None) -> None:
    """Measure every point that is not in the journal yet."""
    done, n_points = journal.finished, len(sweep.points)
    tasks = [
        Task(point.number, point.content) for point in sweep.points if point.number not in done
    ]
    report: Progress = progress or (lambda _done, _all: None)
    report(len(done), n_points)
    try:
        with closing(compute(tasks)) as finished:
            for number, rows in finished:
                journal.append(number, rows)
                report(len(journal), n_points)
    except PointError as error:
        kept = (
            f"; {len(journal)} of {n_points} points are kept in {str(journal.path)!r}: the same "
            "sweep continues from there once this point can be measured"
        )
        failed = f"{sweep.points[error.number]}: {error}"
        raise ValueError(failed + kept if journal else failed) from None


def _choose(engine: str, workers: int | None, scheduler: str | None) -> Compute:
    """Return what measures points, or raise ValueError for what does not go together."""
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}; received {engine!r}")
    n_workers = None if workers is None else _check.positive_int("workers", workers)
    if scheduler is not None and (engine != "dask" or n_workers is not None):
        given = f"engine {engine!r}" if engine != "dask" else f"workers = {n_workers}"
        raise ValueError(
            f"a scheduler has workers of its own and goes with engine 'dask' alone; received "
            f"{given}: drop one"
        )
    if engine == "local":
        return partial(compute_here, n_workers=n_workers)
    import_distributed()
    return partial(compute_on_cluster, n_workers=n_workers, scheduler=scheduler)


def _check_memory(sweep: Sweep) -> None:
    """Raise ValueError if the largest point cannot be measured on this machine."""
    largest = max(sweep.points, key=lambda point: point.experiment.size().bytes)
    try:
        largest.experiment.size().check()
    except ValueError as error:
        raise ValueError(f"{largest}: {error}") from None


def _check_free(path: Path) -> None:
    """Raise ValueError if there is a file already, which is not of this sweep."""
    if path.exists():
        raise ValueError(
            f"{str(path)!r} holds something else than the results of this sweep; nothing was "
            "changed: choose another --out, or replace it with --overwrite"
        )
