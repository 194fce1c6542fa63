"""Every figure of the reproduction as data: name, what it needs, caption, how it is drawn.

Lives here: the list of figures, in the order of the report.  Must not know how lines are drawn,
axes made or files saved.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from colme._extras import load
from colme.paper import plots
from colme.paper.table_values import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class FigureSpec(NamedTuple):
    """A figure: its name, the experiments it needs, what it shows, how it is drawn.

    Examples
    --------
    >>> [figure.name for figure in FIGURES if figure.needs == ("gap-sweep",)]
    ['gap-sweep']
    """

    name: str
    needs: tuple[str, ...]
    caption: str
    draw: Callable[[Axes, Results], None]


def load_figures() -> Any:
    """Return the module that draws figures, or say what to install.

    Examples
    --------
    >>> load_figures().draw(FIGURES[0]._replace(draw=lambda axes, results: None), {}).svg[:5]
    b'<?xml'
    """
    return load("figures need matplotlib", "paper", "colme.paper.figures")


def figures_for(finished: set[str], new: str) -> tuple[FigureSpec, ...]:
    """Return the figures that an experiment just finished makes possible.

    Examples
    --------
    >>> [figure.name for figure in figures_for({"three-class", "local-long"}, new="local-long")]
    ['convergence-0.01']
    """
    return tuple(p for p in FIGURES if new in p.needs and set(p.needs) <= finished)


def _of_class(mean: str, until: int | None = None) -> FigureSpec:
    scale = "" if until is None else " (shorter time scale)"
    return FigureSpec(
        f"error-class-{mean}",
        ("three-class",),
        f"3-class problem: error of the agents with mean {mean}{scale}. Dots mark the average "
        "class estimation time.",
        partial(plots.error, source="three-class", only=mean, until=until),
    )


def _of_pair(first: str, second: str, labels: tuple[int, int]) -> FigureSpec:
    i, j = labels
    return FigureSpec(
        f"precision-{first}-{second}",
        ("three-class",),
        f"3-class problem: precision counting only classes {first} and {second}.",
        partial(plots.precision, source="three-class", curve=f"precision {i} {j}"),
    )


def _over_all(name: str, words: str) -> tuple[FigureSpec, FigureSpec]:
    return (
        FigureSpec(
            f"precision-{name}",
            (name,),
            f"{words}: share of the optimistic class that is right, all agents.",
            partial(plots.precision, source=name),
        ),
        FigureSpec(
            f"error-{name}",
            (name,),
            f"{words}: error over time, all agents, on a logarithmic scale (linear in the paper). "
            "Bands are one standard deviation.",
            partial(plots.error, source=name),
        ),
    )


def _of_times(epsilon: str, *needs: str) -> FigureSpec:
    return FigureSpec(
        f"convergence-{epsilon}",
        needs,
        f"Not in the paper: how convergence times to error {epsilon} are distributed over agents "
        "and runs.",
        partial(plots.distribution, epsilon=epsilon),
    )


def _of_imperfect(kind: str, words: str, until: int) -> FigureSpec:
    name = f"imperfect-{kind}"
    return FigureSpec(name, (name,), words, partial(plots.error, source=name, until=until))


FIGURES: tuple[FigureSpec, ...] = (
    *_over_all("three-class", "3-class problem"),
    _of_class("0.2"),
    _of_class("0.4"),
    _of_class("0.8", until=1000),
    _of_pair("0.2", "0.8", (0, 2)),
    _of_pair("0.4", "0.8", (1, 2)),
    _of_pair("0.2", "0.4", (0, 1)),
    _of_times("0.1", "three-class"),
    _of_times("0.01", "three-class", "local-long"),
    *_over_all("two-class", "2-class problem"),
    _of_imperfect(
        "separated", "Separated clusters with local bias: distance to the class mean.", 1500
    ),
    _of_imperfect(
        "overlapping", "Overlapping balls of radius η: distance to the mean of the ball.", 2500
    ),
    FigureSpec(
        "gap-sweep",
        ("gap-sweep",),
        "Not in the paper: class estimation time against the gap, measured and in theory.",
        plots.sweep_of_gaps,
    ),
)
