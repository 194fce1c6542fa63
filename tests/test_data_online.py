"""One value at a time: against lockstep, plain agents, restarts, River, and bad values."""

import copy
import json
import math
import pickle
from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from river import base, evaluate, metrics
from scipy.stats import binomtest

import colme
from colme import ALGORITHMS, Agent, Algorithm, Query
from colme.algorithm import QueryStrategy
from colme.bounds import Betting, Bound, NormalMixture, Restarted, Student
from colme.data import OnlineMeans

CHANGING = Restarted(NormalMixture(0.5, 100), alarm=0.3, revisit=3)
BOUNDS: list[Bound] = [NormalMixture(0.5, 100), Student(30), CHANGING]


def samples(n_agents: int, horizon: int, seed: int = 0) -> NDArray[np.float64]:
    """Return samples [time, agent] of three classes."""
    problem = colme.Problem.gaussian([0.0, 0.5, 2.0], n_agents=n_agents, sigma=0.5, seed=seed)
    drawn: NDArray[np.float64] = problem.draw(horizon, seed=seed + 1)[0]
    return drawn


def predictions(means: OnlineMeans, names: Iterable[Any]) -> list[float]:
    found = [means.predict_one(name) for name in names]
    return [math.nan if one is None else one for one in found]


# In a row to which peers are added one by one an agent's own place is another, and so is where the
# stalest peer is looked for first: here all ask in the order of the row.
IN_ORDER = {
    name: replace(preset, query=QueryStrategy.RESTRICTED_ROUND_ROBIN)
    if preset.query == QueryStrategy.STALEST
    else preset
    for name, preset in ALGORITHMS.items()
    if name != "oracle"
}


@pytest.mark.parametrize("algorithm", IN_ORDER.values(), ids=IN_ORDER)
@pytest.mark.parametrize("bound", BOUNDS, ids=lambda bound: type(bound).__name__)
def test_values_that_arrive_together_give_what_lockstep_gives(
    algorithm: Algorithm, bound: Bound
) -> None:
    drawn = samples(6, 50)
    drawn[25:] += 3.0 * (np.arange(6) % 2) * (bound is CHANGING)
    expected = colme.lockstep(drawn[np.newaxis], algorithm, bound=bound, delta=0.05).estimates
    means = OnlineMeans(algorithm, bound=bound, delta=0.05, max_agents=6)
    assert expected is not None
    for step, values in zip(expected[0], drawn, strict=True):
        means.learn_many(range(6), values)
        assert predictions(means, range(6)) == pytest.approx(step, abs=1e-9)


def test_a_longer_run_agrees_to_the_end_in_estimates_and_classes() -> None:
    drawn, labels = samples(20, 200), np.arange(20)
    last = colme.Record(every=200)
    given: dict[str, Any] = {"sigma": 0.5, "labels": labels, "record": last}
    run = colme.lockstep(drawn[np.newaxis], IN_ORDER["sharp"], delta=0.05, **given)
    means = OnlineMeans(IN_ORDER["sharp"], sigma=0.5, max_agents=20)
    for values in drawn:
        means.learn_many(range(20), values)
    assert run.estimates is not None
    assert run.class_counts is not None
    assert predictions(means, range(20)) == pytest.approx(run.estimates[0, -1], abs=1e-9)
    for a in range(20):
        assert means.class_one(a) == set(np.flatnonzero(run.class_counts[0, -1, a]).tolist())
    assert any(len(means.class_one(a)) < 20 for a in range(20))


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=80), st.integers(0, 1000))
def test_values_in_any_order_give_what_plain_agents_give(order: list[int], seed: int) -> None:
    """The agents by hand know a newcomer as soon as it has a value, and everybody asks in order."""
    values = np.random.default_rng(seed).normal(np.array(order) % 2 * 3.0, 0.5)
    means = OnlineMeans(IN_ORDER["sharp"], sigma=0.5, max_agents=5)
    fleet: dict[str, Agent] = {}
    for a, value in zip(order, values, strict=True):
        means.learn_one(f"agent {a}", value)
        if str(a) not in fleet:
            given: dict[str, Any] = {"algorithm": IN_ORDER["sharp"], "max_agents": 5}
            newcomer = Agent(str(a), sigma=0.5, delta=0.05, peers=[*fleet, str(a)], **given)
            for known in fleet.values():
                known.meet(str(a))
            fleet[str(a)] = newcomer
        agent = fleet[str(a)]
        agent.perceive(value)
        peer = agent.choose_peer()
        if peer is not None:
            agent.receive(fleet[peer].answer(Query(agent.name, peer)))
    assert means.agents == tuple(f"agent {a}" for a in fleet)
    for name, agent in fleet.items():
        assert means.predict_one(f"agent {name}") == pytest.approx(agent.estimate, abs=1e-9)
        assert means.interval_one(f"agent {name}") == agent.interval
        expected = {f"agent {peer}" for peer in agent.optimistic_class}
        assert means.class_one(f"agent {name}") == expected


