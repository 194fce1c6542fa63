"""Comparison: the error of each method, how certain it is, and what to say about it.

Lives here: the correction for the noise of held-out means, the bootstrap, the verdict.  Must not
know tables or methods.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from colme.data.plain import as_plain
from colme.data.summaries import Numbers

# A method is as good as the own means if its error differs from theirs by no more than this.
_TIE = 0.02
_BLOCK = 4_000_000
"""This many agents are drawn at once for the bootstrap."""
_LOW, _HIGH = 0.025, 0.975


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
        known = {score.name: score for score in self.scores}
        if name not in known:
            raise KeyError(f"no method {name!r} was compared; there are {', '.join(known)}")
        return known[name]

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
        scores = [vars(score) | {"rmse": score.rmse} for score in self.scores]
        said = {"scores": scores, "best": self.best, "verdict": self.verdict}
        plain: dict[str, Any] = as_plain(vars(self) | said)
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


def score(
    errors: Mapping[str, Numbers],
    own: Numbers,
    noise: Numbers,
    *,
    n_bootstrap: int = 1000,
    seed: int = 0,
) -> tuple[Score, ...]:
    """Return the score of each method from what `true_errors` takes.

    Notes
    -----
    Intervals are percentiles of the bootstrap: as many agents as there are, drawn with replacement,
    the same for all methods, in blocks of 4 million draws.  A draw in which the own means have no
    error says nothing, so it widens the interval on both sides.

    Examples
    --------
    >>> held = {"local": np.array([3.0, 1.0, 2.0]), "other": np.array([2.0, 1.0, 1.0])}
    >>> [round(one.mse, 2) for one in score(held, np.ones(3), np.ones(3))]
    [1.0, 0.33]
    """
    columns = np.stack(list(true_errors(errors, own, noise).values()))
    mses = columns.mean(axis=1)
    low, high = _interval(_draws(columns, n_bootstrap, seed))
    return tuple(
        Score(
            name=name,
            mse=float(mses[at]),
            mse_held_out=float(held_out.mean()),
            ratio=float(mses[at] / mses[0]) if mses[0] > 0 else math.nan,
            ratio_low=float(low[at]),
            ratio_high=float(high[at]),
            closer=float(np.mean(held_out < errors["local"])),
        )
        for at, (name, held_out) in enumerate(errors.items())
    )


def true_errors(errors: Mapping[str, Numbers], own: Numbers, noise: Numbers) -> dict[str, Numbers]:
    """Return, for each method and agent, what estimates (estimate - true mean)² without bias.

    Parameters
    ----------
    errors
        For each method, `local` first, (estimate - held-out mean)² of every agent.
    own, noise
        What is to be expected of (own mean - true mean)² and of (held-out mean - true mean)².

    Notes
    -----
    With e the errors, w what is expected of the own mean and z of the held-out mean, both e - z and
    w + e - e_local are without bias.  The first is steady for methods that differ much from the own
    means, the second for those close to them.  Between the two lie

        w + (e - e_local) + b (e_local - w - z),    0 ≤ b ≤ 1,

    the bracket being 0 on average.  The b that scatters least is found by regression, for every
    other agent from the rest, so that it does not depend on the errors it is used on (but for what
    methods let all agents share: measured, less than a tenth of what a mean square error scatters).
    The own means get w itself.

    Examples
    --------
    >>> held = {"local": np.array([3.0, 1.0]), "other": np.array([2.0, 1.0])}
    >>> true_errors(held, np.ones(2), np.ones(2))["other"].tolist()
    [0.0, 1.0]
    """
    local = errors["local"]
    surprise = local - own - noise
    return {
        name: own + (held_out - local) + _steadier(local - held_out, surprise) * surprise
        for name, held_out in errors.items()
    }


def _steadier(lost: Numbers, surprise: Numbers) -> Numbers:
    """Return b for every agent: the slope of `lost` over `surprise` among those of other parity."""
    slopes = np.empty(len(lost))
    for parity in (0, 1):
        x, y = surprise[1 - parity :: 2], lost[1 - parity :: 2]
        x = x - x.mean() if len(x) else x
        square = float(x @ x)
        slopes[parity::2] = min(max(float(x @ y) / square, 0.0), 1.0) if square > 0 else 0.0
    return slopes


def _draws(columns: Numbers, n_bootstrap: int, seed: int) -> Numbers:
    """Return [draw, method]: averages over agents drawn with replacement."""
    n = columns.shape[1]
    rng = np.random.default_rng(seed)
    block = max(1, min(n_bootstrap, _BLOCK // n))
    parts = []
    for start in range(0, n_bootstrap, block):
        size = min(block, n_bootstrap - start)
        drawn = rng.integers(n, size=(size, n)) + n * np.arange(size)[:, np.newaxis]
        times = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
        parts.append(times @ columns.T / n)
    return np.concatenate(parts)


def _interval(draws: Numbers) -> Numbers:
    """Return [end, method] of the ratios to the own means, which are the first column."""
    own = draws[:, :1]
    ratios = draws / np.where(own > 0, own, 1.0)
    low = np.quantile(np.where(own > 0, ratios, -np.inf), _LOW, axis=0, method="lower")
    high = np.quantile(np.where(own > 0, ratios, np.inf), _HIGH, axis=0, method="higher")
    return np.stack([low, high])
