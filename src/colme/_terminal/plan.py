"""What `colme plan` prints.

Lives here: its tables and sentences.  Must not know flags or how anything is computed.
"""

from __future__ import annotations

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from colme._terminal.console import out


def print_plan(result: dict[str, Any]) -> None:
    """Print the times of a plan, the paper's and those of sharper tests, and what they promise."""
    batch = result["batch"]
    if batch == 1:
        _print_times(result, 1, "time steps, with high probability")
    else:
        _print_times(result, 1, "steps, which are queries, with high probability")
        _print_times(result, batch, f"samples of each agent, {batch} in a step")
    for line in _promises(result, result["paired"]):
        out.print(line)


def _print_times(result: dict[str, Any], unit: int, title: str) -> None:
    """Print one table of times, in units of which one step has `unit`."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    names = ["class", "agents", "class test", "class known after"]
    for key in result["tau_model"]:
        names += [f"error <= {key}", "alone", "class known a priori"]
    rows = []
    for k, row in enumerate(result["classes"]):
        rows.append([f"{row['mean']:g}", str(row["size"]), "paper", *_times(row, unit)])
        rows += [
            ["", "", test, *_times(result[test]["classes"][k], unit)]
            for test in ("joint", "paired")
        ]
    for k, name in enumerate(names):
        # On a narrow terminal names break, numbers do not.
        words = [*name.split(), *(row[k] for row in rows)]
        table.add_column(name, justify="right", min_width=max(map(len, words)))
    for row in rows:
        table.add_row(*row)
    out.print(table)


def _promises(result: dict[str, Any], paired: dict[str, Any]) -> list[str]:
    """Return, in sentences, when collaboration pays and what is promised to whom."""
    if result["epsilon_threshold"] is None:
        pays = "All agents share one mean: collaboration always pays."
    else:
        below, sharper_below = (part["epsilon_threshold"] for part in (result, paired))
        pays = (
            "Collaboration pays for every agent when the error wanted is below "
            f"{below:.4f} (paper) or {sharper_below:.4f} (paired)."
        )
    alone = ", ".join(f"error <= {key} after {n}" for key, n in paired["tau_model"].items())
    return [
        pays,
        "Promised to each agent: its class, for good, with probability at least "
        f"1 - {result['risk']['zeta']:g}; its error with 1 - {result['risk']['tau']:g}.",
        "  paper: (eta-)restricted-round-robin, which compares intervals.",
        "  joint: the same, testing two streams together; paired: the class test of sharp.",
        f"  sharp itself: the classes of paired; of its own estimate no more than {alone} steps.",
    ]


def _times(row: dict[str, Any], unit: int) -> list[str]:
    kinds = ("tau", "tau_local", "tau_oracle")
    steps = [row["zeta"], *(row[kind][key] for key in row["tau"] for kind in kinds)]
    return [str(unit * n) for n in steps]
