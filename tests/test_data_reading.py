"""Tables become summaries: every format, names of every kind, several files, standard input."""

from __future__ import annotations

import datetime
import decimal
import io
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import WRITERS, assert_same, written

from colme.data import Summaries, read

TABLE: dict[str, list[Any]] = {"store": ["b", "a", "b", "ü"], "sales": [1.0, 5.0, 3.5, -2.0]}
VALUES = st.floats(-1e9, 1e9, allow_subnormal=False)
SHOWN = st.characters(exclude_categories=["C"])
NAMES = st.text(SHOWN, max_size=4).map(lambda text: f"x{text}")


@pytest.mark.parametrize("ending", WRITERS)
def test_every_format_gives_the_same_summaries(ending: str, tmp_path: Path) -> None:
    reading = read(written(tmp_path, TABLE, ending))
    assert_same(reading.summaries, Summaries.of(TABLE["store"], TABLE["sales"]))
    assert (reading.agent, reading.value, reading.time) == ("store", "sales", None)
    assert reading.guessed == ("agent", "value")
    assert (reading.n_rows, reading.n_bad, reading.moments) == (4, {}, None)
    assert reading.notes == ("took column 'store' for the agent and 'sales' for the value",)


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("names", [[10, 9, 10, -3], [10.0, 9.0, 10.0, -3.0]], ids=["int", "float"])
def test_whole_numbers_stay_numbers(ending: str, names: Sequence[float], tmp_path: Path) -> None:
    table = {"id": names, "value": TABLE["sales"]}
    found = read(written(tmp_path, table, ending), "id").summaries
    assert found.agents.dtype == np.int64
    assert_same(found, Summaries.of([10, 9, 10, -3], TABLE["sales"]))


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["007", "7", "007"], ["007", "7"]),
        ([True, False, True], ["false", "true"]),
        ([datetime.date(2024, 5, 1), datetime.date(2024, 4, 1)], ["2024-04-01", "2024-05-01"]),
        ([1.5, 2.0, 2.0], ["1.5", "2"]),
        (["1", "2", "1"], ["1", "2"]),
        (["a\0", "a", "a"], ["a", "a\0"]),
        (["😀", "\uffff", "Z", "a"], ["Z", "a", "\uffff", "😀"]),
        (pa.array([2**64 - 1, 3], pa.uint64()), ["18446744073709551615", "3"]),
    ],
)
def test_other_names_are_text_in_order(names: Any, expected: list[str], tmp_path: Path) -> None:
    table = {"agent": names, "value": np.arange(len(names), dtype=float)}
    assert read(written(tmp_path, table, "parquet")).summaries.agents.tolist() == expected


def test_categories_and_decimals_and_truths(tmp_path: Path) -> None:
    for values in (
        [decimal.Decimal("0.5"), decimal.Decimal("1.5")],
        [False, True],
        [0, 1],
        ["0", "1"],
    ):
        table = {"agent": pa.array(["b", "a"]).dictionary_encode(), "value": values}
        for ending in ("parquet", "feather"):
            found = read(written(tmp_path, table, ending)).summaries
            assert found.agents.tolist() == ["a", "b"]
            assert found.means.tolist() == [float(values[1]), float(values[0])]
    truths = written(tmp_path, {"agent": ["a", "a", "b"], "value": [True, False, False]})
    assert read(truths).summaries.means.tolist() == [0.5, 0.0]


@settings(max_examples=12)
@given(rows=st.lists(st.tuples(NAMES, VALUES), min_size=1, max_size=100))
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table_with_text_equals_its_summaries(ending: str, rows: list[tuple[str, float]]) -> None:
    names, values = map(list, zip(*rows, strict=True))
    with tempfile.TemporaryDirectory() as place:
        found = read(written(Path(place), {"agent": names, "value": values}, ending))
    assert_same(found.summaries, Summaries.of(names, values))


@settings(max_examples=12)
@given(rows=st.lists(st.tuples(st.integers(-(10**17), 10**17), VALUES), min_size=1, max_size=100))
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table_with_numbers_equals_its_summaries(
    ending: str, rows: list[tuple[int, float]]
) -> None:
    names, values = map(list, zip(*rows, strict=True))
    with tempfile.TemporaryDirectory() as place:
        found = read(written(Path(place), {"agent": names, "value": values}, ending))
    assert_same(found.summaries, Summaries.of(names, values))


