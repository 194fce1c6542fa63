"""A fleet of real processes with the devices that feed them, and what must hold in the end."""

import asyncio
import contextlib
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

import numpy as np

from chaos.feeds import Feed
from chaos.processes import Process
from chaos.worlds import World

PATIENCE = 2.0
"""Seconds in which a node must end when it is told to."""
RECOVERY = 30.0
"""Seconds in which a fleet must be itself again after a disturbance."""


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Fleet:
    """Nodes, perhaps a router, and a device for each node that feeds it."""

    def __init__(
        self,
        folder: Path,
        world: World,
        expected: Mapping[int, Sequence[float]],
        interval: float = 0.1,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.world, self.interval = world, interval
        self.router: Process | None = None
        self.nodes: dict[str, Process] = {}
        self.feeds: dict[str, Feed] = {}
        self.figures: dict[str, float] = {}
        self._folder, self._expected = folder, expected
        self._sockets = tempfile.mkdtemp(prefix="colme")  # short enough for a socket's path
        self._samples = world.samples

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for feed in self.feeds.values():
            await feed.drop()
        for process in self.processes:
            process.thaw()
            with contextlib.suppress(AssertionError):
                await process.kill()
        shutil.rmtree(self._sockets, ignore_errors=True)

    @property
    def processes(self) -> list[Process]:
        """All of them, the router last."""
        return [*self.nodes.values(), *([] if self.router is None else [self.router])]

    async def add_router(self, address: str, *flags: str) -> None:
        """Start a router."""
        command = _colme("router", "--fleet", "chaos", "--every", "0.2", "--listen", address)
        self.router = Process("router", [*command, *flags], self._folder)
        await self.router.start()

    async def add_node(
        self,
        *flags: str,
        wrapper: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> Process:
        """Start the next node, and a device that feeds it."""
        name = self.world.names[len(self.nodes)]
        address = f"unix:{self._sockets}/{name}"
        learning = [f"--{key.replace('_', '-')}={value}" for key, value in self.world.settings.items()]
        command = _colme("node", "--fleet", "chaos", "--id", name, "--source", address, *learning)
        command += ["--state", str(self._folder / name), f"--interval={self.interval}", *flags]
        process = Process(name, [*wrapper, *command], self._folder, environment)
        self.feeds[name] = Feed(address, self._samples[:, len(self.nodes)].tolist())
        self.nodes[name] = process
        await process.start()
        return process

    async def ready(self) -> None:
        """Wait until everybody is there and sees everybody."""
        others = len(self.nodes) - 1
        await self.until(
            "start", lambda: all(node.last.get("present") == others for node in self.nodes.values())
        )

    def feed(self, n: int, seconds: float) -> None:
        """Let every node be sent samples up to the n-th, the new ones over so many seconds."""
        for feed in self.feeds.values():
            feed.allow(n, seconds)

    async def until(
        self, what: str, holds: Callable[[], bool | Sequence[str]], patience: float = RECOVERY
    ) -> float:
        """Wait until something holds, or until nothing is left to complain of."""
        begin = time.monotonic()
        while (found := holds()) is not True and found != []:
            if time.monotonic() - begin > patience:
                raise AssertionError(self._told(f"{what}: not within {patience} s", found))
            await asyncio.sleep(0.02)
        return time.monotonic() - begin

    async def recover(self, what: str) -> float:
        """Wait until every node is as if nothing had happened; return the seconds that took."""
        since = time.monotonic()
        took = await self.until(what, lambda: self.complaints(since))
        self.figures[what] = round(took, 2)
        return took

    def complaints(self, since: float) -> list[str]:
        """Return what is not as in an undisturbed fleet, by what the nodes said since then."""
        found = []
        for name, feed, estimate in zip(
            self.nodes, self.feeds.values(), self._expected[self._n_fed], strict=True
        ):
            node, said = self.nodes[name], self.nodes[name].last
            if node.code is not None:
                found.append(f"{name} has ended with {node.code}")
            elif node.heard_at <= since:
                found.append(f"{name} says nothing")
            elif said["samples"] != feed.allowed or said["count"] != feed.allowed:
                found.append(f"{name} has {said['samples']} samples and not {feed.allowed}")
            elif abs(said["mean"] - np.mean(feed.values[: feed.allowed])) > 1e-9:
                found.append(f"{name} has samples that are not those it was sent")
            elif said["present"] != len(self.nodes) - 1:
                found.append(f"{name} sees {said['present']} peers and not {len(self.nodes) - 1}")
            elif abs(said["estimate"] - estimate) > self.world.slack(feed.allowed):
                found.append(f"{name} estimates {said['estimate']} and not {estimate}")
        return found

    async def end(self) -> None:
        """End everything: all is durable, nothing hangs, every process says that it is well."""
        for feed in self.feeds.values():
            assert await asyncio.wait_for(feed.end(), RECOVERY) == feed.allowed
        took = await asyncio.gather(*(process.stop(PATIENCE) for process in self.processes))
        self.figures["slowest end"] = round(max(took), 2)
        codes = {process.name: process.code for process in self.processes if process.code != 0}
        assert not codes, self._told("not all ended well", [str(codes)])

    @property
    def _n_fed(self) -> int:
        (n,) = {feed.allowed for feed in self.feeds.values()}
        return n

    def _told(self, what: str, found: bool | Sequence[str]) -> str:
        lines = [what, *(() if isinstance(found, bool) else found)]
        for process in self.processes:
            lines += [f"-- {process.name}: {process.last}", process.tail]
        return "\n".join(lines)


def _colme(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "colme", *arguments]
