"""The studies by name, and one call that runs one of them.

Lives here: the list of studies, running and writing.  Must not know what a study measures.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from colme import _check
from colme.paper.files import prepare_folder, write
from colme.studies import batches, conservative, drift, neighbours, noise, rates, views
from colme.studies.figure import draw
from colme.studies.study import Study
from colme.studies.work import Progress, Work

__all__ = ["STUDIES", "Recipe", "recipe_of", "run", "save"]


@dataclass(frozen=True)
class Recipe:
    """A study that can be run.

    Attributes
    ----------
    question
        What it answers.
    runs
        How often it is run unless told otherwise.
    parts
        How many simulations it makes.
    measure
        What makes them.

    Examples
    --------
    >>> STUDIES["batches"].runs
    6
    """

    question: str
    runs: int
    parts: int
    measure: Callable[[Work], Study]


STUDIES: Mapping[str, Recipe] = MappingProxyType(
    {
        "batches": Recipe(batches.QUESTION, 6, batches.PARTS, batches.measure),
        "rates": Recipe(rates.QUESTION, 6, rates.PARTS, rates.measure),
        "views": Recipe(views.QUESTION, 1, views.PARTS, views.measure),
        "noise": Recipe(noise.QUESTION, 3, noise.PARTS, noise.measure),
        "drift": Recipe(drift.QUESTION, 3, drift.PARTS, drift.measure),
        "conservative": Recipe(conservative.QUESTION, 5, conservative.PARTS, conservative.measure),
        "neighbours": Recipe(neighbours.QUESTION, 1, neighbours.PARTS, neighbours.measure),
    }
)
"""What can be asked."""


def recipe_of(name: str) -> Recipe:
    """Return the study of that name, or raise ValueError.

    Examples
    --------
    >>> recipe_of("views").question
    'How many peers must an agent know?'
    """
    if name not in STUDIES:
        raise ValueError(f"unknown study {name!r}; known: {', '.join(STUDIES)}")
    return STUDIES[name]


def run(
    name: str,
    *,
    runs: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Study:
    """Return what a study finds.

    Parameters
    ----------
    name
        One of `STUDIES`.
    runs, seed
        Runs with fresh samples, by default as many as take less than half a minute; their seed.
    threads
        Number of threads; nothing depends on it.
    progress
        Called with what is running and the share of all work done, from 0 to 1.

    Examples
    --------
    >>> run("swarms")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: unknown study 'swarms'; known: batches, rates, views, noise, drift, ...
    """
    recipe = recipe_of(name)
    work = Work(
        runs=recipe.runs if runs is None else _check.positive_int("runs", runs),
        seed=_check.non_negative_int("seed", seed),
        threads=None if threads is None else _check.positive_int("threads", threads),
        progress=progress,
        parts=recipe.parts,
    )
    return recipe.measure(work)


def save(study: Study, folder: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write ``NAME.json``, ``NAME.md`` and ``NAME.svg``; return where they are.

    Examples
    --------
    >>> import tempfile
    >>> study = Study("demo", "How many?", "Two.", ("case", "n"), (("all", 2),))
    >>> with tempfile.TemporaryDirectory() as place:
    ...     [path.name for path in save(study, place)]
    ['demo.json', 'demo.md', 'demo.svg']
    """
    place = prepare_folder(folder)
    content: dict[str, str | bytes] = {
        "json": json.dumps(study.to_plain(), indent=1) + "\n",
        "md": study.to_markdown(),
        "svg": draw(study),
    }
    for kind, text in content.items():
        write(place / f"{study.name}.{kind}", text)
    return tuple(place / f"{study.name}.{kind}" for kind in content)
