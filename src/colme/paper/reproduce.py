"""The front door: run every experiment, lay it beside the paper, write all of it down.

Lives here: the order of work and which file each part goes to.  Must not know the command line.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence

from colme import _check
from colme.algorithm import Weighting, resolve
from colme.experiment import Experiment
from colme.paper.experiments import EXPERIMENTS, LIKELY, parts
from colme.paper.figure_list import FIGURES, load_figures
from colme.paper.files import prepare_folder, write
from colme.paper.measure import measure
from colme.paper.reproduction import Reproduction
from colme.paper.results import Result

Progress = Callable[[str, float], None]
Plan = Mapping[str, tuple[Experiment, ...]]

_PAIRS_PER_SAMPLE = 70
"""Drawing and averaging one sample costs about as much as this many (agent, peer) pairs."""
_PAIRS_BY_MODEL = 9
"""Weighing a peer by a model costs about as much as this many pairs; twice that if its likely
class is followed."""


def reproduce(
    out: str | os.PathLike[str] = "reproduction",
    *,
    runs: int = 20,
    seed: int = 0,
    only: Sequence[str] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    finished: Progress | None = None,
) -> Reproduction:
    """Run the experiments and write tables, figures and a report beside the published numbers.

    After each experiment all that is finished is on disk, complete: an interruption loses only
    the experiment under way.

    Parameters
    ----------
    out
        Folder for ``tables.json``, ``tables.md``, ``figures/`` and ``report.html``.
    runs, seed
        Runs of each experiment, and the seed of their samples.
    only
        Names from `colme.paper.EXPERIMENTS`; all of them by default.
    threads
        Runs computed at the same time; no number depends on it.
    progress
        Called with what is running and the share of all work done, from 0 to 1.
    finished
        Called with the name of each finished experiment and its seconds.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     done = reproduce(place, runs=1, only=["gap-sweep"])
    ...     done.report.is_file(), len(done.content["gap_sweep"])
    (True, 9)
    """
    plan = _plan(only, runs, seed)
    threads = None if threads is None else _check.positive_int("threads", threads)
    figures = load_figures()
    done = Reproduction(prepare_folder(out))
    for name in plan:
        start = time.perf_counter()
        results = _measure(plan, name, threads, progress)
        done.add(name, results, time.perf_counter() - start)
        done.write(name, figures)
        if finished is not None:
            finished(name, done.durations[name])
    return done


def draw_figures(
    folder: str | os.PathLike[str],
    names: Sequence[str],
    *,
    runs: int = 20,
    seed: int = 0,
    threads: int | None = None,
) -> None:
    """Run what some figures need and write them as SVG, for documentation.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as place:
    ...     draw_figures(place, ["gap-sweep"], runs=1)
    ...     [path.name for path in Path(place).iterdir()]
    ['gap-sweep.svg']
    """
    known = {figure.name: figure for figure in FIGURES}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"unknown figure {unknown[0]!r}; known: {', '.join(known)}")
    figures, place = load_figures(), prepare_folder(folder)
    needed = {need for name in names for need in known[name].needs}
    plan = _plan([name for name in EXPERIMENTS if name in needed], runs, seed)
    results = {name: tuple(measure(part, threads=threads) for part in plan[name]) for name in plan}
    for name in names:
        write(place / f"{name}.svg", figures.draw(known[name], results).svg)


def _plan(only: Sequence[str] | None, runs: int, seed: int) -> Plan:
    chosen = list(dict.fromkeys(EXPERIMENTS if only is None else only))
    if not chosen:
        raise ValueError(f"name at least one experiment; known: {', '.join(EXPERIMENTS)}")
    planned = {name: parts(name, runs=runs, seed=seed) for name in chosen}
    return {name: planned[name] for name in EXPERIMENTS if name in planned}


def _measure(
    plan: Plan, name: str, threads: int | None, progress: Progress | None
) -> tuple[Result, ...]:
    costs = {each: [_cost(part, each in LIKELY) for part in plan[each]] for each in plan}
    total = sum(map(sum, costs.values()))
    names = list(plan)
    spent = sum(sum(costs[earlier]) for earlier in names[: names.index(name)])
    results = []
    for part, cost in zip(plan[name], costs[name], strict=True):

        def update(share: float, spent: float = spent, cost: float = cost) -> None:
            if progress is not None:
                progress(name, (spent + share * cost) / total)

        update(0.0)
        results.append(measure(part, likely=name in LIKELY, threads=threads, progress=update))
        spent += cost
    return tuple(results)


def _cost(experiment: Experiment, likely: bool) -> float:
    """Return about how much work an experiment is, in (agent, peer) pairs."""
    n_agents = experiment.problem.build().n_agents
    by_model = _PAIRS_BY_MODEL * (2 if likely else 1)
    pairs = sum(
        by_model if resolve(name).weighting == Weighting.MODEL else name != "local"
        for name in experiment.algorithms
    )
    samples = experiment.runs * experiment.horizon * n_agents
    return float(samples * (n_agents * pairs + _PAIRS_PER_SAMPLE))
