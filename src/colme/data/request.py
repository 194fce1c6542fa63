"""Everything that is asked about a table, and the work that answers it.

Lives here: the request, checked before anything is read, and the order of the work.  Must not know
how anything is computed or shown.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from colme import _check
from colme.algorithm import ClassTest, resolve
from colme.bounds.known_noise import KnownNoise
from colme.data.comparison import Comparison, LeftOutError, compare_rows, default_methods
from colme.data.estimator import Estimates, estimate
from colme.data.evolution import replay
from colme.data.reader import Reading, read, read_rows
from colme.data.reader.table_files import Named, find_files
from colme.data.result import EstimateResult, Member
from colme.data.summaries import Numbers, Summaries

Progress: TypeAlias = Callable[[str, float], None]

_SETTINGS = ("algorithm", "sigma", "value_range", "delta", "eta")
"""What of a request `estimate` and `replay` take."""


@dataclass(frozen=True)
class EstimateRequest:
    """What is asked about a table.

    Parameters
    ----------
    paths, agent, value, time, skip_bad_rows, max_agents
        As in `read`.
    sigma, value_range, delta, eta, algorithm
        As in `estimate`; values outside the range are bad rows.
    members
        Agents whose class is wanted, as text.
    compare, n_splits, seed
        Whether methods are compared on held-out rows, over how many splits, by which draws.

    Examples
    --------
    >>> EstimateRequest(("sales.csv",), sigma=2.0, compare=True).steps
    ('reading', 'estimating', 'comparing')
    >>> EstimateRequest(("sales.csv",), delta=2.0)
    Traceback (most recent call last):
        ...
    ValueError: delta is a probability of failure in (0, 1); received 2
    """

    paths: tuple[Named, ...]
    agent: str | None = None
    value: str | None = None
    time: str | None = None
    sigma: float | None = None
    value_range: tuple[float, float] | None = None
    delta: float = 0.05
    eta: float | None = None
    algorithm: str = "sharp"
    members: tuple[str, ...] = ()
    compare: bool = False
    n_splits: int = 5
    skip_bad_rows: bool = False
    max_agents: int = 1_000_000
    seed: int = 0

    def __post_init__(self) -> None:
        if resolve(self.algorithm, self.eta).class_test == ClassTest.KNOWN:
            raise ValueError(
                f"{self.algorithm} knows the true classes, and a table does not: choose another"
            )
        KnownNoise(self.sigma, self.value_range)
        _check.risk("delta", self.delta)
        _check.positive_int("splits", self.n_splits)
        _check.positive_int("max_agents", self.max_agents)
        _check.non_negative_int("seed", self.seed)

    @property
    def steps(self) -> tuple[str, ...]:
        """The work to be done, in order."""
        replaying = ("replaying",) if self.time is not None else ()
        return ("reading", "estimating", *replaying, *(("comparing",) if self.compare else ()))


def find_out(request: EstimateRequest, progress: Progress | None = None) -> EstimateResult:
    r"""Return the answer to a request about a table.

    Parameters
    ----------
    request
        What is asked.
    progress
        Called with the step that begins, and the number of steps done.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = Path(place, "a.csv").write_text("store,sales\nx,1\ny,5\nx,3\ny,7\n")
    ...     result = find_out(EstimateRequest((Path(place, "a.csv"),), members=("x",)))
    >>> result.estimates.summaries.means.tolist(), result.members[0].members.tolist()
    ([2.0, 6.0], ['x', 'y'])
    """
    show = progress or (lambda _step, _done: None)
    with ExitStack() as stack:
        if request.compare and "-" in request.paths:  # standard input will be read twice
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="colme-")))
            paths = [find_files(p, folder)[0] if p == "-" else p for p in request.paths]
            request = replace(request, paths=tuple(paths))
        show("reading", 0)
        reading = read(
            request.paths,
            request.agent,
            request.value,
            request.time,
            skip_bad_rows=request.skip_bad_rows,
            max_agents=request.max_agents,
            value_range=request.value_range,
        )
        agents = reading.summaries.agents
        settings = {name: getattr(request, name) for name in _SETTINGS}
        if len(agents) == 1:
            raise ValueError(
                f"one agent only ({agents[0]!s} in column {reading.agent!r}), so there is nobody "
                "to learn from: is --agent right?"
            )
        show("estimating", 1)
        estimates = estimate(reading.summaries, **settings)
        members = tuple(_member(estimates, name) for name in request.members)
        replayed, comparison = None, None
        notes: tuple[str, ...] = ()
        if reading.moments is not None:
            show("replaying", 2)
            replayed = replay(reading.moments, **settings)
        if request.compare:
            show("comparing", len(request.steps) - 1)
            comparison, notes = _compared(reading, request, settings)
    return EstimateResult(reading, estimates, members, comparison, replayed, notes)


def _member(estimates: Estimates, name: str) -> Member:
    """Return the class of an agent; numbers are found by their text."""
    agents = estimates.summaries.agents
    found = np.flatnonzero(agents.astype(str) == name) if agents.dtype.kind != "O" else None
    agent = name if found is None or not len(found) else agents[found[0]].item()
    members, alike = estimates.members(agent), estimates.indistinguishable_from(agent)
    return Member(agent, int(estimates[agent]["class"]), members, alike)


def _compared(
    reading: Reading, request: EstimateRequest, settings: dict[str, Any]
) -> tuple[Comparison, tuple[str, ...]]:
    """Compare methods on the rows of the columns that were read.

    The algorithm and noise of the request take the place of sharp.
    """

    def own(summaries: Summaries) -> Numbers:
        try:
            return estimate(summaries, **settings).estimates
        except ValueError as error:
            raise LeftOutError(str(error)) from None

    methods = default_methods()
    del methods["sharp"]
    methods[request.algorithm] = own
    agents, values, notes = read_rows(
        request.paths,
        reading.agent,
        reading.value,
        skip_bad_rows=request.skip_bad_rows,
        value_range=request.value_range,
        seed=request.seed,
    )
    numbers = np.cumsum(np.concatenate([[0], agents[1:] != agents[:-1]]))
    comparison = compare_rows(
        numbers, values, methods, n_splits=request.n_splits, seed=request.seed
    )
    return comparison, notes
