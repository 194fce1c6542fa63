"""A simulation whose samples and trajectory need not fit into memory.

Lives here: the order of the work, block by block, shared among threads.  Must not know files or
plots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from numpy.typing import ArrayLike

from colme import _check
from colme.algorithm import Algorithm, Weighting, resolve
from colme.bounds import Bound, choose_bound, split_risk
from colme.contacts import Contacts
from colme.digest import Digest, Folding
from colme.gossip import Gossip
from colme.large.cost import Cost
from colme.large.rows import Rows
from colme.large.telling import Telling, bytes_told
from colme.problem import Problem

__all__ = ["simulate_large"]

Progress = Callable[[float], None]


def simulate_large(
    problem: Problem,
    algorithm: str | Algorithm = "sharp",
    *,
    horizon: int,
    runs: int = 1,
    seed: int = 0,
    bound: Bound | None = None,
    delta: float = 0.001,
    eta: float | None = None,
    within: float | None = None,
    contacts: Contacts | None = None,
    gossip: Gossip | None = None,
    batch: int = 1,
    epsilons: Sequence[float] = (0.1, 0.01),
    times: ArrayLike | None = None,
    block: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Digest:
    """Run an algorithm on a problem, of which only a block of time is ever held.

    The same samples and the same decisions as `colme.simulate` on ``problem.draw(horizon, runs,
    seed)``, but metrics are folded on the way: memory grows with agents and the peers they know,
    not with the horizon.

    Parameters
    ----------
    problem
        Who is of which class, and how samples scatter.
    algorithm, delta, eta, within, contacts, gossip
        As for `colme.simulate`.
    horizon, runs, seed
        How many steps, how often, and for which samples.
    bound
        How far the mean of a stream may be off; by default what suits the algorithm, for the
        scale of the problem's samples (the largest, if agents differ).
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
    chosen = resolve(algorithm, eta, within)
    runs, horizon = _check.positive_int("runs", runs), _check.positive_int("horizon", horizon)
    n_threads = _check.threads(threads)
    _check_fleet(problem, horizon, contacts, gossip)
    known = None if contacts is None or contacts.is_everyone else contacts
    job = _Job(
        problem,
        chosen,
        _bound_of(problem, chosen, bound, delta, known, gossip),
        known,
        gossip,
        horizon,
        _check.positive_int("batch", batch),
        seed,
        tuple(epsilons),
        times,
    )
    blocks = job.blocks(block)
    rows = Rows(
        chosen,
        job.bound,
        problem.cohorts,
        known,
        block=max(stop - start for start, stop in blocks),
        keeps=len(blocks) > 1,
        n_places=n_threads,
    )
    foldings = []
    with _sharing(n_threads) as share:
        for run in range(runs):

            def tell(done: float, before: int = run) -> None:
                if progress is not None:
                    progress((before + done) / runs)

            foldings.append(job.run(run, blocks, rows, share, tell))
    name = algorithm if isinstance(algorithm, str) else chosen.meaning
    return Digest.of(name, problem.cohorts, foldings)


Blocks = list[tuple[int, int]]
Share = Callable[[Callable[..., None], Iterable[tuple[int, ...]], Progress], None]


