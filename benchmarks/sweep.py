"""How fast a sweep of 200 points is on a Dask cluster of this machine, against plain processes.

Prints both times, start and end of all processes included, and their ratio, all from this one run;
the results must be the same to the byte.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from colme.sweep import Sweep, measure_point, run_sweep

N_WORKERS = 2
MOST = 1.5
"""The cluster may take so many times as long."""
CONTENT = {
    "algorithms": ["local", "round-robin"],
    "horizon": 1000,
    "runs": 5,
    "problem": {"class_means": [0.2, 0.4, 0.8], "sigma": 0.5},
    "grid": {
        "problem.n_agents": [80, 100, 120, 140],
        "delta": [0.1, 0.01, 0.001, 0.0001, 0.00001],
        "seed": list(range(10)),
    },
}


def measure(sweep: Sweep, place: Path, engine: str) -> tuple[float, bytes]:
    """Return how long a sweep takes, and its results."""
    path = place / f"{engine}.parquet"
    begin = time.perf_counter()
    run_sweep(sweep, path, engine=engine, workers=N_WORKERS)
    return time.perf_counter() - begin, path.read_bytes()


def main() -> None:
    """Compare the two engines."""
    sweep = Sweep.make(CONTENT)
    measure_point(sweep.points[0].content)  # the loops are compiled, once
    with tempfile.TemporaryDirectory() as place:
        here, results = measure(sweep, Path(place), "local")
        there, same = measure(sweep, Path(place), "dask")
    print(f"{len(sweep.points)} points, {N_WORKERS} processes of this machine: {here:.1f} s")
    print(f"{len(sweep.points)} points, a Dask cluster of {N_WORKERS} workers here: {there:.1f} s")
    print(f"ratio: {there / here:.2f} (must: {MOST})")
    if results != same or there > MOST * here:
        sys.exit("the results differ" if results != same else "the cluster is too slow")


if __name__ == "__main__":
    main()
