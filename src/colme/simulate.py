"""One front door: samples, an algorithm and what to record give a trajectory.

Lives here: `simulate`, which shares the work among threads.  Must not know plots or tables.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check, kernels
from colme.algorithm import Algorithm, Weighting
from colme.bounds import Bound
from colme.contacts import Contacts
from colme.gossip import Gossip
from colme.rules import Choice
from colme.setup import Setup
from colme.trajectory import Record, Trajectory
from colme.views import views_of

__all__ = ["simulate"]

Progress = Callable[[float], None]

_PAIRS_PER_BLOCK = 50_000_000
"""(agent, peer) pairs in one piece of work: some 25 ms, so that Ctrl-C is heard at once."""

_NO_STATES = np.empty((0, 0), np.int64)
"""The whole horizon is one block, after which nothing goes on."""


def simulate(
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
    threads: int | None = None,
    progress: Progress | None = None,
) -> Trajectory:
    """Run an algorithm over given samples, compiled, on all cores.

    Parameters
    ----------
    samples
        float[run, time, agent], or [time, agent] for one run.
    algorithm
        A name from `colme.ALGORITHMS` or an `Algorithm`.
    sigma
        Sub-Gaussian scale of one sample, one for all agents or one for each; or give a bound.
    bound
        How far the mean of a stream may be off, from `colme.bounds`, at whatever risk: one for
        all agents, or one for each.
    delta
        Total risk of each agent's guarantees.
    labels
        The true class of each agent, 0, 1, 2, ...: counted in `class_counts`, and known to
        ``oracle``.  Without labels all agents carry label 0.
    eta, within
        Replace the algorithm's own when given.
    arrivals
        How many samples reach each agent at each step: a number m (batches of m), or
        int[time, agent] or [run, time, agent]; then samples[run, k, agent] is the k-th sample of
        each agent's stream.  By default one sample a step.
    contacts
        Who knows whom, from `colme.Contacts`; by default everybody knows everybody.
    gossip
        How agents hear of others beyond their contacts, from `colme.Gossip`; those take the
        places of excluded peers.
    record
        What to keep; by default estimates and class counts at every step, if they fit.
    threads
        Number of threads; the result does not depend on it.
    progress
        Called with the share of the work done, from 0 to 1.

    Returns
    -------
    Trajectory
        The same bits for the same input, whatever the number of threads.

    Examples
    --------
    >>> import colme
    >>> problem = colme.Problem.gaussian([0.2, 0.8], n_agents=20, sigma=0.1, seed=0)
    >>> samples = problem.draw(horizon=100, runs=2, seed=1)
    >>> trajectory = simulate(samples, "restricted-round-robin", labels=problem.labels, sigma=0.1)
    >>> trajectory.estimates.shape
    (2, 100, 20)
    >>> simulate(samples, sigma=0.1, arrivals=10).estimates.shape
    (2, 10, 20)
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
    n_threads = _check.threads(threads)
    runs, n_agents = setup.samples.shape[0], setup.trajectory.n_agents
    pairs = setup.trajectory.horizon * setup.longest_row
    block = max(1, min(-(-n_agents // n_threads), _PAIRS_PER_BLOCK // pairs))
    blocks = [(first, min(first + block, n_agents)) for first in range(0, n_agents, block)]
    desks: SimpleQueue[kernels.Desk] = SimpleQueue()
    for _ in range(n_threads):
        desks.put(kernels.Desk.blank(setup.longest_row, setup.trajectory.class_sizes.size))
    pending: deque[Future[None]] = deque()

    def collect(at_most: int, n_submitted: int) -> None:
        """Wait until at most so many pieces of work are pending."""
        while len(pending) > at_most:
            pending.popleft().result()
            if progress is not None:
                progress((n_submitted - len(pending)) / (runs * len(blocks)))

    pool = ThreadPoolExecutor(n_threads)
    try:
        for run in range(runs):
            work = _work_on_run(setup, run, desks)
            pending.extend(pool.submit(work, *agents) for agents in blocks)
            # One run is prepared while the one before it is computed: no more in memory.
            collect(len(blocks), (run + 1) * len(blocks))
        collect(0, runs * len(blocks))
    finally:
        pool.shutdown(cancel_futures=True)
    return setup.trajectory


def _work_on_run(
    setup: Setup, run: int, desks: SimpleQueue[kernels.Desk]
) -> Callable[[int, int], None]:
    """Summarise one run; return the function that lets a block of its agents collaborate."""
    trajectory, slots = setup.trajectory, setup.slots
    chosen = trajectory.algorithm
    by_model = chosen.weighting == Weighting.MODEL
    views = views_of(
        setup.samples[run],
        setup.bounds,
        with_squares=chosen.weighting.needs_squares,
        arrivals=setup.arrivals_of(run),
    )
    choice = Choice.of(chosen, setup.gamma)
    fleet = _fleet(setup, run)
    estimates = np.empty((0, 0))
    nothing: kernels.ClassCounts = np.empty((0, 0, trajectory.class_sizes.size), np.int16)
    class_counts = likely_counts = nothing
    if trajectory.estimates is not None:
        estimates = trajectory.estimates[run].swapaxes(0, 1)
    if trajectory.class_counts is not None:
        class_counts = trajectory.class_counts[run].swapaxes(0, 1)
    if trajectory.likely_counts is not None:
        likely_counts = trajectory.likely_counts[run].swapaxes(0, 1)

    def work(first: int, last: int) -> None:
        desk = desks.get()
        here = slice(first, last)
        kept = estimates[here], class_counts[here]
        common = fleet, desk, _NO_STATES, True, first, last, trajectory.labels, slots, *kept
        try:
            if by_model:
                kernels.collaborate_by_model(views, choice, *common, likely_counts[here])
            else:
                kernels.collaborate(views, choice, *common)
        finally:
            desks.put(desk)

    return work


def _fleet(setup: Setup, run: int) -> kernels.Fleet:
    """Return who knows whom, as the loops read it."""
    nothing = np.empty(0, np.int64)
    nothing.setflags(write=False)  # as contacts are: one type of array, one compilation
    return kernels.Fleet(
        nothing if setup.contacts is None else setup.contacts.names,
        nothing if setup.contacts is None else setup.contacts.starts,
        setup.suggestions_of(run),
        np.array([[bound.revisit_in(0), bound.revisit_in(1)] for bound in setup.bounds]),
        np.array([bound.scale for bound in setup.bounds]),
    )
