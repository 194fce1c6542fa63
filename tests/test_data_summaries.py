"""Summaries of a table: exact counts, exact sums however rows are dealt, and what is refused."""

import datetime
import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colme.data import Halves, Summaries

Rows = list[tuple[Any, float]]

places = st.sampled_from([0.0, 1.0, -1e3, 1e6, -1e9])
values = st.floats(-10, 10) | st.integers(-5, 5).map(float)


@st.composite
def tables(draw: st.DrawFn, n_tables: int) -> list[Rows]:
    """Return tables that share agents, with values that may lie far from zero."""
    place = draw(places)
    names: list[list[Any]] = [["a", "b", "ü", "10"], [3, 1, 2], [0.5, -1.0]]
    agents = st.sampled_from(draw(st.sampled_from(names)))
    rows = st.lists(st.tuples(agents, values.map(lambda x: place + x)), max_size=25)
    return [draw(rows) for _ in range(n_tables)]


def of(rows: Rows) -> Summaries:
    return Summaries.of([agent for agent, _ in rows], [value for _, value in rows])


def exact(rows: Rows) -> dict[Any, tuple[int, float, float, float]]:
    """Return count, mean, squares and how far rounding may be off, by agent, from fractions."""
    found: dict[Any, tuple[int, float, float, float]] = {}
    for agent in {agent for agent, _ in rows}:
        own = [Fraction(value) for name, value in rows if name == agent]
        mean = sum(own) / len(own)
        squares = float(sum((x - mean) ** 2 for x in own))
        rounding = 4 * sys.float_info.epsilon * max(abs(float(x)) for x in own)
        off = rounding * (math.sqrt(len(own) * squares) + len(own) * rounding)
        found[agent] = (len(own), float(mean), squares, off)
    return found


def assert_exact(found: Summaries, rows: Rows) -> None:
    expected = exact(rows)
    assert found.agents.tolist() == sorted(expected)
    for i, agent in enumerate(found.agents.tolist()):
        count, mean, squares, off = expected[agent]
        assert found.counts[i] == count
        assert found.means[i] == pytest.approx(mean, rel=1e-14, abs=1e-14)
        assert found.squares[i] == pytest.approx(squares, rel=1e-9, abs=off + 1e-13)


def assert_alike(one: Summaries, other: Summaries) -> None:
    assert one.agents.tolist() == other.agents.tolist()
    assert one.counts.tolist() == other.counts.tolist()
    np.testing.assert_allclose(one.means, other.means, rtol=1e-14, atol=1e-14)
    far = 1e-14 * (1 + np.abs(one.means))
    slack = 1e-9 + far * np.sqrt(one.counts * one.squares) + one.counts * far**2
    np.testing.assert_allclose(one.squares, other.squares, rtol=1e-9, atol=slack.max(initial=0.0))


@given(tables(1))
def test_a_table_is_summed_up_exactly(parts: list[Rows]) -> None:
    assert_exact(of(parts[0]), parts[0])


@given(tables(3))
def test_tables_add_to_the_table_of_all_their_rows_in_any_order(parts: list[Rows]) -> None:
    a, b, c = map(of, parts)
    rows = [row for part in parts for row in part]
    assert_exact((a + b) + c, rows)
    assert_exact(a + (b + c), rows)
    assert_alike((c + a) + b, of(rows))


@given(tables(2))
def test_halves_are_all_of_the_samples(parts: list[Rows]) -> None:
    for found in (of(parts[0]), of(parts[0]) + of(parts[1])):
        assert found.halves is not None
        halves = []
        for counts, means, squares in zip(*found.halves, strict=True):
            some = counts > 0
            assert not means[~some].any()
            assert not squares[~some].any()
            halves.append(Summaries(found.agents[some], counts[some], means[some], squares[some]))
        assert_alike(halves[0] + halves[1], Summaries(*list(vars(found).values())[:4]))


def test_halves_are_dealt_by_chance_and_always_the_same() -> None:
    rng = np.random.default_rng(0)
    agents, x = rng.integers(0, 50, 20_000), rng.normal(size=20_000)
    one, other = Summaries.of(agents, x).halves, Summaries.of(agents, x).halves
    assert one is not None
    assert other is not None
    for here, there in zip(one, other, strict=True):
        np.testing.assert_array_equal(here, there)
    assert abs(one.counts[0].sum() - 10_000) < 4 * math.sqrt(20_000) / 2
    alternating = Summaries.of(["a"] * 2000, [0.0, 1.0] * 1000).halves
    assert alternating is not None
    assert abs(alternating.means - 0.5).max() < 0.08  # not every other row


