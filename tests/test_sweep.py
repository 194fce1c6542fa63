"""A sweep: its grid, its measures, its results, and running it to its end once."""

from __future__ import annotations

import json
import math
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sweeps import TINY, expected

import colme
from colme.experiment import Experiment, measure_result
from colme.sweep import Sweep, measure_point, tabulate
from colme.sweep.grid import MOST_POINTS, combine, replace_keys
from colme.sweep.parquet import columns_of, write_results

NAMES = st.lists(
    st.sampled_from(["delta", "seed", "problem.sigma", "problem.bias", "contacts.size"]),
    min_size=1,
    unique=True,
)
VALUES = st.lists(st.integers(0, 99), min_size=1, max_size=4, unique=True)


@given(st.data())
def test_every_combination_is_one_point_and_the_first_key_changes_slowest(
    data: st.DataObject,
) -> None:
    grid = {name: data.draw(VALUES) for name in data.draw(NAMES)}
    points = combine(grid)
    assert len(points) == math.prod(map(len, grid.values()))
    assert all(list(point) == list(grid) for point in points)
    places = [[grid[name].index(value) for name, value in point.items()] for point in points]
    assert places == sorted(places)
    assert len({tuple(place) for place in places}) == len(places)


@given(NAMES, st.integers())
def test_keys_that_are_replaced_hold_the_value_and_the_rest_is_untouched(
    names: list[str], value: int
) -> None:
    base = {"problem": {"sigma": 0.5, "n_agents": 3}, "horizon": 9}
    kept = json.dumps(base)
    found = replace_keys(base, dict.fromkeys(names, value))
    for name in names:
        inside: Any = found
        for part in name.split("."):
            inside = inside[part]
        assert inside == value
    assert found["horizon"] == 9
    assert found["problem"]["n_agents"] == 3
    assert json.dumps(base) == kept


def test_dotted_names_and_tables_are_the_same_grid() -> None:
    dotted = combine({"problem.sigma": [1, 2], "seed": [3]})
    assert dotted == combine({"problem": {"sigma": [1, 2]}, "seed": [3]})


def test_listed_points_go_along_with_a_grid() -> None:
    listed = [{"delta": 0.1, "problem": {"n_agents": 4}}, {"problem.n_agents": 6, "delta": 0.2}]
    sweep = Sweep.make(TINY | {"points": listed, "grid": {"seed": [1, 2]}})
    assert [tuple(point.values.values()) for point in sweep.points] == [
        (0.1, 4, 1),
        (0.1, 4, 2),
        (0.2, 6, 1),
        (0.2, 6, 2),
    ]
    assert sweep.points[3].experiment.problem.n_agents == 6
    alone = Sweep.make({key: TINY[key] for key in TINY if key != "grid"} | {"points": listed})
    assert len(alone.points) == 2


BAD_GRIDS: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({"grid": None}, "needs a table [grid]"),
    "no table": ({"grid": [1, 2]}, "grid must be a table; received [1, 2]"),
    "no list": ({"grid": {"seed": 3}}, "seed must be a list of values"),
    "empty list": ({"grid": {"seed": []}}, "seed must be a list of values"),
    "a value twice": ({"grid": {"seed": [1, 2, 1]}}, "each of them once; received [1, 2, 1]"),
    "a key twice": (
        {"grid": {"problem": {"sigma": [1]}, "problem.sigma": [2]}},
        "problem.sigma is given twice",
    ),
    "two faults at once": ({"grid": {"seed": 1, "delta": 2}}, "grid: delta must be a list"),
    "too many": (
        {"grid": {"seed": list(range(1000)), "delta": list(range(1000))}},
        f"at most {MOST_POINTS} points; received 1000000",
    ),
    "points that are none": ({"points": {"seed": 1}}, "points must be tables [[points]]"),
    "point that is none": ({"points": [3]}, "points.0 must be a table"),
    "other keys": ({"points": [{"delta": 1}, {"eta": 1}]}, "points.1: every table must give"),
    "the same point": ({"points": [{"delta": 0.1}] * 2}, "two tables are the same"),
    "in both": ({"points": [{"seed": 1}, {"seed": 2}]}, "in both: seed"),
    "no value at all": (
        {"grid": {"problem.n_agents": [4], "delta": [0.1, date(2024, 1, 1)]}},
        'point 1 (problem.n_agents = 4, delta = "2024-01-01"): delta: Input should be',
    ),
    "inside a value": ({"horizon": 9, "grid": {"horizon.x": [1, 2]}}, "horizon is a value"),
}