@dataclass(frozen=True, eq=False)
class _Job:
    """What runs, checked."""

    problem: Problem
    algorithm: Algorithm
    bound: Bound
    contacts: Contacts | None
    gossip: Gossip | None
    horizon: int
    batch: int
    seed: int
    epsilons: tuple[float, ...]
    times: ArrayLike | None

    def blocks(self, block: int | None) -> Blocks:
        """Return where blocks start and stop; true means do not change within one."""
        steps = self._cost().block if block is None else _check.positive_int("block", block)
        cuts = {*range(0, self.horizon, steps), self.horizon}
        cuts |= {change.time - 1 for change in self.problem.changes}
        return list(pairwise(sorted(cuts)))

    def _cost(self) -> Cost:
        return Cost(
            self.problem.n_agents,
            self.problem.n_agents if self.contacts is None else self.contacts.size,
            self.horizon,
            n_classes=int(self.problem.cohorts.max()) + 1,
            by_model=self.algorithm.weighting == Weighting.MODEL,
            bytes_told=bytes_told(self.bound, with_squares=self.algorithm.weighting.needs_squares),
        )

    def run(
        self, run: int, blocks: Blocks, rows: Rows, share: Share, progress: Progress
    ) -> Folding:
        """Return the metrics of one run."""
        folding = Folding(
            self.problem.true_means,
            self.horizon,
            epsilons=self.epsilons,
            times=self.times,
            identifiable=self.gossip is None and not self.problem.changes,
        )
        telling = Telling(
            self.problem.flow(run, self.seed, self.batch),
            self.bound,
            self.horizon,
            longest=max(stop - start for start, stop in blocks),
            batch=self.batch,
            with_squares=self.algorithm.weighting.needs_squares,
        )
        offers = None
        if self.gossip is not None and self.contacts is not None:
            offers = self.gossip.offers(self.contacts, run)
        for start, stop in blocks:
            n_steps = stop - start
            folding.aim(self.problem.true_means_at([stop])[0])
            folding.open(start, n_steps)
            telling.open(n_steps)
            share(telling.fill, ((part,) for part in range(telling.n_parts)), _tell_nobody)
            work = partial(
                rows.run,
                views=telling.views,
                folding=folding,
                suggestions=None if offers is None else offers.take(n_steps),
                begins=start == 0,
            )
            tell = partial(_tell_of_block, progress, start / self.horizon, n_steps / self.horizon)
            share(work, rows.pieces(), tell)
            folding.close()
        return folding


def _tell_nobody(_: float) -> None:
    """Leave out what is soon done."""


def _tell_of_block(progress: Progress, before: float, size: float, done: float) -> None:
    progress(before + size * done)


@contextmanager
def _sharing(n_threads: int) -> Iterator[Share]:
    """Yield a function that shares pieces of work among threads, and returns when all are done."""
    pool = ThreadPoolExecutor(n_threads)

    def share(
        work: Callable[..., None], pieces: Iterable[tuple[int, ...]], progress: Progress
    ) -> None:
        pending = [pool.submit(work, *piece) for piece in pieces]
        for n_done, piece in enumerate(pending, start=1):
            piece.result()
            progress(n_done / len(pending))

    try:
        yield share
    finally:
        pool.shutdown(cancel_futures=True)


def _bound_of(
    problem: Problem,
    algorithm: Algorithm,
    bound: Bound | None,
    delta: float,
    contacts: Contacts | None,
    gossip: Gossip | None,
) -> Bound:
    """Return the bound of every agent, at the risk that is left for it."""
    # Who never meets anybody else shares the risk among those it knows.
    few = contacts is not None and gossip is None
    gamma = split_risk(delta, contacts.size if few and contacts else problem.n_agents)
    sigma = None if bound is not None else problem.sigma
    return choose_bound(algorithm.class_test, sigma, bound, gamma)


def _check_fleet(
    problem: Problem, horizon: int, contacts: Contacts | None, gossip: Gossip | None
) -> None:
    if contacts is not None and contacts.n_agents != problem.n_agents:
        raise ValueError(
            f"contacts are of {contacts.n_agents} agents; the problem is of {problem.n_agents}"
        )
    if gossip is not None and (contacts is None or contacts.is_everyone):
        raise ValueError(
            "gossip helps agents that know only some others; pass contacts=..., for example "
            "colme.Contacts.random(n_agents, size=20)"
        )
    late = [change.time for change in problem.changes if change.time > horizon]
    if late:
        raise ValueError(
            f"changes must lie within the {horizon} steps of the horizon; received one at step "
            f"{late[0]}: drop it or run more steps"
        )