def test_many_rows_equal_their_summaries_far_from_zero(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    names, values = rng.integers(0, 7, 300_000), rng.normal(1e9, 1.0, 300_000)
    found = read(written(tmp_path, {"agent": names, "value": values}, "parquet")).summaries
    for k in range(7):
        own = values[names == k]
        assert found.squares[k] / len(own) == pytest.approx(own.var(), rel=1e-6)
        assert found.means[k] == pytest.approx(own.mean(), rel=1e-15)


def test_equal_values_have_no_squares(tmp_path: Path) -> None:
    table = {"agent": ["a"] * 9, "value": [0.1] * 9}
    assert read(written(tmp_path, table)).summaries.squares.tolist() == [0.0]


def test_several_files_are_one_table(tmp_path: Path) -> None:
    for name, rows in {"one": slice(0, 2), "two": slice(2, 4)}.items():
        part = {key: column[rows] for key, column in TABLE.items()}
        for ending in ("csv", "parquet", "jsonl"):
            written(tmp_path, part, ending, name)
    whole = Summaries.of(TABLE["store"], TABLE["sales"])
    assert_same(read(str(tmp_path / "*.csv")).summaries, whole)
    mixed = read([tmp_path / "one.parquet", tmp_path / "two.jsonl"])
    assert_same(mixed.summaries, whole)
    halves = [read(tmp_path / f"{name}.csv").summaries for name in ("one", "two")]
    assert_same(halves[0] + halves[1], whole)
    assert read([tmp_path / "one.csv", str(tmp_path / "one.csv")]).n_rows == 2


def test_columns_may_be_in_another_order_or_written_in_capitals(tmp_path: Path) -> None:
    written(tmp_path, TABLE, "csv", "one")
    other = {"SALES": [7.0], "more": ["x"], "Store": ["a"]}
    written(tmp_path, other, "csv", "two")
    found = read([tmp_path / "one.csv", tmp_path / "two.csv"], "store", "sales").summaries
    assert_same(found, Summaries.of([*TABLE["store"], "a"], [*TABLE["sales"], 7.0]))


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl", "feather"])
def test_strange_names_of_columns_and_files_work(ending: str, tmp_path: Path) -> None:
    table = {'who "is" it\'s': ["a", "b"], "select": [1.0, 2.0], "größe; DROP": [3.0, 5.0]}
    path = written(tmp_path, table, ending, "it's [1] *?")
    found = read(path, 'who "is" it\'s', "größe; DROP")
    assert found.summaries.means.tolist() == [3.0, 5.0]
    assert read(path, 'who "is" it\'s', "select").summaries.means.tolist() == [1.0, 2.0]


def test_quotes_and_line_ends_in_text_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'\xef\xbb\xbfagent,value\r\n"a, ""b""",1\r\n"c\r\nd",2\r\n')
    assert read(path).summaries.agents.tolist() == ['a, "b"', "c\r\nd"]


def test_a_late_fraction_is_not_rounded(tmp_path: Path) -> None:
    table = {"agent": ["a"] * 30_000 + ["b"], "value": [1] * 30_000 + [1.5]}
    assert read(written(tmp_path, table)).summaries.means.tolist() == [1.0, 1.5]


def test_late_names_of_text_are_seen(tmp_path: Path) -> None:
    table = {"agent": [1] * 30_000 + ["b"], "value": [1] * 30_001}
    assert read(written(tmp_path, table)).summaries.agents.tolist() == ["1", "b"]


STANDARD_INPUT = """
import colme.data
reading = colme.data.read("-")
print(reading.summaries.agents.tolist(), reading.summaries.means.tolist(), reading.n_rows)
"""


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.zst", "jsonl", "parquet", "arrow"])
def test_standard_input_is_recognised(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = written(tmp_path, {"agent": ["b", "a"], "value": [1.5, 2.5]}, ending).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(sent)))
    reading = read("-")
    assert reading.summaries.agents.tolist() == ["a", "b"]
    assert (reading.summaries.means.tolist(), reading.n_rows) == ([2.5, 1.5], 2)


def test_a_process_reads_its_standard_input(tmp_path: Path) -> None:
    sent = written(tmp_path, {"agent": ["b", "a"], "value": [1.5, 2.5]}, "parquet").read_bytes()
    done = subprocess.run(
        [sys.executable, "-c", STANDARD_INPUT], input=sent, capture_output=True, check=True
    )
    assert done.stdout.decode().strip() == "['a', 'b'] [2.5, 1.5] 2"


LACKING = """
import sys
sys.modules[{module!r}] = None
import colme.data
try:
    colme.data.read({path!r})
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("module", "ending", "remedy"),
    [
        ("duckdb", "csv", "pip install 'colme[data]'"),
        ("pyarrow", "feather", "pip install 'colme[arrow]'"),
    ],
)
def test_what_is_not_installed_is_named(
    module: str, ending: str, remedy: str, tmp_path: Path
) -> None:
    path = str(written(tmp_path, TABLE, ending))
    code = LACKING.format(module=module, path=path)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert remedy in done.stdout


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = "import sys, colme.data; print([m for m in ('duckdb', 'pyarrow') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"agent": [1, 2], "value": [3, 4], "day": [5, 6]}, ("agent", "value")),
        ({"town": ["a", "b"], "rain": [3, 4]}, ("town", "rain")),
        ({"number": [1, 2], "rain": [0.5, 4.5]}, ("number", "rain")),
        ({"Sensor": [1, 2], "rain": [0.5, 4.5], "Y": [1, 2]}, ("Sensor", "Y")),
        ({"town": ["a", "b"], "value": ["1", "x"], "other": [1, 2]}, ("town", "value")),
    ],
)
def test_columns_are_guessed_if_there_is_no_doubt(
    table: dict[str, list[Any]], expected: tuple[str, str], tmp_path: Path
) -> None:
    reading = read(written(tmp_path, table), skip_bad_rows=True)
    assert (reading.agent, reading.value) == expected
    assert reading.guessed == ("agent", "value")


def test_a_column_that_is_given_is_not_guessed(tmp_path: Path) -> None:
    path = written(tmp_path, {"a": ["x", "y"], "b": [1, 2], "c": [3, 4]})
    reading = read(path, value="c")
    assert (reading.agent, reading.value, reading.guessed) == ("a", "c", ("agent",))
    assert reading.notes == ("took column 'a' for the agent",)
