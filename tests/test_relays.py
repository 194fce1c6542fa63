"""Relays: the simulator, the plain agent and lockstep agree; news spreads; nothing is invented."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import colme
from colme import Agent, Algorithm, Contacts, Gossip, Problem, Query, Reply
from colme.bounds import EmpiricalBernstein, NormalMixture, Restarted, Windowed
from colme.rules import pick_relays

PROBLEM = Problem.gaussian([0.0, 1.0], n_agents=11, sigma=0.4, seed=3)
SAMPLES = PROBLEM.draw(60, 2, seed=4)
FEW = Contacts.random(11, size=5, seed=1)
UNEVEN = np.random.default_rng(5).integers(0, 3, (28, 11))
CASES: dict[str, dict[str, Any]] = {
    "all agents": {},
    "contacts": {"contacts": FEW},
    "gossip": {"contacts": FEW, "gossip": Gossip()},
    "batches": {"arrivals": 3},
    "arrivals": {"arrivals": UNEVEN},
    "restarts": {"bound": Restarted(NormalMixture(0.4, 100), alarm=0.2), "sigma": None},
    "windows": {"bound": Windowed(NormalMixture(0.4, 100), length=20), "sigma": None},
    "unknown noise": {"bound": EmpiricalBernstein(-3, 4), "sigma": None},
    "unequal noise": {"sigma": [0.4, 0.8] * 5 + [0.4]},
    "eta": {"eta": 0.1},
    "care": {"within": 0.9},
}
SIMPLE = Algorithm("stalest", "simple", "paired")
LAPLACE = Algorithm("restricted-round-robin", "soft", "overlap")


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("relays", [1, 4])
@pytest.mark.parametrize("algorithm", ["sharp", SIMPLE], ids=["sharp", "simple"])
def test_relays_are_simulated_as_agents_relay(
    algorithm: str | Algorithm, relays: int, case: str
) -> None:
    given: dict[str, Any] = {"sigma": 0.4, "delta": 0.05, "labels": PROBLEM.labels}
    settings = given | CASES[case]
    fast: Any = colme.simulate(SAMPLES, algorithm, relays=relays, **settings)
    slow: Any = colme.lockstep(SAMPLES, algorithm, relays=relays, **settings)
    np.testing.assert_allclose(fast.estimates, slow.estimates, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(fast.class_counts, slow.class_counts)


def test_other_tests_and_weights_can_relay_too() -> None:
    settings: dict[str, Any] = {"sigma": 0.4, "delta": 0.05, "relays": 2}
    fast: Any = colme.simulate(SAMPLES, LAPLACE, **settings)
    slow: Any = colme.lockstep(SAMPLES, LAPLACE, **settings)
    np.testing.assert_allclose(fast.estimates, slow.estimates, rtol=0, atol=1e-12)


def test_likely_classes_with_relays_are_those_of_agents() -> None:
    record = colme.Record(likely_counts=True)
    settings: dict[str, Any] = {"sigma": 0.4, "labels": PROBLEM.labels, "relays": 3}
    fast = colme.simulate(SAMPLES, record=record, **settings)
    slow = colme.lockstep(SAMPLES, record=record, **settings)
    np.testing.assert_array_equal(fast.likely_counts, slow.likely_counts)


def test_without_relays_agents_run_apart_and_with_them_together_to_the_same_end() -> None:
    """Relays that nobody can make use of change nothing: two agents have no third to hear of."""
    two = SAMPLES[:, :, :2]
    alone, with_relays = (
        colme.simulate(two, SIMPLE, sigma=0.4, delta=0.05, relays=r) for r in (0, 3)
    )
    np.testing.assert_array_equal(alone.estimates, with_relays.estimates)


def test_the_number_of_threads_and_blocks_changes_no_bit(monkeypatch: Any) -> None:
    monkeypatch.setattr("colme.engine.runner._ENTRIES_TO_SHARE", 1)
    settings: dict[str, Any] = {"sigma": 0.4, "relays": 2}
    one, three = (colme.simulate(SAMPLES, threads=n, **settings) for n in (1, 3))
    np.testing.assert_array_equal(one.estimates, three.estimates)
    digests = [
        colme.simulate_large(PROBLEM, horizon=40, runs=2, block=block, threads=2, relays=2)
        for block in (40, 7)
    ]
    for name in ("mean_errors", "wrong_shares"):
        np.testing.assert_array_equal(*(getattr(digest, name) for digest in digests))


def test_news_spreads_faster_with_more_relays() -> None:
    problem = Problem.gaussian([0.0, 1.0], n_agents=60, sigma=0.5, seed=8)
    samples = problem.draw(150, 3, seed=9)
    times = [
        colme.metrics.identification_times(
            colme.simulate(samples, sigma=0.5, labels=problem.labels, relays=relays)
        ).mean()
        for relays in (0, 2, 8)
    ]
    assert times[0] > times[1] + 3 > times[2] + 3


def agents(n: int, **changes: Any) -> list[Agent]:
    names = [str(a) for a in range(n)]
    settings: dict[str, Any] = {"sigma": 0.5, "delta": 0.05, "max_agents": n, "peers": names}
    return [Agent(name, **(settings | {"relays": 2} | changes)) for name in names]


def test_an_agent_relays_what_it_heard_last_as_it_was_said() -> None:
    a, b, c, d = agents(4)
    said = [Reply("2", 0.5, 3, 0.5, (0.1, math.inf, 1.0), variance=0.25), Reply("3", 0.1, 9)]
    for reply in said:
        assert b.receive(reply)
    relayed = b.relayed(a.query_to("1"))
    assert [reply.sender for reply in relayed] == ["3", "2"]  # the most samples first
    assert relayed[1] == said[0]
    assert b.relayed(Query("0", "1")) == ()  # nobody asked for relays
    assert [reply.sender for reply in b.relayed(Query("0", "1", 5, {"2"}))] == ["2"]
    assert [reply.sender for reply in b.relayed(Query("2", "1", 5))] == ["3"]  # not of the asker
    assert not c.relayed(d.query_to("2"))  # it has heard nothing


def test_what_is_relayed_is_taken_only_if_it_is_news_about_a_peer_in_the_row() -> None:
    a, *_ = agents(4)
    own, old, new = Reply("0", 9.0, 99), Reply("2", 0.5, 3), Reply("2", 0.6, 4)
    assert a.receive(Reply("1", 0.0, 1), [new, old, own, Reply("stranger", 0.3, 9)])
    known = {reply.sender: reply for reply in a.snapshot().replies}
    assert known["2"].count == 4
    assert known["0"].count == 0
    assert set(known) == {"0", "1", "2", "3"}
    later = Reply("2", 0.7, 1, epoch=1)
    a.receive(Reply("1", 0.0, 2), [later])
    assert {reply.sender: reply for reply in a.snapshot().replies}["2"].epoch == 1


def test_an_agent_wants_to_hear_of_its_class_alone() -> None:
    a, *_ = agents(4, sigma=0.01)
    for _ in range(50):
        a.perceive(0.0)
    a.receive(Reply("3", 1.0, 50))
    query = a.query_to("1")
    assert query.relays == 2
    assert query.wanted == {"1", "2"}
    assert agents(2, relays=0)[0].query_to("1") == Query("0", "1")


@pytest.mark.parametrize("relays", [-1, 1.5, "many"])
def test_a_wrong_number_of_relays_is_refused(relays: Any) -> None:
    with pytest.raises(ValueError, match="relays must be"):
        colme.simulate(SAMPLES, sigma=0.4, relays=relays)


def picked(most: int, start: int, wanted: list[bool], counts: list[float]) -> list[int]:
    result = [0] * most
    n = pick_relays(most, len(counts), start, wanted, counts, result)
    return result[:n]


def test_relays_are_those_with_the_most_samples_and_ties_go_round_from_the_asker() -> None:
    every = [True] * 5
    assert picked(2, 0, every, [1, 5, 3, 5, 4]) == [1, 3]
    assert picked(2, 1, every, [1, 5, 3, 5, 4]) == [3, 1]
    assert picked(3, 4, [True, False, True, True, True], [1, 5, 3, 0, 4]) == [4, 2, 0]
    assert picked(9, 0, every, [0.0] * 5) == []
    rng = np.random.default_rng(1)
    for _ in range(200):
        counts: NDArray[np.float64] = rng.integers(0, 9, 12).astype(float)
        wanted, most = (rng.random(12) < 0.7).tolist(), int(rng.integers(1, 7))
        found = picked(most, int(rng.integers(12)), wanted, counts.tolist())
        best = sorted((counts[l] for l in range(12) if wanted[l] and counts[l]), reverse=True)
        assert [counts[l] for l in found] == best[:most]
