"""What is known of the noise means the same at every door."""

from __future__ import annotations

from typing import Any

import pytest

from colme.algorithm import ClassTest
from colme.bounds import (
    STREAM_N_OPT,
    Bound,
    EmpiricalBernstein,
    Laplace,
    NormalMixture,
    Student,
    default_bound,
)
from colme.bounds.known_noise import ONLINE_N_OPT, TABLE_N_OPT, KnownNoise


@pytest.mark.parametrize(
    ("known", "class_test", "options", "bound"),
    [
        (KnownNoise(0.5), ClassTest.JOINT, {}, NormalMixture(0.5, 1000, 0.01)),
        (KnownNoise(0.5), ClassTest.OVERLAP, {}, Laplace(0.5, 0.01)),
        (KnownNoise(0.5), ClassTest.JOINT, {"n_opt": 5}, NormalMixture(0.5, 1000, 0.01)),
        (KnownNoise(None, (0, 4)), ClassTest.JOINT, {}, NormalMixture(2.0, 1000, 0.01)),
        (
            KnownNoise(None, (0, 4)),
            ClassTest.JOINT,
            {"learn_variance": True},
            EmpiricalBernstein(0, 4, 0.01),
        ),
        (KnownNoise(), ClassTest.JOINT, {}, Student(1000, 0.01)),
        (KnownNoise(), ClassTest.JOINT, {"n_opt": 30, "learn_variance": True}, Student(30, 0.01)),
    ],
)
def test_each_kind_of_knowledge_has_its_bound(
    known: KnownNoise, class_test: ClassTest, options: dict[str, Any], bound: Bound
) -> None:
    assert known.bound(class_test, 0.01, **options) == bound


@pytest.mark.parametrize("class_test", [ClassTest.JOINT, ClassTest.OVERLAP])
def test_a_known_scale_has_the_default_bound(class_test: ClassTest) -> None:
    assert KnownNoise(0.3).bound(class_test, 0.02) == default_bound(class_test, 0.3, 0.02)


def test_the_counts_for_which_bounds_are_tuned() -> None:
    assert (STREAM_N_OPT, ONLINE_N_OPT, TABLE_N_OPT) == (1000, 30, 5)


@pytest.mark.parametrize(
    ("sigma", "value_range", "message"),
    [
        (1.0, (0.0, 1.0), "give sigma or a range, not both; received 1.0 and"),
        (0.0, None, "sigma must be greater than 0"),
        (None, (1.0, 1.0), "a range needs low < high"),
        (None, (0.0, float("inf")), "high must be a finite number"),
    ],
)
def test_what_cannot_be_known_is_refused(
    sigma: float | None, value_range: tuple[float, float] | None, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        KnownNoise(sigma, value_range)
