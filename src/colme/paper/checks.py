"""What holds and what does not: measured averages beside published ones, with a margin each.

Lives here: the margins, as data, and the comparison.  Must not know how values are measured or
shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from colme.paper.published import FIRST_STEP, PUBLISHED


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


_CLASS_ESTIMATION = Margin(0.05)
_COLLABORATION = Margin(0.20)
_FEW_STEPS = Margin(0.20, steps=3)
_LOCAL_LONG = Margin(0.05)


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
    if table == "class_estimation_time":
        return _CLASS_ESTIMATION
    if algorithm == "local" and epsilon == "0.01":
        return _LOCAL_LONG
    return _FEW_STEPS if algorithm in ("local", "oracle") else _COLLABORATION


@dataclass(frozen=True)
class Check:
    """One measured average beside the published one, both counting steps as the paper does.

    Examples
    --------
    >>> check = Check("convergence_time", "all", "oracle", "0.1", 5.0, 5.9, Margin(0.2, 3))
    >>> check.holds, round(check.difference, 2)
    (True, 0.18)
    """

    table: str
    agents: str
    algorithm: str
    epsilon: str | None
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
    for where, cell in cells_of(content).items():
        expected = published.get(where)
        if isinstance(expected, dict) and cell is not None:
            shift = FIRST_STEP[where.table] - 1
            ends = intervals.get(where)
            interval = None if ends is None else (ends[0] + shift, ends[1] + shift)
            margin = margin_for(where.table, where.algorithm, where.epsilon)
            averages = expected["avg"], cell["avg"] + shift
            checks.append(Check(*where, *averages, margin, interval))
    return tuple(checks)


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
