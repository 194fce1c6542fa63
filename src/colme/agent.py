"""One agent, without I/O: it owns one row of memory and a few verbs.

Lives here: the state of one agent.  Must not know sockets, clocks, logging or other agents'
objects: only names, queries and replies.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Self

from colme import _check, rules
from colme.algorithm import Algorithm, resolve
from colme.bounds import Bound, Budget, choose_bound
from colme.estimator import Estimator, Outlook
from colme.memory import Memory
from colme.messages import Query, Reply, Snapshot
from colme.reply_view import completed, reply_of, view_of
from colme.summary import View


class Agent:
    """An agent that learns its own mean, with the help of peers that may share it.

    Each step: `perceive` a sample, `choose_peer`, deliver the query to that peer's `answer` (and
    `relayed`), hand the reply (and what it relays) to `receive`, read `estimate`.  How messages
    travel is up to you.

    Parameters
    ----------
    name
        The agent's own name.
    sigma
        Sub-Gaussian scale of one sample; or give a bound.
    bound
        How far the mean of the agent's stream may be off, from `colme.bounds`, at any risk.
    delta
        Total risk of this agent's guarantees.
    max_agents
        The number of agents, this one included, that it may ever know: the risk is split over
        them.  Without it, each further peer it meets gets less of the risk.
    algorithm
        A name from `colme.ALGORITHMS` or an `Algorithm`.
    eta, within, relays
        Replace the algorithm's own when given.
    peers
        Names known from the start, in the order in which they will be asked; may contain the
        agent's own name, which otherwise comes first.  Peers met later are appended.
    classmates
        The true class, for algorithms that know it (``oracle``).
    room
        How many agents, itself included, it remembers at a time; by default all it meets.  In a
        full row a newcomer replaces a peer that is excluded, or unlikely to share the mean.
    cap
        The largest weight of a peer, in multiples of the agent's own count, 1 or more.

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
    >>> Agent.restore(a.snapshot()).estimate == a.estimate
    True
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
        relays: int | None = None,
        peers: Iterable[str] = (),
        classmates: Iterable[str] | None = None,
        room: int | None = None,
        cap: float | None = None,
    ) -> None:
        self.name = name
        self.algorithm = resolve(algorithm, eta, within, relays)
        self.delta = _check.risk("delta", delta)
        most = max_agents
        self.max_agents = None if most is None else _check.positive_int("max_agents", most)
        self._budget = Budget(self.delta, self.max_agents)
        gamma = self._budget.gamma
        self.bound = choose_bound(self.algorithm.class_test, sigma, bound, gamma)
        self._choice = rules.Choice.of(self.algorithm, gamma, self._budget.n_peers)
        self._stream = self.bound.stream()
        self._said: Reply | None = None
        names = list(peers)
        names = names if name in names else [name, *names]
        self.room = None if room is None else _check.positive_int("room", room)
        self._memory = Memory(name, names, self.max_agents, self._choice, classmates, self.room)
        self._estimator = Estimator(self._choice, self._memory, self.bound.scale, cap)
        self.cap = self._estimator.cap
        self._turn = rules.first_turn(self._choice, self._memory.own, len(names))

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
        return self._memory.named(self._estimator.pooled()[0].member)

    @property
    def likely_class(self) -> frozenset[str]:
        """The peers that probably share the agent's mean, as its model finds: no guarantee."""
        return self.outlook().likely_class

    @property
    def estimate(self) -> float:
        """The agent's current estimate of its own mean; NaN before there is anything to weigh."""
        return self._estimator.pooled()[1]

    def outlook(self) -> Outlook:
        """Return estimate, optimistic class and likely class, for the cost of one of them."""
        return self._estimator.outlook()

    def meet(self, peer: str) -> bool:
        """Add a peer to the row; return False if the row is full and nobody can be replaced."""
        memory, cursor = self._memory, self._turn.cursor
        if peer in memory.index:
            return True
        if not memory.is_full:
            memory.add(peer)
            return True
        l = rules.next_room(self._choice, memory.own, len(memory), cursor, memory.row)
        if l >= 0:
            self._estimator.forget(l)
            memory.replace(l, peer)
        return l >= 0

    def perceive(self, *samples: float) -> None:
        """Take in the samples that have arrived; if one is bad, refuse all of them."""
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
        if self._stream.epoch > self._memory.row.views.epoch[self._memory.own]:
            self._restart()
        own = reply_of(self.name, self._stream)
        self._said = own if self._stream.public is self._stream else None
        self._memory.write_own(*self._read(own)[:2])

    def choose_peer(self, reachable: Container[str] | None = None) -> str | None:
        """Return the peer to ask now, or None; peers that are not in `reachable` lose a turn."""
        memory, own = self._memory, self._memory.own
        revisit = self.bound.revisit_in(int(memory.row.views.epoch[own]))
        asking = self._choice, own, len(memory), revisit, self._turn, memory.row
        if reachable is None:
            l, self._turn = rules.take_turn(*asking)
        else:
            here = [name in reachable for name in memory.names]
            l, self._turn = rules.take_turn_among(*asking, here)
        return None if l < 0 else memory.names[l]

    def query_to(self, peer: str) -> Query:
        """Return the query to a peer, with what the agent would like to hear of others."""
        relays = self.algorithm.relays
        return Query(self.name, peer, relays, self._memory.wanted() if relays else None)

    def answer(self, query: Query) -> Reply:
        """Return what the agent says about itself."""
        if query.receiver != self.name:
            raise ValueError(f"{self.name!r} received a query meant for {query.receiver!r}")
        if self._said is None:
            self._said = reply_of(self.name, self._stream.public)
        return self._said

    def relayed(self, query: Query) -> tuple[Reply, ...]:
        """Return what others said last: as many summaries as the query asks for, or fewer."""
        return self._memory.relayed(query)

    def receive(self, reply: Reply, relayed: Iterable[Reply] = ()) -> bool:
        """Remember a peer's reply; return False for old news, or a newcomer to a full row.

        Of what it relays, news about peers in the row is remembered too.
        """
        if reply.sender == self.name:
            raise ValueError(f"{self.name!r} received a reply in its own name")
        completed(reply, self.bound)  # refused before anything changes
        if not self.meet(reply.sender):
            return False
        is_news = self._memory.is_current(reply)
        if is_news:
            self._remember(reply)
        for other in relayed:
            if self.is_news(other):
                self._remember(other)
        self._estimator.learn(self.count, self._turn.n_asked)
        return is_news

    def is_news(self, reply: Reply) -> bool:
        """Return whether a reply is about a peer in the row, and later than what is known of it."""
        return self._memory.is_news(reply)

    def hasten(self, share: float) -> None:
        """Fit the model sooner from now on, by this share of a quarter of the time between fits.

        Agents of one process should not all fit at the same step.  Snapshots leave it out.
        """
        self._estimator.refit_jitter = _check.share("share", share)

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
            model=self._estimator.model.parts(),
            cap=self.cap,
            **self._memory.state(),
        )

    @classmethod
    def restore(cls, snapshot: Snapshot) -> Self:
        """Return an agent that goes on exactly where `snapshot` was taken."""
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
        agent._estimator.resume(snapshot.model)
        for reply in snapshot.replies:
            agent._memory.write(*agent._read(reply)[:2])
        agent._memory.restore_decisions(snapshot)
        return agent

    def _restart(self) -> None:
        """Forget every exclusion: the agent's own stream has restarted."""
        rules.reset_peers(self._choice, self._memory.own, len(self._memory), self._memory.row)
        rules.forget_past(self._memory.past)
        self._estimator.refit_soon()
        self._turn = self._turn._replace(n_asked=0)

    def _remember(self, reply: Reply) -> None:
        """Take a peer's reply into the row, and exclude whom it rules out."""
        self._memory.write_news(*self._read(reply), self._turn.n_asked)

    def _read(self, reply: Reply) -> tuple[Reply, View[float], float]:
        """Return a reply in full, the view of it at the agent's own risk, and its price."""
        reply = completed(reply, self.bound)
        price = self._budget.price(self._memory.places[self._memory.index[reply.sender]])
        seen = view_of(reply, self._choice.log_risk, self._estimator.model, price)
        return reply, seen, price
