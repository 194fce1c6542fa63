"""The command line: arguments in, one call, print.

Lives here: flags, progress bars and printing.  Must not know how anything is computed.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from cyclopts import App, CycloptsError, Group, Parameter
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import colme
from colme import paper, theory
from colme.experiment import Experiment, summarise
from colme.trajectory import check_path

__all__ = ["main"]

_out = Console()
_err = Console(stderr=True)

app = App(
    name="colme",
    help="Online collaborative personalised mean estimation.",
    version=colme.__version__,
    default_parameter=Parameter(consume_multiple=True, negative=()),
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)
_problem = Group("Problem", sort_key=1)
_running = Group("Running", sort_key=2)
_output = Group("Output", sort_key=3)

Many = tuple[float, ...]
Noise = Literal["gaussian", "bernoulli", "uniform", "beta"]


@app.command
def simulate(
    experiment: Path | None = None,
    /,
    *,
    class_means: Annotated[Many | None, Parameter(group=_problem)] = None,
    class_sizes: Annotated[tuple[int, ...] | None, Parameter(group=_problem)] = None,
    agents: Annotated[int | None, Parameter(group=_problem)] = None,
    noise: Annotated[Noise | None, Parameter(group=_problem)] = None,
    sigma: Annotated[float | None, Parameter(group=_problem)] = None,
    half_width: Annotated[float | None, Parameter(group=_problem)] = None,
    concentration: Annotated[float | None, Parameter(group=_problem)] = None,
    low: Annotated[float | None, Parameter(group=_problem)] = None,
    high: Annotated[float | None, Parameter(group=_problem)] = None,
    bias: Annotated[float | None, Parameter(group=_problem)] = None,
    problem_seed: Annotated[int | None, Parameter(group=_problem)] = None,
    algorithm: Annotated[tuple[str, ...] | None, Parameter(group=_running)] = None,
    horizon: Annotated[int | None, Parameter(group=_running)] = None,
    runs: Annotated[int | None, Parameter(group=_running)] = None,
    delta: Annotated[float | None, Parameter(group=_running)] = None,
    eta: Annotated[float | None, Parameter(group=_running)] = None,
    epsilon: Annotated[Many | None, Parameter(group=_running)] = None,
    seed: Annotated[int | None, Parameter(group=_running)] = None,
    threads: Annotated[int | None, Parameter(group=_running)] = None,
    out: Annotated[str | None, Parameter(group=_output)] = None,
    json: Annotated[bool, Parameter(group=_output)] = False,
) -> None:
    """Run algorithms on a problem and print when they identify classes and converge.

    The experiment comes from flags, from a TOML file, or from a file with flags that override
    it.  Examples:

        colme simulate --class-means 0.2 0.4 0.8 --agents 200 --sigma 0.5 --runs 5

        colme simulate --class-means 0.2 0.8 --agents 50 --noise bernoulli
        --algorithm local oracle aggressive-restricted-round-robin --json

        colme simulate experiment.toml --runs 100 --out run-{algorithm}.nc

    Parameters
    ----------
    experiment
        TOML file: horizon, runs, delta, eta, epsilons, seed, algorithms, and a [problem] table.
    class_means
        True mean of each class.
    class_sizes
        Number of agents in each class; or give --agents.
    agents
        Number of agents, each put into a class at random.
    noise
        How samples scatter: gaussian (default), bernoulli, uniform or beta.
    sigma
        Standard deviation of gaussian noise.
    half_width
        Half the range of uniform noise.
    concentration
        Of beta noise: larger scatters less.
    low, high
        Range of beta noise (0 and 1).
    bias
        Local bias: each agent's mean moves by up to this much from its class mean.
    problem_seed
        Seed for classes and biases that are drawn (0).
    algorithm
        One or more names; `colme algorithms` lists them (restricted-round-robin).
    horizon
        Number of time steps (2500).
    runs
        Number of runs with fresh samples (20).
    delta
        Total risk of each agent's guarantees (0.001).
    eta
        Agents whose means differ by at most this much count as one class.
    epsilon
        Accuracies for the convergence times (0.1 0.01).
    seed
        Seed for the samples (1).
    threads
        Number of threads (all cores); the result does not depend on it.
    out
        Keep the trajectory as .nc (NetCDF) or .npz; with several algorithms the name must
        contain {algorithm}.
    json
        Print the summary as JSON.
    """
    content = {} if experiment is None else Experiment.read(experiment)
    problem = content.get("problem", {})
    given = _given(
        class_means=class_means,
        class_sizes=class_sizes,
        n_agents=agents,
        noise=noise,
        sigma=sigma,
        half_width=half_width,
        concentration=concentration,
        low=low,
        high=high,
        bias=bias,
        seed=problem_seed,
    )
    if isinstance(problem, dict):  # otherwise the experiment says what is wrong with it
        content["problem"] = problem | given
    content |= _given(
        algorithms=algorithm,
        horizon=horizon,
        runs=runs,
        delta=delta,
        eta=eta,
        epsilons=epsilon,
        seed=seed,
    )
    chosen = Experiment.make(content)
    files = _files(chosen.algorithms, out)
    true_means = chosen.problem.build().true_means
    rows = []
    with _progress(len(chosen.algorithms)) as show:

        def progress(name: str, share: float) -> None:
            show(name, chosen.algorithms.index(name) + share)

        for trajectory in chosen.run(threads=threads, progress=progress):
            rows.append(summarise(trajectory, true_means, chosen.epsilons))
            if trajectory.name in files:
                trajectory.save(files[trajectory.name])
    if json:
        _print_json({"experiment": chosen.model_dump(mode="json"), "results": rows})
    else:
        _print_summary(chosen, rows, files)


@app.command
def plan(
    *,
    class_means: Many,
    sigma: float,
    class_sizes: tuple[int, ...] | None = None,
    agents: int | None = None,
    delta: float = 0.001,
    epsilon: Many = (0.1, 0.01),
    eta: float = 0.0,
    json: bool = False,
) -> None:
    """Tell from theory whether collaboration will pay and how long it will take.

    Example:

        colme plan --class-means 0.2 0.4 0.8 --class-sizes 67 67 66 --sigma 0.5

    Parameters
    ----------
    class_means
        True mean of each class, as far as you can guess.
    sigma
        Sub-Gaussian scale of one sample; for data in [low, high], (high - low) / 2.
    class_sizes
        Number of agents in each class; or give --agents.
    agents
        Number of agents, split evenly over the classes.
    delta
        Total risk of each agent's guarantees.
    epsilon
        Accuracies wanted.
    eta
        Agents whose means differ by at most this much count as one class.
    json
        Print the times as JSON.
    """
    sizes = _plan_sizes(len(class_means), class_sizes, agents)
    problem = colme.Problem.gaussian(class_means, class_sizes=sizes, sigma=sigma)
    situation = theory.Situation(problem.true_means, sigma, delta, eta)
    first = np.searchsorted(problem.labels, np.arange(len(class_means)))
    n_star = theory.needed_samples(situation)
    zeta = theory.identification_times(situation)
    thresholds = theory.epsilon_thresholds(situation)
    tau = {f"{e:g}": theory.convergence_times(situation, e) for e in epsilon}
    oracle = {f"{e:g}": theory.oracle_times(situation, e) for e in epsilon}
    local = {f"{e:g}": theory.local_time(situation, e) for e in epsilon}
    classes = [
        {
            "mean": class_means[k],
            "size": sizes[k],
            "n_star": int(n_star[a]),
            "zeta": int(zeta[a]),
            "tau": {key: int(times[a]) for key, times in tau.items()},
            "tau_local": local,
            "tau_oracle": {key: int(times[a]) for key, times in oracle.items()},
            "epsilon_threshold": _number(thresholds[a]),
        }
        for k, a in enumerate(first)
        if sizes[k] > 0
    ]
    result = {"epsilon_threshold": _number(thresholds.min()), "classes": classes}
    if json:
        _print_json(result)
    else:
        _print_plan(result)


@app.command
def reproduce(
    *,
    runs: int = 20,
    seed: int = 0,
    out: Path = Path("reproduction"),
    only: tuple[str, ...] | None = None,
    threads: int | None = None,
    timings: bool = False,
    json: bool = False,
) -> None:
    """Run every experiment of the paper and lay it beside the published numbers.

    Example:

        colme reproduce --runs 5 --only three-class local-long

    Parameters
    ----------
    runs
        Number of runs of each experiment, with fresh samples.
    seed
        Seed for the samples.
    out
        Folder for report.html, tables.md, tables.json and figures.
    only
        One or more of three-class, local-long, two-class, imperfect-separated,
        imperfect-overlapping, gap-sweep.
    threads
        Number of threads (all cores); the result does not depend on it.
    timings
        Print where the time went.
    json
        Print what tables.json holds.
    """
    start = time.perf_counter()
    try:
        with _progress() as progress:
            done = paper.reproduce(
                out,
                runs=runs,
                seed=seed,
                only=only,
                threads=threads,
                progress=progress,
                finished=_say_finished,
            )
    except KeyboardInterrupt:
        _err.print(f"experiments finished so far are kept in {out}", highlight=False)
        raise
    if json:
        _print_json(done.content)
    else:
        _print_reproduction(done)
    if timings:
        for what, seconds in (done.durations | {"all": time.perf_counter() - start}).items():
            _err.print(f"{seconds:6.1f} s  {what}", highlight=False)


@app.command
def algorithms(*, json: bool = False) -> None:
    """List the named algorithms, with one line of meaning each.

    Parameters
    ----------
    json
        Print them as JSON.
    """
    rows = [
        {
            "name": name,
            "query": algorithm.query.word,
            "class_test": algorithm.class_test.word,
            "weighting": algorithm.weighting.word,
            "meaning": algorithm.meaning,
        }
        for name, algorithm in colme.ALGORITHMS.items()
    ]
    if json:
        _print_json(rows)
        return
    table = Table("name", "meaning", box=None)
    for row in rows:
        table.add_row(row["name"], row["meaning"])
    _out.print(table)


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
    warnings.showwarning = _note
    try:
        app(arguments, exit_on_error=False, print_error=False, console=_out)
    except KeyboardInterrupt:
        _err.print("colme: interrupted")
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output, `head` for instance, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except MemoryError:
        _fail("not enough memory for this experiment: ask for fewer agents, runs or steps")
    except (CycloptsError, ValueError, OSError, ImportError) as error:
        _fail(str(error))
    sys.exit(0)


def _fail(message: str) -> None:
    line = " ".join(message.split())
    _err.print(f"colme: {line}", markup=False, highlight=False, soft_wrap=True)
    sys.exit(2)


def _note(message: Warning | str, *_: Any, **__: Any) -> None:
    _err.print(f"colme: note: {message}", markup=False, highlight=False, soft_wrap=True)


def _given(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _number(value: float) -> float | None:
    """Return the value for JSON, which has no infinity."""
    return float(value) if math.isfinite(value) else None


def _files(names: tuple[str, ...], out: str | None) -> dict[str, Path]:
    """Return where each trajectory goes; refuse before any work what cannot be written after."""
    if out is None:
        return {}
    if len(names) > 1 and "{algorithm}" not in out:
        raise ValueError(
            f"with {len(names)} algorithms the output name must contain {{algorithm}}; "
            f"received {out!r}"
        )
    files = {name: check_path(out.replace("{algorithm}", name)) for name in names}
    for path in files.values():
        if not path.parent.is_dir():
            raise ValueError(f"cannot write {str(path)!r}: no folder {str(path.parent)!r}")
        if path.is_dir():
            raise ValueError(f"cannot write {str(path)!r}: it is a folder")
    return files


def _plan_sizes(
    n_classes: int, class_sizes: tuple[int, ...] | None, agents: int | None
) -> tuple[int, ...]:
    if (class_sizes is None) == (agents is None):
        raise ValueError("give either --class-sizes or --agents")
    if class_sizes is not None:
        return class_sizes
    assert agents is not None
    share, rest = divmod(agents, n_classes)
    return tuple(share + (k < rest) for k in range(n_classes))


@contextmanager
def _progress(total: int = 1) -> Iterator[Callable[[str, float], None]]:
    """Show one bar for all the work, on a terminal only."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=_err, transient=True, disable=not _err.is_terminal)
    with bar:
        task = bar.add_task("drawing samples", total=total)

        def update(what: str, completed: float) -> None:
            bar.update(task, description=what, completed=completed)

        yield update


