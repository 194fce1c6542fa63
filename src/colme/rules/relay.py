"""Which summaries of others a reply carries.

Lives here: the choice, over one row.  Must not know how summaries travel or what comes of them.
"""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import Any

from colme._compile import compiled
from colme.rules.row import Flags, Numbers


@compiled
def pick_relays(
    most: int,
    n: int,
    start: int,
    wanted: Flags,
    counts: Numbers,
    picked: MutableSequence[int] | Any,
) -> int:
    """Write the entries to relay, those with the most samples first; return how many.

    Among entries with as many samples, the first after `start`, going round, come first: different
    askers get different ones.

    Examples
    --------
    >>> picked = [0, 0]
    >>> pick_relays(2, 4, 1, [True, True, True, False], [5, 3, 5, 9], picked), picked
    (2, [2, 0])
    """
    n_picked, l = 0, start
    for _ in range(n):
        l = l + 1 if l + 1 < n else 0
        count = counts[l]
        if not wanted[l] or count <= 0.0:
            continue
        if n_picked == most and count <= counts[picked[most - 1]]:
            continue
        place = n_picked if n_picked < most else most - 1
        n_picked = place + 1
        while place > 0 and counts[picked[place - 1]] < count:
            picked[place] = picked[place - 1]
            place -= 1
        picked[place] = l
    return n_picked
