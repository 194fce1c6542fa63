"""A live fleet on this machine: ticks kept, delays of answers, memory, and how fast it learns.

Run it alone: every figure suffers from whatever else the machine does.
"""

import asyncio
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import numpy as np
import psutil

import colme
from colme.live.fleet import FleetSettings, LocalFleet
from colme.live.fleet.fleet_problem import AgentStream
from colme.live.keys import Authority, Identity
from colme.live.membership import Membership
from colme.live.node_core import NodeCore
from colme.live.wire import encode

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


async def learn(
    n_agents: int, interval: float, steps: int, epsilon: float, relays: int = 0
) -> None:
    """Run a fleet freely; print when it converges, beside the simulator with the same samples."""
    problem = colme.Problem.gaussian(n_agents=n_agents, **PAPER)  # type: ignore[arg-type]
    settings = FleetSettings(
        problem=problem,
        mode="client",
        interval=interval,
        steps=steps,
        every=10 * interval,
        relays=relays,
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
        counts = fleet.report()["messages"]
    blocks = -(-steps // 256)
    columns = [
        np.concatenate(
            [AgentStream(problem, settings.seed, a, 0.0).block(block) for block in range(blocks)]
        )[:steps]
        for a in range(n_agents)
    ]
    simulated = colme.simulate(
        np.stack(columns, axis=1), "sharp", sigma=0.5, delta=settings.delta, relays=relays
    )
    assert simulated.estimates is not None
    # The same question at the same times: at every tenth sample.
    off = np.abs(simulated.estimates[0, 9::10] - problem.true_means) > epsilon
    times = 10.0 * np.arange(1, len(off) + 1)[:, None]
    expected = (off * times).max(axis=0)
    print(
        f"{n_agents} agents, freely, {relays} relays: "
        f"within {epsilon:g} for good after {last_off.mean():.0f} samples on average, "
        f"simulated {expected.mean():.0f}: "
        f"ratio {last_off.mean() / expected.mean():.2f}; "
        f"{counts['skipped'] / (counts['ticks'] + counts['skipped']):.1%} of ticks skipped, "
        f"news of {counts.get('relayed', 0) / counts['heard']:.2f} others with each reply"
    )


class CountedLinks:
    """Node cores joined by perfect links that count bytes.

    Parameters
    ----------
    keys
        The folder of an authority, for sealed replies; None: without keys.
    says_wanted
        Whether a query says whose news is wanted.
    """

    def __init__(
        self, problem: colme.Problem, relays: int, keys: Path | None, says_wanted: bool
    ) -> None:
        n_agents = problem.n_agents
        names = [f"{a:03d}" for a in range(n_agents)]
        seals: list[Identity | None] = [None] * n_agents
        if keys is not None:
            seals = [Identity.load(one) for one in Authority.create(keys, "demo").issue_all(names)]
        self.cores: dict[str, NodeCore] = {}
        for life, (name, seal) in enumerate(zip(names, seals, strict=True), 1):
            agent = colme.Agent(name, sigma=0.5, delta=0.001, max_agents=n_agents, relays=relays)
            core = NodeCore(agent, "demo", life, Membership(1.0), seal=seal)
            core.appear(*(other for other in names if other != name))
            self.cores[name] = core
        self._says_wanted = says_wanted
        self.n_messages = self.asked = self.replied = 0

    def step(self, t: int, samples: list[float]) -> None:
        """Let each agent take a sample and ask a peer."""
        for core, sample in zip(self.cores.values(), samples, strict=True):
            core.fold([sample], str(t))
            core.saved(len(core.unsaved))
        for core in self.cores.values():
            chosen = core.next_query(float(t))
            if chosen is None:
                continue
            peer, query = self.cores[chosen[0]], chosen[1]
            read = peer.read_query(query)
            if read.wanted and not self._says_wanted:
                read = msgspec.structs.replace(read, wanted=b"")
                query = encode(read)
            reply = peer.answer(read) or b""
            assert core.receive(chosen[0], reply, float(t), float(t))
            core.saved(len(core.unsaved))
            self.n_messages += 2
            self.asked, self.replied = self.asked + len(query), self.replied + len(reply)


def relays_cost(
    relays: int, steps: int, *, keys: bool = False, says_wanted: bool = True, n_agents: int = 100
) -> None:
    """Print what an exchange takes, in bytes and time, and how old and how good news makes it."""
    problem = colme.Problem.gaussian(n_agents=n_agents, **PAPER)  # type: ignore[arg-type]
    samples, truth = problem.draw(steps, seed=1)[0].tolist(), problem.true_means
    with TemporaryDirectory() as folder:
        links = CountedLinks(problem, relays, Path(folder) / "k" if keys else None, says_wanted)
    begin, last_off = time.process_time(), np.zeros(n_agents)
    for t, row in enumerate(samples, 1):
        links.step(t, row)
        if t % 10 == 0:
            estimates = np.array([core.agent.estimate for core in links.cores.values()])
            last_off[np.abs(estimates - truth) > 0.02] = t
    taken, n = time.process_time() - begin, n_agents * steps
    cores = list(links.cores.values())
    refused = sum(sum(core.refused.values()) for core in cores)
    ages = [
        steps - reply.count
        for a, core in enumerate(cores)
        for reply in core.agent.snapshot().replies
        if truth[int(reply.sender)] == truth[a] and reply.sender != core.agent.name
    ]
    print(
        f"{relays:2d} relays{', keys' if keys else ''}{'' if says_wanted else ', nothing wanted'}: "
        f"a step of an agent takes {links.n_messages / n:.2f} messages, {links.asked / n:.0f} + "
        f"{links.replied / n:.0f} bytes (query + reply), {1e3 * taken / n:.2f} ms; "
        f"news of {sum(core.counts['relayed'] for core in cores) / n:.2f} others, "
        f"of classmates {np.mean(ages):.1f} samples old at the end; within 0.02 for good after "
        f"{last_off.mean():.0f} samples; {refused} refused"
    )


if __name__ == "__main__":
    quick = "--quick" in sys.argv
    asyncio.run(load(100, 0.1, 10.0 if quick else 60.0, 2))
    asyncio.run(load(1000, 1.0, 10.0 if quick else 60.0, 2))
    for relays in (0,) if quick else (0, 4, 16):
        asyncio.run(learn(100, 0.1, 200 if quick else 600, 0.02, relays))
    for relays in (0, 4, 16):
        relays_cost(relays, 50 if quick else 400)
        if relays:
            relays_cost(relays, 50 if quick else 400, says_wanted=False)
        relays_cost(relays, 20 if quick else 100, keys=True)
