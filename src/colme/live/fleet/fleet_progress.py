"""How well a fleet learns, compared with the truth: errors, classes, messages and delays.

Lives here: sums over the latest snapshots of all agents.  Must not know processes, networks or
what is shown.
"""

from __future__ import annotations

import statistics
from collections import Counter, deque
from typing import Any

import numpy as np

from colme.live.fleet.fleet_settings import FleetSettings
from colme.live.schedule import running_clock
from colme.problem.classes import class_mean

_WINDOW = 3.0
"""Seconds over which messages per second are counted."""
_SENT = ("asked", "answered")
"""What counts as a message: a query sent, and a reply sent."""


class FleetProgress:
    """The latest snapshot of each agent, and sums over all of them.

    Errors and classes are those of honest agents.  An agent has identified its class when its
    optimistic class is as large as the class without its liars; where agents do not remember all
    others, this is unknown.

    Parameters
    ----------
    settings
        The settings of the fleet, the truth included.

    Examples
    --------
    >>> from colme.problem import Problem
    >>> settings = FleetSettings(
    ...     problem=Problem.gaussian([0.2, 0.8], class_sizes=[2, 1], sigma=0.5)
    ... )
    >>> progress = FleetProgress(settings)
    >>> progress.take({
    ...     "agent": "1", "count": 4, "samples": 4, "mean": 0.5, "estimate": 0.3,
    ...     "class_size": 2, "likely_size": 1, "messages": {"asked": 3}, "refused": {},
    ... })
    >>> row = progress.report()["classes"][0]
    >>> row["agents"], row["heard"], round(row["error"], 9), row["identified"]
    (2, 1, 0.1, 1.0)
    """

    def __init__(self, settings: FleetSettings) -> None:
        self._settings, self._problem = settings, settings.problem
        self._numbers = {name: agent for agent, name in enumerate(settings.names)}
        self._honest = np.ones(settings.problem.n_agents, bool)
        self._honest[list(settings.liar_numbers)] = False
        self._latest: dict[int, dict[str, Any]] = {}
        self._earlier = {word: Counter[str]() for word in ("messages", "refused")}
        self._begin = running_clock()
        self._sent: deque[tuple[float, int]] = deque()

    def take(self, report: dict[str, Any]) -> None:
        """Take an agent's snapshot in place of its last one."""
        agent = self._numbers.get(report["agent"])
        if agent is None:
            return
        before = self._latest.get(agent)
        if before is not None and _has_restarted(before, report):
            for word, total in self._earlier.items():
                total.update(before[word])
        self._latest[agent] = report

    def report(self) -> dict[str, Any]:
        """Return how well the fleet learns, ready for JSON."""
        now, messages = running_clock(), self._total("messages")
        samples = [one["samples"] for one in self._latest.values()]
        return {
            "fleet": self._settings.fleet,
            "agents": self._problem.n_agents,
            "liars": len(self._settings.liar_numbers),
            "heard": len(samples),
            "seconds": round(now - self._begin, 3),
            "samples": sum(samples),
            "steps": _median(samples),
            "classes": [self._class(label) for label in range(self._problem.n_classes)],
            "messages": dict(messages),
            "messages_per_second": self._message_rate(now, messages),
            "refused": dict(self._total("refused")),
            "delay": self._delay(),
        }

    def _class(self, label: int) -> dict[str, Any]:
        problem, room = self._problem, self._settings.room
        members = problem.labels == label
        heard = [
            one | self._truth(agent, one["count"])
            for agent, one in self._latest.items()
            if members[agent] and self._honest[agent] and one["estimate"] is not None
        ]
        identified = _mean([float(one["class_size"] == one["true_size"]) for one in heard])
        remembers_all = room is None or room >= problem.n_agents
        means = problem.true_means
        return {
            "class": label,
            "true_mean": class_mean(means, problem.labels, label) if members.any() else None,
            "agents": int(members.sum()),
            "liars": int((members & ~self._honest).sum()),
            "heard": len(heard),
            "error": _mean([abs(one["estimate"] - one["true_mean"]) for one in heard]),
            "local_error": _mean([abs(one["mean"] - one["true_mean"]) for one in heard]),
            "identified": identified if remembers_all else None,
            "class_size": _median([one["class_size"] for one in heard]),
            "likely_size": _median([one["likely_size"] for one in heard]),
        }

    def _truth(self, agent: int, count: int) -> dict[str, Any]:
        """Return an agent's true mean after `count` samples, and the honest agents of its class."""
        problem = self._problem
        if problem.changes:
            means = problem.true_means_at([max(count, 1)])[0]
            same = means == means[agent]
        else:
            means, same = problem.true_means, problem.labels == problem.labels[agent]
        return {"true_mean": float(means[agent]), "true_size": int((same & self._honest).sum())}

    def _total(self, word: str) -> Counter[str]:
        total = self._earlier[word].copy()
        for one in self._latest.values():
            total.update(one[word])
        return total

    def _message_rate(self, now: float, messages: Counter[str]) -> float:
        """Return how many messages per second were sent lately."""
        sent = sum(messages[kind] for kind in _SENT)
        self._sent.append((now, sent))
        while len(self._sent) > 2 and self._sent[1][0] < now - _WINDOW:
            self._sent.popleft()
        then, before = self._sent[0]
        return round((sent - before) / (now - then), 1) if now > then else 0.0

    def _delay(self) -> dict[str, float | None]:
        """Return delays of replies: those of the median agent, and the longest."""
        delays = [one["delay"] for one in self._latest.values() if one.get("delay")]
        late = [delay["p99"] for delay in delays if delay.get("p99") is not None]
        usual = [delay["p50"] for delay in delays if delay.get("p50") is not None]
        return {"p50": _median(usual), "p99": _median(late), "worst": max(late, default=None)}


def _has_restarted(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Return whether counts that are kept only in memory have started from 0."""
    return any(now["messages"].get(kind, 0) < n for kind, n in before["messages"].items())


def _mean(values: list[float]) -> float | None:
    return statistics.fmean(values) if values else None


def _median(values: list[Any]) -> float | None:
    return float(statistics.median(values)) if values else None
