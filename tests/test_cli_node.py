"""`colme node` and `colme router` as real processes: what they take, print, refuse and leave."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.request import urlopen

import pytest
from commands import SOON, Command, free_address, until
from test_cli import run

from colme.live.addresses import split_address
from colme.live.keys import Authority
from colme.live.sources import socket_feed
from colme.live.store import Store

Capture = pytest.CaptureFixture[str]


def told(name: str = "hall", state: Path | str = "state", **more: str) -> list[str]:
    """Return the flags of a node."""
    flags = {"fleet": "home", "id": name, "state": str(state), "sigma": "0.5"} | more
    return ["node", *(word for key, value in flags.items() for word in (f"--{key}", value))]


class Home:
    """Three nodes that find each other, each with samples from elsewhere."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self.meeting, self.metrics = folder, free_address(), free_address()
        (folder / "attic.toml").write_text(
            'fleet = "home"\nid = "attic"\nstate = "elsewhere"\nsigma = 0.5\ninterval = 60\n'
            f'connect = ["{self.meeting}"]\n'
        )
        (folder / "readings").write_text("0.5\nwarm\n0.7\n")
        often = {"interval": "0.05", "log": "info"}
        sources = {"hall": f"unix:{folder / 's'}", "cellar": "file:readings"}
        near = {"listen": self.meeting, "metrics": self.metrics, "source": sources["hall"]}
        far = {"connect": self.meeting, "source": sources["cellar"]}
        calls = {
            "hall": told("hall", "hall", **near, **often),
            "attic": ["node", "attic.toml", "--state", "attic", "--interval", "0.05"],
            "cellar": told("cellar", "cellar", **far, **often),
        }
        self.nodes = {
            name: stack.enter_context(Command(*call, folder=folder)) for name, call in calls.items()
        }


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    with ExitStack() as stack:
        yield Home(tmp_path_factory.mktemp("home"), stack)


def test_nodes_take_samples_from_files_sockets_and_standard_input_and_pool_them(home: Home) -> None:
    nodes = home.nodes
    nodes["attic"].feed(0.4, '{"value": 0.6}', "nan", "", "0.5")
    until((home.folder / "s").exists)
    sent = asyncio.run(socket_feed(f"unix:{home.folder / 's'}", [0.3, 0.6, 0.9]))
    with (home.folder / "readings").open("a") as file:
        file.write("0.6\n")
    expected = {"attic": (3, 1, 0.5), "hall": (sent, 0, 0.6), "cellar": (3, 1, 0.6)}
    for name, (count, bad, mean) in expected.items():
        last = nodes[name].until(lambda one: one["messages"].get("heard", 0) > 4)
        while last["samples"] < count or last["present"] < 2:
            last = nodes[name].until(lambda one: one["samples"] and one["present"])
        assert (last["agent"], last["fleet"], last["count"]) == (name, "home", count)
        assert last["mean"] == pytest.approx(mean)
        assert last["refused"] == ({"sample": bad} if bad else {})
        assert last["class_size"] == 3
    assert (home.folder / "attic").is_dir()
    assert not (home.folder / "elsewhere").exists()


def test_all_that_is_printed_is_json_a_line_each(home: Home) -> None:
    for name, node in home.nodes.items():
        node.until(lambda one: one["messages"].get("ticks", 0) > 2)
        assert {one["agent"] for one in node.snapshots} == {name}
        assert all(one.keys() >= {"time", "level", "message"} for one in node.logs)
    home.nodes["attic"].feed("hot")
    home.nodes["attic"].until(lambda one: one["refused"])
    until(lambda: any("'hot'" in one["message"] for one in home.nodes["attic"].logs))


def test_metrics_can_be_fetched(home: Home) -> None:
    home.nodes["hall"].until(lambda one: one["messages"].get("ticks", 0) > 0)
    with urlopen(f"http://{home.metrics}/metrics", timeout=20) as page:
        text = page.read().decode()
    assert 'colme_ticks_total{agent="hall",fleet="home"}' in text


def test_a_state_that_is_in_use_is_not_touched(home: Home, capsys: Capture) -> None:
    home.nodes["hall"].until(lambda _: True)
    code, out, err = run(capsys, *told(state=home.folder / "hall"))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "is open elsewhere: stop the process that has it" in err


def test_an_address_in_use_is_one_line_and_exit_code_2(
    home: Home, tmp_path: Path, capsys: Capture
) -> None:
    home.nodes["hall"].until(lambda _: True)
    with Command(*told(listen=home.meeting), folder=tmp_path) as second:
        source = f"unix:{home.folder / 's'}"
        for call, message in (
            (told(state=tmp_path / "a", source=source), f"cannot listen at {source}"),
            (told(state=tmp_path / "b", metrics=home.metrics), "cannot serve metrics at"),
        ):
            code, out, err = run(capsys, *call)
            assert (code, out, err.count("\n")) == (2, "", 1)
            assert message in err
        assert second.wait() == 2
        assert second.out == []
        (line,) = second.err
        assert line.startswith(f"colme: cannot open the network ({home.meeting}): ")
    assert home.nodes["hall"].process.poll() is None


# Ends


def past_of(state: Path) -> object:
    """Return all that a store holds of the hall."""

    async def look() -> object:
        store = Store(state, "home")
        past = store.register("hall")
        await store.close()
        return past

    return asyncio.run(look())


