"""How much faster `colme.simulate` is than the algorithm written down as a script would be.

Two scripts keep dense agent x agent matrices in numpy and go through agents one by one, as the
text of the algorithm reads: one computes distances and weights for a whole row at once, the other
peer by peer, exactly as the definitions are written.  On the first steps of a run of the paper's
3-class problem both must agree with the simulator.  They are then timed on a few steps from the
middle of the run, with everybody heard of, and the simulator on whole runs, as it is used; per
agent and step the middle stands for the whole, because a script does the same work in every step.
Everything is after compilation and taken in this one run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

import colme
from colme.paper import EXPERIMENTS
from colme.paper.experiments import EXTRA_ALGORITHMS

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

FIRST, MIDDLE = 60, 1000
ROW_STEPS, PEER_STEPS = 30, 3
WHOLE_RUNS = 4
PAPER = EXPERIMENTS["three-class"]
PROBLEM = PAPER.problem.build()


class RowScript:
    """One run of one algorithm: agent after agent, a whole row of its memory at once."""

    def __init__(self, algorithm: str, samples: Array) -> None:
        self.algorithm, self.samples = algorithm, samples
        self.n_agents = samples.shape[1]
        self.means = np.zeros((self.n_agents, self.n_agents))
        self.counts = np.zeros((self.n_agents, self.n_agents))
        self.cursor = np.full(self.n_agents, -1)
        self.gamma = PAPER.delta / (8 * self.n_agents)
        self.class_counts = np.zeros((*samples.shape, PROBLEM.n_classes), dtype=np.int64)

    def settle(self, t: int) -> None:
        """Fill the memory as after t steps: everybody heard of, some longer ago than others."""
        agents = np.arange(self.n_agents)
        running = np.cumsum(self.samples[:t], axis=0) / np.arange(1, t + 1)[:, np.newaxis]
        self.counts = (t - (agents[:, np.newaxis] + agents) % self.n_agents).astype(float)
        np.fill_diagonal(self.counts, t)
        self.means = running[self.counts.astype(int) - 1, agents]

    def run(self, first: int, last: int) -> Array:
        """Return estimates[time, agent] of steps first..last-1."""
        estimates = np.zeros(self.samples.shape)
        for t in range(first, last):
            for a in range(self.n_agents):
                self.means[a, a] = self.means[a, a] * t / (t + 1) + self.samples[t, a] / (t + 1)
                self.counts[a, a] = t + 1
            for a in range(self.n_agents):
                estimates[t, a], member = self.step(a)
                self.class_counts[t, a] = np.bincount(
                    PROBLEM.labels[member], minlength=PROBLEM.n_classes
                )
        return estimates[first:last]

    def step(self, a: int) -> tuple[float, Flags]:
        """Let agent `a` ask one peer; return its estimate and its class."""
        if self.algorithm == "local":
            return float(self.means[a, a]), np.ones(self.n_agents, dtype=bool)
        peer = self.choose(a, self.classmates(a, self.radii(a)))
        if peer >= 0:
            self.cursor[a] = peer
            self.means[a, peer] = self.means[peer, peer]
            self.counts[a, peer] = self.counts[peer, peer]
        radii = self.radii(a)
        member = self.classmates(a, radii)
        weights = self.weights(a, radii, member)
        return float(weights @ self.means[a] / weights.sum()), member

    def choose(self, a: int, member: Flags) -> int:
        """Return whom `a` asks."""
        if self.algorithm == "oracle":
            others = np.flatnonzero(member)
            others = others[others != a]
            return int(others[np.argmin(self.counts[a, others])]) if others.size else -1
        for ahead in range(1, self.n_agents + 1):
            peer = (self.cursor[a] + ahead) % self.n_agents
            if peer != a and (self.algorithm == "round-robin" or member[peer]):
                return int(peer)
        return -1

    def radii(self, a: int) -> Array:
        """Return the half-width of each interval that `a` holds."""
        n = self.counts[a]
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = 2 / n * (1 + 1 / n) * np.log(np.sqrt(n + 1) / self.gamma)
        return np.where(n > 0, PROBLEM.sigma * np.sqrt(spread), np.inf)

    def classmates(self, a: int, radii: Array) -> Flags:
        """Return who may be in the class of `a`."""
        if self.algorithm == "oracle":
            return np.asarray(PROBLEM.labels == PROBLEM.labels[a])
        distance = np.abs(self.means[a] - self.means[a, a]) - radii - radii[a]
        return np.asarray(distance <= 0)

    def weights(self, a: int, radii: Array, member: Flags) -> Array:
        """Return how much each reply counts."""
        counts = self.counts[a]
        if not self.algorithm.startswith(("soft", "aggressive")):
            return np.where(member, counts, 0.0)
        some = np.where(counts > 0, radii, 0.0)
        low, high = self.means[a] - some, self.means[a] + some
        both = np.minimum(high, high[a]) - np.maximum(low, low[a])
        either = np.maximum(high, high[a]) - np.minimum(low, low[a])
        weights = np.where(member, counts * both / either, 0.0)
        if self.algorithm.startswith("aggressive"):
            weights[both <= np.minimum(radii, radii[a])] = 0.0
        return weights


class PeerScript(RowScript):
    """The same, peer by peer."""

    def radii(self, a: int) -> Array:
        """Return the half-width of each interval that `a` holds."""
        return np.array([self.radius(self.counts[a, l]) for l in range(self.n_agents)])

    def radius(self, n: float) -> float:
        """Return β(n)."""
        if n == 0:
            return np.inf
        spread = 2 / n * (1 + 1 / n) * np.log(np.sqrt(n + 1) / self.gamma)
        return float(PROBLEM.sigma * np.sqrt(spread))

    def classmates(self, a: int, radii: Array) -> Flags:
        """Return who may be in the class of `a`."""
        member = np.zeros(self.n_agents, dtype=bool)
        for l in range(self.n_agents):
            if self.algorithm == "oracle":
                member[l] = PROBLEM.labels[l] == PROBLEM.labels[a]
            else:
                distance = np.abs(self.means[a, a] - self.means[a, l]) - radii[a] - radii[l]
                member[l] = distance <= 0
        return member

    def weights(self, a: int, radii: Array, member: Flags) -> Array:
        """Return how much each reply counts."""
        weights = np.zeros(self.n_agents)
        for l in np.flatnonzero(member & (self.counts[a] > 0)).tolist():
            weights[l] = self.counts[a, l] * self.overlap(a, l, radii)
        return weights

    def overlap(self, a: int, l: int, radii: Array) -> float:
        """Return intersection over union of two intervals, as far as the weighting asks for it."""
        if not self.algorithm.startswith(("soft", "aggressive")):
            return 1.0
        low, high = self.means[a] - radii, self.means[a] + radii
        both = min(high[a], high[l]) - max(low[a], low[l])
        if self.algorithm.startswith("aggressive") and both <= min(radii[a], radii[l]):
            return 0.0
        return float(both / (max(high[a], high[l]) - min(low[a], low[l])))


def simulate(samples: Array, name: str) -> colme.Trajectory:
    """Run the simulator as the paper's experiment does."""
    return colme.simulate(
        samples, name, sigma=PROBLEM.sigma, delta=PAPER.delta, labels=PROBLEM.labels
    )


