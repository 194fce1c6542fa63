"""How a fleet fares against the truth: errors and classes, messages and delays.

Lives here: sums over the latest snapshots of all agents.  Must not know processes, networks or what
is shown.
"""

from __future__ import annotations

import statistics
from collections import Counter, deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colme.live.fleet.settings import FleetSettings
from colme.live.pace import running_clock
from colme.problem.classes import class_mean

__all__ = ["Tally"]

_WINDOW = 3.0
"""Messages per second are counted over the last so many seconds."""
_SPOKEN = ("asked", "answered")
"""What counts as a message: a question sent, and an answer sent."""


class Tally:
    """The latest snapshot of each agent, and sums over all of them.

    Errors and classes are those of honest agents.  An agent has identified its class when its
    optimistic class is as large as the class, of which liars are no part; where agents do not
    remember all others, nothing is said of that.

    Parameters
    ----------
    settings
        What the fleet is told, the truth included.

    Examples
    --------
    >>> from colme.problem import Problem
    >>> settings = FleetSettings(Problem.gaussian([0.2, 0.8], class_sizes=[2, 1], sigma=0.5))
    >>> tally = Tally(settings)
    >>> tally.take({
    ...     "agent": "1", "count": 4, "samples": 4, "mean": 0.5, "estimate": 0.3,
    ...     "class_size": 2, "likely_size": 1, "messages": {"asked": 3}, "refused": {},
    ... })
    >>> row = tally.report()["classes"][0]
    >>> row["agents"], row["heard"], round(row["error"], 9), row["identified"]
    (2, 1, 0.1, 1.0)
    """

    def __init__(self, settings: FleetSettings) -> None:
        self._settings, self._problem = settings, settings.problem
        self._numbers = {name: agent for agent, name in enumerate(settings.names)}
        self._honest = np.ones(settings.problem.n_agents, bool)
        self._honest[list(settings.liars_chosen)] = False
        self._latest: dict[int, dict[str, Any]] = {}
        self._earlier = Counter[str](), Counter[str]()
        self._begin = running_clock()
        self._spoken: deque[tuple[float, int]] = deque()

    def take(self, report: dict[str, Any]) -> None:
        """Take an agent's snapshot in place of its last one."""
        agent = self._numbers.get(report["agent"])
        if agent is None:
            return
        before = self._latest.get(agent)
        if before is not None and _has_restarted(before, report):
            for total, word in zip(self._earlier, ("messages", "refused"), strict=True):
                total.update(before[word])
        self._latest[agent] = report

    def report(self) -> dict[str, Any]:
        """Return how the fleet fares, ready for JSON."""
        now = running_clock()
        messages, refused = self._totals()
        samples = [one["samples"] for one in self._latest.values()]
        return {
            "fleet": self._settings.name,
            "agents": self._problem.n_agents,
            "liars": len(self._settings.liars_chosen),
            "heard": len(samples),
            "seconds": round(now - self._begin, 3),
            "samples": sum(samples),
            "steps": _median(samples),
            "classes": [self._class(label) for label in range(self._problem.n_classes)],
            "messages": dict(messages),
            "messages_per_second": self._speed(now, messages),
            "refused": dict(refused),
            "delay": self._delay(),
        }

    def _class(self, label: int) -> dict[str, Any]:
        members = self._problem.labels == label
        told = [
            (agent, one)
            for agent, one in self._latest.items()
            if members[agent] and self._honest[agent] and one["estimate"] is not None
        ]
        truth = {agent: self._true_mean(agent, one["count"]) for agent, one in told}
        return {
            "class": label,
            "true_mean": self._class_mean(label),
            "agents": int(members.sum()),
            "liars": int((members & ~self._honest).sum()),
            "heard": len(told),
            "error": _mean([abs(one["estimate"] - truth[agent]) for agent, one in told]),
            "local_error": _mean([abs(one["mean"] - truth[agent]) for agent, one in told]),
            "identified": self._identified(told),
            "class_size": _median([one["class_size"] for _, one in told]),
            "likely_size": _median([one["likely_size"] for _, one in told]),
        }

    def _class_mean(self, label: int) -> float | None:
        if label not in self._problem.labels:
            return None
        return class_mean(self._problem.true_means, self._problem.labels, label)

    def _true_mean(self, agent: int, count: int) -> float:
        if not self._problem.changes:
            return float(self._problem.true_means[agent])
        return float(self._problem.true_means_at([max(count, 1)])[0, agent])

    def _identified(self, told: list[tuple[int, dict[str, Any]]]) -> float | None:
        room = self._settings.told.room
        if room is not None and room < self._problem.n_agents:
            return None
        return _mean(
            [float(one["class_size"] == self._mates(agent, one["count"])) for agent, one in told]
        )

    def _mates(self, agent: int, count: int) -> int:
        """Return how many honest agents there are in an agent's class after so many samples."""
        same: NDArray[np.bool_] = self._problem.labels == self._problem.labels[agent]
        if self._problem.changes:
            means = self._problem.true_means_at([max(count, 1)])[0]
            same = means == means[agent]
        return int((same & self._honest).sum())

    def _totals(self) -> tuple[Counter[str], Counter[str]]:
        messages, refused = (total.copy() for total in self._earlier)
        for one in self._latest.values():
            messages.update(one["messages"])
            refused.update(one["refused"])
        return messages, refused

    def _speed(self, now: float, messages: Counter[str]) -> float:
        """Return how many messages were sent in a second, of late."""
        spoken = sum(messages[kind] for kind in _SPOKEN)
        self._spoken.append((now, spoken))
        while len(self._spoken) > 2 and self._spoken[1][0] < now - _WINDOW:
            self._spoken.popleft()
        then, before = self._spoken[0]
        return round((spoken - before) / (now - then), 1) if now > then else 0.0

    def _delay(self) -> dict[str, float | None]:
        """Return delays of answers: those of the agent in the middle, and the longest."""
        told = [one["delay"] for one in self._latest.values() if one.get("delay")]
        late = [delay["p99"] for delay in told if delay.get("p99") is not None]
        usual = [delay["p50"] for delay in told if delay.get("p50") is not None]
        return {"p50": _median(usual), "p99": _median(late), "worst": max(late, default=None)}


def _has_restarted(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Return whether counts that are kept in memory only have begun anew."""
    return any(now["messages"].get(kind, 0) < n for kind, n in before["messages"].items())


def _mean(values: list[float]) -> float | None:
    return statistics.fmean(values) if values else None


def _median(values: list[Any]) -> float | None:
    return float(statistics.median(values)) if values else None
