"""What the paper reports, and whether a measured average is near enough to it.

Lives here: the published tables (numbers as printed, from ``published.json``), the margins, and the
comparison.  Must not know how values are measured or shown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

FIRST_STEP = {"class_estimation_time": 1, "convergence_time": 0}
"""The number that each published table gives to the first step; ours always start at 1."""

PUBLISHED: Mapping[str, Any] = MappingProxyType(
    json.loads(Path(__file__).with_name("published.json").read_text(encoding="utf-8"))
)
"""Average, standard deviation and maximum of times over agents and runs, by algorithm and class.

``class_estimation_time[algorithm][class mean]`` counts from 1,
``convergence_time["all" or class mean][algorithm][epsilon]`` from 0; rows that begin with
``theory`` hold one number each, and ``epsilon_threshold_all_agents`` is the accuracy below which
the paper expects collaboration to pay for every agent.

Examples
--------
>>> PUBLISHED["convergence_time"]["all"]["local"]["0.01"]["avg"]
4494
"""


@dataclass(frozen=True)
class Margin:
    """How far a measured average may be from the published one.

    Examples
    --------
    >>> print(Margin(0.2, steps=3))
    20 % or 3 steps
    """

    relative: float
    steps: float = 0.0

    def __str__(self) -> str:
        """Return the margin in words."""
        share = f"{self.relative:.0%}".replace("%", " %")
        return f"{share} or {self.steps:g} steps" if self.steps else share

    def allows(self, published: float, measured: float) -> bool:
        """Return whether the two are close enough."""
        return abs(measured - published) <= max(self.relative * published, self.steps)


def margin_for(table: str, algorithm: str, epsilon: str | None = None) -> Margin:
    """Return the margin that a cell is held to.

    Classes are identified by all agents alike, hence 5 %.  Convergence times depend on the sizes
    of the classes, which the paper does not report, hence 20 %; baselines that converge in a few
    steps are allowed 3 of them, because published averages are rounded and count from 0.

    Examples
    --------
    >>> print(margin_for("convergence_time", "local", "0.01"))
    5 %
    """
    if table == "class_estimation_time" or (algorithm, epsilon) == ("local", "0.01"):
        return Margin(0.05)
    return Margin(0.20, steps=3 if algorithm in ("local", "oracle") else 0)


class TablePlace(NamedTuple):
    """Where a time stands in the tables of the paper.

    Examples
    --------
    >>> TablePlace("convergence_time", "all", "local", "0.1").epsilon
    '0.1'
    """

    table: str
    agents: str
    algorithm: str
    epsilon: str | None = None


@dataclass(frozen=True)
class Check:
    """One measured average beside the published one, both counting steps as the paper does.

    Examples
    --------
    >>> place = TablePlace("convergence_time", "all", "oracle", "0.1")
    >>> check = Check(place, 5.0, 5.9, Margin(0.2, 3))
    >>> check.holds, round(check.difference, 2)
    (True, 0.18)
    """

    place: TablePlace
    published: float
    measured: float
    margin: Margin
    interval: tuple[float, float] | None = None

    @property
    def is_noise(self) -> bool:
        """Whether the published average lies within the 95 % interval of the measured one."""
        return self.interval is not None and self.interval[0] <= self.published <= self.interval[1]

    @property
    def difference(self) -> float:
        """Measured minus published, as a share of published."""
        return self.measured / self.published - 1

    @property
    def holds(self) -> bool:
        """Whether the difference is within the margin."""
        return self.margin.allows(self.published, self.measured)


def compare(content: Mapping[str, Any]) -> tuple[Check, ...]:
    """Return a check for every published average that was measured.

    Examples
    --------
    >>> compare({"class_estimation_time": {"round-robin": {"0.2": {"avg": 1400.0}}}})[0].holds
    True
    """
    published, intervals = cells_of(PUBLISHED), cells_of(content.get("intervals", {}))
    checks = []
    for place, cell in cells_of(content).items():
        expected = published.get(place)
        if isinstance(expected, dict) and cell is not None:
            shift = FIRST_STEP[place.table] - 1
            ends = intervals.get(place)
            interval = None if ends is None else (ends[0] + shift, ends[1] + shift)
            margin = margin_for(place.table, place.algorithm, place.epsilon)
            checks.append(Check(place, expected["avg"], cell["avg"] + shift, margin, interval))
    return tuple(checks)


def cells_of(content: Mapping[str, Any]) -> dict[TablePlace, Any]:
    """Return the cells of the two tables of the paper, by their places.

    Examples
    --------
    >>> content = {"convergence_time": {"all": {"oracle": {"0.1": {"avg": 5.9}}}}}
    >>> cells_of(content)[TablePlace("convergence_time", "all", "oracle", "0.1")]
    {'avg': 5.9}
    """
    cells = {}
    for algorithm, by_class in content.get("class_estimation_time", {}).items():
        for agents, cell in by_class.items():
            cells[TablePlace("class_estimation_time", agents, algorithm)] = cell
    for agents, rows in content.get("convergence_time", {}).items():
        for algorithm, by_epsilon in rows.items():
            for epsilon, cell in by_epsilon.items():
                cells[TablePlace("convergence_time", agents, algorithm, epsilon)] = cell
    return cells
