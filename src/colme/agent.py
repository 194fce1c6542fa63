"""One agent, without I/O: it owns one row of memory and a few verbs.

Lives here: the state of one agent.  Must not know sockets, clocks, logging or other agents'
objects: only names, queries and replies.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from colme import _check, rules
from colme.algorithm import Algorithm, ClassTest, resolve
from colme.bounds import Laplace, split_risk
from colme.messages import Query, Reply, Snapshot
from colme.summary import Summary

__all__ = ["Agent"]


class Agent:
    """An agent that learns its own mean, with the help of peers that may share it.

    Each step: `perceive` a sample, `choose_peer`, deliver the query to that peer's `answer`,
    hand the reply to `receive`, read `estimate`.  How queries and replies travel is up to you.

    Parameters
    ----------
    name
        The agent's own name.
    sigma
        Sub-Gaussian scale of one sample.
    delta
        Total risk of this agent's guarantees.
    max_agents
        The most agents, this one included, that it may ever know: the risk is split over them.
    algorithm
        A name from `colme.ALGORITHMS` or an `Algorithm`.
    eta
        Replaces the algorithm's η when given.
    peers
        Names known from the start, in the order in which they will be asked; may contain the
        agent's own name, which otherwise comes first.  Peers met later are appended.
    classmates
        The true class, for algorithms that know it (``oracle``).

    Examples
    --------
    >>> a, b = (Agent(name, sigma=0.5, delta=0.01, max_agents=2, peers="ab") for name in "ab")
    >>> for sample in (0.3, 0.5):
    ...     a.perceive(sample)
    >>> b.perceive(0.7)
    >>> a.choose_peer()
    'b'
    >>> a.receive(b.answer(Query("a", "b")))
    True
    >>> a.estimate
    0.5
    >>> sorted(a.optimistic_class)
    ['a', 'b']
    """

    def __init__(
        self,
        name: str,
        *,
        sigma: float,
        delta: float,
        max_agents: int,
        algorithm: str | Algorithm = "restricted-round-robin",
        eta: float | None = None,
        peers: Iterable[str] = (),
        classmates: Iterable[str] | None = None,
    ) -> None:
        self.name = name
        self.algorithm = resolve(algorithm, eta)
        self.delta = _check.risk("delta", delta)
        self.max_agents = _check.positive_int("max_agents", max_agents)
        self.bound = Laplace(sigma, split_risk(delta, max_agents))
        if (classmates is None) == (self.algorithm.class_test == ClassTest.KNOWN):
            raise ValueError(
                "classmates are given exactly when the algorithm's class test is 'known'; "
                f"received classmates={classmates!r} with {self.algorithm.class_test.word!r}"
            )
        self._classmates = None if classmates is None else frozenset(classmates) | {name}
        self._cursor = -1
        self._index: dict[str, int] = {}
        self._means: list[float] = []
        self._counts: list[int] = []
        self._radii: list[float] = []
        names = list(peers)
        for peer in names if name in names else [name, *names]:
            self.meet(peer)
        self._self = self._index[name]

    def __repr__(self) -> str:
        return f"Agent({self.name!r}, count={self.count}, estimate={self.estimate:.6g})"

    @property
    def local_mean(self) -> float:
        """The mean of the agent's own samples; 0 before the first."""
        return self._means[self._self]

    @property
    def count(self) -> int:
        """How many samples the agent has perceived."""
        return self._counts[self._self]

    @property
    def peers(self) -> tuple[str, ...]:
        """The names in the row, the agent's own among them, in the order of asking."""
        return tuple(self._index)

    @property
    def interval(self) -> tuple[float, float]:
        """An interval that holds the agent's true mean at all times at once, with risk γ."""
        radius = self._radii[self._self]
        return self.local_mean - radius, self.local_mean + radius

    @property
    def optimistic_class(self) -> frozenset[str]:
        """The peers that may share the agent's mean, itself included; unheard peers are in."""
        member = self._pool()[0]
        return frozenset(peer for peer, belongs in zip(self._index, member, strict=True) if belongs)

    @property
    def estimate(self) -> float:
        """The agent's current estimate of its own mean; NaN before there is anything to weigh."""
        return self._pool()[1]

    def meet(self, peer: str) -> None:
        """Make room for a peer in the row; do nothing if it is already known."""
        if peer in self._index:
            return
        if not isinstance(peer, str) or not peer:
            raise ValueError(f"a peer is named by a non-empty string; received {peer!r}")
        if len(self._index) == self.max_agents:
            raise ValueError(
                f"{self.name!r} split its risk over {self.max_agents} agents and knows as many; "
                f"received one more, {peer!r}: declare a larger max_agents"
            )
        self._index[peer] = len(self._index)
        self._means.append(0.0)
        self._counts.append(0)
        self._radii.append(self.bound.radius(0))

    def perceive(self, sample: float) -> None:
        """Fold one sample of the agent's own stream; refuse NaN and infinities."""
        summary = Summary(self.local_mean, self.count).fold(sample)
        self._write(self._self, summary.mean, summary.count)

    def choose_peer(self) -> str | None:
        """Return the peer to ask now and move the cursor there; None if there is nobody to ask."""
        l = rules.next_peer(
            self.algorithm.query,
            self.algorithm.class_test,
            self._self,
            len(self._means),
            self._cursor,
            self.algorithm.eta,
            self._means,
            self._radii,
            self._known_members(),
        )
        if l < 0:
            return None
        self._cursor = l
        return self.peers[l]

    def answer(self, query: Query) -> Reply:
        """Return what the agent says about itself."""
        if query.receiver != self.name:
            raise ValueError(f"{self.name!r} received a query meant for {query.receiver!r}")
        return Reply(self.name, self.local_mean, self.count)

    def receive(self, reply: Reply) -> bool:
        """Remember a peer's reply; return False if it is older than what is known already."""
        if reply.sender == self.name:
            raise ValueError(f"{self.name!r} received a reply in its own name")
        self.meet(reply.sender)
        l = self._index[reply.sender]
        if reply.count < self._counts[l]:
            return False
        self._write(l, reply.mean, reply.count)
        return True

    def snapshot(self) -> Snapshot:
        """Return all state, to be restored later with `Agent.restore`."""
        return Snapshot(
            name=self.name,
            algorithm=self.algorithm,
            sigma=self.bound.sigma,
            delta=self.delta,
            max_agents=self.max_agents,
            peers=self.peers,
            means=tuple(self._means),
            counts=tuple(self._counts),
            cursor=self._cursor,
            classmates=None if self._classmates is None else tuple(sorted(self._classmates)),
        )

    @classmethod
    def restore(cls, snapshot: Snapshot) -> Self:
        """Return an agent that goes on exactly where `snapshot` was taken.

        Examples
        --------
        >>> agent = Agent("a", sigma=0.5, delta=0.01, max_agents=1)
        >>> agent.perceive(0.3)
        >>> Agent.restore(agent.snapshot()).estimate
        0.3
        """
        agent = cls(
            snapshot.name,
            sigma=snapshot.sigma,
            delta=snapshot.delta,
            max_agents=snapshot.max_agents,
            algorithm=snapshot.algorithm,
            peers=snapshot.peers,
            classmates=snapshot.classmates,
        )
        agent._cursor = snapshot.cursor
        for l, (mean, count) in enumerate(zip(snapshot.means, snapshot.counts, strict=True)):
            agent._write(l, mean, count)
        return agent

    def _write(self, l: int, mean: float, count: int) -> None:
        self._means[l] = mean
        self._counts[l] = count
        self._radii[l] = self.bound.radius(count)

    def _known_members(self) -> list[bool]:
        """Return who is known to be a classmate; everybody may be one where nothing is known."""
        if self._classmates is None:
            return [True] * len(self._means)
        return [peer in self._classmates for peer in self._index]

    def _pool(self) -> tuple[list[bool], float]:
        """Return the optimistic class and the estimate from the row as it is now."""
        member = self._known_members()
        _, estimate = rules.pool(
            self.algorithm.weighting,
            self.algorithm.class_test,
            self._self,
            len(member),
            self.algorithm.eta,
            self._means,
            self._counts,
            self._radii,
            member,
        )
        return member, estimate
