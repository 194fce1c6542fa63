"""The compiled loops over whole streams: the same as plain Python, and as following each stream."""

import numpy as np
from numpy.typing import NDArray

from colme.bounds import Laplace
from colme.bounds.change_detector import SplitTable, find_epochs
from colme.bounds.discounted import fold_discounted
from colme.bounds.moments import fold_moments
from colme.bounds.restarted import fold_epochs
from colme.bounds.windowed import fold_windows

Array = NDArray[np.float64]

N = 90
LONG: Array = np.random.default_rng(5).normal(np.repeat([0.0, 0.6, 0.2], 30)[:, None], 0.5, (N, 3))
SAMPLES: Array = np.random.default_rng(1).normal(size=(60, 37))


def both(kernel: object, n_columns: int, *arguments: object) -> Array:
    """Return what a loop writes, compiled and plain, which must agree."""
    fast, plain = np.empty((2, n_columns, 3, N))
    kernel(LONG, *arguments, *fast)  # type: ignore[operator]
    kernel.function(LONG, *arguments, *plain)  # type: ignore[attr-defined]
    np.testing.assert_allclose(fast, plain, rtol=1e-12, atol=1e-12)
    return fast


def test_the_compiled_loops_are_the_plain_ones() -> None:
    both(fold_windows, 2, 7, np.empty((2, 7)))
    both(fold_discounted, 2, 0.9, np.arange(float(N)))
    (epochs,) = both(find_epochs, 1, 0.1, 2.0, SplitTable.blank())
    assert epochs.max() > 1
    both(fold_epochs, 3, epochs)


def moments(samples: Array, count: int, mean: Array, square: Array) -> Array:
    found = np.empty((2, *samples.T.shape))
    fold_moments(samples, count, mean, square, found[0], found[1])
    return found


def test_compiled_moments_are_those_of_a_stream() -> None:
    fast, plain = moments(SAMPLES, 0, *np.zeros((2, 37))), np.empty((2, 37, 60))
    fold_moments.function(SAMPLES, 0, np.zeros(37), np.zeros(37), plain[0], plain[1])
    np.testing.assert_allclose(fast, plain, rtol=0, atol=1e-12)
    stream = Laplace(1.0, 0.05).stream(37)
    for t, row in enumerate(SAMPLES):
        stream.update(row)
        np.testing.assert_allclose(plain[:, :, t], [stream.mean, stream.squares], atol=1e-12)
    only_means = np.empty((37, 60))
    fold_moments(SAMPLES, 0, np.zeros(37), np.zeros(37), only_means, np.empty((0, 60)))
    np.testing.assert_array_equal(only_means, fast[0])


def test_moments_go_on_where_the_last_block_ended() -> None:
    whole = moments(SAMPLES, 0, *np.zeros((2, 37)))
    mean, square = np.zeros((2, 37))
    for first, last in ((0, 1), (1, 20), (20, 60)):
        found = moments(SAMPLES[first:last], first, mean, square)
        np.testing.assert_array_equal(found, whole[:, :, first:last])
