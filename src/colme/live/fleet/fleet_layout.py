"""Which agents run where: processes, the hosts in them, their folders, keys and addresses.

Lives here: what each process does, and the folder of a whole fleet.  Must not know how processes
are started.
"""

from __future__ import annotations

import json
import socket
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from colme._files import replacing
from colme._settings import Table
from colme.live.connection_config import ConnectionConfig
from colme.live.fleet.fleet_problem import ProblemRecord
from colme.live.fleet.fleet_settings import FleetSettings
from colme.live.keys import Authority

_ROUTER, _WATCHER = "router", "watcher"
"""Names on the certificates of those that are not agents."""


class HostSpec(Table):
    """One store and one link, and the numbers of the agents that share them; a router has none.

    Examples
    --------
    >>> HostSpec(agents=(0, 2), state=Path("process-0"), connection=ConnectionConfig("peer")).agents
    (0, 2)
    """

    agents: tuple[int, ...]
    state: Path
    connection: ConnectionConfig


class ProcessSpec(Table):
    """What one process of a fleet does: it is sent to the process as JSON.

    Examples
    --------
    >>> from colme.problem import Problem
    >>> settings = FleetSettings(problem=Problem.gaussian([0.2], n_agents=3, sigma=0.5))
    >>> connection = ConnectionConfig("peer")
    >>> host = HostSpec(agents=(0, 2), state=Path("process-0"), connection=connection)
    >>> ProcessSpec(settings=settings, hosts=(host,)).agents
    (0, 2)
    """

    settings: FleetSettings
    hosts: tuple[HostSpec, ...]

    @property
    def agents(self) -> tuple[int, ...]:
        """The numbers of all its agents."""
        return tuple(agent for host in self.hosts for agent in host.agents)


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


class FleetLayout:
    """Where everything of a fleet is; made once, so that a process is started again as it was.

    Parameters
    ----------
    settings
        The settings of the fleet.
    folder
        Where it is stored: one store for each process, or with keys one for each agent.

    Examples
    --------
    >>> import tempfile
    >>> from colme.problem import Problem
    >>> problem = Problem.gaussian([0.2, 0.8], n_agents=5, sigma=0.5)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     layout = FleetLayout(FleetSettings(problem=problem, mode="client"), Path(place))
    >>> [spec.agents for spec in layout.processes]
    [(0, 2, 4), (1, 3)]
    >>> layout.router.hosts[0].connection.listen == layout.watcher.connect
    True
    """

    def __init__(self, settings: FleetSettings, folder: Path) -> None:
        self.folder = folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self._settings = settings
        self._check_same()
        keys = self._issue_keys() if settings.tls else {}
        names, n, mode = settings.names, settings.processes, settings.mode_of_agents
        # Seals are in the name of one agent: with keys each has a host of its own.  Hosts take
        # turns in going to the processes, so the first n are the first ones of each process.
        step = len(names) if settings.tls else n
        groups = [tuple(range(first, len(names), step)) for first in range(step)]
        self.router: ProcessSpec | None = None
        if mode == "client":
            known = tuple(free_addresses(1))
            listen: list[tuple[str, ...]] = [()] * step
            meeting = ConnectionConfig("router", known, keys=keys.get(_ROUTER))
            router = HostSpec(agents=(), state=self.folder, connection=meeting)
            self.router = ProcessSpec(settings=settings, hosts=(router,))
        else:
            listen = [(address,) for address in free_addresses(step)]
            # Every host connects to the first host of each process, and learns of the rest there.
            known = tuple(own[0] for own in listen[:n])
        hosts = []
        for agents, own in zip(groups, listen, strict=True):
            name = names[agents[0]]
            others = tuple(address for address in known if address not in own)
            state = self.folder / (f"agent-{name}" if settings.tls else f"process-{agents[0]}")
            connection = ConnectionConfig(mode, own, others, keys.get(name))
            hosts.append(HostSpec(agents=agents, state=state, connection=connection))
        self.processes = tuple(
            ProcessSpec(settings=settings, hosts=tuple(hosts[k::n])) for k in range(n)
        )
        own = ("127.0.0.1:0",) if mode == "peer" else ()
        self.watcher = ConnectionConfig(mode, own, known, keys.get(_WATCHER))

    def _issue_keys(self) -> dict[str, Path]:
        """Return the folders of keys, made if they are missing."""
        place = self.folder / "keys"
        made = (place / "ca.pem").exists()
        authority = Authority.open(place) if made else Authority.create(place, self._settings.fleet)
        names = (*self._settings.names, _ROUTER, _WATCHER)
        missing = [name for name in names if name not in authority.members]
        if missing:
            authority.issue_all(missing)
        return {name: place / name for name in names}

    def _check_same(self) -> None:
        """Refuse a folder in which another fleet is stored."""
        settings, path = self._settings, self.folder / "fleet.json"
        problem = json.loads(ProblemRecord.of(settings.problem).model_dump_json())
        now: dict[str, Any] = {
            "name": settings.fleet,
            "processes": settings.processes,
            "tls": settings.tls,
            "world": problem | {"seed": settings.seed},
        }
        if not path.exists():
            with replacing(path) as draft:
                draft.write_text(json.dumps(now))
            return
        try:
            before = dict(json.loads(path.read_text()))
        except (OSError, ValueError) as error:
            raise ValueError(f"cannot read {path}: {error}; give an empty folder") from None
        different = [word for word in now if before.get(word) != now[word]]
        if different:
            raise ValueError(
                f"{self.folder} stores a fleet with another {', '.join(different)}: give the same "
                "settings as then, or an empty folder"
            )
