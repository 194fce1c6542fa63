"""`colme simulate`: an experiment from flags, from a file, or from both.

Lives here: its flags, and what they override.  Must not know how anything is computed or printed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from cyclopts import Group, Parameter

from colme import _terminal
from colme._terminal.simulating import print_summary, say_cost
from colme.cli.flags import ArrivalFlags, BoundFlags, ContactFlags, DriftFlags, Flags, ProblemFlags
from colme.experiment import Experiment
from colme.experiment.running import Running
from colme.neighbours import METHODS
from colme.trajectory import Trajectory, check_path

__all__ = ["RunningFlags", "simulate"]


_running = Group("Running", sort_key=2)
_output = Group("Output", sort_key=7)


@Parameter(name="*", group=_running)
@dataclass(frozen=True)
class RunningFlags(Flags):
    """What runs, and for how long.

    Attributes
    ----------
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
    within
        Pool a peer only once its mean is shown to be less than this away.
    epsilon
        Accuracies for the convergence times (0.1 0.01).
    seed
        Seed for the samples (1).

    Examples
    --------
    >>> RunningFlags(runs=3).over({"runs": 20, "horizon": 50})
    {'runs': 3, 'horizon': 50}
    """

    algorithm: tuple[str, ...] | None = None
    horizon: int | None = None
    runs: int | None = None
    delta: float | None = None
    eta: float | None = None
    within: float | None = None
    epsilon: tuple[float, ...] | None = None
    seed: int | None = None

    called: ClassVar[dict[str, str]] = {"algorithm": "algorithms", "epsilon": "epsilons"}


def simulate(
    experiment: Path | None = None,
    /,
    *,
    problem: ProblemFlags | None = None,
    running: RunningFlags | None = None,
    arrivals: ArrivalFlags | None = None,
    contacts: ContactFlags | None = None,
    bound: BoundFlags | None = None,
    drift: DriftFlags | None = None,
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

    Batches of samples; samples at random times, to agents that know few others; another bound;
    means that change half-way, with streams that notice:

        colme simulate --class-means 0.2 0.8 --agents 50 --sigma 0.5 --batch 10 --horizon 250

        colme simulate --class-means 0.2 0.8 --agents 50 --sigma 0.5 --rates-between 0.1 10
        --pattern poisson --contacts 10 --gossip

        colme simulate --class-means 0.2 0.8 --agents 50 --noise bernoulli
        --bound empirical-bernstein

        colme simulate --class-means 0.2 0.8 --agents 50 --sigma 0.5
        --change 1000 0 1 0.5 --restart

    Parameters
    ----------
    experiment
        TOML file: horizon, runs, delta, eta, within, epsilons, seed, algorithms, a table
        [problem], and if wanted [arrivals], [contacts], [bound] and [drift].
    threads
        Number of threads (all cores); the result does not depend on it.
    out
        Keep the trajectory as .nc (NetCDF) or .npz; with several algorithms the name must
        contain {algorithm}.
    json
        Print the summary as JSON.
    """
    content = {} if experiment is None else Experiment.read(experiment)
    content.setdefault("problem", {})
    tables: dict[str, Flags | None] = {
        "problem": problem,
        "arrivals": arrivals,
        "contacts": contacts,
        "bound": bound,
        "drift": drift,
    }
    content |= {
        name: flags.over(content.get(name)) for name, flags in tables.items() if flags is not None
    }
    chosen = Experiment.make(content if running is None else running.over(content))
    _run(chosen, _files(chosen.algorithms, out), threads, json)


def _run(chosen: Experiment, files: dict[str, Path], threads: int | None, as_json: bool) -> None:
    size = chosen.size(bool(files), threads)
    size.check()
    world, rows = chosen.world(), []
    if size.is_long:
        say_cost(size.bytes, Running(chosen, world, threads=threads).seconds())
    with _terminal.progress(len(chosen.algorithms)) as show:

        def progress(name: str, share: float) -> None:
            show(name, chosen.algorithms.index(name) + share)

        run = chosen.run if files else chosen.results
        for result in run(world=world, threads=threads, progress=progress):
            rows.append(world.summarise(result, chosen.epsilons))
            if isinstance(result, Trajectory) and files:
                result.save(files[result.name])
    if as_json:
        plain: dict[str, Any] = chosen.model_dump(mode="json", by_alias=True)
        _terminal.print_json({"experiment": plain, "results": rows})
    else:
        print_summary(chosen, rows, files)


def _files(names: tuple[str, ...], out: str | None) -> dict[str, Path]:
    """Return where each trajectory goes; refuse before any work what cannot be written after."""
    if out is None:
        return {}
    if len(names) > 1 and "{algorithm}" not in out:
        raise ValueError(
            f"with {len(names)} algorithms the output name must contain {{algorithm}}; "
            f"received {out!r}"
        )
    on_graphs = [name for name in names if name in METHODS]
    if on_graphs:
        raise ValueError(
            f"{', '.join(on_graphs)} leaves no trajectory, only what --json prints; drop --out"
        )
    files = {name: check_path(out.replace("{algorithm}", name)) for name in names}
    for path in files.values():
        if not path.parent.is_dir():
            raise ValueError(f"cannot write {str(path)!r}: no folder {str(path.parent)!r}")
        if path.is_dir():
            raise ValueError(f"cannot write {str(path)!r}: it is a folder")
    return files
