"""What people see: progress bars, tables and notes in a terminal.

Lives here: printing.  Must not know flags or how anything is computed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from colme import paper
from colme.experiment import Experiment
from colme.studies import Study

out = Console()
err = Console(stderr=True)


@contextmanager
def progress(total: int = 1) -> Iterator[Callable[[str, float], None]]:
    """Show one bar for all the work, on a terminal only."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=err, transient=True, disable=not err.is_terminal)
    with bar:
        task = bar.add_task("drawing samples", total=total)

        def update(what: str, completed: float) -> None:
            bar.update(task, description=what, completed=completed)

        yield update


def say_finished(name: str, seconds: float) -> None:
    """Print that an experiment is done."""
    err.print(f"{name}: {seconds:.1f} s", highlight=False)


def print_json(value: Any) -> None:
    """Print one line of JSON."""
    sys.stdout.write(json.dumps(value) + "\n")


def print_algorithms(rows: list[dict[str, str]]) -> None:
    """Print the named algorithms with their meanings."""
    table = Table("name", "meaning", box=None)
    for row in rows:
        table.add_row(row["name"], row["meaning"])
    out.print(table)


def print_summary(
    experiment: Experiment, rows: list[dict[str, Any]], files: dict[str, Path]
) -> None:
    """Print when the algorithms of an experiment identified classes and converged."""
    sizes = experiment.problem.build().class_sizes
    classes = ", ".join(
        f"{mean:g} ({size} agents)"
        for mean, size in zip(experiment.problem.class_means, sizes, strict=False)
    )
    out.print(
        f"{sizes.sum()} agents in classes {classes}; {experiment.runs} runs of "
        f"{experiment.horizon} steps; delta = {experiment.delta:g}",
        highlight=False,
    )
    for row in rows[:1]:
        if "samples_per_step" in row:
            out.print(f"{row['samples_per_step']:.3g} samples per step and agent", highlight=False)
    out.print(_summary_table(experiment, rows))
    for row in rows:
        if "likely_identification_time" in row:
            cell = _cell(row["likely_identification_time"]["all"])
            out.print(
                f"{row['algorithm']}: likely class right from {cell} on; nothing is guaranteed of "
                f"it{_promise(experiment)}",
                highlight=False,
            )
    for path in files.values():
        out.print(f"kept {path}", highlight=False)


def _promise(experiment: Experiment) -> str:
    """Return what is guaranteed of classes, if their bounds hold at all times at once."""
    asymptotic = experiment.bound is not None and experiment.bound.kind == "asymptotic"
    if experiment.drift is not None or asymptotic:
        return ""
    return ", while the class identified above is, with probability 1 - delta/8"


def _summary_table(experiment: Experiment, rows: list[dict[str, Any]]) -> Table:
    table = Table(title="average ± std (max) over agents and runs", title_justify="left")
    table.add_column("algorithm", no_wrap=True, min_width=max(map(len, experiment.algorithms)))
    names = ["class identified", *(f"error <= {epsilon:g}" for epsilon in experiment.epsilons)]
    names += [f"error before step {step}" for step in rows[0].get("error_before_change", ())]
    for name in [*names, "final error"]:
        table.add_column(name, justify="right")
    for row in rows:
        identified = row["identification_time"]
        times = [by_class["all"] for by_class in row["convergence_time"].values()]
        errors = [*row.get("error_before_change", {}).values(), row["final_error"]]
        cells = [_cell(identified and identified["all"]), *map(_cell, times)]
        table.add_row(row["algorithm"], *cells, *map(_error, errors))
    return table


def _error(error: float | None) -> str:
    return "-" if error is None else f"{error:.2g}"


def _cell(spread: dict[str, float] | None) -> str:
    if spread is None:
        return "-"
    if spread["within_horizon"] == 0:
        return "not within the horizon"
    late = "" if spread["within_horizon"] == 1 else f", {spread['within_horizon']:.0%} of agents"
    return f"{spread['avg']:.0f} ± {spread['std']:.0f} ({spread['max']:.0f}){late}"


