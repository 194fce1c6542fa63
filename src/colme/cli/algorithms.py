"""`colme algorithms`: the named algorithms.

Lives here: its flags.  Must not know how anything is computed or printed.
"""

from __future__ import annotations

from colme import ALGORITHMS, _terminal
from colme._terminal.simulation import print_algorithms
from colme.neighbours import METHODS


def algorithms(*, json: bool = False) -> None:
    """List the named algorithms, with one line of meaning each.

    Parameters
    ----------
    json
        Print them as JSON.
    """
    rows = [
        {
            "name": name,
            "query": algorithm.query.word,
            "class_test": algorithm.class_test.word,
            "weighting": algorithm.weighting.word,
            "meaning": algorithm.meaning,
        }
        for name, algorithm in ALGORITHMS.items()
    ]
    rows += [
        {"name": name, "sharing": method.sharing.word, "meaning": f"on a graph: {method.meaning}"}
        for name, method in METHODS.items()
    ]
    if json:
        _terminal.print_json(rows)
    else:
        print_algorithms(rows)
