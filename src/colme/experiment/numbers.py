"""Numbers in tables that are one for all agents, or one for each.

Lives here: their types.  Must not know what any table means.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag

__all__: list[str] = []


def _which(value: Any) -> str:
    return "each" if isinstance(value, list | tuple) else "one"


Positive = Annotated[float, Field(gt=0)]
Rate = Annotated[float, Field(ge=0)]
Sigmas = Annotated[
    Annotated[Positive, Tag("one")]
    | Annotated[tuple[Positive, ...], Field(min_length=1), Tag("each")],
    Discriminator(_which),
]
"""One number greater than 0, or one for each agent."""
Rates = Annotated[
    Annotated[Rate, Tag("one")] | Annotated[tuple[Rate, ...], Field(min_length=1), Tag("each")],
    Discriminator(_which),
]
"""One number, 0 or greater, or one for each agent."""
