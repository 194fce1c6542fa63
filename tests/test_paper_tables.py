"""Numbers, intervals, verdicts and the tables people read."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from colme import paper
from colme.pages import TextTable as Table
from colme.pages import markdown, tables_html
from colme.paper.claims import claims
from colme.paper.experiments import EXPERIMENTS, EXTRA_ALGORITHMS
from colme.paper.intervals import mean_interval, t_quantile
from colme.paper.more_tables import more_tables
from colme.paper.outline import SECTIONS
from colme.paper.paper_tables import paper_tables, percent, spread_text, summary
from colme.paper.published import (
    PUBLISHED,
    Check,
    Margin,
    TablePlace,
    compare,
    margin_for,
)
from colme.paper.table_values import Results, tables


@pytest.fixture(scope="module")
def short() -> Results:
    """The 3-class problem, far too short to converge."""
    experiment = EXPERIMENTS["three-class"].model_copy(update={"runs": 2, "horizon": 40})
    return {"three-class": (paper.measure(experiment, likely=True),)}


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 19, 20, 99])
@pytest.mark.parametrize("probability", [0.5, 0.9, 0.975, 0.9995])
def test_quantiles_are_those_of_student(probability: float, degrees: int) -> None:
    expected = stats.t.ppf(probability, degrees)
    assert t_quantile(probability, degrees) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_the_interval_rests_on_whole_runs() -> None:
    times = np.random.default_rng(0).integers(1, 99, (20, 50))
    averages = times.mean(axis=1)
    expected = stats.t.interval(0.95, 19, averages.mean(), stats.sem(averages))
    assert mean_interval(times) == pytest.approx(expected)
    assert mean_interval(times[:1]) is None


def test_measured_tables_have_the_published_keys(short: Results) -> None:
    content = tables(short)
    for table in ("class_estimation_time", "convergence_time"):
        assert set(content[table]) >= set(PUBLISHED[table])
    for agents, rows in PUBLISHED["convergence_time"].items():
        assert set(content["convergence_time"][agents]) >= set(rows)
    cell = content["convergence_time"]["all"]["oracle"]["0.1"]
    assert set(cell) == {"avg", "std", "max"}
    assert isinstance(content["class_estimation_time"]["theory_restricted_zeta"]["0.2"], int)
    assert content["convergence_time"]["all"]["local"]["0.01"] is None  # needs local-long
    assert content["class_sizes"]["three-class"] == {"0.2": 71, "0.4": 64, "0.8": 65}
    assert content["parameters"]["three-class"][0]["horizon"] == 40


def test_theory_rows_are_the_theorems_evaluated_exactly(short: Results) -> None:
    content = tables(short)
    # n* is 3680 at gap 0.2 and 885 at gap 0.4; the 65 agents of class 0.8 are ruled out early by
    # the others, and the 71 of class 0.2 by class 0.8 (Theorem 1).
    zeta = {"0.2": 3680 + 199 - 65, "0.4": 3680 + 199 - 65, "0.8": 885 + 199 - 71}
    assert content["class_estimation_time"]["theory_restricted_zeta"] == zeta
    rows = content["convergence_time"]
    assert rows["all"]["theory_local_tau"] == {"0.1": 885, "0.01": 100217}
    assert rows["all"]["theory_restricted_tau"] == {"0.1": 3814, "0.01": 3814}
    assert rows["0.8"]["theory_restricted_tau"] == {"0.1": 1013, "0.01": 1574}
    assert content["epsilon_threshold_all_agents"] == pytest.approx(0.049, abs=5e-4)


def test_times_beyond_the_horizon_are_counted(short: Results) -> None:
    late = tables(short)["beyond_horizon"]
    assert late["restricted-round-robin"]["0.01"]["all"] == 2 * 200
    assert late["local"]["0.01"] is None


@pytest.mark.parametrize(
    ("table", "algorithm", "epsilon", "words"),
    [
        ("class_estimation_time", "round-robin", None, "5 %"),
        ("convergence_time", "soft-restricted-round-robin", "0.1", "20 %"),
        ("convergence_time", "oracle", "0.1", "20 % or 3 steps"),
        ("convergence_time", "local", "0.1", "20 % or 3 steps"),
        ("convergence_time", "local", "0.01", "5 %"),
    ],
)
def test_margins(table: str, algorithm: str, epsilon: str | None, words: str) -> None:
    assert str(margin_for(table, algorithm, epsilon)) == words


def test_published_convergence_times_count_from_zero() -> None:
    content = {"convergence_time": {"all": {"oracle": {"0.1": {"avg": 6.0}}}}}
    (check,) = compare(content)
    assert (check.measured, check.difference, check.holds) == (5.0, 0.0, True)
    times = {"class_estimation_time": {"round-robin": {"0.2": {"avg": 1378.0}}}}
    assert compare(times)[0].difference == 0.0


def test_every_published_average_is_compared(short: Results) -> None:
    checks = compare(tables(short))
    assert len(checks) == 6 + 4 * 12 - 4  # Local at 0.01 was not measured
    assert not any(check.holds for check in checks if check.place.epsilon == "0.01")


def test_nothing_but_the_paper_is_compared(short: Results) -> None:
    content = tables(short)
    assert EXTRA_ALGORITHMS == ("sharp",)
    assert "sharp" in content["class_estimation_time"]
    assert all("sharp" in rows for rows in content["convergence_time"].values())
    assert "sharp" not in {check.place.algorithm for check in compare(content)}
    for table in paper_tables(content):
        row = next(row for row in table.rows if row[0] == "sharp")
        assert row[-2:] == ("–", "–")
        assert row[-5] == "–"
        assert "Not in the paper: sharp." in " ".join(table.notes)


def test_likely_classes_have_a_table_of_their_own_that_promises_nothing(short: Results) -> None:
    content = tables(short)
    likely = content["likely_class_estimation_time"]
    assert list(likely) == ["sharp"]
    # 40 steps are not enough to hear of 199 peers, but a model may guess where they belong.
    assert all(0 <= cell["right_at_the_end"] <= 1 for cell in likely["sharp"].values())
    assert likely["sharp"]["0.2"] != content["class_estimation_time"]["sharp"]["0.2"] | {
        "right_at_the_end": 1.0
    }
    (table,) = (one for one in more_tables(content) if "Likely" in one.title)
    assert [row[:2] for row in table.rows] == [("sharp", mean) for mean in ("0.2", "0.4", "0.8")]
    assert "without guarantee" in table.title
    assert "no guarantee" in table.header[2]
    assert "nothing is guaranteed of it" in table.notes[0]
    guaranteed = {row[1]: row[3] for row in paper_tables(content)[0].rows if row[0] == "sharp"}
    assert {row[1]: row[4] for row in table.rows} == guaranteed


def test_without_likely_classes_there_is_no_table_of_them() -> None:
    experiment = EXPERIMENTS["three-class"].model_copy(update={"runs": 1, "horizon": 10})
    content = tables({"three-class": (paper.measure(experiment),)})
    assert "likely_class_estimation_time" not in content
    assert more_tables(content) == ()
    assert "likely" not in SECTIONS[0].read(content)


def test_what_does_not_hold_is_named_and_no_noise_is_hidden() -> None:
    place = TablePlace("convergence_time", "0.4", "local", "0.01")
    off = Check(place, 4482.0, 4816.0, Margin(0.05), (4450.0, 5180.0))
    table = summary([off], [])
    assert table.rows[0][1:] == (
        "✗ 0 of 1",
        "local, class 0.4, error 0.01 (+7 %, published within the measured interval)",
    )
    assert "No margin was widened" in table.notes[0]


def test_claims_that_fail_are_told(short: Results) -> None:
    found = {claim.statement[:9]: claim.holds for claim in claims(tables(short), short)}
    assert found["Theorem 1"] is False  # 40 steps are not enough


def test_tables_show_published_measured_interval_and_verdict(short: Results) -> None:
    found = {table.title: table for table in paper_tables(tables(short))}
    assert len(found) == 9
    rows = {row[0]: row for row in found["Convergence times to error 0.01, all agents"].rows}
    assert rows["round-robin"][1:] == ("916 ± 427 (2088)", "41 ± 0 (41)", "41 to 41", "-95.6 %",
                                       "✗ 20 %")  # fmt: skip
    assert rows["local"][1:] == ("4494 ± 3945 (28616)", "–", "–", "–", "–")
    assert rows["Theorem 2: τ"][1:3] == ("33406", "exactly 3814²")
    assert rows["Theory, local: τ"][1:3] == ("100216", "exactly 100217³")
    notes = " ".join(found["Convergence times to error 0.01, all agents"].notes)
    assert "² The published 33406" in notes
    assert "Times of round-robin beyond its horizon, each counted as one step more: 400." in notes


def test_numbers_in_words() -> None:
    assert spread_text({"avg": 5, "std": 4, "max": 19}) == "5 ± 4 (19)"
    assert spread_text({"avg": 431.6, "std": 227.1, "max": 1294}) == "432 ± 227 (1294)"
    assert (percent(1.0), percent(0.99999), percent(0.5, 0)) == ("100 %", "99.99 %", "50 %")


def test_markup_in_text_is_only_text() -> None:
    table = Table("<b>", ("a | b",), (("1 < 2 | 3",),), ("<i>",))
    page = tables_html([table])
    assert "<b>" not in page
    assert "<i>" not in page
    assert "1 &lt; 2 | 3" in page
    assert "| 1 < 2 \\| 3 |" in markdown(table)
