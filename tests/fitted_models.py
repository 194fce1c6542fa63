"""Rows of means, and models fitted to them, for the tests of the model."""

from collections.abc import Iterable

import numpy as np
import pytest
from numpy.typing import NDArray

from colme.model import (
    Model,
    Scratch,
    expected_mean,
    refit,
    sum_members,
)
from colme.rules import Row
from colme.summary import view_at

Array = NDArray[np.float64]


def memory(means: Array, precisions: Array, member: list[bool] | None = None) -> Row:
    """Return the row of an agent that has heard of everyone; intervals are wide."""
    n = len(means)
    return Row.blank(
        n,
        mean=means.tolist(),
        precision=precisions.tolist(),
        n_samples=[10.0] * n,
        radius=(9.0 / np.sqrt(precisions)).tolist(),
        member=list(member or [True] * n),
    )


def fitted(row: Row, a: int = 0) -> tuple[Model, Scratch]:
    model, scratch = Model.blank(), Scratch.blank(len(row.views.mean))
    refit(a, len(row.views.mean), 10.0, 10.0, row, model, scratch)
    sum_members(a, len(row.views.mean), row, model, scratch)
    return model, scratch


def estimate(row: Row, a: int = 0) -> float:
    model, scratch = fitted(row, a)
    return expected_mean(view_at(row.views, a), model, scratch)


def estimates(means: Array, precisions: Array, agents: Iterable[int]) -> Array:
    row = memory(means, precisions)
    return np.array([estimate(row, a) for a in agents])


def some(means: Array) -> range:
    """Return every third agent, or all where there are few."""
    return range(0, len(means), 3 if len(means) > 10 else 1)


def classes_of(model: Model) -> Array:
    return np.sort(np.array(model.atoms[: int(model.fit.n_classes)]))


def noisy(
    centers: list[float], n: int, seed: int, deviation: float = 0.05
) -> tuple[NDArray[np.int64], Array, Array]:
    """Return labels, means and precisions of n agents."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % len(centers))
    precisions = rng.uniform(0.5, 2, n) / deviation**2
    return labels, rng.normal(np.array(centers)[labels], 1 / np.sqrt(precisions)), precisions


PROBLEMS: dict[str, tuple[Array, Array]] = {
    "two": noisy([0.0, 1.0], 40, 1)[1:],
    "three, near": noisy([0.0, 0.2, 0.4], 60, 2)[1:],
    "one": noisy([0.5], 30, 3)[1:],
    "five": noisy([0.0, 1.0, 2.0, 3.0, 5.0], 30, 4)[1:],
    "crowd": noisy(np.random.default_rng(5).normal(0, 1, 40).tolist(), 40, 5)[1:],
    "few": noisy([0.0, 0.5], 3, 6)[1:],
}


problems = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=list(PROBLEMS))


SEPARATED = pytest.mark.parametrize(
    "centers", [[0.0, 1.0], [-2.0, 0.0, 1.0], [0.0, 1.0, 2.0, 3.0, 5.0]], ids=str
)


def summed(model: Model) -> list[float]:
    return [*model.weights, *model.totals]
