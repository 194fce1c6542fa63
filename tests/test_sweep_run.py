"""A sweep and its file: the same bytes again, what is kept, and what is refused before any work."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from sweeps import TINY, expected

from colme.sweep import Sweep, run_sweep
from colme.sweep.parquet import digest_of
from colme.sweep.point_journal import Journal
from colme.sweep.spec import FORMAT
from colme.sweep.versions import versions


def test_a_sweep_gives_the_same_bytes_whoever_measures_it(tmp_path: Path) -> None:
    sweep, told = Sweep.make(TINY), []
    path = tmp_path / "results.parquet"
    outcome = run_sweep(sweep, path, workers=2, progress=lambda *numbers: told.append(numbers))
    assert (outcome.n_points, outcome.n_measured, outcome.n_rows) == (6, 6, 24)
    assert told == [(done, 6) for done in range(7)]
    assert path.read_bytes() == expected(sweep, tmp_path / "expected.parquet")
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "expected.parquet",
        "results.parquet",
    ]
    again = run_sweep(sweep, path)
    assert (again.n_measured, again.n_found, again.n_rows) == (0, 6, None)
    assert len(list(tmp_path.iterdir())) == 2


def test_what_is_there_is_not_replaced_unless_told_so(tmp_path: Path) -> None:
    sweep, path = Sweep.make(TINY), tmp_path / "results.parquet"
    other = Sweep.make(TINY | {"horizon": 20, "grid": {"problem.n_agents": [4]}})
    path.write_text("my thesis")
    for _ in range(2):
        with pytest.raises(ValueError, match="something else than the results of this sweep"):
            run_sweep(other, path)
        assert [file.name for file in tmp_path.iterdir()] == ["results.parquet"]
    assert digest_of(path) == ""
    journal = tmp_path / "results.parquet.journal"
    begun = begin_journal(journal, {"specification": "another", "versions": {}})
    with pytest.raises(ValueError, match="holds points of another sweep"):
        run_sweep(other, path)
    assert journal.read_bytes() == begun
    assert path.read_text() == "my thesis"
    run_sweep(other, path, overwrite=True)
    assert not journal.exists()
    first = expected(other, tmp_path / "expected.parquet")
    assert path.read_bytes() == first
    with pytest.raises(ValueError, match="choose another --out, or replace it with --overwrite"):
        run_sweep(sweep, path)
    assert path.read_bytes() == first
    assert digest_of(path) == other.digest


def test_a_point_that_cannot_fit_is_told_before_any_work(tmp_path: Path) -> None:
    crowd = TINY | {"horizon": 10**6, "grid": {"problem.n_agents": [4, 10**6]}}
    with pytest.raises(ValueError, match=r"^point 1 \(problem.n_agents = 1000000\): this experi"):
        run_sweep(Sweep.make(crowd), tmp_path / "results.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_journal_left_beside_complete_results_is_removed(tmp_path: Path) -> None:
    sweep, path = Sweep.make(TINY), tmp_path / "results.parquet"
    (tmp_path / ".results-123.draft.parquet").touch()  # killed while it wrote
    expected(sweep, path)
    journal = tmp_path / "results.parquet.journal"
    head = {"format": FORMAT, "specification": sweep.digest, "versions": versions()}
    begin_journal(journal, head)  # killed between the last two steps
    assert run_sweep(sweep, path).n_rows is None
    assert [file.name for file in tmp_path.iterdir()] == ["results.parquet"]


def begin_journal(path: Path, head: dict[str, Any]) -> bytes:
    """Leave a journal with one point behind, and return what is in it."""
    with Journal(path) as journal:
        journal.begin(head)
        journal.append(0, {})
    return path.read_bytes()


def test_a_journal_of_another_sweep_beside_complete_results_is_kept(tmp_path: Path) -> None:
    sweep, path = Sweep.make(TINY), tmp_path / "results.parquet"
    expected(sweep, path)
    journal = tmp_path / "results.parquet.journal"
    begun = begin_journal(journal, {"specification": "another", "versions": {}})
    assert run_sweep(sweep, path).n_rows is None
    assert journal.read_bytes() == begun


def test_damaged_results_are_told_and_measured_again_when_told_so(tmp_path: Path) -> None:
    sweep, path = Sweep.make(TINY), tmp_path / "results.parquet"
    whole = expected(sweep, path)
    path.write_bytes(whole[:-80] + bytes(60) + whole[-20:])  # what is where stands at the end
    with pytest.raises(ValueError, match="something else than the results of this sweep"):
        run_sweep(sweep, path)
    for _ in range(2):  # the second time nothing is wrong with them
        assert run_sweep(sweep, path, workers=1, overwrite=True).n_rows == 24
        assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("library", "engine", "remedy"),
    [
        ("pyarrow.parquet", "local", "pip install 'colme[sweep]'"),
        ("distributed", "dask", "pip install 'colme[dask]'"),
        ("cryptography", "dask", "pip install 'colme[dask]'"),
    ],
)
def test_a_missing_library_is_told_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str, engine: str, remedy: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError) as caught:
        run_sweep(Sweep.make(TINY), tmp_path / "results.parquet", engine=engine)
    assert remedy in str(caught.value)
    assert list(tmp_path.iterdir()) == []


BAD_CALLS: dict[str, tuple[dict[str, Any], str]] = {
    "engine": ({"engine": "magic"}, "engine must be one of local, dask; received 'magic'"),
    "workers": ({"workers": 0}, "workers must be at least 1"),
    "scheduler here": ({"scheduler": "tcp://a:1"}, "received engine 'local'"),
    "workers there": (
        {"engine": "dask", "scheduler": "tcp://a:1", "workers": 2},
        "received workers = 2",
    ),
    "no Parquet": ({"out": "results.csv"}, "give a name that ends in .parquet"),
    "no folder": ({"out": "nowhere/results.parquet"}, "there is no folder"),
    "a folder": ({"out": "folder.parquet"}, "it is a folder"),
}


@pytest.mark.parametrize(("flags", "named"), BAD_CALLS.values(), ids=BAD_CALLS.keys())
def test_what_does_not_go_together_is_refused_before_any_work(
    tmp_path: Path, flags: dict[str, Any], named: str
) -> None:
    (tmp_path / "folder.parquet").mkdir()
    out = tmp_path / str(flags.get("out", "results.parquet"))
    others = {name: value for name, value in flags.items() if name != "out"}
    with pytest.raises(ValueError, match=r".") as caught:
        run_sweep(Sweep.make(TINY), out, **others)
    assert named in str(caught.value)
    assert [file.name for file in tmp_path.iterdir()] == ["folder.parquet"]
