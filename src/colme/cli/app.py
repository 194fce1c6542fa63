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

COMMANDS = {
    "estimate:estimate": "Estimate each agent's mean from a table with one row per sample, "
    "with help of its peers.",
    "simulate:simulate": "Run algorithms on a problem and print when they identify classes and "
    "converge.",
    "sweep:sweep": "Run an experiment for every combination of some of its keys, into one table of "
    "results.",
    "plan:plan": "Tell from theory whether collaboration will pay and how long it will take.",
    "study:study": "Answer one question with a table, a figure and a sentence.",
    "reproduce:reproduce": "Run every experiment of the paper and lay it beside the published "
    "numbers.",
    "algorithms:algorithms": "List the named algorithms, with one line of meaning each.",
    "node:node": "Run one agent on this device: it takes samples, asks peers, and is asked.",
    "node:router": "Run a router: where clients of a large fleet meet, and devices that cannot "
    "be reached.",
    "keys:keys": "Make an authority for a fleet, and keys for its devices.",
    "fleet:fleet": "Run many agents on this machine, in real processes over a real network, and "
    "watch them.",
    "watch:watch": "Watch a running fleet: what each agent knows, as it publishes it.",
}
"""Where each command is, and what it does: imported when used, since some need extras."""


def application(arguments: list[str]) -> App:
    """Return the command line; of the command that is called, it knows more than one sentence.

    Examples
    --------
    >>> len(list(application([]))) >= len(COMMANDS)
    True
    """
    app = App(
        name="colme",
        help="Online collaborative personalised mean estimation.",
        version=colme.__version__,
        default_parameter=Parameter(consume_multiple=True, negative=()),
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    names = [place.partition(":")[2] for place in COMMANDS]
    first = arguments[0] if arguments else "--help"
    if first not in (*names, "--help", "-h", "--version"):
        # The library would import every command to say which ones there are.
        raise ValueError(f"unknown command {first!r}; choose from {', '.join(sorted(names))}")
    for (place, what), name in zip(COMMANDS.items(), names, strict=True):
        app.command(f"colme.cli.{place}", help=None if name == first else what)
    return app


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
        given = sys.argv[1:] if arguments is None else arguments
        application(given)(given, exit_on_error=False, print_error=False, console=_terminal.out)
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
    except OverflowError as error:
        _fail(f"a number is too large: {error}")
    except (CycloptsError, ValueError, OSError) as error:
        _fail(str(error))
    sys.exit(0)


def run() -> None:
    """Be the program `colme`: what `main` does, and an end that no thread can spoil.

    Examples
    --------
    >>> callable(run)
    True
    """
    try:
        main()
    except SystemExit as stop:
        background = sys.modules.get("colme.live.background")  # of those who have used the network
        if background is not None:
            background.exit_if_busy(int(stop.code or 0))
        raise


def _fail(message: str) -> None:
    line = " ".join(message.split())
    _terminal.err.print(f"colme: {line}", soft_wrap=True)
    sys.exit(2)
