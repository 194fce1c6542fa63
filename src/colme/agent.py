"""One agent, without I/O: it owns one row of memory and a few verbs.

Lives here: the state of one agent.  Must not know sockets, clocks, logging or other agents'
objects: only names, queries and replies.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Self

from colme import _check, model, rules
from colme.algorithm import Algorithm, ClassTest, Weighting, resolve
from colme.bounds import Bound, Evidence, choose_bound, split_risk
from colme.messages import Query, Reply, Snapshot
from colme.summary import View, recentred

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
        Sub-Gaussian scale of one sample; or give a bound.
    bound
        How far the mean of the agent's stream may be off, from `colme.bounds`, at whatever risk:
        the agent splits its own.
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
    >>> round(a.estimate, 3)
    0.4
    >>> sorted(a.optimistic_class)
    ['a', 'b']
    """

    def __init__(
        self,
        name: str,
        *,
        sigma: float | None = None,
        bound: Bound | None = None,
        delta: float,
        max_agents: int,
        algorithm: str | Algorithm = "sharp",
        eta: float | None = None,
        peers: Iterable[str] = (),
        classmates: Iterable[str] | None = None,
    ) -> None:
        self.name = name
        self.algorithm = resolve(algorithm, eta)
        self.delta = _check.risk("delta", delta)
        self.max_agents = _check.positive_int("max_agents", max_agents)
        gamma = split_risk(delta, max_agents)
        self.bound = choose_bound(self.algorithm.class_test, sigma, bound, gamma)
        if (classmates is None) == (self.algorithm.class_test == ClassTest.KNOWN):
            raise ValueError(
                "classmates are given exactly when the algorithm's class test is 'known'; "
                f"received classmates={classmates!r} with {self.algorithm.class_test.word!r}"
            )
        self._choice = rules.Choice(
            self.algorithm.query,
            self.algorithm.class_test,
            self.algorithm.weighting,
            self.algorithm.eta,
            -math.log(gamma),
        )
        self._classmates = None if classmates is None else frozenset(classmates) | {name}
        self._cursor = -1
        self._index: dict[str, int] = {}
        self._row = rules.Row.blank(0)
        self._replies: list[Reply] = []
        self._model = model.Model.blank()
        self._bench = model.Bench.blank(0)
        self._stream = self.bound.stream()
        names = list(peers)
        for peer in names if name in names else [name, *names]:
            self.meet(peer)
        self._self = self._index[name]

    def __repr__(self) -> str:
        return f"Agent({self.name!r}, count={self.count}, estimate={self.estimate:.6g})"

    @property
    def local_mean(self) -> float:
        """The mean of the agent's own samples; 0 before the first."""
        return self._stream.mean

    @property
    def count(self) -> int:
        """How many samples the agent has perceived."""
        return self._stream.count

    @property
    def peers(self) -> tuple[str, ...]:
        """The names in the row, the agent's own among them, in the order of asking."""
        return tuple(self._index)

    @property
    def interval(self) -> tuple[float, float]:
        """An interval that holds the agent's true mean at all times at once, with risk γ."""
        return self._stream.interval

    @property
    def optimistic_class(self) -> frozenset[str]:
        """The peers that may share the agent's mean, itself included; unheard peers are in."""
        return self._named(self._pool()[0].member)

    @property
    def likely_class(self) -> frozenset[str]:
        """The peers that more probably than not share the agent's mean: no guarantee.

        Only algorithms that weigh by a model say so; for others it is the agent alone.
        """
        same = [False] * len(self._replies)
        row = self._pool()[0]
        model.meet_all(len(same), row, self._model, self._bench)
        model.likely(self._self, len(same), row, self._model, self._bench, same)
        return self._named(same)

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
        self._replies.append(Reply(peer, 0.0, 0))
        for values, value in zip(self._row, (*View(), True), strict=True):
            values.append(value)  # type: ignore[union-attr, arg-type]
        self._row.member[-1] = self._classmates is None or peer in self._classmates
        self._bench = model.Bench.blank(len(self._index))

    def perceive(self, sample: float) -> None:
        """Fold one sample of the agent's own stream; refuse NaN and infinities."""
        self._stream.update(_check.sample("sample", sample))
        self._remember(self.answer(Query(self.name, self.name)))
        self._exclude()

    def choose_peer(self) -> str | None:
        """Return the peer to ask now and move the cursor there; None if there is nobody to ask."""
        l = rules.next_peer(self._choice, self._self, len(self._index), self._cursor, self._row)
        if l < 0:
            return None
        self._cursor = l
        return self.peers[l]

    def answer(self, query: Query) -> Reply:
        """Return what the agent says about itself."""
        if query.receiver != self.name:
            raise ValueError(f"{self.name!r} received a query meant for {query.receiver!r}")
        stream = self._stream
        told = recentred(stream.evidence, stream.mean)
        shape = (told.spread, told.slope, float(told.offset))
        return Reply(self.name, stream.mean, stream.count, stream.squares, shape, int(stream.epoch))

    def receive(self, reply: Reply) -> bool:
        """Remember a peer's reply; return False if it is older than what is known already."""
        if reply.sender == self.name:
            raise ValueError(f"{self.name!r} received a reply in its own name")
        reply = self._completed(reply)
        self.meet(reply.sender)
        if reply.count < self._replies[self._index[reply.sender]].count:
            return False
        self._remember(reply)
        self._exclude()
        if self.algorithm.weighting == Weighting.MODEL and model.refit_due(self._model, self.count):
            n = len(self._index)
            model.learn_noise(n, self.bound.scale, self._row, self._model)
            model.refit(self._self, n, self.count, self._row, self._model, self._bench)
        return True

    def snapshot(self) -> Snapshot:
        """Return all state, to be restored later with `Agent.restore`."""
        sticky = self.algorithm.class_test == ClassTest.JOINT
        return Snapshot(
            name=self.name,
            algorithm=self.algorithm,
            bound=self.bound,
            delta=self.delta,
            max_agents=self.max_agents,
            replies=tuple(self._replies),
            cursor=self._cursor,
            classmates=None if self._classmates is None else tuple(sorted(self._classmates)),
            excluded=tuple(
                peer for peer, l in self._index.items() if sticky and not self._row.member[l]
            ),
            stream=self._stream.state(),
            model=tuple(tuple(part) for part in self._model),
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
            bound=snapshot.bound,
            delta=snapshot.delta,
            max_agents=snapshot.max_agents,
            algorithm=snapshot.algorithm,
            peers=[reply.sender for reply in snapshot.replies],
            classmates=snapshot.classmates,
        )
        agent._cursor = snapshot.cursor
        agent._stream = agent.bound.resume(snapshot.stream)
        agent._model = model.Model.of(snapshot.model)
        for reply in snapshot.replies:
            agent._remember(reply)
        for peer in snapshot.excluded:
            agent._row.member[agent._index[peer]] = False
        return agent

    def _remember(self, reply: Reply) -> None:
        """Write a reply into the row, as the agent reads it at its own risk."""
        l = self._index[reply.sender]
        reply = self._completed(reply)
        self._replies[l] = reply
        if reply.count == 0 or reply.squares is None or reply.shape is None:
            return
        radius = Evidence(reply.mean, *reply.shape).radius(self._choice.log_risk)
        precision = model.mean_precision(reply.count, reply.squares, self._model)
        seen = View(
            reply.mean, reply.count, radius, precision, *reply.shape, reply.squares, reply.epoch
        )
        rules.remember(self._row, l, seen)

    def _completed(self, reply: Reply) -> Reply:
        """Return the reply with what its sender left out, as the agent's own bound has it."""
        if reply.count == 0 or (reply.squares is not None and reply.shape is not None):
            return reply
        shape = getattr(self.bound, "shape", None)
        if shape is None:
            raise ValueError(
                f"the reply of {reply.sender!r} carries no evidence, and the agent's own bound, "
                f"{type(self.bound).__name__}, cannot stand in: let it answer with squares and "
                "shape"
            )
        return replace(
            reply,
            squares=(reply.count - 1) * self.bound.scale**2
            if reply.squares is None
            else reply.squares,
            shape=shape(reply.count) if reply.shape is None else reply.shape,
        )

    def _exclude(self) -> None:
        """Rule out for good whom the joint test rules out now; other tests keep no memory."""
        if self.algorithm.class_test == ClassTest.JOINT:
            rules.classify(self._choice, self._self, len(self._index), self._row)

    def _pool(self) -> tuple[rules.Row, float]:
        """Return the row as it is classified now, and the estimate; change nothing."""
        n = len(self._index)
        row = self._row._replace(member=list(self._row.member))
        if self.algorithm.weighting != Weighting.MODEL:
            return row, rules.pool(self._choice, self._self, n, row)[1]
        rules.classify(self._choice, self._self, n, row)
        model.gather(self._self, n, row, self._model, self._bench)
        own = rules.view(row, self._self)
        if own.n_samples > 0:
            return row, model.expected_mean(own, self._model, self._bench)
        weights, total = rules.simple_sums(n, row)
        return row, total / weights if weights > 0 else math.nan

    def _named(self, flags: rules.Flags) -> frozenset[str]:
        return frozenset(peer for peer, flag in zip(self._index, flags, strict=True) if flag)
