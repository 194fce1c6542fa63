"""The front doors of the simulator: samples kept whole, or drawn and digested block by block.

Lives here: `simulate` and `simulate_large`, which differ in where samples come from and where
results go.  Must not know plots or tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check
from colme._threads import Progress
from colme.algorithm import Algorithm
from colme.bounds import Bound
from colme.contacts import Contacts
from colme.engine import run_all
from colme.gossip import Gossip
from colme.large import Cost
from colme.problem import Problem
from colme.results import Digest, Fold, Keep, Record, Trajectory
from colme.setup import GivenSamples, Options, Setup
from colme.summary import BlockViews, bytes_per_view


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
    relays: int | None = None,
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
    eta, within, relays
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
    given = GivenSamples.of(samples, arrivals)
    setup = Setup.of(
        given.n_agents,
        algorithm,
        sigma=sigma,
        bound=bound,
        delta=delta,
        labels=labels,
        eta=eta,
        within=within,
        relays=relays,
        contacts=contacts,
        gossip=gossip,
    )
    trajectory = setup.trajectory(given.runs, given.horizon, record)
    plan = setup.plan([(0, given.horizon)], threads, in_step=given.arrivals is None)
    run_all(
        plan,
        given.runs,
        partial(given.views, bounds=setup.bounds, with_squares=setup.needs_squares),
        setup.offers,
        Keep(trajectory),
        progress,
    )
    return trajectory


def simulate_large(
    problem: Problem,
    algorithm: str | Algorithm = "sharp",
    *,
    horizon: int,
    runs: int = 1,
    seed: int = 0,
    batch: int = 1,
    epsilons: Sequence[float] = (0.1, 0.01),
    times: ArrayLike | None = None,
    block: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> Digest:
    """Run an algorithm on a problem, of which only a block of time is ever held.

    The same samples and the same decisions as `colme.simulate` on ``problem.draw(horizon, runs,
    seed)``, but metrics are folded on the way: memory grows with agents and the peers they know,
    not with the horizon.

    Parameters
    ----------
    problem
        Who is of which class, and how samples scatter.
    algorithm
        As for `colme.simulate`.
    horizon, runs, seed
        How many steps, how often, and for which samples.
    batch
        How many samples each agent takes at each step.
    epsilons
        Accuracies for convergence times and shares of wrong estimates.
    times
        The steps, counted from 1, at which errors are looked at; by default about a hundred.
    block
        How many steps are drawn and run at once; by default what takes little memory.  The result
        does not depend on it.
    threads
        Number of threads; the result does not depend on it.
    progress
        Called with the share of the work done, from 0 to 1.
    options
        sigma, bound, delta, labels, eta, within, relays, contacts and gossip, as for
        `colme.simulate`; by default the labels are the problem's, and so is sigma, agent by agent.

    Returns
    -------
    Digest
        The same bits for the same input, whatever the blocks and the number of threads.

    Examples
    --------
    >>> import colme
    >>> problem = colme.Problem.gaussian([0.0, 1.0], n_agents=2000, sigma=0.5)
    >>> few = colme.Contacts.random(2000, size=8)
    >>> digest = simulate_large(problem, horizon=60, contacts=few, delta=0.1, epsilons=(0.2,))
    >>> bool(digest.wrong_shares[0, -1, 0] < 0.01)
    True
    """
    runs, horizon = _check.positive_int("runs", runs), _check.positive_int("horizon", horizon)
    batch = _check.positive_int("batch", batch)
    if options.get("bound") is None and options.get("sigma") is None:
        sigmas = problem.sigmas
        options["sigma"] = sigmas if np.ptp(sigmas) > 0 else problem.sigma
    options.setdefault("labels", problem.cohorts)
    setup = Setup.of(problem.n_agents, algorithm, **options)
    late = [change.time for change in problem.changes if change.time > horizon]
    if late:
        raise ValueError(
            f"changes must lie within the {horizon} steps of the horizon; received one at step "
            f"{late[0]}: drop it or run more steps"
        )
    blocks = _blocks(problem, setup, horizon, block)
    longest = max(stop - start for start, stop in blocks)

    def views(run: int) -> BlockViews:
        return BlockViews(
            problem.sample_stream(run, seed, batch),
            setup.bounds,
            horizon,
            longest=longest,
            batch=batch,
            with_squares=setup.needs_squares,
        )

    identifiable = setup.gossip is None and not problem.changes
    sink = Fold(problem, setup.contacts, horizon, epsilons, times, identifiable=identifiable)
    run_all(setup.plan(blocks, threads), runs, views, setup.offers, sink, progress)
    return sink.digest(setup.name)


def _blocks(
    problem: Problem, setup: Setup, horizon: int, block: int | None
) -> list[tuple[int, int]]:
    """Return where blocks start and stop; true means do not change within one."""
    if block is None:
        steps = Cost(
            setup.labels.size,
            setup.longest_row,
            horizon,
            n_classes=int(setup.labels.max()) + 1,
            by_model=setup.by_model,
            bytes_per_view=bytes_per_view(setup.bounds, with_squares=setup.needs_squares),
        ).block
    else:
        steps = _check.positive_int("block", block)
    cuts = {*range(0, horizon, steps), horizon}
    cuts |= {change.time - 1 for change in problem.changes}
    return list(pairwise(sorted(cuts)))
