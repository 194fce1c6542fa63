"""What a node reports: one snapshot as plain values, ready for JSON.

Holds which words a snapshot has.  Must not know who reads it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from colme.live.node_core import NodeCore


def node_report(core: NodeCore, at: float, delays: Sequence[float] = ()) -> dict[str, Any]:
    """Return what a node knows at a time of day, with quantiles of the delays of its replies.

    Examples
    --------
    >>> from colme import Agent
    >>> from colme.live.membership import Membership
    >>> agent = Agent("a", sigma=0.5, delta=0.01)
    >>> node_report(NodeCore(agent, "home", 1, Membership(1.0)), at=5.0)["known"]
    0
    """
    agent, outlook = core.agent, core.agent.outlook()
    low, high = agent.interval
    is_empty = agent.count == 0
    report = {
        "agent": agent.name,
        "fleet": core.fleet,
        "time": at,
        "life": core.life,
        "epoch": core.published.epoch,
        "count": agent.count,
        "samples": core.n_samples,
        "mean": None if is_empty else agent.local_mean,
        "estimate": None if is_empty else outlook.estimate,
        "interval": None if is_empty or not high - low < math.inf else [low, high],
        "class_size": len(outlook.optimistic_class),
        "likely_size": len(outlook.likely_class),
        "known": len(agent.peers) - 1,
        "present": len(core.membership.present),
        "messages": dict(core.counts),
        "refused": dict(core.refused),
    }
    if delays:
        ordered = sorted(delays)
        middle, late = ordered[len(ordered) // 2], ordered[int(0.99 * len(ordered))]
        report["delay"] = {"p50": middle, "p99": late}
    return report
