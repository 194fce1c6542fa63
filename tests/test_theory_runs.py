"""The theorems: what really happens, by chance and in the worst case."""

from typing import Any

import numpy as np
import pytest
from fleets import p_value
from numpy.typing import NDArray

from colme import Agent, Algorithm, Problem, Query, metrics, simulate, theory
from colme.theory import Situation

TESTS = ("overlap", "joint")

# Two classes of four and a class of one, sure to be separated within a few hundred steps.
CROWD = Problem.gaussian([0.0, 1.0, 2.5], class_sizes=[4, 4, 1], sigma=0.5)
RUNS, DELTA, EPSILON = 400, 0.2, 0.15


def joined(eta: float = 0.0) -> Algorithm:
    return Algorithm("restricted-round-robin", "simple", "joint", eta)


def violations(test: str, sigma: float, agent: int) -> tuple[int, int]:
    """Return in how many runs the agent breaks ζ and τ of the test, if σ is as claimed."""
    situation = Situation(CROWD.true_means, sigma, DELTA, class_test=test)
    zeta = theory.identification_times(situation)[agent]
    tau = theory.convergence_times(situation, EPSILON)[agent]
    samples = CROWD.draw(400, RUNS, seed=11)
    assert tau < 200
    algorithm = joined() if test == "joint" else "restricted-round-robin"
    trajectory = simulate(samples, algorithm, sigma=sigma, delta=DELTA, labels=CROWD.labels)
    identified = metrics.identification_times(trajectory)[:, agent]
    converged = metrics.convergence_times(trajectory, CROWD.true_means, EPSILON)[:, agent]
    return int((identified > zeta).sum()), int((converged > tau).sum())


@pytest.mark.parametrize("agent", [0, 5, 8])
@pytest.mark.parametrize("test", TESTS)
def test_theorems_1_2_and_j_hold(test: str, agent: int) -> None:
    wrong_class, wrong_mean = violations(test, 0.5, agent)
    assert p_value(wrong_class, DELTA / 8, RUNS) > 1e-4
    assert p_value(wrong_mean, DELTA / 4, RUNS) > 1e-4


@pytest.mark.parametrize("test", TESTS)
def test_a_sigma_understated_breaks_theorems_1_2_and_j(test: str) -> None:
    wrong_class, wrong_mean = violations(test, 0.5 / 6, agent=0)
    assert p_value(wrong_class, DELTA / 8, RUNS) < 1e-4
    assert p_value(wrong_mean, DELTA / 4, RUNS) < 1e-4


def n_pairs_that_leave(share: float) -> int:
    """Return how many of 4000 pairs ever differ from the truth by that share of the threshold.

    An agent hears of its peer when it likes what it sees itself: counts grow apart, by chance.
    """
    horizon, pairs, gap = 300, 4000, 0.7
    situation = Situation([0.0, gap], 1.0, 0.9, class_test="joint")
    rng = np.random.default_rng(5)
    own, peer = rng.normal([[[0.0]], [[gap]]], 1.0, (2, horizon, pairs))
    n_own = np.arange(1, horizon + 1)[:, None]
    own_mean, peer_mean = own.cumsum(0) / n_own, peer.cumsum(0) / n_own
    n_heard = np.maximum.accumulate(np.where(own > 1.0, n_own, 0), axis=0)
    heard_mean = np.take_along_axis(peer_mean, np.maximum(n_heard - 1, 0), axis=0)
    allowed = np.array(
        [
            [theory.threshold(situation, n_a, n_l) for n_l in range(n_a + 1)]
            + [0.0] * (horizon - n_a)
            for n_a in range(1, horizon + 1)
        ]
    )
    limits: NDArray[np.float64] = np.take_along_axis(allowed, n_heard, axis=1)
    off = np.abs(heard_mean - own_mean - gap)
    return int((off >= share * limits).any(axis=0).sum())


def test_lemma_j_holds_along_a_path_of_counts_chosen_by_looking() -> None:
    assert p_value(n_pairs_that_leave(1.0), 0.9 / 16, 4000) > 1e-4


