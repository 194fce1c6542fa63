"""What was found in a table, all of it in one place.

Lives here: the whole result, and its form as JSON.  Must not know how anything is computed or
shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from colme.data.comparison import Comparison
from colme.data.estimator import MEANINGS, Estimates
from colme.data.estimator.story import story
from colme.data.evolution import Replay
from colme.data.plain import as_plain
from colme.data.reader import Reading

_BLOCK = 10_000
"""This many agents are turned into text at once."""


@dataclass(frozen=True, eq=False)
class Member:
    """One agent that was asked for: its class, and who is indistinguishable from it.

    Examples
    --------
    >>> import numpy as np
    >>> Member("a", 1, np.array(["a", "b"]), np.array(["a", "b", "c"])).to_plain()
    {'agent': 'a', 'class': 1, 'members': ['a', 'b'], 'not_told_from': ['a', 'b', 'c']}
    """

    agent: Any
    number: int
    members: NDArray[Any]
    alike: NDArray[Any]

    def to_plain(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        return {
            "agent": self.agent,
            "class": self.number,
            "members": self.members.tolist(),
            "not_told_from": self.alike.tolist(),
        }


@dataclass(frozen=True, eq=False)
class EstimateResult:
    """What was read and what was found in it.

    Parameters
    ----------
    reading, estimates
        The table and the means.
    members
        Agents that were asked for.
    comparison
        Errors of several methods on held-out rows, if asked for.
    replay
        What happened in time, if there is a column of times.
    notes
        What a reader should know about the work.

    Examples
    --------
    >>> from colme.data import Summaries, estimate
    >>> table = Summaries.of(["a", "a", "b", "b"], [1.0, 2.0, 8.0, 9.0])
    >>> result = EstimateResult(Reading(table, "store", "sales", n_rows=4), estimate(table))
    >>> result.summary[0]
    '2 agents have 4 rows: 2 each.'
    >>> json.loads("".join(result.to_json()))["columns"]["agent"]
    'store'
    """

    reading: Reading
    estimates: Estimates
    members: tuple[Member, ...] = ()
    comparison: Comparison | None = None
    replay: Replay | None = None
    notes: tuple[str, ...] = ()

    @property
    def summary(self) -> tuple[str, ...]:
        """The story of the table in plain sentences."""
        return story(self.estimates)

    def to_json(self) -> Iterator[str]:
        """Yield the text of one JSON object, agents in blocks; what is not finite is null."""
        head = json.dumps(self._head(), allow_nan=False)
        yield f'{head[:-1]}, "agents": ['
        for start in range(0, len(self.estimates), _BLOCK):
            rows = as_plain(list(self.estimates.rows(slice(start, start + _BLOCK))))
            yield ("" if start == 0 else ", ") + json.dumps(rows, allow_nan=False)[1:-1]
        yield "]}"

    def _head(self) -> dict[str, Any]:
        reading, estimates = self.reading, self.estimates
        return {
            "columns": {
                "agent": reading.agent,
                "value": reading.value,
                "time": reading.time,
                "guessed": list(reading.guessed),
            },
            "rows": reading.n_rows,
            "bad_rows": reading.n_bad,
            "noise": as_plain(estimates.noise) | {"meaning": estimates.noise.meaning},
            "delta": estimates.delta,
            "eta": estimates.eta,
            "algorithm": estimates.algorithm,
            "summary": list(self.summary),
            "notes": [*reading.notes, *estimates.notes, *self.notes],
            "classes": as_plain(estimates.class_table),
            "meanings": MEANINGS,
            "comparison": None if self.comparison is None else self.comparison.to_plain(),
            "drift": None if self.replay is None else self.replay.to_plain(),
            "members": [member.to_plain() for member in self.members],
        }
