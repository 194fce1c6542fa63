"""Pieces of work shared among threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from colme._threads import results, share, worker_threads


def test_results_come_in_the_order_of_the_pieces() -> None:
    def work(i: int) -> int:
        time.sleep(0.02 if i == 0 else 0.0)
        return i * i

    with worker_threads(3) as pool:
        assert list(results(pool, work, [(i,) for i in range(5)])) == [0, 1, 4, 9, 16]


def test_pieces_are_shared_among_all_threads() -> None:
    both = threading.Barrier(2, timeout=10)
    with worker_threads(2) as pool:
        share(pool, both.wait, [(), ()])


@pytest.mark.parametrize("ahead", [0, 1, 3])
def test_a_piece_is_taken_only_when_few_are_pending(ahead: int) -> None:
    n_yielded = 0

    def pieces() -> Iterator[tuple[int]]:
        for i in range(8):
            assert i - n_yielded <= ahead
            yield (i,)

    with worker_threads(2) as pool:
        for result in results(pool, abs, pieces(), ahead=ahead):
            assert result == n_yielded
            n_yielded += 1
    assert n_yielded == 8


def test_progress_rises_to_one() -> None:
    shares: list[float] = []
    with worker_threads(2) as pool:
        share(pool, abs, [(i,) for i in range(4)], shares.append)
    assert shares == [0.25, 0.5, 0.75, 1.0]


def test_an_error_in_a_piece_is_raised_and_the_rest_is_dropped() -> None:
    begun: list[int] = []

    def work(i: int) -> None:
        begun.append(i)
        if i == 0:
            raise ValueError("piece 0")
        time.sleep(0.01)

    with pytest.raises(ValueError, match="piece 0"), worker_threads(1) as pool:
        share(pool, work, [(i,) for i in range(1000)])
    assert len(begun) < 10


def test_leaving_early_drops_what_has_not_begun() -> None:
    begun: list[int] = []

    def work(i: int) -> None:
        begun.append(i)
        time.sleep(0.01)

    with worker_threads(1) as pool:
        next(results(pool, work, [(i,) for i in range(1000)]))
    assert len(begun) < 10
