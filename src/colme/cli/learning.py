"""The flags that tell agents of a live fleet how to learn.

Lives here: what each flag means.  Must not know what is allowed: the settings say so.
"""

from __future__ import annotations

from dataclasses import dataclass

from cyclopts import Group, Parameter

from colme.cli.flags import Flags

__all__ = ["LearningFlags"]


@Parameter(name="*", group=Group("Learning", sort_key=3))
@dataclass(frozen=True)
class LearningFlags(Flags):
    """How agents learn: the same for all agents of a fleet.

    Attributes
    ----------
    range
        No more is known of the noise than the least and the greatest sample possible.
    estimated
        No more is known of the noise than that it is Gaussian.
    restart
        The mean may change: begin anew when it does.
    delta
        Total risk of each agent's guarantees (0.001).
    algorithm
        A name from `colme algorithms` (sharp); robust bounds what a minority of liars can do.
    eta
        Agents whose means differ by at most this much count as one class.
    within
        Pool a peer only once its mean is shown to be less than this away.
    max_agents
        The most agents there can ever be; without it each new peer is given less risk.
    room
        How many agents, itself included, each remembers at a time (all).
    cap
        How many times an agent's own samples a peer may weigh (100).
    rate
        The most samples per second that any agent takes: replies that say more are refused.
    burst
        So many samples may come at once (100).
    trusting
        Believe every reply.
    """

    range: tuple[float, float] | None = None
    estimated: bool | None = None
    restart: bool | None = None
    delta: float | None = None
    algorithm: str | None = None
    eta: float | None = None
    within: float | None = None
    max_agents: int | None = None
    room: int | None = None
    cap: float | None = None
    rate: float | None = None
    burst: int | None = None
    trusting: bool | None = None
