"""What `colme simulate` and `colme algorithms` print.

Lives here: their tables and sentences.  Must not know flags or how anything is computed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from colme._terminal.console import err, out
from colme.experiment import Experiment
from colme.problem import Problem

_N_STEPS_SHOWN = 4


def print_algorithms(rows: list[dict[str, str]]) -> None:
    """Print the named algorithms with their meanings."""
    table = Table("name", "meaning", box=None)
    for row in rows:
        table.add_row(row["name"], row["meaning"])
    out.print(table)


def say_cost(n_bytes: int, seconds: float) -> None:
    """Print what a long experiment is going to take."""
    err.print(
        f"this takes about {_duration(seconds)} and {n_bytes / 1e9:.2g} GB of memory",
    )


def _duration(seconds: float) -> str:
    for unit, size in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds"


def print_summary(
    experiment: Experiment, problem: Problem, rows: list[dict[str, Any]], files: dict[str, Path]
) -> None:
    """Print when the algorithms of an experiment identified classes and converged."""
    sizes = np.bincount(problem.labels)
    means = zip(experiment.problem.class_means, sizes, strict=False)
    classes = ", ".join(f"{mean:g} ({size} agents)" for mean, size in means)
    out.print(
        f"{sizes.sum()} agents in classes {classes}; {experiment.runs} runs of "
        f"{experiment.horizon} steps; delta = {experiment.delta:g}",
    )
    if "samples_per_step" in rows[0]:
        out.print(f"{rows[0]['samples_per_step']:.3g} samples per step and agent")
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
        cells = [identified and identified["all"], *times, *errors]
        table.add_row(row["algorithm"], *map(_cell, cells))
    out.print(table)
    for row in rows:
        if "error_over_time" in row:
            out.print(_errors_table(row["algorithm"], row["error_over_time"]))
    # What is guaranteed of classes, if their bounds hold at all times at once.
    asymptotic = experiment.bound is not None and experiment.bound.kind == "asymptotic"
    promise = ", while the class identified above is, with probability 1 - delta/8"
    promise = "" if experiment.drift is not None or asymptotic else promise
    for row in rows:
        if "likely_identification_time" in row:
            cell = _cell(row["likely_identification_time"]["all"])
            out.print(
                f"{row['algorithm']}: likely class right from {cell} on; nothing is guaranteed of "
                f"it{promise}",
            )
    for path in files.values():
        out.print(f"kept {path}")


def _errors_table(name: str, errors: dict[str, Any]) -> Table:
    """Return errors over agents at a few steps, for a simulation that kept no trajectory."""
    table = Table(title=f"{name}: error over agents", title_justify="left")
    wrong = [f"> {epsilon}" for epsilon in errors["wrong_share"]]
    for column in ("step", "mean", "median", "99 %", "largest", *wrong):
        table.add_column(column, justify="right", no_wrap=True)
    last = len(errors["step"]) - 1
    for i in sorted({last * part // _N_STEPS_SHOWN for part in range(1, _N_STEPS_SHOWN + 1)}):
        cells = [_cell(errors[key][i]) for key in ("mean", "median", "q99", "max")]
        shares = [f"{share[i]:.2%}" for share in errors["wrong_share"].values()]
        table.add_row(str(errors["step"][i]), *cells, *shares)
    return table


def _cell(value: dict[str, float] | float | None) -> str:
    """Return an error, or the spread of times, in a few characters."""
    if not isinstance(value, dict):
        return "-" if value is None else f"{value:.2g}"
    if value["within_horizon"] == 0:
        return "not within the horizon"
    late = "" if value["within_horizon"] == 1 else f", {value['within_horizon']:.0%} of agents"
    return f"{value['avg']:.0f} ± {value['std']:.0f} ({value['max']:.0f}){late}"
