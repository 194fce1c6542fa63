"""Compare the results of two checkouts, to the last bit, on a fixed set of calls.

``python benchmarks/same_results.py OLD NEW`` runs every call of `CALLS` twice, each time in a
process that imports `colme` from ``OLD/src`` or ``NEW/src``, and compares every array, number and
byte.  It prints one line per call and exits with 1 if any differs.  A call that raises gives the
kind of its error, and that is compared too.  Wording is free to change, so texts are not compared.

Only the public surface is used: the calls must mean the same in both checkouts.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Leaves = dict[str, Any]

SIMULATE = {
    **{
        f"simulate {name}": f"colme.simulate(SAMPLES, {name!r}, sigma=0.5, delta=0.05, "
        f"labels=LABELS{', eta=0.15' if name.startswith('eta') else ''})"
        for name in (
            "sharp",
            "robust",
            "round-robin",
            "restricted-round-robin",
            "soft-restricted-round-robin",
            "aggressive-restricted-round-robin",
            "local",
            "oracle",
            "eta-round-robin",
            "eta-restricted-round-robin",
        )
    },
    **{
        f"simulate {algorithm}, {what}": f"colme.simulate(SAMPLES, {algorithm!r}, labels=LABELS, "
        f"delta=0.05, {options})"
        for algorithm in ("sharp", "robust", "restricted-round-robin")
        for what, options in {
            "eta": "sigma=0.5, eta=0.2",
            "within": "sigma=0.5, eta=0.2, within=0.6",
            "one thread": "sigma=0.5, threads=1",
            "two threads": "sigma=0.5, threads=2",
            "batches": "sigma=0.5, arrivals=5",
            "arrivals of each agent": "sigma=0.5, arrivals=ARRIVALS",
            "arrivals of each run": "sigma=0.5, arrivals=np.stack([ARRIVALS, ARRIVALS[::-1]])",
            "sigma of each agent": "sigma=SIGMAS",
            "random contacts": "sigma=0.5, contacts=colme.Contacts.random(24, 6, seed=2)",
            "graph": "sigma=0.5, contacts=colme.Contacts.regular(24, 4, seed=3)",
            "tree": "sigma=0.5, contacts=colme.Contacts.tree(24, 3, seed=3)",
            "gossip": "sigma=0.5, contacts=colme.Contacts.random(24, 6, seed=2), "
            "gossip=colme.Gossip(every=3, seed=4)",
            "every 7": "sigma=0.5, record=colme.Record(every=7)",
            "counts only": "sigma=0.5, record=colme.Record(estimates=False)",
        }.items()
    },
    **{
        f"simulate sharp, likely counts, {what}": "colme.simulate(SAMPLES, sigma=0.5, "
        f"labels=LABELS, delta=0.05, record=colme.Record(likely_counts=True{options}"
        for what, options in {
            "every 7": ", every=7))",
            "alone": ", estimates=False, class_counts=False))",
            "gossip": "), contacts=colme.Contacts.random(24, 8), gossip=colme.Gossip())",
        }.items()
    },
    "simulate composed": "colme.simulate(SAMPLES, colme.Algorithm('round-robin', 'soft', 'joint', "
    "eta=0.1), sigma=0.5, labels=LABELS)",
    "simulate one run, no labels": "colme.simulate(SAMPLES[0], sigma=0.5)",
    "metrics": "metrics_of(colme.simulate(SAMPLES, sigma=0.5, delta=0.05, labels=LABELS))",
}

BOUNDS = {
    "laplace": "colme.bounds.Laplace(0.5, 0.01)",
    "normal mixture": "colme.bounds.NormalMixture(0.5, 200)",
    "stitched": "colme.bounds.Stitched(0.5, n_min=3)",
    "empirical bernstein": "colme.bounds.EmpiricalBernstein(-3, 4)",
    "betting": "colme.bounds.Betting(-3, 4, n_grid=30)",
    "student": "colme.bounds.Student(50)",
    "asymptotic": "colme.bounds.Asymptotic(50, burn_in=20)",
    "windowed": "colme.bounds.Windowed(colme.bounds.Laplace(0.5, 0.01), 60)",
    "windowed asymptotic": "colme.bounds.Windowed(colme.bounds.Asymptotic(50), 60, revisit=5)",
    "discounted": "colme.bounds.Discounted(colme.bounds.Laplace(0.5, 0.01), 0.97)",
    "discounted stitched": "colme.bounds.Discounted(colme.bounds.Stitched(0.5, n_min=3), 0.98)",
    "restarted": "colme.bounds.Restarted(colme.bounds.Laplace(0.5, 0.01))",
    "restarted student": "colme.bounds.Restarted(colme.bounds.Student(50), alarm=0.01)",
    "restarted by adwin": "colme.bounds.Restarted(colme.bounds.Laplace(0.5, 0.01), 0.01, 'adwin')",
}
"""Every bound, with wrappers around several."""

BOUND_CALLS = {
    **{f"stream {name}": f"stream_of({bound}, MOVED[0, :, 0])" for name, bound in BOUNDS.items()},
    **{
        f"simulate {algorithm}, {name}": f"colme.simulate(MOVED, {algorithm!r}, bound={bound}, "
        "labels=LABELS, delta=0.05)"
        for name, bound in BOUNDS.items()
        for algorithm in ("sharp", "restricted-round-robin")
    },
    "simulate a bound for each": "colme.simulate(SAMPLES, bound=[colme.bounds.Laplace(s, 0.01) "
    "for s in SIGMAS], labels=LABELS)",
    "risk": "[colme.bounds.split_risk(0.001, 200), [colme.bounds.spend_risk(0.01, n) "
    "for n in range(1, 40)], colme.bounds.tuned_prior(500, 0.05), "
    "colme.bounds.mixture_width(40, 7.5, 0.05, np.log), colme.bounds.range_sigma(-1, 3)]",
}

LOCKSTEP = {
    f"lockstep {algorithm}, {what}": f"colme.lockstep(SAMPLES[:, :60, :9], {algorithm!r}, "
    f"labels=LABELS[:9], delta=0.05, {options})"
    for algorithm in ("sharp", "robust", "soft-restricted-round-robin", "oracle")
    for what, options in {
        "plain": "sigma=0.5",
        "gossip": "sigma=0.5, contacts=colme.Contacts.random(9, 4), gossip=colme.Gossip(every=2)",
        "batches": "sigma=0.5, arrivals=4, eta=0.1",
        "student": "bound=colme.bounds.Student(50)",
        "restarted": "bound=colme.bounds.Restarted(colme.bounds.Laplace(0.5, 0.01))",
    }.items()
}

LARGE = {
    f"simulate_large {algorithm}, {what}": f"colme.simulate_large({problem}, {algorithm!r}, "
    f"horizon=90, runs=2, seed=5, delta=0.05, epsilons=(0.3, 0.1), {options})"
    for algorithm in ("sharp", "restricted-round-robin")
    for what, problem, options in (
        ("everyone", "PROBLEM", "block=90"),
        ("blocks", "PROBLEM", "block=17"),
        ("one thread", "PROBLEM", "block=17, threads=1"),
        ("contacts", "CROWD", "block=20, contacts=FEW"),
        ("gossip", "CROWD", "block=20, contacts=FEW, gossip=colme.Gossip(every=2)"),
        ("batch", "CROWD", "block=20, contacts=FEW, batch=3, eta=0.1"),
        ("changes", "CHANGING", "block=25, contacts=FEW"),
        (
            "window",
            "CHANGING",
            "block=25, contacts=FEW, bound=colme.bounds.Windowed(colme.bounds.Laplace(1.0, 0.01), "
            "30), times=[1, 30, 60, 90]",
        ),
    )
}

NEIGHBOURS = {
    f"simulate_neighbours {method}, {graph}": f"colme.simulate_neighbours(CROWD, {method!r}, "
    f"colme.Contacts.{contacts}, horizon=80, runs=2, seed=3, delta=0.05, epsilons=(0.3, 0.1))"
    for method in (
        "b-colme",
        "c-colme",
        "cl-colme",
    )
    for graph, contacts in {"regular": "regular(200, 6)", "tree": "tree(200, 3)"}.items()
}
NEIGHBOURS["simulate_neighbours every method"] = (
    "[colme.simulate_neighbours(CROWD, method, colme.Contacts.regular(200, 6), horizon=60, seed=3) "
    "for method in sorted(colme.METHODS)]"
)

TABLES = {
    **{
        f"estimate {algorithm}, {table}": f"estimates_of(estimate({data}, algorithm={algorithm!r}, "
        f"{options}))"
        for algorithm in (
            "sharp",
            "robust",
            "round-robin",
            "restricted-round-robin",
            "soft-restricted-round-robin",
            "aggressive-restricted-round-robin",
            "local",
        )
        for table, data, options in (
            ("equal counts", "EQUAL", ""),
            ("unequal counts", "UNEQUAL", ""),
            ("zeros and ones", "BINARY", "value_range=(0, 1)"),
            ("range", "UNEQUAL", "value_range=(-5, 6), delta=0.01"),
            ("sigma", "UNEQUAL", "sigma=1.0, eta=0.2"),
        )
    },
    "estimate two agents": "estimates_of(estimate(Summaries.of([1, 1, 2], [0.5, 1.5, 4.0]), "
    "sigma=1.0))",
    "estimate merged tables": "estimates_of(estimate(EQUAL + UNEQUAL))",
    "estimate eta classes": "estimates_of(estimate(EQUAL, algorithm='eta-round-robin', eta=0.5))",
    "compare": "[(score.name, score.rmse) if hasattr(score, 'rmse') else list(vars(score).values())"
    " for score in colme.data.compare_rows(*ROWS, n_splits=1, n_bootstrap=50).scores]",
    "command estimate": "command('estimate', 'table.csv', '--json', '--members', '3')",
    "command estimate over time": "command('estimate', 'table.csv', '--time', 'day', '--agent', "
    "'agent', '--value', 'value', '--json')",
    "command estimate, compared": "command('estimate', 'small.csv', '--compare', '--splits', '1', "
    "'--json')",
}

STREAMS = {
    **{
        f"OnlineMeans {what}": f"online_of(OnlineMeans({options}))"
        for what, options in {
            "student": "",
            "sigma": "sigma=1.0",
            "range": "value_range=(-8, 9), algorithm='robust'",
            "round-robin": "algorithm='restricted-round-robin', sigma=1.0, eta=0.2, max_agents=20",
            "restarted": "bound=colme.bounds.Restarted(colme.bounds.Laplace(1.0, 0.01))",
        }.items()
    },
    **{
        f"ColMEMeans {what}": f"learner_of(colme.data.ColMEMeans({options}))"
        for what, options in {
            "plain": "",
            "sigma": "sigma=1.0, delta=0.01",
            "range": "value_range=(-8, 9), eta=0.1",
        }.items()
    },
    **{
        f"Agent {what}": f"agents_of({options})"
        for what, options in {
            "sharp": "sigma=0.5, max_agents=6",
            "robust, capped": "sigma=0.5, max_agents=6, algorithm='robust', cap=2.0",
            "no maximum": "sigma=0.5",
            "room for four": "sigma=0.5, max_agents=6, room=4",
            "soft": "sigma=0.5, max_agents=6, algorithm='soft-restricted-round-robin'",
            **{
                name: f"bound={bound}, max_agents=6, within=0.5, eta=0.1"
                if "restart" not in name
                else f"bound={bound}, max_agents=6"
                for name, bound in BOUNDS.items()
            },
        }.items()
    },
}

COMMANDS = {
    "command simulate": "command('simulate', *WORLD, '--json')",
    "command simulate, beta noise": "command('simulate', '--class-means', '0.3', '0.7', '--agents',"
    " '12', '--noise', 'beta', '--concentration', '4', '--horizon', '60', '--runs', '2', '--json')",
    "command simulate, uniform noise, rates, gossip": "command('simulate', '--class-means', '0', "
    "'1', '--agents', '16', '--noise', 'uniform', '--half-width', '0.8', '--rates-between', '0.2', "
    "'4', '--pattern', 'poisson', '--contacts', '6', '--gossip', '--horizon', '80', '--runs', '2', "
    "'--algorithm', 'sharp', 'robust', '--json')",
    "command simulate, restart": "command('simulate', *WORLD, '--change', '60', '0', '1', '0.5', "
    "'--restart', '--json')",
    "command plan": "command('plan', '--class-means', '0.2', '0.4', '0.8', '--class-sizes', '67', "
    "'67', '66', '--sigma', '0.5', '--json')",
    "command plan, eta and batch": "command('plan', '--class-means', '0.2', '0.25', '0.8', "
    "'--agents', '90', '--sigma', '0.5', '--eta', '0.1', '--batch', '10', '--json')",
    "command reproduce": "command('reproduce', '--runs', '1', '--only', 'two-class', '--seed', "
    "'3', '--out', 'reproduction', '--json')",
    "command sweep": "sweep_of('sweep.toml')",
    "command sweep, gossip and drift": "sweep_of('drift.toml')",
    **{
        f"command fleet in step, {what}": f"fleet_of({options})"
        for what, options in {
            "sharp": "",
            "robust": "'--algorithm', 'robust', '--cap', '3'",
            "student": "'--estimated', '--delta', '0.1'",
        }.items()
    },
    "theory": "theory_of(colme.theory.Situation(MEANS, sigma=0.5, delta=0.001))",
    "theory, joint, batches": "theory_of(colme.theory.Situation(MEANS, sigma=0.5, delta=0.001, "
    "class_test='joint', batch=10))",
    "theory, eta": "theory_of(colme.theory.Situation(MEANS, sigma=0.5, delta=0.01, eta=0.05))",
}

CALLS: dict[str, str] = {
    **SIMULATE,
    **BOUND_CALLS,
    **LOCKSTEP,
    **LARGE,
    **NEIGHBOURS,
    **TABLES,
    **STREAMS,
    **COMMANDS,
}
"""Every call by its name, as an expression over the names of `inputs` and `helpers`."""

FILES = {
    "sweep.toml": """