def test_a_node_ends_within_two_seconds_whatever_it_waits_for(tmp_path: Path) -> None:
    meeting, nobody, device = free_address(), free_address(), free_address()
    often = {"interval": "0.05"}
    with ExitStack() as stack:
        hall, attic, client = (
            stack.enter_context(Command(*call, folder=tmp_path))
            for call in (
                told("hall", "hall", listen=meeting, **often),
                told("attic", "attic", connect=meeting, source=f"tcp:{device}", **often),
                told("client", "client", mode="client", connect=nobody, **often),
            )
        )
        attic.until(lambda one: one["present"] == 1)
        with socket.create_connection(split_address(device)) as sending:
            sending.sendall(b"0.5\nwarm\n0.7\n")
            last = attic.until(lambda one: one["samples"] == 2)
        assert last["refused"] == {"sample": 1}
        client.feed(0.5)
        client.until(lambda one: one["samples"] == 1)
        hall.feed(0.5)
        hall.until(lambda one: one["samples"] == 1)
        hall.send(signal.SIGSTOP)
        attic.until(lambda one: one["messages"].get("unanswered", 0) > 0)
        endings = [attic.stop(), client.stop(signal.SIGINT)]
        hall.send(signal.SIGCONT)
        endings.append(hall.stop())
        assert [code for code, _ in endings] == [0, 0, 0]
        assert max(seconds for _, seconds in endings) < SOON
        assert hall.snapshots[-1]["samples"] == 1
    before = past_of(tmp_path / "hall")
    with Command(*told("hall", "hall", sigma="0.7"), folder=tmp_path) as changed:
        assert changed.wait() == 2
        assert changed.out == []
        (line,) = changed.err
    assert line.startswith("colme: 'hall' has lived with bound = ")
    assert "give what it had, or start with an empty state folder, as a new life" in line
    assert past_of(tmp_path / "hall") == before


def test_the_end_of_the_source_or_of_who_reads_ends_a_node(tmp_path: Path) -> None:
    with (
        Command(*told(state="a", interval="0.01"), "--stop-at-end", folder=tmp_path) as ending,
        Command(*told(state="b", interval="0.01"), folder=tmp_path) as unread,
    ):
        ending.feed(0.5, 0.7)
        unread.stop_reading()
        ending.stop_feeding()
        assert (ending.wait(), unread.wait()) == (0, 0)
        assert ending.snapshots[-1]["samples"] == 2
        assert ending.err == unread.err == []


# Mistakes


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    logger = logging.getLogger("colme.live")
    before = logger.handlers, logger.level, logger.propagate
    yield
    logger.handlers, logger.level, logger.propagate = before


MISTAKES = {
    "nothing": (["node"], "fleet: Field required; id: Field required; state: Field required"),
    "no noise": (["node", "--fleet", "home", "--id", "a", "--state", "s"], "one of sigma, range"),
    "two noises": ([*told(), "--estimated"], "received sigma, estimated"),
    "name": (told("my hall"), "id: a name must be 1 to 64 of the characters"),
    "name of the fleet": (told(fleet="home/*"), "fleet: a name must be 1 to 64"),
    "unknown flag": (told(sgima="1"), "sgima"),
    "text for a number": (told(interval="often"), "often"),
    "level": (told(log="loud"), "loud"),
    "source": (told(source="pipe:x"), "not a source of samples: received 'pipe:x'; allowed are"),
    "remote source": (told(source="tcp:0.0.0.0:9"), "can be reached from other machines"),
    "open to all": (told(listen="0.0.0.0:7447"), "links beyond this machine need keys"),
    "client without router": (told(mode="client"), "give --connect HOST:PORT"),
    "client that listens": (
        told(mode="client", connect="127.0.0.1:7", listen="127.0.0.1:8"),
        "a client listens nowhere",
    ),
    "in step with nobody": ([*told(), "--in-step"], "name the peers, all of them"),
    "metrics": (told(metrics="here"), "HOST:PORT"),
    "no keys": (told(keys="nowhere"), "nowhere/ca.pem is missing: copy the whole folder"),
    "keys of another": (told("attic", keys="keys/hall"), "are those of 'hall' in the fleet 'home'"),
    "keys of another fleet": (told(fleet="farm", keys="keys/hall"), "received 'hall' in 'farm'"),
    "state of another fleet": (told(fleet="farm"), "belongs to fleet 'home' and not to 'farm'"),
    "garbage for a state": (told(state="garbage"), "is damaged: this is no SQLite file"),
    "a file for a state": (told(state="bad.toml"), "bad.toml"),
    "no such file": (["node", "nowhere.toml"], "cannot read 'nowhere.toml'"),
    "not toml": (["node", "bad.toml"], "bad.toml is not a TOML file"),
    "unknown keys": (["node", "unknown.toml", *told()[1:]], "colour: Extra inputs are not"),
    "wrong type": (["node", "typed.toml", *told()[1:]], "listen: Input should be a valid tuple"),
    "router of no fleet": (["router"], "fleet: Field required"),
    "router, too often": (["router", "--fleet", "home", "--every", "0"], "every"),
    "router with other keys": (
        ["router", "--fleet", "farm", "--keys", "keys/hall"],
        "are of the fleet 'home'; received 'farm'",
    ),
}


@pytest.fixture(scope="module")
def somewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with good and bad files."""
    folder = tmp_path_factory.mktemp("somewhere")
    Authority.create(folder / "keys", "home").issue_all(["hall"])
    past_of(folder / "state")
    (folder / "garbage").mkdir()
    (folder / "garbage" / "colme.sqlite").write_bytes(bytes(range(256)) * 16)
    (folder / "bad.toml").write_text("fleet = [")
    (folder / "unknown.toml").write_text('colour = "red"\n')
    (folder / "typed.toml").write_text('listen = "127.0.0.1:7447"\n')
    return folder


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("call", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_one_line_and_exit_code_2_and_changes_nothing(
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
    somewhere: Path,
    call: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(somewhere)
    before = contents(somewhere)
    code, out, err = run(capsys, *call)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("colme: ")
    assert message in err
    assert contents(somewhere) == before
