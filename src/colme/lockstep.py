"""The slow twin of `simulate`: plain agents joined by a perfect link.

Lives here: `lockstep`, the reference.  Must not know the compiled loops.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme.agent import Agent
from colme.algorithm import Algorithm, ClassTest
from colme.bounds import Bound
from colme.contacts import Contacts
from colme.gossip import Gossip
from colme.messages import Query
from colme.setup import Setup
from colme.trajectory import Record, Trajectory

__all__ = ["lockstep"]


def lockstep(
    samples: ArrayLike,
    algorithm: str | Algorithm = "sharp",
    *,
    sigma: float | Sequence[float] | NDArray[np.float64] | None = None,
    bound: Bound | Iterable[Bound] | None = None,
    delta: float = 0.001,
    labels: ArrayLike | None = None,
    eta: float | None = None,
    within: float | None = None,
    arrivals: int | ArrayLike | None = None,
    contacts: Contacts | None = None,
    gossip: Gossip | None = None,
    record: Record | None = None,
) -> Trajectory:
    """Do what `simulate` does with plain agents joined by a perfect link: slow, and the reference.

    All agents perceive; then each asks one peer, whose reply carries the samples of this step.

    Examples
    --------
    >>> import colme
    >>> samples = colme.Problem.gaussian([0.0], n_agents=3, sigma=0.1).draw(4)
    >>> slow = lockstep(samples, "round-robin", sigma=0.1)
    >>> fast = colme.simulate(samples, "round-robin", sigma=0.1)
    >>> bool(abs(slow.estimates - fast.estimates).max() < 1e-12)
    True
    """
    setup = Setup.of(
        samples,
        algorithm,
        sigma=sigma,
        bound=bound,
        delta=delta,
        labels=labels,
        eta=eta,
        within=within,
        arrivals=arrivals,
        contacts=contacts,
        gossip=gossip,
        record=record,
    )
    for run in range(setup.samples.shape[0]):
        _run(setup, run)
    return setup.trajectory


def _run(setup: Setup, run: int) -> None:
    fleet = _fleet(setup)
    agents, slots = list(fleet.values()), setup.slots
    arrivals, suggestions = setup.arrivals_of(run), setup.suggestions_of(run)
    if arrivals is None:
        arrivals = np.ones(setup.samples.shape[1:], np.int32)
    ends = arrivals.cumsum(axis=0)
    for t, (start, end) in enumerate(zip(ends - arrivals, ends, strict=True)):
        for a, agent in enumerate(agents):
            agent.perceive(*setup.samples[run, start[a] : end[a], a])
        for a, agent in enumerate(agents):
            if suggestions.size and suggestions[t, a] >= 0:
                agent.meet(str(suggestions[t, a]))
            peer = agent.choose_peer()
            if peer is not None:
                agent.receive(fleet[peer].answer(Query(agent.name, peer)))
        if slots[t] >= 0:
            _record(setup.trajectory, run, int(slots[t]), agents)


def _fleet(setup: Setup) -> dict[str, Agent]:
    trajectory = setup.trajectory
    names = [str(a) for a in range(trajectory.n_agents)]
    known = trajectory.algorithm.class_test == ClassTest.KNOWN
    peers = [names] * len(names)
    if setup.contacts is not None:
        peers = [[names[l] for l in setup.contacts.known_by(a)] for a in range(len(names))]
    return {
        name: Agent(
            name,
            bound=bound,
            delta=trajectory.delta,
            max_agents=len(names) if setup.gossip else setup.longest_row,
            algorithm=trajectory.algorithm,
            peers=row,
            classmates=[names[l] for l in np.flatnonzero(trajectory.labels == label)]
            if known
            else None,
            room=len(row),
        )
        for name, label, bound, row in zip(
            names, trajectory.labels, setup.bounds, peers, strict=True
        )
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
