"""The command line: arguments in, one call, print.

Lives here: flags and exit codes.  Must not know how anything is computed or printed.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, CycloptsError, Group, Parameter

import colme
from colme import _terminal, paper, theory
from colme.experiment import Experiment, summarise
from colme.trajectory import check_path

__all__ = ["main"]

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
        --algorithm local oracle sharp --json

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
        One or more names; `colme algorithms` lists them (sharp).
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
    with _terminal.progress(len(chosen.algorithms)) as show:

        def progress(name: str, share: float) -> None:
            show(name, chosen.algorithms.index(name) + share)

        for trajectory in chosen.run(threads=threads, progress=progress):
            rows.append(summarise(trajectory, true_means, chosen.epsilons))
            if trajectory.name in files:
                trajectory.save(files[trajectory.name])
    if json:
        _terminal.print_json({"experiment": chosen.model_dump(mode="json"), "results": rows})
    else:
        _terminal.print_summary(chosen, rows, files)


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
    batch: int = 1,
    json: bool = False,
) -> None:
    """Tell from theory whether collaboration will pay and how long it will take.

    Times of the paper's class test stand above those of the joint test, which sharp uses.  They
    are in steps: each brings one query, and one sample or a batch of them.  For example:

        colme plan --class-means 0.2 0.4 0.8 --class-sizes 67 67 66 --sigma 0.5

        colme plan --class-means 0.2 0.25 0.8 --agents 90 --sigma 0.5 --eta 0.1 --json

        colme plan --class-means 0.2 0.8 --agents 50 --sigma 0.5 --batch 10

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
    batch
        Number of samples each agent takes between two queries.
    json
        Print the times, in steps, as JSON: the paper's, and under "joint" the same for the joint
        test.
    """
    sizes = _plan_sizes(len(class_means), class_sizes, agents)
    result = theory.plan(class_means, sizes, sigma, delta, epsilon, eta, batch)
    if json:
        _terminal.print_json(result)
    else:
        _terminal.print_plan(result)


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
        with _terminal.progress() as progress:
            done = paper.reproduce(
                out,
                runs=runs,
                seed=seed,
                only=only,
                threads=threads,
                progress=progress,
                finished=_terminal.say_finished,
            )
    except KeyboardInterrupt:
        _terminal.err.print(f"experiments finished so far are kept in {out}", highlight=False)
        raise
    if json:
        _terminal.print_json(done.content)
    else:
        _terminal.print_reproduction(done)
    if timings:
        for what, seconds in (done.durations | {"all": time.perf_counter() - start}).items():
            _terminal.err.print(f"{seconds:6.1f} s  {what}", highlight=False)


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
        _terminal.print_json(rows)
    else:
        _terminal.print_algorithms(rows)


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
    except (CycloptsError, ValueError, OSError, ImportError) as error:
        _fail(str(error))
    sys.exit(0)


def _fail(message: str) -> None:
    line = " ".join(message.split())
    _terminal.err.print(f"colme: {line}", markup=False, highlight=False, soft_wrap=True)
    sys.exit(2)


def _given(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


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
