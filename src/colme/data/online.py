"""Personalised means while rows keep coming: an estimate of each agent after every value.

Lives here: one plain agent for each name, and how their queries travel.  Must not know tables,
files or how an agent decides.
"""

from __future__ import annotations

import json
import math
from collections.abc import Container, Iterable, Mapping
from typing import Any, Self

from colme import _check
from colme.agent import Agent
from colme.algorithm import Algorithm, ClassTest, QueryStrategy, resolve
from colme.bounds import Bound, from_plain, to_plain
from colme.bounds.known_noise import ONLINE_N_OPT, KnownNoise
from colme.data.names import Name, listed, name_of
from colme.messages import Query, Snapshot

_SHARED = ("name", "algorithm", "bound", "delta", "max_agents", "classmates", "room")
"""Fields of a snapshot that all agents share, or that are stored elsewhere."""


class OnlineMeans:
    """Each agent's mean with help of its peers, one value at a time.

    When a value arrives, its agent folds it into its own mean and asks one peer for that peer's.
    Agents may appear at any time.

    Parameters
    ----------
    algorithm
        A name in `colme.ALGORITHMS` or an Algorithm; `sharp` is recommended.
    sigma
        The sub-Gaussian scale of one sample, if known.
    value_range
        (low, high), if all samples are known to lie there; others are refused.
    bound
        Any bound from `colme.bounds`.  Without this, sigma and a range, noise is unknown:
        `Student`, which is exact for Gaussian samples and approximate for others.
    delta
        The risk of each agent's class and interval.
    eta
        Agents whose means differ by at most this much count as one class.
    max_agents
        The most agents there will ever be: risks are split over them.
    key
        If agents come as mappings (rows, as in River), where the name stands in them.

    Examples
    --------
    >>> means = OnlineMeans(sigma=1.0)
    >>> means.predict_one("north") is None
    True
    >>> for north, south in [(20.0, 30.0), (21.0, 31.0), (19.0, 29.0)] * 20:
    ...     means.learn_one("north", north)
    ...     means.learn_one("south", south)
    >>> means.predict_one("north"), means.predict_one("never seen")
    (20.0, 25.0)
    >>> sorted(means.class_one("north")), len(means), "south" in means
    (['north'], 2, True)

    Notes
    -----
    A value costs one pass over the peers that its agent has met, and so does the first prediction
    after it; each of these peers takes about a kilobyte.  An agent meets one more peer each time it
    asks, so it has met min(agents - 1, its values) of them.  That is the same as knowing everybody
    from the start: peers are asked in the same order, and one never heard from weighs nothing.
    """

    def __init__(
        self,
        algorithm: str | Algorithm = "sharp",
        *,
        sigma: float | None = None,
        value_range: tuple[float, float] | None = None,
        bound: Bound | None = None,
        delta: float = 0.05,
        eta: float | None = None,
        max_agents: int = 1000,
        key: str | None = None,
    ) -> None:
        self.algorithm = resolve(algorithm, eta)
        if self.algorithm.class_test == ClassTest.KNOWN:
            raise ValueError("oracle knows the true classes, and a stream does not: choose another")
        if sum(given is not None for given in (sigma, value_range, bound)) > 1:
            raise ValueError(
                "give one of sigma, value_range and bound; received "
                f"{sigma!r}, {value_range!r}, {bound!r}"
            )
        self.sigma, self.value_range, self.bound, self.key = sigma, value_range, bound, key
        self.delta, self.eta = _check.risk("delta", delta), eta
        self.max_agents = _check.positive_int("max_agents", max_agents)
        self._bound = self._new("0").bound
        self._names: list[Name] = []
        self._agents: dict[Name, Agent] = {}
        self._estimates: dict[Name, float] = {}

    def __len__(self) -> int:
        return len(self._agents)

    def __contains__(self, agent: object) -> bool:
        return self._named(agent) in self._agents

    def __repr__(self) -> str:
        return f"OnlineMeans({len(self)} agents, at most {self.max_agents})"

    @property
    def agents(self) -> tuple[Name, ...]:
        """The names known, in order of their first value."""
        return tuple(self._names)

    def learn_one(self, agent: Any, value: float) -> None:
        """Fold one value of an agent, which then asks one peer."""
        self.learn_many([agent], [value])

    def learn_many(self, agents: Iterable[Any], values: Iterable[float]) -> None:
        """Fold values that arrive together: first all are folded, then agents ask.

        An agent asks as often as it has values here, but no more often than it has peers.  All
        values are refused if one is bad.
        """
        batch = self._checked(agents, values)
        for name, samples in batch.items():
            if name not in self._agents:
                self._agents[name] = self._new(str(len(self._names)))
                self._names.append(name)
            self._agents[name].perceive(*samples)
            self._estimates.pop(name, None)
        most = 0 if self.algorithm.query == QueryStrategy.NONE else len(self) - 1
        turns = {name: min(len(samples), most) for name, samples in batch.items()}
        for turn in range(max(turns.values(), default=0)):
            for name, wanted in turns.items():
                if turn < wanted:
                    self._ask(self._agents[name])

    def predict_one(self, agent: Any) -> float | None:
        """Return the agent's estimate; None before the first value of all.

        For an agent never seen it is the average of the agents' estimates, each counting once.
        """
        name = self._named(agent)
        if name in self._agents:
            return self._estimate(name)
        if not self._agents:
            return None
        return math.fsum(self._estimate(known) for known in self._names) / len(self)

    def interval_one(self, agent: Any) -> tuple[float, float]:
        """Return where the agent's true mean is, from its own samples; everything if never seen.

        It holds at all times at once with probability 1 - γ, γ = δ / (8 max_agents), whatever the
        peers are; so the intervals of all agents hold together with probability 1 - δ/8.
        """
        known = self._agents.get(self._named(agent))
        return (-math.inf, math.inf) if known is None else known.interval

    def class_one(self, agent: Any) -> frozenset[Name]:
        """Return all agents that may share this one's mean, itself included.

        With probability 1 - delta all agents of its true mean are among them, at all times at once.
        """
        name = self._named(agent)
        known = self._agents.get(name)
        if known is None:
            return frozenset([*self._names, name])
        excluded = set(known.peers) - known.optimistic_class
        return frozenset(self._names) - {self._names[int(peer)] for peer in excluded}

    def to_plain(self) -> dict[str, Any]:
        """Return the whole state as plain values, ready for JSON."""
        return {
            "algorithm": _record(self._new("0"))["algorithm"],
            "sigma": self.sigma,
            "value_range": None if self.value_range is None else list(self.value_range),
            "bound": None if self.bound is None else to_plain(self.bound),
            "delta": self.delta,
            "max_agents": self.max_agents,
            "key": self.key,
            "agents": [[name, _record(agent, _SHARED)] for name, agent in self._agents.items()],
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """Return means that go on exactly where `to_plain` was called.

        Examples
        --------
        >>> means = OnlineMeans()
        >>> means.learn_one("north", 20.0)
        >>> OnlineMeans.from_plain(means.to_plain()).predict_one("north")
        20.0
        """
        try:
            settings = {name: value for name, value in plain.items() if name != "agents"}
            settings["algorithm"] = Algorithm(**settings["algorithm"])
            if settings["bound"] is not None:
                settings["bound"] = from_plain(settings["bound"])
            means = cls(**settings)
            means._names = [name for name, _ in plain["agents"]]
            for place, (name, state) in enumerate(plain["agents"]):
                means._agents[name] = means._restored(place, state)
            if not len(means._agents) == len(means._names) <= means.max_agents:
                raise ValueError("agents must be all different, and at most max_agents")  # noqa: TRY301
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"not what to_plain returns: {error}") from None
        return means

    def _restored(self, place: int, state: Mapping[str, Any]) -> Agent:
        """Return the agent at a place, from what it has for itself."""
        record = _record(self._new(str(place))) | dict(state)
        agent = Agent.restore(Snapshot.from_json(json.dumps(record)))
        if not all(int(peer) < len(self._names) for peer in agent.peers):
            raise ValueError(f"{self._names[place]!r} knows agents that are not there")
        return agent

    def _new(self, name: str) -> Agent:
        """Return an agent that knows nobody yet."""
        known = KnownNoise(self.sigma, self.value_range)
        test, any_risk = self.algorithm.class_test, self.delta
        return Agent(
            name,
            bound=self.bound or known.bound(test, any_risk, n_opt=ONLINE_N_OPT),
            delta=self.delta,
            max_agents=self.max_agents,
            algorithm=self.algorithm,
        )

    def _ask(self, agent: Agent) -> None:
        """Let an agent meet the next peer in order, if there is one, and ask whom it chooses."""
        met = len(agent.peers) - 1
        following = met if met < int(agent.name) else met + 1
        if following < len(self._names):
            agent.meet(str(following))
        peer = agent.choose_peer()
        if peer is not None:
            asked = self._agents[self._names[int(peer)]]
            agent.receive(asked.answer(Query(agent.name, peer)))

    def _estimate(self, name: Name) -> float:
        if name not in self._estimates:
            self._estimates[name] = self._agents[name].estimate
        return self._estimates[name]

    def _named(self, agent: Any) -> Name:
        if self.key is not None and isinstance(agent, Mapping):
            return name_of(agent[self.key])
        return name_of(agent)

    def _checked(self, agents: Iterable[Any], values: Iterable[float]) -> dict[Name, list[float]]:
        """Return the values of each agent, or raise ValueError before anything is changed."""
        names = [self._named(agent) for agent in listed(agents)]
        samples = [_check.sample("value", value) for value in listed(values)]
        n, m = len(names), len(samples)
        if n != m:
            raise ValueError(f"received {n} agents for {m} values: give one each")
        if samples:
            self._check_ends(min(samples), max(samples))
        batch: dict[Name, list[float]] = {}
        for name, sample in zip(names, samples, strict=True):
            batch.setdefault(name, []).append(sample)
        n = len(self._agents.keys() | batch.keys())
        if n > self.max_agents:
            raise ValueError(
                f"risks are split over {self.max_agents} agents; received {n}: raise max_agents"
            )
        return batch

    def _check_ends(self, least: float, largest: float) -> None:
        """Raise ValueError if a value is out of range, or out of that of the bound."""
        trial = self._bound.stream()
        for value in (least, largest):
            trial.update(value)
        low, high = self.value_range or (least, largest)
        if least < low or largest > high:
            raise ValueError(
                f"all values must lie in [{low:g}, {high:g}]; received "
                f"{least if least < low else largest:g}: drop it or give a wider range"
            )


def _record(agent: Agent, without: Container[str] = ()) -> dict[str, Any]:
    """Return what an agent has stored, without some fields."""
    record: dict[str, Any] = json.loads(agent.snapshot().to_json())
    return {field: value for field, value in record.items() if field not in without}
