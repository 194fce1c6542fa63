"""A store keeps what was appended, once and in order."""

import asyncio
import shutil
import stat
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from storing import FILE, content, opened, past_of, run

from colme.live.store import LARGEST_ENTRY, SavedState, Store, StoreBusy, StoreError


def test_an_agent_finds_its_past(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        new = store.register("ada")
        run(store.append("ada", b"one", b"two"))
        assert store.journal_length("ada") == 2
        run(store.checkpoint("ada", b"one and two"))
        assert store.journal_length("ada") == 0
        run(store.append("ada", b"three"), store.append("ada"), store.append("ada", b""))
        assert store.journal_length("ada") == 2
    assert new == SavedState(new.life, None, ())
    assert past_of(tmp_path) == SavedState(new.life, b"one and two", (b"three", b""))
    with opened(tmp_path) as store:
        store.register("ada")
        assert store.journal_length("ada") == 2
        assert store.n_commits == 0


def test_an_empty_state_is_a_checkpoint(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.register("ada")
        run(store.append("ada", b"one"), store.checkpoint("ada", b""))
    assert past_of(tmp_path).checkpoint == b""


def test_each_agent_of_each_file_has_its_own_life(tmp_path: Path) -> None:
    lives = [
        past_of(tmp_path / folder, agent).life
        for folder in ("here", "there", "here")
        for agent in ("ada", "bob")
    ]
    assert lives[:2] == lives[4:]
    assert len(set(lives)) == 4
    assert all(0 <= life < 2**63 for life in lives)
    assert max(lives) > 2**53


def test_nobody_else_may_read_a_store(tmp_path: Path) -> None:
    with opened(tmp_path / "a" / "b") as store:
        assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(store.path.stat().st_mode) == 0o600


agents = st.sampled_from(["ada", "bob", "Zoë 7"])
writes = st.tuples(agents, st.integers(0, 4))
"""Who appends how many events; 0 stands for a checkpoint."""
steps = st.one_of(st.lists(writes, min_size=1, max_size=6), st.sampled_from(["close", "crash"]))


@given(st.lists(steps, max_size=8))
def test_any_interleaving_comes_to_what_plain_lists_hold(plan: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as place:
        asyncio.run(follow(plan, Path(place)))


async def follow(plan: list[Any], place: Path) -> None:
    folder = place / "0"
    store = Store(folder, "garden", sync=False)
    model: dict[str, SavedState] = {}
    for number, step in enumerate([*plan, "crash", "close"], 1):
        if isinstance(step, str):
            if step == "crash":  # what a kill would leave, as nothing is being written
                folder = Path(shutil.copytree(folder, place / str(number)))
            await store.close()
            store = Store(folder, "garden", sync=False)
            assert model == {agent: store.register(agent) for agent in model}
            continue
        calls = []
        for agent, n_events in step:
            if agent not in model:
                model[agent] = store.register(agent)
            past, state = model[agent], b"state %d" % number
            events = tuple(b"%d %d" % (number, len(past.events) + k) for k in range(n_events))
            if events:
                calls.append(store.append(agent, *events))
                model[agent] = SavedState(past.life, past.checkpoint, past.events + events)
            else:
                calls.append(store.checkpoint(agent, state))
                model[agent] = SavedState(past.life, state, ())
        await asyncio.gather(*calls)
        for agent, past in model.items():
            assert store.journal_length(agent) == len(past.events)
    await store.close()


def test_those_who_wait_are_committed_together(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        names = [f"agent {number}" for number in range(200)]
        for name in names:
            store.register(name)
        run(*(store.append(name, name.encode()) for name in names))
        assert store.n_commits < 20
    assert past_of(tmp_path, "agent 7").events == (b"agent 7",)


def test_what_a_cancelled_caller_began_is_kept_and_others_go_on(tmp_path: Path) -> None:
    async def cancel(store: Store) -> None:
        for number in range(60):
            task = asyncio.create_task(store.append("ada", b"%d" % number))
            await asyncio.sleep(0.0001 * (number % 7))
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await store.append("bob", b"after")

    with opened(tmp_path) as store:
        store.register("ada")
        store.register("bob")
        asyncio.run(cancel(store))
    assert past_of(tmp_path).events == tuple(b"%d" % number for number in range(60))
    assert past_of(tmp_path, "bob").events == (b"after",)


def test_a_store_outlives_the_event_loop_that_wrote(tmp_path: Path) -> None:
    async def leave(store: Store) -> None:
        asyncio.create_task(store.append("ada", b"left behind"))  # noqa: RUF006
        await asyncio.sleep(0)

    with opened(tmp_path) as store:
        store.register("ada")
        asyncio.run(leave(store))
        run(store.append("ada", b"heard"))
    assert past_of(tmp_path).events == (b"left behind", b"heard")


def test_closing_finishes_what_was_begun_and_can_be_repeated(tmp_path: Path) -> None:
    async def leave() -> None:
        store = Store(tmp_path, "garden")
        store.register("ada")
        tasks = [asyncio.create_task(store.append("ada", b"%d" % k)) for k in range(9)]
        await asyncio.sleep(0)
        await asyncio.gather(store.close(), store.close())
        await store.close()
        assert sorted(content(tmp_path)) == [FILE]  # its log is in it
        await asyncio.gather(*tasks)
        for call in (store.append("ada", b"late"), store.checkpoint("ada", b"late")):
            with pytest.raises(StoreError, match="has been closed: open the store again"):
                await call
        with pytest.raises(StoreError, match="has been closed: open the store again"):
            store.register("bob")

    asyncio.run(leave())
    assert len(past_of(tmp_path).events) == 9


def test_log_and_file_stay_small_whoever_lags_behind(tmp_path: Path) -> None:
    sizes: dict[str, int] = {}
    names = [f"agent {number}" for number in range(20)]

    async def live(store: Store) -> None:
        for number in range(1000):
            await asyncio.gather(*(store.append(name, b"%100d" % number) for name in names))
            for name in names:
                if store.journal_length(name) >= 100 + len(name):  # not all at the same time
                    await store.checkpoint(name, b"%5000d" % number)
            for path in tmp_path.iterdir():
                sizes[path.name] = max(sizes.get(path.name, 0), path.stat().st_size)

    with opened(tmp_path) as store:
        for name in ["lagging", *names]:
            store.register(name)
        run(store.append("lagging", b"the only event"))
        asyncio.run(live(store))
    assert sizes.keys() == {FILE, FILE + "-wal"}
    assert sizes[FILE] < 1_500_000
    assert sizes[FILE + "-wal"] < 2_100_000
    assert past_of(tmp_path, "lagging").events == (b"the only event",)
    for name in names:
        past = past_of(tmp_path, name)
        first = int(past.checkpoint or b"-1") + 1
        assert [int(event) for event in past.events] == list(range(first, 1000))


@pytest.mark.parametrize("name", ["", None, b"ada", 3])
def test_every_name_is_a_non_empty_string(tmp_path: Path, name: Any) -> None:
    with pytest.raises(ValueError, match=f"fleet must be a non-empty string; received {name!r}"):
        Store(tmp_path, name)
    with (
        opened(tmp_path) as store,
        pytest.raises(ValueError, match=f"agent must be a non-empty string; received {name!r}"),
    ):
        store.register(name)


def test_mistakes_of_a_caller_are_named_and_change_nothing(tmp_path: Path) -> None:
    text: Any = "text"
    with opened(tmp_path) as store:
        store.register("ada")
        with pytest.raises(ValueError, match="agent 'ada' is here already"):
            store.register("ada")
        with pytest.raises(ValueError, match="agent 'bob' is not here: register it"):
            run(store.append("bob", b"one"))
        with pytest.raises(ValueError, match="event must be bytes; received str"):
            run(store.append("ada", b"one", text))
        with pytest.raises(ValueError, match="state must be bytes; received str"):
            run(store.checkpoint("ada", text))
        with pytest.raises(ValueError, match="event must have at most 67108864 bytes; received 67"):
            run(store.append("ada", b"one", bytes(LARGEST_ENTRY + 1)))
        assert store.n_commits == 0


def test_one_store_at_a_time_has_a_folder(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.register("ada")
        with pytest.raises(StoreBusy, match=r"colme\.sqlite is open elsewhere: stop the process"):
            Store(tmp_path, "garden")
        run(store.append("ada", b"one"))
    assert past_of(tmp_path).events == (b"one",)


def test_a_write_that_comes_while_the_thread_ends_is_not_forgotten(tmp_path: Path) -> None:
    """Threads change places all the time here: between any two looks at what waits."""

    async def write(store: Store, agent: str) -> None:
        for i in range(150):
            await asyncio.wait_for(store.append(agent, f"{i}".encode()), timeout=20)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with opened(tmp_path) as store:
            for agent in ("ada", "bob", "cid"):
                store.register(agent)
            run(*(write(store, agent) for agent in ("ada", "bob", "cid")))
            assert store.journal_length("ada") == 150
    finally:
        sys.setswitchinterval(before)
