"""Contacts drawn at random: their sizes, and that every choice is equally likely."""

import collections
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chisquare

from colme import Contacts


def rows(contacts: Contacts) -> list[list[int]]:
    return [contacts.known_by(a).tolist() for a in range(contacts.n_agents)]


@given(st.integers(1, 15), st.integers(0, 99), st.data())
def test_at_random_each_agent_knows_as_many_as_asked(n: int, seed: int, data: Any) -> None:
    size = data.draw(st.integers(1, n))
    contacts = Contacts.random(n, size, seed)
    assert contacts.names.dtype == contacts.starts.dtype == np.int64
    assert (contacts.n_agents, contacts.size) == (n, size)
    for a, row in enumerate(rows(contacts)):
        assert a in row
        assert row == sorted(set(row))
        assert len(row) == size
    assert rows(Contacts.random(n, size, seed)) == rows(contacts)


def test_at_random_everybody_is_known_as_often() -> None:
    contacts = Contacts.random(50, 11, seed=1)
    assert rows(contacts) != rows(Contacts.random(50, 11, seed=2))
    others = np.concatenate([Contacts.random(50, 11, seed=seed).names for seed in range(20)])
    assert chisquare(np.bincount(others)).pvalue > 1e-3


def test_at_random_every_choice_of_others_is_as_likely() -> None:
    """Of 5 others, 3 are more than half: those left out are drawn."""
    for size in (3, 4):
        chosen = collections.Counter(
            tuple(row) for seed in range(500) for row in rows(Contacts.random(6, size, seed))[:1]
        )
        assert len(chosen) == 10
        assert chisquare(list(chosen.values())).pvalue > 1e-3


@given(st.integers(2, 16), st.integers(0, 99), st.data())
def test_every_agent_of_a_regular_graph_has_as_many_neighbours(
    n: int, seed: int, data: Any
) -> None:
    degree = data.draw(st.integers(1, n - 1).filter(lambda r: n * r % 2 == 0))
    contacts = Contacts.regular(n, degree, seed)
    assert [len(row) for row in rows(contacts)] == [degree + 1] * n  # itself once, no edge twice
    assert all(a in rows(contacts)[b] for a, row in enumerate(rows(contacts)) for b in row)
    assert rows(Contacts.regular(n, degree, seed)) == rows(contacts)


def test_every_edge_of_a_regular_graph_is_as_likely() -> None:
    for degree in (2, 3, 5):
        met = np.zeros((8, 8))
        for seed in range(400):
            for a, row in enumerate(rows(Contacts.regular(8, degree, seed))):
                met[a, row] += 1
        assert chisquare(met[np.triu_indices(8, 1)]).pvalue > 1e-3


def test_regular_graphs_of_four_agents_come_equally_often() -> None:
    """Degree 2: the three rings."""
    found = collections.Counter(str(rows(Contacts.regular(4, 2, seed))) for seed in range(600))
    assert len(found) == 3
    assert chisquare(list(found.values())).pvalue > 1e-3


def test_a_large_regular_graph_is_one_part_and_has_no_loop() -> None:
    contacts = Contacts.regular(20_000, 16, seed=1)
    assert (np.diff(contacts.starts) == 17).all()
    assert contacts.components() == 1
    assert (contacts.names != Contacts.regular(20_000, 16, seed=2).names).any()


@pytest.mark.parametrize(
    ("n", "degree", "message"),
    [
        (5, 3, "received degree=3 for 5 agents: add or drop an agent, or change degree"),
        (4, 4, "degree must be below n_agents, and one of the two even"),
        (4, 0, "degree must be at least 1; received 0"),
        (0, 2, "n_agents must be at least 1; received 0"),
    ],
)
def test_impossible_regular_graphs_are_refused(n: int, degree: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Contacts.regular(n, degree)


@pytest.mark.parametrize(("n", "p"), [(300, 0.02), (41, 0.5), (40, 0.9)])
def test_edges_of_a_binomial_graph_are_there_with_their_probability(n: int, p: float) -> None:
    n_pairs = n * (n - 1) // 2
    contacts = [Contacts.binomial(n, p, seed) for seed in range(20)]
    n_edges = sum((each.names.size - n) // 2 for each in contacts)
    assert binomtest(n_edges, 20 * n_pairs, p).pvalue > 1e-3
    known = np.bincount(np.concatenate([each.names for each in contacts]))
    assert chisquare(known).pvalue > 1e-3
    assert rows(contacts[3]) == rows(Contacts.binomial(n, p, 3))


def test_binomial_graphs_of_no_edges_and_of_all() -> None:
    assert rows(Contacts.binomial(5, 0.0)) == [[a] for a in range(5)]
    for n in (1, 2, 5, 6):
        assert Contacts.binomial(n, 1.0).is_everyone
    with pytest.raises(ValueError, match=r"p is a share in \[0, 1\]; received 2"):
        Contacts.binomial(5, 2.0)


@given(st.integers(1, 40), st.integers(1, 5), st.integers(0, 9))
def test_a_tree_is_a_tree(n: int, branching: int, seed: int) -> None:
    contacts = Contacts.tree(n, branching, seed)
    graph: Any = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from((a, b) for a, row in enumerate(rows(contacts)) for b in row if a != b)
    assert nx.is_tree(graph)
    assert contacts.size <= branching + 2
    if n > branching + 1:
        assert (np.diff(contacts.starts) == branching + 1).sum() >= 1  # the root


def test_a_tree_needs_branches() -> None:
    with pytest.raises(ValueError, match="branching must be at least 1; received 0"):
        Contacts.tree(5, 0)
    assert (
        Contacts.tree(30, 2, seed=1).names.tolist() != Contacts.tree(30, 2, seed=2).names.tolist()
    )


@pytest.mark.parametrize(
    ("size", "message"),
    [
        (0, "size must be at least 1; received 0"),
        (11, "it must be 1 to 10; received 11"),
        (2.5, "size must be a whole number; received 2.5"),
    ],
)
def test_nobody_knows_more_than_the_fleet_or_less_than_itself(size: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Contacts.random(10, size)


def test_a_tree_of_very_many_children_is_a_star() -> None:
    star = Contacts.tree(6, branching=10**21)
    assert sorted(np.diff(star.starts).tolist()) == [2, 2, 2, 2, 2, 6]
