"""How fast and how good methods on a graph are: 10 000 agents, ten neighbours each, 2000 steps.

Prints for each method the seconds of one run on one thread, drawing and metrics included, and the
share of wrong estimates along the way; then the targets beside what was measured, and a miss is
called a miss.  Last come graphs of a million agents.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

import colme
from colme.neighbours import METHODS, simulate_neighbours
from colme.studies import neighbours as study

N_AGENTS, DEGREE, HORIZON = 10_000, 10, 2000
DELTA, EPSILON, SEED = 0.1, 0.1, 1
TIMES = np.arange(10, HORIZON + 1, 10)
SHOWN = (100, 200, 300, 500, 600, 800, 1000, 2000)
SECONDS = {"c-colme": 4.0, "cl-colme": 4.0, "b-colme": 15.0}
LARGE, LARGE_DEGREE = 1_000_000, 16


@dataclass(frozen=True)
class Line:
    """What one method did in one run."""

    seconds: float
    wrong: NDArray[np.float64]

    def at(self, step: int) -> float:
        """Return the share of wrong estimates at a step."""
        return float(self.wrong[np.searchsorted(TIMES, step)])

    def reach(self, share: float) -> float:
        """Return the first step looked at with at most this share of wrong estimates."""
        there = np.flatnonzero(self.wrong <= share)
        return float(TIMES[there[0]]) if there.size else float("inf")


def seconds(work: Callable[[], object]) -> float:
    """Return how long some work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(problem: colme.Problem, name: str, contacts: colme.Contacts) -> Line:
    """Run one method once it is compiled."""

    def run(horizon: int, times: NDArray[np.int64]) -> NDArray[np.float64]:
        digest = simulate_neighbours(
            problem,
            name,
            contacts,
            horizon=horizon,
            seed=SEED,
            delta=DELTA,
            epsilons=(EPSILON,),
            times=times,
            threads=1,
        )
        return digest.wrong_shares[0, :, 0]

    run(1, np.array([1]))
    start = time.perf_counter()
    wrong = run(HORIZON, TIMES)
    return Line(time.perf_counter() - start, wrong)


def judge(what: str, value: float, must: float) -> None:
    """Print a value beside its limit: pass or miss."""
    verdict = "pass" if value <= must else "MISS"
    print(f"    {what:50s} {value:8.4g}   must {must:.4g}: {verdict}", flush=True)


def methods() -> dict[str, Line]:
    """Print all methods on the same samples."""
    problem = colme.Problem.gaussian([0.0, 1.0], N_AGENTS, sigma=2.0, seed=SEED)
    graph = colme.Contacts.regular(N_AGENTS, DEGREE, seed=SEED)
    alone = colme.Contacts.of_lists([()] * N_AGENTS)
    print(f"{N_AGENTS} agents, {DEGREE} neighbours, {HORIZON} steps; share wrong at step")
    print(f"  {'':20s} {'seconds':>7s} " + " ".join(f"{t:>7d}" for t in SHOWN))
    lines = {}
    for name in ("local", *METHODS):
        contacts = alone if name == "local" else graph
        line = measure(problem, "c-colme" if name == "local" else name, contacts)
        shares = " ".join(f"{line.at(t):7.4f}" for t in SHOWN)
        print(f"  {name:20s} {line.seconds:7.2f} {shares}", flush=True)
        lines[name] = line
    return lines


def targets(lines: dict[str, Line]) -> None:
    """Lay speed and quality beside what they must be."""
    print("\ntargets")
    for name, limit in SECONDS.items():
        judge(f"{name}, seconds", lines[name].seconds, limit)
    judge("c-colme, wrong at 600", lines["c-colme"].at(600), 0.02)
    judge("c-colme, wrong at 1000", lines["c-colme"].at(1000), 0.001)
    published = study.PUBLISHED["B-ColME, published"]
    for share, step in zip(study.REACH, published, strict=True):
        assert step is not None
        judge(f"b-colme, steps to {share:g}, published", lines["b-colme"].reach(share), step)
        again = lines["b-colme-published"].reach(share)
        judge(
            f"b-colme, steps to {share:g}, published run again",
            lines["b-colme"].reach(share),
            again,
        )
    worst = float(np.max(lines["c-colme-likely"].wrong - lines["local"].wrong))
    judge("c-colme-likely, wrong beyond local, worst step", worst, 0.0)


def graphs() -> None:
    """Print how long graphs of a million agents take."""
    print(f"\ngraphs of {LARGE} agents, degree {LARGE_DEGREE}, seconds")
    kinds: dict[str, Callable[[], object]] = {
        "random": lambda: colme.Contacts.random(LARGE, LARGE_DEGREE),
        "binomial": lambda: colme.Contacts.binomial(LARGE, LARGE_DEGREE / LARGE),
        "tree": lambda: colme.Contacts.tree(LARGE, LARGE_DEGREE),
    }
    limits = {"random": 3.0}
    for name, work in kinds.items():
        judge(name, seconds(work), limits.get(name, 10.0))
    start = time.perf_counter()
    contacts = colme.Contacts.regular(LARGE, LARGE_DEGREE)
    judge("regular", time.perf_counter() - start, 10.0)
    judge("its parts counted", seconds(contacts.components), 5.0)
    problem = colme.Problem.gaussian([0.0, 1.0], LARGE, sigma=2.0)
    for name in ("c-colme", "b-colme"):
        taken = seconds(partial(simulate_neighbours, problem, name, contacts, horizon=5))
        print(f"    {name}, one step of {LARGE} agents: {taken / 5:.2f} s")


if __name__ == "__main__":
    targets(methods())
    graphs()
