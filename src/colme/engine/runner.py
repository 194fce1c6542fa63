"""One loop over runs, blocks of time and agents, for every simulation.

Lives here: the order of the work, and how threads share it.  Must not know where samples come from
or where results go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme._threads import Progress, share, worker_threads
from colme.engine.exchange import ALL, LEARN, PREPARE, REPLY, Mail, exchange
from colme.engine.inputs import Agents, Array, Block, Output
from colme.engine.loop import collaborate
from colme.engine.workspace import Workspace
from colme.rules import Choice
from colme.summary import View

_PAIRS_PER_PIECE = 25_000_000
"""(agent, peer) pairs in one piece of work: some 10 ms, so that Ctrl-C is obeyed at once."""
_ENTRIES_TO_SHARE = 300_000
"""Entries in all rows from which on several threads share each step of a fleet that relays."""
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
    past_length
        How many of its past means an agent keeps.

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
    past_length: int = 1

    @property
    def sizes(self) -> tuple[int, int, bool, int]:
        """What decides how much memory an agent takes, see `Workspace.blank`."""
        n_classes = int(self.agents.labels.max()) + 1
        return self.longest_row, n_classes, self.by_model, self.past_length

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
    nobody = np.empty((0, 0), np.int32)
    with worker_threads(plan.n_threads) as pool:
        run_block = (_run_together if plan.choice.relays else _run_apart)(plan, pool, sink)
        for run in range(runs):
            source, offers = source_of(run), offers_of and offers_of(run)
            for start, stop in plan.blocks:
                slots = sink.open(run, start, stop)
                source.open(stop - start)
                share(pool, source.fill, [(part,) for part in range(source.n_parts)])
                offered = nobody if offers is None else offers.take(stop - start)
                block = Block(source.private, source.public, offered, slots, start == 0)
                report = progress and partial(_report, progress, plan, runs, run, start, stop)
                run_block(block, report)


RunBlock: TypeAlias = Callable[[Block, Progress | None], None]


def _run_apart(plan: Plan, pool: ThreadPoolExecutor, sink: Sink) -> RunBlock:
    """Return what runs a block agent by agent: nobody needs to know how far others are."""
    spaces = [Workspace.blank(*plan.sizes) for _ in range(plan.n_threads)]
    n_saved = plan.agents.labels.size if len(plan.blocks) > 1 else 0
    states, free = np.empty((n_saved, spaces[0].kept.size), np.int64), deque(spaces)

    def work(block: Block, first: int, last: int) -> None:
        workspace, output = free.pop(), sink.output(first, last)
        model = workspace.model if plan.by_model else None
        collaborate(plan.choice, plan.agents, block, workspace, model, states, first, last, output)
        sink.take(first, output)
        free.append(workspace)

    def run_block(block: Block, report: Progress | None) -> None:
        pieces = plan.pieces(block.slots.size, sink.bytes_per_step)
        share(pool, work, [(block, *piece) for piece in pieces], report)

    return run_block


def _run_together(plan: Plan, pool: ThreadPoolExecutor, sink: Sink) -> RunBlock:
    """Return what runs a block step by step, all agents together: they relay what they heard."""
    n_agents, choice = plan.agents.labels.size, plan.choice
    fleet = Workspace.of_all(n_agents, *plan.sizes)
    models = fleet.model if plan.by_model else None
    mail = Mail.blank(n_agents, plan.longest_row, choice.relays)
    n_threads = plan.n_threads if n_agents * plan.longest_row >= _ENTRIES_TO_SHARE else 1
    cuts = [n_agents * i // n_threads for i in range(n_threads + 1)]
    scratches = [Workspace.blank(*plan.sizes).scratch for _ in range(n_threads)]
    at_once = max(1, _PAIRS_PER_PIECE // (n_agents * plan.longest_row))

    def run_block(block: Block, report: Progress | None) -> None:
        n_steps = block.slots.size
        outputs = [sink.output(first, last) for first, last in pairwise(cuts)]

        def work(i: int, steps: tuple[int, int], phase: int) -> None:
            some = cuts[i], cuts[i + 1]
            exchange(
                choice, plan.agents, block, fleet, models, mail, steps, some, phase, scratches[i],
                outputs[i],
            )  # fmt: skip

        for start in range(0, n_steps, at_once if n_threads == 1 else 1):
            stop = min(start + (at_once if n_threads == 1 else 1), n_steps)
            for phase in (ALL,) if n_threads == 1 else (PREPARE, REPLY, LEARN):
                share(pool, work, [(i, (start, stop), phase) for i in range(n_threads)])
            if report is not None:
                report(stop / n_steps)
        for first, output in zip(cuts, outputs, strict=False):
            sink.take(first, output)

    return run_block


def _report(
    progress: Progress, plan: Plan, runs: int, run: int, start: int, stop: int, done: float
) -> None:
    """Say how much of all runs is done, from how much of one block is."""
    progress((run + (start + (stop - start) * done) / plan.blocks[-1][1]) / runs)
