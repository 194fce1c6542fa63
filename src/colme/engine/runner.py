"""One loop over runs, blocks of time and agents, for every simulation.

Lives here: the order of the work, and how threads share it.  Must not know where samples come from
or where results go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from colme._threads import Progress, share, worker_threads
from colme.engine.inputs import Agents, Array, Block, Output
from colme.engine.loop import collaborate
from colme.engine.workspace import Workspace
from colme.rules import Choice
from colme.summary import View

_PAIRS_PER_PIECE = 25_000_000
"""(agent, peer) pairs in one piece of work: some 10 ms, so that Ctrl-C is obeyed at once."""
_BYTES_PER_PIECE = 4 << 20
"""What one piece of work writes before the sink takes it: it should stay close to the processor."""


class ViewSource(Protocol):
    """Gives the views of one run, block after block.

    Examples
    --------
    >>> from colme.setup import GivenSamples, Setup
    >>> bounds = Setup.of(2, "local", sigma=0.5).bounds
    >>> source: ViewSource = GivenSamples.of([[0.0, 1.0]]).views(0, bounds, with_squares=False)
    >>> source.open(n_steps=1)
    >>> for part in range(source.n_parts):
    ...     source.fill(part)
    >>> source.public.mean.tolist()
    [[0.0], [1.0]]
    """

    @property
    def n_parts(self) -> int:
        """In how many parts a block is filled, by one thread each."""

    @property
    def private(self) -> View[Array]:
        """What every agent knows of its own stream in the open block, [agent, time]."""

    @property
    def public(self) -> View[Array]:
        """What every agent tells others: the same object, unless something sets them apart."""

    def open(self, n_steps: int) -> None:
        """Begin the next block of time; its views are there once all parts are filled."""

    def fill(self, part: int) -> None:
        """Fill one part; different parts by different threads."""


class Suggestions(Protocol):
    """Gives who is suggested to each agent as a new peer, block after block.

    Examples
    --------
    >>> import colme
    >>> offers: Suggestions = colme.Gossip().offers(colme.Contacts.random(9, size=3), run=0)
    >>> offers.take(5).shape
    (5, 9)
    """

    def take(self, n_steps: int) -> NDArray[np.int32]:
        """Return who is suggested at each of the next steps, [time, agent]; -1: nobody."""


class Sink(Protocol):
    """Takes what a simulation gives, see `colme.results`.

    Examples
    --------
    >>> from colme.results import Keep
    >>> from colme.setup import Setup
    >>> setup = Setup.of(2, "local", sigma=0.5)
    >>> sink: Sink = Keep(setup.trajectory(runs=1, horizon=3, record=None))
    >>> sink.open(0, 0, 3).tolist()
    [0, 1, 2]
    """

    @property
    def bytes_per_step(self) -> int:
        """What an agent writes at a step before it is taken; 0 if it stays where it is."""

    def open(self, run: int, start: int, stop: int) -> NDArray[np.int64]:
        """Begin the next block; return where each of its steps is written, -1 for nowhere."""

    def output(self, first: int, last: int) -> Output:
        """Return memory for agents first..last-1 to write to."""

    def take(self, first: int, output: Output) -> None:
        """Take what agents from `first` on wrote."""


@dataclass(frozen=True, eq=False)
class Plan:
    """What a simulation does, whatever its samples and whatever is kept.

    Parameters
    ----------
    choice, agents
        What agents do, and what is known of them.
    longest_row
        How many agents somebody knows at most, itself included.
    by_model
        Whether peers are weighed by a model.
    blocks
        Where each block of a run starts and stops.
    n_threads
        How many threads share the work; the result does not depend on it.

    Examples
    --------
    >>> from colme.setup import Setup
    >>> Setup.of(5, "local", sigma=0.5).plan([(0, 10)], threads=2).pieces(10, bytes_per_step=8)
    [(0, 3), (3, 5)]
    """

    choice: Choice
    agents: Agents
    longest_row: int
    by_model: bool
    blocks: Sequence[tuple[int, int]]
    n_threads: int

    def pieces(self, n_steps: int, bytes_per_step: int) -> list[tuple[int, int]]:
        """Return ranges of agents: enough work for every thread, and little to write at once."""
        n_agents = self.agents.labels.size
        each = min(-(-n_agents // self.n_threads), _PAIRS_PER_PIECE // (n_steps * self.longest_row))
        if bytes_per_step:
            each = min(each, _BYTES_PER_PIECE // (n_steps * bytes_per_step))
        each = max(1, each)
        return [(first, min(first + each, n_agents)) for first in range(0, n_agents, each)]


def run_all(
    plan: Plan,
    runs: int,
    source_of: Callable[[int], ViewSource],
    offers_of: Callable[[int], Suggestions] | None,
    sink: Sink,
    progress: Progress | None = None,
) -> None:
    """Run all agents over all runs, block after block.

    Examples
    --------
    >>> from colme.results import Keep
    >>> from colme.setup import GivenSamples, Setup
    >>> given, setup = GivenSamples.of([[0.0, 1.0], [2.0, 3.0]]), Setup.of(2, "local", sigma=0.5)
    >>> trajectory = setup.trajectory(runs=1, horizon=2, record=None)
    >>> def source_of(run):
    ...     return given.views(run, setup.bounds, with_squares=False)
    >>> run_all(setup.plan([(0, 2)], 1), 1, source_of, setup.offers, Keep(trajectory))
    >>> trajectory.estimates.tolist()
    [[[0.0, 1.0], [1.0, 2.0]]]
    """
    labels, n_blocks = plan.agents.labels, len(plan.blocks)
    spaces = [
        Workspace.blank(plan.longest_row, int(labels.max()) + 1, plan.by_model)
        for _ in range(plan.n_threads)
    ]
    states = np.empty((labels.size if n_blocks > 1 else 0, spaces[0].kept.size), np.int64)
    free, nobody = deque(spaces), np.empty((0, 0), np.int32)

    def work(block: Block, first: int, last: int) -> None:
        workspace, output = free.pop(), sink.output(first, last)
        model = workspace.model if plan.by_model else None
        collaborate(plan.choice, plan.agents, block, workspace, model, states, first, last, output)
        sink.take(first, output)
        free.append(workspace)

    with worker_threads(plan.n_threads) as pool:
        for run in range(runs):
            source, offers = source_of(run), offers_of and offers_of(run)
            for start, stop in plan.blocks:
                slots = sink.open(run, start, stop)
                source.open(stop - start)
                share(pool, source.fill, [(part,) for part in range(source.n_parts)])
                offered = nobody if offers is None else offers.take(stop - start)
                block = Block(source.private, source.public, offered, slots, start == 0)
                pieces = plan.pieces(stop - start, sink.bytes_per_step)
                report = progress and partial(_report, progress, plan, runs, run, start, stop)
                share(pool, work, [(block, *piece) for piece in pieces], report)


def _report(
    progress: Progress, plan: Plan, runs: int, run: int, start: int, stop: int, done: float
) -> None:
    """Say how much of all runs is done, from how much of one block is."""
    progress((run + (start + (stop - start) * done) / plan.blocks[-1][1]) / runs)