def test_without_halves_on_one_side_there_are_none() -> None:
    totals = Summaries(np.array(["a"]), np.array([2]), np.array([1.0]), np.array([0.5]))
    assert (totals + Summaries.of(["a"], [1.0])).halves is None
    assert (totals + Summaries.of(["a"], [1.0])).counts.tolist() == [3]


def test_an_empty_table_adds_nothing() -> None:
    empty, some = Summaries.of([], []), Summaries.of(["b", "a"], [1.0, 2.0])
    assert len(empty) == len(empty + empty) == 0
    assert (empty + some).agents.tolist() == (some + empty).agents.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("agents", "names"),
    [
        (["b", "a", "b"], ["a", "b"]),
        (np.array(["b", "a", "b"], dtype=object), ["a", "b"]),
        (np.array(["b", "a", "b"], dtype=np.dtypes.StringDType()), ["a", "b"]),
        (pd.Series(["b", "a", "b"]), ["a", "b"]),
        (pd.Categorical(["b", "a", "b"]), ["a", "b"]),
        (pl.Series(["b", "a", "b"]), ["a", "b"]),
        (pa.array(["b", "a", "b"]), ["a", "b"]),
        ([10, 9, 10], [9, 10]),
        ([1.5, -2.0, 1.5], [-2.0, 1.5]),
        ([True, False, True], [False, True]),
        (
            np.array(["2024-02-01", "2023-05-06", "2024-02-01"], "M8[D]"),
            ["2023-05-06", "2024-02-01"],
        ),
    ],
)
def test_agents_are_named_by_text_numbers_or_days(agents: Any, names: list[Any]) -> None:
    found = Summaries.of(agents, [1.0, 2.0, 3.0])
    assert found.agents.tolist() == names
    assert (found.counts.tolist(), found.means.tolist()) == ([1, 2], [2.0, 2.0])


@pytest.mark.parametrize(
    ("agents", "values", "message"),
    [
        ([1.0, math.nan], [1.0, 2.0], "an agent is missing"),
        (["a", None], [1.0, 2.0], "received None among them"),
        (pd.Series(["a", None]), [1.0, 2.0], "named by text, or all by numbers"),
        ([datetime.time(1), "a"], [1.0, 2.0], "received datetime.time"),
        (["a", "b"], [1.0], r"received shapes \(2,\) and \(1,\)"),
        ([["a"]], [[1.0]], r"received shapes \(1, 1\)"),
        (["a", "b"], [1.0, math.nan], "received nan in row 1: drop"),
        (["a", "b"], [-math.inf, 1.0], "received -inf in row 0"),
        (["a", "b"], [1.0, 1e200], r"received 1e\+200 in row 1"),
        (["a", "b"], ["x", "y"], "values must be numbers"),
        (["a", "b"], [None, 1.0], "received nan in row 0"),
    ],
)
def test_rows_that_say_nothing_are_refused(agents: Any, values: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Summaries.of(agents, values)


def test_tables_that_name_agents_differently_do_not_add() -> None:
    with pytest.raises(ValueError, match="one table names agents by text, the other by numbers"):
        Summaries.of(["1"], [1.0]) + Summaries.of([1], [1.0])
    with pytest.raises(TypeError):
        Summaries.of(["1"], [1.0]) + 3  # type: ignore[operator]


@pytest.mark.parametrize(
    ("agents", "counts", "means", "squares", "message"),
    [
        (["b", "a"], [1, 1], [0.0, 0.0], [0.0, 0.0], "in order and all different"),
        (["a", "a"], [1, 1], [0.0, 0.0], [0.0, 0.0], "in order and all different"),
        (["a", "b"], [1], [0.0, 0.0], [0.0, 0.0], "one entry per agent"),
        (["a"], [0], [0.0], [0.0], "received a with 0, 0.0, 0.0"),
        (["a"], [1], [math.nan], [0.0], "1 sample or more"),
        (["a"], [1], [0.0], [-1.0], "squares from 0 on"),
        (["a"], [1], [0.0], [math.nan], "squares from 0 on"),
    ],
)
def test_totals_that_cannot_be_are_refused(
    agents: Any, counts: Any, means: Any, squares: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Summaries(agents, counts, means, squares)


def test_halves_must_be_those_of_the_table() -> None:
    halves = Halves(np.array([[1], [1]]), np.zeros((2, 1)), np.zeros((2, 1)))
    with pytest.raises(ValueError, match="halves must have all samples"):
        Summaries(np.array(["a"]), np.array([3]), np.zeros(1), np.zeros(1), halves)
