"""Stakes: the published rule, known before the sample they are placed on."""

import judges
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from colme.bounds.bounded import Bets

units = st.lists(st.floats(0, 1), min_size=1, max_size=60)


@given(units, st.floats(1e-9, 0.5), st.sampled_from([0.5, 0.75]))
def test_stakes_are_those_of_the_whole_array(x: list[float], gamma: float, most: float) -> None:
    bets, sizes, means = Bets(gamma, most), [], []
    for sample in x:
        sizes.append(bets.stake())
        means.append(bets.mean)
        bets.fold(sample)
    expected_sizes, expected_means = judges.stakes(np.array(x), gamma, most)
    np.testing.assert_allclose(sizes, expected_sizes, rtol=1e-10)
    np.testing.assert_allclose(means, expected_means, rtol=1e-10)


@given(units)
def test_no_stake_is_larger_than_allowed_and_no_estimate_leaves_the_range(x: list[float]) -> None:
    bets = Bets(0.05, 0.5)
    for sample in x:
        assert 0 < bets.stake() <= 0.5
        bets.fold(sample)
        assert 0 <= bets.mean <= 1
        assert 0 < bets.variance <= 1
