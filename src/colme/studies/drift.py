"""Changes: what they do to a fleet, and which way of forgetting helps.

Lives here: the study.  Must not know how it is written down.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colme.algorithm import ClassTest
from colme.experiment import ChangeSpec, DriftSpec, Scenario
from colme.experiment.bounds import bounds_of
from colme.problem import Problem
from colme.results import Record
from colme.studies.finding import Row, Study
from colme.studies.work import Work, curve_of, three_classes
from colme.summary import views_of

QUESTION = "What happens when some agents change, and which way of forgetting helps?"
PARTS = 10
"""Simulations."""
AFTER = (100, 400, 800)
"""Steps after the change at which errors are looked at."""

_EVERY = 10
_EPSILON = 0.01
_BACK, _CALM = "fleet back after", f"error below {_EPSILON:g} if nothing changes"
_HAS_ADWIN = importlib.util.find_spec("river") is not None
_VARIANTS: Mapping[str, DriftSpec | None] = {
    "nothing": None,
    "window of 500": DriftSpec(window=500),
    "discount of 0.998": DriftSpec(discount=0.998),
    "restarts": DriftSpec(restart=True),
    **({"restarts, adwin": DriftSpec(restart=True, detector="adwin")} if _HAS_ADWIN else {}),
}

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
    problem = three_classes(n_agents, changes=(moves,))
    moving = work.scenario(problem, horizon)
    looks = _Looks(Record(every=_EVERY).times(horizon, 1, 1, 1), change, _moved(moving.problem))
    errors = _alone(moving, looks)
    rows: dict[str, Row] = {name: looks.row(name, each, after) for name, each in errors.items()}
    for name, drift in _VARIANTS.items():
        moving = work.scenario(problem, horizon, drift=drift)
        record = Record(every=_EVERY, class_counts=False)
        trajectory = work.simulate(name, moving, record=record)
        errors[name] = trajectory.errors(moving.problem.true_means_at(trajectory.times))
        tables: dict[str, Any] = {"drift": drift, "epsilons": (_EPSILON,)}
        calm = work.scenario(three_classes(n_agents), min(horizon, 1000), **tables)
        still = work.simulate(f"{name}, no change", calm, record=Record(class_counts=False))
        times = calm.measure(still).convergence_times[_EPSILON]
        row = looks.row(name, errors[name], after)
        rows[name] = row | _alarms(moving, change) | {_CALM: float(times.mean())}
    fleet = {name: each.mean(axis=(0, 2)) for name, each in errors.items()}
    curves = [curve_of(name, looks.times, error) for name, error in fleet.items()]
    return work.study(
        _answer(rows, after[-1]),
        rows.values(),
        (curves, "time step", "distance to true mean", "y"),
        f"{looks.moved.sum()} of {n_agents} agents move from mean 0.2 to 0.8 at step "
        f"{change}.  Fleet, moved: mean error of all agents, of those that move; before: over the "
        "100 steps before the change.",
        "Back: steps until the fleet's error stays below twice that before.  Restarted for "
        f"nothing: restarts without a change, of {work.runs * n_agents} streams.",
        *([] if _HAS_ADWIN else ["adwin was left out: pip install 'colme[drift]'."]),
    )


def _moved(problem: Problem) -> NDArray[np.bool_]:
    """Return which agents change."""
    moved = np.zeros(problem.n_agents, np.bool_)
    moved[[agent for change in problem.changes for agent in change.agents]] = True
    return moved


class _Looks(NamedTuple):
    """The steps at which errors are looked at, the step of the change, and who moves."""

    times: NDArray[np.int64]
    change: int
    moved: NDArray[np.bool_]

    def row(self, name: str, errors: Array, after: Sequence[int]) -> dict[str, Any]:
        """Return what errors[run, time, agent] show."""
        times, change = self.times, self.change
        fleet, moved = errors.mean(axis=(0, 2)), errors[:, :, self.moved].mean(axis=(0, 2))
        before = float(fleet[(times < change) & (times >= change - 100)].mean())
        row: dict[str, Any] = {"what is done": name, "fleet before": before}
        for who, error in (("fleet", fleet), ("moved", moved)):
            for steps in after:
                then = np.searchsorted(times, change + steps)
                row[f"{who} {steps} after"] = float(error[then])
        wrong = np.flatnonzero((fleet > 2 * before) & (times >= change))
        row[_BACK] = 0
        if wrong.size:
            at_end = wrong[-1] == times.size - 1
            row[_BACK] = None if at_end else int(times[wrong[-1] + 1]) - change
        return row


def _alone(scenario: Scenario, looks: _Looks) -> dict[str, Array]:
    """Return the errors [run, time, agent] of agents alone, that know of the change or not."""
    samples, since = scenario.samples, looks.change - 1
    means = samples.cumsum(axis=1) / np.arange(1, samples.shape[1] + 1)[:, None]
    restarted, later = means.copy(), samples[:, since:, looks.moved]
    counts = np.arange(1, later.shape[1] + 1)[:, None]
    restarted[:, since:, looks.moved] = later.cumsum(axis=1) / counts
    targets = scenario.problem.true_means_at(looks.times)
    return {
        name: np.abs(each[:, looks.times - 1] - targets)
        for name, each in (("alone", means), ("alone, told of the change", restarted))
    }


def _alarms(scenario: Scenario, change: int) -> dict[str, Any]:
    """Return after how many steps movers restart on average, and how many restarts are false."""
    found_after, false_alarms = "change found after", "restarted for nothing"
    drift, problem = scenario.experiment.drift, scenario.problem
    if drift is None or not drift.restart:
        return {found_after: None, false_alarms: None}
    bound = bounds_of(problem, ClassTest.JOINT, None, drift)["bound"]
    moved, delays, n_false = _moved(problem), [], 0
    for run in scenario.samples:
        epochs = views_of(run, [bound] * problem.n_agents, with_squares=False).epoch
        new = epochs[moved, change - 1 :] > epochs[moved, change - 2][:, None]
        found = new.any(axis=1)
        delays += new[found].argmax(axis=1).tolist()
        n_false += int(epochs[:, -1].sum()) - int(found.sum())
    return {found_after: float(np.mean(delays)) if delays else None, false_alarms: n_false}


def _answer(rows: Mapping[str, Row], last: int) -> str:
    restarted, plain, informed = (
        rows[name] for name in ("restarts", "nothing", "alone, told of the change")
    )
    moved = f"moved {last} after"
    against = [row[moved] / informed[moved] for row in (restarted, plain)]
    back = [
        f"is back below twice its error after {row[_BACK]} steps"
        if row[_BACK] is not None
        else "is not back below twice its error at the end"
        for row in (restarted, plain)
    ]
    return (
        f"With restarts the fleet {back[0]}, without them it {back[1]}; {last} steps after "
        f"the change the error of those that moved is {against[0]:.2f} times that of an agent "
        f"alone that was told of the change, without restarts {against[1]:.2g} times; if nothing "
        f"changes, restarts cost {restarted[_CALM] / plain[_CALM] - 1:.1%} of the steps to "
        f"{_EPSILON:g}."
    )
