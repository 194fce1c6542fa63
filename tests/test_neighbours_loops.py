"""The loops on a graph, against formulas written once more, limit cases, and their guarantee."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from on_graphs import DELTA, SIGMA, Graphs, alive, estimates_of, one_class, two_classes
from scipy.stats import binomtest

from colme import Contacts
from colme.neighbours import METHODS, Method
from colme.neighbours.consensus import ConsensusState, run_consensus
from colme.neighbours.graph import Graph, find_reverse
from colme.neighbours.links import GraphSetting, limits_of, link_risk

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
    if name == "c-colme-published":  # it knows of every cut, which no device could
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
        _, graph, kept = estimates_of(problem, name, contacts, samples[:horizon])
        assert (kept == kept[graph.reverse]).all()


def crossings(n_pairs: int, delta: float, horizon: int) -> int:
    """Return how many of `n_pairs` links between equal means are cut, at risk δ/4 each."""
    problem = one_class(2 * n_pairs)
    pairs = Contacts.of_graph([(2 * k, 2 * k + 1) for k in range(n_pairs)], disconnected=True)
    graph, labels = Graph.of(pairs), problem.labels.astype(np.int64)
    # The risk of one link, not of all pairs together.
    limits = limits_of(Method("consensus"), SIGMA, delta, n_links=1, horizon=horizon)
    setting = GraphSetting.of(Method("consensus"), graph, limits, labels)
    state = ConsensusState.start(setting)
    samples, estimates = problem.draw_run(horizon, seed=9), np.empty((2 * n_pairs, horizon))
    run_consensus(setting, state, samples, 0, estimates)
    return int(np.count_nonzero(~alive(graph, state.uncut))) // 2


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
    n_links = Graph.of(Contacts.regular(n_agents, degree)).n_links
    assert n_links == n_agents * degree // 2
    published = link_risk(METHODS["c-colme-published"], 0.1, n_links)
    assert published == pytest.approx(0.1 / (4 * degree * n_agents), rel=1e-15)
    assert link_risk(METHODS["c-colme"], 0.1, n_links) == pytest.approx(2 * published, rel=1e-15)


def test_the_published_test_needs_two_samples_of_either() -> None:
    limits = limits_of(METHODS["b-colme-published"], 1.0, 0.1, 5, horizon=4)
    assert np.isinf(limits.cut).tolist() == [True, True, False, False, False]
    assert np.isinf(limits_of(METHODS["b-colme"], 1.0, 0.1, 5, 4).cut).tolist()[:2] == [True, False]


def test_every_link_finds_its_other_direction() -> None:
    for contacts in (Contacts.binomial(50, 0.1, seed=1), Contacts.everyone(7), Contacts.tree(9, 2)):
        graph = Graph.of(contacts)
        assert (graph.peers[graph.reverse] == graph.owners).all()
        assert (graph.owners[graph.reverse] == graph.peers).all()
        assert (graph.peers != graph.owners).all()
        reverse = np.empty_like(graph.reverse)
        start = graph.starts[:-1].copy()
        assert find_reverse.function(graph.starts, graph.peers, start, reverse) == -1
        assert (reverse == graph.reverse).all()
