"""`colme estimate`: personalised means of a table.

Lives here: its flags, and which files may be written.  Must not know how anything is computed or
printed.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from colme import _terminal
from colme._check import non_negative_int
from colme._files import replacing
from colme._terminal.estimates import print_result
from colme.data.export import check_folder, check_target, write
from colme.data.report import write_report
from colme.data.request import EstimateRequest, find_out
from colme.data.result import EstimateResult

_table = Group("Table", sort_key=1)
_noise = Group("Estimates", sort_key=2)
_more = Group("Questions", sort_key=3)
_output = Group("Output", sort_key=4)


@Parameter(name="*", group=_table)
@dataclass(frozen=True)
class TableFlags:
    """Which rows.

    Attributes
    ----------
    agent
        Column that says whose row it is; guessed if only one can be meant.
    value
        Column of the numbers; guessed likewise.
    time
        Column of times, numbers or dates: shows also how estimates evolved and who changed.
    skip_bad_rows
        Leave out rows that cannot be used, and count them, instead of stopping.
    max_agents
        More agents than this are taken for a wrong column.
    """

    agent: str | None = None
    value: str | None = None
    time: str | None = None
    skip_bad_rows: bool = False
    max_agents: int = 1_000_000


@Parameter(name="*", group=_noise)
@dataclass(frozen=True)
class EstimateFlags:
    """How means are estimated.

    Attributes
    ----------
    sigma
        Standard deviation of one sample, if known; by default noise is estimated.
    value_range
        Lowest and highest possible value, if known: --range 0 1.
    delta
        Risk of each agent's intervals and class tests.
    eta
        Agents whose means differ by at most this much count as one class.
    algorithm
        One of those that `colme algorithms` lists.
    """

    sigma: float | None = None
    value_range: Annotated[tuple[float, float] | None, Parameter(name="--range")] = None
    delta: float = 0.05
    eta: float | None = None
    algorithm: str = "sharp"


@Parameter(name="*", group=_more)
@dataclass(frozen=True)
class QuestionFlags:
    """What else is asked.

    Attributes
    ----------
    members
        Agents whose class is printed, and who is indistinguishable from them.
    compare
        Compare with other methods, by their errors on rows held out.
    n_splits
        How often rows are split for the comparison.
    seed
        Seed for these splits.
    """

    members: tuple[str, ...] = ()
    compare: bool = False
    n_splits: Annotated[int, Parameter(name="--splits")] = 5
    seed: int = 0


def estimate(
    *files: Annotated[str, Parameter(allow_leading_hyphen=True)],
    table: TableFlags | None = None,
    estimates: EstimateFlags | None = None,
    questions: QuestionFlags | None = None,
    top: Annotated[int, Parameter(group=_output)] = 20,
    out: Annotated[Path | None, Parameter(group=_output)] = None,
    html: Annotated[Path | None, Parameter(group=_output)] = None,
    json: Annotated[bool, Parameter(group=_output)] = False,
) -> None:
    """Estimate each agent's mean from a table with one row per sample, with help of its peers.

    Prints who is like whom, the classes found, and the agents with the highest means.  Examples:

        colme estimate sales.csv

        colme estimate sales.csv --agent store --value sales --compare

        colme estimate sales.csv --range 0 20 --delta 0.01 --out means.parquet

        colme estimate sales.csv --time day --members north south --html report.html

        colme estimate sales.csv --sigma 1.5 --top 5 --json

    Parameters
    ----------
    files
        CSV, TSV or JSON (compressed or not), Parquet or Arrow; patterns such as 'data/*.csv'; - for
        standard input.
    top
        How many agents are printed, from the highest estimate on.
    out
        Keep the estimates of all agents as .csv, .tsv, .parquet, .json, .jsonl, .arrow or .feather.
    html
        Write a report with pictures.
    json
        Print everything as JSON.
    """
    for name in files:
        if name.startswith("-") and name != "-":
            raise ValueError(f"unknown flag {name!r}: colme estimate --help lists those there are")
    request = EstimateRequest(
        files,
        **vars(table or TableFlags()),
        **vars(estimates or EstimateFlags()),
        **vars(questions or QuestionFlags()),
    )
    non_negative_int("top", top)
    targets = [check_target(out)] if out is not None else []
    targets += [check_folder(html)] if html is not None else []
    if targets:
        _check_overwriting(files, targets)
    with _terminal.progress(len(request.steps), "reading") as progress:
        result = find_out(request, progress)
    if targets:
        _write_files(result, out, html)
    if json:
        _terminal.print_pieces(result.to_json())
    else:
        print_result(result, top, targets)


def _write_files(result: EstimateResult, out: Path | None, html: Path | None) -> None:
    """Write the files asked for: all of them, or none if one fails."""
    with ExitStack() as stack:
        if out is not None:
            write(result.estimates, stack.enter_context(replacing(out)))
        if html is not None:
            write_report(
                stack.enter_context(replacing(html)),
                result.estimates,
                reading=result.reading,
                comparison=result.comparison,
                replay=result.replay,
            )


def _check_overwriting(files: tuple[str, ...], targets: list[Path]) -> None:
    """Refuse to write over a table that is read."""
    for target in (path.absolute() for path in targets):
        for name in files:
            if target.resolve() == Path(name).resolve() or target.match(str(Path(name).absolute())):
                raise ValueError(f"{target.name!r} is among the files read: write to another")
