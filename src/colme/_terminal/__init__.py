"""What people see: progress bars, tables and notes in a terminal, one file per command.

Lives here: printing; what every command says is offered here, the rest by its file.  Must not know
flags or how anything is computed.
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

__all__ = ["err", "note", "out", "print_json", "print_pieces", "progress", "say_finished"]
