"""Whether estimates with help of peers beat the own means, judged by rows held out.

Lives here: splits of a table, and errors on held-out rows.  Must not know how a method works.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check
from colme.data.comparison import methods as known
from colme.data.comparison.methods import LeftOutError, Method
from colme.data.comparison.scores import Comparison, score
from colme.data.estimator import estimate
from colme.data.summaries import Numbers, Summaries

Pair: TypeAlias = tuple[Summaries, Summaries]


class _Judged(NamedTuple):
    """Agents with rows in both parts: names, places, held-out means, what the noise of both is."""

    agents: NDArray[Any]
    fitted: NDArray[np.intp]
    means: Numbers
    own: Numbers
    noise: Numbers


def default_methods() -> dict[str, Method]:
    """Return the baselines by name, and `sharp`: what `colme.data.estimate` gives.

    Examples
    --------
    >>> list(default_methods())[:3]
    ['local', 'grand_mean', 'james_stein']
    """
    names = ("local", "grand_mean", "james_stein", "empirical_bayes", "mixed_model", "k_means")
    methods: dict[str, Method] = {name: getattr(known, name) for name in names}
    return methods | {"sharp": lambda summaries: estimate(summaries).estimates}


def split(
    agents: ArrayLike, values: ArrayLike, *, share: float = 0.5, seed: int = 0
) -> tuple[Summaries, Summaries]:
    """Return the summaries of the rows to fit and of those held out, drawn agent by agent.

    Parameters
    ----------
    agents, values
        Whose sample, and the sample: arrays, lists, or columns of pandas, polars or Arrow.
    share
        Which part of every agent's rows is fitted, between 0 and 1.
    seed
        Of the draw; the same seed and table give the same split.

    Notes
    -----
    Of n rows ⌊share · n⌋ are fitted, but at least one, and at least one is held out.  An agent with
    one row is fitted only: it helps its peers as usual, and is not judged.

    Examples
    --------
    >>> fit, held_out = split(["a", "b", "a", "a", "c", "c"], [1.0, 5.0, 3.0, 2.0, 0.0, 4.0])
    >>> fit.agents.tolist(), fit.counts.tolist()
    (['a', 'b', 'c'], [1, 1, 1])
    >>> held_out.agents.tolist(), held_out.counts.tolist()
    (['a', 'c'], [2, 1])
    """
    if not 0 < _check.share("share", share) < 1:
        raise ValueError(
            f"share must be between 0 and 1, so that both parts have rows; received {share}"
        )
    whole = Summaries.of(agents, values)
    place = np.unique(np.asarray(agents), return_inverse=True)[1]
    samples, counts = np.asarray(values, dtype=np.float64), whole.counts
    fitted = np.clip(np.floor(share * counts), 1, np.maximum(counts - 1, 1))
    # The turn of each row among the rows of its agent, in an order by chance.
    order = np.lexsort((np.random.default_rng(seed).random(len(place)), place))
    turns = np.empty(len(place), np.int64)
    turns[order] = np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts)
    chosen = turns < fitted[place]
    parts = [Summaries.of(place[rows], samples[rows]) for rows in (chosen, ~chosen)]
    fit, held_out = (replace(part, agents=whole.agents[part.agents]) for part in parts)
    return fit, held_out


def compare(
    pairs: Sequence[Pair],
    methods: Mapping[str, Method] | None = None,
    *,
    n_bootstrap: int = 1000,
    seed: int = 0,
) -> Comparison:
    """Return the error of every method on held-out rows, beside that of the own means.

    Parameters
    ----------
    pairs
        One (fit, held out) for each split of the same table: summaries of what methods see, and of
        what they are judged by.  `compare_rows` makes them from a table in memory.
    methods
        Names and functions from summaries to estimates; all of `default_methods` if None.  `local`
        always stands first.  One that raises `LeftOutError` is left out, with a note.
    n_bootstrap
        How often agents are drawn anew for the intervals.
    seed
        Of these draws.

    Notes
    -----
    Every agent counts the same.  The true means are not known, but what to expect of means is: with
    v = Σ (x - x̄)² / (rows - 1) from all rows of an agent, two or more, the own mean is off by v / n
    on average, n its fitted rows, and the held-out mean likewise.  From these and from what is held
    out `true_errors` finds the error without bias, whatever the distribution and also if agents
    differ in noise, as long as rows are split by chance.  Over several splits an agent's errors are
    averaged.

    Intervals are found by drawing agents anew and take estimates as given: they show what other
    agents of this kind would change, not what another fit would.

    Examples
    --------
    >>> agents = [number for number in range(40) for _ in range(6)]
    >>> values = np.random.default_rng(0).normal(4.0, 1.0, len(agents))
    >>> pairs = [split(agents, values, seed=seed) for seed in range(5)]
    >>> comparison = compare(pairs, {"grand_mean": known.grand_mean})
    >>> comparison.n_agents, comparison.best, comparison["grand_mean"].ratio < 0.5
    (40, 'grand_mean', True)
    """
    _check.positive_int("n_bootstrap", n_bootstrap)
    if not pairs:
        raise ValueError("pairs must hold at least one (fit, held out); received none")
    given = default_methods() if methods is None else methods
    chosen = {"local": known.local} | {n: f for n, f in given.items() if n != "local"}
    judged = [_judged(*pair) for pair in pairs]
    agents, place = np.unique(np.concatenate([part.agents for part in judged]), return_inverse=True)
    if not len(agents):
        raise ValueError("no agent has rows in both parts: give agents with two rows or more")
    errors, notes = _errors(pairs, judged, chosen)
    averaged = {name: _averaged(place, column) for name, column in errors.items()}
    own = _averaged(place, np.concatenate([part.own for part in judged]))
    noise = _averaged(place, np.concatenate([part.noise for part in judged]))
    scores = score(averaged, own, noise, n_bootstrap=n_bootstrap, seed=seed)
    everybody = np.unique(np.concatenate([part.agents for pair in pairs for part in pair]))
    return Comparison(len(agents), len(everybody) - len(agents), len(pairs), scores, tuple(notes))


def compare_rows(
    agents: ArrayLike,
    values: ArrayLike,
    methods: Mapping[str, Method] | None = None,
    *,
    share: float = 0.5,
    n_splits: int = 5,
    n_bootstrap: int = 1000,
    seed: int = 0,
) -> Comparison:
    """Return the comparison of methods on a table in memory, split several times by chance.

    Parameters
    ----------
    agents, values, share
        As in `split`.
    n_splits
        How often the table is split; errors are averaged.
    methods, n_bootstrap, seed
        As in `compare`; the seed is also that of the splits.

    Examples
    --------
    >>> agents = [number for number in range(40) for _ in range(6)]
    >>> values = np.random.default_rng(0).normal(4.0, 1.0, len(agents))
    >>> comparison = compare_rows(agents, values, {"grand_mean": known.grand_mean})
    >>> comparison.n_splits, comparison.best
    (5, 'grand_mean')
    """
    _check.positive_int("n_splits", n_splits)
    seeds = np.random.SeedSequence(seed).generate_state(n_splits).tolist()
    pairs = [split(agents, values, share=share, seed=each) for each in seeds]
    return compare(pairs, methods, n_bootstrap=n_bootstrap, seed=seed)


def _judged(fit: Summaries, held_out: Summaries) -> _Judged:
    agents, fitted, held = np.intersect1d(
        fit.agents, held_out.agents, assume_unique=True, return_indices=True
    )
    n, m = fit.counts[fitted], held_out.counts[held]
    means = held_out.means[held]
    between = n * m / (n + m) * (fit.means[fitted] - means) ** 2
    variance = (fit.squares[fitted] + held_out.squares[held] + between) / (n + m - 1)
    return _Judged(agents, fitted, means, variance / n, variance / m)


def _errors(
    pairs: Sequence[Pair], judged: Sequence[_Judged], methods: Mapping[str, Method]
) -> tuple[dict[str, Numbers], list[str]]:
    """Return each method's squared errors, all splits one after the other, and notes."""
    errors, notes = {}, []
    for name, method in methods.items():
        try:
            errors[name] = np.concatenate(
                [
                    (_estimates(name, method, fit)[part.fitted] - part.means) ** 2
                    for (fit, _), part in zip(pairs, judged, strict=True)
                ]
            )
        except LeftOutError as reason:
            notes.append(f"{name} is left out: {reason}")
    return errors, notes


def _estimates(name: str, method: Method, fit: Summaries) -> Numbers:
    estimates = np.asarray(method(fit), dtype=np.float64)
    if estimates.shape != (len(fit),) or not np.isfinite(estimates).all():
        raise ValueError(
            f"a method gives one finite estimate for each of {len(fit)} agents; received shape "
            f"{estimates.shape} from {name!r}, {np.count_nonzero(~np.isfinite(estimates))} of them "
            f"not finite"
        )
    return estimates


def _averaged(place: NDArray[np.intp], column: Numbers) -> Numbers:
    average: Numbers = np.bincount(place, column) / np.bincount(place)
    return average
