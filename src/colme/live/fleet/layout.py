"""Who lives where: processes, the hosts in them, their folders, keys and addresses.

Lives here: what each process is told, and the folder of a whole fleet.  Must not know how processes
are started.
"""

from __future__ import annotations

import json
import socket
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

from colme._files import replacing
from colme._settings import Table
from colme.live.fleet.settings import FleetSettings
from colme.live.fleet.world import World
from colme.live.keys import Authority, Identity
from colme.live.settings import AgentSettings
from colme.live.wiring import Mode, Wiring

__all__ = ["HostSpec", "Layout", "ProcessSpec", "free_addresses"]

_ROUTER, _WATCHER = "router", "watcher"
"""Names on the certificates of those that are no agents."""


class HostSpec(Table):
    """One store and one link, and the agents that share them; a router has none.

    Examples
    --------
    >>> HostSpec(agents=(0, 2), state=Path("process-0"), mode="peer").keys is None
    True
    """

    agents: tuple[int, ...]
    state: Path
    mode: Mode
    listen: tuple[str, ...] = ()
    connect: tuple[str, ...] = ()
    keys: Path | None = None

    def wiring(self) -> Wiring:
        """Return how the host is connected."""
        keys = None if self.keys is None else Identity.load(self.keys)
        members = keys.members if keys is not None and self.mode == "router" else None
        return Wiring(self.mode, self.listen, self.connect, keys, members=members)


class ProcessSpec(Table):
    """All that one process of a fleet is told.

    Examples
    --------
    >>> ProcessSpec.model_fields["steps"].is_required()
    False
    """

    fleet: str
    names: tuple[str, ...]
    hosts: tuple[HostSpec, ...]
    world: World
    learning: AgentSettings
    interval: float
    every: float
    sync: bool
    in_step: bool
    steps: int | None = None
    liars: tuple[int, ...] = ()
    lie: Literal["shifted", "inflated", "random"] = "shifted"
    shift: float = 0.0


def free_addresses(n: int) -> list[str]:
    """Return addresses on this machine where nobody listens at the moment.

    Examples
    --------
    >>> len(set(free_addresses(3)))
    3
    """
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(n)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{one.getsockname()[1]}" for one in sockets]


class Layout:
    """Where everything of a fleet is; made once, so that a process is started again as it was.

    Parameters
    ----------
    settings
        What the fleet is told.
    folder
        Where it is kept: a store for each process, or with keys for each agent.

    Examples
    --------
    >>> import tempfile
    >>> from colme.problem import Problem
    >>> settings = FleetSettings(Problem.gaussian([0.2, 0.8], n_agents=5, sigma=0.5), mode="client")
    >>> with tempfile.TemporaryDirectory() as place:
    ...     layout = Layout(settings, Path(place))
    >>> [host.agents for spec in layout.processes for host in spec.hosts]
    [(0, 2, 4), (1, 3)]
    >>> layout.router.hosts[0].listen == layout.watcher.connect
    True
    """

    def __init__(self, settings: FleetSettings, folder: Path) -> None:
        self.folder = folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self._settings = settings
        self._world = World.of(settings.problem, settings.seed)
        self._check_same()
        self._keys = self._issue() if settings.tls else {}
        self.watcher_keys = self._keys.get(_WATCHER)
        groups = [self._groups(process) for process in range(settings.processes)]
        self.router: ProcessSpec | None = None
        self.watcher: Wiring
        self.processes: tuple[ProcessSpec, ...]
        if settings.is_routed:
            self._meet_at_router(groups)
        else:
            self._meet_each_other(groups)

    def _groups(self, process: int) -> list[tuple[int, ...]]:
        """Return which agents of a process share a host; seals are in the name of one agent."""
        agents = range(process, self._settings.problem.n_agents, self._settings.processes)
        return [(agent,) for agent in agents] if self._settings.tls else [tuple(agents)]

    def _meet_at_router(self, groups: list[list[tuple[int, ...]]]) -> None:
        (address,) = free_addresses(1)
        keys = self._keys.get(_ROUTER)
        router = HostSpec(agents=(), state=self.folder, mode="router", listen=(address,), keys=keys)
        self.router = self._spec((router,))
        self.processes = tuple(
            self._spec(
                tuple(self._host(process, agents, "client", connect=(address,)) for agents in some)
            )
            for process, some in enumerate(groups)
        )
        self.watcher = self._watching("client", (address,))

    def _meet_each_other(self, groups: list[list[tuple[int, ...]]]) -> None:
        listen = [free_addresses(len(some)) for some in groups]
        # The first host of every process is called by all others, which hear of the rest from it.
        known = [addresses[0] for addresses in listen]

        def host(process: int, k: int) -> HostSpec:
            own = listen[process][k]
            others = tuple(address for address in known if address != own)
            return self._host(process, groups[process][k], "peer", (own,), others)

        self.processes = tuple(
            self._spec(tuple(host(process, k) for k in range(len(some))))
            for process, some in enumerate(groups)
        )
        self.watcher = self._watching("peer", tuple(known))

    def _watching(self, mode: Mode, connect: tuple[str, ...]) -> Wiring:
        keys = None if self.watcher_keys is None else Identity.load(self.watcher_keys)
        listen = ("127.0.0.1:0",) if mode == "peer" else ()
        return Wiring(mode, listen, connect, keys)

    def _host(
        self,
        process: int,
        agents: tuple[int, ...],
        mode: Mode,
        listen: tuple[str, ...] = (),
        connect: tuple[str, ...] = (),
    ) -> HostSpec:
        place, name = f"process-{process}", self._settings.names[agents[0]]
        return HostSpec(
            agents=agents,
            state=self.folder / (f"agent-{name}" if self._settings.tls else place),
            mode=mode,
            listen=listen,
            connect=connect,
            keys=self._keys.get(name),
        )

    def _spec(self, hosts: tuple[HostSpec, ...]) -> ProcessSpec:
        settings = self._settings
        return ProcessSpec(
            fleet=settings.name,
            names=settings.names,
            hosts=hosts,
            world=self._world,
            learning=settings.told,
            interval=settings.interval,
            every=settings.snapshot_every,
            sync=settings.sync,
            in_step=settings.in_step,
            steps=settings.steps,
            liars=settings.liars_chosen,
            lie=settings.lie,
            shift=settings.shift,
        )

    def _issue(self) -> dict[str, Path]:
        """Return the folders of keys, made if they are missing."""
        place = self.folder / "keys"
        made = (place / "ca.pem").exists()
        authority = Authority.open(place) if made else Authority.create(place, self._settings.name)
        names = (*self._settings.names, _ROUTER, _WATCHER)
        missing = [name for name in names if name not in authority.members]
        if missing:
            authority.issue_all(missing)
        return {name: place / name for name in names}

    def _check_same(self) -> None:
        """Refuse a folder in which another fleet is kept."""
        settings, path = self._settings, self.folder / "fleet.json"
        now: dict[str, Any] = {
            "name": settings.name,
            "processes": settings.processes,
            "tls": settings.tls,
            "world": json.loads(self._world.model_dump_json()),
        }
        if not path.exists():
            with replacing(path) as draft:
                draft.write_text(json.dumps(now))
            return
        before = _read(path)
        different = [word for word in now if before.get(word) != now[word]]
        if different:
            raise ValueError(
                f"{self.folder} keeps a fleet with other {', '.join(different)}: give the same as "
                "then, or an empty folder"
            )


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text())
        return dict(content)
    except (OSError, ValueError) as error:
        raise ValueError(f"cannot read {path}: {error}; give an empty folder") from None
