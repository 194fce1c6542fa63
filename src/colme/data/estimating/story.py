"""The story of a table in plain sentences: who is like whom, and what that is worth.

Lives here: words for the numbers of an `Estimates`.  Must not know how anything is computed or
shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from colme.data.estimating.estimates import Estimates

__all__ = ["rounding", "story"]

_NAMED = 5
"""So many agents or classes are named one by one."""
_LONGEST = 40
"""Longer names are cut."""
_CLEAR = 6.0
"""Classes are clear if neighbours are so many standard deviations of their members apart; of means
that vary evenly and are cut into classes of one length they are √12 = 3.5 apart."""


def story(estimates: Estimates) -> tuple[str, ...]:
    """Return what is found in a table, in some sentences.

    Parameters
    ----------
    estimates
        What `colme.data.estimate` found.

    Notes
    -----
    Whether means come in classes or vary without gaps is told by how the estimates lie: with s² the
    mean over agents of (estimate - mean estimate of its class)², classes are clear if the median
    distance between neighbours is at least 6 s.

    Examples
    --------
    >>> from colme.data import Summaries, estimate
    >>> rng = np.random.default_rng(0)
    >>> agents = np.repeat([f"store {i:02}" for i in range(20)], 200)
    >>> values = rng.normal(np.repeat(np.arange(20) % 2, 200), 1.0)
    >>> for line in story(estimate(Summaries.of(agents, values)))[:3]:
    ...     print(line)
    20 agents have 4000 rows: 200 each.
    2 classes are found: 10 agents around -0.025 and 10 around 0.995.
    Each class is told from all others: every agent in it from every agent outside.
    """
    return tuple(
        [_size(estimates)]
        + ([] if estimates.noise.known else ["Nothing tells agents apart, so none can help."])
        + ([*_told(estimates)] if estimates.noise.known else [])
    )


def rounding(estimates: Estimates) -> Callable[[float], str]:
    """Return how means are written: with so many digits that differences between agents have four.

    Examples
    --------
    >>> from colme.data import Summaries, estimate
    >>> shown = rounding(estimate(Summaries.of(["a", "b"], [1000.0, 1000.2]), sigma=1.0))
    >>> shown(1000.12345), shown(float("inf"))
    ('1000.1235', 'unknown')
    """
    means = np.concatenate([estimates.summaries.means, estimates.estimates])
    largest, span = float(np.abs(means).max()), float(np.ptp(means))
    finest = math.floor(math.log10(span or largest or 1.0)) - 3
    whole = math.floor(math.log10(largest or 1.0)) + 1
    plain = whole <= 9 and finest >= -9
    digits = f".{max(0, -finest)}f" if plain else f".{min(15, max(4, whole - finest))}g"
    return lambda number: format(number, digits) if math.isfinite(number) else "unknown"


def _told(estimates: Estimates) -> Iterator[str]:
    yield _classes(estimates)
    yield from _borders(estimates)
    yield _help(estimates)
    if len(estimates) > 1:
        yield _loners(estimates)
        yield _ends(estimates)


def _size(estimates: Estimates) -> str:
    counts = estimates.summaries.counts
    least, middle, most = (int(f(counts)) for f in (np.min, np.median, np.max))
    each = f"{least} each" if least == most else f"{least} to {most} each, median {middle}"
    return f"{_agents(len(counts))} {_have(len(counts))} {_rows(int(counts.sum()))}: {each}."


def _classes(estimates: Estimates) -> str:
    classes, n = estimates.class_table, len(estimates)
    first, last, show = classes[0], classes[-1], rounding(estimates)
    if len(classes) == 1:
        return f"Nobody is told apart: all may share one mean, about {show(first.mean)}."
    ends = f"from {show(first.mean)} to {show(last.mean)}"
    if len(classes) == n:
        return f"Every agent is a class of its own, with means {ends}."
    if not _are_clear(estimates):
        return (
            f"Means vary without clear gaps, {ends}: they are cut into {len(classes)} classes so "
            "that nobody is told from another in the same class."
        )
    if len(classes) > _NAMED:
        sizes = [one.size for one in classes]
        return (
            f"{len(classes)} classes are found, of {min(sizes)} to {max(sizes)} agents, with means "
            f"{ends}."
        )
    parts = [f"{one.size} around {show(one.mean)}" for one in classes]
    parts[0] = f"{_agents(first.size)} around {show(first.mean)}"
    return f"{len(classes)} classes are found: {_listed(parts)}."


def _are_clear(estimates: Estimates) -> bool:
    """Return whether neighbouring classes are far apart, as measured by their members."""
    k, found = estimates.classes - 1, estimates.estimates - np.median(estimates.estimates)
    centers = np.bincount(k, found) / np.bincount(k)
    spread = math.sqrt(float(np.mean((found - centers[k]) ** 2)))
    return float(np.median(np.diff(np.sort(centers)))) >= _CLEAR * spread


def _borders(estimates: Estimates) -> Iterator[str]:
    """Say what it means if agents are like some of another class."""
    classes, n, mute = estimates.class_table, len(estimates), int(estimates.mute.sum())
    if 0 < mute < n:
        yield (
            f"{mute} of {n} agents have too few rows to be told from anybody; they are left aside "
            "in what follows."
        )
    shared = sum(one.shared for one in classes)
    if shared:
        yield (
            f"{shared} of {n} agents are also not told from agents of a neighbouring class, so "
            "their class is not certain: 'not told apart' is not transitive, a chain can link the "
            "ends."
        )
    elif len(classes) > 1:
        yield "Each class is told from all others: every agent in it from every agent outside."


def _help(estimates: Estimates) -> str:
    gains = estimates.gains
    middle, doubled = float(np.median(gains)), int(np.sum(gains > 2))
    if middle < 1.1 and not doubled:
        return "Peers help little here: an estimate is worth hardly more than the agent's own rows."
    return (
        f"With help of peers an estimate is worth {middle:.3g} times the agent's own rows (median);"
        f" for {doubled} of {len(gains)} agents more than twice."
    )


def _loners(estimates: Estimates) -> str:
    mute = estimates.mute
    alone = estimates.summaries.agents[~mute & (estimates.alike - mute.sum() == 1)]
    risk = f"at a risk of {estimates.delta / 8:.2g} for each agent"
    if not len(alone):
        return f"No agent is surely different from all others ({risk})."
    if len(alone) == len(estimates):
        return f"All agents are surely different from each other ({risk})."
    return f"Surely different from all others {_are(len(alone))} {_names(alone)} ({risk})."


def _ends(estimates: Estimates) -> str:
    """Say whether the agents with the lowest and the highest estimate are told apart."""
    agents, found, show = estimates.summaries.agents, estimates.estimates, rounding(estimates)
    low, high = int(np.argmin(found)), int(np.argmax(found))
    if found[low] == found[high]:
        return f"All estimates are {show(found[low])}."
    apart = agents[high] not in estimates.not_told_from(agents[low])
    return (
        f"The highest estimate is {show(found[high])} ({_short(agents[high])}), the lowest "
        f"{show(found[low])} ({_short(agents[low])}): these two are {'' if apart else 'not '}told "
        "apart."
    )


def _short(agent: Any) -> str:
    name = str(agent)
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _names(agents: Any) -> str:
    shown = [_short(name) for name in agents[:_NAMED].tolist()]
    more = len(agents) - len(shown)
    return _listed([*shown, f"{more} more"] if more else shown)


def _listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _agents(n: int) -> str:
    return "1 agent" if n == 1 else f"{n} agents"


def _rows(n: int) -> str:
    return "1 row" if n == 1 else f"{n} rows"


def _have(n: int) -> str:
    return "has" if n == 1 else "have"


def _are(n: int) -> str:
    return "is" if n == 1 else "are"
