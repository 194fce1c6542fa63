"""What is said of the memory of a graph and of a run is what their arrays take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from colme import Contacts
from colme.neighbours import METHODS, Method, bytes_of_graph, bytes_of_state
from colme.neighbours.consensus import ConsensusState
from colme.neighbours.graph import Graph
from colme.neighbours.hops import MessageState
from colme.neighbours.links import GraphSetting, Limits

N, DEGREE = 5000, 8
GRAPH = Graph.of(Contacts.regular(N, DEGREE))


def arrays(state: Any) -> Iterator[np.ndarray[Any, Any]]:
    """Yield all arrays of a state, those of its parts too."""
    for part in state:
        if isinstance(part, np.ndarray):
            yield part
        else:
            yield from arrays(part)


@pytest.mark.parametrize(
    "method", [METHODS["c-colme"], METHODS["b-colme"], Method("messages", hops=1)]
)
def test_the_state_of_a_run_is_counted(method: Method) -> None:
    limits = Limits(*np.zeros((2, 9)))
    setting = GraphSetting.of(method, GRAPH, limits, np.zeros(N, np.int64))
    kind: Any = MessageState if method.sharing.word == "messages" else ConsensusState
    state = kind.start(setting)
    taken = sum(array.nbytes for array in arrays(state))
    assert taken == pytest.approx(bytes_of_state(method, N, N * DEGREE), rel=0.001)


def test_a_graph_is_counted_with_what_it_is_made_from() -> None:
    taken = sum(array.nbytes for array in GRAPH)
    assert taken < bytes_of_graph(N * DEGREE) < 3 * taken
