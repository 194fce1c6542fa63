"""Streams as they are: arrivals, contacts, gossip, unequal noise, drift, a careful agent.

Each variant against its plain twin, its limit, and what it promises; how much each is worth is
tested with the studies.
"""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binomtest

from colme import (
    Algorithm,
    Arrivals,
    Change,
    Contacts,
    Gossip,
    Problem,
    Record,
    Trajectory,
    lockstep,
    metrics,
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
    usual_bound,
)

PROBLEM = Problem.gaussian([0.0, 0.5, 1.0], n_agents=11, sigma=0.3, seed=1)
SAMPLES = PROBLEM.draw(90, runs=2, seed=2)
PRESETS = [
    "sharp",
    "restricted-round-robin",
    "round-robin",
    "soft-restricted-round-robin",
    "aggressive-restricted-round-robin",
    "oracle",
    "local",
    "eta-restricted-round-robin",
]


def run(algorithm: str | Algorithm = "sharp", samples: Any = SAMPLES, **changes: Any) -> Trajectory:
    keep: dict[str, Any] = {"delta": 0.05, "labels": PROBLEM.labels}
    if "bound" not in changes:
        keep["sigma"] = 0.3
    return simulate(samples, algorithm, **(keep | changes))


def estimates_of(trajectory: Trajectory) -> NDArray[np.float64]:
    assert trajectory.estimates is not None
    return trajectory.estimates


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
    usual = usual_bound(resolve(name).class_test, 0.3, 0.05)
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


def test_an_agent_alone_is_local_and_never_nan() -> None:
    contacts = Contacts.of_graph([(0, 1), (1, 2)], n_agents=11, disconnected=True)
    local = estimates_of(run("local"))
    for name in PRESETS:
        estimates = estimates_of(run(name, contacts=contacts))
        assert np.isfinite(estimates).all()
        np.testing.assert_allclose(estimates[:, :, 3:], local[:, :, 3:], rtol=0, atol=1e-12)


def test_who_has_no_sample_yet_says_nothing_of_itself_and_listens() -> None:
    arrivals = np.ones((40, 11), np.int64)
    arrivals[:10, 4] = 0
    alone = estimates_of(run("local", arrivals=arrivals))
    assert np.isnan(alone[:, :10, 4]).all()
    assert np.isfinite(alone[:, 10:, 4]).all()
    for name in ("sharp", "restricted-round-robin", "soft-restricted-round-robin"):
        estimates = estimates_of(run(name, arrivals=arrivals))
        assert np.isfinite(np.delete(estimates, 4, axis=2)).all()
        assert np.isfinite(estimates[:, 10:, 4]).all()
        if name != "soft-restricted-round-robin":  # whose weights need an interval of one's own
            assert np.isfinite(estimates[:, 1:, 4]).all()


def test_an_agent_that_fell_silent_still_learns_from_its_class() -> None:
    problem = Problem.gaussian([0.2, 0.8], class_sizes=[30, 30], sigma=0.5)
    arrivals = np.ones((1500, 60), np.int64)
    arrivals[100:, 0] = 0
    samples = problem.draw(1500, runs=5, seed=3, arrivals=arrivals)
    keep: dict[str, Any] = {"sigma": 0.5, "arrivals": arrivals}
    errors = {
        name: metrics.errors(simulate(samples, name, **keep), problem.true_means)[:, -1, 0].mean()
        for name in ("sharp", "local")
    }
    assert errors["sharp"] < errors["local"] / 4


@pytest.mark.parametrize("pattern", ["steady", "poisson"])
def test_unequal_rates_exclude_classmates_no_more_often_than_the_risk(pattern: str) -> None:
    """One class only: whoever is excluded is excluded falsely; the stated risk is δ/8 an agent."""
    n_agents, runs, delta = 12, 60, 0.9
    problem = Problem.gaussian([0.3], n_agents=n_agents, sigma=0.5)
    for bad, sigma in ((False, 0.5), (True, 0.2)):
        arrivals = Arrivals.between(0.1, 10.0, n_agents, seed=1, pattern=pattern)
        given_at = arrivals.draw(300, n_agents, runs=runs, seed=2)
        samples = problem.draw(300, runs=runs, seed=3, arrivals=given_at)
        trajectory = simulate(
            samples, "sharp", sigma=sigma, delta=delta, arrivals=given_at, record=Record(every=300)
        )
        assert trajectory.class_counts is not None
        n_false = int((trajectory.class_counts[:, -1, :, 0] < n_agents).sum())
        p_value = binomtest(n_false, runs * n_agents, delta / 8, "greater").pvalue
        assert (p_value < 1e-6) == bad


