"""The journal: torn anywhere, damaged anywhere, held by one, and never of another sweep."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sweeps import TINY, expected

from colme.sweep import Sweep
from colme.sweep.point_journal import Journal, pack, unpack

HEAD: dict[str, Any] = {"format": 1, "specification": "abc", "versions": {"numpy": "2.0"}}
ROWS = {0: {"run": [0]}, 5: {"run": [0, 1], "name": ["ü", None]}, 2: {"error": [0.1 + 0.2]}}
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
    max_leaves=10,
)


def journal(folder: Path) -> Path:
    path = folder / "results.parquet.journal"
    with Journal(path) as held:
        held.begin(HEAD)
        for point, rows in ROWS.items():
            held.append(point, rows)
    return path


def begin_or_go_on(path: Path) -> dict[int, Any]:
    """Return what survives; then go on to the end, and check that all is there."""
    with Journal(path) as held:
        if not held.go_on(HEAD):
            held.check_free(HEAD)
            held.begin(HEAD)
        kept = {point: held.read(point) for point in held.finished}
        for point, rows in ROWS.items():
            if point not in kept:
                held.append(point, rows)
    with Journal(path) as held:
        assert held.go_on(HEAD)
        assert {point: held.read(point) for point in held.finished} == ROWS
    return kept


@given(PLAIN)
def test_what_is_packed_is_unpacked_from_one_line(value: Any) -> None:
    line = pack(value)
    assert line.count(b"\n") == 1
    assert unpack(line) == value


def test_a_journal_torn_at_any_byte_keeps_every_whole_line(tmp_path: Path) -> None:
    path = journal(tmp_path)
    whole = path.read_bytes()
    ends = [place + 1 for place, byte in enumerate(whole) if byte == ord("\n")]
    assert len(ends) == 4
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        n_whole = max(0, sum(end <= cut for end in ends) - 1)
        assert list(begin_or_go_on(path)) == sorted(list(ROWS)[:n_whole]), cut


def test_a_journal_with_any_byte_wrong_keeps_the_lines_before_it(tmp_path: Path) -> None:
    path = journal(tmp_path)
    whole = path.read_bytes()
    ends = [place + 1 for place, byte in enumerate(whole) if byte == ord("\n")]
    for place in range(ends[0], len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 0x15
        path.write_bytes(damaged)
        n_whole = sum(end <= place for end in ends) - 1
        kept = begin_or_go_on(path)
        assert kept == {point: ROWS[point] for point in list(ROWS)[:n_whole]}, place


def test_a_tail_of_zeros_is_dropped(tmp_path: Path) -> None:
    path = journal(tmp_path)
    path.write_bytes(path.read_bytes() + bytes(5000))  # what a power failure may leave
    assert begin_or_go_on(path) == ROWS


def test_two_cannot_hold_one_journal(tmp_path: Path) -> None:
    path = tmp_path / "results.parquet.journal"
    with Journal(path) as held:
        held.begin(HEAD)
        with pytest.raises(ValueError, match="another sweep is writing to"):
            Journal(path)
        held.append(1, {})
    with Journal(path) as held:
        assert held.go_on(HEAD)
        held.remove()
        with Journal(path) as other:  # the one that is removed is nobody's
            assert not other.go_on(HEAD)
    assert not path.exists()  # an empty one is not left behind


OTHERS: dict[str, tuple[bytes, str]] = {
    "another sweep": (pack(HEAD | {"specification": "xyz"}), "holds points of another sweep"),
    "other versions": (
        pack(HEAD | {"versions": {"numpy": "1.9"}}),
        r"begun with other versions \(numpy 1.9 instead of 2.0\)",
    ),
    "another file": (b"Dear diary\n", "is not a journal"),
    "another file without lines": (b"Dear diary", "is not a journal"),
    "a line of something else": (pack([1, 2]), "is not a journal"),
    "another head, torn": (pack(HEAD | {"specification": "xyz"})[:40], "is not a journal"),
}


@pytest.mark.parametrize(("content", "named"), OTHERS.values(), ids=OTHERS.keys())
def test_a_file_of_another_is_refused_and_keeps_every_byte(
    tmp_path: Path, content: bytes, named: str
) -> None:
    path = tmp_path / "results.parquet.journal"
    path.write_bytes(content)
    with Journal(path) as held:
        assert not held.go_on(HEAD)
        with pytest.raises(ValueError, match=named) as caught:
            held.check_free(HEAD)
    assert "--overwrite" in str(caught.value)
    assert path.read_bytes() == content


class Disk:
    """What a power failure leaves: the content of files and the names in folders when last synced.

    It stands in for `os.fsync`, and notes what would be safe.
    """

    def __init__(self) -> None:
        self.contents: dict[int, bytes] = {}
        self.names: dict[str, int] = {}

    def sync(self, descriptor: int) -> None:
        path = Path(f"/proc/self/fd/{descriptor}").resolve()
        if path.is_dir():
            self.names = {file.name: file.stat().st_ino for file in path.iterdir()}
        else:
            self.contents[os.fstat(descriptor).st_ino] = path.read_bytes()

    def after_power_failure(self, folder: Path) -> None:
        """Write into an empty folder what survives."""
        folder.mkdir()
        for name, number in self.names.items():
            (folder / name).write_bytes(self.contents.get(number, b""))


def test_no_power_failure_loses_a_point_once_append_has_returned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk, here = Disk(), tmp_path / "here"
    here.mkdir()
    monkeypatch.setattr("colme.sweep.point_journal.os.fsync", disk.sync)
    with Journal(here / "results.parquet.journal") as held:
        held.begin(HEAD)
        for n_points, (point, rows) in enumerate(ROWS.items(), start=1):
            held.append(point, rows)
            left = tmp_path / f"after {n_points}"
            disk.after_power_failure(left)
            with Journal(left / "results.parquet.journal") as again:
                assert again.go_on(HEAD)
                assert len(again) == n_points
                assert again.read(point) == rows


def test_no_power_failure_loses_results_once_they_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk, here, sweep = Disk(), tmp_path / "here", Sweep.make(TINY)
    here.mkdir()
    monkeypatch.setattr("colme.sweep.point_journal.os.fsync", disk.sync)
    whole = expected(sweep, here / "results.parquet")
    disk.after_power_failure(tmp_path / "left")
    assert (tmp_path / "left" / "results.parquet").read_bytes() == whole
