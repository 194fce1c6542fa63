"""What holds, at a glance, and how numbers are written in the tables people read.

Lives here: texts of cells, and the tables of verdicts.  Must not know how values are measured, HTML
or terminals.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from colme.pages import FAILS, HOLDS, NOTHING
from colme.pages import TextTable as Table
from colme.paper.checks import Check
from colme.paper.claims import Claim

_WHY_OFF = (
    "No margin was widened. What other draws of the classes tell: at error 0.1 the times "
    "of soft and aggressive weights in class 0.4 range over the published ones from draw to draw, "
    "and the paper does not report its own; in class 0.8 they stayed above the published ones in "
    "all eight draws tried, which remains unexplained. Local's time to 0.01 varies so much that "
    "5 % is about the noise of 20 runs."
)


def spread_text(cell: Mapping[str, float] | None) -> str:
    """Return ``avg ± std (max)``, with a decimal where the average is small.

    Examples
    --------
    >>> spread_text({"avg": 5.94, "std": 3.6, "max": 21.0})
    '5.9 ± 3.6 (21)'
    """
    if cell is None:
        return NOTHING
    digits = 1 if cell["avg"] < 20 and cell["avg"] % 1 else 0
    return f"{cell['avg']:.{digits}f} ± {cell['std']:.{digits}f} ({cell['max']:.0f})"


def interval_text(interval: Sequence[float] | None) -> str:
    """Return the two ends of an interval, or a dash.

    Examples
    --------
    >>> interval_text([5.71, 6.04]), interval_text(None)
    ('5.7 to 6.0', '–')
    """
    if interval is None:
        return NOTHING
    digits = 1 if interval[1] < 20 else 0
    return f"{interval[0]:.{digits}f} to {interval[1]:.{digits}f}"


def percent(share: float, digits: int = 2) -> str:
    """Return a share in percent; all is ``100 %``, and nothing less is rounded up to it.

    Examples
    --------
    >>> percent(1.0), percent(0.99995), percent(0.0725, digits=0)
    ('100 %', '99.99 %', '7 %')
    """
    if share == 1:
        return "100 %"
    scale = 10.0**digits
    return f"{math.floor(share * 100 * scale) / scale:.{digits}f} %"


def verdict(check: Check | None) -> tuple[str, str]:
    """Return how far measured is from published, and whether that is within the margin.

    Examples
    --------
    >>> from colme.paper.checks import Margin
    >>> verdict(Check("convergence_time", "all", "local", "0.01", 4494.0, 4600.0, Margin(0.05)))
    ('+2.4 %', '✓ 5 %')
    """
    if check is None:
        return NOTHING, NOTHING
    mark = HOLDS if check.holds else FAILS
    return f"{100 * check.difference:+.1f} %", f"{mark} {check.margin}"


def claim_table(claims: Sequence[Claim]) -> Table:
    """Return what the paper states in words, with the evidence.

    Examples
    --------
    >>> claim_table([Claim("it works", "it did", True)]).rows
    (('it works', 'it did', '✓'),)
    """
    rows = tuple((c.statement, c.evidence, HOLDS if c.holds else FAILS) for c in claims)
    return Table(
        "What the paper states, and what was measured", ("statement", "measured", "holds"), rows
    )


def _group(check: Check) -> str:
    if check.table == "class_estimation_time":
        return "class estimation times"
    who = "of all agents" if check.agents == "all" else "class by class"
    return f"convergence times {who}"


def summary(checks: Sequence[Check], claims: Sequence[Claim]) -> Table:
    """Return, at one glance, how much holds; what does not is named.

    Examples
    --------
    >>> summary([], [Claim("it works", "it did", True)]).rows
    (('statements of the paper', '✓ 1 of 1', ''),)
    """
    rows = []
    for group in dict.fromkeys(map(_group, checks)):
        chosen = [check for check in checks if _group(check) == group]
        off = [_name(check) for check in chosen if not check.holds]
        rows.append((group, _count(len(chosen), len(off)), "; ".join(off)))
    if claims:
        off = [claim.statement for claim in claims if not claim.holds]
        rows.append(("statements of the paper", _count(len(claims), len(off)), " ".join(off)))
    header = ("compared with the paper", "within the margin", "not within")
    off_by_class = any(check.agents != "all" and not check.holds for check in checks)
    return Table("What holds", header, tuple(rows), (_WHY_OFF,) if off_by_class else ())


def _count(n_all: int, n_off: int) -> str:
    return f"{FAILS if n_off else HOLDS} {n_all - n_off} of {n_all}"


def _name(check: Check) -> str:
    where = "" if check.agents == "all" else f", class {check.agents}"
    when = "" if check.epsilon is None else f", error {check.epsilon}"
    noise = ", published within the measured interval" if check.is_noise else ""
    return f"{check.algorithm}{where}{when} ({100 * check.difference:+.0f} %{noise})"
