"""Simulations in blocks: the same as those in one piece, whatever the blocks, to the bit."""

import tracemalloc
from typing import Any

import numpy as np
import pytest

import colme
from colme import Contacts, Gossip, Problem, simulate_large
from colme.algorithm import ALGORITHMS
from colme.bounds import (
    Betting,
    Bound,
    Discounted,
    EmpiricalBernstein,
    Laplace,
    Restarted,
    Windowed,
)
from colme.engine import Workspace
from colme.experiment.memory import free_memory
from colme.large import Cost
from colme.problem import Change
from colme.results import QUANTILES, Digest, n_classmates
from colme.summary import block_views

N = 60
HORIZON = 90
PROBLEM = Problem.gaussian([0.0, 1.0, 1.3], n_agents=N, sigma=0.5, seed=4)
FEW = Contacts.random(N, size=9, seed=2)
COMMON: dict[str, Any] = {"horizon": HORIZON, "seed": 7, "delta": 0.05, "epsilons": (0.3, 0.1)}


def arrays(digest: Digest) -> list[Any]:
    return [value for value in vars(digest).values() if isinstance(value, np.ndarray)]


def assert_same(one: Digest, other: Digest) -> None:
    assert len(arrays(one)) == len(arrays(other))
    for here, there in zip(arrays(one), arrays(other), strict=True):
        np.testing.assert_array_equal(here, there)


def in_one_piece(problem: Problem, name: str, runs: int = 1, **others: Any) -> colme.Trajectory:
    samples = problem.draw(HORIZON * int(others.get("arrivals", 1)), runs, seed=7)
    labels = problem.cohorts
    if "bound" not in others:
        others["sigma"] = problem.sigma
    return colme.simulate(samples, name, delta=0.05, labels=labels, **others)


@pytest.mark.parametrize("contacts", [None, FEW], ids=["everyone", "few"])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_blocks_are_what_simulate_does(name: str, contacts: Contacts | None) -> None:
    whole = in_one_piece(PROBLEM, name, runs=2, contacts=contacts)
    digest = simulate_large(PROBLEM, name, runs=2, contacts=contacts, block=17, **COMMON)
    assert whole.estimates is not None
    np.testing.assert_array_equal(digest.estimates, whole.estimates[:, -1])
    for e, epsilon in enumerate(digest.epsilons):
        times = colme.metrics.convergence_times(whole, PROBLEM.true_means, epsilon)
        np.testing.assert_array_equal(digest.convergence_times[:, e], times)
    errors = colme.metrics.errors(whole, PROBLEM.true_means)
    np.testing.assert_allclose(digest.mean_errors, errors.mean(axis=2), rtol=1e-12)
    quantiles = np.quantile(errors, QUANTILES, axis=2).transpose(1, 2, 0)
    np.testing.assert_allclose(digest.errors, quantiles, rtol=1e-12)
    np.testing.assert_allclose(digest.wrong_shares[..., 1], (errors > 0.1).mean(axis=2))
    true_counts = None if contacts is None else true_counts_of(contacts)
    assert digest.identification_times is not None
    times = colme.metrics.identification_times(whole, true_counts)
    np.testing.assert_array_equal(digest.identification_times, times)


def true_counts_of(contacts: Contacts) -> Any:
    labels = PROBLEM.labels
    counts = np.zeros((N, 3), int)
    for a in range(N):
        counts[a, labels[a]] = sum(labels[l] == labels[a] for l in contacts.known_by(a))
    return counts


@pytest.mark.parametrize("name", ["sharp", "restricted-round-robin", "soft-restricted-round-robin"])
def test_neither_blocks_nor_threads_change_a_bit(name: str) -> None:
    digests = [
        simulate_large(PROBLEM, name, contacts=FEW, block=block, threads=threads, **COMMON)
        for block, threads in ((HORIZON, 1), (1, 2), (13, 1), (64, 3))
    ]
    for digest in digests[1:]:
        assert_same(digests[0], digest)


def test_more_agents_than_one_spring_serves() -> None:
    problem = Problem.gaussian([0.0, 1.0], n_agents=9000, sigma=0.5)
    contacts = Contacts.random(9000, size=4)
    small: dict[str, Any] = {"horizon": 12, "contacts": contacts, "delta": 0.1}
    blocks = simulate_large(problem, "round-robin", block=5, **small)
    samples = problem.draw(12)
    record = colme.Record(class_counts=False)
    whole = colme.simulate(
        samples, "round-robin", sigma=0.5, delta=0.1, contacts=contacts, record=record
    )
    assert whole.estimates is not None
    np.testing.assert_array_equal(blocks.estimates, whole.estimates[:, -1])
    assert_same(blocks, simulate_large(problem, "round-robin", block=12, threads=1, **small))


