"""`colme reproduce`: the paper's experiments, beside the published numbers.

Lives here: its flags.  Must not know how anything is computed or printed.
"""

from __future__ import annotations

import time
from pathlib import Path

from colme import _terminal, paper
from colme._terminal.reproduction import print_reproduction


def reproduce(
    *,
    runs: int = 20,
    seed: int = 0,
    out: Path = Path("reproduction"),
    only: tuple[str, ...] | None = None,
    threads: int | None = None,
    timings: bool = False,
    json: bool = False,
) -> None:
    """Run every experiment of the paper and lay it beside the published numbers.

    Example:

        colme reproduce --runs 5 --only three-class local-long

    Parameters
    ----------
    runs
        Number of runs of each experiment, with fresh samples.
    seed
        Seed for the samples.
    out
        Folder for report.html, tables.md, tables.json and figures.
    only
        One or more of three-class, local-long, two-class, imperfect-separated,
        imperfect-overlapping, gap-sweep.
    threads
        Number of threads (all cores); the result does not depend on it.
    timings
        Print where the time went.
    json
        Print what tables.json holds.
    """
    start = time.perf_counter()
    try:
        with _terminal.progress() as progress:
            done = paper.reproduce(
                out,
                runs=runs,
                seed=seed,
                only=only,
                threads=threads,
                progress=progress,
                finished=_terminal.say_finished,
            )
    except KeyboardInterrupt:
        _terminal.err.print(f"experiments finished so far are kept in {out}")
        raise
    if json:
        _terminal.print_json(done.content)
    else:
        print_reproduction(done)
    if timings:
        for what, seconds in (done.durations | {"all": time.perf_counter() - start}).items():
            _terminal.err.print(f"{seconds:6.1f} s  {what}")
