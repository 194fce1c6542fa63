"""Details of estimates from tables that a small slip would change without much ado."""

from __future__ import annotations

import numpy as np
import pytest

from colme.bounds import student_radius, tuned_prior
from colme.data import Summaries, estimate


def test_the_interval_of_a_class_knows_how_far_its_members_are_apart() -> None:
    values = [0.0, 0.1, 1.0, 1.1]
    found = estimate(Summaries.of(["a", "a", "b", "b"], values), delta=0.05)
    assert found.columns["class"].tolist() == [found.columns["class"][0]] * 2
    squares = float(np.var(values) * 4)  # 1.01, of which 0.01 lies within the members
    radius = found.noise.radii(np.array([4]), np.array([squares]), 0.05)[0]
    assert found.class_high[0] - found.class_low[0] == pytest.approx(2 * radius)


def test_an_estimate_lies_within_the_agent_s_own_interval() -> None:
    rng = np.random.default_rng(0)
    agents = np.repeat(np.arange(11), 4000)
    values = np.where(agents == 10, 0.4, 0.0) + 0.1 * rng.standard_normal(agents.size)
    found = estimate(Summaries.of(agents, values), algorithm="eta-round-robin", sigma=0.1, eta=1.0)
    low, high = found.columns["low"], found.columns["high"]
    assert np.all((low <= found.estimates) & (found.estimates <= high))
    assert found.estimates[10] == low[10]  # the others pull it further than that


def test_an_agent_whose_samples_are_equal_still_has_an_interval() -> None:
    rng = np.random.default_rng(0)
    agents = np.repeat(np.arange(6), 12)
    values = rng.standard_normal(agents.size)
    values[:12] = 0.25
    found = estimate(Summaries.of(agents, values), delta=0.05)
    assert 0 < found.columns["high"][0] - found.columns["low"][0] < np.inf
    counts, squares = np.array([12, 12]), np.array([0.0, 3.0])
    radii = found.noise.radii(counts, squares, 0.01)
    wider = found.noise.radii(counts, squares + 1.0, 0.01)
    assert np.all(wider > radii)
    assert radii[0] > 0
    ratio = student_radius(12, 0.0 + found.noise.scale**2, tuned_prior(12, 0.01), np.log(100))
    other = student_radius(12, 3.0 + found.noise.scale**2, tuned_prior(12, 0.01), np.log(100))
    assert radii[0] / radii[1] == pytest.approx(ratio / other, rel=1e-6)
