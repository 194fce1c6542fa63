"""The flags of an experiment, one group for each table of its file.

Lives here: which flag has another name than its key.  Must not know what the keys mean: the tables
say so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cyclopts import Group

from colme._settings import Table
from colme.cli.schema_flags import flags_of
from colme.experiment import (
    ArrivalsSpec,
    BoundSpec,
    ContactsSpec,
    DriftSpec,
    Experiment,
    ProblemSpec,
)

_PROBLEM = Group("Problem", sort_key=1)
RUNNING = Group("Running", sort_key=2)
_ARRIVALS = Group("Arrivals", sort_key=3)
_CONTACTS = Group("Contacts", sort_key=4)
BOUND = Group("Bound", sort_key=5)
_DRIFT = Group("Drift", sort_key=6)
OUTPUT = Group("Output", sort_key=7)

TABLES: dict[str, type[Table]] = {
    "problem": ProblemSpec,
    "arrivals": ArrivalsSpec,
    "contacts": ContactsSpec,
    "bound": BoundSpec,
    "drift": DriftSpec,
}
"""The tables of a file, by name."""

if TYPE_CHECKING:
    ProblemFlags = dict[str, Any]
    RunFlags = dict[str, Any]
    ArrivalFlags = dict[str, Any]
    ContactFlags = dict[str, Any]
    BoundFlags = dict[str, Any]
    DriftFlags = dict[str, Any]
else:
    ProblemFlags = flags_of(
        ProblemSpec,
        _PROBLEM,
        called={"n_agents": "agents", "changes": "change", "seed": "problem_seed"},
    )
    RunFlags = flags_of(
        Experiment, RUNNING, called={"algorithms": "algorithm", "epsilons": "epsilon"}
    )
    ArrivalFlags = flags_of(
        ArrivalsSpec, _ARRIVALS, called={"between": "rates_between", "seed": "arrivals_seed"}
    )
    ContactFlags = flags_of(
        ContactsSpec,
        _CONTACTS,
        called={"size": "contacts", "probability": "edge_probability", "seed": "contacts_seed"},
    )
    BoundFlags = flags_of(BoundSpec, BOUND, without=("low", "high"), called={"kind": "bound"})
    DriftFlags = flags_of(DriftSpec, _DRIFT)