@pytest.mark.parametrize(("change", "named"), BAD_GRIDS.values(), ids=BAD_GRIDS.keys())
def test_a_bad_grid_is_summary(change: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        Sweep.make(TINY | change)
    assert named in str(caught.value)


def test_all_faults_of_all_points_are_summary_at_once() -> None:
    grid = {
        "problem.n_agents": [4, 0, 6],
        "delta": [0.1, 3],
        "problem.colour": ["red", "blue"],
        "seed": list(range(20)),
    }
    with pytest.raises(ValueError, match=r".") as caught:
        Sweep.make(TINY | {"grid": grid})
    summary = str(caught.value)
    assert summary.count("Extra inputs are not permitted") == 2
    assert 'points 0, 1, 2, 3, 4, ... (problem.colour = "red"): problem.colour: Extra' in summary
    assert "(problem.n_agents = 0): problem.n_agents: Input should be greater than or" in summary
    assert "(delta = 3): delta: Input should be less than 1; received 3" in summary
    with pytest.raises(ValueError, match=r"^point 1 \(.*\): unknown algorithm 'magic'"):
        Sweep.make(TINY | {"grid": {"problem.n_agents": [4], "algorithms": [["local"], ["magic"]]}})
    with pytest.raises(ValueError, match=r"^all points: problem.class_means: Field required"):
        Sweep.make(TINY | {"problem": {"sigma": 1}})
    with pytest.raises(ValueError, match=f"seed: a sweep keeps numbers up to ±{2**63 - 1}"):
        Sweep.make(TINY | {"grid": {"problem.n_agents": [4], "seed": [1, 2**63]}})
    beta = {"class_means": [0.2], "n_agents": 4, "noise": "beta", "concentration": 2.0}
    with pytest.raises(ValueError, match=f"low: a sweep keeps .*; received {-(2**63)}$"):
        Sweep.make(TINY | {"problem": beta, "grid": {"problem.low": [-(2**63)]}})


def test_the_digest_follows_what_is_computed_and_nothing_else(tmp_path: Path) -> None:
    sweep = Sweep.make(TINY)
    assert Sweep.make(TINY | {"delta": 0.001}).digest == sweep.digest  # the default, said
    other = [
        TINY | {"horizon": 31},
        TINY | {"grid": {"problem.n_agents": [4, 6], "seed": [1, 3, 2]}},
        TINY | {"grid": {"seed": [1, 2, 3], "problem.n_agents": [4, 6]}},
    ]
    assert len({sweep.digest, *(Sweep.make(content).digest for content in other)}) == 4
    graphs = []
    for folder, edges in (("a", "0 1\n1 2\n"), ("b", "0 1\n1 2\n"), ("c", "0 1\n0 2\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "edges.txt").write_text(edges)
        content = TINY | {"grid": {"contacts.graph": ["edges.txt"], "problem.n_agents": [3]}}
        graphs.append(Sweep.make(content, tmp_path / folder))
    assert graphs[0].digest == graphs[1].digest != graphs[2].digest
    path = graphs[0].points[0].content["contacts"]["graph"]
    assert path == str(tmp_path / "a" / "edges.txt")


def test_measures_are_those_of_the_metrics() -> None:
    content = TINY | {"problem": TINY["problem"] | {"n_agents": 6}, "runs": 3}
    content = {key: value for key, value in content.items() if key != "grid"}
    rows = measure_point(content)
    experiment = Experiment.make(content)
    scenario = experiment.build()
    assert rows["algorithm"] == ["local"] * 3 + ["round-robin"] * 3
    assert rows["run"] == [0, 1, 2] * 2
    for place, trajectory in enumerate(experiment.run(scenario)):
        summary = scenario.summarise(trajectory)
        three = slice(3 * place, 3 * place + 3)
        assert np.mean(rows["final_error_mean"][three]) == pytest.approx(summary["final_error"])
        times = summary["convergence_time"]["0.1"]["all"]
        assert np.mean(rows["convergence_time_avg_0.1"][three]) == pytest.approx(times["avg"])
        assert max(rows["convergence_time_max_0.1"][three]) == times["max"]
        assert np.mean(rows["converged_share_0.1"][three]) == pytest.approx(times["within_horizon"])
        known = summary["identification_time"]["all"]
        assert np.mean(rows["identification_time_avg"][three]) == pytest.approx(known["avg"])
        assert np.mean(rows["identified_share"][three]) == pytest.approx(known["within_horizon"])
        assert trajectory.estimates is not None
        errors = np.abs(trajectory.estimates[:, -1] - scenario.problem.true_means)
        assert rows["final_error_q90"][three] == np.quantile(errors, 0.9, axis=1).tolist()
        assert rows["wrong_share_0.1"][three] == (errors > 0.1).mean(axis=1).tolist()


def test_changes_have_no_identification_time_and_errors_against_the_mean_of_the_day() -> None:
    change = {"at": 10, "from": 0, "to": 1, "share": 0.5}
    problem = {"class_means": [0.0, 5.0], "n_agents": 6, "sigma": 0.1, "changes": [change]}
    rows = measure_point({"problem": problem, "horizon": 300, "runs": 1, "algorithms": ["local"]})
    assert rows["identification_time_avg"] == rows["identified_share"] == [None]
    assert rows["final_error_max"][0] == pytest.approx(5 * 9 / 300, abs=0.05)


def test_an_agent_without_estimate_is_wrong_but_has_no_error() -> None:
    samples = np.array([[[0.1, 0.0]], [[0.0, 0.0]]])
    arrivals = np.array([[[1, 0]], [[0, 0]]])
    trajectory = colme.simulate(samples, "local", sigma=0.1, arrivals=arrivals)
    rows = tabulate(measure_result(trajectory, np.zeros(2), (0.2,)))
    assert rows["final_error_mean"] == [0.1, None]
    assert rows["wrong_share_0.2"] == [0.5, 1.0]
    assert rows["converged_share_0.2"] == [0.5, 0.0]


def test_a_point_that_does_not_fit_is_thinned_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = colme.Problem.gaussian([0.0], n_agents=2, sigma=0.1)
    record = colme.Record(every=4)
    thin = colme.simulate(problem.draw(10), "local", sigma=0.1, record=record)
    rows = tabulate(measure_result(thin, problem.true_means, (9.0,)))
    assert rows["convergence_time_max_9"] == [4]
    monkeypatch.setattr("colme.sweep.point_rows.Record", partial(colme.Record, limit=1000))
    crowd = {"class_means": [0.0], "n_agents": 10, "sigma": 0.1}
    rows = measure_point({"problem": crowd, "horizon": 30, "runs": 2, "algorithms": ["local"]})
    assert rows["every"] == [6, 6]  # 30 steps of 2 runs of 10 agents take 8 + 2 bytes each


def test_a_fleet_too_large_to_keep_has_the_same_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    content = {
        "problem": {"class_means": [0.2, 0.8], "n_agents": 12, "sigma": 0.3},
        "horizon": 120,
        "runs": 2,
        "algorithms": ["local", "round-robin"],
        "contacts": {"size": 8},
        "epsilons": [0.1, 0.05],
    }
    kept = measure_point(content)
    monkeypatch.setattr("colme.experiment.scenario.DEFAULT_LIMIT", 1)
    folded = measure_point(content)
    assert list(folded) == list(kept)
    for name, values in kept.items():
        assert folded[name] == (values if isinstance(values[0], str) else pytest.approx(values))


def test_columns_have_the_types_of_their_values_and_others_are_json(tmp_path: Path) -> None:
    grid = {
        "delta": [0.1, 0.01],
        "bound": [{"kind": "laplace"}, {"kind": "stitched", "n_min": 2}],
        "problem.noise": ["gaussian"],
        "problem.bias": [2**53 + 1, 0.5],
        "epsilons": [[0.1], [1.0, 1e-5]],
        "problem.n_agents": [3],
    }
    short = TINY | {"grid": grid, "runs": 1, "algorithms": ["local"], "horizon": 3}
    sweep = Sweep.make(short)
    path = tmp_path / "results.parquet"
    n_rows = write_results(path, sweep, lambda i: measure_point(sweep.points[i].content))
    table = pq.read_table(path)
    assert n_rows == table.num_rows == 16
    assert table.column_names == list(columns_of(sweep))
    kinds = {name: str(table.schema.field(name).type) for name in [*grid, "point", "run", "seed"]}
    assert list(kinds.values()) == [
        *("double", "string", "string", "double", "string", "int64"),
        *("int64",) * 3,
    ]
    rows = table.to_pylist()
    assert {row["bound"] for row in rows} == {
        '{"kind": "laplace"}',
        '{"kind": "stitched", "n_min": 2}',
    }
    for row in rows:
        asked = json.loads(row["epsilons"])
        assert (row["wrong_share_0.1"] is None) == (0.1 not in asked)
        assert (row["wrong_share_1e-05"] is None) == (row["wrong_share_1"] is None)


def test_results_read_the_same_in_duckdb_pandas_and_polars(tmp_path: Path) -> None:
    sweep, path = Sweep.make(TINY), tmp_path / "results.parquet"
    expected(sweep, path)
    frame, columns = pd.read_parquet(path), list(columns_of(sweep))
    assert list(frame.columns) == pl.read_parquet(path).columns == columns
    key, value = '"problem.n_agents"', "avg(final_error_mean)"
    asked = f"SELECT {key}, algorithm, {value} FROM '{path}' GROUP BY ALL ORDER BY ALL"
    with duckdb.connect() as database:
        from_duckdb = database.execute(asked).fetchall()
    by_pandas = frame.groupby(["problem.n_agents", "algorithm"])["final_error_mean"].mean()
    by_polars = (
        pl.read_parquet(path)
        .group_by("problem.n_agents", "algorithm")
        .agg(pl.col("final_error_mean").mean())
        .sort("problem.n_agents", "algorithm")
    )
    assert len(from_duckdb) == 4
    assert [row[2] for row in from_duckdb] == pytest.approx(by_pandas.tolist())
    assert [row[2] for row in from_duckdb] == pytest.approx(by_polars["final_error_mean"].to_list())


def test_results_are_cut_into_pieces_that_depend_on_them_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = Sweep.make(TINY)
    whole = expected(sweep, tmp_path / "whole.parquet")
    monkeypatch.setattr("colme.sweep.parquet._ROWS_AT_ONCE", 5)
    pieces = expected(sweep, tmp_path / "pieces.parquet")
    assert pieces != whole
    assert pq.read_table(tmp_path / "pieces.parquet") == pq.read_table(tmp_path / "whole.parquet")
    assert pq.ParquetFile(tmp_path / "pieces.parquet").num_row_groups == 3
    assert expected(sweep, tmp_path / "again.parquet") == pieces
