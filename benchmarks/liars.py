"""What a tenth of the agents can do to the others by lying, with and without a defence.

The paper's 3-class problem.  Every tenth agent lies in each reply: its mean is shifted, all liars
the same way; or shifted, with a count a hundred times too large; or drawn at random.  Agents learn
from nothing but replies, so lies are written into what agents say, and the compiled loop runs the
honest ones.  Printed is the average error of honest agents at the end, divided by the error of the
same algorithm on the same samples when nobody lies.  Standard errors are 0.01 at the end: a lie of
about two of them is indistinguishable from noise.  Below it, how soon errors are small when nobody
lies.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import colme
from colme.algorithm import ALGORITHMS, ClassTest
from colme.bounds import choose_bound, split_risk
from colme.engine import Block, Output, Workspace, collaborate
from colme.setup import Setup
from colme.summary import View

Array = NDArray[np.float64]
Lie = Callable[[Array, Array], tuple[Array, Array]]

N_AGENTS, HORIZON, SIGMA, DELTA = 200, 2500, 0.5, 0.001
BATCH, RUNS = 5, 100
"""Samples come in batches: fewer steps to compute, more runs over which to average."""
NAMES = ("robust", "sharp", "aggressive-restricted-round-robin", "restricted-round-robin")
PROBLEM = colme.Problem.gaussian([0.2, 0.4, 0.8], n_agents=N_AGENTS, sigma=SIGMA, seed=0)
SHUFFLED = np.random.default_rng(7).permutation(N_AGENTS)
LIARS, HONEST = np.split(SHUFFLED, [N_AGENTS // 10])
WATCHED = np.concatenate([HONEST[PROBLEM.labels[HONEST] == k][:2] for k in range(3)])
"""Two of each class are run: the errors of a class are nearly the same, those of runs are not."""
LIMIT = 1.5


def shifted(by: float, times: int, means: Array, counts: Array) -> tuple[Array, Array]:
    """Return means that are off by so much, of so many times the samples."""
    return means + by, counts * times


def random(means: Array, counts: Array) -> tuple[Array, Array]:
    """Return means that have nothing to do with any stream."""
    return np.random.default_rng(8).uniform(-0.5, 1.5, means.shape), counts


LIES: dict[str, Lie] = {
    "nobody lies": partial(shifted, 0.0, 1),
    **{f"means shifted by {by}": partial(shifted, by, 1) for by in (0.02, 0.05, 0.1, 0.3)},
    **{
        f"shifted by {by}, counts × 100": partial(shifted, by, 100) for by in (0.02, 0.05, 0.1, 0.3)
    },
    "random replies": random,
}


def honest_views(bound: Any, samples: Array) -> View[Array]:
    """Return what all agents say after each batch of samples[time, agent] if nobody lies."""
    counts = np.arange(BATCH, HORIZON + 1, BATCH)
    means = samples.cumsum(axis=0)[counts - 1] / counts[:, None]
    squares = (samples**2).cumsum(axis=0)[counts - 1] - counts[:, None] * means**2
    spread, slope, offset = zip(*map(bound.shape, counts), strict=True)
    columns = View[Any](
        mean=means.T,
        n_samples=counts,
        radius=bound.radius(counts),
        precision=0.0,
        spread=spread,
        slope=slope,
        offset=offset,
        squares=squares.T,
        epoch=0.0,
    )
    return View(*(np.array(np.broadcast_to(one, means.T.shape), np.float64) for one in columns))


def tell(lie: Lie, bound: Any, honest: View[Array], views: View[Array]) -> None:
    """Write what the liars say instead."""
    means, counts = lie(honest.mean[LIARS], honest.n_samples[LIARS])
    views.mean[LIARS], views.n_samples[LIARS] = means, counts
    views.squares[LIARS] = honest.squares[LIARS] * counts / honest.n_samples[LIARS]
    views.radius[LIARS] = bound.radius(counts[0])
    shapes = zip(*(bound.shape(count) for count in counts[0]), strict=True)
    for field, values in zip((views.spread, views.slope, views.offset), shapes, strict=True):
        field[LIARS] = values


def final_error(name: str, views: View[Array]) -> float:
    """Return the average error of the honest agents at the end of one run."""
    n_steps = HORIZON // BATCH
    slots = np.append(np.full(n_steps - 1, -1), 0)
    block = Block(views, views, np.empty((0, 0), np.int32), slots, True)
    plan = Setup.of(N_AGENTS, name, sigma=SIGMA, delta=DELTA).plan([(0, n_steps)], 1)
    estimates, states = np.empty((N_AGENTS, 1)), np.empty((0, 0), np.int64)
    nothing: NDArray[np.int16] = np.empty((0, 0, 1), np.int16)

    def run(watched: NDArray[np.int64]) -> None:
        workspace = Workspace.blank(N_AGENTS, n_classes=1)
        model = workspace.model if plan.by_model else None
        for a in watched.tolist():
            output = Output(estimates[a : a + 1], nothing, nothing)
            collaborate(plan.choice, plan.agents, block, workspace, model, states, a, a + 1, output)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, np.array_split(WATCHED, 2)))
    return float(np.abs(estimates[WATCHED, 0] - PROBLEM.true_means[WATCHED]).mean())


def measure() -> dict[tuple[str, str], float]:
    """Return the average error by lie and algorithm."""
    errors: dict[tuple[str, str], float] = defaultdict(float)
    for run in range(RUNS):
        samples = PROBLEM.draw(HORIZON, 1, seed=run)[0]
        for test in (ClassTest.JOINT, ClassTest.OVERLAP):
            bound = choose_bound(test, SIGMA, None, split_risk(DELTA, N_AGENTS))
            honest = honest_views(bound, samples)
            views = View(*(column.copy() for column in honest))
            for title, lie in LIES.items():
                tell(lie, bound, honest, views)
                for name in NAMES:
                    if ALGORITHMS[name].class_test == test:
                        errors[title, name] += final_error(name, views) / RUNS
    return errors


def print_ratios() -> None:
    """Print a line for each lie, and whether the robust algorithm holds against all."""
    errors = measure()
    print(
        f"{'error at the end / that of the honest fleet':44s}", *(f"{n[:22]:>22s}" for n in NAMES)
    )
    base = {name: errors["nobody lies", name] for name in NAMES}
    print(f"  {'nobody lies: error':42s}", *(f"{base[name]:22.5f}" for name in NAMES))
    for title in LIES:
        ratios = (errors[title, name] / base[name] for name in NAMES)
        print(f"  {title:42s}", *(f"{ratio:22.2f}" for ratio in ratios))
    worst = max(errors[title, "robust"] for title in LIES) / base["robust"]
    print(f"  robust at worst {worst:.2f}, limit {LIMIT}: {'pass' if worst <= LIMIT else 'MISS'}")


def print_times() -> None:
    """Print how soon errors stay small when nobody lies."""
    samples = PROBLEM.draw(HORIZON, 3, seed=2)
    for name in ("robust", "sharp", NAMES[2], "local", "oracle"):
        trajectory = colme.simulate(samples, name, sigma=SIGMA, delta=DELTA, labels=PROBLEM.labels)
        times = [
            colme.metrics.convergence_times(trajectory, PROBLEM.true_means, epsilon=epsilon).mean()
            for epsilon in (0.1, 0.01)
        ]
        print(f"  {name:44s} within 0.1 after {times[0]:7.1f}, 0.01 after {times[1]:7.1f}")


def main() -> None:
    """Print both tables."""
    start = time.perf_counter()
    print(f"A tenth of {N_AGENTS} agents lie; standard errors of {SIGMA / math.sqrt(HORIZON)}")
    print_ratios()
    print_times()
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
