"""What is said of the memory of a graph and of a run is what their arrays take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from colme import Contacts
from colme.neighbours import METHODS, Method, bytes_of_graph, bytes_of_state
from colme.neighbours.consensus import Agreeing
from colme.neighbours.graph import graph_of
from colme.neighbours.passing import Passing

N, DEGREE = 5000, 8
GRAPH = graph_of(Contacts.regular(N, DEGREE))


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
    if method.sharing.word == "messages":
        state: Any = Passing.start(GRAPH, N, method.hops)
    else:
        state = Agreeing.start(GRAPH, np.zeros(N, np.int64))
    taken = sum(array.nbytes for array in arrays(state))
    assert taken == pytest.approx(bytes_of_state(method, N, N * DEGREE), rel=0.001)


def test_a_graph_is_counted_with_what_it_is_made_from() -> None:
    taken = sum(array.nbytes for array in GRAPH)
    assert taken < bytes_of_graph(N * DEGREE) < 3 * taken
