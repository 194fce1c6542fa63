"""How good and how fast `sharp` is, beside Local, Oracle and two of the paper's algorithms.

Prints one table for each problem, all algorithms on the same samples: the step from which the
class is known for good, class by class, guaranteed and merely likely; how many classmates were
ever ruled out (false); the average step from which the error stays below 0.1, and the average and
the largest for 0.01.  Times beyond the horizon count as one step more.  Targets stand beside the
paper's 3-class problem, and a miss is called a miss.  Further problems follow that no target was
made for, then speed.  With one query per step nobody has heard of all 199 peers before step 199.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

import colme
from colme import metrics
from colme.paper import EXPERIMENTS

Array = NDArray[np.float64]

ALGORITHMS = (
    "local",
    "oracle",
    "aggressive-restricted-round-robin",
    "restricted-round-robin",
    "sharp",
)
PAPER = EXPERIMENTS["three-class"]
DELTA, HORIZON = PAPER.delta, PAPER.horizon
IDENTIFIED, IDENTIFIED_AIM = (760, 760, 310), (690, 690, 220)
LIKELY_AIM = (350, 350, 150)
REPEATS = 5
PLAIN_STEPS = 500


@dataclass(frozen=True)
class Line:
    """What one algorithm did: averages by class, or over all agents."""

    identified: tuple[float, ...]
    likely: tuple[float, ...]
    false: int | None
    coarse: float
    fine: float
    fine_max: float

    def text(self, name: str) -> str:
        """Return one line of a table."""
        return (
            f"  {name:34s} {_steps(self.identified):>22s} {_steps(self.likely):>22s} "
            f"{'-' if self.false is None else self.false:>6} "
            f"{self.coarse:9.1f} {self.fine:10.1f} {self.fine_max:9.0f}"
        )


def _steps(times: Sequence[float]) -> str:
    return "/".join(f"{time:.0f}" for time in times) or "-"


def measure(problem: colme.Problem, samples: Array, name: str) -> Line:
    """Run one algorithm and measure it."""
    follows_class = name not in ("local", "oracle")
    trajectory = colme.simulate(
        samples,
        name,
        sigma=problem.sigma,
        delta=DELTA,
        labels=problem.labels,
        record=colme.Record(class_counts=follows_class, likely_counts=name == "sharp", every=1),
    )

    def by_class(times: NDArray[np.int64]) -> tuple[float, ...]:
        return tuple(cell.avg for cell in metrics.spread_by_class(times, problem.labels).values())

    fine = metrics.convergence_times(trajectory, problem.true_means, 0.01)
    return Line(
        by_class(metrics.identification_times(trajectory)) if follows_class else (),
        by_class(metrics.likely_identification_times(trajectory)) if name == "sharp" else (),
        false_exclusions(trajectory) if follows_class else None,
        float(metrics.convergence_times(trajectory, problem.true_means, 0.1).mean()),
        float(fine.mean()),
        float(fine.max()),
    )


def false_exclusions(trajectory: colme.Trajectory) -> int:
    """Return how many classmates were ruled out at the worst time, over all agents and runs."""
    assert trajectory.class_counts is not None
    missing = 0
    for label, size in enumerate(trajectory.class_sizes):
        own = trajectory.class_counts[:, :, trajectory.labels == label, label]
        missing += int((size - own.min(axis=1)).sum())
    return missing


def table(title: str, problem: colme.Problem, runs: int, seed: int) -> dict[str, Line]:
    """Measure all algorithms on the same samples and print them."""
    samples = problem.draw(HORIZON, runs, seed)
    print(f"\n{title}: {problem.n_agents} agents, {runs} runs of {HORIZON} steps")
    print(
        f"  {'':34s} {'identified':>22s} {'likely (no guarantee)':>22s} {'false':>6s} "
        f"{'conv(0.1)':>9s} {'conv(0.01)':>10s} {'max':>9s}"
    )
    lines = {}
    for name in ALGORITHMS:
        lines[name] = measure(problem, samples, name)
        print(lines[name].text(name), flush=True)
    return lines


def judge(what: str, value: float, must: float | None = None, aim: float | None = None) -> None:
    """Print a value beside its limits: pass or miss."""
    words = [
        f"{word} {limit:.4g}: {'pass' if value <= limit else 'MISS'}"
        for word, limit in (("must", must), ("aim", aim))
        if limit is not None
    ]
    print(f"    {what:42s} {value:8.4g}   {'; '.join(words)}", flush=True)


def judge_paper(lines: dict[str, Line]) -> None:
    """Lay the 3-class problem of the paper beside its targets."""
    sharp, local, oracle = (lines[name] for name in ("sharp", "local", "oracle"))
    means = PAPER.problem.class_means
    for k, mean in enumerate(means):
        judge(f"identified, class {mean:g}", sharp.identified[k], IDENTIFIED[k], IDENTIFIED_AIM[k])
    for k, mean in enumerate(means):
        judge(f"likely, class {mean:g} (no guarantee)", sharp.likely[k], aim=LIKELY_AIM[k])
    judge("false exclusions", float(sharp.false or 0), 0)
    judge("conv(0.1), average, against Local's", sharp.coarse, local.coarse, 35)
    judge("conv(0.01), average", sharp.fine, 1.6 * oracle.fine, 155)
    judge("conv(0.01), largest", sharp.fine_max, 500, 400)


def judge_any(lines: dict[str, Line]) -> None:
    """Lay any problem beside what must hold on all of them."""
    sharp = lines["sharp"]
    judge("false exclusions", float(sharp.false or 0), 0)
    judge("conv(0.1), average, against Local's", sharp.coarse, lines["local"].coarse)


def paper_problems() -> None:
    """Print the paper's two problems, with its samples."""
    for name, verdict in (("three-class", judge_paper), ("two-class", judge_any)):
        experiment = EXPERIMENTS[name]
        lines = table(
            f"{name}, means {experiment.problem.class_means}",
            experiment.problem.build(),
            experiment.runs,
            experiment.seed,
        )
        verdict(lines)


