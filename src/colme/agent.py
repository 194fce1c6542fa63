"""One agent, without I/O: it owns one row of memory and a few verbs.

Lives here: the state of one agent.  Must not know sockets, clocks, logging or other agents'
objects: only names, queries and replies.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Self

from colme import _check, rules
from colme.algorithm import Algorithm, ClassTest, resolve
from colme.bounds import Bound, Budget, choose_bound
from colme.memory import Memory
from colme.messages import Query, Reply, Snapshot
from colme.reading import completed, view_of
from colme.summary import recentred
from colme.weighing import Outlook, Weighing

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
        Without it there is no such number, and less and less risk goes to each peer it meets.
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
    cap
        How many times the agent's own count a peer may weigh, 1 or more; by default any number.

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
        max_agents: int | None = None,
        algorithm: str | Algorithm = "sharp",
        eta: float | None = None,
        within: float | None = None,
        peers: Iterable[str] = (),
        classmates: Iterable[str] | None = None,
        room: int | None = None,
        cap: float | None = None,
    ) -> None:
        self.name = name
        self.algorithm = resolve(algorithm, eta, within)
        self.delta = _check.risk("delta", delta)
        self.max_agents = max_agents
        if max_agents is not None:
            self.max_agents = _check.positive_int("max_agents", max_agents)
        self._budget = Budget(self.delta, self.max_agents)
        gamma = self._budget.gamma
        self.bound = choose_bound(self.algorithm.class_test, sigma, bound, gamma)
        self._choice = rules.Choice.of(self.algorithm, gamma)
        self._turn = rules.Turn()
        self._stream = self.bound.stream()
        self._said: Reply | None = None
        names = list(peers)
        names = names if name in names else [name, *names]
        self.room = None if room is None else _check.positive_int("room", room)
        self._memory = Memory(name, names, self.max_agents, self._choice, classmates, self.room)
        self._weighing = Weighing(self._choice, self._memory, self.bound.scale, cap)
        self.cap = self._weighing.cap

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
        return self._memory.named(self._weighing.pooled()[0].member)

    @property
    def likely_class(self) -> frozenset[str]:
        """The peers that more probably than not share the agent's mean: no guarantee.

        Only algorithms that weigh by a model say so; for others it is the agent alone.
        """
        return self.outlook().likely_class

    @property
    def estimate(self) -> float:
        """The agent's current estimate of its own mean; NaN before there is anything to weigh."""
        return self._weighing.pooled()[1]

    def outlook(self) -> Outlook:
        """Return estimate, optimistic class and likely class at the price of one."""
        return self._weighing.outlook()

    def meet(self, peer: str) -> bool:
        """Make room for a peer in the row; return False if there is none to be made."""
        memory, cursor = self._memory, self._turn.cursor
        if peer in memory.index:
            return True
        if memory.is_full:
            l = rules.next_room(self._choice, memory.own, len(memory), cursor, memory.row)
            if l < 0:
                return False
            self._weighing.forget(l)
            memory.give(l, peer)
            return True
        memory.add(peer)
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
        self._said = None
        if self._stream.epoch > self._memory.row.epochs[self._memory.own]:
            self._begin_anew()
        self._remember(self.answer(Query(self.name, self.name)))
        self._exclude()

    def choose_peer(self, reachable: Container[str] | None = None) -> str | None:
        """Return the peer to ask now and move on to it; None if there is nobody to ask.

        With `reachable` given, peers not in it are passed over, as if they had had their turn.
        """
        memory, own = self._memory, self._memory.own
        revisit = self.bound.revisit_in(int(memory.row.epochs[own]))
        asking = self._choice, own, len(memory), revisit, self._turn, memory.row
        if reachable is None:
            l, self._turn = rules.take_turn(*asking)
        else:
            here = [name in reachable for name in memory.names]
            l, self._turn = rules.take_turn_among(*asking, here)
        return None if l < 0 else memory.names[l]

    def answer(self, query: Query) -> Reply:
        """Return what the agent says about itself."""
        if query.receiver != self.name:
            raise ValueError(f"{self.name!r} received a query meant for {query.receiver!r}")
        if self._said is None:
            stream = self._stream
            told = recentred(stream.evidence, stream.mean)
            shape = (told.spread, told.slope, float(told.offset))
            own = (stream.mean, stream.count, stream.squares, shape, int(stream.epoch))
            self._said = Reply(self.name, *own)
        return self._said

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
        self._exclude([self._memory.index[reply.sender]])
        self._weighing.learn(self.count, self._turn.n_asked)
        return True

    def hasten(self, share: float) -> None:
        """Fit models sooner from now on, by this share of a quarter of the time between two fits.

        A fit takes as long as many steps.  Agents of one process that were started together fit at
        the same steps, and would wait for each other; with another haste each, they do not.  It is
        no part of a snapshot.

        Examples
        --------
        >>> agent = Agent("a", sigma=0.5, delta=0.01)
        >>> agent.hasten(0.5)
        """
        self._weighing.haste = _check.share("share", share)

    def snapshot(self) -> Snapshot:
        """Return all state, to be restored later with `Agent.restore`."""
        return Snapshot(
            name=self.name,
            algorithm=self.algorithm,
            bound=self.bound,
            delta=self.delta,
            max_agents=self.max_agents,
            turn=self._turn,
            stream=self._stream.state(),
            model=tuple(tuple(part) for part in self._weighing.model),
            cap=self.cap,
            **self._memory.state(),
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
            cap=snapshot.cap,
        )
        if snapshot.max_agents is None:
            agent._memory.places, agent._memory.n_met = list(snapshot.places), snapshot.n_met
        agent._turn = rules.Turn(*snapshot.turn)
        agent._stream = agent.bound.resume(snapshot.stream)
        agent._weighing.resume(snapshot.model)
        for reply in snapshot.replies:
            agent._remember(reply)
        agent._memory.decide(snapshot.excluded, snapshot.shown)
        return agent

    def _begin_anew(self) -> None:
        """Forget every exclusion: the agent's own stream has begun anew."""
        rules.begin_anew(self._choice, self._memory.own, len(self._memory), self._memory.row)
        self._weighing.hurry()
        self._turn = self._turn._replace(n_asked=0)

    def _remember(self, reply: Reply) -> None:
        """Write a reply into the row, as the agent reads it at its own risk."""
        reply = completed(reply, self.bound)
        price = self._budget.price(self._memory.places[self._memory.index[reply.sender]])
        seen = view_of(reply, self._choice.log_risk, self._weighing.model, price)
        self._memory.write(reply, seen)

    def _exclude(self, changed: Iterable[int] | None = None) -> None:
        """Rule out for good whom the joint test rules out now; other tests keep no memory.

        Where the agent itself has not changed, only peers that have need be looked at.
        """
        if self.algorithm.class_test != ClassTest.JOINT:
            return
        own, row = self._memory.own, self._memory.row
        view = rules.view(row, own)
        for l in rules.suspects(self._choice, own, row) if changed is None else changed:
            row.member[l] = rules.belongs(self._choice, view, rules.view(row, l), row.member[l])
        rules.show_all(self._choice, own, len(self._memory), row)
