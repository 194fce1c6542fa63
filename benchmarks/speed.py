"""How fast the simulator is on the paper's setting, all ratios taken in this one run.

Prints the time of the six algorithms with their metrics relative to drawing their samples, the
time per (agent, peer) pair and core, the time of one plain agent's step, start-up times and peak
memory.  Numbers in seconds depend on the machine and on what else it is doing; ratios less so.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial

import numpy as np

import colme
from colme.paper.experiments import ALGORITHMS, EXTRA_ALGORITHMS

PAPER = tuple(name for name in ALGORITHMS if name not in EXTRA_ALGORITHMS)
REPEATS = 5
FIRST_RESULT = f"""
import colme
samples = colme.Problem.gaussian([0.2, 0.8], n_agents=20, sigma=0.5).draw(50)
for name in {PAPER}:
    trajectory = colme.simulate(samples, name, sigma=0.5, labels=[0] * 20)
    colme.metrics.identification_times(trajectory)
    colme.metrics.convergence_times(trajectory, [0.2] * 20, 0.1)
"""


def fastest(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the shortest of several durations: what the machine can do when left alone."""
    durations = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        durations.append(time.perf_counter() - start)
    return min(durations)


def whole_experiment() -> None:
    """Compare the six algorithms and their metrics with drawing the samples."""
    problem = colme.Problem.gaussian([0.2, 0.4, 0.8], n_agents=200, sigma=0.5, seed=0)
    shape = (20, 2500, 200)
    rng = np.random.default_rng(0)
    draw = fastest(lambda: rng.normal(problem.true_means, 0.5, shape))
    samples = problem.draw(horizon=2500, runs=20, seed=1)

    def experiment() -> None:
        for name in PAPER:
            trajectory = colme.simulate(samples, name, sigma=0.5, labels=problem.labels)
            colme.metrics.identification_times(trajectory)
            for epsilon in (0.1, 0.01):
                colme.metrics.convergence_times(trajectory, problem.true_means, epsilon)

    experiment()
    taken = fastest(experiment)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"drawing the samples with numpy, one core: {draw:.2f} s")
    print(f"six algorithms with metrics, {os.cpu_count()} cores: {taken:.2f} s")
    print(f"ratio: {taken / draw:.1f} (must: 20, aim: 10); peak memory {peak:.2f} GB (must: 1.5)")


def per_pair() -> None:
    """Print the time per (agent, peer) pair on one core, with and without class counts."""
    print("ns per (agent, peer) pair on one core (must: 0.5 simple, 0.8 others; twice with counts)")
    for n_agents, horizon in ((200, 2500), (2000, 300)):
        problem = colme.Problem.gaussian([0.2, 0.4, 0.8], n_agents=n_agents, sigma=0.5)
        samples = problem.draw(horizon)
        for name in PAPER[:4]:
            times = []
            for counts in (False, True):
                run = partial(
                    colme.simulate,
                    samples,
                    name,
                    sigma=0.5,
                    labels=problem.labels,
                    record=colme.Record(class_counts=counts),
                    threads=1,
                )
                times.append(fastest(run) / (n_agents**2 * horizon) * 1e9)
            print(f"  {n_agents:5d} agents {name:35s} {times[0]:.2f}   with counts {times[1]:.2f}")


def plain_step() -> None:
    """Print the time of one step of a plain agent with 200 peers."""
    rng = np.random.default_rng(0)
    names = [str(a) for a in range(200)]
    for algorithm in PAPER[:4]:
        agent = colme.Agent(
            "0", sigma=0.5, delta=0.001, max_agents=200, algorithm=algorithm, peers=names
        )
        steps = 600

        def run(agent: colme.Agent = agent, steps: int = steps) -> None:
            for _ in range(steps):
                agent.perceive(rng.normal())
                peer = agent.choose_peer()
                if peer is not None:
                    agent.receive(colme.Reply(peer, rng.normal(0, 0.05), agent.count))
                assert agent.estimate == agent.estimate

        print(f"plain agent, 200 peers, {algorithm}: {fastest(run, 1) / steps * 1e3:.2f} ms a step")


def start_up() -> None:
    """Print the time to the first results of a new process, without and with the disk cache."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}

        def process() -> None:
            subprocess.run([sys.executable, "-c", FIRST_RESULT], env=environment, check=True)

        print(f"first process ever, compilation included: {fastest(process, 1):.1f} s (must: 40)")
        print(f"next process, to its first results: {fastest(process, 3):.2f} s (must: 2)")


if __name__ == "__main__":
    whole_experiment()
    per_pair()
    plain_step()
    start_up()
