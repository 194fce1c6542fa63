"""All that is asked about a table, and the work that answers it.

Lives here: the question, checked before anything is read, and the order of the work.  Must not know
how anything is computed or shown.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme import _check
from colme.algorithm import ClassTest, resolve
from colme.data.comparing import Comparison, LeftOutError, compare_rows, default_methods
from colme.data.comparing.baselines import Method
from colme.data.estimating import Estimates, estimate
from colme.data.finding import Finding, Member
from colme.data.reading import Reading, read, read_rows
from colme.data.reading.badrows import check_range
from colme.data.reading.sources import Named, find
from colme.data.replaying import Replay, replay
from colme.data.summaries import Summaries

__all__ = ["Question", "find_out"]

Progress: TypeAlias = Callable[[str, float], None]


@dataclass(frozen=True)
class Question:
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
    >>> Question(("sales.csv",), sigma=2.0).how["sigma"]
    2.0
    >>> Question(("sales.csv",), delta=2.0)
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
        if self.sigma is not None and self.value_range is not None:
            raise ValueError(
                f"give --sigma or --range, not both; received {self.sigma:g} and {self.value_range}"
            )
        if self.sigma is not None:
            _check.positive("sigma", self.sigma)
        check_range(self.value_range)
        _check.risk("delta", self.delta)
        _check.positive_int("splits", self.n_splits)
        _check.positive_int("max_agents", self.max_agents)
        _check.non_negative_int("seed", self.seed)

    @property
    def how(self) -> dict[str, Any]:
        """What `estimate` and `replay` are told."""
        names = ("algorithm", "sigma", "value_range", "delta", "eta")
        return {name: getattr(self, name) for name in names}

    @property
    def steps(self) -> tuple[str, ...]:
        """The work to be done, in order."""
        more = {"replaying": self.time is not None, "comparing": self.compare}
        return ("reading", "estimating", *(name for name, wanted in more.items() if wanted))


def find_out(question: Question, progress: Progress | None = None) -> Finding:
    r"""Return the answer to a question about a table.

    Parameters
    ----------
    question
        What is asked.
    progress
        Is told what is done now, and how many steps are done.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = Path(place, "a.csv").write_text("store,sales\nx,1\ny,5\nx,3\ny,7\n")
    ...     finding = find_out(Question((Path(place, "a.csv"),), members=("x",)))
    >>> finding.estimates.summaries.means.tolist(), finding.members[0].members.tolist()
    ([2.0, 6.0], ['x', 'y'])
    """

    def show(step: str) -> None:
        if progress is not None and step in question.steps:
            progress(step, question.steps.index(step))

    with _once(question) as asked, _meanwhile(_get_ready) as ready:
        show("reading")
        reading = _read(asked)
        ready.result()
        show("estimating")
        estimates = estimate(reading.summaries, **asked.how)
        members = tuple(_member(estimates, name) for name in asked.members)
        show("replaying")
        replayed = _replayed(reading, asked)
        show("comparing")
        comparison, notes = _compared(reading, asked)
    return Finding(reading, estimates, members, comparison, replayed, notes)


def _get_ready() -> None:
    """Load what is compiled, on a table that does not matter, while another is read."""
    estimate(Summaries.of(np.arange(40) // 2, np.arange(40.0)))


@contextmanager
def _meanwhile(work: Callable[[], None]) -> Iterator[Future[None]]:
    """Do the work beside; an error does not wait for its end."""
    aside = ThreadPoolExecutor(1)
    try:
        yield aside.submit(work)
    finally:
        aside.shutdown(wait=False)


@contextmanager
def _once(question: Question) -> Iterator[Question]:
    """Put standard input aside if it will be read twice."""
    if not (question.compare and "-" in question.paths):
        yield question
        return
    with tempfile.TemporaryDirectory(prefix="colme-") as place:
        paths = [find(p, Path(place))[0] if p == "-" else p for p in question.paths]
        yield replace(question, paths=tuple(paths))


def _read(asked: Question) -> Reading:
    reading = read(
        asked.paths,
        asked.agent,
        asked.value,
        asked.time,
        skip_bad_rows=asked.skip_bad_rows,
        max_agents=asked.max_agents,
        value_range=asked.value_range,
    )
    agents = reading.summaries.agents
    if len(agents) == 1:
        raise ValueError(
            f"one agent only ({agents[0]!s} in column {reading.agent!r}), so there is nobody to "
            "learn from: is --agent right?"
        )
    return reading


def _member(estimates: Estimates, name: str) -> Member:
    """Return the class of an agent; numbers are found by their text."""
    agents = estimates.summaries.agents
    found = np.flatnonzero(agents.astype(str) == name) if agents.dtype.kind != "O" else None
    agent = name if found is None or not len(found) else agents[found[0]].item()
    members, alike = estimates.members(agent), estimates.not_told_from(agent)
    return Member(agent, int(estimates[agent]["class"]), members, alike)


def _replayed(reading: Reading, asked: Question) -> Replay | None:
    if reading.moments is None:
        return None
    return replay(reading.moments, **asked.how)


def _compared(reading: Reading, asked: Question) -> tuple[Comparison | None, tuple[str, ...]]:
    """Compare methods on the rows of the columns that were read."""
    if not asked.compare:
        return None, ()
    agents, values, notes = read_rows(
        asked.paths,
        reading.agent,
        reading.value,
        skip_bad_rows=asked.skip_bad_rows,
        value_range=asked.value_range,
        seed=asked.seed,
    )
    numbers = np.cumsum(np.concatenate([[0], agents[1:] != agents[:-1]]))
    comparison = compare_rows(
        numbers, values, _methods(asked), n_splits=asked.n_splits, seed=asked.seed
    )
    return comparison, notes


def _methods(asked: Question) -> dict[str, Method]:
    """Return the usual methods, with the algorithm and noise asked for instead of sharp."""

    def own(summaries: Summaries) -> NDArray[np.float64]:
        try:
            return estimate(summaries, **asked.how).estimates
        except ValueError as error:
            raise LeftOutError(str(error)) from None

    methods = default_methods()
    del methods["sharp"]
    return methods | {asked.algorithm: own}
