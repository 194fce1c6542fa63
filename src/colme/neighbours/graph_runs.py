"""A problem, a method and a graph give a digest.

Lives here: checks, runs that go on together, block by block, and the memory they take.  Must not
know how links are tested or what goes over them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check
from colme._threads import Progress, share, worker_threads
from colme.contacts import Contacts
from colme.neighbours.consensus import ConsensusState, run_consensus
from colme.neighbours.graph import Graph
from colme.neighbours.hops import MessageState, run_messages
from colme.neighbours.links import GraphSetting, limits_of
from colme.neighbours.method import Method, Sharing, method_of
from colme.problem import Problem
from colme.problem.sample_stream import SampleStream
from colme.results import Digest, RunningMetrics

Array = NDArray[np.float64]

_LINKS_PER_BLOCK = 10_000_000
"""Links visited in one piece of work: about a tenth of a second, so that Ctrl-C acts quickly."""


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
    progress: Progress | None = None,
) -> Digest:
    """Run a method on a graph, compiled, one run per thread.

    The result has the same bits for the same input, whatever the number of threads.

    Parameters
    ----------
    problem
        Classes and samples; true means must not change.
    method
        A name from `METHODS` or a `Method`.
    contacts
        The graph: neighbours know each other, as in `Contacts.regular`.
    horizon, runs, seed, epsilons, times, threads, progress
        As for `colme.simulate_large`.
    delta
        The risk of the whole fleet: with probability at least 1 - δ/4 no link between equal means
        is cut.
    sigma
        Sub-Gaussian scale of one sample, by default that of the problem.

    Examples
    --------
    >>> from colme import Contacts, Problem
    >>> problem = Problem.gaussian([0.0, 1.0], n_agents=100, sigma=0.5, seed=0)
    >>> contacts = Contacts.regular(n_agents=100, degree=8)
    >>> digest = simulate_neighbours(problem, "c-colme", contacts, horizon=200, times=[10, 200])
    >>> digest.wrong_shares[0, :, 0].tolist()
    [1.0, 0.0]
    """
    chosen, n_threads = method_of(method), _check.threads(threads)
    horizon, runs = _check.positive_int("horizon", horizon), _check.positive_int("runs", runs)
    seed, means = _check.non_negative_int("seed", seed), problem.true_means
    setting = _setting(problem, chosen, contacts, horizon, delta, sigma)
    metrics = [RunningMetrics(means, horizon, epsilons=epsilons, times=times) for _ in range(runs)]
    _run_all(problem, chosen, setting, seed, metrics, n_threads, progress)
    return Digest.of(chosen.name, setting.labels, metrics)


def _setting(
    problem: Problem,
    method: Method,
    contacts: Contacts,
    horizon: int,
    delta: float,
    sigma: float | None,
) -> GraphSetting:
    """Return what all runs share, or raise ValueError if method, graph and problem do not fit."""
    contacts.check_n_agents(problem.n_agents)
    if problem.changes:
        raise ValueError(
            "links are cut for good, so true means must not change; received a problem with "
            f"{len(problem.changes)} changes: drop them, or use colme.simulate"
        )
    graph, scale = Graph.of(contacts), problem.sigma if sigma is None else sigma
    limits = limits_of(method, _check.positive("sigma", scale), delta, graph.n_links, horizon)
    return GraphSetting.of(method, graph, limits, problem.labels.astype(np.int64))


def _run_all(
    problem: Problem,
    method: Method,
    setting: GraphSetting,
    seed: int,
    metrics: Sequence[RunningMetrics],
    n_threads: int,
    progress: Progress | None,
) -> None:
    """Share runs among threads, block by block."""
    runs, horizon = len(metrics), metrics[0].horizon
    links_per_step = method.reach * setting.graph.peers.size + problem.n_agents
    block = max(1, _LINKS_PER_BLOCK // links_per_step)
    with worker_threads(n_threads) as pool:
        # Only as many runs are in memory as there are threads.
        for first in range(0, runs, n_threads):
            group = [
                _Run(problem.sample_stream(run, seed), _loop(method, setting), metrics[run])
                for run in range(first, min(first + n_threads, runs))
            ]
            for start in range(0, horizon, block):
                n_steps = min(block, horizon - start)
                share(pool, _Run.advance, [(run, start, n_steps) for run in group])
                if progress is not None:
                    done = first * horizon + len(group) * (start + n_steps)
                    progress(done / (runs * horizon))


class _Run(NamedTuple):
    """One run: its samples, its compiled loop with its state, and its metrics."""

    stream: SampleStream
    loop: Callable[[Array, int, Array], None]
    metrics: RunningMetrics

    def advance(self, start: int, n_steps: int) -> None:
        """Run the steps after `start` and fold their estimates into the metrics."""
        samples = self.stream.take(n_steps)
        estimates = np.empty(samples.T.shape)
        self.loop(samples, start, estimates)
        self.metrics.open(start, n_steps)
        self.metrics.fold(0, estimates)
        self.metrics.close()


def _loop(method: Method, setting: GraphSetting) -> Callable[[Array, int, Array], None]:
    """Return the compiled loop of a method with a state of its own."""
    if method.sharing == Sharing.MESSAGES:
        return partial(run_messages, setting, MessageState.start(setting))
    return partial(run_consensus, setting, ConsensusState.start(setting))


def bytes_of_graph(n_ends: int) -> int:
    """Return the bytes of a graph and of the contacts it is made from; a link has two ends.

    Examples
    --------
    >>> bytes_of_graph(10)
    280
    """
    return n_ends * (4 + 8 + 16)


def bytes_of_state(method: Method, n_agents: int, n_ends: int) -> int:
    """Return the bytes that one run keeps from step to step.

    Examples
    --------
    >>> bytes_of_state(Method("consensus"), n_agents=3, n_ends=4)
    248
    """
    uncut = 8 * (n_agents + n_ends)
    if method.sharing == Sharing.CONSENSUS:
        return uncut + 2 * 4 * 8 * n_agents
    per_hop = 2 * 2 * 8  # a sum and a number, of the last step and the one before it
    to_agents = n_agents * (2 * 8 + per_hop * method.hops)
    return uncut + to_agents + n_ends * (2 * 8 + per_hop * (method.hops - 1))