def seconds(work: Callable[[], object], repeats: int) -> float:
    """Return the shortest of several durations."""
    durations = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        durations.append(time.perf_counter() - start)
    return min(durations)


def check(script: type[RowScript], name: str, samples: Array, steps: int) -> None:
    """Raise AssertionError unless the script agrees with the simulator on the first steps."""
    exact = simulate(samples[:steps], name)
    assert exact.estimates is not None
    assert exact.class_counts is not None
    running = script(name, samples)
    np.testing.assert_allclose(running.run(0, steps), exact.estimates[0], rtol=1e-9)
    np.testing.assert_array_equal(running.class_counts[:steps], exact.class_counts[0])


def timed(script: type[RowScript], name: str, samples: Array, steps: int) -> float:
    """Return seconds per agent and step, in the middle of the run."""

    def work() -> None:
        running.run(MIDDLE, MIDDLE + steps)

    running = script(name, samples)
    running.settle(MIDDLE)
    return seconds(work, repeats=2) / steps / len(PROBLEM.labels)


def main() -> None:
    """Time the six algorithms each way and print the ratios."""
    whole = PROBLEM.draw(PAPER.horizon, WHOLE_RUNS, PAPER.seed)
    print(
        f"{PROBLEM.n_agents} agents; simulate: {WHOLE_RUNS} runs of {PAPER.horizon} steps on "
        f"{os.cpu_count()} cores; scripts: {ROW_STEPS} and {PEER_STEPS} steps after {MIDDLE}.\n"
        "Nanoseconds per agent and step, and how many times the scripts take longer."
    )
    print(f"{'algorithm':35}{'row by row':>12}{'peer by peer':>14}{'simulate':>10}{'ratios':>16}")
    total: Array = np.zeros(3)
    for name in (name for name in PAPER.algorithms if name not in EXTRA_ALGORITHMS):
        check(RowScript, name, whole[0], FIRST)
        check(PeerScript, name, whole[0], PEER_STEPS)
        rows = timed(RowScript, name, whole[0], ROW_STEPS)
        peers = timed(PeerScript, name, whole[0], PEER_STEPS)
        ours = seconds(partial(simulate, whole, name), repeats=5) / whole.size
        total += rows, peers, ours
        report(name, rows, peers, ours)
    report("all six together", *total)


def report(name: str, rows: float, peers: float, ours: float) -> None:
    """Print one line."""
    print(
        f"{name:35}{rows * 1e9:12.0f}{peers * 1e9:14.0f}{ours * 1e9:10.1f}"
        f"{rows / ours:8.0f}{peers / ours:8.0f}"
    )


if __name__ == "__main__":
    main()
