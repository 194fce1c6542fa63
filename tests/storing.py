"""Stores for tests, and processes that keep agents in them, to be killed and cramped: a script.

``storing.py serve FOLDER`` forks a process that writes for ever whenever it reads a line.
``storing.py cramp FOLDER LIMIT END`` writes while no file may grow beyond LIMIT bytes, then dies at
once (END is "die"), or writes on without the limit and closes (END is "mend").
"""

import asyncio
import json
import os
import resource
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from colme.live.store import SavedState, Store, StoreUnwritable, tables

FILE = "colme.sqlite"
FLEET = "garden"
AGENTS = ("ada", "bob", "cyd")
TOGETHER = 3
"""Events that are appended in one call where files may not grow."""


@contextmanager
def opened(folder: Path, fleet: str = FLEET) -> Iterator[Store]:
    store = Store(folder, fleet, sync=False)
    try:
        yield store
    finally:
        asyncio.run(store.close())


def past_of(folder: Path, agent: str = "ada") -> SavedState:
    with opened(folder) as store:
        return store.register(agent)


def run(*calls: Coroutine[Any, Any, None]) -> None:
    async def together() -> None:
        await asyncio.gather(*calls)

    asyncio.run(together())


def fill(folder: Path) -> SavedState:
    """Give ada a checkpoint and events after it, and bob events alone; return ada's past."""
    with opened(folder) as store:
        store.register("ada")
        store.register("bob")
        run(store.append("ada", b"before"), store.checkpoint("ada", b"the state of ada" * 500))
        run(*(store.append("ada", b"the event %d of ada" % number) for number in range(40)))
        run(*(store.append("bob", b"the event %d of bob" % number) for number in range(40)))
    return past_of(folder)


def content(folder: Path) -> dict[str, bytes | None]:
    files = sorted(folder.rglob("*"))
    return {path.name: path.read_bytes() if path.is_file() else None for path in files}


def say(*words: object) -> None:
    line = " ".join(map(str, words)) + "\n"
    os.write(1, line.encode())  # at once, so that no kill leaves half a line


def numbers(past: SavedState) -> list[int]:
    """Return the numbers of all that an agent has kept: a checkpoint stands for those up to it."""
    last = int(past.checkpoint.split()[0]) if past.checkpoint else 0
    return [*range(1, last + 1), *(int(event.split()[0]) for event in past.events)]


async def write_for_ever(folder: Path) -> None:
    tables._SPARE = 10  # sweep often, so that some are killed while they do
    store = Store(folder, FLEET)
    pasts = {agent: store.register(agent) for agent in AGENTS}

    async def live(agent: str) -> None:
        for number in count(len(numbers(pasts[agent])) + 1):
            await store.append(agent, b"%d" % number)
            say(agent, number)
            if store.journal_length(agent) >= 20:
                await store.checkpoint(agent, b"%d" % number)

    await asyncio.gather(*map(live, AGENTS))


def serve(folder: Path) -> None:
    for _ in sys.stdin:
        process = os.fork()
        if not process:
            asyncio.run(write_for_ever(folder))
        say("process", process)
        os.waitpid(process, 0)
        say("gone", process)


def limit_files(size: int | None) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most if size is None else size, most))


async def fail_twice(store: Store, delay: float) -> bool:
    """Return whether a checkpoint was begun while there was a failure to be told of."""
    large = asyncio.create_task(store.append("ada", bytes(2**23)))
    await asyncio.sleep(delay)
    begun = not large.done()
    small = [store.checkpoint("ada", b"9999")] if begun else []
    outcomes = await asyncio.gather(large, *small, return_exceptions=True)
    assert all(isinstance(outcome, StoreUnwritable) for outcome in outcomes), outcomes
    return begun


async def cramp(folder: Path, limit: int, end: str) -> None:
    limit_files(1000)
    try:
        Store(folder, FLEET)
        raise AssertionError("opened without room for a file")
    except StoreUnwritable:
        limit_files(limit)
    store = Store(folder, FLEET, sync=False)
    kept = dict.fromkeys(AGENTS, 0)
    n_failures = 0
    for agent in AGENTS:
        store.register(agent)

    async def extend(agent: str) -> None:
        nonlocal n_failures
        events = [b"%d " % (kept[agent] + k + 1) + bytes(1500) for k in range(TOGETHER)]
        try:
            await store.append(agent, *events)
            kept[agent] += TOGETHER
        except StoreUnwritable:
            n_failures += 1
        assert store.journal_length(agent) == kept[agent]

    while n_failures < 3 * len(AGENTS):
        await asyncio.gather(*map(extend, AGENTS))
    try:
        for number in range(100):
            store.register(f"agent {number}")
        raise AssertionError("adopted a hundred agents without room for one event")
    except StoreUnwritable:
        pass
    limit_files(limit + 100_000)  # room for a small checkpoint, not for a large event
    begun = [await fail_twice(store, delay) for delay in (0, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3)]
    assert begun[0]
    say(json.dumps(kept))
    if end == "die":
        os._exit(0)
    limit_files(None)
    for _ in range(5):
        await asyncio.gather(*map(extend, AGENTS))
    assert n_failures == 3 * len(AGENTS)
    await store.checkpoint("bob", b"%d" % kept["bob"])
    await store.close()
    say(json.dumps(kept))


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(Path(sys.argv[2]))
    else:
        asyncio.run(cramp(Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]))
