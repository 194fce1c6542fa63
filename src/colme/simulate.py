"""One front door: samples, an algorithm and what to record give a trajectory.

Lives here: `simulate`, which validates, allocates and shares the work among threads, and
`lockstep`, its slow twin made of plain agents.  Must not know plots or tables.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check, kernels
from colme.agent import Agent
from colme.algorithm import ALGORITHMS, Algorithm, ClassTest, Weighting, resolve
from colme.bounds import Bound, choose_bound, split_risk
from colme.messages import Query
from colme.rules import Choice
from colme.trajectory import Record, Trajectory, count_type
from colme.views import views_of

__all__ = ["lockstep", "simulate"]

Progress = Callable[[float], None]

_PAIRS_PER_BLOCK = 50_000_000
"""(agent, peer) pairs in one piece of work: some 25 ms, so that Ctrl-C is heard at once."""
_MOST_CLASSES = 4096
"""Labels index the class axis; far more classes than agents is a mistake."""


@dataclass(frozen=True)
class _Setup:
    """Validated input and the empty trajectory it will fill."""

    samples: NDArray[np.float64]
    bounds: tuple[Bound, ...]
    trajectory: Trajectory

    @property
    def slots(self) -> NDArray[np.int64]:
        slots = np.full(self.trajectory.horizon, -1)
        slots[self.trajectory.times - 1] = np.arange(self.trajectory.times.size)
        return slots


def simulate(
    samples: ArrayLike,
    algorithm: str | Algorithm = "sharp",
    *,
    sigma: float | None = None,
    bound: Bound | Iterable[Bound] | None = None,
    delta: float = 0.001,
    labels: ArrayLike | None = None,
    eta: float | None = None,
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
        Sub-Gaussian scale of one sample; or give a bound.
    bound
        How far the mean of a stream may be off, from `colme.bounds`, at whatever risk: one for
        all agents, or one for each.
    delta
        Total risk of each agent's guarantees.
    labels
        The true class of each agent, 0, 1, 2, ...: counted in `class_counts`, and known to
        ``oracle``.  Without labels all agents carry label 0.
    eta
        Replaces the algorithm's η when given.
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
    """
    setup = _prepare(samples, algorithm, sigma, bound, delta, labels, eta, record)
    n_threads = (
        (os.cpu_count() or 1) if threads is None else _check.positive_int("threads", threads)
    )
    runs, horizon, n_agents = setup.samples.shape
    block = max(1, min(-(-n_agents // n_threads), _PAIRS_PER_BLOCK // (horizon * n_agents)))
    blocks = [(first, min(first + block, n_agents)) for first in range(0, n_agents, block)]
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
            work = _work_on_run(setup, run)
            pending.extend(pool.submit(work, *agents) for agents in blocks)
            # One run is prepared while the one before it is computed: no more in memory.
            collect(len(blocks), (run + 1) * len(blocks))
        collect(0, runs * len(blocks))
    finally:
        pool.shutdown(cancel_futures=True)
    return setup.trajectory


def _work_on_run(setup: _Setup, run: int) -> Callable[[int, int], None]:
    """Summarise one run; return the function that lets a block of its agents collaborate."""
    trajectory, slots = setup.trajectory, setup.slots
    chosen = trajectory.algorithm
    by_model = chosen.weighting == Weighting.MODEL
    views = views_of(setup.samples[run], setup.bounds, with_squares=by_model)
    scales = np.array([bound.scale for bound in setup.bounds])
    choice = Choice(
        int(chosen.query),
        int(chosen.class_test),
        int(chosen.weighting),
        chosen.eta,
        -math.log(setup.bounds[0].gamma),
    )
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
        common = first, last, trajectory.labels, slots, estimates, class_counts
        if by_model:
            kernels.collaborate_by_model(views, choice, scales, *common, likely_counts)
        else:
            kernels.collaborate(views, choice, *common)

    return work


def lockstep(
    samples: ArrayLike,
    algorithm: str | Algorithm = "sharp",
    *,
    sigma: float | None = None,
    bound: Bound | Iterable[Bound] | None = None,
    delta: float = 0.001,
    labels: ArrayLike | None = None,
    eta: float | None = None,
    record: Record | None = None,
) -> Trajectory:
    """Do what `simulate` does with plain agents joined by a perfect link: slow, and the reference.

    All agents perceive; then each asks one peer, whose reply carries the sample of this step.

    Examples
    --------
    >>> import colme
    >>> samples = colme.Problem.gaussian([0.0], n_agents=3, sigma=0.1).draw(4)
    >>> slow = lockstep(samples, "round-robin", sigma=0.1)
    >>> fast = colme.simulate(samples, "round-robin", sigma=0.1)
    >>> bool(abs(slow.estimates - fast.estimates).max() < 1e-12)
    True
    """
    setup = _prepare(samples, algorithm, sigma, bound, delta, labels, eta, record)
    runs, horizon = setup.samples.shape[:2]
    trajectory, slots = setup.trajectory, setup.slots
    for run in range(runs):
        fleet = _fleet(setup)
        for t in range(horizon):
            for a, agent in enumerate(fleet.values()):
                agent.perceive(setup.samples[run, t, a])
            for agent in fleet.values():
                peer = agent.choose_peer()
                if peer is not None:
                    agent.receive(fleet[peer].answer(Query(agent.name, peer)))
            if slots[t] >= 0:
                _record(trajectory, run, int(slots[t]), list(fleet.values()))
    return trajectory


def _fleet(setup: _Setup) -> dict[str, Agent]:
    trajectory = setup.trajectory
    names = [str(a) for a in range(trajectory.n_agents)]
    known = trajectory.algorithm.class_test == ClassTest.KNOWN
    return {
        name: Agent(
            name,
            bound=bound,
            delta=trajectory.delta,
            max_agents=len(names),
            algorithm=trajectory.algorithm,
            peers=names,
            classmates=[names[l] for l in np.flatnonzero(trajectory.labels == label)]
            if known
            else None,
        )
        for name, label, bound in zip(names, trajectory.labels, setup.bounds, strict=True)
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


def _prepare(
    samples: ArrayLike,
    algorithm: str | Algorithm,
    sigma: float | None,
    bound: Bound | Iterable[Bound] | None,
    delta: float,
    labels: ArrayLike | None,
    eta: float | None,
    record: Record | None,
) -> _Setup:
    chosen = resolve(algorithm, eta)
    values = _check_samples(samples)
    runs, horizon, n_agents = values.shape
    if labels is None and chosen.class_test == ClassTest.KNOWN:
        raise ValueError("this algorithm knows the true classes: pass labels=..., one per agent")
    true_labels = _check_labels(labels, n_agents)
    bounds = _check_bounds(sigma, bound, chosen.class_test, split_risk(delta, n_agents), n_agents)
    record = record or Record()
    if record.likely_counts and chosen.weighting != Weighting.MODEL:
        raise ValueError(
            "a likely class is known only to algorithms that weigh by a model, like 'sharp'; "
            f"received weighting {chosen.weighting.word!r} with Record(likely_counts=True)"
        )
    n_classes = int(true_labels.max()) + 1
    times = record.times(horizon, runs, n_agents, n_classes)
    # Kernels work agent by agent, so memory is laid out [agent, time]; readers see [time, agent].
    shape = (runs, n_agents, times.size)
    counts = (*shape, n_classes)
    trajectory = Trajectory(
        estimates=np.empty(shape).swapaxes(1, 2) if record.estimates else None,
        class_counts=np.empty(counts, count_type(n_agents)).swapaxes(1, 2)
        if record.class_counts
        else None,
        likely_counts=np.empty(counts, count_type(n_agents)).swapaxes(1, 2)
        if record.likely_counts
        else None,
        times=times,
        labels=true_labels,
        algorithm=chosen,
        name=algorithm if isinstance(algorithm, str) else _name_of(chosen),
        horizon=horizon,
        sigma=max(one.scale for one in bounds),
        delta=float(delta),
    )
    return _Setup(values, bounds, trajectory)


def _check_bounds(
    sigma: float | None,
    bound: Bound | Iterable[Bound] | None,
    class_test: ClassTest,
    gamma: float,
    n_agents: int,
) -> tuple[Bound, ...]:
    """Return one bound for each agent, at the risk that is left for it."""
    if isinstance(bound, str) or not isinstance(bound, Iterable):
        return (choose_bound(class_test, sigma, bound, gamma),) * n_agents
    bounds = tuple(choose_bound(class_test, sigma, one, gamma) for one in bound)
    if len(bounds) != n_agents:
        raise ValueError(
            f"bound must be one, or one for each of the {n_agents} agents; received {len(bounds)}"
        )
    return bounds


def _name_of(algorithm: Algorithm) -> str:
    for name, preset in ALGORITHMS.items():
        if preset == algorithm:
            return name
    return f"{algorithm.query.word} {algorithm.weighting.word} eta={algorithm.eta:g}"


def _check_samples(samples: ArrayLike) -> NDArray[np.float64]:
    try:
        values = np.ascontiguousarray(samples, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("samples must be an array of numbers [run, time, agent]") from None
    if values.ndim == 2:
        values = values[np.newaxis]
    if values.ndim != 3 or 0 in values.shape:
        raise ValueError(
            "samples must have axes [run, time, agent] (or [time, agent]), none of them empty; "
            f"received shape {np.shape(samples)}"
        )
    largest = max(-values.min(), values.max())  # NaN if any is; no copy of a large array
    if not largest <= _check.LARGEST_SAMPLE:
        usable = np.abs(values) <= _check.LARGEST_SAMPLE
        run, time, agent = np.argwhere(~usable)[0]
        raise ValueError(
            f"samples must be finite and at most {_check.LARGEST_SAMPLE:g} in size; received "
            f"{values[run, time, agent]} at run {run}, time {time}, agent {agent}: "
            "drop or repair it first"
        )
    return values


def _check_labels(labels: ArrayLike | None, n_agents: int) -> NDArray[np.int64]:
    if labels is None:
        return np.zeros(n_agents, np.int64)
    values = np.asarray(labels)
    if values.shape != (n_agents,):
        raise ValueError(
            f"labels must hold one label for each of the {n_agents} agents; "
            f"received shape {values.shape}"
        )
    _check.labels(values, max(_MOST_CLASSES, n_agents))
    return values.astype(np.int64)
