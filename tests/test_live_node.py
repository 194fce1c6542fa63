"""Nodes on a real network, with real stores."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import colme
from colme.live.wiring import Wiring
from colme.live.host import Host, Resident
from colme.live.node import Pace
from colme.live.settings import AgentSettings
from colme.live.sources import Iterating


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def column(samples: NDArray[np.float64], a: int) -> Callable[[int], AsyncIterator[float]]:
    async def make(n: int) -> AsyncIterator[float]:
        for sample in samples[n:, a].tolist():
            yield sample

    return make


@pytest.mark.parametrize("algorithm", ["sharp", "aggressive-restricted-round-robin"])
def test_twenty_nodes_in_step_do_what_lockstep_does(tmp_path: Path, algorithm: str) -> None:
    horizon, n_agents = 60, 20
    problem = colme.Problem.gaussian([0.2, 0.8], n_agents=n_agents, sigma=0.3, seed=0)
    samples = problem.draw(horizon, seed=1)[0]
    names = tuple(str(a) for a in range(n_agents))
    settings = AgentSettings(sigma=0.3, delta=0.01, algorithm=algorithm, max_agents=n_agents)
    estimates = np.full((horizon, n_agents), np.nan)
    address = f"127.0.0.1:{free_port()}"

    async def run() -> None:
        hosts = []
        for a, name in enumerate(names):
            listen, connect = ((address,), ()) if a == 0 else (("127.0.0.1:0",), (address,))
            wiring = Wiring("peer", listen, connect)
            hosts.append(
                Host("test", settings, tmp_path / name, wiring, Pace(in_step=True), sync=False)
            )

        def emit(report: dict[str, Any]) -> None:
            estimates[report["count"] - 1, int(report["agent"])] = report["estimate"]
            if not np.isnan(estimates[-1]).any():
                for host in hosts:
                    host.stop()

        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            for a, host in enumerate(hosts):
                resident = Resident(names[a], Iterating(column(samples, a)), names)
                group.create_task(host.run([resident], emit))

    asyncio.run(run())
    slow = colme.lockstep(samples, algorithm, sigma=0.3, delta=0.01)
    assert slow.estimates is not None
    np.testing.assert_allclose(estimates, slow.estimates[0], rtol=1e-12, atol=1e-12)
