"""Bounds written down as plain values, and read again."""

import json
from typing import Any

import pytest
from streams import DRIFTING, FAMILY

from colme.bounds import KINDS, Bound, Laplace, Restarted, from_plain, to_plain


@pytest.mark.parametrize("bound", [*FAMILY, *DRIFTING], ids=str)
def test_a_bound_survives_being_written_down(bound: Bound) -> None:
    assert from_plain(json.loads(json.dumps(to_plain(bound)))) == bound


def test_every_kind_is_tried() -> None:
    assert {type(bound).__name__ for bound in [*FAMILY, *DRIFTING]} == set(KINDS)


def test_a_bound_within_is_written_as_a_bound() -> None:
    assert to_plain(Restarted(Laplace(0.5, 0.05))) == {
        "kind": "Restarted",
        "bound": {"kind": "Laplace", "sigma": 0.5, "gamma": 0.05},
        "alarm": 0.001,
        "detector": "sequences",
        "revisit": 10,
    }


@pytest.mark.parametrize(
    "plain",
    [
        None,
        {},
        {"kind": "Guess"},
        {"kind": "Laplace", "sigma": 0.5},
        {"kind": "Laplace", "sigma": -1, "gamma": 0.05},
        {"kind": "Windowed", "bound": 7, "length": 5},
        {"kind": "Windowed", "bound": {"kind": "Guess"}, "length": 5},
    ],
)
def test_anything_else_is_refused(plain: Any) -> None:
    with pytest.raises(ValueError, match="received"):
        from_plain(plain)


def test_what_is_read_is_left_as_it_was() -> None:
    plain = to_plain(Laplace(0.5, 0.05))
    from_plain(plain)
    assert plain == {"kind": "Laplace", "sigma": 0.5, "gamma": 0.05}
