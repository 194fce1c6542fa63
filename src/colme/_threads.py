"""Work shared among threads: one pool, results in the order of the pieces, Ctrl-C obeyed at once.

Lives here: the pool and two ways to use it.  Must not know what the work is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

Progress = Callable[[float], None]
"""Called with the share of the work done, from 0 to 1."""

T = TypeVar("T")


@contextmanager
def worker_threads(n_threads: int) -> Iterator[ThreadPoolExecutor]:
    """Yield a pool of threads; leaving it for any reason drops the pieces that have not begun.

    After Ctrl-C only the pieces in progress are waited for, so they should be short.

    Examples
    --------
    >>> with worker_threads(2) as pool:
    ...     pool.submit(max, 3, 5).result()
    5
    """
    pool = ThreadPoolExecutor(n_threads)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def results(
    pool: ThreadPoolExecutor,
    work: Callable[..., T],
    pieces: Iterable[tuple[Any, ...]],
    *,
    ahead: int | None = None,
) -> Iterator[T]:
    """Yield ``work(*piece)`` for each piece, in order.

    Parameters
    ----------
    pool
        From `worker_threads`.
    work
        What to do with a piece; it runs in the threads of the pool.
    pieces
        The arguments of each call.
    ahead
        The next piece is taken, in this thread, only when at most this many are pending: for pieces
        that need memory or take time to prepare.  By default all pieces are taken at once.

    Examples
    --------
    >>> with worker_threads(2) as pool:
    ...     list(results(pool, pow, [(2, 3), (3, 2), (5, 1)], ahead=2))
    [8, 9, 5]
    """
    pending: deque[Future[T]] = deque()
    for piece in pieces:
        pending.append(pool.submit(work, *piece))
        while ahead is not None and len(pending) > ahead:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()


def share(
    pool: ThreadPoolExecutor,
    work: Callable[..., object],
    pieces: Sequence[tuple[Any, ...]],
    progress: Progress | None = None,
) -> None:
    """Call ``work(*piece)`` for each piece; return when all are done.

    Examples
    --------
    >>> squares = [0, 0, 0]
    >>> with worker_threads(2) as pool:
    ...     share(pool, lambda i: squares.__setitem__(i, i * i), [(0,), (1,), (2,)])
    >>> squares
    [0, 1, 4]
    """
    for n_done, future in enumerate([pool.submit(work, *piece) for piece in pieces], start=1):
        future.result()
        if progress is not None:
            progress(n_done / len(pieces))