def _say_finished(name: str, seconds: float) -> None:
    _err.print(f"{name}: {seconds:.1f} s", highlight=False)


def _print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")


def _print_summary(
    experiment: Experiment, rows: list[dict[str, Any]], files: dict[str, Path]
) -> None:
    sizes = experiment.problem.build().class_sizes
    classes = ", ".join(
        f"{mean:g} ({size} agents)"
        for mean, size in zip(experiment.problem.class_means, sizes, strict=False)
    )
    _out.print(
        f"{sizes.sum()} agents in classes {classes}; {experiment.runs} runs of "
        f"{experiment.horizon} steps; delta = {experiment.delta:g}",
        highlight=False,
    )
    table = Table(title="average ± std (max) over agents and runs", title_justify="left")
    table.add_column("algorithm", no_wrap=True, min_width=max(map(len, experiment.algorithms)))
    table.add_column("class identified", justify="right")
    for epsilon in experiment.epsilons:
        table.add_column(f"error <= {epsilon:g}", justify="right")
    table.add_column("final error", justify="right")
    for row in rows:
        cells = [row["identification_time"]["all"]]
        cells += [by_class["all"] for by_class in row["convergence_time"].values()]
        table.add_row(row["algorithm"], *map(_cell, cells), f"{row['final_error']:.2g}")
    _out.print(table)
    for path in files.values():
        _out.print(f"kept {path}", highlight=False)


