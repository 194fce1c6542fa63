"""The front door: run every experiment, lay it beside the paper, write all of it down.

Lives here: the order of work, what was measured so far, and which file each part goes to.  Must not
know the command line.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from colme import _check
from colme.algorithm import Weighting, resolve
from colme.experiment import Experiment
from colme.pages import TextTable as Table
from colme.pages import markdown
from colme.paper.canvas import Drawing, draw, import_plotting
from colme.paper.claims import Claim, claims
from colme.paper.experiments import EXPERIMENTS, LIKELY, parts
from colme.paper.measure import Result, measure
from colme.paper.more_tables import more_tables, sizes_table
from colme.paper.outline import FIGURES
from colme.paper.output import prepare_folder, write
from colme.paper.paper_tables import claim_table, paper_tables, summary
from colme.paper.published import Check, compare
from colme.paper.report import report_html
from colme.paper.table_values import tables

Progress = Callable[[str, float], None]
Plan = Mapping[str, tuple[Experiment, ...]]

_WRITING = "tables, figures and report"
_PAIRS_PER_SAMPLE = 70
"""Drawing and averaging one sample costs about as much as this many (agent, peer) pairs."""
_PAIRS_BY_MODEL = 9
"""Weighing a peer by a model costs about as much as this many pairs; twice that if its likely
class is followed."""


@dataclass
class Reproduction:
    """What has been measured so far, and where it is written.

    Attributes
    ----------
    folder
        Where everything goes.
    results
        What ran, by the name of the experiment.
    durations
        Seconds, by experiment.
    content
        What ``tables.json`` holds.
    checks
        Measured averages beside published ones.
    claims
        What the paper states, and whether it holds.
    drawings
        Figures, by name.

    Examples
    --------
    >>> Reproduction(Path("reproduction")).report.name
    'report.html'
    """

    folder: Path
    results: dict[str, tuple[Result, ...]] = field(default_factory=dict)
    durations: dict[str, float] = field(default_factory=dict)
    content: dict[str, Any] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()
    claims: tuple[Claim, ...] = ()
    drawings: dict[str, Drawing] = field(default_factory=dict)

    @property
    def report(self) -> Path:
        """Where the report is."""
        return self.folder / "report.html"

    @property
    def tables(self) -> tuple[Table, ...]:
        """Every table, the verdict first."""
        return (
            summary(self.checks, self.claims),
            sizes_table(self.content),
            claim_table(self.claims),
            *paper_tables(self.content),
            *more_tables(self.content),
        )

    @property
    def main_tables(self) -> tuple[Table, ...]:
        """The tables to look at first, the verdict last."""
        return (
            sizes_table(self.content),
            *paper_tables(self.content)[:3],  # class estimation, and convergence of all agents
            *more_tables(self.content),
            summary(self.checks, self.claims),
        )

    def add(self, name: str, results: tuple[Result, ...], seconds: float) -> None:
        """Take in a finished experiment."""
        self.results[name] = results
        self.durations[name] = seconds
        self.content = tables(self.results)
        self.checks = compare(self.content)
        self.claims = claims(self.content, self.results)

    def write(self, new: str) -> None:
        """Write all that is finished: tables, the figures that `new` makes possible, the report."""
        start = time.perf_counter()
        write(self.folder / "tables.json", json.dumps(self.content, indent=1) + "\n")
        texts = ["# Published and measured\n", *map(markdown, self.tables)]
        write(self.folder / "tables.md", "\n".join(texts))
        for figure in FIGURES:
            if new in figure.needs and self.results.keys() >= set(figure.needs):
                drawing = draw(partial(figure.draw, results=self.results))
                self.drawings[figure.name] = drawing
                for kind, picture in drawing._asdict().items():
                    write(self.folder / "figures" / f"{figure.name}.{kind}", picture)
        spent = self.durations.pop(_WRITING, 0.0)
        self.durations[_WRITING] = spent + time.perf_counter() - start
        page = report_html(self.content, self.claims, self.drawings, self.durations)
        write(self.report, page)


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
    import_plotting()  # a missing library must show before the work, not after it
    done = Reproduction(prepare_folder(out))
    for name in plan:
        start = time.perf_counter()
        results = _measure(plan, name, threads, progress)
        done.add(name, results, time.perf_counter() - start)
        done.write(name)
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
    import_plotting()
    place = prepare_folder(folder)
    needed = {need for name in names for need in known[name].needs}
    plan = _plan([name for name in EXPERIMENTS if name in needed], runs, seed)
    results = {name: tuple(measure(part, threads=threads) for part in plan[name]) for name in plan}
    for name in names:
        write(place / f"{name}.svg", draw(partial(known[name].draw, results=results)).svg)


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
