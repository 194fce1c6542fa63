"""A file that is not right is refused, with a remedy, and keeps every byte."""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from storing import FILE, content, fill, opened, past_of, run

from colme.live.store import Store, StoreBusy, StoreError


def test_another_program_may_not_have_the_file_open_either(tmp_path: Path) -> None:
    fill(tmp_path)
    with closing(sqlite3.connect(tmp_path / FILE)) as other:
        other.execute("SELECT * FROM agent").fetchone()
        with pytest.raises(StoreBusy, match="is open elsewhere"):
            Store(tmp_path, "garden")
    assert len(past_of(tmp_path).events) == 40


def change(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / FILE)) as rows:
        rows.execute(statement)
        rows.commit()


def cut(size: int) -> Callable[[Path], None]:
    return lambda folder: os.truncate(folder / FILE, size)


def write(text: bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / FILE).write_bytes(text)


def overwrite(table: str) -> Callable[[Path], None]:
    """Spoil the page with which the table begins."""

    def spoil(folder: Path) -> None:
        with closing(sqlite3.connect(f"file:{folder / FILE}?immutable=1", uri=True)) as rows:
            pages = dict(rows.execute("SELECT name, rootpage FROM sqlite_master"))
        with (folder / FILE).open("r+b") as file:
            file.seek((pages[table] - 1) * 4096)
            file.write(b"\x99" * 4096)

    return spoil


def make_foreign(folder: Path) -> None:
    (folder / FILE).unlink()
    change(folder, "PRAGMA journal_mode = WAL")
    change(folder, "CREATE TABLE bookmarks (address TEXT)")


def make_folder(folder: Path) -> None:
    (folder / FILE).unlink()
    (folder / FILE).mkdir()


def orphan(folder: Path) -> None:
    (folder / FILE).rename(folder / (FILE + "-wal"))


NO_SQLITE = "is damaged: this is no SQLite file; nothing was changed: move it away .* begins a new"
SPOILED: list[tuple[str, Callable[[Path], object], str]] = [
    ("empty", write(b""), NO_SQLITE),
    ("zeros", write(bytes(8192)), NO_SQLITE),
    ("text", write(b"hello\n"), NO_SQLITE),
    ("magic alone", write(b"SQLite format 3\0"), NO_SQLITE),
    ("cut in its head", cut(99), NO_SQLITE),
    ("cut after its head", cut(100), "is damaged: .*; nothing was changed: move it away"),
    ("cut in a page", cut(4095), "is damaged: .*; nothing was changed: move it away"),
    ("cut after a page", cut(4096), "is damaged: .*; nothing was changed: move it away"),
    ("cut later", cut(20000), "is damaged: .*; nothing was changed: move it away"),
    ("overwritten", overwrite("journal"), "is damaged: .*; nothing was changed: move it away"),
    ("another application's", make_foreign, "another application, of id 0x0 and not 0x"),
    ("newer", lambda f: change(f, "PRAGMA user_version = 2"), "has layout 2 .* reads layout 1"),
    ("no layout", lambda f: change(f, "PRAGMA user_version = 0"), "has layout 0 .* use the vers"),
    (
        "another fleet's",
        lambda folder: change(folder, "UPDATE about SET fleet = 'desert'"),
        "belongs to fleet 'desert' and not to 'garden'; .* name that fleet or choose another",
    ),
    ("nobody's", lambda f: change(f, "DELETE FROM about"), "is damaged: it names no fleet"),
    ("without tables", lambda f: change(f, "DROP TABLE about"), "is damaged: no such table"),
    ("folder", make_folder, "cannot be read and written: Is a directory; nothing was changed"),
    ("log alone", orphan, r"-wal is there without colme\.sqlite, .* put that file back"),
]


@pytest.mark.parametrize(
    ("spoil", "message"), [case[1:] for case in SPOILED], ids=[case[0] for case in SPOILED]
)
def test_a_file_that_is_not_right_is_refused_and_left_as_it_is(
    tmp_path: Path, spoil: Callable[[Path], object], message: str
) -> None:
    fill(tmp_path)
    spoil(tmp_path)
    before = content(tmp_path)
    for _ in range(2):  # nothing stays locked either
        with pytest.raises(StoreError, match=message) as caught:
            Store(tmp_path, "garden")
        assert str(tmp_path / FILE) in str(caught.value)
    assert content(tmp_path) == before


def crashed(place: Path) -> Path:
    """Return a folder as a kill leaves it, with a log beside the file."""
    fill(place / "first")
    with opened(place / "first") as store:
        store.register("ada")
        run(store.append("ada", b"in the log"))
        return Path(shutil.copytree(place / "first", place / "crashed"))


