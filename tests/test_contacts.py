"""Who knows whom: given as lists, rows or a graph; every agent knows itself."""

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
        (7, None, "an iterable of pairs, or the path of a file; received 7"),
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
    ("lists", "message"),
    [
        ([], "a fleet of 0; received no agent"),
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
