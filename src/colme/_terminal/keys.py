"""What `colme keys` prints.

Lives here: its table and sentences.  Must not know flags or how keys are made.
"""

from __future__ import annotations

from shlex import quote
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from colme._terminal.console import out, say


def print_authority(made: dict[str, Any]) -> None:
    """Print where a fleet's authority is and what comes next."""
    say(
        f"The authority of fleet {made['fleet']} is in {made['folder']}, valid for "
        f"{made['days']} days."
    )
    say("Keep that folder private, and keep a copy: no device needs it, all depend on it.")
    say(f"Next: colme keys issue {quote(made['folder'])} NAME [NAME ...]")


def print_issued(made: dict[str, Any]) -> None:
    """Print the folders made for devices and where they go."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in ("device", "folder"):
        table.add_column(column, overflow="fold")
    for name, folder in made["issued"].items():
        table.add_row(name, folder)
    out.print(table)
    say(f"Valid for {made['days']} days. Copy each folder to its device, and to no other.")
    if made["hosts"]:
        say(f"Other machines can connect to them as {', '.join(made['hosts'])}.")
    else:
        say("They can connect to others; let other machines connect to them with --host.")
    if made["members"] > len(made["issued"]):
        say("Copy the file members again to the router, too: it lists whom the router lets in.")