def test_a_smaller_threshold_breaks_lemma_j() -> None:
    assert p_value(n_pairs_that_leave(0.65), 0.9 / 16, 4000) < 1e-4


@pytest.mark.parametrize("eta", [0.0, 0.125])
@pytest.mark.parametrize("labels", [[0] * 4 + [1] * 4, [0, 1] * 8, [0] + [1] * 8, [0, 0, 2, 1, 1]])
def test_the_worst_that_lemma_j_allows_is_separated_between_n_star_and_zeta(
    labels: list[int], eta: float
) -> None:
    # Means of classes 0 and 1 lean towards each other by half the threshold, at every count;
    # class 2 is far away from both, and dropped early.
    means = np.array([0.0, 0.75, -2.0])[labels]
    situation = Situation(means, 0.5, DELTA, eta, "joint")
    n_star, zeta = theory.needed_samples(situation), theory.identification_times(situation)
    counts = np.arange(1, zeta.max() + 10)
    lean = [theory.threshold(situation, n, n) / 2 * (1 - 1e-9) for n in counts.tolist()]
    running = means + np.outer(lean, np.where(means == 0.75, -1.0, 1.0))
    samples = np.diff(counts[:, None] * running, axis=0, prepend=0.0)
    trajectory = simulate(samples, joined(eta), sigma=0.5, delta=DELTA, labels=labels)
    identified = metrics.identification_times(trajectory)[0]
    assert (identified >= n_star)[np.array(labels) < 2].all()
    assert (identified < zeta).all()


def n_freshest(situation: Situation, labels: list[int], horizon: int) -> NDArray[np.float64]:
    """Return samples of its class that agent 0 holds at each time, in the worst that is allowed."""
    bound, names = situation.bound, [str(l) for l in range(len(labels))]
    toward = np.where(np.array(labels) > 0, -1.0, 1.0)
    fleet = {
        name: Agent(
            name,
            bound=bound,
            delta=DELTA,
            max_agents=len(names),
            algorithm=joined(),
            peers=names,
        )
        for name in names
    }
    before, held = np.zeros(len(labels)), []
    for t in range(1, horizon + 1):
        lean = theory.threshold(situation, t, t) / 2 * (1 - 1e-9)
        total = t * (situation.means + lean * toward)
        for sample, agent in zip(total - before, fleet.values(), strict=True):
            agent.perceive(sample)
        before = total
        peer = fleet["0"].choose_peer()
        if peer is not None:
            fleet["0"].receive(fleet[peer].answer(Query("0", peer)))
        replies = fleet["0"].snapshot().replies
        held.append(sum(r.count for r in replies if labels[int(r.sender)] == labels[0]))
    return np.array(held, np.float64)


def test_news_of_classmates_is_fresh_one_round_after_zeta_and_not_always_before() -> None:
    labels = [0] * 20 + [1] * 20
    situation = Situation(0.75 * np.array(labels), 0.5, DELTA, class_test="joint")
    zeta, size = int(theory.identification_times(situation)[0]), 20
    held = n_freshest(situation, labels, zeta + 60)
    times = np.arange(1, zeta + 61)
    short = times[held < size * times - size * (size - 1) / 2]
    assert zeta <= short[-1] < zeta + size - 1


def test_the_sharp_estimate_never_leaves_the_agents_own_interval() -> None:
    # A scale far too small, at which the model would often go further than that; and classes that
    # are known, as the test would rule out everybody at that scale.
    sigma, known = 0.02, Algorithm("restricted-round-robin", "model", "known")
    situation = Situation(CROWD.true_means, sigma, DELTA, class_test="overlap")
    samples = CROWD.draw(100, 5, seed=3)
    settings: dict[str, Any] = {"sigma": sigma, "delta": DELTA, "labels": CROWD.labels}
    estimates = simulate(samples, known, **settings).estimates
    assert estimates is not None
    counts = np.arange(1.0, 101.0)[:, np.newaxis]
    off = np.abs(estimates - samples.cumsum(axis=1) / counts) / situation.bound.radius(counts)
    assert off.max() == pytest.approx(1.0)
