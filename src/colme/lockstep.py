"""The slow twin of `simulate`: plain agents joined by a perfect link.

Lives here: `lockstep`, the reference.  Must not know the compiled loops.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme.agent import Agent
from colme.algorithm import Algorithm, ClassTest
from colme.results import Keep, Record, Trajectory
from colme.setup import GivenSamples, Options, Setup


def lockstep(
    samples: ArrayLike,
    algorithm: str | Algorithm = "sharp",
    *,
    arrivals: int | ArrayLike | None = None,
    record: Record | None = None,
    **options: Unpack[Options],
) -> Trajectory:
    """Do what `simulate` does with plain agents joined by a perfect link: slow, and the reference.

    All agents perceive; then each asks one peer, whose reply carries the samples of this step and
    relays what its sender has heard at earlier steps.
    Parameters are those of `colme.simulate`.

    Examples
    --------
    >>> import colme
    >>> samples = colme.Problem.gaussian([0.0], n_agents=3, sigma=0.1).draw(4)
    >>> slow = lockstep(samples, "round-robin", sigma=0.1)
    >>> fast = colme.simulate(samples, "round-robin", sigma=0.1)
    >>> bool(abs(slow.estimates - fast.estimates).max() < 1e-12)
    True
    """
    given = GivenSamples.of(samples, arrivals)
    setup = Setup.of(given.n_agents, algorithm, **options)
    trajectory = setup.trajectory(given.runs, given.horizon, record)
    for run in range(given.runs):
        _run(given, setup, trajectory, run)
    return trajectory


def _run(given: GivenSamples, setup: Setup, trajectory: Trajectory, run: int) -> None:
    fleet = _fleet(setup)
    agents, offers = list(fleet.values()), setup.offers and setup.offers(run)
    slots = Keep(trajectory).open(run, 0, given.horizon)
    arrivals = given.arrivals_of(run)
    if arrivals is None:
        arrivals = np.ones(given.samples.shape[1:], np.int32)
    ends = arrivals.cumsum(axis=0)
    for t, (start, end) in enumerate(zip(ends - arrivals, ends, strict=True)):
        for a, agent in enumerate(agents):
            agent.perceive(*given.samples[run, start[a] : end[a], a])
        suggested = None if offers is None else offers.take(1)[0]
        for a, agent in enumerate(agents):
            if suggested is not None and suggested[a] >= 0:
                agent.meet(str(suggested[a]))
        peers = [(agent, agent.choose_peer()) for agent in agents]
        queries = [(agent, agent.query_to(peer)) for agent, peer in peers if peer is not None]
        answers = [
            (agent, fleet[query.receiver].answer(query), fleet[query.receiver].relayed(query))
            for agent, query in queries
        ]
        for agent, reply, relayed in answers:  # nobody relays what it hears at this step
            agent.receive(reply, relayed)
        if slots[t] >= 0:
            _record(trajectory, run, int(slots[t]), agents)


def _fleet(setup: Setup) -> dict[str, Agent]:
    names = [str(a) for a in range(setup.labels.size)]
    known = setup.algorithm.class_test == ClassTest.KNOWN
    peers = [names] * len(names)
    if setup.contacts is not None:
        peers = [[names[l] for l in setup.contacts.known_by(a)] for a in range(len(names))]
    bounds = setup.bounds * (len(names) if len(setup.bounds) == 1 else 1)
    return {
        name: Agent(
            name,
            bound=bound,
            delta=setup.budget.delta,
            max_agents=setup.budget.n_agents,
            algorithm=setup.algorithm,
            peers=row,
            classmates=[names[l] for l in np.flatnonzero(setup.labels == label)] if known else None,
            room=len(row),
        )
        for name, label, bound, row in zip(names, setup.labels, bounds, peers, strict=True)
    }


def _record(trajectory: Trajectory, run: int, slot: int, agents: list[Agent]) -> None:
    for a, agent in enumerate(agents):
        if trajectory.estimates is not None:
            trajectory.estimates[run, slot, a] = agent.estimate
        if trajectory.class_counts is not None:
            trajectory.class_counts[run, slot, a] = _count(trajectory, agent.optimistic_class)
        if trajectory.likely_counts is not None:
            trajectory.likely_counts[run, slot, a] = _count(trajectory, agent.likely_class)


def _count(trajectory: Trajectory, members: Iterable[str]) -> NDArray[np.int64]:
    labels = trajectory.labels[[int(name) for name in members]]
    return np.bincount(labels, minlength=trajectory.class_sizes.size)
