"""How fast tables are estimated, beside a plain mean by agent of the same file, in how much memory.

Prints for whole numbers and for text as names: the time of the database's own means by agent,
that of `read`, and that of all that `colme estimate` does; their ratios to the first; and the peak
memory of a process that does nothing else.  Then the same with a column of times, for which there
is no target, and for 100 000 agents with 50 rows each.  All take turns in the same run, each in a
process of its own, started and ended, on all cores.  `--rows 100000000` is the full size that the
targets are for.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb

REPEATS = 3
N_AGENTS = 10_000
RATIO, MEMORY, SECONDS = 2.0, 2.0, 20.0
START = "import resource, sys, time; start = time.perf_counter()\n"
END = """
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""
PLAIN = """
import duckdb
duckdb.sql("SET enable_progress_bar = false")
duckdb.sql("SELECT {agent}, avg(value) FROM '{file}' GROUP BY {agent}").fetchnumpy()
"""
READ = """
import colme.data
reading = colme.data.read("{file}", "{agent}", "value"{more})
assert len(reading.summaries) == {agents} and reading.n_rows == {rows}, reading
"""
ESTIMATE = """
import colme.data
request = colme.data.EstimateRequest(("{file}",), "{agent}", "value"{more})
assert len(colme.data.find_out(request).estimates) == {agents}
"""


def written(folder: Path, n_rows: int, n_agents: int) -> Path:
    """Write the table, in no order of agents."""
    file = folder / f"{n_agents}.parquet"
    duckdb.sql(
        "COPY (SELECT a AS agent, 'agent ' || a AS name, 20 + a % 7 + u AS value, t FROM "
        f"(SELECT CAST(hash(range) % {n_agents} AS BIGINT) AS a, range AS t, "
        f"(hash(range + 7) % 1000003) / 1000003 AS u FROM range({n_rows}))) "
        f"TO '{file}' (FORMAT parquet)"
    )
    return file


def measured(code: str) -> tuple[float, float]:
    """Return the seconds and the peak memory in GB of a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", START + code + END], capture_output=True, text=True, check=True
    )
    seconds, memory = map(float, done.stdout.split())
    return seconds, memory


def compare(
    file: Path, n_rows: int, agent: str, more: str, target: str, n_agents: int = N_AGENTS
) -> None:
    """Print one line: the plain means, `read`, and all of the command, in turns."""
    names = {"file": file, "agent": agent, "more": more, "agents": n_agents, "rows": n_rows}
    codes = [code.format(**names) for code in (PLAIN, READ, ESTIMATE)]
    turns = [[measured(code) for code in codes] for _ in range(REPEATS)]
    plain, read, ours = (min(turn[k][0] for turn in turns) for k in range(3))
    memory = max(turn[2][1] for turn in turns)
    label = f"{agent}{', by time' if more else ''}"
    print(
        f"{label:14s} {plain:7.2f} {read:7.2f} {ours:9.2f} {read / plain:8.2f} {ours / plain:9.2f} "
        f"{memory:8.2f}   {target}"
    )


def main() -> None:
    """Write a table, and read it in several ways."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    n_rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as place:
        file = written(Path(place), n_rows, N_AGENTS)
        print(f"{n_rows} rows of {N_AGENTS} agents, Parquet of {file.stat().st_size / 1e9:.2f} GB")
        print("names            plain    read  estimate   ratio     ratio  peak GB")
        must = f"must: ratio {RATIO:g}, peak {MEMORY:g}"
        compare(file, n_rows, "agent", "", must)
        compare(file, n_rows, "name", "", must)
        compare(file, n_rows, "agent", ', time="t"', "")
        many, each = 100_000, 50
        file = written(Path(place), many * each, many)
        print(f"{many} agents with some {each} rows each")
        compare(file, many * each, "agent", "", f"must: {SECONDS:g} s", many)


if __name__ == "__main__":
    main()
