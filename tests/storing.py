"""Processes that keep agents in a store, to be killed and cramped by tests: a script.

``storing.py serve FOLDER`` forks a process that writes for ever whenever it reads a line.
``storing.py cramp FOLDER LIMIT END`` writes while no file may grow beyond LIMIT bytes, then dies at
once (END is "die"), or writes on without the limit and closes (END is "mend").
"""

import asyncio
import json
import os
import resource
import sys
from itertools import count
from pathlib import Path

from colme.live.store import Past, Store, StoreUnwritable

FLEET = "garden"
AGENTS = ("ada", "bob", "cyd")
TOGETHER = 3
"""Events that are appended in one call where files may not grow."""


def say(*words: object) -> None:
    print(*words, flush=True)  # noqa: T201


def numbers(past: Past) -> list[int]:
    """Return the numbers of all that an agent has kept: a checkpoint stands for those up to it."""
    last = int(past.checkpoint.split()[0]) if past.checkpoint else 0
    return [*range(1, last + 1), *(int(event.split()[0]) for event in past.events)]


async def write_for_ever(folder: Path) -> None:
    store = Store.open(folder, FLEET)
    pasts = {agent: store.adopt(agent) for agent in AGENTS}

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


async def fails(store: Store, delay: float) -> None:
    """A checkpoint that was begun before its agent was told of a failure fails as well."""
    large = asyncio.create_task(store.append("ada", bytes(2**23)))
    await asyncio.sleep(delay)
    told = large.done()
    small = asyncio.create_task(store.checkpoint("ada", b"9999"))
    outcomes = await asyncio.gather(large, small, return_exceptions=True)
    assert isinstance(outcomes[0], StoreUnwritable), outcomes
    assert told or isinstance(outcomes[1], StoreUnwritable), outcomes
    assert outcomes[1], "the limit leaves no room for the smallest checkpoint"


async def cramp(folder: Path, limit: int, end: str) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))
    store = Store.open(folder, FLEET, sync=False)
    kept = dict.fromkeys(AGENTS, 0)
    n_failures = 0
    for agent in AGENTS:
        store.adopt(agent)

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
    for delay in (0, 0.0001, 0.0002, 0.0005, 0.001, 0.002):
        await fails(store, delay)
    say(json.dumps(kept))
    if end == "die":
        os._exit(0)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
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
