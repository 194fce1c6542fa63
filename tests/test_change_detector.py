"""The detector of changes: what it looks at, what it says, and every constant that it has."""

import math

import numpy as np
import pytest

from colme.bounds.change_detector import (
    BLOCK,
    MOST_SPLITS,
    SequencesDetector,
    SplitTable,
    split_evidence,
    split_price,
    update_splits,
)
from colme.bounds.mixture import mixture_shape


def test_the_shares_of_the_risk_add_up_to_at_most_one() -> None:
    shares = np.exp([-split_price(i) for i in range(1, 100_000)])
    assert 0.8 < shares.sum() < 1
    assert (np.diff(shares) < 0).all()


def test_what_a_split_says_is_the_evidence_of_the_pair() -> None:
    x = np.random.default_rng(3).normal(0.3, 0.5, 60)
    b, a = 20, 40
    q_b, _, _ = mixture_shape(b, 0.25, b / 10)
    q_a, _, _ = mixture_shape(a, 0.25, 4.0)
    expected = (x[:b].mean() - x[b:].mean()) ** 2 / (2 * (q_a + q_b))
    squares = float(x.var() * 60)
    assert split_evidence(b, x[:b].mean(), 60, x.mean(), squares, 0.5) == pytest.approx(expected)
    within = (x[:b].var() * b + x[b:].var() * a) / 58
    estimated = split_evidence(b, x[:b].mean(), 60, x.mean(), squares, math.inf)
    assert estimated == pytest.approx(expected * 0.25 / within)
    assert split_evidence(4, 0.0, 8, 1.0, 5.0, math.inf) == 0


def test_live_splits_are_few_and_everywhere() -> None:
    table, live = SplitTable([0] * 600, [0.0] * 600, [0.0] * 600), 0
    for now in range(1, 5001):
        live, _ = update_splits(BLOCK * now, 0.0, 0.0, 0.5, 7.0, live, table)
    ages = 5000 - np.array(table.splits[:live])
    assert live < 32 + 16 * math.log2(5000 / 32) + 16
    assert (np.diff(ages) < 0).all()
    assert (-np.diff(ages) <= 1 + ages[:-1] / 16).all()
    assert ages[-1] == 0


def test_the_detector_looks_after_every_fourth_sample() -> None:
    assert BLOCK == 4
    detector = SequencesDetector(scale=0.5, alarm=0.01)
    seen = []
    for count in range(1, 10):
        detector.changed(0.0, count, 0.0, 0.0)
        seen.append(detector.state()["splits"])
    assert seen == [[], [], [], [1], [1], [1], [1], [1, 2], [1, 2]]


def test_there_is_room_for_all_splits_of_the_longest_stream() -> None:
    now = 2**31 // BLOCK
    powers = [2**k for k in range(now.bit_length())]
    live = sum((now // p + 1) // 2 - ((now - 32 * p - 1) // p + 1) // 2 for p in powers)
    assert MOST_SPLITS // 4 < live < MOST_SPLITS


@pytest.mark.parametrize(("split", "last"), [(1, 33), (2, 66), (8, 264)])
def test_a_split_is_dropped_at_32_times_the_power_of_2_that_divides_it(
    split: int, last: int
) -> None:
    for now, n_live in ((last, 2), (last + 1, 1)):
        table = SplitTable([split, 0], [0.0, 0.0], [split_price(split), 0.0])
        assert update_splits(BLOCK * now, 0.0, 0.0, 0.5, 7.0, 1, table)[0] == n_live


def test_the_price_of_a_split_is_its_share_of_the_risk() -> None:
    for i in (1, 7, 50, 3000):
        share = (1 + (i - 1) / 50) ** -0.25 - (1 + i / 50) ** -0.25
        assert split_price(i) == pytest.approx(-math.log(share), rel=1e-12)


def test_an_estimated_variance_is_used_from_30_samples_on() -> None:
    assert split_evidence(8, 0.0, 29, 0.7, 40.0, math.inf) == 0
    assert split_evidence(8, 0.0, 30, 0.7, 40.0, math.inf) > 0


@pytest.mark.parametrize(("share", "is_noise"), [(0.9e-12, True), (1.1e-12, False)])
def test_a_variance_that_rounding_may_have_left_is_none(share: float, is_noise: bool) -> None:
    # Means 0 before and 1 after: between both halves of 64 samples lie squares of 16.
    squares = 16.0 / (1 - share)
    assert (split_evidence(32, 0.0, 64, 0.5, squares, math.inf) == 0) == is_noise


def alarmed(gain: float, n_splits: int = 1) -> bool:
    """Return whether splits raise an alarm of that gain each, before the price after the split."""
    split, now, mean = 64, 65, 0.2
    against = split_evidence(BLOCK * split, 0.0, BLOCK * now, mean, 0.0, 0.5)
    price = split_price(split) + 0.5 * math.log1p(1 / 0.1)
    table = SplitTable(*([value] * (n_splits + 1) for value in (split, 0.0, split_price(split))))
    log_risk = against - price - gain
    return update_splits(BLOCK * now, mean, 0.0, 0.5, log_risk, n_splits, table)[1]


def test_the_alarm_comes_when_the_evidence_pays_all_prices() -> None:
    after = 0.5 * math.log1p(BLOCK / 4.0)
    assert alarmed(after + 1e-9)
    assert not alarmed(after - 1e-9)


def test_parts_of_the_sum_below_its_logarithm_of_minus_5_are_left_out() -> None:
    assert alarmed(-4.99, n_splits=400)
    assert not alarmed(-5.01, n_splits=400)


def test_evidence_beyond_all_numbers_is_an_alarm_and_no_error() -> None:
    assert alarmed(1e4)
    assert not alarmed(0.5 * math.log1p(1.0) - 0.01)
