"""`colme simulate`: an experiment from flags, from a file, or from both.

Lives here: its flags, and what they override.  Must not know how anything is computed or printed.
"""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from colme import _terminal
from colme._terminal.simulation import print_summary, say_cost
from colme.cli.experiment_flags import (
    BOUND,
    OUTPUT,
    RUNNING,
    TABLES,
    ArrivalFlags,
    BoundFlags,
    ContactFlags,
    DriftFlags,
    ProblemFlags,
    RunFlags,
)
from colme.experiment import Experiment, summarise
from colme.experiment.duration import estimate_seconds
from colme.neighbours import METHODS
from colme.results import Trajectory, check_path

_flat = Parameter(name="*")
_Range = Annotated[tuple[float, float], Parameter(name="--range", group=BOUND)]


def simulate(
    experiment: Path | None = None,
    /,
    *,
    problem: Annotated[ProblemFlags | None, _flat] = None,
    running: Annotated[RunFlags | None, _flat] = None,
    arrivals: Annotated[ArrivalFlags | None, _flat] = None,
    contacts: Annotated[ContactFlags | None, _flat] = None,
    bound: Annotated[BoundFlags | None, _flat] = None,
    drift: Annotated[DriftFlags | None, _flat] = None,
    sample_range: _Range | None = None,
    threads: Annotated[int | None, Parameter(group=RUNNING)] = None,
    out: Annotated[str | None, Parameter(group=OUTPUT)] = None,
    json: Annotated[bool, Parameter(group=OUTPUT)] = False,
) -> None:
    """Run algorithms on a problem and print when they identify classes and converge.

    The experiment comes from flags, from a TOML file, or from a file with flags that override it.
    Examples, the last with random arrivals, few contacts and means that change half-way:

        colme simulate --class-means 0.2 0.8 --agents 50 --sigma 0.5 --algorithm oracle sharp

        colme simulate experiment.toml --runs 100 --out run-{algorithm}.nc

        colme simulate --class-means 0.2 0.8 --agents 50 --noise bernoulli
        --bound empirical-bernstein --json

        colme simulate --class-means 0.2 0.8 --agents 50 --sigma 0.5 --relays 4

        colme simulate --class-means 0.2 0.8 --agents 50 --sigma 0.5 --rates-between 0.1 10
        --pattern poisson --contacts 10 --gossip --change 1000 0 1 0.5 --restart

    Parameters
    ----------
    experiment
        TOML file: horizon, runs, delta, eta, within, relays, epsilons, seed, algorithms, a
        table [problem], and if wanted [arrivals], [contacts], [bound] and [drift].
    sample_range
        Smallest and largest possible sample, for empirical-bernstein and betting (that of the
        noise).
    threads
        Number of threads (all cores); the result does not depend on it.
    out
        Keep the trajectory as .nc (NetCDF) or .npz; with several algorithms the name must
        contain {algorithm}.
    json
        Print the summary as JSON.
    """
    content = {"problem": {}} | ({} if experiment is None else Experiment.read(experiment))
    if sample_range is not None:
        bound = (bound or {}) | dict(zip(("low", "high"), sample_range, strict=True))
    tables = zip(TABLES.items(), (problem, arrivals, contacts, bound, drift), strict=True)
    for (name, schema), flags in tables:
        if flags:
            content[name] = schema.override(content.get(name), flags)
    chosen = Experiment.make(Experiment.override(content, running or {}))
    _run(chosen, {} if out is None else _files(chosen.algorithms, out), threads, json)


def _run(chosen: Experiment, files: dict[str, Path], threads: int | None, as_json: bool) -> None:
    size = chosen.size(bool(files), threads)
    if size.is_large:
        size.check()
    scenario, rows = chosen.build(size), []
    if size.is_long:
        say_cost(size.bytes, estimate_seconds(scenario, threads))
    seen = _terminal.err.is_terminal
    with _terminal.progress(parts=chosen.algorithms) if seen else nullcontext() as show:
        for name in chosen.algorithms:
            result = scenario.run(name, threads=threads, progress=show and partial(show, name))
            rows.append(summarise(scenario.measure(result)))
            if isinstance(result, Trajectory) and files:
                result.save(files[name])
    if as_json:
        plain: dict[str, Any] = chosen.model_dump(mode="json", by_alias=True)
        _terminal.print_json({"experiment": plain, "results": rows})
    else:
        print_summary(chosen, scenario.problem, rows, files)


def _files(names: tuple[str, ...], out: str) -> dict[str, Path]:
    """Return the file of each trajectory; refuse before any work what cannot be written after."""
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
