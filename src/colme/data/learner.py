"""The table as a scikit-learn regressor: agents in, their personalised means out.

Lives here: the estimator's verbs.  Must not know files, how X becomes names, or how means are
estimated.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from colme import _check
from colme.algorithm import Algorithm, resolve
from colme.bounds.known_noise import KnownNoise
from colme.data.estimator import Estimates, estimate
from colme.data.estimator.noise import pooled_variance
from colme.data.names import as_table, is_frame, names_of
from colme.data.summaries import Halves, Numbers, Summaries


class ColMEMeans(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Each agent's mean with help of its peers, as a regressor on the agent's name.

    X has the agent of each row in one column, as text or as numbers, and y the values.  X may be
    an array, a list, or a table of pandas, polars or Arrow; a list of names, a Series or an Arrow
    array is one column.  A one-dimensional numpy array is refused, as everywhere in scikit-learn.

    Parameters
    ----------
    algorithm, sigma, value_range, delta, eta
        As in `colme.data.estimate`.
    agent
        Which column of X names the agent: its position, or its name if X has named columns.  Other
        columns are ignored.

    Attributes
    ----------
    summaries_
        What is kept of all rows: one line per agent.
    estimates_
        All that is known about the agents, as from `colme.data.estimate`; found anew on the first
        use after `partial_fit`.
    agents_
        The names known, in order.
    n_features_in_, feature_names_in_
        Columns of X, and their names if all are text.

    Examples
    --------
    >>> stores = [["north"], ["south"], ["north"], ["south"]]
    >>> model = ColMEMeans(sigma=1.0).fit(stores, [20.0, 30.0, 21.0, 31.0])
    >>> model.predict([["south"], ["north"], ["a new one"]]).tolist()
    [30.5, 20.5, 25.5]
    >>> low, high = model.predict_interval([["south"]])
    >>> bool(low[0] < 30.5 < high[0])
    True

    Notes
    -----
    An agent never seen is taken to be one more of the same kind: its mean is expected to be the
    average of the agents' estimates, each agent counting once.
    """

    summaries_: Summaries
    n_features_in_: int
    _found: Estimates | None

    def __init__(
        self,
        algorithm: str | Algorithm = "sharp",
        *,
        sigma: float | None = None,
        value_range: tuple[float, float] | None = None,
        delta: float = 0.05,
        eta: float | None = None,
        agent: int | str = 0,
    ) -> None:
        self.algorithm = algorithm
        self.sigma = sigma
        self.value_range = value_range
        self.delta = delta
        self.eta = eta
        self.agent = agent

    def fit(self, X: Any, y: Any) -> Self:
        """Forget all rows seen before; sum up these and estimate."""
        summaries = self._summed(X, y, reset=True)
        self._found, self.summaries_ = self._estimated(summaries), summaries
        return self

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Add these rows to those seen before; estimates follow when they are first used.

        Counts, means and squares are those of all rows at once.  Which half a row is dealt to
        differs, so what `sharp` makes of them differs a little.
        """
        if hasattr(self, "summaries_"):
            piece = self._summed(X, y, reset=False)
            self.summaries_ = self.summaries_ + _turned(piece, int(self.summaries_.counts.sum()))
        else:
            self.summaries_ = self._summed(X, y, reset=True)
        self._found = None
        return self

    def predict(self, X: Any) -> Numbers:
        """Return the estimate of each row's agent; for an agent never seen, their average."""
        known, place = self._places(X)
        estimates = self.estimates_.estimates
        return np.where(known, estimates[place], estimates.mean())

    def predict_interval(self, X: Any) -> tuple[Numbers, Numbers]:
        """Return where the true mean of each row's agent is, from its own samples: (low, high).

        For each agent it holds with probability 1 - delta, at all times at once if rows keep
        coming, whatever its peers are; exactly with `sigma` or `value_range`, else for Gaussian
        samples.  It is no interval for the next sample.  For an agent never seen it is everything.
        """
        (known, place), found = self._places(X), self.estimates_
        low = np.where(known, found.low[place], -np.inf)
        return low, np.where(known, found.high[place], np.inf)

    @property
    def estimates_(self) -> Estimates:
        """All that is known about the agents."""
        check_is_fitted(self, "summaries_")
        if self._found is None:
            self._found = self._estimated(self.summaries_)
        return self._found

    @property
    def agents_(self) -> NDArray[Any]:
        """The names known, in order."""
        check_is_fitted(self, "summaries_")
        return self.summaries_.agents

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.regressor_tags.poor_score = True  # numbers in X are names, not quantities
        return tags

    def _estimated(self, summaries: Summaries) -> Estimates:
        known = KnownNoise(self.sigma, self.value_range)
        if known.scale is None and pooled_variance(summaries) == 0:
            resolve(self.algorithm, self.eta)
            return _without_noise(summaries, self.delta)
        settings = self.get_params(deep=False)
        del settings["agent"]
        return estimate(summaries, **settings)

    def _summed(self, X: Any, y: Any, *, reset: bool) -> Summaries:
        if y is None:
            raise ValueError("ColMEMeans requires y to be passed, but the target y is None")
        names = self._names(X, reset=reset)
        values = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        values = column_or_1d(values, warn=True)
        check_consistent_length(names, values)
        return Summaries.of(names, values)

    def _names(self, X: Any, *, reset: bool) -> NDArray[Any]:
        table = as_table(X)
        if is_frame(table):
            validate_data(self, table, reset=reset, skip_check_array=True)
        else:
            table = validate_data(self, table, reset=reset, dtype=None, ensure_all_finite=False)
        return names_of(table, self._position())

    def _position(self) -> int:
        """Return which column holds the agents, counted from 0."""
        n, names = self.n_features_in_, list(getattr(self, "feature_names_in_", []))
        if isinstance(self.agent, str):
            if self.agent not in names:
                raise ValueError(f"X has no column {self.agent!r}: its columns are {names}")
            return names.index(self.agent)
        position = operator.index(self.agent)
        if not -n <= position < n:
            raise ValueError(
                f"agent is the position of a column of X, which has {n}; received {position}"
            )
        return position % n

    def _places(self, X: Any) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
        """Return which rows have a known agent, and where it stands."""
        check_is_fitted(self, "summaries_")
        names, agents = self._names(X, reset=False), self.agents_
        if (names.dtype.kind == "U") != (agents.dtype.kind == "U"):
            raise ValueError(
                "agents were named by numbers in one call and by text in another: make them alike; "
                f"known are {agents[:3].tolist()}, received {names[:3].tolist()}"
            )
        place = np.minimum(np.searchsorted(agents, names), len(agents) - 1)
        return agents[place] == names, place


def _without_noise(summaries: Summaries, delta: float) -> Estimates:
    """Return the own means, without intervals, where all samples of each agent are equal."""
    ones, zeros = np.ones_like(summaries.counts), np.zeros_like(summaries.means)
    single = Summaries(summaries.agents, ones, summaries.means, zeros)
    return replace(
        estimate(single, algorithm="local", delta=_check.risk("delta", delta)),
        summaries=summaries,
        effective_counts=summaries.counts.astype(np.float64),
        notes=(
            "All samples of each agent are equal, so noise cannot be estimated: estimates are the "
            "own means, without intervals.  Give sigma or a range to do better.",
        ),
    )


def _turned(piece: Summaries, n_rows: int) -> Summaries:
    """Return a piece that follows `n_rows` rows, its halves exchanged at random.

    The first row of every piece is dealt to the same half: rows that come one at a time would all
    be there.
    """
    if piece.halves is None or not np.random.default_rng(n_rows).integers(2):
        return piece
    counts, means, squares = piece.halves
    return replace(piece, halves=Halves(counts[::-1], means[::-1], squares[::-1]))
