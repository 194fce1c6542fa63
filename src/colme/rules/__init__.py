"""Every decision an agent takes, once, over one row of memory.

Lives here: who belongs, whom to ask, how to pool.  The plain agent passes rows of lists, the
compiled simulator rows of arrays.  Must not know time, I/O or randomness.
"""

from colme.rules.asking import (
    Turn,
    makes_room,
    next_peer,
    next_room,
    take_turn,
    take_turn_among,
)
from colme.rules.belonging import (
    begin_anew,
    belongs,
    classify,
    is_shown,
    optimistic_distance,
    renew,
    show_all,
    suspects,
)
from colme.rules.pooling import class_uniform_sums, overlap_sums, overlap_weight, pool, simple_sums
from colme.rules.robust import agreement, robust_mean
from colme.rules.row import Choice, Flags, Numbers, Row, remember, view

__all__ = [
    "Choice",
    "Flags",
    "Numbers",
    "Row",
    "Turn",
    "agreement",
    "begin_anew",
    "belongs",
    "class_uniform_sums",
    "classify",
    "is_shown",
    "makes_room",
    "next_peer",
    "next_room",
    "optimistic_distance",
    "overlap_sums",
    "overlap_weight",
    "pool",
    "remember",
    "renew",
    "robust_mean",
    "show_all",
    "simple_sums",
    "suspects",
    "take_turn",
    "take_turn_among",
    "view",
]
