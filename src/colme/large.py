"""What a large simulation takes: memory by counting, how long a block may be.

Lives here: bytes per agent.  Must not know how anything runs.
"""

from __future__ import annotations

from dataclasses import dataclass

from colme.engine import Workspace
from colme.gossip import SMALLEST_CACHE
from colme.results import BYTES_PER_AGENT

_VIEWS = 1 << 30
"""Views of a block take at most this many bytes, unless one step alone takes more."""
_LONGEST_BLOCK = 128
"""Steps after which it costs nothing to put a row away and to take it up again."""
_LITTLE = 64 << 20
"""Views that take no more bytes than this are kept for the whole horizon."""
_BYTES_AROUND = 120
"""Labels, true means, errors, estimates, sums, times: per agent."""
_BYTES_PER_STEP = 64
"""What follows from the count alone, for all steps."""
_BYTES_PER_NAME = 8
_BYTES_PER_CACHED_NAME = 16
_BYTES_PER_OFFER = 4


@dataclass(frozen=True)
class Cost:
    """The memory of a large simulation, and the block of time that follows from it.

    Parameters
    ----------
    n_agents
        How many agents there are.
    longest_row
        How many agents somebody knows at most, itself included.
    horizon
        How many steps a run has.
    n_classes
        How many labels there are.
    by_model
        Whether peers are weighed by a model.
    bytes_per_view
        What one agent's view at one step takes.
    bytes_per_stream
        What one agent's stream keeps beside its mean: the samples of a window, for instance.
    gossip
        Whether agents hear of others.
    runs
        How many runs are kept at the end.

    Examples
    --------
    >>> cost = Cost(1_000_000, longest_row=16, horizon=1000, n_classes=2, by_model=True)
    >>> cost.block, round(cost.bytes_in_blocks / 1e9, 1)
    (67, 4.5)
    >>> everyone = Cost(10_000, longest_row=10_000, horizon=2000, n_classes=2)
    >>> everyone.block, round(everyone.bytes_in_blocks / 1e9, 1)
    (2000, 0.3)
    """

    n_agents: int
    longest_row: int
    horizon: int
    n_classes: int = 1
    by_model: bool = False
    bytes_per_view: int = 16
    bytes_per_stream: int = 0
    gossip: bool = False
    runs: int = 1

    @property
    def block(self) -> int:
        """How many steps are drawn and run at once; all of them, where that takes less memory."""
        each = self.n_agents * self.bytes_per_view
        fitting = max(1, min(self.horizon, _LONGEST_BLOCK, _VIEWS // each))
        whole = self.horizon * each
        return self.horizon if whole <= max(_LITTLE, fitting * each + self._states) else fitting

    @property
    def bytes_in_blocks(self) -> int:
        """How much memory is taken at most, block after block."""
        block = self.block
        views = self.n_agents * block * self.bytes_per_view
        states = self._states if block < self.horizon else 0
        around = self.n_agents * self._around(block) + self.horizon * _BYTES_PER_STEP
        return views + states + around

    @property
    def _states(self) -> int:
        """What all agents put away between two blocks."""
        return self.n_agents * self.bytes_per_state

    @property
    def bytes_per_state(self) -> int:
        """What one agent puts away between two blocks."""
        small = Workspace.blank(
            min(self.longest_row, 16), self.n_classes, self.by_model
        ).kept.nbytes
        if self.longest_row <= 16:
            return small
        large = Workspace.blank(32, self.n_classes, self.by_model).kept.nbytes
        return small + (-(-self.longest_row // 16) - 1) * (large - small)

    def _around(self, block: int) -> int:
        around = _BYTES_AROUND + BYTES_PER_AGENT * self.runs + self.bytes_per_stream
        if self.longest_row < self.n_agents:
            around += 2 * _BYTES_PER_NAME * self.longest_row
        if self.gossip:
            cache = max(self.longest_row, SMALLEST_CACHE)
            around += _BYTES_PER_CACHED_NAME * cache + _BYTES_PER_OFFER * block
        return around