def test_several_values_at_once_are_folded_first_and_ask_as_often() -> None:
    means = OnlineMeans("round-robin", sigma=0.5)
    means.learn_many("aabbbbcc", [0.0, 0.2, 0.1, 0.1, 0.0, 0.0, 0.4, 0.0])
    # a and c ask both peers; b has four values, and two peers
    assert predictions(means, "abc") == pytest.approx([0.1] * 3)
    means.learn_many([], [])
    assert len(means) == 3


def test_it_learns_faster_than_alone() -> None:
    drawn = samples(30, 60, seed=5)
    truth = samples(30, 100_000, seed=5).mean(axis=0)
    errors = []
    for algorithm in ("sharp", "local"):
        means = OnlineMeans(algorithm)
        for values in drawn:
            for name, value in enumerate(values):
                means.learn_one(name, value)
        errors.append(np.abs(predictions(means, range(30)) - truth).mean())
    assert errors[0] < 0.6 * errors[1]


def test_intervals_of_all_agents_hold_together_as_often_as_they_say() -> None:
    failed = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        means = OnlineMeans("local", delta=0.9, max_agents=3)
        outside = False
        for _ in range(60):
            means.learn_many("abc", rng.normal(1.0, 2.0, 3))
            ends = [means.interval_one(name) for name in "abc"]
            outside |= any(not low <= 1.0 <= high for low, high in ends)
        failed += outside
    assert binomtest(failed, 60, 0.9 / 8, "greater").pvalue > 0.01
    assert failed > 0


def test_an_agent_never_seen_is_expected_at_the_average_of_the_estimates() -> None:
    means = OnlineMeans(sigma=0.1)
    assert means.predict_one("new") is None
    assert means.class_one("new") == {"new"}
    for value in (1.0, 1.1, 0.9):
        means.learn_many(["a", "b", "b"], [value, value + 4, value + 4])
    known = predictions(means, "ab")
    assert means.predict_one("new") == pytest.approx(sum(known) / 2)
    assert means.interval_one("new") == (-math.inf, math.inf)
    assert means.class_one("new") == {"a", "b", "new"}
    assert "new" not in means
    assert len(means) == 2


@pytest.mark.parametrize(
    "settings",
    [{}, {"sigma": 0.5}, {"value_range": (-9, 9)}, {"bound": CHANGING}, {"eta": 0.2, "key": "who"}],
    ids=str,
)
def test_it_goes_on_after_a_restart(settings: dict[str, Any]) -> None:
    means, drawn = OnlineMeans(**settings), samples(6, 60)
    names: list[Any] = ["a", "b", 3, 4, 5.5, 6]
    for values in drawn[:30]:
        means.learn_many(names, values)
    text = json.dumps(means.to_plain(), allow_nan=False)
    copies = [
        OnlineMeans.from_plain(json.loads(text)),
        pickle.loads(pickle.dumps(means)),
        copy.deepcopy(means),
    ]
    for values in drawn[30:]:
        for one in (means, *copies):
            one.learn_many([*names, "new"], [*values, values[0]])
    for again in copies:
        assert again.agents == means.agents
        assert predictions(again, [*names, "other"]) == predictions(means, [*names, "other"])
        assert again.class_one("a") == means.class_one("a")
        assert again.interval_one(3) == means.interval_one(3)
        assert again.to_plain() == means.to_plain()


