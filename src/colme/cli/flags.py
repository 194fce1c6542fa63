"""The flags of `colme simulate`, one group for each table of an experiment file.

Lives here: what each flag means and which key of its table it sets.  Must not know what is allowed:
the experiment says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from cyclopts import Group, Parameter

__all__ = ["ArrivalFlags", "BoundFlags", "ContactFlags", "DriftFlags", "Flags", "ProblemFlags"]

Many = tuple[float, ...]
Noise = Literal["gaussian", "bernoulli", "uniform", "beta"]


class Flags:
    """Flags that set the keys of one table.

    Examples
    --------
    >>> ArrivalFlags(batch=10).given()
    {'batch': 10}
    """

    called: ClassVar[dict[str, str]] = {}
    """Keys that are called otherwise than their flags."""
    choices: ClassVar[tuple[str, ...]] = ()
    """Keys of which a table has only one."""

    def given(self) -> dict[str, Any]:
        """Return the keys that flags set."""
        return {
            self.called.get(name, name): value
            for name, value in vars(self).items()
            if value is not None
        }

    def over(self, table: Any) -> Any:
        """Return a table of a file, overridden by the flags given.

        A flag that makes another choice than the file replaces the whole table.

        Examples
        --------
        >>> ArrivalFlags(batch=10).over({"rates": 0.5, "pattern": "poisson"})
        {'batch': 10}
        >>> ArrivalFlags(rates=(2.0,)).over({"rates": 0.5, "pattern": "poisson"})
        {'rates': 2.0, 'pattern': 'poisson'}
        """
        given = self.given()
        if not given or not isinstance(table, dict | None):
            return table  # the experiment says what is wrong with it
        table = table or {}
        chosen = {key for key in self.choices if key in given}
        other = {key for key in self.choices if key in table} != chosen
        return given if chosen and other else table | given


def _one_or_each(values: Many | None) -> Any:
    return values[0] if values is not None and len(values) == 1 else values


@Parameter(name="*", group=Group("Problem", sort_key=1))
@dataclass(frozen=True)
class ProblemFlags(Flags):
    """The problem.

    Attributes
    ----------
    class_means
        True mean of each class.
    class_sizes
        Number of agents in each class; or give --agents.
    agents
        Number of agents, each put into a class at random.
    noise
        How samples scatter: gaussian (default), bernoulli, uniform or beta.
    sigma
        Standard deviation of gaussian noise: one for all agents, or one for each.
    half_width
        Half the range of uniform noise.
    concentration
        Of beta noise: larger scatters less.
    low
        Least sample of beta noise (0).
    high
        Greatest sample of beta noise (1).
    bias
        Local bias: each agent's mean moves by up to this much from its class mean.
    change
        At which step which class moves to the mean of which other, and which share of it:
        --change 1500 0 2 0.5.  Can be repeated.
    problem_seed
        Seed for classes, biases and who moves (0).
    """

    class_means: Many | None = None
    class_sizes: tuple[int, ...] | None = None
    agents: int | None = None
    noise: Noise | None = None
    sigma: Many | None = None
    half_width: float | None = None
    concentration: float | None = None
    low: float | None = None
    high: float | None = None
    bias: float | None = None
    change: tuple[tuple[int, int, int, float], ...] | None = None
    problem_seed: int | None = None

    called: ClassVar[dict[str, str]] = {
        "agents": "n_agents",
        "change": "changes",
        "problem_seed": "seed",
    }

    def given(self) -> dict[str, Any]:
        """Return the keys that flags set."""
        table = super().given()
        if self.sigma is not None:
            table["sigma"] = _one_or_each(self.sigma)
        if self.change is not None:
            names = ("at", "from", "to", "share")
            table["changes"] = [dict(zip(names, one, strict=True)) for one in self.change]
        return table


@Parameter(name="*", group=Group("Arrivals", sort_key=3))
@dataclass(frozen=True)
class ArrivalFlags(Flags):
    """How many samples arrive at each step.

    Attributes
    ----------
    batch
        Samples that every agent takes at every step (1).
    rates
        Samples per step: one number for all agents, or one for each.
    rates_between
        Lowest and highest rate; each agent's is drawn in between, on a logarithmic scale.
    pattern
        steady (default), poisson (at random) or bursts (many at once, at random).
    burst
        Samples of one burst (10).
    late
        Share of agents that join late.
    late_by
        Share of the horizon within which they have joined (0.5).
    silent
        Share of agents that fall silent for good.
    arrivals_seed
        Seed for all that is drawn of the arrivals (0).
    """

    batch: int | None = None
    rates: Many | None = None
    rates_between: tuple[float, float] | None = None
    pattern: str | None = None
    burst: int | None = None
    late: float | None = None
    late_by: float | None = None
    silent: float | None = None
    arrivals_seed: int | None = None

    called: ClassVar[dict[str, str]] = {"rates_between": "between", "arrivals_seed": "seed"}
    choices: ClassVar[tuple[str, ...]] = ("batch", "rates", "between")

    def given(self) -> dict[str, Any]:
        """Return the keys that flags set."""
        table = super().given()
        return table if self.rates is None else table | {"rates": _one_or_each(self.rates)}


@Parameter(name="*", group=Group("Contacts", sort_key=4))
@dataclass(frozen=True)
class ContactFlags(Flags):
    """Who knows whom.

    Attributes
    ----------
    contacts
        Number of agents that each knows, itself included, drawn at random (all).
    graph
        File with the edges of a graph, two numbers per line: agents 0, 1, 2, ... that know each
        other.
    disconnected
        Accept a graph that falls into parts.
    regular
        Draw a graph in which everybody has so many neighbours.
    edge_probability
        Draw a graph with each edge at this probability.
    tree
        Draw a tree in which everybody has so many children.
    gossip
        Let agents hear of others, who take the places of excluded peers.
    gossip_every
        Steps from one gossip to the next (1).
    contacts_seed
        Seed for contacts and gossip (0).
    """

    contacts: int | None = None
    graph: str | None = None
    disconnected: bool | None = None
    regular: int | None = None
    edge_probability: float | None = None
    tree: int | None = None
    gossip: bool | None = None
    gossip_every: int | None = None
    contacts_seed: int | None = None

    called: ClassVar[dict[str, str]] = {
        "contacts": "size",
        "edge_probability": "probability",
        "contacts_seed": "seed",
    }
    choices: ClassVar[tuple[str, ...]] = ("size", "graph", "regular", "probability", "tree")


@Parameter(name="*", group=Group("Bound", sort_key=5))
@dataclass(frozen=True)
class BoundFlags(Flags):
    """How far the mean of a stream may be off.

    Attributes
    ----------
    bound
        laplace, normal-mixture, stitched, empirical-bernstein, betting, student or asymptotic; by
        default what suits each algorithm, from the scale of a sample.
    sample_range
        Lowest and highest possible sample, for empirical-bernstein and betting (that of the noise).
    n_opt
        Number of samples that normal-mixture, student and asymptotic are tuned for (1000).
    n_min
        Number of samples from which stitched is tight (1).
    burn_in
        Number of samples before which asymptotic claims nothing (30).
    n_grid
        Number of cells of betting (100).
    """

    bound: str | None = None
    sample_range: Annotated[tuple[float, float] | None, Parameter(name="--range")] = None
    n_opt: float | None = None
    n_min: float | None = None
    burn_in: int | None = None
    n_grid: int | None = None

    called: ClassVar[dict[str, str]] = {"bound": "kind"}

    def given(self) -> dict[str, Any]:
        """Return the keys that flags set."""
        table = super().given()
        ends = table.pop("sample_range", None)
        return table if ends is None else table | {"low": ends[0], "high": ends[1]}

    def over(self, table: Any) -> Any:
        """Return a table of a file, overridden; another kind replaces the whole table."""
        other = isinstance(table, dict) and self.bound not in (None, table.get("kind"))
        return super().over(None if other else table)


@Parameter(name="*", group=Group("Drift", sort_key=6))
@dataclass(frozen=True)
class DriftFlags(Flags):
    """How streams forget, for means that change.

    Attributes
    ----------
    window
        Only so many of the latest samples count.
    discount
        What a sample loses with each that follows, as a factor.
    restart
        Begin anew when the mean must have changed.
    alarm
        Probability that a stream whose mean never changes is ever restarted (0.001).
    detector
        What finds changes: sequences (default) or adwin.
    revisit
        Every so many queries one goes to an excluded peer (10); 0: none.
    """

    window: int | None = None
    discount: float | None = None
    restart: bool | None = None
    alarm: float | None = None
    detector: str | None = None
    revisit: int | None = None

    choices: ClassVar[tuple[str, ...]] = ("window", "discount", "restart")
