"""How large an experiment is: the memory it takes, and whether it is kept or folded.

Lives here: bytes from counts, and the refusal of what cannot fit.  Must not know how anything runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from colme.large import Cost, free_memory
from colme.neighbours import Method, bytes_of_graph, bytes_of_state
from colme.results import BYTES_PER_AGENT, DEFAULT_LIMIT
from colme.summary import BYTES_PER_VIEW

_BYTES_PER_AGENT = 200
"""Labels, true means and what is drawn to get them."""
_BYTES_PER_SAMPLE = 8.0
_BYTES_PER_CONTACT = 32
_BYTES_PER_ESTIMATE = 16
"""An estimate and the class counts beside it."""
_FEWER_CONTACTS = (64, 32, 16)
"""Numbers of contacts to suggest when there are too many."""
_MANY_PAIRS = 3e10
"""Comparisons of an agent with a peer that take about ten seconds."""
_PAIRS_BY_MODEL = 10
"""A comparison by a model takes as long as this many others."""
_PAIRS_PER_LINK = 25
"""One hop over a link of a graph takes as long as this many comparisons."""
_SPARE = 1.1
"""Libraries, and what is not counted."""


@dataclass(frozen=True)
class Size:
    """The numbers that decide how much memory an experiment takes.

    `longest_row` is how many agents one agent knows at most, itself included; `batch` the average
    number of samples per step.  `kept_for` says what needs samples and trajectories in memory, if
    anything does.  `bytes_per_view` and `bytes_per_stream` are of one agent: its view at one step,
    and what its stream keeps (see `colme.large.Cost`).  `methods` run on a graph, `threads` runs
    of them at once; `on_graph_alone` if nothing else runs.

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
    bytes_per_view: int = 16
    bytes_per_stream: int = 0
    methods: tuple[Method, ...] = ()
    on_graph_alone: bool = False
    threads: int = 1

    @property
    def is_folded(self) -> bool:
        """Whether metrics are folded block by block, because samples would take too much memory."""
        n_samples = self.runs * self.horizon * self.batch * self.n_agents
        return not self.kept_for and _BYTES_PER_SAMPLE * n_samples > DEFAULT_LIMIT

    @property
    def knows_all(self) -> bool:
        """Whether every agent knows every other."""
        return self.longest_row >= self.n_agents

    @property
    def is_long(self) -> bool:
        """Whether it takes so long that people want to know how long."""
        n_pairs = float(self.runs) * self.horizon * self.n_agents * self.longest_row
        each = _PAIRS_PER_LINK * max([method.reach for method in self.methods], default=0)
        if not self.on_graph_alone:
            each += _PAIRS_BY_MODEL if self.by_model else 1
        return (self.is_folded and not self.on_graph_alone) or n_pairs * each > _MANY_PAIRS

    @property
    def bytes(self) -> int:
        """How much memory the experiment takes at most, about."""
        n_values = self.n_agents * self.horizon
        if self.on_graph_alone:
            rows = 0.0
        elif self.is_folded:
            rows = self._folded
        else:
            kept = min(DEFAULT_LIMIT, self.runs * n_values * _BYTES_PER_ESTIMATE)
            known = 0 if self.longest_row >= self.n_agents else self.n_agents * self.longest_row
            rows = _BYTES_PER_SAMPLE * self.runs * n_values * self.batch
            rows += 2 * n_values * BYTES_PER_VIEW + kept + _BYTES_PER_CONTACT * known
        around = self.n_agents * _BYTES_PER_AGENT
        return int(_SPARE * (max(rows, self._on_graph if self.methods else 0) + around))

    def check(self) -> None:
        """Raise ValueError if less memory is free, and say what would fit.

        Examples
        --------
        >>> Size(n_agents=200, horizon=2500, runs=20, longest_row=200).check()
        >>> try:
        ...     Size(n_agents=10**12, horizon=10, runs=1, longest_row=16).check()
        ... except ValueError as error:
        ...     print(str(error).split(",")[0])
        this experiment takes about 8.32e+05 GB of memory
        """
        free, needed = free_memory(), self.bytes
        if free is not None and needed > free:
            raise ValueError(
                f"this experiment takes about {needed / 1e9:.3g} GB of memory, {free / 1e9:.3g} GB "
                f"are free: {self._remedy(free)}"
            )

    @property
    def _folded(self) -> int:
        """Bytes of a simulation that runs block by block."""
        return Cost(
            self.n_agents,
            self.longest_row,
            self.horizon,
            n_classes=self.n_classes,
            by_model=self.by_model,
            bytes_per_view=self.bytes_per_view,
            bytes_per_stream=self.bytes_per_stream,
            contacts=not self.knows_all,
            gossip=self.gossip,
            runs=self.runs,
        ).bytes

    @property
    def _on_graph(self) -> int:
        """Bytes of methods on a graph: the graph once, and the state of each run under way."""
        n, n_ends = self.n_agents, self.n_agents * (self.longest_row - 1)
        state = max(bytes_of_state(method, n, n_ends) for method in self.methods)
        states = min(self.runs, self.threads) * state
        return bytes_of_graph(n_ends) + states + n * self.runs * BYTES_PER_AGENT

    def _remedy(self, free: int) -> str:
        """Return what would fit."""
        if self.kept_for:
            return (
                f"{self.kept_for} needs all samples at once; do without, or ask for fewer agents, "
                "runs or steps"
            )
        for size in _FEWER_CONTACTS:
            if size < self.longest_row and (few := replace(self, longest_row=size)).bytes <= free:
                return f"let each agent know {size} ({few.bytes / 1e9:.2g} GB), with contacts"
        smaller = self
        while smaller.bytes > free:
            n_agents = smaller.n_agents * 3 // 4
            if n_agents < 1:
                return "ask for fewer runs or steps"
            row = min(self.longest_row, n_agents)
            smaller = replace(self, n_agents=n_agents, longest_row=row)
        digits = 10 ** max(len(str(smaller.n_agents)) - 2, 0)
        return f"ask for at most about {smaller.n_agents // digits * digits} agents"
