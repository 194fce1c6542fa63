"""How results become lines on axes: bands, marks, distributions, the sweep of gaps.

Lives here: drawing onto axes that are given.  Must not know how axes are made or saved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from colme.paper.experiments import EXTRA_ALGORITHMS, IDENTIFIERS
from colme.paper.measure import Result
from colme.paper.table_values import Results, convergence_of, gap_row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis


# Okabe and Ito's colours, which colour-blind readers tell apart; line styles help in print.
_BLACK, _ORANGE, _SKY, _GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
_BLUE, _VERMILION, _PURPLE = "#0072B2", "#D55E00", "#CC79A7"
_DASHED, _DOTTED, _DASH_DOT = (0, (4, 2)), (0, (1, 1.2)), (0, (6, 2, 1, 2))
_LINES: dict[str, tuple[str, Any]] = {
    "round-robin": (_ORANGE, _DASHED),
    "restricted-round-robin": (_SKY, "-"),
    "soft-restricted-round-robin": (_GREEN, _DASH_DOT),
    "aggressive-restricted-round-robin": (_BLUE, "-"),
    "local": (_VERMILION, _DOTTED),
    "oracle": (_BLACK, _DASHED),
    "eta-restricted-round-robin": (_BLUE, "-"),
    # Ends up beneath the oracle, whose dashes let a whole line show.
    **{name: (_PURPLE, (0, (6, k))) for k, name in enumerate(EXTRA_ALGORITHMS)},
}
_QUANTILES = np.linspace(0, 1, 300)
_LEAST_ERROR = 0.0005
"""Where the axis of errors begins: averages stay above it."""


def precision(ax: Axes, results: Results, *, source: str, curve: str = "precision") -> None:
    """Draw the share of the optimistic class that is right.

    Examples
    --------
    >>> from colme.paper import EXPERIMENTS, canvas, measure
    >>> quick = EXPERIMENTS["two-class"].model_copy(update={"runs": 1, "horizon": 20})
    >>> ran = {"two-class": (measure(quick),)}
    >>> canvas.draw(lambda axes: precision(axes, ran, source="two-class")).svg[:5]
    b'<?xml'
    """
    result = results[source][0]
    for name in IDENTIFIERS:
        _band(ax, result, name, curve, None)
    ax.set(xlabel="time step", ylabel="precision of the class")
    ax.set(xlim=(0, result.experiment.horizon), ylim=(None, 1.03))
    _legend_above(ax)


def error(
    ax: Axes, results: Results, *, source: str, only: str | None = None, until: int | None = None
) -> None:
    """Draw the distance of estimates to their target, over all agents or those of one class.

    Examples
    --------
    >>> from colme.paper import EXPERIMENTS, canvas, measure
    >>> quick = EXPERIMENTS["two-class"].model_copy(update={"runs": 1, "horizon": 20})
    >>> ran = {"two-class": (measure(quick),)}
    >>> canvas.draw(lambda axes: error(axes, ran, source="two-class", only="0.8")).svg[:5]
    b'<?xml'
    """
    result = results[source][0]
    agents = None if only is None else result.classes[only]
    for name in result.measured:
        _band(ax, result, name, "error", agents)
        if agents is not None:
            _mark_identification(ax, result, name, agents)
    target = "class mean" if result.experiment.eta else "true mean"
    ax.set(yscale="log", xlabel="time step", ylabel=f"distance to {target}")
    ax.set(xlim=(0, until or result.experiment.horizon), ylim=(_LEAST_ERROR, 1))
    ax.set_yticks([0.001, 0.01, 0.1, 1], ["0.001", "0.01", "0.1", "1"])
    _legend_above(ax)


def distribution(ax: Axes, results: Results, *, epsilon: str) -> None:
    """Draw the share of agents and runs that have converged, over time.

    Examples
    --------
    >>> from colme.paper import EXPERIMENTS, canvas, measure
    >>> quick = EXPERIMENTS["three-class"].model_copy(update={"runs": 1, "horizon": 20})
    >>> ran = measure(quick)
    >>> paint = lambda axes: distribution(axes, {"three-class": (ran,)}, epsilon="0.1")
    >>> canvas.draw(paint).svg[:5]
    b'<?xml'
    """
    for name in results["three-class"][0].measured:
        times = convergence_of(results, name, epsilon)
        if times is not None:
            steps = np.quantile(times, _QUANTILES)
            ax.plot(steps, _QUANTILES, label=_label(name), **_line(name))
    ax.set(xscale="log", xlabel="time step", ylabel=f"share of agents within {epsilon} for good")
    _plain_powers(ax.xaxis)
    _legend_above(ax)


def sweep_of_gaps(ax: Axes, results: Results) -> None:
    """Draw measured and theoretical class estimation times against the gap.

    Examples
    --------
    >>> from colme.paper import canvas, measure
    >>> from colme.paper.experiments import parts
    >>> ran = {"gap-sweep": [measure(part) for part in parts("gap-sweep", runs=1, seed=0)[-2:]]}
    >>> canvas.draw(lambda axes: sweep_of_gaps(axes, ran)).svg[:5]
    b'<?xml'
    """
    rows = [gap_row(part) for part in results["gap-sweep"]]
    gaps = [row["gap"] for row in rows]
    times = [row["class_estimation_time"] for row in rows]
    lines: tuple[tuple[str, list[float], dict[str, Any]], ...] = (
        ("ζ of Theorem 1", [row["zeta"] for row in rows], {"color": _BLACK, "ls": _DASHED}),
        ("measured, largest", [time["max"] for time in times], {"color": _VERMILION, "ls": ":"}),
        ("measured, average", [time["avg"] for time in times], {"color": _BLUE}),
    )
    for (label, values, line), marker in zip(lines, "s^o", strict=True):
        ax.plot(gaps, values, label=label, marker=marker, **line)
    ax.set(xscale="log", yscale="log")
    ax.set(xlabel="gap between the two classes", ylabel="class estimation time")
    ax.set_xticks(gaps, [f"{gap:g}" for gap in gaps])
    _plain_powers(ax.yaxis)
    ax.minorticks_off()
    _legend_above(ax)


def _label(name: str) -> str:
    return name.replace("-round-robin", "-RR").replace("eta-", "η-").replace("round-robin", "RR")


def _line(name: str) -> dict[str, Any]:
    color, style = _LINES[name]
    # Round-robin often coincides with restricted: its dashes lie on top so that both show.
    return {"color": color, "linestyle": style, "zorder": 3 if name == "round-robin" else 2}


def _band(
    ax: Axes, result: Result, name: str, curve: str, agents: NDArray[np.bool_] | None
) -> None:
    band = result.measured[name].curves[curve].over(agents)
    low, high = np.maximum(band.mean - band.std, _LEAST_ERROR), band.mean + band.std
    ax.fill_between(result.times, low, high, color=_LINES[name][0], alpha=0.12, linewidth=0)
    ax.plot(result.times, band.mean, label=_label(name), **_line(name))


def _mark_identification(ax: Axes, result: Result, name: str, agents: NDArray[np.bool_]) -> None:
    """Put a dot where the class is identified on average; weightings share their query's class."""
    if name in ("local", "oracle"):
        return
    source = name if name in IDENTIFIERS else "restricted-round-robin"
    when = result.identification(source)[:, agents].mean()
    band = result.measured[name].curves["error"].over(agents)
    height = np.interp(when, result.times, band.mean)
    ax.plot(when, height, "o", color=_LINES[name][0], markeredgecolor=_BLACK, zorder=5)


def _plain_powers(axis: Axis) -> None:
    """Write 1000, not 10³, on a logarithmic axis."""
    low, high = np.log10(axis.get_view_interval())
    powers = 10.0 ** np.arange(np.ceil(low), np.floor(high) + 1)
    axis.set_ticks(powers, [f"{power:g}" for power in powers])


def _legend_above(ax: Axes) -> None:
    """Put the legend where it hides no line."""
    n_lines = len(ax.get_legend_handles_labels()[1])
    ax.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=max(3, -(-n_lines // 2)))
