"""Who knows whom in an experiment, as written in a file.

Lives here: the table [contacts].  Must not know problems, arrivals or bounds.
"""

from __future__ import annotations

import math
from typing import ClassVar, Self

from pydantic import Field, model_validator

from colme._settings import Table
from colme.contacts import Contacts
from colme.gossip import Gossip


class ContactsSpec(Table):
    """Who knows whom, at random or in a graph, and whether agents hear of others by gossip.

    See `colme.Contacts` and `colme.Gossip`.

    Attributes
    ----------
    size
        Number of agents that each agent knows, itself included, drawn at random (all).
    graph
        File with the edges of a graph, two numbers per line: agents 0, 1, 2, ... that
        know each other.
    regular
        Draw a graph in which every agent has this many neighbours.
    probability
        Draw a graph with each edge at this probability.
    tree
        Draw a tree in which every agent has this many children.
    disconnected
        Accept a graph that falls into parts.
    gossip
        Let agents hear of others, who take the places of excluded peers.
    gossip_every
        Steps from one gossip to the next (1).
    seed
        Seed for contacts and gossip.

    Examples
    --------
    >>> spec = ContactsSpec(size=5, gossip=True, gossip_every=2)
    >>> spec.build(n_agents=20).size, spec.build_gossip().every
    (5, 2)
    """

    alternatives: ClassVar[tuple[str, ...]] = ("size", "graph", "regular", "probability", "tree")

    size: int | None = Field(default=None, ge=1)
    graph: str | None = Field(default=None, min_length=1)
    regular: int | None = Field(default=None, ge=0)
    probability: float | None = Field(default=None, ge=0, le=1)
    tree: int | None = Field(default=None, ge=1)
    disconnected: bool = False
    gossip: bool = False
    gossip_every: int | None = Field(default=None, ge=1)
    seed: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _check(self) -> Self:
        chosen = self.model_dump(include={*self.alternatives}, exclude_none=True)
        if len(chosen) != 1:
            raise ValueError(
                "give one of size (how many agents each knows), graph (a file of edges), regular "
                "(how many neighbours each has), probability (of each edge) and tree (how many "
                f"children each has); received {', '.join(chosen) or 'none'}"
            )
        if self.disconnected and self.graph is None:
            raise ValueError("disconnected is about a graph: drop it, or give graph")
        if self.gossip_every is not None and not self.gossip:
            raise ValueError("gossip_every goes with gossip = true: drop it, or turn gossip on")
        return self

    def build(self, n_agents: int) -> Contacts:
        """Return the contacts; those that are drawn come from `seed`."""
        contacts = self._draw(n_agents)
        if self.gossip and contacts.is_everyone:
            raise ValueError(
                f"gossip helps agents that know only some others; received {n_agents} agents that "
                "know all of them: drop gossip, or give fewer contacts"
            )
        return contacts

    def build_gossip(self) -> Gossip | None:
        """Return how agents hear of others; None if they do not."""
        return Gossip(every=self.gossip_every or 1, seed=self.seed) if self.gossip else None

    def longest_row(self, n_agents: int) -> int:
        """Return about how many agents one agent knows at most, itself included.

        Examples
        --------
        >>> ContactsSpec(size=5).longest_row(20), ContactsSpec(regular=4).longest_row(20)
        (5, 5)
        """
        if self.graph is not None:
            return self.build(n_agents).size
        if self.probability is not None:
            expected = self.probability * n_agents
            return min(n_agents, math.ceil(expected + 6 * math.sqrt(expected + 1)) + 1)
        known = self.size or (0 if self.tree is None else self.tree + 2)
        return min(n_agents, known if self.regular is None else self.regular + 1)

    def _draw(self, n_agents: int) -> Contacts:
        if self.size is not None:
            return Contacts.random(n_agents, self.size, self.seed)
        if self.regular is not None:
            return Contacts.regular(n_agents, self.regular, self.seed)
        if self.probability is not None:
            return Contacts.binomial(n_agents, self.probability, self.seed)
        if self.tree is not None:
            return Contacts.tree(n_agents, self.tree, self.seed)
        try:
            return Contacts.of_graph(self.graph, n_agents, disconnected=self.disconnected)
        except OSError as error:
            raise ValueError(f"cannot read {self.graph!r}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise ValueError(f"{self.graph!r} is not a text file of edges") from None
