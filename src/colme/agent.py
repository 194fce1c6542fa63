"""One agent, without I/O: it owns one row of memory and a few verbs.

Lives here: the state of one agent.  Must not know sockets, clocks, logging or other agents'
objects: only names, queries and replies.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from colme import _check, model, rules
from colme.algorithm import Algorithm, ClassTest, Weighting, resolve
from colme.bounds import Bound, choose_bound, split_risk
from colme.memory import Memory
from colme.messages import Query, Reply, Snapshot
from colme.reading import completed, view_of
from colme.summary import recentred

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
    eta, within
        Replace the algorithm's own when given.
    peers
        Names known from the start, in the order in which they will be asked; may contain the
        agent's own name, which otherwise comes first.  Peers met later are appended.
    classmates
        The true class, for algorithms that know it (``oracle``).
    room
        How many agents, itself included, the agent remembers at a time; by default all it meets.
        In a full row a peer that is met takes the place of one that was excluded, or is unlikely
        to share the agent's mean.

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
        within: float | None = None,
        peers: Iterable[str] = (),
        classmates: Iterable[str] | None = None,
        room: int | None = None,
    ) -> None:
        self.name = name
        self.algorithm = resolve(algorithm, eta, within)
        self.room = None if room is None else _check.positive_int("room", room)
        self.delta = _check.risk("delta", delta)
        self.max_agents = _check.positive_int("max_agents", max_agents)
        gamma = split_risk(delta, max_agents)
        self.bound = choose_bound(self.algorithm.class_test, sigma, bound, gamma)
        if (classmates is None) == (self.algorithm.class_test == ClassTest.KNOWN):
            raise ValueError(
                "classmates are given exactly when the algorithm's class test is 'known'; "
                f"received classmates={classmates!r} with {self.algorithm.class_test.word!r}"
            )
        self._choice = rules.Choice.of(self.algorithm, gamma)
        self._turn = rules.Turn()
        self._model = model.Model.blank()
        self._stream = self.bound.stream()
        names = list(peers)
        names = names if name in names else [name, *names]
        if self.room is not None and len(set(names)) > self.room:
            raise ValueError(
                f"{name!r} has room for {self.room} agents, itself included; received "
                f"{len(set(names))}: name fewer peers or give it more room"
            )
        known = None if classmates is None else frozenset(classmates) | {name}
        self._memory = Memory(name, names, self.max_agents, self._choice, known)
        self._bench = model.Bench.blank(len(self._memory))

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
        return tuple(self._memory.names)

    @property
    def interval(self) -> tuple[float, float]:
        """An interval that holds the agent's true mean at all times at once, with risk γ."""
        return self._stream.interval

    @property
    def optimistic_class(self) -> frozenset[str]:
        """The peers that may share the agent's mean, itself included; unheard peers are in."""
        return self._memory.named(self._pool()[0].member)

    @property
    def likely_class(self) -> frozenset[str]:
        """The peers that more probably than not share the agent's mean: no guarantee.

        Only algorithms that weigh by a model say so; for others it is the agent alone.
        """
        same = [False] * len(self._memory.replies)
        row = self._pool()[0]
        model.meet_all(len(same), row, self._model, self._bench)
        model.likely(self._memory.own, len(same), row, self._model, self._bench, same)
        return self._memory.named(same)

    @property
    def estimate(self) -> float:
        """The agent's current estimate of its own mean; NaN before there is anything to weigh."""
        return self._pool()[1]

    def meet(self, peer: str) -> bool:
        """Make room for a peer in the row; return False if there is none to be made."""
        memory, n = self._memory, len(self._memory)
        if peer in memory.index:
            return True
        if self.room is not None and n == self.room:
            l = rules.next_room(self._choice, memory.own, n, self._turn.cursor, memory.row)
            if l < 0:
                return False
            if memory.row.counts[l] > 0:
                model.forget(memory.row.means[l], self._model)
            memory.give(l, peer)
            return True
        memory.add(peer)
        self._bench = model.Bench.blank(n + 1)
        return True

    def perceive(self, *samples: float) -> None:
        """Fold the samples that have arrived, one or more; refuse all of them if one is bad."""
        values = [_check.sample("sample", sample) for sample in samples]
        if not values:
            return
        before = self._stream.state() if len(values) > 1 else None
        try:
            for value in values:
                self._stream.update(value)
        except ValueError:
            if before is not None:
                self._stream = self.bound.resume(before)
            raise
        if self._stream.epoch > self._memory.row.epochs[self._memory.own]:
            self._begin_anew()
        self._remember(self.answer(Query(self.name, self.name)))
        self._exclude()

    def choose_peer(self) -> str | None:
        """Return the peer to ask now and move on to it; None if there is nobody to ask."""
        l, self._turn = rules.take_turn(
            self._choice,
            self._memory.own,
            len(self._memory),
            self.bound.revisit_in(int(self._memory.row.epochs[self._memory.own])),
            self._turn,
            self._memory.row,
        )
        return None if l < 0 else self._memory.names[l]

    def answer(self, query: Query) -> Reply:
        """Return what the agent says about itself."""
        if query.receiver != self.name:
            raise ValueError(f"{self.name!r} received a query meant for {query.receiver!r}")
        stream = self._stream
        told = recentred(stream.evidence, stream.mean)
        shape = (told.spread, told.slope, float(told.offset))
        return Reply(self.name, stream.mean, stream.count, stream.squares, shape, int(stream.epoch))

    def receive(self, reply: Reply) -> bool:
        """Remember a peer's reply; return False if it is older than what is known already.

        Nor is it remembered if the sender is unknown and the row has no room for it.
        """
        if reply.sender == self.name:
            raise ValueError(f"{self.name!r} received a reply in its own name")
        reply = completed(reply, self.bound)
        if not self.meet(reply.sender):
            return False
        known = self._memory.replies[self._memory.index[reply.sender]]
        if reply.epoch < known.epoch:
            raise ValueError(
                f"{reply.sender!r} has begun anew {known.epoch} times, and its reply says "
                f"{reply.epoch}: an epoch never goes back; drop the reply, or let a device that "
                "has lost its memory go on from a later epoch"
            )
        if reply.epoch == known.epoch and reply.count < known.count:
            return False
        self._remember(reply)
        self._exclude()
        clock = max(self.count, self._turn.n_asked)
        if self.algorithm.weighting == Weighting.MODEL and model.refit_due(self._model, clock):
            n = len(self._memory)
            model.learn_noise(n, self.bound.scale, self._memory.row, self._model)
            model.refit(self._memory.own, n, clock, self._memory.row, self._model, self._bench)
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
            replies=tuple(self._memory.replies),
            turn=self._turn,
            classmates=None
            if self._memory.classmates is None
            else tuple(sorted(self._memory.classmates)),
            excluded=tuple(
                peer
                for peer, l in self._memory.index.items()
                if sticky and not self._memory.row.member[l]
            ),
            shown=tuple(
                peer
                for peer, l in self._memory.index.items()
                if sticky and self.algorithm.within is not None and self._memory.row.shown[l]
            ),
            room=self.room,
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
            room=snapshot.room,
        )
        agent._turn = rules.Turn(*snapshot.turn)
        agent._stream = agent.bound.resume(snapshot.stream)
        agent._model = model.Model.of(snapshot.model)
        for reply in snapshot.replies:
            agent._remember(reply)
        for peer in snapshot.excluded:
            agent._memory.row.member[agent._memory.index[peer]] = False
        for peer in snapshot.shown:
            agent._memory.row.shown[agent._memory.index[peer]] = True
        return agent

    def _begin_anew(self) -> None:
        """Forget every exclusion: the agent's own stream has begun anew."""
        rules.begin_anew(self._choice, self._memory.own, len(self._memory), self._memory.row)
        model.hurry(self._model)
        self._turn = self._turn._replace(n_asked=0)

    def _remember(self, reply: Reply) -> None:
        """Write a reply into the row, as the agent reads it at its own risk."""
        reply = completed(reply, self.bound)
        self._memory.write(reply, view_of(reply, self._choice.log_risk, self._model))

    def _exclude(self) -> None:
        """Rule out for good whom the joint test rules out now; other tests keep no memory."""
        if self.algorithm.class_test == ClassTest.JOINT:
            rules.classify(self._choice, self._memory.own, len(self._memory), self._memory.row)

    def _pool(self) -> tuple[rules.Row, float]:
        """Return the row as it is classified now, and the estimate; change nothing."""
        n = len(self._memory)
        flags = {"member": list(self._memory.row.member), "shown": list(self._memory.row.shown)}
        row = self._memory.row._replace(**flags)
        if self.algorithm.weighting != Weighting.MODEL:
            return row, rules.pool(self._choice, self._memory.own, n, row)[1]
        rules.classify(self._choice, self._memory.own, n, row)
        model.gather(self._memory.own, n, row, self._model, self._bench)
        return row, model.estimate(self._memory.own, n, row, self._model, self._bench)
