"""The command line: arguments in, one call, print.

Lives here: flags and exit codes, one command per file.  Must not know how anything is computed or
printed.
"""

from colme.cli.app import main, run

__all__ = ["main", "run"]