def test_members_that_move_leave_the_class_and_are_found_by_the_other() -> None:
    """Counted by cohort: those of class 0 that move to class 2, and everybody else."""
    problem = Problem.gaussian([0.0, 2.0, 4.0], class_sizes=[20, 20, 20], sigma=0.5).moving(
        0, 2, share=0.5, time=400
    )
    bound = Restarted(NormalMixture(0.5, 200), revisit=5)
    trajectory = simulate(problem.draw(1500), "sharp", bound=bound, labels=problem.cohorts)
    assert trajectory.class_counts is not None
    cohorts, moved = problem.cohorts, 3
    counts = trajectory.class_counts[0]
    stayed, others = cohorts == 0, cohorts == 2
    assert (counts[398][stayed][:, moved] == 10).all()  # together before,
    assert (counts[398][others][:, moved] == 0).all()
    assert (counts[-1][stayed][:, moved] == 0).all()  # apart after,
    assert (counts[-1][others][:, moved] == 10).all()  # and found again by the class they are in
    assert (counts[-1][cohorts == moved][:, 2] == 20).all()
    without = simulate(
        problem.draw(1500), "sharp", bound=NormalMixture(0.5, 200), labels=problem.cohorts
    )
    assert without.class_counts is not None
    assert (without.class_counts[0, -1][others][:, moved] == 0).all()  # so that this can fail


def test_members_that_go_and_come_back_are_found_again() -> None:
    problem = Problem.gaussian([0.0, 4.0], class_sizes=[20, 20], sigma=0.5)
    away = tuple(range(10))
    problem = problem.changing([Change(400, away, 4.0), Change(1000, away, 0.0)])
    bound = Restarted(NormalMixture(0.5, 200), revisit=5)
    trajectory = simulate(problem.draw(1800), "sharp", bound=bound, labels=problem.cohorts)
    assert trajectory.class_counts is not None
    counts, cohorts, moving = trajectory.class_counts[0], problem.cohorts, problem.cohorts[0]
    for step, at_home in ((399, True), (999, False), (1800, True)):
        assert (counts[step - 1][cohorts == 0][:, moving] == 10 * at_home).all()
        assert (counts[step - 1][cohorts == 1][:, moving] == 10 * (not at_home)).all()


def test_a_careful_agent_is_local_until_somebody_is_shown_and_pools_no_stranger() -> None:
    problem = Problem.gaussian([0.0, 0.5], class_sizes=[15, 15], sigma=0.3)
    samples = problem.draw(600, runs=4, seed=7)
    for test in ("overlap", "joint"):
        algorithm = Algorithm("restricted-round-robin", "simple", test)
        keep: dict[str, Any] = {"sigma": 0.3, "labels": problem.labels}
        careful = simulate(samples, algorithm, within=0.4, **keep)
        local, hopeful = simulate(samples, "local", **keep), simulate(samples, algorithm, **keep)
        error = {
            key: metrics.errors(one, problem.true_means).mean(axis=(0, 2))
            for key, one in (("careful", careful), ("local", local), ("hopeful", hopeful))
        }
        first = estimates_of(careful)[:, :20] - estimates_of(local)[:, :20]
        assert np.abs(first).max() < 1e-12
        assert error["careful"][40] < error["hopeful"][40] / 2  # strangers are pooled by others
        assert error["careful"][-1] < error["local"][-1] / 2  # and classmates in the end by all


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"arrivals": 0}, "arrivals must be at least 1; received 0"),
        ({"arrivals": 91}, "batches of 91 need as many samples; received 90"),
        ({"arrivals": -np.ones((9, 11), int)}, "received -1"),
        ({"arrivals": np.ones((9, 12), int)}, "12"),
        ({"arrivals": np.full((9, 11), 11)}, "99 samples of one agent; received 90"),
        ({"contacts": Contacts.everyone(12)}, "contacts are of 12 agents; the samples are of 11"),
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
        bound = usual_bound(ClassTest.OVERLAP, 0.3, 0.05 / (8 * n_met))
        given_bound = run(
            "restricted-round-robin", contacts=contacts, gossip=gossip, bound=bound, delta=0.05
        )
        same_bits(trajectory, given_bound)
