"""Replies that leave something out: read with the agent's own bound, or refused."""

from typing import Any

import pytest
from agents import BOUNDS, make

from colme import Reply
from colme.bounds import (
    Bound,
    Laplace,
    NormalMixture,
    Stitched,
    split_risk,
)


@pytest.mark.parametrize("bound", [Laplace(0.5, 0.05), NormalMixture(0.5, 100), Stitched(0.5)])
@pytest.mark.parametrize("algorithm", ["sharp", "soft-restricted-round-robin"])
def test_a_bare_reply_is_read_with_the_own_bound(bound: Any, algorithm: str) -> None:
    one, other = (make(sigma=None, bound=bound, algorithm=algorithm) for _ in range(2))
    own: Any = one.bound
    assert own == bound.at_risk(split_risk(0.1, 3))
    for agent in (one, other):
        for sample in (0.1, 0.4, 0.2, 0.3):
            agent.perceive(sample)
    for peer, mean, count in [("b", 0.3, 7), ("c", 9.0, 4), ("b", 0.5, 9)]:
        one.receive(Reply(peer, mean, count))
        shape = own.shape(count)
        other.receive(Reply(peer, mean, count, (count - 1) * 0.25, shape, variance=0.25))
    assert one.snapshot() == other.snapshot()
    assert one.estimate == other.estimate
    assert one.optimistic_class == other.optimistic_class == {"a", "b"}


@pytest.mark.parametrize("given", ["squares", "shape"])
def test_a_half_bare_reply_is_completed_and_what_it_says_is_kept(given: str) -> None:
    agent, said = make(), {"squares": 3.0, "shape": (0.5, 2.0, 1.0)}
    agent.receive(Reply("b", 0.0, 4, **{given: said[given]}))  # type: ignore[arg-type]
    kept = agent.snapshot().replies[1]
    assert getattr(kept, given) == said[given]
    own = NormalMixture(0.5, 1000, split_risk(0.1, 3))
    usual = {"squares": 3 * 0.25, "shape": own.shape(4)}
    missing = "shape" if given == "squares" else "squares"
    assert getattr(kept, missing) == usual[missing]


@pytest.mark.parametrize("bound", BOUNDS[:3], ids=lambda bound: type(bound).__name__)
@pytest.mark.parametrize("peer", ["b", "new"])
def test_a_bare_reply_is_refused_where_the_own_bound_cannot_stand_in(
    bound: Bound, peer: str
) -> None:
    agent = make(sigma=None, bound=bound, max_agents=4)
    agent.perceive(0.5)
    before = agent.snapshot()
    kind = type(bound).__name__
    with pytest.raises(ValueError, match=f"the reply of '{peer}' carries no evidence.*{kind}"):
        agent.receive(Reply(peer, 0.5, 3))
    assert agent.snapshot() == before
    assert agent.receive(Reply(peer, 0.0, 0))  # nothing to read
    assert agent.receive(Reply(peer, 0.5, 3, 12.0, (0.0, 2.0, 1.0)))
