"""How long an experiment will take, from trials with fewer agents and steps.

Lives here: the trials, and what follows from them.  Must not know memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from colme.contacts import Contacts
from colme.experiment.scenario import Scenario
from colme.neighbours import METHODS
from colme.noise import NoiseLaw
from colme.problem import Problem
from colme.results import Record

_MOST_AGENTS = 1500
_MOST_THAT_KNOW_ALL = 400
_MOST_STEPS = 300
_GROWTH = 1.6
"""How much longer a step takes in a fleet that no cache holds than in a small one."""
_LARGE = 100_000
"""Agents from which on no cache holds them."""


def part_of(problem: Problem, n_agents: int) -> Problem:
    """Return the first agents of a problem, or all if noise forbids it, without changes.

    Examples
    --------
    >>> part_of(Problem.bernoulli([0.2, 0.8], n_agents=50), 7).n_agents
    7
    """
    share: Callable[[int, int], NoiseLaw] | None = getattr(problem.noise, "of_agents", None)
    if n_agents >= problem.n_agents or share is None:
        return Problem(problem.labels, problem.true_means, problem.noise)
    labels = problem.labels[:n_agents]
    return Problem(labels, problem.true_means[:n_agents], share(0, n_agents))


def estimate_seconds(scenario: Scenario, threads: int | None = None) -> float:
    """Return about how long all algorithms will take, from trials that take a second each.

    The first, very short trial of each also compiles; only the second is timed.

    Examples
    --------
    >>> from colme.experiment import Experiment
    >>> problem = {"class_means": [0.2, 0.8], "n_agents": 6, "sigma": 0.1}
    >>> content = {"problem": problem, "horizon": 5, "runs": 2, "algorithms": ["local"]}
    >>> 0 < estimate_seconds(Experiment.make(content).build()) < 60
    True
    """
    given, size, total = scenario.experiment, scenario.size, 0.0
    for name in given.algorithms:
        on_graph = name in METHODS
        knows_all = size.knows_all and not on_graph
        most = _MOST_THAT_KNOW_ALL if knows_all else _MOST_AGENTS
        small, steps = part_of(scenario.problem, most), min(given.horizon, _MOST_STEPS)
        _run_part(scenario, name, small, 2, threads)
        start = time.perf_counter()
        _run_part(scenario, name, small, steps, threads)
        taken = time.perf_counter() - start
        larger = size.n_agents / small.n_agents
        growth = _GROWTH ** np.clip(np.log(larger) / np.log(_LARGE / _MOST_AGENTS), 0.0, 1.0)
        runs = -(-given.runs // size.threads) if on_graph else given.runs
        work = larger * (larger if knows_all else 1.0) * (given.horizon / steps) * runs
        total += float(taken * work * growth)
    return total


def _run_part(
    scenario: Scenario, name: str, problem: Problem, horizon: int, threads: int | None
) -> None:
    """Run the same on fewer agents, for fewer steps."""
    n, row = problem.n_agents, scenario.size.longest_row
    contacts, gossip = None, None
    if name in METHODS:
        degree = min(row, n) - 1
        even = degree - degree * n % 2
        contacts = Contacts.regular(n, even) if even else Contacts.of_lists([()] * n)
    elif not scenario.size.knows_all:
        contacts = Contacts.random(n, min(row, n))
        gossip = None if contacts.is_everyone else scenario.gossip
    small = replace(
        scenario,
        experiment=scenario.experiment.model_copy(update={"horizon": horizon, "runs": 1}),
        problem=problem,
        labels=problem.labels,
        arrivals=None if scenario.arrivals is None else scenario.arrivals[:1, :horizon, :n],
        contacts=contacts,
        gossip=gossip,
    )
    small.run(name, threads=threads, record=Record(class_counts=False, every=horizon))
