"""A fleet of real processes with the devices that feed them, and what must hold in the end."""

import asyncio
import contextlib
import os
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from signal import SIGKILL
from typing import Self

import numpy as np

from chaos.feeds import Feed
from chaos.processes import Process
from chaos.worlds import World
from colme.live.connection_config import ConnectionConfig
from colme.live.membership import Membership
from colme.live.network import Link
from colme.live.node_core import NodeCore
from colme.live.settings import AgentSettings
from colme.live.store import Store
from colme.live.wire import WireQuery, WireReply, decode, encode
from colme.messages import Reply

IS_FULL = os.environ.get("COLME_CHAOS") == "full"
"""Whether a fleet has the machine to itself, as with `make chaos`."""
PATIENCE = 2.0 if IS_FULL else 5.0
"""Seconds in which a process must end when it is told to: two are promised, and take 0.2 to 0.6;
beside other tests the disk or the processor may be another's for that long."""
TOGETHER = 3
"""So many processes are told to end at once: more would wait for each other, on few cores."""
NONCE = 7


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Fleet:
    """Nodes, perhaps a router, and a device for each node that feeds it.

    Between two disturbances every node is sent `step` samples more.
    """

    def __init__(
        self,
        folder: Path,
        world: World,
        expected: Mapping[int, Sequence[float]],
        step: int,
        recovery: float,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.router: Process | None = None
        self.nodes: dict[str, Process] = {}
        self.feeds: dict[str, Feed] = {}
        self.figures: dict[str, float] = {}
        self._folder, self._world, self._samples = folder, world, world.samples
        self._address = ""
        self._expected, self._step, self._recovery = expected, step, recovery
        self._sockets = tempfile.mkdtemp(prefix="colme")  # short enough for a socket's path

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for feed in self.feeds.values():
            await feed.drop()
        for process in self.processes:
            with contextlib.suppress(AssertionError):
                await process.kill()
        shutil.rmtree(self._sockets, ignore_errors=True)

    @property
    def processes(self) -> list[Process]:
        """All of them, the router last."""
        return [*self.nodes.values(), *([] if self.router is None else [self.router])]

    async def add_router(self, address: str, *flags: str, wrapper: Sequence[str] = ()) -> None:
        """Start a router; `wrapper` is what runs the command."""
        given = ["--fleet=chaos", "--every=0.2", f"--listen={address}", *flags]
        self.router = Process("router", [*wrapper, *_colme("router", *given)], self._folder)
        self._address = address
        await self.router.start()

    async def add_node(
        self, *flags: str, state: Path | None = None, wrapper: Sequence[str] = ()
    ) -> Process:
        """Start the next node, and a device that feeds it; `wrapper` is what runs the command."""
        name, values = self._world.names[len(self.nodes)], self._samples[:, len(self.nodes)]
        address = f"unix:{self._sockets}/{name}"
        given = {
            **self._world.settings,
            "fleet": "chaos",
            "id": name,
            "source": address,
            "state": state or self._folder / name,
            "interval": 0.1,
        }
        learning = [f"--{key.replace('_', '-')}={value}" for key, value in given.items()]
        command = [*wrapper, *_colme("node", *learning, *flags)]
        self.feeds[name] = Feed(address, values.tolist())
        self.nodes[name] = Process(name, command, self._folder)
        await self.nodes[name].start()
        return self.nodes[name]

    async def meet(self) -> None:
        """Wait until everybody sees everybody."""
        others = len(self.nodes) - 1
        await self._until(
            "meeting",
            lambda: [n for n, one in self.nodes.items() if one.last.get("present") != others],
        )

    async def begin(self) -> None:
        """Wait until everybody sees everybody, then let the first samples come."""
        await self.meet()
        async with self.disturbed("no disturbance", 1.0):
            pass

    @asynccontextmanager
    async def disturbed(self, what: str, seconds: float) -> AsyncIterator[None]:
        """Let samples come for so many seconds; then everybody must become itself again."""
        for feed in self.feeds.values():
            feed.allow(feed.allowed + self._step, seconds)
        yield
        since = time.monotonic()
        await self._until(what, lambda: self._complaints(since))
        self.figures[what] = round(time.monotonic() - since, 2)

    async def told(self, name: str) -> Reply:
        """Return what a node says of itself when a peer asks it, through the router."""
        link, heard = Link(ConnectionConfig("client", connect=(self._address,)), "chaos"), []

        def take(payload: bytes) -> bool:
            heard.append(decode(payload))
            return True

        question = encode(WireQuery("visitor", name, NONCE))
        await link.open()
        try:
            async with asyncio.timeout(self._recovery):
                while not await link.ask(name, question, take, 0.5):
                    await asyncio.sleep(0.05)
        finally:
            await link.close()
        (told,) = heard
        assert isinstance(told, WireReply)
        return told.reply

    async def stored(self, name: str) -> int:
        """Return how many samples are in the store of a node that does not run."""
        store = Store(self._folder / name, "chaos")
        past = store.register(name)
        agent = AgentSettings(**self._world.settings).agent(name)
        core = NodeCore(agent, "chaos", past.life, Membership(1.0))
        core.resume(past.checkpoint, past.events)
        await store.close()
        return core.n_samples

    async def end(self, learnt: bool = True) -> dict[str, float]:
        """End everything: all is durable, nothing hangs, every process says that it is well."""
        for name, feed in self.feeds.items():
            assert await asyncio.wait_for(feed.end(), self._recovery) == feed.allowed, name
        took, nodes = [], list(self.nodes.values())
        for first in range(0, len(nodes), TOGETHER):
            some = nodes[first : first + TOGETHER]
            took += await asyncio.gather(*(node.stop(PATIENCE) for node in some))
        if self.router is not None and self.router.code is None:
            self.router.thaw()
            took.append(await self.router.stop(PATIENCE))
        codes = {one.name: one.code for one in self.processes if one.code not in (0, -SIGKILL)}
        assert not codes, self._told("not all ended well", [str(codes)])
        summary = self._summary() if learnt else {}
        return self.figures | summary | {"slowest end": round(max(took), 2)}

    def _summary(self) -> dict[str, float]:
        estimates = np.array([node.last["estimate"] for node in self.nodes.values()])
        truth, calm = self._world.problem.true_means, np.array(self._calm_estimates)
        return {
            "kills": sum(process.n_kills for process in self.processes),
            "samples": sum(feed.allowed for feed in self.feeds.values()),
            "ratio of errors": float(
                np.abs(estimates - truth).mean() / np.abs(calm - truth).mean()
            ),
        }

    def _complaints(self, since: float) -> list[str]:
        """Return what is not as in an undisturbed fleet, by what the nodes said since then."""
        found = []
        for (name, node), feed, estimate in zip(
            self.nodes.items(), self.feeds.values(), self._calm_estimates, strict=True
        ):
            said, n = node.last, feed.allowed
            if node.code is not None:
                found.append(f"{name} has ended with {node.code}")
            elif node.heard_at <= since:
                found.append(f"{name} says nothing")
            elif (said["samples"], said["count"]) != (n, n):
                found.append(f"{name} has {said['samples']} samples and not {n}")
            elif abs(said["mean"] - np.mean(feed.values[:n])) > 1e-9:
                found.append(f"{name} has other samples than those it was sent")
            elif said["present"] != len(self.nodes) - 1:
                found.append(f"{name} sees {said['present']} peers and not {len(self.nodes) - 1}")
            elif abs(said["estimate"] - estimate) > self._world.slack(n):
                found.append(f"{name} estimates {said['estimate']} and not {estimate}")
        return found

    @property
    def _calm_estimates(self) -> Sequence[float]:
        (n,) = {feed.allowed for feed in self.feeds.values()}
        return self._expected[n]

    async def _until(self, what: str, complaints: Callable[[], Sequence[str]]) -> None:
        deadline = time.monotonic() + self._recovery
        while found := complaints():
            assert time.monotonic() < deadline, self._told(f"{what}: too late", found)
            await asyncio.sleep(0.02)

    def _told(self, what: str, found: Sequence[str]) -> str:
        lines = [what, *found]
        for process in self.processes:
            lines += [f"-- {process.name}: {process.last}", process.tail]
        return "\n".join(lines)


def _colme(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "colme", *arguments]
