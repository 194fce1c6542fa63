"""Results that stay what they are: see `pinned`."""

import json
from typing import Any

import pytest
from pinned import CASES, FILE, flat

PINNED: dict[str, list[Any]] = json.loads(FILE.read_text())


@pytest.mark.parametrize("name", CASES)
def test_a_case_gives_what_it_gave(name: str) -> None:
    found, pinned = flat(CASES[name]()), PINNED[name]
    texts = [(one, other) for one, other in zip(found, pinned, strict=True) if one != other]
    assert [
        (one, other)
        for one, other in texts
        if isinstance(one, str)
        or isinstance(other, str)
        or one != pytest.approx(other, rel=1e-9, abs=1e-12)
    ] == []


def test_every_pinned_number_belongs_to_a_case() -> None:
    assert PINNED.keys() == CASES.keys()
