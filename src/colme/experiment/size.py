"""How large an experiment is: what it takes in memory, and whether it is kept or folded.

Lives here: bytes from counts, and the refusal of what cannot fit.  Must not know how anything runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from colme.digest import BYTES_PER_AGENT
from colme.large import Cost, free_memory
from colme.neighbours import Method, bytes_of_graph, bytes_of_state
from colme.trajectory import DEFAULT_LIMIT
from colme.views import BYTES_PER_VIEW

__all__ = ["Size"]

_BYTES_PER_AGENT = 200
"""Labels, true means and what is drawn on the way to them."""
_FEWER_CONTACTS = (64, 32, 16)
"""What is offered to a fleet that knows too many."""
_MANY_PAIRS = 3e10
"""How often agents may look at a peer in some ten seconds."""
_PAIRS_PER_LINK = 25
"""What comes over a link at a step, from each hop, takes as long as so many looks at a peer."""
_SPARE = 1.1
"""Libraries, and what is not counted."""


@dataclass(frozen=True)
class Size:
    """The numbers that decide how much memory an experiment takes.

    Parameters
    ----------
    n_agents, horizon, runs
        Of the experiment.
    longest_row
        How many agents somebody knows at most, itself included.
    n_classes
        How many labels there are.
    batch
        How many samples an agent takes at a step; the average if that varies.
    kept_for
        What needs samples and trajectories in memory, if anything does.
    by_model
        Whether some algorithm weighs by a model.
    gossip
        Whether agents hear of others.
    bytes_told, bytes_followed
        Of one agent: its view at one step, and what its stream keeps; see `colme.large.Cost`.
    methods
        Those on a graph.
    on_graph_alone
        Whether nothing else runs.
    threads
        How many runs of a method on a graph go on at once.

    Examples
    --------
    >>> Size(n_agents=200, horizon=2500, runs=20, longest_row=200).is_folded
    False
    >>> million = Size(n_agents=1_000_000, horizon=1000, runs=1, longest_row=16)
    >>> million.is_folded, round(million.bytes / 1e9)
    (True, 4)
    """

    n_agents: int
    horizon: int
    runs: int
    longest_row: int
    n_classes: int = 2
    batch: float = 1.0
    kept_for: str = ""
    by_model: bool = False
    gossip: bool = False
    bytes_told: int = 16
    bytes_followed: int = 0
    methods: tuple[Method, ...] = ()
    on_graph_alone: bool = False
    threads: int = 1

    @property
    def is_folded(self) -> bool:
        """Whether metrics are folded block by block, because samples would take too much."""
        return not self.kept_for and self._samples > DEFAULT_LIMIT

    @property
    def bytes(self) -> int:
        """How much memory the experiment takes at most, about."""
        around = self.n_agents * _BYTES_PER_AGENT
        rows = 0 if self.on_graph_alone else self._cost.bytes if self.is_folded else self._kept
        return int(_SPARE * (max(rows, self._on_graph) + around))

    @property
    def _kept(self) -> float:
        """What samples and trajectories take."""
        views = 2 * self.n_agents * self.horizon * BYTES_PER_VIEW
        kept = min(DEFAULT_LIMIT, self.runs * self.n_agents * self.horizon * 16)
        names = 0 if self.knows_all else 32 * self.n_agents * self.longest_row
        return self._samples + views + kept + names

    @property
    def _on_graph(self) -> int:
        """What a method on a graph takes: the graph once, and the state of each run under way."""
        n, n_ends = self.n_agents, self.n_agents * (self.longest_row - 1)
        states = [bytes_of_state(method, n, n_ends) for method in self.methods]
        if not states:
            return 0
        left = n * self.runs * BYTES_PER_AGENT
        return bytes_of_graph(n_ends) + min(self.runs, self.threads) * max(states) + left

    @property
    def knows_all(self) -> bool:
        """Whether everybody knows everybody."""
        return self.longest_row >= self.n_agents

    @property
    def is_long(self) -> bool:
        """Whether it takes so long that people want to know how long."""
        n_pairs = float(self.runs) * self.horizon * self.n_agents * self.longest_row
        each = _PAIRS_PER_LINK * max((method.reach for method in self.methods), default=0)
        if not self.on_graph_alone:
            each += 10 if self.by_model else 1
        return (self.is_folded and not self.on_graph_alone) or n_pairs * each > _MANY_PAIRS

    @property
    def _samples(self) -> float:
        return 8.0 * self.runs * self.horizon * self.batch * self.n_agents

    @property
    def _cost(self) -> Cost:
        return Cost(
            self.n_agents,
            self.longest_row,
            self.horizon,
            n_classes=self.n_classes,
            by_model=self.by_model,
            bytes_told=self.bytes_told,
            bytes_followed=self.bytes_followed,
            contacts=not self.knows_all,
            gossip=self.gossip,
            runs=self.runs,
        )

    def check(self) -> None:
        """Raise ValueError if the memory that is free does not suffice, with what would.

        Examples
        --------
        >>> Size(n_agents=200, horizon=2500, runs=20, longest_row=200).check()
        >>> try:
        ...     Size(n_agents=10**12, horizon=10, runs=1, longest_row=16).check()
        ... except ValueError as error:
        ...     print(str(error).split(",")[0])
        this experiment takes about 8.32e+05 GB of memory
        """
        free = free_memory()
        if free is None or self.bytes <= free:
            return
        raise ValueError(
            f"this experiment takes about {self.bytes / 1e9:.3g} GB of memory, {free / 1e9:.3g} GB "
            f"are free: {self._remedy(free)}"
        )

    def _remedy(self, free: int) -> str:
        """Return what would fit."""
        if self.kept_for:
            return (
                f"{self.kept_for} needs all samples at once; do without, or ask for fewer agents, "
                "runs or steps"
            )
        for size in _FEWER_CONTACTS:
            if size < self.longest_row and (few := replace(self, longest_row=size)).bytes <= free:
                return f"let each agent know {size} ({few.bytes / 1e9:.2g} GB), as contacts say"
        n_agents = self.n_agents
        while n_agents > 1 and self._with_agents(n_agents).bytes > free:
            n_agents = n_agents * 3 // 4
        if self._with_agents(n_agents).bytes > free:
            return "ask for fewer runs or steps"
        digits = 10 ** max(len(str(n_agents)) - 2, 0)
        return f"ask for at most about {n_agents // digits * digits} agents"

    def _with_agents(self, n_agents: int) -> Size:
        return replace(self, n_agents=n_agents, longest_row=min(self.longest_row, n_agents))