def _cell(spread: dict[str, float]) -> str:
    if spread["within_horizon"] == 0:
        return "not within the horizon"
    late = "" if spread["within_horizon"] == 1 else f", {spread['within_horizon']:.0%} of agents"
    return f"{spread['avg']:.0f} ± {spread['std']:.0f} ({spread['max']:.0f}){late}"


def _print_reproduction(done: paper.Reproduction) -> None:
    tables = done.main_tables
    for part in tables:
        table = Table(title=part.title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
        for k, name in enumerate(part.header):
            table.add_column(name, no_wrap=k == 0)
        for name, *cells in part.rows:
            # On a narrow terminal long names break where they can be read.
            short = name.replace("-round", "-\nround", 1) if _out.width < 110 else name
            table.add_row(short, *cells)
        _out.print(table)
    for note in dict.fromkeys(note for part in tables for note in part.notes):
        _out.print(note, style="dim", highlight=False)
    _out.print(f"report: {done.report}", highlight=False, soft_wrap=True)


def _print_plan(result: dict[str, Any]) -> None:
    classes = result["classes"]
    table = Table(title="time steps, with high probability", title_justify="left")
    table.add_column("class", justify="right")
    table.add_column("agents", justify="right")
    table.add_column("class known after", justify="right")
    for key in classes[0]["tau"]:
        table.add_column(f"error <= {key}", justify="right")
        table.add_column("alone", justify="right")
        table.add_column("class known a priori", justify="right")
    for row in classes:
        times = [
            str(row[kind][key]) for key in row["tau"] for kind in ("tau", "tau_local", "tau_oracle")
        ]
        table.add_row(f"{row['mean']:g}", str(row["size"]), str(row["zeta"]), *times)
    _out.print(table)
    threshold = result["epsilon_threshold"]
    _out.print(
        "All agents share one mean: collaboration always pays."
        if threshold is None
        else f"Collaboration pays for every agent when the error wanted is below {threshold:.4f}.",
        highlight=False,
    )
