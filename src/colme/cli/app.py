"""The command line as a whole: the list of commands, and how it ends.

Lives here: the application, `main` and exit codes.  Must not know the flags of any command.
"""

from __future__ import annotations

import os
import sys
import warnings

from cyclopts import App, CycloptsError, Parameter

import colme
from colme import _terminal
from colme.cli.algorithms import algorithms
from colme.cli.estimate import estimate
from colme.cli.plan import plan
from colme.cli.reproduce import reproduce
from colme.cli.simulate import simulate
from colme.cli.study import study

__all__ = ["main"]

app = App(
    name="colme",
    help="Online collaborative personalised mean estimation.",
    version=colme.__version__,
    default_parameter=Parameter(consume_multiple=True, negative=()),
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)
for command in (estimate, simulate, plan, study, reproduce, algorithms):
    app.command(command)
# These are imported when they are used, since their libraries are an extra.
for path, help_ in (
    ("colme.cli.living:node", "Run one agent on this device."),
    ("colme.cli.living:router", "Run a router, where the nodes of a large fleet meet."),
    ("colme.cli.keys:keys", "Make the keys of a fleet."),
    ("colme.cli.fleet:fleet", "Run a demonstration fleet on this machine."),
    ("colme.cli.watch:watch", "Watch a running fleet."),
):
    app.command(path, help=help_)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: 0 on success, 2 for bad input, 130 when interrupted.

    Examples
    --------
    >>> try:
    ...     main(["--version"])
    ... except SystemExit as stop:
    ...     print(stop.code)
    0.1.0
    0
    """
    warnings.showwarning = _terminal.note
    try:
        app(arguments, exit_on_error=False, print_error=False, console=_terminal.out)
    except KeyboardInterrupt:
        _terminal.err.print("colme: interrupted")
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output, `head` for instance, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except MemoryError:
        _fail("not enough memory for this experiment: ask for fewer agents, runs or steps")
    except ImportError as error:
        _fail(str(error.__cause__ or error))
    except (CycloptsError, ValueError, OSError) as error:
        _fail(str(error))
    sys.exit(0)


def _fail(message: str) -> None:
    line = " ".join(message.split())
    _terminal.err.print(f"colme: {line}", markup=False, highlight=False, soft_wrap=True)
    sys.exit(2)
