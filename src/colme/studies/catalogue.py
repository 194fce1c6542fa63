"""The studies by name, and one call that runs one of them.

Lives here: the list of studies, running and writing.  Must not know what a study measures.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from colme import _check
from colme.paper.output import prepare_folder, write
from colme.studies import batches, conservative, drift, neighbours, noise, rates, views
from colme.studies.figure import draw
from colme.studies.finding import Study
from colme.studies.work import Progress, Work


class StudyPlan(NamedTuple):
    """A study that can be run: its question, how often it runs by default, and how.

    `parts` is how many simulations `measure` makes.

    Examples
    --------
    >>> STUDIES["batches"].runs
    6
    """

    question: str
    runs: int
    parts: int
    measure: Callable[[Work], Study]


_MODULES = {batches: 6, rates: 6, views: 1, noise: 3, drift: 3, conservative: 5, neighbours: 1}
"""The module of each study, and how often it runs by default."""

STUDIES: Mapping[str, StudyPlan] = MappingProxyType(
    {
        module.__name__.rpartition(".")[2]: StudyPlan(
            module.QUESTION, runs, module.PARTS, module.measure
        )
        for module, runs in _MODULES.items()
    }
)
"""Every study by name."""


def plan_of(name: str) -> StudyPlan:
    """Return the study of that name, or raise ValueError.

    Examples
    --------
    >>> plan_of("views").question
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

    By default it makes as many runs, with fresh samples, as take less than half a minute.  The
    result does not depend on the number of threads.  `progress` is called with what is running and
    the share of all work done, from 0 to 1.

    Examples
    --------
    >>> run("swarms")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: unknown study 'swarms'; known: batches, rates, views, noise, drift, ...
    """
    plan = plan_of(name)
    n_runs = plan.runs if runs is None else _check.positive_int("runs", runs)
    n_threads = None if threads is None else _check.positive_int("threads", threads)
    seed = _check.non_negative_int("seed", seed)
    work = Work(n_runs, seed, n_threads, progress, plan.parts, name, plan.question)
    return plan.measure(work)


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
