"""What people see: progress bars, tables and notes in a terminal, one file per command.

Lives here: printing.  Must not know flags or how anything is computed.
"""

from colme._terminal.console import (
    err,
    note,
    out,
    print_json,
    print_pieces,
    progress,
    say_finished,
)
from colme._terminal.estimating import print_finding
from colme._terminal.planning import print_plan
from colme._terminal.reproducing import print_reproduction
from colme._terminal.simulating import print_algorithms, print_summary
from colme._terminal.studying import print_questions, print_study
from colme._terminal.watching import (
    fleet_table,
    print_snapshots,
    say_how_to_watch,
    show_agents,
    show_fleet,
    showing,
)

__all__ = [
    "err",
    "fleet_table",
    "note",
    "out",
    "print_algorithms",
    "print_finding",
    "print_json",
    "print_pieces",
    "print_plan",
    "print_questions",
    "print_reproduction",
    "print_snapshots",
    "print_study",
    "print_summary",
    "progress",
    "say_finished",
    "say_how_to_watch",
    "show_agents",
    "show_fleet",
    "showing",
]
