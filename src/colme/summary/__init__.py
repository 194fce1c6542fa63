"""From a stream to what is known of it: the views that an agent keeps, and shares with others.

Lives here: how samples and a bound become views, one stream at a time or whole blocks.  Must not
know peers.
"""

from colme.summary.block_views import (
    BYTES_PER_VIEW,
    BlockViews,
    bytes_per_view,
    views_of,
)
from colme.view import UNHEARD, View, set_view, view_at

__all__ = [
    "BYTES_PER_VIEW",
    "UNHEARD",
    "BlockViews",
    "View",
    "bytes_per_view",
    "set_view",
    "view_at",
    "views_of",
]