algorithms = ["local", "sharp", "robust"]
horizon = 60
runs = 2

[problem]
class_means = [0.2, 0.8]
sigma = 0.4

[grid]
"problem.n_agents" = [6, 9]
seed = [1, 2]
""",
    "drift.toml": """
algorithms = ["restricted-round-robin", "sharp"]
horizon = 60
runs = 2

[problem]
class_means = [0.2, 0.8]
n_agents = 16
sigma = 0.4

[contacts]
size = 6
gossip = true

[drift]
window = 40

[grid]
delta = [0.1, 0.01]
""",
}

FREE = {"seconds", "messages_per_second", "delay", "alive", "messages", "timings", "environment"}
"""What a command prints that depends on the machine and the moment."""

WORLD = (
    "--class-means 0.2 0.8 --agents 20 --sigma 0.5 --horizon 120 --runs 2 "
    "--algorithm local oracle sharp robust"
)

ATTRIBUTES = (
    "estimates",
    "class_counts",
    "likely_counts",
    "times",
    "labels",
    "horizon",
    "sigma",
    "delta",
    "epsilons",
    "errors",
    "mean_errors",
    "wrong_shares",
    "convergence_times",
    "identification_times",
)
"""What is compared of a `Trajectory` or a `Digest`, where there is such a thing."""


def inputs() -> dict[str, Any]:
    """Return the numbers that go in, the same in both checkouts: drawn by numpy alone."""
    import colme  # noqa: PLC0415 - from the checkout that this process is about

    rng = np.random.default_rng(20_240_229)
    labels = np.arange(24) % 3
    means = np.array([0.2, 0.4, 1.0])[labels]
    samples = means + 0.5 * rng.standard_normal((2, 240, 24))
    moved = samples.copy()
    moved[:, 150:, ::4] += 1.5
    names = np.repeat(np.arange(30), rng.integers(2, 60, 30))
    values = np.array([0.0, 0.5, 2.0])[names % 3] + rng.standard_normal(names.size)
    crowd = colme.Problem.gaussian([0.0, 1.0], n_agents=200, sigma=1.0, bias=0.05, seed=4)
    changes = [colme.Change(30, range(0, 200, 5), 1.0), colme.Change(61, [1, 2, 3], -1.0)]
    return {
        "SAMPLES": samples,
        "MOVED": moved.clip(-3, 4),
        "LABELS": labels,
        "SIGMAS": np.linspace(0.5, 0.9, 24),
        "ARRIVALS": rng.poisson(1.2, (100, 24)).clip(0, 2),
        "MEANS": np.repeat([0.2, 0.25, 0.8], [20, 15, 25]),
        "ROWS": (names, values),
        "EQUAL": colme.data.Summaries.of(np.repeat(np.arange(30), 20), rng.normal(0, 1, 600)),
        "UNEQUAL": colme.data.Summaries.of(names, values.clip(-5, 6)),
        "BINARY": colme.data.Summaries.of(names, (values > 0.5).astype(float)),
        "PROBLEM": colme.Problem.gaussian([0.0, 1.0, 1.4], n_agents=40, sigma=1.0, seed=2),
        "CROWD": crowd,
        "CHANGING": colme.Problem(crowd.labels, crowd.true_means, crowd.noise, changes),
        "FEW": colme.Contacts.random(200, 8, seed=1),
        "WORLD": WORLD.split(),
    }


def helpers(place: Path) -> dict[str, Callable[..., Any]]:
    """Return the functions that calls may use beside the public surface; files go to `place`."""
    import colme  # noqa: PLC0415

    def metrics_of(trajectory: Any) -> list[Any]:
        metrics, truth = colme.metrics, np.array([0.2, 0.4, 1.0])[np.arange(24) % 3]
        return [
            metrics.identification_times(trajectory),
            metrics.convergence_times(trajectory, truth, epsilon=0.1),
        ]

    def stream_of(bound: Any, samples: NDArray[np.float64]) -> list[Any]:
        stream, found = bound.stream(), []
        for sample in samples.tolist():
            stream.update(sample)
            found.append([stream.mean, stream.count, stream.squares, *stream.interval])
        return [np.array(found), stream.epoch, stream.state()]

    def estimates_of(found: Any) -> dict[str, Any]:
        return {**found.columns, "noise": found.noise.scale}

    def online_of(means: Any) -> list[Any]:
        rng = np.random.default_rng(5)
        found = []
        for step in range(600):
            agent = int(rng.integers(9))
            means.learn_one(agent, float(rng.normal(agent % 3 + (step > 400) * (agent == 1))))
            found.append([means.predict_one(agent), *means.interval_one(agent)])
        return [found, sorted(means.class_one(0)), means.to_plain()]

    def learner_of(learner: Any) -> list[Any]:
        rng = np.random.default_rng(6)
        agents = rng.integers(0, 15, 500)
        values = agents % 3 + rng.standard_normal(500)
        learner.fit(agents[:300, None], values[:300])
        before = learner.predict(np.arange(17)[:, None])
        learner.partial_fit(agents[300:, None], values[300:])
        return [before, *learner.predict_interval(np.arange(15)[:, None])]

    def agents_of(within: float | None = None, eta: float = 0.0, **settings: Any) -> list[Any]:
        """Return the snapshots of six agents, two of them restored from JSON half-way."""
        rng, names = np.random.default_rng(7), list("abcdef")
        if within is not None:
            settings["algorithm"] = colme.Algorithm(
                "restricted-round-robin", "model", "joint", eta=eta, within=within
            )
        agents = {
            name: colme.Agent(name, delta=0.01, peers=names[: 2 + l % 2], **settings)
            for l, name in enumerate(names)
        }
        for step in range(90):
            for l, agent in enumerate(agents.values()):
                agent.perceive(float(np.clip(rng.normal(l % 2 + (step > 60) * (l == 3)), -3, 4)))
            for agent in agents.values():
                agent.meet(names[step % 6])
                peer = agent.choose_peer()
                if peer is not None:
                    agent.receive(agents[peer].answer(colme.Query(agent.name, peer)))
            if step == 45:
                for name in "bd":
                    text = agents[name].snapshot().to_json()
                    agents[name] = colme.Agent.restore(colme.Snapshot.from_json(text))
        return [
            [agent.estimate, agent.interval, agent.snapshot().to_json().encode()]
            for agent in agents.values()
        ]

    def command(*words: str) -> Any:
        ran = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "colme", *words],
            cwd=place,
            capture_output=True,
            check=False,
        )
        if ran.returncode:
            raise RuntimeError(ran.stderr.decode()[-2000:])
        return json.loads(ran.stdout)

    def sweep_of(spec: str) -> dict[str, Any]:
        import pyarrow.parquet  # noqa: PLC0415

        command("sweep", spec, "--workers", "1", "--json")
        table = pyarrow.parquet.read_table((place / spec).with_suffix(".parquet"))
        return {name: table[name].to_numpy(zero_copy_only=False) for name in table.column_names}

    def fleet_of(*options: str) -> Any:
        fleet = "--class-means 0.2 0.8 --agents 8 --sigma 0.3 --in-step --steps 60 --interval 0.001"
        found = command("fleet", *fleet.split(), "--processes", "1", "--json", *options)
        return {name: found[name] for name in ("agents", "samples", "steps", "classes")}

    def theory_of(situation: Any) -> list[Any]:
        theory = colme.theory
        return [
            theory.identification_times(situation),
            theory.shown_times(situation, 0.3),
            theory.class_sizes(situation),
            theory.needed_samples(situation),
            [theory.threshold(situation, n, m) for n, m in ((1, 5), (40, 7), (300, 300))],
            [
                time_of(situation, epsilon)
                for time_of in (
                    theory.local_time,
                    theory.model_time,
                    theory.oracle_times,
                    theory.full_information_times,
                    theory.convergence_times,
                )
                for epsilon in (0.1, 0.02)
            ],
            theory.epsilon_thresholds(situation),
        ]

    return {
        name: value
        for name, value in locals().items()
        if callable(value) and name not in ("place", "colme")
    }


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every array, number and byte string under a value, with where it is."""
    if isinstance(value, np.ndarray):
        yield path, value if value.dtype.kind in "iufb" else value.astype(str)
    elif isinstance(value, (int, float, bool, bytes, np.generic, type(None))):
        yield path, value
    elif isinstance(value, (list, tuple)) and _numbers(value) is not None:
        yield path, _numbers(value)
    elif not isinstance(value, str):
        for name, part in _parts(value):
            yield from leaves(part, f"{path}.{name}")


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a value consists of, by name."""
    if isinstance(value, Mapping):
        yield from ((str(key), value[key]) for key in sorted(value, key=str) if key not in FREE)
    elif isinstance(value, (list, tuple)):
        yield from ((str(place), part) for place, part in enumerate(value))
    else:
        found = ((name, getattr(value, name, None)) for name in ATTRIBUTES)
        yield from ((name, part) for name, part in found if part is not None)


def _numbers(value: list[Any] | tuple[Any, ...]) -> NDArray[Any] | None:
    """Return nested lists of numbers as one array; None if they hold anything else."""
    try:
        array = np.array(value)
    except ValueError:  # lists of lists of different lengths
        return None
    return array if array.dtype.kind in "iufb" else None


def run_calls(names: list[str]) -> dict[str, Leaves]:
    """Run calls in this process, and return what each gave."""
    warnings.simplefilter("ignore")
    import colme.data  # noqa: PLC0415

    found: dict[str, Leaves] = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        known: dict[str, Any] = {"np": np, "colme": colme, **inputs(), **helpers(place)}
        known |= {name: getattr(colme.data, name) for name in ("estimate", "Summaries")}
        known["OnlineMeans"] = colme.data.OnlineMeans
        for name, text in FILES.items():
            place.joinpath(name).write_text(text)
        agents, values = known["ROWS"]
        rows = [
            f"{a},{v!r},{d % 9}"
            for d, (a, v) in enumerate(zip(agents, values.tolist(), strict=True))
        ]
        place.joinpath("table.csv").write_text("\n".join(["agent,value,day", *rows]))
        few = [",".join(row.split(",")[:2]) for row in rows[:400]]
        place.joinpath("small.csv").write_text("\n".join(["agent,value", *few]))
        for name in names:
            begin = time.perf_counter()
            try:
                found[name] = dict(leaves(eval(CALLS[name], known)))
            except Exception as error:
                found[name] = {"error": type(error).__name__, "why": f"{error}"}
            found[name]["seconds"] = time.perf_counter() - begin
    return found


def results_of(checkout: Path, names: list[str]) -> dict[str, Leaves]:
    """Run calls in a process of a checkout."""
    source = checkout.resolve() / "src"
    if not (source / "colme" / "__init__.py").is_file():
        sys.exit(f"{checkout} is no checkout: it has no src/colme/__init__.py")
    path = [str(source), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, "--child", "-", "-"],
        input="\n".join(names).encode(),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONWARNINGS": "ignore"},
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, Leaves] = pickle.load(io.BytesIO(ran.stdout))
    return found


def difference(old: Any, new: Any) -> str | None:
    """Return how two leaves differ; None if they are equal to the last bit."""
    one, other = np.asarray(old), np.asarray(new)
    if type(old) is not type(new) or one.dtype != other.dtype or one.shape != other.shape:
        return f"{type(old).__name__} {one.dtype}{one.shape} became {other.dtype}{other.shape}"
    if one.tobytes() == other.tobytes():
        return None
    if one.dtype.kind not in "iuf":
        return "other bytes"
    apart = (one != other) & ~((one != one) & (other != other))  # noqa: PLR0124 - NaN
    if not apart.any():
        return None
    where = np.unravel_index(int(np.argmax(apart)), apart.shape)
    most = float(np.nanmax(np.abs(np.subtract(one, other, dtype=np.float64))))
    at = [int(place) for place in where]
    return f"{int(apart.sum())} of {apart.size} differ, by at most {most:.3g}, first at {at}"


def compared(old: Leaves, new: Leaves) -> list[str]:
    """Return every difference between what one call gave in two checkouts."""
    found = []
    for path in sorted((old.keys() | new.keys()) - {"seconds", "why"}):
        if path not in old or path not in new:
            found.append(f"{path} is only in {'NEW' if path in new else 'OLD'}")
        else:
            apart = difference(old[path], new[path])
            if apart is not None:
                found.append(f"{path}: {apart}")
    if found or "error" in old:
        sides = {"OLD": old, "NEW": new}
        found += [f"{who}: {side['why']}" for who, side in sides.items() if "why" in side]
    return found


def main() -> int:
    """Compare, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", metavar="OLD", type=Path, help="a checkout: its src is imported")
    parser.add_argument("new", metavar="NEW", type=Path, help="another checkout")
    parser.add_argument("--only", default="", help="run only calls whose name contains this")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        found = run_calls(sys.stdin.read().splitlines())
        sys.stdout.buffer.write(pickle.dumps(found))
        return 0
    names = [name for name in CALLS if asked.only in name]
    if not names:
        sys.exit(f"no call has {asked.only!r} in its name; all are in CALLS of {__file__}")
    with ThreadPoolExecutor(2) as pool:  # side by side: one process for each checkout
        old, new = pool.map(results_of, (asked.old, asked.new), (names, names))
    report = {name: compared(old[name], new[name]) for name in names}
    failed = [name for name in names if "error" in old[name] and "error" in new[name]]
    different = [name for name in names if report[name] and name not in failed]
    different += [n for n in failed if old[n]["error"] != new[n]["error"]]
    if asked.json:
        seconds = {name: [old[name]["seconds"], new[name]["seconds"]] for name in names}
        print(json.dumps({"differences": {n: report[n] for n in different}, "seconds": seconds}))
        return bool(different)
    for name in names:
        word = "differs" if name in different else "fails in both" if name in failed else "equal"
        times = f"{old[name]['seconds']:6.2f} s {new[name]['seconds']:6.2f} s"
        print(f"{word:13s} {len(old[name]) - 1:4d} values {times}  {name}")
        for line in chain(report[name][:5], ["..."] if len(report[name]) > 5 else []):
            print(f"              {line}")
    print(f"{len(names)} calls: {len(different)} differ, {len(failed)} fail in both")
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())