def test_what_is_no_plain_state_is_refused() -> None:
    means = OnlineMeans(sigma=1.0, max_agents=2)
    means.learn_many("ab", [1.0, 2.0])
    good = means.to_plain()
    (_, first), (_, second) = good["agents"]
    for bad in (
        {},
        {**good, "agents": [["a", first], ["a", second]]},
        {**good, "agents": [["a", first]]},
        {**good, "max_agents": 1},
        {**good, "more": 1},
        {**good, "agents": [["a", {}], ["b", {"turn": [5, 5, 5]}]]},
    ):
        with pytest.raises(ValueError, match="not what to_plain returns"):
            OnlineMeans.from_plain(bad)


@pytest.mark.parametrize("column", [pd.Series, pl.Series, pa.array, np.array, iter])
def test_columns_of_any_kind_are_taken(column: Any) -> None:
    means = OnlineMeans(sigma=1.0)
    means.learn_many(column(["a", "b", "a"]), column([1.0, 2.0, 3.0]))
    assert means.agents == ("a", "b")
    assert means.interval_one("a")[0] == pytest.approx(4.0 - means.interval_one("a")[1])


@pytest.mark.parametrize(
    ("names", "values", "message"),
    [
        (["a", "b"], [1.0, math.nan], "value must be a finite number; received nan"),
        (["a", "b"], [1.0, "x"], "value must be a finite number"),
        (["a", "b"], [1.0], "received 2 agents for 1 values: give one each"),
        (["a", None], [0.5, 0.5], "named by text or a number; received None"),
        (["a", math.nan], [0.5, 0.5], "no agent is named NaN"),
        (["a", {"who": "b"}], [0.5, 0.5], "named by text or a number"),
        (["a", "b", "c", "d"], [0.5] * 4, "split over 3 agents; received 4"),
        (["a", "b"], [0.5, 1.5], r"lie in \[0, 1\]; received 1.5"),
    ],
)
def test_all_values_are_refused_if_one_is_bad(
    names: list[Any], values: list[Any], message: str
) -> None:
    means = OnlineMeans(value_range=(0.0, 1.0), max_agents=3)
    means.learn_one("a", 0.5)
    before = means.to_plain()
    with pytest.raises(ValueError, match=message):
        means.learn_many(names, values)
    assert means.to_plain() == before


def test_a_bound_with_a_range_refuses_all_values_too() -> None:
    means = OnlineMeans(bound=Betting(0, 1, n_grid=20))
    with pytest.raises(ValueError, match=r"1\.5"):
        means.learn_many("ab", [0.5, 1.5])
    assert len(means) == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sigma": 1.0, "value_range": (0, 1)}, "give one of sigma, value_range and bound"),
        ({"algorithm": "oracle"}, "choose another"),
        ({"algorithm": "none such"}, "none such"),
        ({"delta": 0.0}, "delta"),
        ({"max_agents": 0}, "max_agents"),
        ({"value_range": (1, 1)}, "1"),
    ],
)
def test_settings_are_checked(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OnlineMeans(**settings)


class RiverMeans(OnlineMeans, base.Regressor):  # type: ignore[misc]
    """What the documentation shows to users of River."""


def test_river_evaluates_it() -> None:
    rng = np.random.default_rng(1)
    rows: list[tuple[dict[Hashable, Any], float]]
    rows = [({"store": f"s{i % 8}", "x": 1.0}, float(rng.normal(i % 2, 1.0))) for i in range(400)]
    errors = []
    for algorithm in ("sharp", "local"):
        error = metrics.MAE()  # type: ignore[no-untyped-call]
        evaluate.progressive_val_score(rows, RiverMeans(algorithm, key="store"), error)
        errors.append(error.get())  # type: ignore[no-untyped-call]
    assert errors[0] < errors[1]
    assert RiverMeans(key="store", sigma=2.0, eta=0.1).clone().algorithm.eta == 0.1
