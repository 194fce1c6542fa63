"""What `colme simulate` and `colme algorithms` print.

Lives here: their tables and sentences.  Must not know flags or how anything is computed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from colme._terminal.console import err, out
from colme.experiment import Experiment

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
    experiment: Experiment,
    sizes: NDArray[np.int64],
    rows: list[dict[str, Any]],
    files: dict[str, Path],
) -> None:
    """Print when the algorithms of an experiment identified classes and converged."""
    classes = ", ".join(
        f"{mean:g} ({size} agents)"
        for mean, size in zip(experiment.problem.class_means, sizes, strict=False)
    )
    out.print(
        f"{sizes.sum()} agents in classes {classes}; {experiment.runs} runs of "
        f"{experiment.horizon} steps; delta = {experiment.delta:g}",
    )
    for row in rows[:1]:
        if "samples_per_step" in row:
            out.print(f"{row['samples_per_step']:.3g} samples per step and agent")
    out.print(_summary_table(experiment, rows))
    for row in rows:
        if "error_over_time" in row:
            out.print(_errors_table(row["algorithm"], row["error_over_time"]))
    for row in rows:
        if "likely_identification_time" in row:
            cell = _cell(row["likely_identification_time"]["all"])
            out.print(
                f"{row['algorithm']}: likely class right from {cell} on; nothing is guaranteed of "
                f"it{_promise(experiment)}",
            )
    for path in files.values():
        out.print(f"kept {path}")


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


def _errors_table(name: str, errors: dict[str, Any]) -> Table:
    """Return errors over agents at a few steps, for a simulation that kept no trajectory."""
    table = Table(title=f"{name}: error over agents", title_justify="left")
    wrong = [f"> {epsilon}" for epsilon in errors["wrong_share"]]
    for column in ("step", "mean", "median", "99 %", "largest", *wrong):
        table.add_column(column, justify="right", no_wrap=True)
    last = len(errors["step"]) - 1
    for i in sorted({last * part // _N_STEPS_SHOWN for part in range(1, _N_STEPS_SHOWN + 1)}):
        cells = [_error(errors[key][i]) for key in ("mean", "median", "q99", "max")]
        shares = [f"{share[i]:.2%}" for share in errors["wrong_share"].values()]
        table.add_row(str(errors["step"][i]), *cells, *shares)
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
