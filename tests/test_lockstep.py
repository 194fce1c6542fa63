"""simulate and lockstep against the literal transcription, and against each other."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from literal import ALGORITHMS as LITERAL
from literal import literal
from streams import FAMILY
from streams import name as bound_name
from twins import LABELLED, SAMPLES, Labels, Samples, close, simulated

from colme import ALGORITHMS, Algorithm, Problem, Record, lockstep, simulate
from colme.algorithm import ClassTest, QueryStrategy, Weighting
from colme.bounds import Bound


@st.composite
def problems(draw: st.DrawFn) -> tuple[Samples, Labels, float, float]:
    """Samples[time, agent], labels in any order and with gaps, sigma (right or wrong), delta."""
    n_agents = draw(st.integers(1, 12))
    classes = draw(st.sampled_from([(0,), (2,), (0, 1), (3, 1), (0, 1, 2)]))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    labels = rng.choice(classes, n_agents).astype(np.int64)
    means = np.array([0.15, 0.5, 0.8, 0.3])[labels]
    shape = (draw(st.integers(1, 18)), n_agents)
    if draw(st.booleans()):
        samples = (rng.random(shape) < means).astype(np.float64)
    else:
        samples = rng.normal(means, 0.1, shape)
    return samples, labels, draw(st.floats(0.02, 0.5)), draw(st.floats(0.001, 0.9))


@pytest.mark.parametrize("name", LITERAL)
@settings(max_examples=30)
@given(problem=problems(), eta=st.sampled_from([0.0, 0.05, 0.3]))
def test_simulate_and_lockstep_are_the_literal_transcription(
    name: str, problem: tuple[Samples, Labels, float, float], eta: float
) -> None:
    samples, labels, sigma, delta = problem
    estimates, class_counts = literal(samples, name, labels, sigma, delta, eta)
    how: dict[str, Any] = {"sigma": sigma, "delta": delta, "labels": labels}
    if name.startswith("eta-"):
        how["eta"] = eta
    slow = lockstep(samples, name, **how)
    assert slow.estimates is not None
    np.testing.assert_allclose(slow.estimates[0], estimates, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(slow.class_counts, class_counts[np.newaxis])
    close(simulate(samples, name, **how), slow)


@pytest.mark.parametrize("name", sorted(ALGORITHMS.keys() - set(LITERAL)))
@settings(max_examples=15)
@given(problem=problems(), eta=st.sampled_from([None, 0.2]))
def test_lockstep_is_simulate_for_every_other_preset(
    name: str, problem: tuple[Samples, Labels, float, float], eta: float | None
) -> None:
    samples, labels, sigma, delta = problem
    how: dict[str, Any] = {"sigma": sigma, "delta": delta, "labels": labels, "eta": eta}
    close(simulate(samples, name, **how), lockstep(samples, name, **how))


@pytest.mark.parametrize(("eta", "every", "judged"), [(0.0, 1, 1), (0.25, 7, 0)])
@pytest.mark.parametrize(
    ("query", "weighting", "test"),
    list(product(QueryStrategy, Weighting, ClassTest)),
    ids=lambda choice: choice.word,
)
def test_lockstep_is_simulate_for_every_composition(
    query: QueryStrategy,
    weighting: Weighting,
    test: ClassTest,
    eta: float,
    every: int,
    judged: int,
) -> None:
    composed = Algorithm(query, weighting, test, eta)
    how: dict[str, Any] = {"sigma": 0.1, "delta": 0.1, "labels": LABELLED.labels}
    how["record"] = Record(likely_counts=weighting == Weighting.MODEL, every=every)
    simulated(SAMPLES, composed, judged=judged, **how)


@pytest.mark.parametrize("bound", FAMILY, ids=bound_name)
@pytest.mark.parametrize("name", ["sharp", "soft-restricted-round-robin"])
def test_lockstep_is_simulate_for_every_bound(bound: Bound, name: str) -> None:
    samples = SAMPLES.clip(0, 1)
    how: dict[str, Any] = {"bound": bound, "delta": 0.1, "labels": LABELLED.labels}
    how["record"] = Record(likely_counts=name == "sharp")
    fast = simulated(samples, name, judged=1, **how)
    assert np.isfinite(fast.estimates).all()  # type: ignore[arg-type]
    assert fast.sigma == bound.scale


@pytest.mark.parametrize("query", ["round-robin", "restricted-round-robin"])
@pytest.mark.parametrize("test", ["joint", "overlap"])
@pytest.mark.parametrize("weighting", ["model", "soft", "simple"])
def test_every_agent_may_have_a_bound_of_its_own(query: str, test: str, weighting: str) -> None:
    samples = SAMPLES.clip(0, 1)
    how: dict[str, Any] = {"bound": [FAMILY[a % 6] for a in range(11)], "delta": 0.5}
    simulated(samples, Algorithm(query, weighting, test), judged=1, **how)


def test_long_runs_of_many_agents_stay_as_exact_as_short_ones() -> None:
    problem = Problem.gaussian([1e3, 1e3 + 0.5], n_agents=20, sigma=0.2, seed=5)
    samples = problem.draw(150, seed=6)
    how: dict[str, Any] = {"sigma": 0.2, "labels": problem.labels, "record": Record(every=15)}
    for name in ALGORITHMS:
        close(simulate(samples, name, **how), lockstep(samples, name, **how), atol=1e-12 * 1e3)
