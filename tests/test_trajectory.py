"""What a run keeps, and that files give it back whole or not at all."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colme import Algorithm, Problem, Record, Trajectory, simulate
from colme.bounds import Asymptotic

PROBLEM = Problem.gaussian([0.0, 1.0], class_sizes=[3, 2], sigma=0.1)
COMPOSED = Algorithm("round-robin", "soft", eta=0.125, meaning="η within an eighth")


def run(record: Record | None = None) -> Trajectory:
    samples = PROBLEM.draw(9, runs=2)
    by_model = record is not None and record.likely_counts
    algorithm = "sharp" if by_model else COMPOSED
    return simulate(samples, algorithm, sigma=0.1, labels=PROBLEM.labels, record=record)


def listing(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("suffix", ["npz", "nc"])
@pytest.mark.parametrize(
    "record",
    [
        Record(),
        Record(every=4),
        Record(estimates=False),
        Record(class_counts=False),
        Record(likely_counts=True),
    ],
    ids=str,
)
def test_a_file_gives_back_what_was_saved(tmp_path: Path, suffix: str, record: Record) -> None:
    saved = run(record)
    saved.save(tmp_path / f"run.{suffix}")
    loaded = Trajectory.load(str(tmp_path / f"run.{suffix}"))
    assert (saved.likely_counts is None) == (not record.likely_counts)
    for field in ("estimates", "class_counts", "likely_counts", "times", "labels"):
        before, after = getattr(saved, field), getattr(loaded, field)
        assert (before is None) == (after is None)
        if before is not None:
            np.testing.assert_array_equal(after, before, strict=True)
    for field in ("algorithm", "name", "horizon", "sigma", "delta"):
        assert getattr(loaded, field) == getattr(saved, field)
    assert listing(tmp_path) == [f"run.{suffix}"]


@pytest.mark.parametrize("suffix", ["npz", "nc"])
def test_an_unknown_scale_survives_the_file(tmp_path: Path, suffix: str) -> None:
    saved = simulate(PROBLEM.draw(9), bound=Asymptotic(n_opt=100, burn_in=2))
    assert saved.sigma == np.inf
    saved.save(tmp_path / f"run.{suffix}")
    assert Trajectory.load(tmp_path / f"run.{suffix}").sigma == np.inf


@pytest.mark.parametrize("name", ["run", "run.csv", "run.npz.gz", "run.NPZ", ""])
def test_other_suffixes_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=f"kept as .npz or .nc .*received .*{name}"):
        run().save(tmp_path / name)
    with pytest.raises(ValueError, match=f"kept as .npz or .nc .*received .*{name}"):
        Trajectory.load(tmp_path / name)
    assert listing(tmp_path) == []


@pytest.mark.parametrize("suffix", ["npz", "nc"])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.5, 0.95])
def test_a_truncated_file_is_refused(tmp_path: Path, suffix: str, share: float) -> None:
    path = tmp_path / f"run.{suffix}"
    run().save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ValueError, match=f"run.{suffix} does not hold a trajectory"):
        Trajectory.load(path)


@pytest.mark.parametrize("suffix", ["npz", "nc"])
def test_a_file_of_something_else_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"run.{suffix}"
    path.write_text("time, agent\n")
    with pytest.raises(ValueError, match="does not hold a trajectory"):
        Trajectory.load(path)


@pytest.mark.parametrize("facts", ["", "{", "{}", "3", "null"])
def test_an_archive_of_something_else_is_refused(tmp_path: Path, facts: str) -> None:
    np.savez(tmp_path / "run.npz", facts=np.array(facts), times=np.ones(1), labels=np.zeros(1))
    with pytest.raises(ValueError, match=r"run.npz does not hold a trajectory"):
        Trajectory.load(tmp_path / "run.npz")


def test_a_bare_array_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "run.npz").open("wb") as stream:
        np.save(stream, np.zeros(3))
    with pytest.raises(ValueError, match=r"run.npz does not hold a trajectory"):
        Trajectory.load(tmp_path / "run.npz")


@pytest.mark.parametrize("suffix", ["npz", "nc"])
def test_a_missing_file_holds_nothing(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(ValueError, match="does not hold a trajectory"):
        Trajectory.load(tmp_path / f"run.{suffix}")


@pytest.mark.parametrize("suffix", ["npz", "nc"])
def test_saving_where_there_is_no_room_leaves_nothing(tmp_path: Path, suffix: str) -> None:
    folder = tmp_path / f"folder.{suffix}"
    folder.mkdir()
    with pytest.raises(ValueError, match=r"cannot write .*folder"):
        run().save(folder)
    with pytest.raises(ValueError, match=r"cannot write .*missing"):
        run().save(tmp_path / "missing" / f"run.{suffix}")
    assert listing(tmp_path) == [folder.name]
    assert listing(folder) == []


@pytest.mark.parametrize("suffix", ["npz", "nc"])
def test_a_save_that_breaks_off_leaves_the_file_that_was_there(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"run.{suffix}"
    run().save(path)
    before = path.read_bytes()
    unwritable: Any = np.array([lambda: None], dtype=object)  # neither stored nor pickled
    with pytest.raises((AttributeError, TypeError, ValueError)):
        replace(run(), class_counts=unwritable).save(path)
    assert path.read_bytes() == before
    assert listing(tmp_path) == [path.name]


def test_xarray_names_axes_times_and_facts() -> None:
    trajectory = run(Record(every=4))
    dataset = trajectory.to_xarray()
    assert dataset["estimates"].dims == ("run", "time", "agent")
    assert dataset["class_counts"].dims == ("run", "time", "agent", "class")
    assert dataset["time"].to_numpy().tolist() == [4, 8, 9]
    assert dataset["label"].to_numpy().tolist() == [0, 0, 0, 1, 1]
    assert dataset.attrs["eta"] == 0.125
    assert dataset.attrs["horizon"] == 9
    np.testing.assert_array_equal(dataset["estimates"], trajectory.estimates)
    assert "likely_counts" not in dataset
    likely = run(Record(likely_counts=True))
    assert likely.to_xarray()["likely_counts"].dims == ("run", "time", "agent", "class")
    np.testing.assert_array_equal(likely.to_xarray()["likely_counts"], likely.likely_counts)


def test_sizes_follow_the_labels() -> None:
    assert run().n_agents == 5
    assert run().class_sizes.tolist() == [3, 2]


@given(st.integers(1, 300), st.integers(1, 300))
def test_a_record_keeps_every_so_many_steps_and_the_last(horizon: int, every: int) -> None:
    times = Record(every=every).times(horizon, runs=3, n_agents=4, n_classes=2).tolist()
    assert times[-1] == horizon
    assert times[:-1] == list(range(every, horizon, every))


@given(
    horizon=st.integers(1, 1000),
    limit=st.integers(32, 40_000),
    estimates=st.booleans(),
    class_counts=st.booleans(),
    likely_counts=st.booleans(),
)
def test_by_default_all_steps_are_kept_if_they_fit_and_otherwise_some_that_fit_with_a_warning(
    horizon: int, limit: int, estimates: bool, class_counts: bool, likely_counts: bool
) -> None:
    record = Record(estimates, class_counts, likely_counts, limit=limit)
    # One run, two agents, two classes.
    cost = 2 * (8 * estimates + 2 * 2 * class_counts + 2 * 2 * likely_counts)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        times = record.times(horizon, runs=1, n_agents=2, n_classes=2)
    assert times[-1] == horizon
    assert times.size * cost <= limit
    assert [str(w.message).split(" would")[0] for w in caught] == ["keeping every step"] * (
        horizon * cost > limit
    )
    assert (times.size == horizon) == (horizon * cost <= limit)


def test_simulate_says_so_when_it_thins_and_keeps_what_fits() -> None:
    with pytest.warns(UserWarning, match=r"keeping every step would take .*; keeping every \d+th"):
        trajectory = run(Record(limit=500))
    assert trajectory.estimates is not None
    assert trajectory.class_counts is not None
    assert trajectory.estimates.nbytes + trajectory.class_counts.nbytes <= 500


def test_counts_of_many_agents_need_four_bytes_each() -> None:
    assert Record().bytes_per_time(runs=1, n_agents=40_000, n_classes=3) == 40_000 * (8 + 3 * 4)


@pytest.mark.parametrize("field", ["every", "limit"])
@pytest.mark.parametrize("value", [0, -1, 1.5, "2"])
def test_a_record_needs_positive_whole_numbers(field: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{field} must be .*received {value!r}"):
        Record(**{field: value})
