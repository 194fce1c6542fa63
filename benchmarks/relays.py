"""What relays win, and what they cost: `sharp` with 0, 4 and 16 summaries of others in a reply.

``python benchmarks/relays.py`` prints one table of the paper's 3-class problem, all algorithms on
the same samples, with limits beside the figures; a miss is called a miss.  Samples are of seed
2001, on which nothing was tuned.  Then it prints processor time beside that of restricted
round-robin, at 200 and at 1000 agents.

A reply of 0 relays carries a mean, a count and the evidence around them; each relayed summary
carries the same, and the name of its owner.  docs/14-inside-fleet.md has the bytes on the wire.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from sharp import Line, false_exclusions, judge

import colme
from colme import metrics

SEED, RUNS, HORIZON, DELTA, SIGMA = 2001, 20, 2500, 0.001, 0.5
LIMITS: dict[int, dict[str, Sequence[float] | float]] = {
    0: {"identified": (730, 730, 320), "fine": 155, "fine_max": 500, "coarse": 35},
    4: {"identified": (700, 700, 215), "likely": (240, 240, 130), "fine_max": 400, "coarse": 30},
    16: {"identified": (690, 690, 200), "likely": (220, 220, 80), "fine_max": 400, "coarse": 27},
}
OF_ORACLE = {4: 1.15, 16: 1.0}
"""Most conv(0.01), in multiples of the oracle's."""
COST = {0: 4.0, 4: 8.0}
"""Most processor time, in multiples of that of restricted round-robin."""


def measure(problem: colme.Problem, samples: Any, name: str, relays: int) -> Line:
    """Run one algorithm and measure it."""
    by_model = name == "sharp"
    trajectory = colme.simulate(
        samples,
        name,
        sigma=SIGMA,
        delta=DELTA,
        labels=problem.labels,
        relays=relays,
        record=colme.Record(likely_counts=by_model, every=1),
    )

    def by_class(times: Any) -> tuple[float, ...]:
        return tuple(cell.avg for cell in metrics.spread_by_class(times, problem.labels).values())

    fine = metrics.convergence_times(trajectory, problem.true_means, 0.01)
    coarse = metrics.convergence_times(trajectory, problem.true_means, 0.1)
    return Line(
        by_class(metrics.identification_times(trajectory)) if by_model else (),
        by_class(metrics.likely_identification_times(trajectory)) if by_model else (),
        false_exclusions(trajectory) if by_model else None,
        float(coarse.mean()),
        float(fine.mean()),
        float(fine.max()),
    )


def paper(runs: int) -> None:
    """Print the paper's 3-class problem, with limits."""
    problem = colme.Problem.gaussian([0.2, 0.4, 0.8], n_agents=200, sigma=SIGMA, seed=SEED)
    samples = problem.draw(HORIZON, runs, SEED)
    print(f"3 classes, seed {SEED}: 200 agents, {runs} runs of {HORIZON} steps")
    print(f"  {'':34s} {'identified':>22s} {'likely':>22s}  false conv(0.1) conv(0.01)       max")
    oracle = measure(problem, samples, "oracle", 0)
    print(measure(problem, samples, "local", 0).text("local"))
    print(oracle.text("oracle"), flush=True)
    for relays, limits in LIMITS.items():
        line = measure(problem, samples, "sharp", relays)
        print(line.text(f"sharp, relays {relays}"), flush=True)
        for what, limit in limits.items():
            value = getattr(line, what)
            for k, most in enumerate(np.atleast_1d(limit)):
                judge(f"{what} {k if np.ndim(limit) else ''}", np.atleast_1d(value)[k], float(most))
        judge("false exclusions", float(line.false or 0), 0)
        if relays in OF_ORACLE:
            judge("conv(0.01) against the oracle's", line.fine, OF_ORACLE[relays] * oracle.fine)


def cost(n_agents: int) -> None:
    """Print the processor time of one run, beside that of restricted round-robin."""
    problem = colme.Problem.gaussian([0.2, 0.4, 0.8], n_agents=n_agents, sigma=SIGMA, seed=1)
    samples = problem.draw(HORIZON, 1, seed=1)
    cases = [("restricted-round-robin", 0), *(("sharp", relays) for relays in (0, 4, 16))]
    taken = np.full(len(cases), np.inf)
    for _ in range(4):
        for i, (name, relays) in enumerate(cases):
            start = time.process_time()
            colme.simulate(
                samples,
                name,
                sigma=SIGMA,
                labels=problem.labels,
                relays=relays,
                threads=1,
            )
            taken[i] = min(taken[i], time.process_time() - start)
    print(f"\n{n_agents} agents: restricted-round-robin {taken[0]:.3f} s of processor time a run")
    for (_, relays), seconds in zip(cases[1:], taken[1:], strict=True):
        judge(f"sharp, relays {relays} / that", seconds / taken[0], COST.get(relays))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--cost-only", action="store_true")
    arguments = parser.parse_args()
    if not arguments.cost_only:
        paper(arguments.runs)
    for size in (200, 1000):
        cost(size)
