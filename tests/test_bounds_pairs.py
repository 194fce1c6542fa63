"""Pairs with equal means are separated at most as often as promised, whatever their bounds."""

import functools
import itertools
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from streams import DRAWS, FAMILY, Array, name, p_value

from colme._compile import kernel
from colme.bounds import Asymptotic, Betting, Bound, EmpiricalBernstein, Student, separated

GAMMA, STREAMS, STEPS = 0.1, 1000, 250
BOUNDS = [bound.at_risk(GAMMA) for bound in (*FAMILY[:-1], Asymptotic(100))]
PAIRS = list(itertools.combinations_with_replacement(range(len(BOUNDS)), 2))


@kernel
def mark(a: Any, b: Any, delay: int, factor: float, log_risk: float, found: Any) -> None:
    for t in range(a.shape[1]):
        u = t - t % delay
        for i in range(a.shape[2]):
            found[i] |= separated(
                factor * abs(a[0, t, i] - b[0, u, i]),
                a[1, t, i],
                a[2, t, i],
                a[3, t, i],
                b[1, u, i],
                b[2, u, i],
                b[3, u, i],
                log_risk,
            )


def ever_separated(a: Array, b: Array, delay: int = 1, factor: float = 1.0) -> NDArray[np.bool_]:
    """Return which streams separate at some time, b's news coming once in `delay` steps.

    `factor` stretches the distances.
    """
    found = np.zeros(a.shape[2], dtype=bool)
    mark(a, b, delay, factor, -math.log(GAMMA), found)
    return found


def evidence_of(bound: Bound, samples: Array) -> Array:
    """Return the evidence [field, time, stream] at every time."""
    stream = bound.stream(samples.shape[1])
    rows = []
    for row in samples:
        stream.update(row)
        rows.append(list(vars(stream.evidence).values()))
    return np.ascontiguousarray(np.moveaxis(np.array(rows), 1, 0))


@functools.cache
def evidence(kind: str) -> list[tuple[Array, Array]]:
    """For each bound, what two sets of streams with the same mean tell."""
    _, draw = DRAWS[kind]
    rng = np.random.default_rng(21)
    here, there = (draw(rng, (STEPS, STREAMS)) for _ in range(2))
    return [(evidence_of(bound, here), evidence_of(bound, there)) for bound in BOUNDS]


@pytest.mark.parametrize("kind", ["fair", "uniform"])
@pytest.mark.parametrize("delay", [1, 20])
@pytest.mark.parametrize(("i", "j"), PAIRS)
def test_pairs_with_equal_means_stay_together(i: int, j: int, delay: int, kind: str) -> None:
    here, there = evidence(kind)[i][0], evidence(kind)[j][1]
    assert p_value(ever_separated(here, there, delay), GAMMA) > 1e-4
    assert p_value(ever_separated(there, here, delay), GAMMA) > 1e-4


@pytest.mark.parametrize("i", range(len(BOUNDS)))
def test_alike_pairs_with_equal_means_would_not_at_twice_the_distance(i: int) -> None:
    found = ever_separated(*evidence("fair")[i], factor=2.0)
    assert p_value(found, GAMMA) < 1e-4


@pytest.mark.parametrize("bound", [EmpiricalBernstein(0, 1, 0.1), Betting(0, 1, 0.1, n_grid=30)])
@pytest.mark.parametrize("kind", ["rare", "beta"])
def test_pairs_of_rare_events_and_of_small_variances_stay_together(bound: Bound, kind: str) -> None:
    _, draw = DRAWS[kind]
    rng = np.random.default_rng(22)
    here, there = (evidence_of(bound, draw(rng, (STEPS, STREAMS))) for _ in range(2))
    for delay in (1, 20):
        assert p_value(ever_separated(here, there, delay), GAMMA) > 1e-4


SHARP = [bound for bound in BOUNDS if not isinstance(bound, Student)]
"""Few samples of a Student stream tell less than its interval says: a chord."""


@pytest.mark.parametrize("bound", SHARP, ids=name)
def test_pairs_with_different_means_are_separated_before_their_intervals_part(
    bound: Bound,
) -> None:
    rng = np.random.default_rng(23)
    here, there = bound.at_risk(0.001).stream(50), bound.at_risk(0.001).stream(50)
    parted = np.zeros(50, dtype=bool)
    joint = np.zeros(50, dtype=bool)
    lead = 0
    while not parted.all():
        here.update(rng.binomial(1, 0.2, 50))
        there.update(rng.binomial(1, 0.8, 50))
        parted |= here.interval[1] < there.interval[0]
        rows = zip(*vars(here.evidence).values(), *vars(there.evidence).values(), strict=True)
        joint |= [
            separated(abs(c_a - c_b), q_a, s_a, o_a, q_b, s_b, o_b, math.log(1000))
            for c_a, q_a, s_a, o_a, c_b, q_b, s_b, o_b in rows
        ]
        assert not (parted & ~joint).any()
        lead += int((joint & ~parted).sum())
    assert lead > 0
