"""Changes: what they do to a fleet, and which way of forgetting helps.

Lives here: the study.  Must not know how it is written down.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colme.algorithm import ClassTest
from colme.experiment import ChangeSpec, DriftSpec, Scenario
from colme.experiment.bounds import bounds_of
from colme.problem import Problem
from colme.results import Record
from colme.studies.study import Study
from colme.studies.work import Work, curve_of, three_classes
from colme.summary import views_of

QUESTION = "What happens when some agents change, and which way of forgetting helps?"
PARTS = 10
"""Simulations."""
AFTER = (100, 400, 800)
"""Steps after the change at which errors are looked at."""

_EVERY = 10
_EPSILON = 0.01
_PLAIN, _RESTARTED = "nothing", "restarts"
_ALONE, _INFORMED = "alone", "alone, told of the change"

Array = NDArray[np.float64]


def measure(
    work: Work,
    n_agents: int = 200,
    horizon: int = 2500,
    change: int = 1500,
    after: Sequence[int] = AFTER,
) -> Study:
    """Return how a fleet takes it when a third of one class moves to the mean of another.

    Examples
    --------
    >>> study = measure(Work(runs=1), n_agents=12, horizon=200, change=100, after=(20, 50))
    >>> study.columns[1:4]
    ('fleet before', 'fleet 20 after', 'fleet 50 after')
    """
    moves = ChangeSpec.make({"at": change, "from": 0, "to": 2, "share": 1 / 3})
    times = Record(every=_EVERY).times(horizon, 1, 1, 1)
    moving = work.scenario(three_classes(n_agents, changes=(moves,)), horizon)
    errors = _alone(moving, times, change)
    rows: list[Any] = [
        _cells(name, moving.problem, errors[name], times, change, after) for name in errors
    ]
    for name, drift in _variants().items():
        moving = work.scenario(three_classes(n_agents, changes=(moves,)), horizon, drift=drift)
        calm = work.scenario(
            three_classes(n_agents), min(horizon, 1000), drift=drift, epsilons=(_EPSILON,)
        )
        record = Record(every=_EVERY, class_counts=False)
        trajectory = work.simulate(name, moving, record=record)
        assert trajectory.estimates is not None
        targets = moving.problem.true_means_at(trajectory.times)
        errors[name] = np.abs(trajectory.estimates - targets)
        record = Record(class_counts=False)
        still = calm.measure(work.simulate(f"{name}, no change", calm, record=record))
        cells = _cells(name, moving.problem, errors[name], times, change, after)
        small = float(still.convergence_times[_EPSILON].mean())
        rows.append((*cells[:-3], *_alarms(moving, change), small))
    fleet = {name: each.mean(axis=(0, 2)) for name, each in errors.items()}
    return work.study(
        "drift",
        QUESTION,
        _answer({str(cells[0]): cells for cells in rows}, after),
        (_columns(after), rows),
        (
            [curve_of(name, times, error) for name, error in fleet.items()],
            "time step",
            "distance to true mean",
            "y",
        ),
        *_notes(moving.problem, change, work.runs),
    )


def _columns(after: Sequence[int]) -> tuple[str, ...]:
    fleet = [f"fleet {steps} after" for steps in after]
    moved = [f"moved {steps} after" for steps in after]
    found = ["fleet back after", "change found after", "restarted for nothing"]
    calm = f"error below {_EPSILON:g} if nothing changes"
    return ("what is done", "fleet before", *fleet, *moved, *found, calm)


def _notes(moving: Problem, change: int, runs: int) -> tuple[str, ...]:
    notes = [
        f"{_moved(moving).sum()} of {moving.n_agents} agents move from mean 0.2 to 0.8 at step "
        f"{change}.  Fleet, moved: mean error of all agents, of those that move; before: over the "
        "100 steps before the change.",
        "Back: steps until the fleet's error stays below twice that before.  Restarted for "
        f"nothing: restarts without a change, of {runs * moving.n_agents} streams.",
    ]
    if importlib.util.find_spec("river") is None:
        notes.append("adwin was left out: pip install 'colme[drift]'.")
    return tuple(notes)


def _variants() -> dict[str, DriftSpec | None]:
    variants = {
        _PLAIN: None,
        "window of 500": DriftSpec(window=500),
        "discount of 0.998": DriftSpec(discount=0.998),
        _RESTARTED: DriftSpec(restart=True),
    }
    if importlib.util.find_spec("river") is not None:
        variants["restarts, adwin"] = DriftSpec(restart=True, detector="adwin")
    return variants


def _moved(problem: Problem) -> NDArray[np.bool_]:
    """Return which agents change."""
    moved = np.zeros(problem.n_agents, np.bool_)
    moved[[agent for change in problem.changes for agent in change.agents]] = True
    return moved


def _alone(scenario: Scenario, times: NDArray[np.int64], change: int) -> dict[str, Array]:
    """Return the errors [run, time, agent] of agents alone, that know of the change or not."""
    samples, problem = scenario.samples, scenario.problem
    means = samples.cumsum(axis=1) / np.arange(1, samples.shape[1] + 1)[:, None]
    restarted, moved = means.copy(), _moved(problem)
    later = samples[:, change - 1 :, moved]
    counts = np.arange(1, later.shape[1] + 1)[:, None]
    restarted[:, change - 1 :, moved] = later.cumsum(axis=1) / counts
    targets = problem.true_means_at(times)
    return {
        name: np.abs(each[:, times - 1] - targets)
        for name, each in ((_ALONE, means), (_INFORMED, restarted))
    }


def _cells(
    name: str,
    problem: Problem,
    errors: Array,
    times: NDArray[np.int64],
    change: int,
    after: Sequence[int],
) -> tuple[Any, ...]:
    fleet, moved = errors.mean(axis=(0, 2)), errors[:, :, _moved(problem)].mean(axis=(0, 2))
    before = float(fleet[(times < change) & (times >= change - 100)].mean())
    then = [int(np.searchsorted(times, change + steps)) for steps in after]
    wrong = np.flatnonzero((fleet > 2 * before) & (times >= change))
    back = None if wrong.size and wrong[-1] == times.size - 1 else 0
    if back is not None and wrong.size:
        back = int(times[wrong[-1] + 1]) - change
    both = [float(errors[i]) for errors in (fleet, moved) for i in then]
    return (name, before, *both, back, None, None, None)


def _alarms(scenario: Scenario, change: int) -> tuple[Any, Any]:
    """Return after how many steps movers restart on average, and how many restarts are false."""
    drift, problem = scenario.experiment.drift, scenario.problem
    if drift is None or not drift.restart:
        return None, None
    bound = bounds_of(problem, ClassTest.JOINT, None, drift)["bound"]
    moved, delays, n_false = _moved(problem), [], 0
    for run in scenario.samples:
        epochs = views_of(run, [bound] * problem.n_agents, with_squares=False).epoch
        new = epochs[moved, change - 1 :] > epochs[moved, change - 2][:, None]
        found = new.any(axis=1)
        delays += new[found].argmax(axis=1).tolist()
        n_false += int(epochs[:, -1].sum()) - int(found.sum())
    return float(np.mean(delays)) if delays else None, n_false


def _answer(rows: dict[str, tuple[Any, ...]], after: Sequence[int]) -> str:
    k = 1 + 2 * len(after)
    restarted, plain = rows[_RESTARTED], rows[_PLAIN]
    against = [cells[k] / rows[_INFORMED][k] for cells in (restarted, plain)]
    cost = restarted[-1] / plain[-1] - 1
    back = [
        f"is back below twice its error after {cells[k + 1]} steps"
        if cells[k + 1] is not None
        else "is not back below twice its error at the end"
        for cells in (restarted, plain)
    ]
    return (
        f"With restarts the fleet {back[0]}, without them it {back[1]}; {after[-1]} steps after "
        f"the change the error of those that moved is {against[0]:.2f} times that of an agent "
        f"alone that was told of the change, without restarts {against[1]:.2g} times; if nothing "
        f"changes, restarts cost {cost:.1%} of the steps to {_EPSILON:g}."
    )
