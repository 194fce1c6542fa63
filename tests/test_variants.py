"""Arrivals, contacts, gossip, noise, drift, caution: at limits that change nothing, and plain."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from variants import PRESETS, PROBLEM, SAMPLES, estimates_of, run

from colme import (
    Algorithm,
    Arrivals,
    Contacts,
    Gossip,
    Record,
    Trajectory,
    lockstep,
    simulate,
)
from colme.algorithm import ClassTest, resolve
from colme.bounds import (
    Asymptotic,
    Bound,
    Discounted,
    EmpiricalBernstein,
    Laplace,
    NormalMixture,
    Restarted,
    Windowed,
    default_bound,
)


def same_bits(one: Trajectory, other: Trajectory) -> None:
    np.testing.assert_array_equal(one.estimates, other.estimates)
    np.testing.assert_array_equal(one.class_counts, other.class_counts)


LIMITS: dict[str, dict[str, Any]] = {
    "batches of one": {"arrivals": 1},
    "rate one": {"arrivals": Arrivals(rates=1.0).draw(90, 11)[0]},
    "rate one in every run": {"arrivals": Arrivals(rates=[1.0] * 11).draw(90, 11, runs=2)},
    "everybody": {"contacts": Contacts.everyone(11)},
    "a view of all": {"contacts": Contacts.random(11, 11, seed=5)},
    "a complete graph": {
        "contacts": Contacts.of_graph([(a, b) for a in range(11) for b in range(a)])
    },
    "equal noise": {"sigma": [0.3] * 11},
}


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_of_a_variant_is_the_base_bit_for_bit(limit: str, name: str) -> None:
    same_bits(run(name, **LIMITS[limit]), run(name))


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("kind", ["window", "discount", "restart", "alone"])
def test_a_bound_without_end_is_the_base_bit_for_bit(kind: str, name: str) -> None:
    usual = default_bound(resolve(name).class_test, 0.3, 0.05)
    bounds: dict[str, Bound] = {
        "window": Windowed(usual, 10**6),
        "discount": Discounted(usual, 1.0),
        "restart": Restarted(usual, alarm=1e-12, revisit=0),
        "alone": usual,
    }
    same_bits(run(name, bound=bounds[kind]), run(name))


@pytest.mark.parametrize("name", PRESETS)
def test_who_must_show_little_enough_is_not_careful_at_all(name: str) -> None:
    """With an endless gap everybody heard of is shown at once; unheard peers weigh nothing."""
    careful = run(name, within=1e9)
    np.testing.assert_allclose(estimates_of(careful), estimates_of(run(name)), rtol=0, atol=1e-12)


BOUNDS: list[Bound] = [
    Laplace(0.3, 0.05),
    NormalMixture(0.3, 100),
    EmpiricalBernstein(-3, 4),
    Asymptotic(50, burn_in=4),
    Windowed(Laplace(0.3, 0.05), 25),
    Discounted(NormalMixture(0.3, 100), 0.95),
    Restarted(Laplace(0.1, 0.05), alarm=0.5, revisit=3),
    Restarted(NormalMixture(0.05, 100), alarm=0.5, revisit=2),
]


@st.composite
def variants(draw: st.DrawFn) -> dict[str, Any]:
    """Everything at once, in any combination."""
    changes: dict[str, Any] = {}
    seed = draw(st.integers(0, 10**6))
    if draw(st.booleans()):
        pattern = draw(st.sampled_from(["steady", "poisson", "bursts"]))
        late, silent = draw(st.sampled_from([(0.0, 0.0), (0.5, 0.3)]))
        arrivals = Arrivals.between(
            0.1, 3.0, 11, seed, pattern=pattern, burst=3, late=late, silent=silent
        )
        changes["arrivals"] = arrivals.draw(30, 11, seed=seed)
    contacts = draw(st.sampled_from(["all", "random", "ring", "isolated"]))
    if contacts == "random":
        changes["contacts"] = Contacts.random(11, draw(st.integers(1, 11)), seed)
    if contacts == "ring":
        changes["contacts"] = Contacts.of_graph([(a, (a + 1) % 11) for a in range(11)])
    if contacts == "isolated":
        changes["contacts"] = Contacts.of_graph([(0, 1), (1, 2)], n_agents=11, disconnected=True)
    if "contacts" in changes and not changes["contacts"].is_everyone and draw(st.booleans()):
        changes["gossip"] = Gossip(every=draw(st.integers(1, 3)), seed=seed)
    if draw(st.booleans()):
        changes["bound"] = draw(
            st.one_of(
                st.sampled_from(BOUNDS), st.lists(st.sampled_from(BOUNDS), min_size=11, max_size=11)
            )
        )
    else:
        changes["sigma"] = draw(st.sampled_from([0.3, 0.05, [0.1] * 5 + [0.4] * 6]))
    if draw(st.booleans()):
        changes["within"] = draw(st.sampled_from([0.1, 0.6, 2.0]))
    return changes


COMPOSED = [
    Algorithm(query, weighting, test)
    for query in ("round-robin", "restricted-round-robin")
    for test in ("overlap", "joint", "known")
    for weighting in ("simple", "soft", "aggressive", "class-uniform", "model")
]


@settings(max_examples=90)
@given(variants(), st.sampled_from([*PRESETS, *COMPOSED]), st.integers(0, 99))
def test_lockstep_is_simulate_whatever_is_combined(
    changes: dict[str, Any], algorithm: str | Algorithm, seed: int
) -> None:
    problem = PROBLEM.moving(0, 2, 0.5, time=20, seed=seed)
    arrivals = changes.get("arrivals")
    samples = problem.draw(30 if arrivals is not None else 45, seed=seed, arrivals=arrivals)
    likely = resolve(algorithm).weighting.word == "model"
    keep: dict[str, Any] = {
        "delta": 0.5,
        "labels": PROBLEM.labels,
        "record": Record(likely_counts=likely, every=3),
        **changes,
    }
    fast, slow = simulate(samples, algorithm, **keep), lockstep(samples, algorithm, **keep)
    np.testing.assert_allclose(estimates_of(fast), estimates_of(slow), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(fast.class_counts, slow.class_counts)
    if likely:
        np.testing.assert_array_equal(fast.likely_counts, slow.likely_counts)
    same_bits(fast, simulate(samples, algorithm, **keep, threads=3))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"arrivals": 0}, "arrivals must be at least 1; received 0"),
        ({"arrivals": 91}, "batches of 91 need as many samples; received 90"),
        ({"arrivals": -np.ones((9, 11), int)}, "received -1"),
        ({"arrivals": np.ones((9, 12), int)}, "12"),
        ({"arrivals": np.full((9, 11), 11)}, "99 samples of one agent; received 90"),
        ({"contacts": Contacts.everyone(12)}, "contacts are of 12 agents; there are 11"),
        ({"gossip": Gossip()}, "gossip helps agents that know only some others"),
        ({"sigma": [0.3] * 10}, "one for each of the 11 agents; received 10"),
        ({"sigma": [0.3] * 10 + [-1]}, "sigma must be greater than 0; received -1"),
        ({"within": 0}, "within must be greater than 0; received 0"),
        ({"within": math.inf}, "within must be a finite number"),
    ],
    ids=str,
)
def test_bad_input_is_refused_with_what_was_received(changes: dict[str, Any], message: str) -> None:
    for front_door in (simulate, lockstep):
        with pytest.raises(ValueError, match=message):
            front_door(SAMPLES, "sharp", **({"sigma": 0.3} | changes))


def test_risk_is_split_among_those_one_can_ever_meet() -> None:
    contacts = Contacts.random(11, 4, seed=2)
    for gossip, n_met in ((None, 4), (Gossip(), 11)):
        trajectory = run("restricted-round-robin", contacts=contacts, gossip=gossip)
        bound = default_bound(ClassTest.OVERLAP, 0.3, 0.05 / (8 * n_met))
        given_bound = run(
            "restricted-round-robin", contacts=contacts, gossip=gossip, bound=bound, delta=0.05
        )
        same_bits(trajectory, given_bound)
