"""Experiments of the paper as data, and what is measured of them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import colme
from colme import metrics
from colme.algorithm import Algorithm
from colme.experiment import Experiment, ProblemSpec
from colme.paper import EXPERIMENTS, PUBLISHED, measure
from colme.paper.eta_classes import class_means, eta_classes, known_class_estimates
from colme.paper.experiments import ALGORITHMS, EXTRA_ALGORITHMS, GAPS, at_gap, parts
from colme.paper.measure import CurveOverRuns
from colme.theory import Situation, class_sizes, identification_times

SMALL = Experiment(
    problem=ProblemSpec(class_means=(0.0, 0.5, 1.5), class_sizes=(3, 4, 5), sigma=0.2),
    algorithms=ALGORITHMS,
    horizon=120,
    runs=3,
    epsilons=(0.1, 0.05),
    seed=4,
)
CLUSTERS = ProblemSpec(class_means=(0.0, 1.0), class_sizes=(4, 3), bias=0.04, sigma=0.2)


def test_the_paper_is_run_with_its_own_parameters() -> None:
    paper = EXPERIMENTS["three-class"]
    problem = paper.problem.build()
    assert (problem.n_agents, problem.sigma, paper.delta) == (200, 0.5, 0.001)
    assert (paper.horizon, paper.runs, paper.epsilons) == (2500, 20, (0.1, 0.01))
    assert paper.problem.class_means == (0.2, 0.4, 0.8)
    assert EXPERIMENTS["two-class"].problem.class_means == (0.2, 0.8)
    assert EXPERIMENTS["local-long"].horizon == 30_000
    assert EXPERIMENTS["local-long"].problem == paper.problem


def test_classes_are_balanced_by_the_first_seed_that_balances_them() -> None:
    problem = EXPERIMENTS["three-class"].problem

    def off(seed: int) -> float:
        sizes = problem.model_copy(update={"seed": seed}).build().class_sizes
        return float(np.abs(sizes / (200 / 3) - 1).max())

    assert off(problem.seed) <= 0.1
    assert all(off(seed) > 0.1 for seed in range(problem.seed))


def test_the_long_experiment_goes_on_with_the_same_streams() -> None:
    short, long = EXPERIMENTS["three-class"], EXPERIMENTS["local-long"]
    problem = short.problem.build()
    few = problem.draw_run(10, run=1, seed=short.seed)
    many = long.problem.build().draw_run(30, run=1, seed=long.seed)
    assert (few == many[:10]).all()


def test_parts_take_runs_and_seed_and_refuse_bad_ones() -> None:
    (one,) = parts("three-class", runs=7, seed=9)
    assert (one.runs, one.seed) == (7, 9)
    assert [part.problem.class_means[1] for part in parts("gap-sweep", runs=1, seed=0)] == list(
        GAPS
    )
    with pytest.raises(ValueError, match=r"runs: .*received 0"):
        parts("three-class", runs=0, seed=0)
    with pytest.raises(ValueError, match="unknown experiment 'four-class'; known: three-class"):
        parts("four-class", runs=1, seed=0)


def test_a_swept_experiment_outlasts_theory() -> None:
    swept = at_gap(EXPERIMENTS["gap-sweep"], 0.3)
    problem = swept.problem.build()
    zeta = identification_times(Situation(problem.true_means, problem.sigma, swept.delta))
    assert swept.horizon >= 1.25 * zeta.max()


def test_published_tables_have_the_layout_of_the_paper() -> None:
    cells = PUBLISHED["convergence_time"]
    assert list(cells) == ["all", "0.2", "0.4", "0.8"]
    for rows in cells.values():
        theory = {"theory_restricted_tau", "theory_local_tau"}
        assert set(rows) == (set(ALGORITHMS) - set(EXTRA_ALGORITHMS)) | theory
        assert all(set(row) == {"0.1", "0.01"} for row in rows.values())
    assert PUBLISHED["class_estimation_time"]["theory_restricted_zeta"]["0.8"] == 1085


def test_measured_times_are_those_of_whole_trajectories() -> None:
    problem = SMALL.problem.build()
    result = measure(SMALL, threads=1)
    for trajectory in SMALL.run():
        measured = result.measured[trajectory.name]
        for epsilon in SMALL.epsilons:
            whole = metrics.convergence_times(trajectory, problem.true_means, epsilon)
            assert (measured.convergence[f"{epsilon:g}"] == whole).all()
        if measured.identification is not None:
            assert (measured.identification == metrics.identification_times(trajectory)).all()


def test_measured_curves_are_the_published_aggregation() -> None:
    problem = SMALL.problem.build()
    result = measure(SMALL)
    for trajectory in SMALL.run():
        whole = metrics.curve(metrics.errors(trajectory, problem.true_means))
        band = result.measured[trajectory.name].curves["error"].over()
        assert band.mean == pytest.approx(whole.mean[result.times - 1])
        assert band.std == pytest.approx(whole.std[result.times - 1])


def test_curves_of_some_agents_average_only_those() -> None:
    values = np.random.default_rng(0).random((4, 6, 5))
    curve = CurveOverRuns()
    for run in values:
        curve.fold(run)
    some = np.array([True, False, True, False, False])
    expected = metrics.curve(values[:, :, some])
    assert curve.over(some).mean == pytest.approx(expected.mean)
    assert curve.over(some).std == pytest.approx(expected.std)


def test_likely_classes_are_followed_on_demand_and_kept_apart() -> None:
    keep = colme.Record(likely_counts=True)
    only = SMALL.model_copy(update={"algorithms": ("sharp", "restricted-round-robin")})
    result = measure(only, likely=True)
    (whole,) = SMALL.model_copy(update={"algorithms": ("sharp",)}).run(record=keep)
    sharp = result.measured["sharp"]
    assert sharp.likely is not None
    assert (sharp.likely == metrics.likely_identification_times(whole)).all()
    assert sharp.identification is not None
    assert (sharp.identification == metrics.identification_times(whole)).all()
    assert (sharp.likely != sharp.identification).any()
    assert result.measured["restricted-round-robin"].likely is None
    assert measure(only).measured["sharp"].likely is None


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads_do_not_show(threads: int) -> None:
    one, many = measure(SMALL, threads=1), measure(SMALL, threads=threads)
    for name in SMALL.algorithms:
        first, second = one.measured[name], many.measured[name]
        assert (first.convergence["0.05"] == second.convergence["0.05"]).all()
        assert (first.curves["error"].over().std == second.curves["error"].over().std).all()


def test_progress_ends_at_one() -> None:
    seen: list[float] = []
    measure(SMALL, progress=seen.append)
    assert seen == [1 / 3, 2 / 3, 1.0]


def test_separated_clusters_are_their_eta_classes() -> None:
    problem = CLUSTERS.build()
    members = eta_classes(problem.true_means, eta=0.08)
    assert (members == (problem.labels[:, None] == problem.labels)).all()
    expected = [problem.true_means[problem.labels == k].mean() for k in problem.labels]
    assert class_means(problem.true_means, members) == pytest.approx(expected)


def test_sizes_of_overlapping_classes_are_those_of_theory() -> None:
    experiment = EXPERIMENTS["imperfect-overlapping"]
    assert experiment.eta is not None
    problem = experiment.problem.build()
    members = eta_classes(problem.true_means, experiment.eta)
    situation = Situation(problem.true_means, problem.sigma, experiment.delta, experiment.eta)
    assert (members.sum(axis=1) == class_sizes(situation)).all()
    assert sorted(set(members.sum(axis=1))) == [20, 30]
    overlaps = (members[:, None] & members).any(axis=-1) & (members[:, None] != members).any(-1)
    assert overlaps.any()


def test_the_eta_oracle_is_the_known_class_algorithm_where_classes_are_separated() -> None:
    problem = CLUSTERS.build()
    samples = problem.draw(horizon=60, seed=2)
    known = Algorithm("restricted-round-robin", "class-uniform", "known")
    exact = colme.simulate(samples, known, sigma=0.2, labels=problem.labels).estimates
    local = colme.simulate(samples, "local", sigma=0.2).estimates
    assert local is not None
    ours = known_class_estimates(local[0], eta_classes(problem.true_means, eta=0.08))
    assert exact is not None
    assert ours == pytest.approx(exact[0], abs=1e-12)


def test_an_agent_alone_in_its_class_is_its_own_oracle() -> None:
    local: NDArray[np.float64] = np.random.default_rng(1).random((5, 2))
    assert (known_class_estimates(local, np.eye(2, dtype=bool)) == local).all()


def test_imperfect_classes_are_measured_against_the_class_mean() -> None:
    clusters = Experiment(
        problem=CLUSTERS,
        algorithms=("eta-restricted-round-robin", "local"),
        horizon=400,
        runs=10,
        eta=0.08,
        epsilons=(0.05,),
    )
    result = measure(clusters)
    ours = result.measured["eta-restricted-round-robin"]
    assert ours.identification is not None
    assert (ours.identification <= identification_times(result.situation)).all()
    final = {name: one.curves["error"].over().mean[-1] for name, one in result.measured.items()}
    # Once the class is known both average the same members, whose means change by less than
    # 0.2 / 400 per step; only who was asked last differs.
    assert final["eta-restricted-round-robin"] == pytest.approx(final["oracle"], abs=0.0005)
    assert final["local"] > final["oracle"]
    # Averages over 70 agents and runs; by other seeds 7 to 10, 10 to 13 and 39 to 53.
    times = {name: one.convergence["0.05"].mean() for name, one in result.measured.items()}
    assert times["oracle"] < times["eta-restricted-round-robin"] < times["local"] / 2
