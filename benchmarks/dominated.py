"""How good `sharp` is where one class dominates, and in small fleets.

Prints the average step from which the error stays below 0.01, over agents and runs on the same
samples, and its ratios to the better of two of the paper's algorithms and to Oracle; the share of
agents whose likely class is right for good before the guaranteed one; then small fleets, given and
drawn; then, for minorities, the largest ratio over time of the error of its own agents to that of
Local.  Constants of the model were chosen with seeds 1000 to 1099; the seeds here are 2000 to 2099.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import colme
from colme import Problem, metrics, noise

Array = NDArray[np.float64]

SIGMA, DELTA, HORIZON = 0.5, 0.001, 2500
MEANS = (0.2, 0.5, 0.8)
DOMINATED = ((25,), (50,), (22, 3), (95, 5), (190, 10), (40, 5, 5), (180, 15, 5))
SMALL = ((4, 4, 3, 1), (2, 2, 1, 14, 6), (11, 2, 19, 8))
BEST_OF_TWO = ("restricted-round-robin", "aggressive-restricted-round-robin")
PAPER = ("round-robin", "soft-restricted-round-robin", *BEST_OF_TWO)
LIMIT, ORACLE_LIMIT, LIKELY_LIMIT, HARM_LIMIT = 1.05, 1.5, 0.95, 1.35


def verdict(passed: bool) -> str:
    """Return how a limit was met."""
    return "pass" if passed else "MISS"


def simulate(problem: Problem, samples: Array, name: str) -> colme.Trajectory:
    """Run one algorithm, and record all that is looked at here."""
    known = name not in ("oracle", "local")
    record = colme.Record(class_counts=known, likely_counts=name == "sharp", every=1)
    return colme.simulate(
        samples, name, sigma=SIGMA, delta=DELTA, labels=problem.labels, record=record
    )


def steps(problem: Problem, trajectory: colme.Trajectory) -> float:
    """Return the average step from which the error stays below 0.01."""
    return float(metrics.convergence_times(trajectory, problem.true_means, 0.01).mean())


def dominated(runs: int) -> None:
    """Print fleets in which one class is much larger than the others."""
    print(
        f"{'one class dominates':22s}{'best':>6s}{'oracle':>8s}{'sharp':>7s}{'/best':>7s}", end=""
    )
    print(f"{'/oracle':>9s}{'likely first':>14s}")
    for seed, sizes in enumerate(DOMINATED, 2000):
        problem = Problem.gaussian(MEANS[: len(sizes)], class_sizes=sizes, sigma=SIGMA)
        samples = problem.draw(HORIZON, runs, seed)
        best = min(steps(problem, simulate(problem, samples, name)) for name in BEST_OF_TWO)
        oracle = steps(problem, simulate(problem, samples, "oracle"))
        trajectory = simulate(problem, samples, "sharp")
        sharp = steps(problem, trajectory)
        likely = metrics.likely_identification_times(trajectory)
        first = float((likely < metrics.identification_times(trajectory)).mean())
        # With one class nobody is ever excluded: the guaranteed class is right from the start.
        alone = len(sizes) == 1
        print(
            f"  {'/'.join(map(str, sizes)):20s}{best:6.0f}{oracle:8.0f}{sharp:7.0f}"
            f"{sharp / best:7.2f}{sharp / oracle:9.2f}{'-' if alone else f'{first:.2f}':>14s}   "
            f"{verdict(sharp <= LIMIT * best)}, {verdict(sharp <= ORACLE_LIMIT * oracle)}"
            + ("" if alone else f", {verdict(first >= LIKELY_LIMIT)}"),
            flush=True,
        )


def against_paper(problem: Problem, runs: int, seed: int) -> float:
    """Return the step of `sharp` over that of the best of the paper's algorithms."""
    samples = problem.draw(HORIZON, runs, seed)
    times = {n: steps(problem, simulate(problem, samples, n)) for n in (*PAPER, "sharp")}
    return times["sharp"] / min(times[name] for name in PAPER)


def drawn(seed: int) -> Problem:
    """Return a small fleet: 12, 25 or 40 agents, 2 to 5 classes, random means and sizes."""
    rng = np.random.default_rng(seed)
    n_agents, n_classes = int(rng.choice([12, 25, 40])), int(rng.integers(2, 6))
    means = rng.uniform(0, 1, n_classes).round(3)
    kinds = np.sort(rng.integers(0, n_classes, n_agents))
    labels = np.unique(kinds, return_inverse=True)[1]
    return Problem(labels, means[kinds], noise.Gaussian(SIGMA))


def small(runs: int, n_drawn: int) -> None:
    """Print small fleets: those of the review, then drawn ones."""
    print("small fleets: sharp / the best of four of the paper's algorithms")
    for seed, sizes in enumerate(SMALL, 2010):
        means: Sequence[float] = np.linspace(0.1, 0.9, len(sizes)).round(2).tolist()
        problem = Problem.gaussian(means, class_sizes=sizes, sigma=SIGMA)
        ratio = against_paper(problem, runs, seed)
        print(
            f"  {'/'.join(map(str, sizes)):20s}{ratio:6.2f}   {verdict(ratio <= LIMIT)}", flush=True
        )
    ratios = [against_paper(drawn(seed), runs, seed) for seed in range(2020, 2020 + n_drawn)]
    average = float(np.mean(ratios))
    print(f"  {n_drawn} drawn, average{average:9.3f}   {verdict(average <= LIMIT)}; ", end="")
    print("each", *(f"{ratio:.2f}" for ratio in ratios), flush=True)


def minorities(runs: int) -> None:
    """Print how much worse than alone the few are, at the worst step, and the whole fleet."""
    print("5 of 100: largest error / local over time, of the five and of all")
    for seed, gap in enumerate((0.15, 0.3, 0.4), 2050):
        problem = Problem.gaussian([0.2, 0.2 + gap], class_sizes=[5, 95], sigma=SIGMA)
        samples = problem.draw(1000, runs, seed)
        errors = {
            name: metrics.errors(simulate(problem, samples, name), problem.true_means)
            for name in ("sharp", "local")
        }
        five, fleet = (
            errors["sharp"][..., who].mean(axis=(0, 2))
            / errors["local"][..., who].mean(axis=(0, 2))
            for who in (slice(5), slice(None))
        )
        print(f"  gap {gap:<16g}{five.max():6.2f} at step {five.argmax() + 1}, ", end="")
        print(f"all {fleet.max():.2f}   {verdict(five.max() <= HARM_LIMIT)}", flush=True)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--drawn", type=int, default=20)
    chosen = parser.parse_args()
    dominated(chosen.runs)
    small(chosen.runs, chosen.drawn)
    minorities(2 * chosen.runs)


if __name__ == "__main__":
    main()
