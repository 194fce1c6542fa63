"""How long an experiment will take, from trials with fewer agents and steps.

Lives here: the trials.  Must not know how anything is summed up.
"""

from __future__ import annotations

from dataclasses import replace

from colme.contacts import Contacts
from colme.experiment.scenario import Scenario
from colme.large import seconds_of
from colme.neighbours import METHODS
from colme.problem import Problem
from colme.results import Record


def estimate_seconds(scenario: Scenario, threads: int | None = None) -> float:
    """Return about how long all algorithms will take, from trials that take a second each.

    Examples
    --------
    >>> from colme.experiment import Experiment
    >>> problem = {"class_means": [0.2, 0.8], "n_agents": 6, "sigma": 0.1}
    >>> content = {"problem": problem, "horizon": 5, "runs": 2, "algorithms": ["local"]}
    >>> 0 < estimate_seconds(Experiment.make(content).build()) < 60
    True
    """
    given, size = scenario.experiment, scenario.size
    total = 0.0
    for name in given.algorithms:
        on_graph = name in METHODS

        def run(problem: Problem, horizon: int, name: str = name) -> None:
            _run_part(scenario, name, problem, horizon, threads)

        total += seconds_of(
            run,
            scenario.problem,
            given.horizon,
            -(-given.runs // size.threads) if on_graph else given.runs,
            knows_all=size.knows_all and not on_graph,
        )
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