def print_reproduction(done: paper.Reproduction) -> None:
    """Print the main tables of a reproduction, with their notes."""
    tables = done.main_tables
    for part in tables:
        table = Table(title=part.title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
        for k, name in enumerate(part.header):
            table.add_column(name, no_wrap=k == 0)
        for name, *cells in part.rows:
            # On a narrow terminal long names break where they can be read.
            short = name.replace("-round", "-\nround", 1) if out.width < 110 else name
            table.add_row(short, *cells)
        out.print(table)
    for note in dict.fromkeys(note for part in tables for note in part.notes):
        out.print(note, style="dim", highlight=False)
    out.print(f"report: {done.report}", highlight=False, soft_wrap=True)


def print_plan(result: dict[str, Any]) -> None:
    """Print the times of a plan, the paper's and the joint test's, and what they promise."""
    batch = result["batch"]
    if batch == 1:
        _print_times(result, 1, "time steps, with high probability")
    else:
        _print_times(result, 1, "steps, which are queries, with high probability")
        _print_times(result, batch, f"samples of each agent, {batch} in a step")
    for line in _promises(result, result["joint"]):
        out.print(line, highlight=False)


def _print_times(result: dict[str, Any], unit: int, title: str) -> None:
    """Print one table of times, counted in units of which a step has so many."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    names = ["class", "agents", "class test", "class known after"]
    for key in result["tau_model"]:
        names += [f"error <= {key}", "alone", "class known a priori"]
    rows = []
    for row, sharper in zip(result["classes"], result["joint"]["classes"], strict=True):
        rows.append([f"{row['mean']:g}", str(row["size"]), "paper", *_times(row, unit)])
        rows.append(["", "", "joint", *_times(sharper, unit)])
    for k, name in enumerate(names):
        # On a narrow terminal names break, numbers do not.
        words = [*name.split(), *(row[k] for row in rows)]
        table.add_column(name, justify="right", min_width=max(map(len, words)))
    for row in rows:
        table.add_row(*row)
    out.print(table)


def _promises(result: dict[str, Any], joint: dict[str, Any]) -> list[str]:
    """Return, in sentences, when collaboration pays and what is promised to whom."""
    if result["epsilon_threshold"] is None:
        pays = "All agents share one mean: collaboration always pays."
    else:
        below, sharper_below = (part["epsilon_threshold"] for part in (result, joint))
        pays = (
            "Collaboration pays for every agent when the error wanted is below "
            f"{below:.4f} (paper) or {sharper_below:.4f} (joint)."
        )
    alone = ", ".join(f"error <= {key} after {n}" for key, n in joint["tau_model"].items())
    return [
        pays,
        "Promised to each agent: its class, for good, with probability at least "
        f"1 - {result['risk']['zeta']:g}; its error with 1 - {result['risk']['tau']:g}.",
        "  paper: (eta-)restricted-round-robin, which compares intervals.",
        "  joint: the same with the class test of sharp.",
        f"  sharp itself: the classes of joint; of its own estimate no more than {alone} steps.",
    ]


def _times(row: dict[str, Any], unit: int) -> list[str]:
    kinds = ("tau", "tau_local", "tau_oracle")
    steps = [row["zeta"], *(row[kind][key] for key in row["tau"] for kind in kinds)]
    return [str(unit * n) for n in steps]


def note(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning as one line."""
    err.print(f"colme: note: {message}", markup=False, highlight=False, soft_wrap=True)


def print_questions(questions: dict[str, str]) -> None:
    """Print the names of studies and what they answer."""
    table = Table("name", "question", box=None)
    for name, question in questions.items():
        table.add_row(name, question)
    out.print(table)


def print_study(study: Study, paths: Iterable[Path]) -> None:
    """Print what a study has found, and where it is kept."""
    out.print(study.question, highlight=False)
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    rows, width = study.to_table(), 4
    for k, column in enumerate(study.columns):
        # On a narrow terminal names break, numbers do not.
        words = [word for text in (column, *(row[k] for row in rows)) for word in text.split()]
        least = max(map(len, words))
        table.add_column(column, justify="right" if k else "left", min_width=least)
        width += least + 1
    for cells in rows:
        table.add_row(*cells)
    out.print(table, width=max(out.width, width), crop=False)
    for note in study.notes:
        out.print(note, style="dim", highlight=False)
    out.print(study.answer, style="bold", highlight=False)
    for path in paths:
        out.print(f"kept {path}", highlight=False, soft_wrap=True)