def test_gossip_goes_on_from_block_to_block() -> None:
    gossip = Gossip(every=3, seed=5)
    whole = in_one_piece(PROBLEM, "sharp", runs=2, contacts=FEW, gossip=gossip)
    digest = simulate_large(
        PROBLEM, "sharp", runs=2, contacts=FEW, gossip=gossip, block=10, **COMMON
    )
    assert whole.estimates is not None
    np.testing.assert_array_equal(digest.estimates, whole.estimates[:, -1])
    assert digest.identification_times is None


def test_changes_are_held_against_the_mean_of_the_day() -> None:
    problem = PROBLEM.changing([Change(31, [0, 5, 9], 2.0), Change(50, [0], 0.0)])
    whole = in_one_piece(problem, "sharp", contacts=FEW)
    digest = simulate_large(problem, "sharp", contacts=FEW, block=20, **COMMON)
    means = problem.true_means_at(whole.times)
    assert whole.estimates is not None
    np.testing.assert_array_equal(digest.estimates, whole.estimates[:, -1])
    errors = colme.metrics.errors(whole, means)
    np.testing.assert_allclose(digest.mean_errors, errors.mean(axis=2), rtol=1e-12)
    times = colme.metrics.convergence_times(whole, means, 0.3)
    np.testing.assert_array_equal(digest.convergence_times[:, 0], times)


def test_batches_are_so_many_samples_a_step() -> None:
    whole = in_one_piece(PROBLEM, "sharp", contacts=FEW, arrivals=3)
    digest = simulate_large(PROBLEM, "sharp", contacts=FEW, batch=3, block=11, **COMMON)
    assert whole.estimates is not None
    np.testing.assert_allclose(digest.estimates, whole.estimates[:, -1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("block", [HORIZON, 13])
@pytest.mark.parametrize("bytes_drawn", [4 << 20, 3000])
def test_a_change_comes_at_its_step_whatever_the_batch(
    block: int, bytes_drawn: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block_views, "_BYTES_DRAWN", bytes_drawn)
    problem = PROBLEM.changing([Change(31, [0, 5, 9], 2.0), Change(50, [0], 0.0)])
    arrivals = np.full((HORIZON, N), 3)
    samples = problem.draw(HORIZON, seed=7, arrivals=arrivals)
    how: dict[str, Any] = {"sigma": 0.5, "delta": 0.05, "labels": problem.cohorts}
    whole = colme.simulate(samples, "sharp", contacts=FEW, arrivals=arrivals, **how)
    digest = simulate_large(problem, "sharp", contacts=FEW, batch=3, block=block, **COMMON)
    assert whole.estimates is not None
    np.testing.assert_allclose(digest.estimates, whole.estimates[:, -1], rtol=0, atol=1e-12)
    errors = colme.metrics.errors(whole, problem.true_means_at(whole.times))
    np.testing.assert_allclose(digest.mean_errors, errors.mean(axis=2), rtol=1e-9)


def test_batches_are_folded_as_they_are_drawn() -> None:
    problem = Problem.gaussian([0.0, 1.0], n_agents=500, sigma=0.5)
    how: dict[str, Any] = {"horizon": 100, "contacts": Contacts.random(500, 4), "threads": 1}
    simulate_large(problem, "local", batch=2, **how)  # compiles
    tracemalloc.start()
    simulate_large(problem, "local", batch=300, **how)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 30e6  # all samples together are 120 MB


@pytest.mark.parametrize(
    "bound",
    [
        Windowed(Laplace(0.5, 0.05), length=25),
        Discounted(Laplace(0.5, 0.05), factor=0.9),
        EmpiricalBernstein(-4.0, 5.0),
        Betting(-4.0, 5.0, n_grid=20),
    ],
    ids=lambda bound: type(bound).__name__,
)
def test_any_bound_is_followed_from_block_to_block(bound: Bound) -> None:
    for name in ("sharp", "restricted-round-robin"):
        whole = in_one_piece(PROBLEM, name, contacts=FEW, bound=bound)
        digest = simulate_large(PROBLEM, name, contacts=FEW, bound=bound, block=31, **COMMON)
        assert whole.estimates is not None
        np.testing.assert_allclose(digest.estimates, whole.estimates[:, -1], rtol=0, atol=1e-10)


def test_progress_rises_to_one() -> None:
    shares: list[float] = []
    simulate_large(PROBLEM, "local", runs=2, block=40, progress=shares.append, **COMMON)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert 0.0 < shares[0] < 0.5


def test_an_error_in_a_thread_is_told() -> None:
    noise = colme.noise.Custom(lambda _, __, horizon: np.zeros((horizon, 1)), 1.0)
    with pytest.raises(ValueError, match="the sampler must return"):
        simulate_large(Problem([0, 0], [0.0, 0.0], noise), horizon=3)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"horizon": 0}, "horizon must be"),
        ({"runs": 0}, "runs must be"),
        ({"block": 0}, "block must be"),
        ({"batch": 0}, "batch must be"),
        ({"threads": 0}, "threads must be at least 1"),
        ({"threads": 10**20}, "threads must be at most 1024"),
        ({"algorithm": "best"}, "unknown algorithm 'best'"),
        ({"contacts": Contacts.everyone(3)}, "contacts are of 3 agents; there are 60"),
        ({"gossip": Gossip()}, "gossip helps agents that know only some others"),
        ({"times": [5, 5]}, "times must list rising steps from 1 to 9"),
        ({"times": [10]}, "times must list rising steps from 1 to 9"),
        ({"times": np.array([5, 3], np.uint8)}, "times must list rising steps from 1 to 9"),
        ({"epsilons": (0.0,)}, "epsilon must be"),
        ({"bound": Restarted(Laplace(0.5, 0.05))}, "streams that restart are followed one by one"),
    ],
)
def test_bad_input_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        simulate_large(PROBLEM, **({"horizon": 9} | wrong))