@pytest.mark.parametrize("spoil", [cut(8192), overwrite("agent")], ids=["cut", "overwritten"])
def test_a_damaged_file_with_a_log_is_left_as_it_is(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    folder = crashed(tmp_path)
    spoil(folder)
    before = content(folder)
    assert before[FILE + "-wal"]
    with pytest.raises(StoreError, match=r"is damaged: .*; nothing was changed"):
        Store(folder, "garden")
    assert content(folder) == before


def test_a_log_of_another_fleet_is_left_as_it_is(tmp_path: Path) -> None:
    folder = crashed(tmp_path)
    before = content(folder)
    with pytest.raises(StoreError, match="belongs to fleet 'garden' and not to 'desert'"):
        Store(folder, "desert")
    assert content(folder) == before
    assert past_of(folder).events[-1] == b"in the log"


def flip(text: bytes) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        before = (folder / FILE).read_bytes()
        assert before.count(text) == 1
        (folder / FILE).write_bytes(before.replace(text, text[:-1] + bytes([text[-1] ^ 1])))

    return spoil


def altered(statement: str) -> Callable[[Path], None]:
    return lambda folder: change(folder, statement)


ADA = "agent = (SELECT row FROM agent WHERE name = 'ada')"
ROTTEN: list[tuple[str, Callable[[Path], None], str]] = [
    ("event", flip(b"event 7 of ada"), "event 8 of agent 'ada'"),
    ("missing", altered(f"DELETE FROM journal WHERE {ADA} AND number = 9"), "event 9 of agent"),
    ("number", altered(f"UPDATE journal SET number = 99 WHERE {ADA} AND number = 5"), "event 5"),
    ("type", altered(f"UPDATE journal SET event = 7 WHERE {ADA} AND number = 5"), "event 5"),
    ("checksum", altered(f"UPDATE journal SET checksum = 7 WHERE {ADA} AND number = 5"), "event 5"),
    ("state", altered("UPDATE agent SET checkpoint = x'00' WHERE name = 'ada'"), "the row of"),
    ("no state", altered("UPDATE agent SET checkpoint = NULL WHERE name = 'ada'"), "the row of"),
    ("number as state", altered("UPDATE agent SET checkpoint = 5 WHERE name = 'ada'"), "the row"),
    ("life", altered("UPDATE agent SET life = life + 1 WHERE name = 'ada'"), "the row of agent"),
    ("since", altered("UPDATE agent SET since = since + 1 WHERE name = 'ada'"), "the row of agent"),
]


@pytest.mark.parametrize(
    ("spoil", "message"), [case[1:] for case in ROTTEN], ids=[case[0] for case in ROTTEN]
)
def test_a_row_that_is_not_what_was_written_is_refused_and_left_as_it_is(
    tmp_path: Path, spoil: Callable[[Path], None], message: str
) -> None:
    fill(tmp_path)
    spoil(tmp_path)
    before = content(tmp_path)
    with opened(tmp_path) as store:
        for _ in range(2):
            with pytest.raises(StoreError, match=f"is damaged: {message}.* is not what was writ"):
                store.register("ada")
        with pytest.raises(ValueError, match="agent 'ada' is not here"):
            run(store.append("ada", b"one"))
        assert len(store.register("bob").events) == 40
    assert content(tmp_path) == before


@contextmanager
def without_privileges(folder: Path) -> Iterator[None]:
    """Be a user who may read but not write there, even if the tests are run by root."""
    user = os.geteuid()
    folder.chmod(0o555)
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)
        folder.chmod(0o755)


@pytest.mark.parametrize("mode", [None, 0o000, 0o444, 0o666], ids=["none", "no", "read", "write"])
@pytest.mark.parametrize("below", [".", "new"])
def test_a_folder_that_cannot_be_written_is_refused(mode: int | None, below: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if mode is not None:
            fill(folder)
            (folder / FILE).chmod(mode)
        message = "cannot be read and written: .*; nothing was changed: give the user"
        with without_privileges(folder), pytest.raises(StoreError, match=message):
            Store(folder / below, "garden")
        assert sorted(path.name for path in folder.iterdir()) == [FILE] * (mode is not None)


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("mine")
    for folder in (tmp_path / "state", tmp_path / "state" / "below"):
        with pytest.raises(StoreError, match=r"state.* cannot be read and written: .* choose"):
            Store(folder, "garden")
    assert content(tmp_path) == {"state": b"mine"}
