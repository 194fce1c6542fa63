"""A sweep: an experiment, and which of its keys take which values.

Lives here: a file with its grid → the points, all of them checked.  Must not know how anything is
run or kept.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pydantic import ValidationError

import colme
from colme._settings import explain, read_toml
from colme.experiment import Experiment
from colme.sweep.grid import combine, replace_keys

FORMAT = 1
"""Of journals and results: raised when what stands in them changes."""

_SHOWN = 5
"""Most points listed by number when they share an error."""

_FAULTS = 10
"""Most errors listed."""

_LARGEST = 2**63 - 1


@dataclass(frozen=True)
class Point:
    """One experiment of a sweep.

    Attributes
    ----------
    number
        Its place, from 0.
    values
        What was chosen for it, by the dotted names of the keys.
    experiment
        The experiment with these values.

    Examples
    --------
    >>> problem = {"class_means": [0.2, 0.8], "sigma": 0.5}
    >>> grid = {"problem.n_agents": [10, 20], "delta": [0.1, 0.01]}
    >>> print(Sweep.make({"problem": problem, "grid": grid}).points[1])
    point 1 (problem.n_agents = 10, delta = 0.01)
    """

    number: int
    values: dict[str, Any]
    experiment: Experiment

    def __str__(self) -> str:
        return f"point {self.number}{_values_text(self.values)}"

    @property
    def content(self) -> dict[str, Any]:
        """The whole experiment as plain values, which are sent to the process that measures it."""
        return self.experiment.model_dump(mode="json", by_alias=True)


@dataclass(frozen=True)
class Sweep:
    """All points of a grid, in the order of the file: its first key changes slowest.

    Attributes
    ----------
    keys
        The dotted names of the keys that take several values.
    points
        One for each combination of their values.
    source
        The content of the file, as JSON.

    Examples
    --------
    >>> problem = {"class_means": [0.2, 0.8], "sigma": 0.5}
    >>> grid = {"problem": {"n_agents": [10, 20]}, "delta": [0.1, 0.01]}
    >>> sweep = Sweep.make({"problem": problem, "grid": grid})
    >>> [tuple(point.values.values()) for point in sweep.points]
    [(10, 0.1), (10, 0.01), (20, 0.1), (20, 0.01)]
    >>> Sweep.make({"problem": problem, "grid": {"problem.n_agents": [10, -1], "delta": [0.1, 2]}})
    Traceback (most recent call last):
    ValueError: points 1, 3 (delta = 2): delta: Input should be less than 1; received 2; \
points 2, 3 (problem.n_agents = -1): problem.n_agents: Input should be greater than or equal to 1; \
received -1
    """

    keys: tuple[str, ...]
    points: tuple[Point, ...]
    source: str

    @classmethod
    def read(cls, path: str | Path) -> Sweep:
        """Return the sweep of a TOML file; a graph is looked for beside the file."""
        return cls.make(read_toml(path), Path(path).parent)

    @classmethod
    def make(cls, content: dict[str, Any], folder: str | Path = ".") -> Sweep:
        """Return the sweep that nested plain values describe; report all errors at once."""
        base = {key: value for key, value in content.items() if key not in ("grid", "points")}
        choices = combine(content.get("grid"), content.get("points"))
        points: list[Point] = []
        faults: dict[str, list[int]] = {}
        for number, values in enumerate(choices):
            try:
                whole = _with_absolute_graph(replace_keys(base, values), Path(folder))
                experiment = Experiment.model_validate(whole)
                experiment.check()
                _check_numbers({"seed": experiment.seed} | values)
                points.append(Point(number, values, experiment))
            except ValueError as error:
                for words in _explain_each(error):
                    faults.setdefault(words, []).append(number)
        if faults:
            lines = [f"{_points_text(choices, where)}: {fault}" for fault, where in faults.items()]
            more = [f"and {len(lines) - _FAULTS} more"] if len(lines) > _FAULTS else []
            raise ValueError("; ".join(lines[:_FAULTS] + more))
        return cls(tuple(choices[0]), tuple(points), json.dumps(content))

    @property
    def epsilons(self) -> tuple[float, ...]:
        """Every accuracy that some point asks for, as they appear."""
        each = (epsilon for point in self.points for epsilon in point.experiment.epsilons)
        return tuple(dict.fromkeys(each))

    @cached_property
    def digest(self) -> str:
        """A digest of everything the results follow from, the version of colme included."""
        digest = hashlib.sha256(json.dumps([FORMAT, colme.__version__, self.keys]).encode())
        graphs: dict[str, str] = {}
        for point in self.points:
            content = point.content
            if content["contacts"] and content["contacts"]["graph"]:
                # What a graph says counts, and not where it lies.
                name = content["contacts"]["graph"]
                if name not in graphs:
                    graphs[name] = hashlib.sha256(Path(name).read_bytes()).hexdigest()
                content["contacts"]["graph"] = graphs[name]
            digest.update(json.dumps([point.values, content], sort_keys=True).encode())
        return digest.hexdigest()


def _explain_each(error: ValueError) -> list[str]:
    """Return what is wrong with a point, one by one, since several points may share an error."""
    if not isinstance(error, ValidationError):
        return [str(error)]
    alone: list[Any] = [SimpleNamespace(errors=partial(list, [fault])) for fault in error.errors()]
    return [explain(each) for each in alone]


def _points_text(choices: list[dict[str, Any]], numbers: list[int]) -> str:
    """Return which points these are, with the values that all of them share."""
    if len(numbers) == len(choices):
        return "all points"
    first, *others = (choices[number] for number in numbers)
    shared = {
        key: value for key, value in first.items() if all(other[key] == value for other in others)
    }
    shown = ", ".join(map(str, numbers[:_SHOWN])) + (", ..." if len(numbers) > _SHOWN else "")
    return f"point{'s' * bool(others)} {shown}{_values_text(shared)}"


def _check_numbers(values: dict[str, Any]) -> None:
    """Raise ValueError if a column of whole numbers could not hold one of them."""
    for key, value in values.items():
        if isinstance(value, int) and abs(value) > _LARGEST:
            raise ValueError(f"{key}: a sweep keeps numbers up to ±{_LARGEST}; received {value}")


def _values_text(values: dict[str, Any]) -> str:
    pairs = (f"{key} = {json.dumps(value, default=str)}" for key, value in values.items())
    return f" ({', '.join(pairs)})" if values else ""


def _with_absolute_graph(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the content with an absolute path of its graph: workers run in other folders."""
    contacts = content.get("contacts")
    if not isinstance(contacts, dict) or not isinstance(contacts.get("graph"), str):
        return content
    graph = str((folder / contacts["graph"]).resolve())
    return content | {"contacts": contacts | {"graph": graph}}
