"""Compiles the loops that most tests use, each once, before many processes need them at once.

Lives here: small runs that call them.  Nothing is checked, and without it every test still passes:
each process would then compile the same loops at the same time.
"""

from __future__ import annotations

import sys
from multiprocessing import get_context
from typing import Any

import numpy as np

import colme
from colme.bounds import Discounted, NormalMixture, Restarted, Windowed
from colme.data import Summaries, estimate

SAMPLES = np.random.default_rng(0).random((1, 20, 6))
LABELS = np.arange(6) % 2
BOUND = NormalMixture(0.5, 20, 0.01)


def compile_loop(algorithm: str) -> None:
    """Compile the loop of an algorithm for streams that keep step and for others."""
    how: dict[str, Any] = {"sigma": 0.5, "labels": LABELS}
    for arrivals in (None, np.ones((20, 6), np.int64)):
        trajectory = colme.simulate(SAMPLES, algorithm, arrivals=arrivals, **how)
    colme.metrics.identification_times(trajectory)
    colme.metrics.convergence_times(trajectory, np.full(6, 0.5), epsilon=0.1)


def compile_others() -> None:
    """Compile what folds streams, gossips and describes tables."""
    compile_loop("restricted-round-robin")
    changing = (Windowed(BOUND, 5), Discounted(BOUND, 0.9), Restarted(BOUND, alarm=0.01))
    for bound in changing:
        colme.simulate(SAMPLES, "local", bound=bound)
    contacts = colme.Contacts.random(6, 3)
    colme.simulate(SAMPLES, "round-robin", sigma=0.5, contacts=contacts, gossip=colme.Gossip())
    problem, graph = colme.Problem.bernoulli([0.5], n_agents=6), colme.Contacts.regular(6, 2)
    for method in ("b-colme", "c-colme"):
        colme.simulate_neighbours(problem, method, graph, horizon=5)
    table = Summaries.of(np.repeat(np.arange(6), 20), SAMPLES[0].T.ravel())
    for algorithm in ("sharp", "robust"):
        estimate(table, algorithm=algorithm)


if __name__ == "__main__":
    spawn = get_context("spawn")
    # The loop of the model takes as long to compile as all others together.
    other = spawn.Process(target=compile_others)
    other.start()
    compile_loop("sharp")
    other.join()
    sys.exit(other.exitcode)
