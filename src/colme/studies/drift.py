"""Changes: what they do to a fleet, and which way of forgetting helps.

Lives here: the study.  Must not know how it is written down.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colme import metrics
from colme.algorithm import ClassTest
from colme.bounds import Bound, Discounted, Restarted, Windowed, usual_bound
from colme.problem import Problem
from colme.studies.study import Study
from colme.studies.work import DELTA, SIGMA, Work, curve_of, three_classes
from colme.trajectory import Record
from colme.views import views_of

__all__ = ["AFTER", "PARTS", "QUESTION", "measure"]

QUESTION = "What happens when some agents change, and which way of forgetting helps?"
PARTS = 10
"""Simulations."""
AFTER = (100, 400, 800)
"""Steps after the change at which errors are looked at."""

_EVERY = 10
_EPSILON = 0.01
_PLAIN, _RESTARTED = "nothing", "restarts"
_ALONE, _TOLD = "alone", "alone, told of the change"

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
    problem = three_classes(n_agents)
    moving = problem.moving(0, to=2, share=1 / 3, time=change)
    samples, calm = work.draw(moving, horizon), work.draw(problem, min(horizon, 1000))
    times = Record(every=_EVERY).times(horizon, 1, 1, 1)
    errors = _alone(samples, moving, times, change)
    rows = [_cells(name, moving, errors[name], times, change, after) for name in errors]
    for name, bound in _variants().items():
        errors[name] = _errors(work, name, bound, moving, samples)
        cells = _cells(name, moving, errors[name], times, change, after)
        still = _calm_time(work, name, bound, problem, calm)
        rows.append((*cells[:-3], *_alarms(bound, moving, samples, change), still))
    fleet = {name: each.mean(axis=(0, 2)) for name, each in errors.items()}
    return Study(
        name="drift",
        question=QUESTION,
        answer=_answer({str(cells[0]): cells for cells in rows}, after),
        columns=_columns(after),
        rows=tuple(rows),
        curves=tuple(curve_of(name, times, error) for name, error in fleet.items()),
        x_label="time step",
        y_label="distance to true mean",
        log="y",
        notes=_notes(moving, change, work.runs),
        runs=work.runs,
        seed=work.seed,
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


def _variants() -> Mapping[str, Bound]:
    plain = usual_bound(ClassTest.JOINT, SIGMA, DELTA)
    variants: dict[str, Bound] = {
        _PLAIN: plain,
        "window of 500": Windowed(plain, 500),
        "discount of 0.998": Discounted(plain, 0.998),
        _RESTARTED: Restarted(plain),
    }
    if importlib.util.find_spec("river") is not None:
        variants["restarts, adwin"] = Restarted(plain, detector="adwin")
    return variants


def _moved(problem: Problem) -> NDArray[np.bool_]:
    """Return which agents change."""
    moved = np.zeros(problem.n_agents, np.bool_)
    moved[[agent for change in problem.changes for agent in change.agents]] = True
    return moved


def _alone(
    samples: Array, problem: Problem, times: NDArray[np.int64], change: int
) -> dict[str, Array]:
    """Return the errors [run, time, agent] of agents alone; told of the change, movers restart."""
    means = samples.cumsum(axis=1) / np.arange(1, samples.shape[1] + 1)[:, None]
    told, moved = means.copy(), _moved(problem)
    later = samples[:, change - 1 :, moved]
    told[:, change - 1 :, moved] = later.cumsum(axis=1) / np.arange(1, later.shape[1] + 1)[:, None]
    targets = problem.true_means_at(times)
    return {
        name: np.abs(each[:, times - 1] - targets)
        for name, each in ((_ALONE, means), (_TOLD, told))
    }


def _errors(work: Work, name: str, bound: Bound, problem: Problem, samples: Array) -> Array:
    record = Record(every=_EVERY, class_counts=False)
    trajectory = work.simulate(name, samples, bound=bound, record=record)
    assert trajectory.estimates is not None
    return np.abs(trajectory.estimates - problem.true_means_at(trajectory.times))


def _calm_time(work: Work, name: str, bound: Bound, problem: Problem, samples: Array) -> float:
    """Return when errors are small if nothing changes."""
    record = Record(class_counts=False)
    trajectory = work.simulate(f"{name}, no change", samples, bound=bound, record=record)
    times = metrics.convergence_times(trajectory, problem.true_means, _EPSILON)
    return float(times.mean())


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


def _alarms(bound: Bound, problem: Problem, samples: Array, change: int) -> tuple[Any, Any]:
    """Return after how many steps movers restart on average, and how many restarts are false."""
    if not isinstance(bound, Restarted):
        return None, None
    moved, delays, n_false = _moved(problem), [], 0
    for run in samples:
        epochs = views_of(run, [bound] * problem.n_agents, with_squares=False).epochs
        new = epochs[moved, change - 1 :] > epochs[moved, change - 2][:, None]
        found = new.any(axis=1)
        delays += new[found].argmax(axis=1).tolist()
        n_false += int(epochs[:, -1].sum()) - int(found.sum())
    return float(np.mean(delays)) if delays else None, n_false


def _answer(rows: dict[str, tuple[Any, ...]], after: Sequence[int]) -> str:
    k = 1 + 2 * len(after)
    restarted, plain = rows[_RESTARTED], rows[_PLAIN]
    against = [cells[k] / rows[_TOLD][k] for cells in (restarted, plain)]
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
