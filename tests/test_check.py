"""Validation of single values: what passes, and what the refusal says."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from colme import _check

FLOAT_CHECKS = [_check.finite, _check.positive, _check.non_negative, _check.risk]


@pytest.mark.parametrize("check", FLOAT_CHECKS)
@pytest.mark.parametrize("value", [0.5, np.float32(0.5), Fraction(1, 2), "0.5"])
def test_whatever_reads_as_a_half_becomes_the_float(
    check: Callable[[str, Any], float], value: Any
) -> None:
    number = check("x", value)
    assert type(number) is float
    assert number == 0.5


@pytest.mark.parametrize("check", FLOAT_CHECKS)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None, "abc", [1.0]])
def test_non_numbers_are_refused_by_name_and_value(
    check: Callable[[str, Any], float], value: Any
) -> None:
    with pytest.raises(ValueError, match=r"^sigma must be a finite number; received ") as error:
        check("sigma", value)
    assert str(value) in str(error.value)


@pytest.mark.parametrize(
    ("check", "value", "message"),
    [
        (_check.positive, 0, "x must be greater than 0; received 0"),
        (_check.positive, -2.5, "x must be greater than 0; received -2.5"),
        (_check.non_negative, -1e-9, "x must be 0 or greater; received -1e-09"),
        (_check.risk, 0, r"x is a probability of failure in \(0, 1\); received 0"),
        (_check.risk, 1, r"x is a probability of failure in \(0, 1\); received 1"),
        (_check.risk, -0.1, r"x is a probability of failure in \(0, 1\); received -0.1"),
        (_check.positive_int, 0, "x must be at least 1; received 0"),
        (_check.positive_int, -3, "x must be at least 1; received -3"),
        (_check.positive_int, 2.0, "x must be a whole number; received 2.0"),
        (_check.positive_int, "2", "x must be a whole number; received '2'"),
        (_check.positive_int, None, "x must be a whole number; received None"),
    ],
)
def test_values_out_of_range_are_refused_by_name_and_value(
    check: Callable[[str, Any], float], value: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        check("x", value)


def test_the_edges_that_are_allowed_pass() -> None:
    assert _check.non_negative("eta", 0) == 0
    assert _check.positive("sigma", 5e-324) > 0
    assert _check.risk("delta", 1 - 1e-16) < 1
    assert _check.positive_int("horizon", np.int64(1)) == 1
