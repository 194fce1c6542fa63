"""Collaboration on a graph, against formulas written once more, limits, and its guarantee."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from on_graphs import Graphs
from scipy.stats import binomtest

from colme import Change, Contacts, Problem
from colme.digest import Digest
from colme.neighbours import METHODS, Method, simulate_neighbours
from colme.neighbours import simulate as front
from colme.neighbours.consensus import Agreeing, Manner, agree
from colme.neighbours.graph import Graph, find_reverse, graph_of
from colme.neighbours.limits import limits_of, link_risk
from colme.neighbours.method import method_of
from colme.neighbours.passing import Passing, pass_on
from colme.noise import Gaussian

Array = NDArray[np.float64]

SIGMA, DELTA = 0.5, 0.5
COMPOSED = {
    f"{sharing} {test} {links} {weights} {reset}": Method(
        sharing, test, links, hops=3, weights=weights, reset=reset
    )
    for sharing, test, links in itertools.product(
        ("messages", "consensus"), ("paired", "overlap-published"), ("uncut", "likely")
    )
    for weights, reset in itertools.product(
        ("metropolis", "laplacian") if sharing == "consensus" else ("metropolis",),
        ("max-consensus", "global-published", "fading")
        if sharing == "consensus"
        else ("max-consensus",),
    )
}
ALL = {**METHODS, **COMPOSED}


def two_classes(n_agents: int, gap: float = 1.0) -> Problem:
    return Problem.gaussian([0.0, gap], n_agents, sigma=SIGMA, seed=4)


def one_class(n_agents: int) -> Problem:
    return Problem.gaussian([0.3], n_agents, sigma=SIGMA)


def estimates_of(
    problem: Problem, method: str | Method, contacts: Contacts, samples: Array, plain: bool = False
) -> tuple[Array, Graph, NDArray[np.bool_]]:
    """Return estimates[time, agent] of given samples, the graph, and which links are alive."""
    chosen, graph, labels = method_of(method), graph_of(contacts), problem.labels.astype(np.int64)
    limits = limits_of(chosen, SIGMA, DELTA, graph.n_links, len(samples))
    estimates = np.empty(samples.T.shape)
    if chosen.sharing.word == "messages":
        passing = Passing.start(graph, labels.size, chosen.hops)
        work: Any = pass_on.function if plain else pass_on
        work(graph, limits, chosen.is_one_sided, passing, labels, samples, 0, estimates)
        return estimates.T, graph, passing.uncut.alive(graph)
    state = Agreeing.start(graph, labels)
    manner = Manner.of(chosen, graph.largest_degree)
    loop: Any = agree.function if plain else agree
    loop(graph, limits, manner, state, labels, samples, 0, estimates)
    return estimates.T, graph, state.uncut.alive(graph)


@pytest.mark.parametrize("name", ALL)
def test_a_fleet_does_what_the_formulas_say(name: str) -> None:
    problem, contacts = two_classes(14), Contacts.regular(14, 4, seed=3)
    samples = problem.draw_run(90, seed=2)
    links = [set(contacts.known_by(a).tolist()) - {a} for a in range(14)]
    literal = Graphs(links, problem.labels, ALL[name], SIGMA, DELTA)
    expected = literal.run(samples)
    estimates, graph, alive = estimates_of(problem, ALL[name], contacts, samples)
    np.testing.assert_allclose(estimates, expected, rtol=1e-12, atol=1e-12)
    kept = [
        {graph.peers[e] for e in range(*graph.starts[a : a + 2]) if alive[e]} for a in range(14)
    ]
    assert kept == literal.links
    assert 10 < np.count_nonzero(~alive) < alive.size
    assert (literal.n_one_sided > 0) == ALL[name].is_one_sided


@pytest.mark.parametrize("name", METHODS)
def test_compiled_and_plain_loops_agree(name: str) -> None:
    problem, contacts = two_classes(10), Contacts.binomial(10, 0.4, seed=1)
    samples = problem.draw_run(60, seed=5)
    compiled, plain = (
        estimates_of(problem, name, contacts, samples, plain=plain)[0] for plain in (False, True)
    )
    np.testing.assert_allclose(compiled, plain, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", METHODS)
def test_the_front_door_gives_what_the_loop_does(name: str) -> None:
    problem, contacts = two_classes(14), Contacts.regular(14, 4, seed=3)
    digest = simulate_neighbours(
        problem, name, contacts, horizon=50, runs=2, seed=6, delta=DELTA, times=[1, 50]
    )
    for run in range(2):
        samples = problem.draw_run(50, run, seed=6)
        estimates, _, _ = estimates_of(problem, name, contacts, samples)
        assert (digest.estimates[run] == estimates[-1]).all()
        errors = np.abs(estimates - problem.true_means)
        np.testing.assert_allclose(digest.mean_errors[run], errors[[0, -1]].mean(axis=1))
    assert digest.name == name


@pytest.mark.parametrize("name", METHODS)
def test_who_has_no_neighbours_has_its_local_mean(name: str) -> None:
    problem, alone = two_classes(3), Contacts.of_lists([[]] * 3)
    samples = problem.draw_run(40, seed=1)
    estimates, _, _ = estimates_of(problem, name, alone, samples)
    counts = np.arange(1, 41)[:, np.newaxis]
    means = samples.cumsum(axis=0) / counts
    if name == "c-colme-published":  # the mean of all its means so far
        means = means.cumsum(axis=0) / counts
    np.testing.assert_allclose(estimates, means, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", METHODS)
def test_one_class_comes_close_to_the_mean_of_all(name: str) -> None:
    problem, contacts = one_class(60), Contacts.regular(60, 6, seed=2)
    samples = problem.draw_run(800, seed=1)
    estimates, _, _ = estimates_of(problem, name, contacts, samples)
    all_samples, local = samples.mean(), samples.mean(axis=0)
    # Links that merely look unlike now cost a share of the way.
    share = 0.35 if METHODS[name].links.word == "likely" else 0.12
    assert np.abs(estimates[-1] - all_samples).mean() < share * np.abs(local - all_samples).mean()


@pytest.mark.parametrize("name", METHODS)
def test_parts_without_a_path_never_hear_of_each_other(name: str) -> None:
    problem = two_classes(12)
    part = Contacts.regular(6, 3, seed=1)
    edges = [(a, b) for a in range(6) for b in part.known_by(a).tolist()]
    edges += [(a + 6, b + 6) for a, b in edges]
    contacts = Contacts.of_graph(edges, disconnected=True)
    samples = problem.draw_run(70, seed=3)
    other = samples.copy()
    other[:, 6:] = 0.3 + problem.draw_run(70, seed=4)[:, 6:]
    here, there = (estimates_of(problem, name, contacts, each)[0] for each in (samples, other))
    if METHODS[name].needs_truth:  # told of every cut: what no device could know
        assert (here[:, :6] != there[:, :6]).any()
    else:
        assert (here[:, :6] == there[:, :6]).all()
    assert (here[1:, 6:] != there[1:, 6:]).all()


@pytest.mark.parametrize("weights", ["metropolis", "laplacian"])
@pytest.mark.parametrize("links", ["uncut", "likely"])
def test_weights_of_both_ends_agree_even_while_links_are_cut(weights: str, links: str) -> None:
    """Then neighbours only exchange: the sum of all values follows from local means alone."""
    problem, contacts = two_classes(40), Contacts.binomial(40, 0.2, seed=1)
    samples = problem.draw_run(150, seed=1)
    counts = np.arange(1, 151)[:, np.newaxis]
    means = (samples.cumsum(axis=0) / counts).sum(axis=1)

    def worst(test: str) -> float:
        method = Method("consensus", test, links, weights=weights, reset="fading")
        estimates, _, alive = estimates_of(problem, method, contacts, samples)
        assert not alive.all()
        sums = estimates.sum(axis=1)
        alphas = [t / 16 / (1 + t / 16) for t in range(150)]
        left = [
            sums[t] - (1 - alphas[t]) * means[t] - alphas[t] * sums[t - 1] for t in range(1, 150)
        ]
        return float(np.abs(left).max())

    assert worst("paired") < 1e-12
    assert worst("overlap-published") > 1e-6  # each end decides alone


@pytest.mark.parametrize("name", [name for name in METHODS if not METHODS[name].is_one_sided])
def test_both_ends_cut_a_link_in_the_same_step(name: str) -> None:
    problem, contacts = two_classes(30), Contacts.regular(30, 5, seed=1)
    samples = problem.draw_run(60, seed=1)
    for horizon in range(20, 60, 3):
        _, graph, alive = estimates_of(problem, name, contacts, samples[:horizon])
        assert (alive == alive[graph.reverse]).all()


def crossings(n_pairs: int, delta: float, horizon: int) -> int:
    """Return how many of so many links between equal means are cut, at risk δ/4 each."""
    problem = one_class(2 * n_pairs)
    pairs = Contacts.of_graph([(2 * k, 2 * k + 1) for k in range(n_pairs)], disconnected=True)
    graph, method = graph_of(pairs), Method("consensus")
    state, labels = Agreeing.start(graph, problem.labels), problem.labels.astype(np.int64)
    limits = limits_of(method, SIGMA, delta, n_links=1, horizon=horizon)
    samples, estimates = problem.draw_run(horizon, seed=9), np.empty((2 * n_pairs, horizon))
    agree(graph, limits, Manner.of(method, 1), state, labels, samples, 0, estimates)
    return int(np.count_nonzero(~state.uncut.alive(graph))) // 2


@pytest.mark.parametrize("delta", [0.9, 0.2])
def test_links_between_equal_means_are_cut_as_seldom_as_promised(delta: float) -> None:
    n_pairs = 2000
    n_cut = crossings(n_pairs, delta, horizon=1500)
    gamma = link_risk(Method("consensus"), delta, 1)
    assert gamma == pytest.approx(delta / 4)
    assert binomtest(n_cut, n_pairs, gamma, alternative="greater").pvalue > 1e-3
    assert n_cut > 0.2 * gamma * n_pairs  # nor is anything given away


def test_whole_fleets_keep_their_links_as_promised() -> None:
    problem, contacts = one_class(30), Contacts.regular(30, 4, seed=1)
    failed = 0
    for run in range(200):
        _, _, alive = estimates_of(problem, "c-colme", contacts, problem.draw_run(200, run, 3))
        failed += not alive.all()
    assert binomtest(failed, 200, DELTA / 4, alternative="greater").pvalue > 1e-3


def test_the_published_risk_counts_both_directions() -> None:
    n_agents, degree = 10_000, 10
    n_links = graph_of(Contacts.regular(n_agents, degree)).n_links
    assert n_links == n_agents * degree // 2
    published = link_risk(METHODS["c-colme-published"], 0.1, n_links)
    assert published == pytest.approx(0.1 / (4 * degree * n_agents), rel=1e-15)
    assert link_risk(METHODS["c-colme"], 0.1, n_links) == pytest.approx(2 * published, rel=1e-15)


def test_the_published_test_needs_two_samples_of_either() -> None:
    limits = limits_of(METHODS["b-colme-published"], 1.0, 0.1, 5, horizon=4)
    assert np.isinf(limits.cut).tolist() == [True, True, False, False, False]
    assert np.isinf(limits_of(METHODS["b-colme"], 1.0, 0.1, 5, 4).cut).tolist()[:2] == [True, False]


def same(one: Digest, other: Digest) -> bool:
    arrays = ("estimates", "errors", "mean_errors", "wrong_shares", "convergence_times")
    return all((getattr(one, name) == getattr(other, name)).all() for name in arrays)


@pytest.mark.parametrize("name", METHODS)
def test_neither_blocks_nor_threads_change_a_bit(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, contacts = two_classes(20), Contacts.regular(20, 4)

    def run(threads: int, runs: int = 3) -> Digest:
        return simulate_neighbours(
            problem, name, contacts, horizon=61, runs=runs, delta=DELTA, threads=threads
        )

    whole = run(1)
    assert same(whole, run(2))
    assert (run(1, runs=1).estimates[0] == whole.estimates[0]).all()
    for size in (1, 700, 2500):
        monkeypatch.setattr(front, "_LINKS_PER_BLOCK", size)
        assert same(whole, run(3))


def test_progress_rises_to_the_end_and_errors_come_through() -> None:
    problem, contacts = two_classes(20), Contacts.regular(20, 4)
    told: list[float] = []
    simulate_neighbours(problem, "c-colme", contacts, horizon=30, runs=3, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0

    def stop(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate_neighbours(problem, "c-colme", contacts, horizon=30, runs=3, progress=stop)


class Broken(Gaussian):
    """A sensor that fails after a while."""

    def fill(self, *_: object) -> None:
        raise OSError("no sensor")


def test_what_fails_in_a_thread_is_raised() -> None:
    problem, contacts = two_classes(20), Contacts.regular(20, 4)
    with pytest.raises(ValueError, match="times must list rising steps"):
        simulate_neighbours(problem, "c-colme", contacts, horizon=5, times=[9])
    broken = Problem(problem.labels, problem.true_means, Broken(SIGMA))
    with pytest.raises(OSError, match="no sensor"):
        simulate_neighbours(broken, "c-colme", contacts, horizon=5, runs=3)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"method": "d-colme"}, "unknown method 'd-colme'; known: b-colme, c-colme, cl-colme"),
        ({"method": 3}, "a method is a name or a colme.neighbours.Method; received 3"),
        ({"contacts": Contacts.everyone(9)}, "of the 6 agents of the problem; received 9"),
        (
            {"contacts": Contacts.of_lists([[1], [], [], [], [], []])},
            "agent 0 knows agent 1, which does not know agent 0: use Contacts.regular",
        ),
        (
            {"contacts": Contacts.of_lists([[], [0], [], [], [], []])},
            "agent 1 knows agent 0, which does not know agent 1: use Contacts.regular",
        ),
        ({"horizon": 0}, "horizon must be at least 1; received 0"),
        ({"runs": 0}, "runs must be at least 1; received 0"),
        ({"seed": -1}, "seed must be 0 or greater; received -1"),
        ({"threads": 0}, "threads must be at least 1; received 0"),
        ({"delta": 1.0}, "delta is a probability of failure in (0, 1); received 1"),
        ({"sigma": 0.0}, "sigma must be greater than 0; received 0"),
        ({"epsilons": (0.0,)}, "epsilon must be greater than 0; received 0"),
        (
            {"problem": two_classes(6).changing([Change(2, [0], 0.5)])},
            "true means must not change; received a problem with 1 changes",
        ),
    ],
)
def test_bad_input_is_refused(changes: dict[str, Any], words: str) -> None:
    settings: dict[str, Any] = {
        "problem": two_classes(6),
        "method": "c-colme",
        "contacts": Contacts.everyone(6),
        "horizon": 4,
    }
    with pytest.raises(ValueError, match=re.escape(words)):
        simulate_neighbours(**settings | changes)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"sharing": "gossip"}, "Sharing must be one of messages, consensus; received 'gossip'"),
        ({"test": "joint"}, "LinkTest must be one of paired, overlap-published; received 'joint'"),
        ({"links": "all"}, "Links must be one of uncut, likely; received 'all'"),
        ({"weights": 7}, "Weights must be one of metropolis, laplacian; received 7"),
        ({"reset": "never"}, "Reset must be one of max-consensus, global-published, fading"),
        ({"hops": 0}, "hops must be at least 1; received 0"),
    ],
)
def test_a_method_of_unknown_words_is_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        Method(**{"sharing": "consensus"} | settings)


def test_a_method_composed_like_a_preset_is_named_like_it() -> None:
    problem, contacts = two_classes(6), Contacts.everyone(6)
    names = {
        simulate_neighbours(problem, method, contacts, horizon=2).name
        for method in (METHODS["cl-colme"], Method("messages", links="likely"))
    }
    assert names == {"cl-colme", "messages paired likely"}


def test_every_link_finds_its_other_direction() -> None:
    for contacts in (Contacts.binomial(50, 0.1, seed=1), Contacts.everyone(7), Contacts.tree(9, 2)):
        graph = graph_of(contacts)
        assert (graph.peers[graph.reverse] == graph.owners).all()
        assert (graph.owners[graph.reverse] == graph.peers).all()
        assert (graph.peers != graph.owners).all()
        reverse = np.empty_like(graph.reverse)
        start = graph.starts[:-1].copy()
        assert find_reverse.function(graph.starts, graph.peers, start, reverse) == -1
        assert (reverse == graph.reverse).all()


def test_devices_find_the_classes_sooner_than_published() -> None:
    """The published problem, ten times smaller."""
    problem = Problem.gaussian([0.0, 1.0], 1000, sigma=2.0, seed=1)
    contacts = Contacts.regular(1000, 10, seed=1)
    times = [150, 300, 600, 800]
    wrong = {
        name: simulate_neighbours(
            problem, name, contacts, horizon=800, delta=0.1, times=times, runs=2
        )
        .wrong_shares[:, :, 0]
        .mean(axis=0)
        for name in METHODS
    }
    local = (
        simulate_neighbours(
            problem, "c-colme", Contacts.of_lists([[]] * 1000), horizon=800, times=times, runs=2
        )
        .wrong_shares[:, :, 0]
        .mean(axis=0)
    )
    for name in ("b-colme", "c-colme", "cl-colme"):
        assert wrong[name][2] <= 0.02
    assert wrong["b-colme-published"][2] > 0.9
    assert wrong["c-colme-published"][2] > 0.2
    assert (wrong["c-colme-likely"] < local).all()
    assert wrong["c-colme-likely"][1] <= 0.02