def other_problems() -> None:
    """Print problems that no target was made for: fresh seeds, then random means."""
    print("\nNot shown before: fresh classes and samples, random means; same limits for all")
    for seed in (101, 202, 303, 404):
        problem = colme.Problem.gaussian([0.2, 0.4, 0.8], n_agents=200, sigma=0.5, seed=seed)
        judge_any(table(f"3 classes, seed {seed}", problem, runs=5, seed=seed + 1))
    for seed in range(5):
        means = np.sort(np.random.default_rng(seed).uniform(0, 1, 4)).round(3).tolist()
        problem = colme.Problem.gaussian(means, n_agents=200, sigma=0.5, seed=seed)
        judge_any(table(f"4 classes, means {means}", problem, runs=3, seed=seed + 50))
    problem = colme.Problem.gaussian([0.2, 0.4, 0.8], class_sizes=[150, 40, 10], sigma=0.5)
    judge_any(table("3 classes of 150, 40 and 10", problem, runs=3, seed=7))
    problem = colme.Problem.bernoulli([0.2, 0.5, 0.9], n_agents=200, seed=8)
    judge_any(table("Bernoulli, means 0.2, 0.5, 0.9", problem, runs=3, seed=8))


def seconds(work: Callable[[], object]) -> float:
    """Return how much processor time some work takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


def speed() -> None:
    """Print the time of a run beside restricted round-robin's, and of a plain agent's step."""
    for n_agents, repeats in ((200, REPEATS), (1000, 2)):
        problem = colme.Problem.gaussian([0.2, 0.4, 0.8], n_agents=n_agents, sigma=0.5, seed=1)
        samples = problem.draw(HORIZON, 1, seed=1)
        works = [
            partial(
                colme.simulate, samples, name, sigma=problem.sigma, labels=problem.labels, threads=1
            )
            for name in ("sharp", "restricted-round-robin")
        ]
        taken = np.array([[seconds(work) for work in works] for _ in range(repeats)]).min(axis=0)
        print(f"\nspeed, {n_agents} agents: sharp {taken[0]:.3f} s, restricted {taken[1]:.3f} s")
        judge("sharp / restricted-round-robin", taken[0] / taken[1], 4)
    problem = PAPER.problem.build()
    samples = problem.draw(HORIZON, 1, seed=1)
    judge("plain agent, 200 peers, ms per step", plain_step(problem, samples[0]) * 1e3, 5)


def plain_step(problem: colme.Problem, samples: Array) -> float:
    """Return the seconds of one step of a plain agent, averaged over the first steps."""
    names = [str(a) for a in range(problem.n_agents)]
    means = np.cumsum(samples, axis=0) / np.arange(1, len(samples) + 1)[:, np.newaxis]
    agent = colme.Agent(
        "0", sigma=problem.sigma, delta=DELTA, max_agents=len(names), algorithm="sharp", peers=names
    )

    def steps() -> None:
        for t in range(PLAIN_STEPS):
            agent.perceive(float(samples[t, 0]))
            peer = agent.choose_peer()
            if peer is not None:
                agent.receive(colme.Reply(peer, float(means[t, int(peer)]), t + 1))
            assert agent.estimate == agent.estimate

    return seconds(steps) / PLAIN_STEPS


if __name__ == "__main__":
    paper_problems()
    other_problems()
    speed()
