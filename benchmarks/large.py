"""How cost grows: time and memory per agent over four decades of agents, and over k and horizon.

Every point runs in a process of its own, so that its peak memory is its own.  Prints a table with
what must hold; `--figure FILE.svg` draws it, `--quick` leaves out fleets above 10^5 agents.
Seconds depend on the machine and on what else it is doing; ratios within one run less so.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import colme

ALGORITHMS = ("restricted-round-robin", "sharp")
K = 16
HORIZON = 1000
LARGEST = 6
MOST_SECONDS, MOST_GB, MOST_GROWTH = 600, 6, 2.5


def problem_of(n_agents: int) -> colme.Problem:
    """Return two classes, half a standard deviation of a sample apart."""
    return colme.Problem.gaussian([0.0, 1.0], n_agents=n_agents, sigma=2.0, seed=0)


def measure(name: str, n_agents: int, k: int, horizon: int) -> dict[str, Any]:
    """Run one point in this process; small fleets several times, of which the fastest counts."""
    problem, contacts = problem_of(n_agents), colme.Contacts.random(n_agents, k, seed=1)
    small = colme.Contacts.random(64, min(k, 64))
    for block in (3, 5):  # compiles
        colme.simulate_large(problem_of(64), name, horizon=5, contacts=small, block=block)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    times = []
    for _ in range(3 if n_agents * horizon <= 10**7 else 1):
        start = time.perf_counter()
        digest = colme.simulate_large(
            problem, name, horizon=horizon, contacts=contacts, delta=0.1, seed=1
        )
        times.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "algorithm": name,
        "agents": n_agents,
        "k": k,
        "horizon": horizon,
        "seconds": min(times),
        "ns": min(times) * 1e9 / (n_agents * horizon),
        "peak": peak * 1024,
        "before": before * 1024,
        "wrong": float(digest.wrong_shares[0, -1, 0]),
    }


def in_process(name: str, n_agents: int, k: int, horizon: int) -> dict[str, Any]:
    """Measure one point in a new process, and print it."""
    arguments = [name, str(n_agents), str(k), str(horizon)]
    done = subprocess.run(
        [sys.executable, __file__, "--point", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    per_agent = (found["peak"] - found["before"]) / n_agents
    print(
        f"{name:24s} {n_agents:8d} {k:5d} {horizon:6d} {found['seconds']:9.2f} s "
        f"{found['ns']:7.0f} ns {found['peak'] / 1e9:6.2f} GB {per_agent:8.0f} B "
        f"{found['wrong']:8.2%}",
        flush=True,
    )
    return found


def growth(decades: int) -> list[dict[str, Any]]:
    """Print the cost over agents, k and horizon, and what must hold of it."""
    print(f"{os.cpu_count()} cores; sharp and restricted round-robin, means 0 and 1, sigma 2")
    print(f"{'algorithm':24s} {'agents':>8s} {'k':>5s} {'steps':>6s} {'time':>11s} ", end="")
    print(f"{'agent-step':>10s} {'peak':>9s} {'per agent':>10s} {'> 0.1':>8s}")
    points = []
    for name in ALGORITHMS:
        points += [in_process(name, 10**d, K, HORIZON) for d in range(2, decades + 1)]
        points += [in_process(name, 10**5, k, 300) for k in (4, 16, 64, 256)]
        points += [in_process(name, 10**5, K, horizon) for horizon in (100, 3000)]
    return points


def judge(points: list[dict[str, Any]]) -> None:
    """Print what must hold of the largest fleet."""
    for name in ALGORITHMS:
        mine = {
            point["agents"]: point
            for point in points
            if (point["algorithm"], point["k"], point["horizon"]) == (name, K, HORIZON)
        }
        largest = mine[max(mine)]
        print(f"{name}, {largest['agents']} agents")
        for what, value, most in (
            ("seconds", largest["seconds"], MOST_SECONDS),
            ("GB", largest["peak"] / 1e9, MOST_GB),
            (
                "time per agent-step, times that of 10^4",
                largest["ns"] / mine[10**4]["ns"],
                MOST_GROWTH,
            ),
        ):
            print(f"    {what}: {value:.3g} (must: {most}) {'pass' if value <= most else 'MISS'}")


def dense() -> None:
    """Print the time of 1000 agents that all know each other, for 2000 steps."""
    problem = colme.Problem.gaussian([0.0, 1.0], n_agents=1000, sigma=2.0, seed=0)
    samples = problem.draw(2000)
    for name in ALGORITHMS:
        times = []
        for _ in range(4):
            start = time.perf_counter()
            colme.simulate(
                samples,
                name,
                sigma=2.0,
                delta=0.1,
                labels=problem.labels,
                record=colme.Record(class_counts=False),
            )
            times.append(time.perf_counter() - start)
        must = " (must: 1.5; published C++: 43.5 on such cores)" if name != "sharp" else ""
        print(f"dense, 1000 agents x 2000 steps, {name}: {min(times):.2f} s{must}")


def draw(points: list[dict[str, Any]], path: Path) -> None:
    """Draw time and memory over agents, and time over k and horizon."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - only to draw

    figure = Figure((9.0, 5.6), layout="constrained")
    (over_agents, memory), (over_k, over_horizon) = figure.subplots(2, 2)
    for name in ALGORITHMS:
        mine = [point for point in points if point["algorithm"] == name]
        fleets = [point for point in mine if (point["k"], point["horizon"]) == (K, HORIZON)]
        wide = [point for point in mine if point["horizon"] == 300]
        long = [point for point in mine if (point["agents"], point["k"]) == (10**5, K)]
        long.sort(key=lambda point: point["horizon"])
        agents = [point["agents"] for point in fleets]
        over_agents.plot(agents, [point["ns"] for point in fleets], "o-", label=name)
        memory.plot(agents, [point["peak"] / 1e9 for point in fleets], "o-")
        wide.sort(key=lambda point: point["k"])
        over_k.plot([point["k"] for point in wide], [point["ns"] for point in wide], "o-")
        steps = [point["horizon"] for point in long]
        over_horizon.plot(steps, [point["peak"] / 1e9 for point in long], "o-")
    over_agents.legend(frameon=False)
    titles = {
        over_agents: ("agents", "ns per agent-step"),
        memory: ("agents", "peak memory, GB"),
        over_k: ("k, with 100 000 agents", "ns per agent-step"),
        over_horizon: ("steps, with 100 000 agents", "peak memory, GB"),
    }
    for axes, (x, y) in titles.items():
        axes.set(xlabel=x, ylabel=y, xscale="log")
        axes.set_ylim(bottom=0)
        axes.spines[["top", "right"]].set_visible(False)
    memory.set_yscale("log")
    memory.set_ylim(bottom=0.05)
    figure.savefig(path, metadata={"Date": None})


def main(arguments: list[str]) -> None:
    """Measure one point for another process, or everything."""
    if arguments[:1] == ["--point"]:
        name, *numbers = arguments[1:]
        print(json.dumps(measure(name, *map(int, numbers))))
        return
    points = growth(5 if "--quick" in arguments else LARGEST)
    judge(points)
    dense()
    if "--figure" in arguments:
        draw(points, Path(arguments[arguments.index("--figure") + 1]))


if __name__ == "__main__":
    main(sys.argv[1:])