def test_a_change_after_the_end_is_refused() -> None:
    with pytest.raises(ValueError, match="changes must lie within the 9 steps"):
        simulate_large(PROBLEM.changing([Change(10, [0], 2.0)]), horizon=9)


def test_mates_are_those_of_ones_label_among_ones_contacts() -> None:
    contacts = Contacts.of_lists([[1, 2], [], [0, 3], [1]])
    assert n_classmates(np.array([0, 0, 1, 1]), contacts).tolist() == [2, 1, 2, 1]
    assert n_classmates(np.array([0, 0, 1, 0]), None).tolist() == [3, 3, 1, 3]


def test_memory_grows_with_agents_and_peers_but_not_with_the_horizon() -> None:
    def taken(n_agents: int, k: int, horizon: int) -> int:
        return Cost(n_agents, k, horizon, n_classes=2, by_model=True).bytes_in_blocks

    million = 10**6
    longer = taken(million, 16, 10**6) - taken(million, 16, 10_000)
    assert longer == 64 * 990_000  # bytes for each step, and not for each agent and step
    assert taken(million, 16, 10_000) < 6e9
    assert taken(2 * million, 16, 1000) < 2.1 * taken(million, 16, 1000)
    assert taken(million, 64, 1000) - taken(million, 32, 1000) == pytest.approx(
        2 * (taken(million, 32, 1000) - taken(million, 16, 1000)), rel=0.01
    )


def test_one_block_is_taken_where_rows_would_cost_more() -> None:
    everyone = Cost(5000, 5000, horizon=3000)
    assert everyone.block == 3000
    assert everyone.bytes_in_blocks < 5000 * 3000 * 16 * 1.1
    assert Cost(100, 16, horizon=500).block == 500
    assert Cost(10**6, 16, horizon=10**5).block < 100


@pytest.mark.parametrize("n_classes", [1, 9])
@pytest.mark.parametrize("by_model", [False, True])
@pytest.mark.parametrize("longest", [1, 16, 17, 100, 1000])
def test_the_cost_of_a_row_is_what_the_workspace_keeps(
    longest: int, by_model: bool, n_classes: int
) -> None:
    cost = Cost(10, longest, 10, n_classes=n_classes, by_model=by_model)
    workspace = Workspace.blank(longest, n_classes, by_model)
    assert abs(cost.bytes_per_state - workspace.kept.nbytes) <= 0.05 * workspace.kept.nbytes + 128


def test_free_memory_is_known_here() -> None:
    free = free_memory()
    assert free is not None
    assert 10**7 < free < 10**14


def test_the_last_block_may_be_shorter_where_pieces_are_limited_by_what_they_write() -> None:
    problem = Problem.gaussian([0.0, 1.0], n_agents=9000, sigma=0.5)
    common: dict[str, Any] = {"horizon": 100, "contacts": Contacts.random(9000, 3), "delta": 0.1}
    blocks = simulate_large(problem, "restricted-round-robin", block=90, threads=1, **common)
    assert_same(blocks, simulate_large(problem, "restricted-round-robin", block=100, **common))
