"""Comparison: what is known of each method's error, and what to say about it.

Lives here: the numbers, the best, the verdict.  Must not know tables, nor how numbers are found.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from colme.data.plain import finite_or_none

# A method is as good as the own means if its error differs from theirs by no more than this.
_TIE = 0.02


@dataclass(frozen=True)
class Score:
    """The error of one method, and how it compares with the own means.

    Parameters
    ----------
    name
        Of the method.
    mse
        Mean over agents of (estimate - true mean)², estimated without bias; in small samples it can
        fall below 0.
    mse_held_out
        Mean over agents of (estimate - held-out mean)², in which the noise of held-out means
        remains.
    ratio, ratio_low, ratio_high
        `mse` as a share of that of the own means, and between what it lies with 95 %; NaN and
        infinite if the own means have no error.
    closer
        The share of agents for whom it was closer to the held-out mean than their own mean.

    Examples
    --------
    >>> score = Score("sharp", 0.04, 0.05, 0.5, 0.4, 0.6, 0.7)
    >>> score.rmse
    0.2
    """

    name: str
    mse: float
    mse_held_out: float
    ratio: float
    ratio_low: float
    ratio_high: float
    closer: float

    @property
    def rmse(self) -> float:
        """Return √mse, 0 if it fell below 0."""
        return math.sqrt(max(0.0, self.mse))


@dataclass(frozen=True)
class Comparison:
    """The errors of several methods on the same held-out rows.

    Parameters
    ----------
    n_agents, n_left_out
        Agents that are judged, and those that cannot be: they have no row held out, or none to fit.
    n_splits
        Splits over which errors are averaged.
    scores
        One for each method, in the order given.
    notes
        Which methods were left out, and why.

    Examples
    --------
    >>> own = Score("local", 0.08, 0.09, 1.0, 1.0, 1.0, 0.0)
    >>> sharp = Score("sharp", 0.04, 0.05, 0.5, 0.4, 0.6, 0.7)
    >>> comparison = Comparison(10, 1, 5, (own, sharp), ())
    >>> comparison.best, comparison["sharp"].ratio
    ('sharp', 0.5)
    >>> comparison.verdict
    'sharp beats local, with 0.50 of its mean square error (0.40 to 0.60); it is the best.'
    """

    n_agents: int
    n_left_out: int
    n_splits: int
    scores: tuple[Score, ...]
    notes: tuple[str, ...]

    def __getitem__(self, name: str) -> Score:
        for score in self.scores:
            if score.name == name:
                return score
        names = ", ".join(score.name for score in self.scores)
        raise KeyError(f"no method {name!r} was compared; there are {names}")

    @property
    def best(self) -> str:
        """Return the name of the method with the smallest error; of equals the first."""
        return min(self.scores, key=lambda score: score.mse).name

    @property
    def verdict(self) -> str:
        """Return in one sentence whether it pays to collaborate, and which method was the best.

        It is about sharp, or, if that was not compared, about the best method.
        """
        names = [score.name for score in self.scores]
        judged = self["sharp" if "sharp" in names else self.best]
        if judged.name == "local":
            return "no method beats local: the own means are the best."
        return f"{_against_local(judged)}; {self._the_best(judged)}."

    def _the_best(self, judged: Score) -> str:
        best = self[self.best]
        if best is judged and abs(judged.ratio - 1) > _TIE:
            return "it is the best"
        if best is judged or f"{best.ratio:.2f}" == f"{judged.ratio:.2f}":
            return "no method is noticeably better"
        if not math.isfinite(best.ratio) or best.name == "local":
            return f"the best is {best.name}"
        return f"the best is {best.name}, with {best.ratio:.2f}"

    def to_plain(self) -> dict[str, Any]:
        """Return everything as plain values for JSON; what is not finite becomes None."""
        plain = asdict(self) | {"best": self.best, "verdict": self.verdict}
        plain["notes"] = list(self.notes)
        plain["scores"] = [
            {
                key: finite_or_none(value)
                for key, value in (asdict(score) | {"rmse": score.rmse}).items()
            }
            for score in self.scores
        ]
        return plain


def _against_local(score: Score) -> str:
    """Return whether the method beats the own means, and how certain that is."""
    if not math.isfinite(score.ratio):
        return f"{score.name} cannot beat local: the own means have no error"
    if max(1 - score.ratio_low, score.ratio_high - 1) <= _TIE:
        how = "is as good as"
    elif score.ratio_high < 1:
        how = "beats"
    elif score.ratio_low > 1:
        how = "is worse than"
    else:
        how = "probably beats" if score.ratio < 1 else "probably does not beat"
    return (
        f"{score.name} {how} local, with {score.ratio:.2f} of its mean square error "
        f"({score.ratio_low:.2f} to {score.ratio_high:.2f})"
    )
