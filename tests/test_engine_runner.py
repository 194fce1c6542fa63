"""The order of the work: pieces, blocks, runs and threads."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from engine_runs import NO_COUNTS, everyone
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from colme.bounds import Laplace
from colme.engine import Output, Plan, run_all
from colme.rules import Choice
from colme.summary import View, views_of

CHOICE = Choice(1, 2, 0, eta=0.0, log_risk=3.0)


def plan(n_agents: int, longest_row: int, n_threads: int, blocks: Any = ((0, 10),)) -> Plan:
    return Plan(CHOICE, everyone([0] * n_agents), longest_row, False, blocks, n_threads)


@given(
    st.integers(1, 500),
    st.integers(1, 10**6),
    st.integers(1, 9),
    st.integers(1, 10**6),
    st.integers(0, 100),
)
def test_pieces_are_all_agents_once_in_order(
    n_agents: int, longest_row: int, n_threads: int, n_steps: int, bytes_per_step: int
) -> None:
    pieces = plan(n_agents, longest_row, n_threads).pieces(n_steps, bytes_per_step)
    assert [a for first, last in pieces for a in range(first, last)] == list(range(n_agents))
    assert len(pieces) >= min(n_threads, n_agents) or n_agents < n_threads**2
    most = max(last - first for first, last in pieces)
    assert most <= -(-n_agents // n_threads)
    assert most == 1 or most * n_steps * longest_row <= 25_000_000
    assert most == 1 or most * n_steps * bytes_per_step <= 4 << 20


@pytest.mark.parametrize(
    ("longest_row", "n_steps", "bytes_per_step", "size"),
    [(10, 10, 0, 50), (10**4, 250, 0, 10), (10, 10, 1 << 14, 25), (10**6, 10**3, 0, 1)],
)
def test_a_piece_is_as_large_as_threads_work_and_memory_allow(
    longest_row: int, n_steps: int, bytes_per_step: int, size: int
) -> None:
    pieces = plan(100, longest_row, 2).pieces(n_steps, bytes_per_step)
    assert pieces[0] == (0, size)


class LoggedViews:
    """Views of a run cut into blocks, filled in two parts; every call is noted."""

    n_parts = 2

    def __init__(self, whole: View[Any], log: list[Any]) -> None:
        self._whole, self._log, self._start = whole, log, 0
        self.private = self.public = whole

    def open(self, n_steps: int) -> None:
        here = slice(self._start, self._start + n_steps)
        self._start += n_steps
        cut: View[Any] = View(*(np.ascontiguousarray(column[:, here]) for column in self._whole))
        self.private = self.public = cut
        self._log.append(("views", n_steps))

    def fill(self, part: int) -> None:
        self._log.append(("fill", part))


@dataclass
class LoggedSink:
    """Keeps all estimates[run, agent, time]; every call is noted."""

    estimates: NDArray[np.float64]
    log: list[Any] = field(default_factory=list)
    bytes_per_step: int = 0
    _here: tuple[int, int, int] = (0, 0, 0)

    def open(self, run: int, start: int, stop: int) -> NDArray[np.int64]:
        self.log.append(("open", run, start, stop))
        self._here = run, start, stop
        return np.arange(stop - start)

    def output(self, first: int, last: int) -> Output:
        _, start, stop = self._here
        return Output(np.empty((last - first, stop - start)), NO_COUNTS, NO_COUNTS)

    def take(self, first: int, output: Output) -> None:
        run, start, stop = self._here
        self.estimates[run, first : first + len(output.estimates), start:stop] = output.estimates
        self.log.append("take")


def estimates_of(
    blocks: list[tuple[int, int]],
    n_threads: int,
    progress: Callable[[float], None] | None = None,
) -> tuple[NDArray[np.float64], list[Any]]:
    samples = np.random.default_rng(1).normal(0.0, 0.2, (2, 30, 6))
    sink = LoggedSink(np.full((2, 6, 30), np.nan))

    def views(run: int) -> LoggedViews:
        whole = views_of(samples[run], [Laplace(0.2, 0.05)] * 6, with_squares=False)
        return LoggedViews(whole, sink.log)

    how = plan(6, 6, n_threads, blocks)
    run_all(how, 2, views, None, sink, progress)
    return sink.estimates, sink.log


def test_blocks_and_threads_leave_every_bit_as_it_is() -> None:
    whole, _ = estimates_of([(0, 30)], 1)
    assert np.isfinite(whole).all()
    for blocks, n_threads in (([(0, 1), (1, 30)], 1), ([(0, 11), (11, 20), (20, 30)], 3)):
        np.testing.assert_array_equal(estimates_of(blocks, n_threads)[0], whole)


def test_a_block_is_opened_filled_and_run_before_the_next() -> None:
    _, log = estimates_of([(0, 20), (20, 30)], 1)
    expected: list[Any] = []
    for run in range(2):
        for start, stop in ((0, 20), (20, 30)):
            expected += [("open", run, start, stop), ("views", stop - start)]
            expected += [("fill", 0), ("fill", 1), "take"]
    assert log == expected


def test_progress_is_the_share_of_all_runs_and_ends_at_one() -> None:
    shares: list[float] = []
    estimates_of([(0, 15), (15, 30)], 1, shares.append)
    assert shares == [0.25, 0.5, 0.75, 1.0]
