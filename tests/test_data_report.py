"""The report: a page that is whole, says what was found, and takes any name."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from colme.data import (
    MEANINGS,
    Comparison,
    Estimates,
    Moments,
    Reading,
    Score,
    Summaries,
    compare_rows,
    estimate,
)
from colme.data.drifts import Drift
from colme.data.evolution import Replay, replay
from colme.data.report import report_html, write_report
from colme.data.report.svg import Scale
from colme.data.report.texts import writer

VOID = {"meta", "input", "br", "hr", "img", "link"}
NASTY = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</svg></table></main>",
    "a & b &amp; c",
    "it's",
    "https://example.org/a.js",
    "Zürich 東京 🚲",
    "two\nlines\tand more",
    "</title></style><b>",
]


class Page(HTMLParser):
    """Reads a page strictly: every tag is closed in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.cells: list[list[str]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == [], f"left open: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names))
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.cells.append([])
        if tag == "td":
            self.cells[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self.open):
            self.text += data
        if "td" in self.open:
            self.cells[-1][-1] += data

    def count(self, tag: str) -> int:
        return sum(found == tag for found, _ in self.tags)

    def rows(self, width: int) -> list[list[str]]:
        return [row for row in self.cells if len(row) == width]


def check(text: str) -> Page:
    """Return the page, having found it whole, in need of nothing, and drawn within its frame."""
    page = Page(text)
    assert page.count("script") == 1
    assert page.count("img") + page.count("link") + page.count("iframe") == 0
    ids = {attrs["id"] for _, attrs in page.tags if "id" in attrs}
    for _, attrs in page.tags:
        assert "src" not in attrs
        assert not any(name.startswith("on") for name in attrs)
        if "href" in attrs:
            assert attrs["href"].removeprefix("#") in ids
        for name in ("x", "x1", "x2", "cx"):
            if name in attrs:
                assert -10 <= float(attrs[name].removesuffix("%")) <= 100
        for name in ("y", "y1", "y2", "cy", "r", "height"):
            if name in attrs:
                assert 0 <= float(attrs[name]) < 2000
    styles = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    assert len(styles) == 1
    assert not re.search(r"url\(|@import|//", styles[0])
    return page


def found(names: ArrayLike, each: int = 6, seed: int = 0) -> Estimates:
    rng = np.random.default_rng(seed)
    whose = np.repeat(np.asarray(names), each)
    return estimate(Summaries.of(whose, rng.normal(np.arange(len(whose)) // each % 3, 1.0)))


def replayed(names: Sequence[str], drifts: tuple[Drift, ...] = ()) -> Replay:
    values = np.linspace(0.0, 5.0, 4 * len(names)).reshape(4, -1)
    values[0, 0] = np.nan
    ends = np.array([f"2024-0{month}-01" for month in (1, 2, 3, 4)])
    return Replay(
        np.array(names), ends, values, values, np.ones(4, int), drifts, 0.05, ("All is <well>.",)
    )


def test_a_page_with_everything_is_whole_and_says_it_all() -> None:
    rng = np.random.default_rng(0)
    names = [f"store {i:02}" for i in range(40)]
    whose = np.repeat(names, 12)
    values = rng.normal(np.repeat(np.arange(40) % 2, 12) * 4.0, 1.0)
    summaries = Summaries.of(whose, values)
    estimates = estimate(summaries)
    cut = values.reshape(40, 3, 4)
    moments = Moments(
        np.array(names),
        np.array([1, 2, 3]),
        np.full((3, 40), 4),
        cut.mean(axis=2).T,
        4 * cut.var(axis=2).T,
    )
    reading = Reading(
        summaries, "store", "sales", "day", (), 487, {"no value": 7}, ("a note",), moments
    )
    comparison, over_time = compare_rows(whose, values, n_splits=1), replay(moments)
    page = check(report_html(estimates, reading=reading, comparison=comparison, replay=over_time))
    for text in (
        *MEANINGS.values(),
        *over_time.story,
        comparison.verdict,
        estimates.noise.meaning,
        "column “sales”",
        "487",
        "left out: no value",
        "a note",
        "sales by store",
    ):
        assert text in page.text
    assert {row[0] for row in page.rows(9)} == set(names)
    assert len(page.rows(6)) == len(estimates.class_table)
    assert [row[0] for row in page.rows(5)] == [score.name for score in comparison.scores]
    assert page.text.count("Exactly what is claimed") == 2
    assert page.count("figure") == 4


def test_agents_are_shown_with_their_numbers_the_highest_first() -> None:
    estimates = found([f"a{i}" for i in range(8)])
    rows = check(report_html(estimates)).rows(9)
    numbers = [float(row[4]) for row in rows]
    assert numbers == sorted(numbers, reverse=True)
    for row in rows:
        known = estimates[row[0]]
        assert int(row[1]) == known["n"]
        assert float(row[2]) == pytest.approx(known["mean"], abs=0.01)
        low, high = map(float, row[3].split(" to "))
        assert (low, high) == pytest.approx((known["low"], known["high"]), abs=0.01)
        assert int(row[7]) == known["class"]


def test_nothing_but_estimates_makes_a_page_without_the_rest() -> None:
    page = check(report_html(found(["a", "b", "c", "d"])))
    assert "Over time" not in page.text
    assert "Does help pay" not in page.text
    assert page.count("figure") == 3


@pytest.mark.parametrize("nasty", NASTY)
def test_any_text_is_only_text(nasty: str) -> None:
    names = [nasty, "plain", "other", "third"]
    estimates = found(names)
    drift = Drift(nasty, nasty, 1.0, 2.0, 3, 4)
    reading = Reading(estimates.summaries, nasty, nasty, nasty, (), 24, {nasty: 1}, (nasty,), None)
    comparison = Comparison(
        4,
        0,
        2,
        (Score("local", 1, 1, 1, 1, 1, 0), Score(nasty, 0.5, 0.5, 0.5, 0.4, 0.6, 1)),
        (nasty,),
    )
    page = check(
        report_html(
            estimates,
            reading=reading,
            comparison=comparison,
            replay=replayed(names, (drift,)),
        )
    )
    shown = " ".join(nasty.split())
    assert shown in {row[0] for row in page.rows(9)}
    assert [row[:2] for row in page.rows(6) if row[0] == shown] == [[shown, nasty]]
    assert page.text.count(shown) >= 8
    plain = check(
        report_html(
            found(["name", "plain", "other", "third"]),
            reading=replace(reading, agent="a", value="b", time="c", n_bad={"x": 1}, notes=("y",)),
            comparison=replace(comparison, scores=comparison.scores[:1] * 2, notes=("z",)),
            replay=replayed(["name", "plain", "other", "third"], (replace(drift, agent="name"),)),
        )
    )
    assert page.count("b") == plain.count("b") == 0
    assert abs(len(page.tags) - len(plain.tags)) <= 12  # classes may differ, markup does not


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text(max_size=30), min_size=1, max_size=6, unique=True),
    st.lists(st.floats(-1e12, 1e12), min_size=6, max_size=30),
    st.sampled_from([1e-12, 0.5, 1e9, None]),
)
def test_any_names_and_numbers_make_a_whole_page(
    names: list[str], values: list[float], sigma: float | None
) -> None:
    names = [name.replace("\x00", "") or "0" for name in names]
    whose = [names[i % len(names)] for i in range(len(values))]
    try:
        estimates = estimate(Summaries.of(whose, values), sigma=sigma)
    except ValueError:
        estimates = estimate(Summaries.of(whose, values), sigma=1.0)
    page = check(report_html(estimates).encode("utf-8", "replace").decode())
    assert len(page.rows(9)) == len(estimates)
    assert not re.search(
        r"\b(nan|inf)\b", " ".join(cell for row in page.rows(9) for cell in row[1:])
    )


def test_unknown_noise_one_agent_and_equal_means_make_a_page() -> None:
    for table, sigma in (
        (Summaries.of(["a", "b", "c"], [1.0, 2.0, 5.0]), None),
        (Summaries.of([7], [3.0]), None),
        (Summaries.of([7, 8], [3.0, 3.0]), 1.0),
        (Summaries.of([1.5, 2.5], [0.0, 0.0]), 1e-9),
    ):
        estimates = estimate(table, sigma=sigma)
        page = check(report_html(estimates))
        assert all(note in page.text for note in estimates.notes)
    values = np.full((1, 1), 3.0)
    once = Replay(np.array([7]), np.array([1]), values, values, np.ones(1, int), (), 0.05, ())
    check(report_html(estimate(Summaries.of([7], [3.0])), replay=once))


def test_of_many_agents_some_are_shown_and_the_page_says_so() -> None:
    estimates = found(np.arange(3000))
    page = check(report_html(estimates))
    rows = page.rows(9)
    assert len(rows) == 1000
    order = np.argsort(-estimates.estimates, kind="stable")
    expected = estimates.summaries.agents[np.concatenate([order[:500], order[-500:]])]
    assert [int(row[0]) for row in rows] == expected.tolist()
    assert "And 2000 more agents; use --out for all." in page.text
    assert "60 of 3000 agents: the highest, the lowest, and some between." in page.text
    assert "300 of 3000 agents." in page.text
    styles = [attrs.get("class", "") for _, attrs in page.tags]
    assert sum(style.startswith("range") for style in styles) == 60
    assert sum(style.startswith("thin") for style in styles) == 300


def test_of_many_classes_the_largest_are_drawn() -> None:
    agents = np.repeat(np.arange(250), 2)
    estimates = estimate(Summaries.of(agents, 100.0 * agents), sigma=1.0)
    page = check(report_html(estimates))
    assert len(estimates.class_table) == 250
    assert "The 30 largest of 250 classes." in page.text
    assert "And 50 more classes; use --out for all." in page.text
    assert len(page.rows(6)) == 200


def test_a_hundred_thousand_agents_take_little_room_and_time(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    agents = np.repeat(np.arange(100_000), 2)
    table = Summaries.of(agents, rng.normal(agents % 4, 1.0))
    estimates = estimate(table, algorithm="local", sigma=1.0)
    begin = time.perf_counter()
    write_report(tmp_path / "report.html", estimates)
    assert time.perf_counter() - begin < 5
    assert (tmp_path / "report.html").stat().st_size < 2_000_000


def test_very_long_names_are_cut() -> None:
    names = [f"{i}{'long ' * 2000}" for i in range(300)]
    text = report_html(found(names, each=2))
    check(text)
    assert len(text) < 500_000


def test_the_file_is_written_completely_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "new" / "report.html"
    estimates = found(["a", "b", "c", "\ud800 lone"])
    write_report(path, estimates)
    before = path.read_text(encoding="utf-8")
    check(before)
    with pytest.raises((IndexError, ValueError)):
        write_report(path, replace(estimates, low=np.zeros(0)))
    assert path.read_text(encoding="utf-8") == before
    assert [file.name for file in path.parent.iterdir()] == ["report.html"]
    with pytest.raises(ValueError, match="is a folder: name a file"):
        write_report(tmp_path, estimates)


def test_a_report_needs_no_library_to_draw() -> None:
    code = (
        "import sys, colme.data as d; from colme.data.report import report_html as r\n"
        "r(d.estimate(d.Summaries.of([1, 2], [1.0, 2.0]), sigma=1.0))\n"
        "assert not {'matplotlib', 'duckdb', 'pandas'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@given(
    st.floats(-1e9, 1e9),
    st.floats(1e-6, 1e9),
)
def test_ticks_are_few_round_and_on_the_scale(low: float, width: float) -> None:
    scale = Scale.of([low, low + width])
    ticks, words = scale.ticks().keys(), scale.ticks().values()
    assert sum(map(len, words)) <= 28
    slack = 1e-9 * (abs(low) + width)
    assert all(scale.low - slack <= tick <= scale.high + slack for tick in ticks)
    assert len(set(words)) == len(words)


@pytest.mark.parametrize(
    ("scale", "text"), [(1e-6, "0.333333333"), (0.01, "0.33333"), (1.0, "0.333"), (1e4, "0")]
)
def test_numbers_have_as_many_decimals_as_matter(scale: float, text: str) -> None:
    table = Summaries.of(["a", "b"] * 50, np.zeros(100))
    assert writer(estimate(table, sigma=scale))(1 / 3) == text
