"""Arrivals, contacts, gossip, noise, drift, caution: what each promises."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest
from variants import PRESETS, estimates_of, run

from colme import (
    Algorithm,
    Arrivals,
    Change,
    Contacts,
    Problem,
    Record,
    metrics,
    simulate,
)
from colme.bounds import (
    NormalMixture,
    Restarted,
)


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
