"""Who knows whom: itself always, and whom the graph, the lists or chance say."""

import collections
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chisquare

from colme import Contacts

FLEETS = st.integers(1, 12).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.tuples(*[st.integers(0, n - 1)] * 2), max_size=20))
)


def rows(contacts: Contacts) -> list[list[int]]:
    return [contacts.known_by(a).tolist() for a in range(contacts.n_agents)]


@given(FLEETS)
def test_both_ends_of_an_edge_know_each_other_and_everybody_itself(
    fleet: tuple[int, list[tuple[int, int]]],
) -> None:
    n, edges = fleet
    graph: Any = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges)
    contacts = Contacts.of_graph(graph, disconnected=True)
    assert rows(contacts) == [sorted({a, *graph[a]}) for a in range(n)]
    assert rows(Contacts.of_graph(edges, n, disconnected=True)) == rows(contacts)
    assert contacts.components() == nx.number_connected_components(graph)
    assert contacts.size == max(len(row) for row in rows(contacts))
    assert contacts.is_everyone == all(len(row) == n for row in rows(contacts))
    if contacts.components() == 1:
        assert rows(Contacts.of_graph(graph)) == rows(contacts)


@given(FLEETS)
def test_given_lists_are_one_sided(fleet: tuple[int, list[tuple[int, int]]]) -> None:
    n, edges = fleet
    lists = [[peer for owner, peer in edges if owner == a] for a in range(n)]
    contacts = Contacts.of_lists(lists)
    assert rows(contacts) == [sorted({a, *lists[a]}) for a in range(n)]
    graph: Any = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges)
    assert contacts.components() == nx.number_connected_components(graph)


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
        (4, 4, "degree must be below n_agents, and one of both even"),
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


def test_a_long_list_is_not_shown_whole() -> None:
    with pytest.raises(ValueError, match=r"received \[0, 1, 2, 3, 4, 5, 6, 7, ...\] for 2 names"):
        Contacts(np.arange(99), np.arange(2))
    with pytest.raises(ValueError, match=r"received \[3, 4, 5, 6, 7, 8, 9, 10, ...\]"):
        Contacts(np.array([0, 50, 99]), np.arange(99) + 2 - (np.arange(99) == 0))


def test_everyone_is_what_knowing_all_gives() -> None:
    everyone = Contacts.everyone(5)
    assert everyone.is_everyone
    assert everyone.components() == 1
    assert rows(everyone) == rows(Contacts.random(5, 5)) == [list(range(5))] * 5
    assert rows(Contacts.of_graph(nx.complete_graph(5))) == rows(everyone)
    assert not Contacts.random(5, 4).is_everyone


def test_a_long_ring_is_one_part() -> None:
    ring = Contacts.of_graph(nx.cycle_graph(999))
    assert ring.components() == 1
    assert ring.size == 3
    assert ring.known_by(0).tolist() == [0, 1, 998]


def test_graphs_of_several_kinds_are_read() -> None:
    expected = [[0, 1], [0, 1, 2], [1, 2]]
    edges = [(0, 1), (2, 1), (1, 1)]
    weighted: Any = nx.Graph()
    weighted.add_weighted_edges_from([(a, b, 0.5) for a, b in edges])
    several: Any = nx.MultiGraph(edges * 2)
    for graph in (weighted, several, nx.DiGraph(edges), np.array(edges), iter(edges)):
        assert rows(Contacts.of_graph(graph)) == expected


def test_a_file_of_edges_is_read(tmp_path: Path) -> None:
    path = tmp_path / "edges.txt"
    path.write_text("# a comment\n0 1\n\n2 1 0.75  # weights are ignored\n1\t3\n")
    assert rows(Contacts.of_graph(path)) == [[0, 1], [0, 1, 2, 3], [1, 2], [1, 3]]
    assert rows(Contacts.of_graph(str(path))) == rows(Contacts.of_graph(path))
    graph: Any = nx.barbell_graph(4, 2)
    nx.write_edgelist(graph, path)
    assert rows(Contacts.of_graph(path)) == rows(Contacts.of_graph(graph))


def test_a_fleet_in_parts_must_be_meant() -> None:
    edges = [(0, 1), (2, 3)]
    message = r"received 2 parts: agents can never learn .* disconnected=True"
    with pytest.raises(ValueError, match=message):
        Contacts.of_graph(edges)
    contacts = Contacts.of_graph(edges, n_agents=5, disconnected=True)
    assert contacts.components() == 3
    assert contacts.known_by(4).tolist() == [4]


def test_contacts_cannot_be_written_to() -> None:
    contacts = Contacts.everyone(3)
    with pytest.raises(ValueError, match="read-only"):
        contacts.names[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        contacts.known_by(0)[0] = 1


@pytest.mark.parametrize(
    ("graph", "n_agents", "message"),
    [
        ([], None, "received 0 nodes"),
        ([(0, 3)], 3, "below 3; received agent 3"),
        ([(0, -1)], None, "received agent -1"),
        ([(0, "b")], None, "received 'b': renumber them"),
        ([(0, 1.0)], None, "received 1.0: renumber them"),
        ([0, 1], None, "an edge is a pair of agents; received 0"),
        ([(0, 1)], 0, "n_agents must be at least 1; received 0"),
        (nx.path_graph([0, 1, 3]), None, "received 3 nodes up to 3: renumber its nodes"),
        (nx.path_graph(["a", "b"]), None, "received 'a': renumber them"),
        (nx.path_graph([5, 6]), None, "received 2 nodes up to 6: renumber its nodes"),
        (7, None, "an iterable of pairs, or a path of a file; received 7"),
    ],
)
def test_a_wrong_graph_is_refused(graph: Any, n_agents: int | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Contacts.of_graph(graph, n_agents)


@pytest.mark.parametrize("line", ["0", "0 b", "0.5 1"])
def test_a_wrong_line_is_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / "edges.txt"
    path.write_text(f"0 1\n{line}\n")
    with pytest.raises(ValueError, match=f"edges.txt, line 2: .* received '{line}'"):
        Contacts.of_graph(path)


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


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([], "a fleet of 0; received none"),
        ([[2], []], "a fleet of 2; received agent 2"),
        ([[-1], []], "a fleet of 2; received agent -1"),
        ([["a"], []], "received 'a'"),
    ],
)
def test_wrong_lists_are_refused(lists: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Contacts.of_lists(lists)


@pytest.mark.parametrize(
    ("starts", "names", "message"),
    [
        ([0], [], "one for each agent and one more; received"),
        ([0, 1, 3], [0, 1], r"received \[0, 1, 3\] for 2 names"),
        ([0, 2, 2], [0, 1], r"received \[0, 2, 2\] for 2 names"),
        ([0, 1, 2], [0, 2], r"agents 0 to 1; received \[2\]"),
        ([0, 1, 2], [1, 0], "every row must hold its agent"),
        ([0, 2, 3], [1, 0, 1], "rise without repetitions"),
        ([0, 2, 3], [0, 0, 1], "rise without repetitions"),
    ],
)
def test_untidy_rows_are_refused(starts: Any, names: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Contacts(starts, names)


@pytest.mark.parametrize("agent", [-1, 3])
def test_an_unknown_agent_is_refused(agent: int) -> None:
    with pytest.raises(ValueError, match=f"agents are 0 to 2; received {agent}"):
        Contacts.everyone(3).known_by(agent)


def test_a_tree_of_very_many_children_is_a_star() -> None:
    star = Contacts.tree(6, branching=10**21)
    assert sorted(np.diff(star.starts).tolist()) == [2, 2, 2, 2, 2, 6]
