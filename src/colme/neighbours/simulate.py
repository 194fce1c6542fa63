"""One front door: a problem, a method and a graph give a digest.

Lives here: checks, the blocks of a run, and runs shared among threads.  Must not know how links are
tested or what goes over them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Event

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check
from colme.contacts import Contacts
from colme.digest import Digest, Folding
from colme.neighbours.consensus import Agreeing, Manner, agree
from colme.neighbours.graph import Graph, graph_of
from colme.neighbours.limits import Limits, limits_of
from colme.neighbours.method import METHODS, Method, Sharing, method_of
from colme.neighbours.passing import Passing, pass_on
from colme.problem import Problem

__all__ = ["simulate_neighbours"]

Array = NDArray[np.float64]
Block = Callable[[Array, int, Array], None]
"""Runs steps: samples[step, agent], how many steps there were before, estimates[agent, step]."""

_LINKS_PER_BLOCK = 10_000_000
"""Looks at links in one piece of work: a tenth of a second or so, so that Ctrl-C is heard."""


@dataclass(frozen=True, eq=False)
class _Fleet:
    """What all runs share."""

    problem: Problem
    method: Method
    graph: Graph
    limits: Limits
    labels: NDArray[np.int64]
    horizon: int
    steps_per_block: int

    def start(self) -> Block:
        """Return the loop of one run, with its own state."""
        graph, limits, labels = self.graph, self.limits, self.labels
        if self.method.sharing == Sharing.MESSAGES:
            passing = Passing.start(graph, labels.size, self.method.hops)
            one_sided = self.method.is_one_sided
            return lambda *block: pass_on(graph, limits, one_sided, passing, labels, *block)
        manner = Manner.of(self.method, graph.largest_degree)
        agreeing = Agreeing.start(graph, labels)
        return lambda *block: agree(graph, limits, manner, agreeing, labels, *block)

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Yield where each block starts, and how many steps it has."""
        for start in range(0, self.horizon, self.steps_per_block):
            yield start, min(self.steps_per_block, self.horizon - start)


def simulate_neighbours(
    problem: Problem,
    method: str | Method,
    contacts: Contacts,
    *,
    horizon: int,
    runs: int = 1,
    seed: int = 0,
    delta: float = 0.001,
    sigma: float | None = None,
    epsilons: Sequence[float] = (0.1,),
    times: ArrayLike | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Digest:
    """Run a method on a graph, compiled, one run per thread.

    Parameters
    ----------
    problem
        Who belongs to which class, and the samples; means must not change.
    method
        A name from `METHODS` or a `Method`.
    contacts
        The graph: neighbours know each other, as in `Contacts.regular`.
    horizon
        How many steps a run has.
    runs, seed
        Runs with fresh samples, and their seed.
    delta
        The risk of the whole fleet: links between equal means are all kept with probability
        at least 1 - δ/4.
    sigma
        Sub-Gaussian scale of one sample, by default that of the problem.
    epsilons, times
        What the digest looks at, and when: see `colme.digest.Folding`.
    threads
        Number of threads; the result does not depend on it.
    progress
        Called with the share of the work done, from 0 to 1.

    Returns
    -------
    Digest
        The same bits for the same input, whatever the number of threads.

    Examples
    --------
    >>> from colme import Contacts, Problem
    >>> problem = Problem.gaussian([0.0, 1.0], n_agents=100, sigma=0.5, seed=0)
    >>> contacts = Contacts.regular(n_agents=100, degree=8)
    >>> digest = simulate_neighbours(problem, "c-colme", contacts, horizon=200, times=[10, 200])
    >>> digest.wrong_shares[0, :, 0].tolist()
    [1.0, 0.0]
    """
    fleet = _prepare(problem, method, contacts, horizon, delta, sigma)
    runs = _check.positive_int("runs", runs)
    seed = _check.non_negative_int("seed", seed)
    n_threads = _check.threads(threads)
    foldings = [
        Folding(problem.true_means, fleet.horizon, epsilons=epsilons, times=times)
        for _ in range(runs)
    ]
    _run_all(fleet, foldings, seed, n_threads, progress)
    return Digest.of(_name_of(method), fleet.labels, foldings)


def _prepare(
    problem: Problem,
    method: str | Method,
    contacts: Contacts,
    horizon: int,
    delta: float,
    sigma: float | None,
) -> _Fleet:
    """Check everything that all runs share."""
    chosen = method_of(method)
    steps = _check.positive_int("horizon", horizon)
    if contacts.n_agents != problem.n_agents:
        raise ValueError(
            f"contacts must be of the {problem.n_agents} agents of the problem; received "
            f"{contacts.n_agents}: draw them for as many"
        )
    if problem.changes:
        raise ValueError(
            "links are cut for good, so true means must not change; received a problem with "
            f"{len(problem.changes)} changes: drop them, or use colme.simulate"
        )
    graph = graph_of(contacts)
    scale = problem.sigma if sigma is None else _check.positive("sigma", sigma)
    limits = limits_of(chosen, scale, delta, graph.n_links, steps)
    per_block = max(1, _LINKS_PER_BLOCK // (chosen.reach * graph.peers.size + problem.n_agents))
    labels = problem.labels.astype(np.int64)
    return _Fleet(problem, chosen, graph, limits, labels, steps, min(per_block, steps))


def _run_all(
    fleet: _Fleet,
    foldings: Sequence[Folding],
    seed: int,
    n_threads: int,
    progress: Callable[[float], None] | None,
) -> None:
    """Share runs among threads; tell from this thread how far they are."""
    told: SimpleQueue[int | None] = SimpleQueue()
    stop = Event()
    pool = ThreadPoolExecutor(n_threads)
    futures: list[Future[None]] = []
    try:
        for run, folding in enumerate(foldings):
            futures.append(pool.submit(_run, fleet, folding, run, seed, told, stop))
        n_done, n_running = 0, len(foldings)
        while n_running:
            news = told.get()
            if news is None:
                n_running -= 1
            elif progress is not None:
                n_done += news
                progress(n_done / (fleet.horizon * len(foldings)))
        for future in futures:
            future.result()
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)


def _run(
    fleet: _Fleet,
    folding: Folding,
    run: int,
    seed: int,
    told: SimpleQueue[int | None],
    stop: Event,
) -> None:
    """Run one run block by block, unless told to stop; tell how many steps are done, None: all."""
    try:
        flow, work = fleet.problem.flow(run, seed), fleet.start()
        for start, n_steps in fleet.blocks():
            if stop.is_set():
                return
            estimates = np.empty((fleet.labels.size, n_steps))
            work(flow.take(n_steps), start, estimates)
            folding.open(start, n_steps)
            folding.fold(0, estimates)
            folding.close()
            told.put(n_steps)
    finally:
        told.put(None)


def _name_of(method: str | Method) -> str:
    if isinstance(method, str):
        return method
    names = (name for name, preset in METHODS.items() if preset == method)
    return next(names, f"{method.sharing.word} {method.test.word} {method.links.word}")
