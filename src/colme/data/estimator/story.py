"""The story of a table in plain sentences: who is like whom, and what that is worth.

Lives here: words for the numbers of an `Estimates`.  Must not know how anything is computed or
shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from colme.data.estimator.estimates import Estimates
from colme.data.estimator.groups import is_alike

_MAX_NAMED = 5
"""At most this many agents or classes are named one by one."""
_CLEAR = 6.0
"""Classes are clear if neighbours are this many standard deviations of their members apart; means
that vary evenly, cut into classes of one length, are √12 = 3.5 of them apart."""


def story(estimates: Estimates) -> tuple[str, ...]:
    """Return what is found in a table, in some sentences.

    Parameters
    ----------
    estimates
        What `colme.data.estimate` found.

    Notes
    -----
    Whether means come in classes or vary without gaps follows from the estimates: with s² the mean
    over agents of (estimate - mean estimate of its class)², classes are clear if the median
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
    Each class differs from all others: every agent in it from every agent outside.
    """
    counts, gains, show = estimates.summaries.counts, estimates.columns["gain"], rounding(estimates)
    least, most = int(counts.min()), int(counts.max())
    each = f"{least} each" if least == most else f"{least} to {most} each"
    middle = "" if least == most else f", median {int(np.median(counts))}"
    have = "has" if len(counts) == 1 else "have"
    rows = several(int(counts.sum()), "row", "rows")
    size = f"{several(len(counts), 'agent', 'agents')} {have} {rows}: {each}{middle}."
    if not estimates.noise.known:
        return size, "Nothing distinguishes agents, so none can help."
    gain, doubled = float(np.median(gains)), int(np.sum(gains > 2))
    help_of_peers = (
        f"With help of peers an estimate is worth {gain:.3g} times the agent's own rows (median);"
        f" for {doubled} of {len(gains)} agents more than twice."
    )
    if gain < 1.1 and not doubled:
        help_of_peers = (
            "Peers help little here: an estimate is worth hardly more than the agent's own rows."
        )
    return (
        size,
        *_classes(estimates, show),
        help_of_peers,
        *(_differences(estimates, show) if len(counts) > 1 else ()),
    )


def rounding(estimates: Estimates) -> Callable[[float], str]:
    """Return how means are written: with enough digits that differences between agents have four.

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


def _classes(estimates: Estimates, show: Callable[[float], str]) -> Iterator[str]:
    """Say how many classes there are, whether gaps divide them, and whether agents are between."""
    classes, n = estimates.class_table, len(estimates)
    ends = f"from {show(classes[0].mean)} to {show(classes[-1].mean)}"
    k, found = estimates.classes - 1, estimates.estimates - np.median(estimates.estimates)
    centers = np.bincount(k, found) / np.bincount(k)
    spread = math.sqrt(float(np.mean((found - centers[k]) ** 2)))
    if len(classes) == 1:
        yield (
            "All agents are indistinguishable: they may share one mean, about "
            f"{show(classes[0].mean)}."
        )
    elif len(classes) == n:
        yield f"Every agent is a class of its own, with means {ends}."
    elif float(np.median(np.diff(np.sort(centers)))) < _CLEAR * spread:
        yield (
            f"Means vary without clear gaps, {ends}: they are cut into {len(classes)} classes so "
            "that agents of the same class are indistinguishable."
        )
    elif len(classes) > _MAX_NAMED:
        sizes = [one.size for one in classes]
        yield (
            f"{len(classes)} classes are found, of {min(sizes)} to {max(sizes)} agents, with means "
            f"{ends}."
        )
    else:
        parts = [f"{one.size} around {show(one.mean)}" for one in classes[1:]]
        first = f"{several(classes[0].size, 'agent', 'agents')} around {show(classes[0].mean)}"
        yield f"{len(classes)} classes are found: {_listed([first, *parts])}."
    untestable = int(estimates.untestable.sum())
    if 0 < untestable < n:
        yield (
            f"{untestable} of {n} agents have too few rows to differ from anybody; they are left "
            "aside in what follows."
        )
    shared = sum(one.shared for one in classes)
    if shared:
        yield (
            f"{shared} of {n} agents are also indistinguishable from agents of a neighbouring "
            "class, so their class is not certain: 'indistinguishable' is not transitive, a chain "
            "can link the ends."
        )
    elif len(classes) > 1:
        yield "Each class differs from all others: every agent in it from every agent outside."


def _differences(estimates: Estimates, show: Callable[[float], str]) -> Iterator[str]:
    """Say who is shown to differ from all others, and whether the two ends do."""
    agents, found = estimates.summaries.agents, estimates.estimates
    untestable = estimates.untestable
    alone = agents[~untestable & (estimates.alike - untestable.sum() == 1)]
    risk = f"at a risk of {estimates.delta / 8:.2g} for each agent"
    if not len(alone):
        yield f"No agent is shown to differ from all others ({risk})."
    elif len(alone) == len(estimates):
        yield f"All agents are shown to differ from each other ({risk})."
    else:
        named = [short_name(name) for name in alone[:_MAX_NAMED].tolist()]
        more = [f"{len(alone) - len(named)} more"] if len(alone) > len(named) else []
        are = "is" if len(alone) == 1 else "are"
        yield f"{_listed([*named, *more])} {are} shown to differ from all others ({risk})."
    low, high = int(np.argmin(found)), int(np.argmax(found))
    if found[low] == found[high]:
        yield f"All estimates are {show(found[low])}."
        return
    alike = is_alike(low, estimates.evidence)[high]
    yield (
        f"The highest estimate is {show(found[high])} ({short_name(agents[high])}), the lowest "
        f"{show(found[low])} ({short_name(agents[low])}): these two "
        f"are {'indistinguishable' if alike else 'shown to differ'}."
    )


def short_name(agent: Any, longest: int = 40) -> str:
    """Return the name of an agent in one line, cut if it is long, without signs that none can see.

    Examples
    --------
    >>> short_name(7), len(short_name("a" * 50)), short_name("a long name", longest=7)
    ('7', 40, 'a long…')
    """
    name = " ".join(str(agent).split())
    if not name.isprintable():
        name = "".join(s if s.isprintable() else "\N{REPLACEMENT CHARACTER}" for s in name)
    return name if len(name) <= longest else f"{name[: longest - 1].rstrip()}…"


def several(n: int, one: str, many: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> several(1, "class", "classes"), several(2, "class", "classes")
    ('1 class', '2 classes')
    """
    return f"{n} {one if n == 1 else many}"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
