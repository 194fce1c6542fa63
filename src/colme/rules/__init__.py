"""Every decision an agent takes, once, over one row of memory.

Lives here: who belongs, whom to ask, how to pool.  The plain agent passes rows of lists, the
compiled simulator rows of arrays.  Must not know time, I/O or randomness.
"""

from colme.rules.class_test import (
    belongs,
    classify,
    confirm_all,
    is_confirmed,
    optimistic_distance,
    reset_peer,
    reset_peers,
    suspects,
)
from colme.rules.paired import (
    PAST_LENGTH,
    Past,
    add_evidence,
    exclude,
    forget_past,
    keep_past,
    lowest_level,
    news_evidence,
    next_excluded,
    paired_evidence,
    test_remembered,
)
from colme.rules.query import (
    Turn,
    first_turn,
    makes_room,
    next_peer,
    next_room,
    take_turn,
    take_turn_among,
)
from colme.rules.relay import pick_relays
from colme.rules.robust import agreement, robust_mean
from colme.rules.row import Choice, Flags, Numbers, Row
from colme.rules.weights import class_uniform_sums, overlap_sums, overlap_weight, pool, simple_sums

__all__ = [
    "PAST_LENGTH",
    "Choice",
    "Flags",
    "Numbers",
    "Past",
    "Row",
    "Turn",
    "add_evidence",
    "agreement",
    "belongs",
    "class_uniform_sums",
    "classify",
    "confirm_all",
    "exclude",
    "first_turn",
    "forget_past",
    "is_confirmed",
    "keep_past",
    "lowest_level",
    "makes_room",
    "news_evidence",
    "next_excluded",
    "next_peer",
    "next_room",
    "optimistic_distance",
    "overlap_sums",
    "overlap_weight",
    "paired_evidence",
    "pick_relays",
    "pool",
    "reset_peer",
    "reset_peers",
    "robust_mean",
    "simple_sums",
    "suspects",
    "take_turn",
    "take_turn_among",
    "test_remembered",
]
