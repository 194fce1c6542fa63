"""A live fleet on this machine: ticks kept, delays of answers, memory, and how fast it learns.

Run it alone: every figure suffers from whatever else the machine does.
"""

import asyncio
import sys
import time
from typing import Any

import numpy as np
import psutil

import colme
from colme.live.fleet import FleetSettings, LocalFleet
from colme.live.fleet.fleet_problem import AgentStream

PAPER = {"class_means": [0.2, 0.4, 0.8], "sigma": 0.5, "seed": 0}


def mean_error(report: dict[str, Any]) -> float:
    """Return the error of all agents, averaged."""
    rows = report["classes"]
    return float(np.average([r["error"] for r in rows], weights=[r["agents"] for r in rows]))


def memory_of(fleet: LocalFleet) -> dict[str, float]:
    """Return megabytes that belong to the processes with agents, and to the router."""
    sizes = {
        place: psutil.Process(pid).memory_full_info().uss / 1e6 for place, pid in fleet.pids.items()
    }
    router = sizes.pop("router", 0.0)
    return {"agents": sum(sizes.values()), "router": router}


async def load(n_agents: int, interval: float, seconds: float, processes: int) -> None:
    """Run a fleet and print whether it kept up."""
    problem = colme.Problem.gaussian(n_agents=n_agents, **PAPER)  # type: ignore[arg-type]
    settings = FleetSettings(
        problem=problem, processes=processes, mode="client", interval=interval, every=5.0
    )
    async with LocalFleet(settings) as fleet:
        begin = time.monotonic()
        while len(fleet.snapshots) < n_agents and time.monotonic() - begin < 60:
            await asyncio.sleep(0.2)
        started = time.monotonic() - begin
        busy = [psutil.Process(pid) for pid in fleet.pids.values()]
        before, first = sum(sum(one.cpu_times()[:2]) for one in busy), fleet.report()
        await asyncio.sleep(seconds)
        last, after = fleet.report(), sum(sum(one.cpu_times()[:2]) for one in busy)
        memory = memory_of(fleet)
    ticks, skipped, asked, unanswered = (
        last["messages"].get(word, 0) - first["messages"].get(word, 0)
        for word in ("ticks", "skipped", "asked", "unanswered")
    )
    print(
        f"{n_agents} agents, {1 / interval:g} steps a second each, {processes} processes, "
        f"{seconds:g} s (all there after {started:.1f} s)"
    )
    print(f"  ticks skipped      {skipped / max(ticks + skipped, 1):.2%} of {ticks + skipped}")
    print(f"  unanswered         {unanswered / max(asked, 1):.2%} of {asked} questions")
    delay = last["delay"]
    print(
        "  delay of answers   "
        f"p50 {1e3 * delay['p50']:.1f} ms, p99 {1e3 * delay['p99']:.1f} ms (agent in the middle), "
        f"{1e3 * delay['worst']:.1f} ms (worst agent)"
    )
    print(f"  processor          {(after - before) / seconds:.2f} cores, router included")
    print(
        f"  memory             {memory['agents'] / n_agents:.2f} MB an agent in {processes} "
        f"processes; router {memory['router']:.0f} MB"
    )
    print(f"  error of estimates {mean_error(last):.4f} after {last['steps']:.0f} samples")


async def learn(n_agents: int, interval: float, steps: int, epsilon: float) -> None:
    """Run a fleet freely; print when it converges, beside the simulator with the same samples."""
    problem = colme.Problem.gaussian(n_agents=n_agents, **PAPER)  # type: ignore[arg-type]
    settings = FleetSettings(
        problem=problem, mode="client", interval=interval, steps=steps, every=10 * interval
    )
    last_off = np.zeros(n_agents)
    async with LocalFleet(settings) as fleet:
        seen: dict[str, int] = {}
        while not fleet.is_finished:
            await asyncio.sleep(interval)
            for a, name in enumerate(settings.names):
                report = fleet.snapshots.get(name)
                if report is not None and seen.get(name) != report["count"] and report["count"]:
                    seen[name] = report["count"]
                    if abs(report["estimate"] - problem.true_means[a]) > epsilon:
                        last_off[a] = report["count"]
    blocks = -(-steps // 256)
    columns = [
        np.concatenate(
            [AgentStream(problem, settings.seed, a, 0.0).block(block) for block in range(blocks)]
        )[:steps]
        for a in range(n_agents)
    ]
    simulated = colme.simulate(np.stack(columns, axis=1), "sharp", sigma=0.5, delta=settings.delta)
    assert simulated.estimates is not None
    # The same question at the same times: at every tenth sample.
    off = np.abs(simulated.estimates[0, 9::10] - problem.true_means) > epsilon
    times = 10.0 * np.arange(1, len(off) + 1)[:, None]
    expected = (off * times).max(axis=0)
    print(
        f"{n_agents} agents, freely: within {epsilon:g} for good after {last_off.mean():.0f} "
        f"samples on average, simulated {expected.mean():.0f}: "
        f"ratio {last_off.mean() / expected.mean():.2f}"
    )


if __name__ == "__main__":
    quick = "--quick" in sys.argv
    asyncio.run(load(100, 0.1, 10.0 if quick else 60.0, 2))
    asyncio.run(load(1000, 1.0, 10.0 if quick else 60.0, 2))
    asyncio.run(learn(100, 0.1, 200 if quick else 600, 0.02))
