"""The lemmas and theorems as functions: how long it takes, and whether collaboration pays.

Lives here: times computed from true means alone.  Must not know simulation.  Times are for the
restricted round-robin query strategy and hold with the probability each statement names.

Numbered statements are the paper's, for its class test.  Lemma J and Theorem J are ours, for the
joint test; docs/3-guarantees.md proves them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colme import _check
from colme.algorithm import ClassTest
from colme.bounds import Laplace, NormalMixture, split_risk, usual_bound
from colme.bounds.counted import first_below

__all__ = [
    "Situation",
    "class_sizes",
    "convergence_times",
    "epsilon_thresholds",
    "full_information_times",
    "identification_times",
    "local_time",
    "model_time",
    "needed_samples",
    "oracle_times",
    "plan",
    "threshold",
]

Times = NDArray[np.int64]

_FOREVER = 2**62
"""Longer than any stream; times beyond it are cut to it."""


@dataclass(frozen=True)
class Situation:
    """All that the theorems need to know: true means, noise, risk and tolerance.

    Two agents are in one class when their means differ by at most `eta`.

    Parameters
    ----------
    true_means
        The mean of each agent.
    sigma, delta, eta
        As in `colme.simulate`.
    class_test
        ``overlap``, the paper's, or ``joint``.

    Examples
    --------
    >>> situation = Situation([0.2] * 67 + [0.4] * 67 + [0.8] * 66, sigma=0.5, delta=0.001)
    >>> identification_times(situation)[[0, 67, 134]].tolist()
    [3813, 3813, 1017]
    >>> sharper = Situation(situation.means, sigma=0.5, delta=0.001, class_test="joint")
    >>> identification_times(sharper)[[0, 67, 134]].tolist()
    [2004, 2004, 587]
    """

    true_means: ArrayLike
    sigma: float
    delta: float
    eta: float = 0.0
    class_test: ClassTest | str = ClassTest.OVERLAP

    def __post_init__(self) -> None:
        means = np.asarray(self.true_means, dtype=np.float64)
        if means.ndim != 1 or means.size == 0 or not np.isfinite(means).all():
            raise ValueError(
                f"true_means must be a list of finite numbers, at least one; received {means!r}"
            )
        _check.non_negative("eta", self.eta)
        class_test = ClassTest.of(self.class_test)
        if class_test == ClassTest.KNOWN:
            raise ValueError(
                "class_test must be one of overlap, joint: a class known from the start takes no "
                f"time to find; received {self.class_test!r}"
            )
        object.__setattr__(self, "true_means", means)
        object.__setattr__(self, "class_test", class_test)
        self.bound  # noqa: B018 - validates sigma and delta

    @property
    def means(self) -> NDArray[np.float64]:
        """The true means as an array."""
        return np.asarray(self.true_means)

    @property
    def n_agents(self) -> int:
        """How many agents there are."""
        return self.means.size

    @property
    def bound(self) -> Laplace | NormalMixture:
        """The radius β that goes with the class test, with the risk split over all agents."""
        risk = split_risk(self.delta, self.n_agents)
        return usual_bound(ClassTest.of(self.class_test), self.sigma, risk)

    def n_within(self, reach: NDArray[np.float64]) -> Times:
        """Return, for each agent, how many agents have means at most `reach` away from its own."""
        values, sizes = np.unique(self.means, return_counts=True)
        below, above = _bracket(values, self.means, reach)
        before = np.concatenate(([0], np.cumsum(sizes)))
        return before[above] - before[below]


def _bracket(
    values: NDArray[np.float64], means: NDArray[np.float64], reach: NDArray[np.float64]
) -> tuple[Times, Times]:
    """Return below, above such that exactly values[below:above] lie within `reach` of each mean.

    Sorted distinct values; distances are compared as they are computed, |value - mean| <= reach,
    so that two agents always agree on theirs.
    """
    padded = np.concatenate(([-np.inf], values, [np.inf]))
    above = np.searchsorted(values, means + reach, side="right")
    above += padded[above + 1] - means <= reach
    above -= padded[above] - means > reach
    below = np.searchsorted(values, means - reach, side="left")
    below -= means - padded[below] <= reach
    below += means - padded[below + 1] > reach
    return below, above


def class_sizes(situation: Situation) -> Times:
    """Return the size of each agent's class, itself included.

    Examples
    --------
    >>> class_sizes(Situation([0.0, 0.1, 0.5], sigma=1.0, delta=0.1, eta=0.1)).tolist()
    [2, 2, 1]

    Notes
    -----
    |C_a| with C_a = {l : |μ_a - μ_l| <= η} (Definitions 2 and 8).
    """
    return situation.n_within(np.full(situation.n_agents, situation.eta))


def threshold(situation: Situation, n_a: int, n_l: int) -> float:
    """Return how far beyond η two means of n_a and n_l samples must be to be told apart.

    The difference of the means of an agent and a peer is never this far from the true one: at any
    time, for all its peers at once, with probability at least 1 - δ/8.

    Examples
    --------
    >>> [
    ...     round(threshold(Situation([0.0, 1.0], 0.5, 0.1, class_test=test), 100, 100), 3)
    ...     for test in ("overlap", "joint")
    ... ]
    [0.386, 0.324]

    Notes
    -----
    Overlap: β(n_a) + β(n_l) (Definition 3, Lemma 1).  Joint: √(2 (q_a + q_l) (ln(1/γ) + c_a + c_l))
    with spreads q and offsets c of the evidence (Lemma J).
    """
    return _thresholds(situation)(n_a, n_l)


def _thresholds(situation: Situation) -> Callable[[int, int], float]:
    """Return the threshold as a function of two counts."""
    bound = situation.bound
    log_risk = -math.log(bound.gamma)

    def overlap(n_a: int, n_l: int) -> float:
        return bound.radius(n_a) + bound.radius(n_l)

    def joint(n_a: int, n_l: int) -> float:
        if 0 in (n_a, n_l):
            return math.inf
        spread_a, _, offset_a = bound.shape(n_a)
        spread_l, _, offset_l = bound.shape(n_l)
        return math.sqrt(2 * (spread_a + spread_l) * (log_risk + offset_a + offset_l))

    return joint if situation.class_test == ClassTest.JOINT else overlap


def needed_samples(situation: Situation) -> Times:
    """Return n*: samples after which an agent tells its class from the nearest outsider.

    An agent whose class is everybody has nothing to tell apart: 0.

    Examples
    --------
    >>> needed_samples(Situation([0.2] * 100 + [0.8] * 100, sigma=0.5, delta=0.001))[0]
    np.int64(385)

    Notes
    -----
    n*_aa = ⌈β⁻¹((Δ_a - η) / 4)⌉, Δ_a the smallest gap beyond η (Definitions 6 and 10); in general
    the first n at which twice the threshold of n and n samples fits into Δ_a - η (Theorem J).
    """
    margins, position = np.unique(_margin(situation), return_inverse=True)
    even = _even_thresholds(situation)
    values = [
        0 if math.isinf(margin) else min(first_below(margin / 2, even), _FOREVER)
        for margin in margins
    ]
    times: Times = np.array(values, np.int64)[position]
    return times


def _even_thresholds(situation: Situation) -> Callable[[float], float]:
    """Return the threshold as a function of one count for both sides: it falls."""
    of_both = _thresholds(situation)
    return lambda n: of_both(int(n), int(n))


def identification_times(situation: Situation) -> Times:
    """Return ζ: after it, the optimistic class of each agent is its true class.

    With probability at least 1 - δ/8 for each agent, whatever the weighting.

    Examples
    --------
    >>> identification_times(Situation([0.2] * 3 + [0.8] * 3, sigma=0.5, delta=0.001))[0]
    np.int64(310)

    Notes
    -----
    ζ_a = n*_aa + A - 1 - Σ_{l ∉ C_a} 1{n*_aa > n*_al + A - 1} (Theorems 1, 3 and J).
    """
    n_star = needed_samples(situation)
    cycle = situation.n_agents - 1
    # n*_al < n*_aa - (A - 1) exactly when the margin to l exceeds two thresholds at n*_aa - A.
    latest = n_star - cycle - 1
    counts, position = np.unique(np.maximum(latest, 1), return_inverse=True)
    thresholds = np.array(list(map(_even_thresholds(situation), counts.tolist())))[position]
    dropped = situation.n_agents - situation.n_within(situation.eta + 2 * thresholds)
    return np.where(n_star > 0, n_star + cycle - np.where(latest > 0, dropped, 0), 0)


def local_time(situation: Situation, epsilon: float) -> int:
    """Return the time after which an agent alone stays within ε of its mean.

    Examples
    --------
    >>> local_time(Situation([0.2] * 200, sigma=0.5, delta=0.001), 0.1)
    885

    Notes
    -----
    ⌈β⁻¹(ε)⌉ (Section 5).
    """
    return situation.bound.inverse(_check.positive("epsilon", epsilon))


def model_time(situation: Situation, epsilon: float) -> int:
    """Return the time after which an estimate weighed by a model is sure to stay within ε.

    With probability at least 1 - γ, whatever the class test and the peers.  The estimate of
    ``sharp`` is of this kind, and nothing better is promised of it.

    Examples
    --------
    >>> model_time(Situation([0.2] * 200, sigma=0.5, delta=0.001, class_test="joint"), 0.1)
    3357

    Notes
    -----
    β⁻¹(ε/2): mean and estimate are both in the agent's own interval, at most 2 β(n) apart.
    """
    return situation.bound.inverse(_check.positive("epsilon", epsilon) / 2)


def oracle_times(situation: Situation, epsilon: float) -> Times:
    """Return the time after which an agent that knows its class stays within ε, rounded up.

    Examples
    --------
    >>> oracle_times(Situation([0.2] * 67 + [0.8] * 133, sigma=0.5, delta=0.001), 0.01)[0]
    np.int64(1529)

    Notes
    -----
    ⌈β⁻¹(ε)⌉ / |C_a| + (|C_a| - 1) / 2; with η > 0, ⌈β⁻¹(ε)⌉ + |C_a| - 1 (Theorems 2 and 4).
    """
    needed, sizes = local_time(situation, epsilon), class_sizes(situation)
    if situation.eta > 0:
        return needed + sizes - 1
    return np.ceil(needed / sizes + (sizes - 1) / 2).astype(np.int64)


def full_information_times(situation: Situation, epsilon: float) -> Times:
    """Return the time to ε for an agent that knows its class and hears all of it every step.

    Examples
    --------
    >>> full_information_times(Situation([0.2] * 67, sigma=0.5, delta=0.001), 0.01)[0]
    np.int64(1413)

    Notes
    -----
    ⌈β⁻¹(ε)⌉ / |C_a| rounded up (Section 5); with η > 0 each mean must be known: ⌈β⁻¹(ε)⌉.
    """
    needed, sizes = local_time(situation, epsilon), class_sizes(situation)
    if situation.eta > 0:
        return np.full(situation.n_agents, needed)
    return -(-needed // sizes)


def convergence_times(situation: Situation, epsilon: float) -> Times:
    """Return τ: after it, the estimate of each agent stays within ε of its target.

    With probability at least 1 - δ/4 for each agent, with simple weights and the agent's mean as
    target, or with η > 0 class-uniform weights and the mean of its η-class.

    Examples
    --------
    >>> situation = Situation([0.2] * 67 + [0.4] * 67 + [0.8] * 66, sigma=0.5, delta=0.001)
    >>> convergence_times(situation, 0.01)[[0, 199]].tolist()
    [3813, 1551]

    Notes
    -----
    τ_a = max(ζ_a, oracle time) (Theorems 2 and 4); for the joint test max(ζ_a + |C_a| - 1, oracle
    time), which leaves time to hear again of every classmate (Theorem J).
    """
    return np.maximum(_fresh_times(situation), oracle_times(situation, epsilon))


def _fresh_times(situation: Situation) -> Times:
    """Return when the counts of classmates are taken to be those of a class always known."""
    zeta = identification_times(situation)
    if situation.class_test == ClassTest.OVERLAP:  # as printed in the paper
        return zeta
    return np.where(zeta > 0, zeta + class_sizes(situation) - 1, 0)


def epsilon_thresholds(situation: Situation) -> NDArray[np.float64]:
    """Return, for each agent, the accuracy below which collaboration beats being alone.

    Infinite when the agent's class is everybody: collaboration always pays.

    Examples
    --------
    >>> situation = Situation([0.2] * 67 + [0.4] * 67 + [0.8] * 66, sigma=0.5, delta=0.001)
    >>> epsilon_thresholds(situation)[[0, 199]].round(4).tolist()
    [0.0491, 0.0935]

    Notes
    -----
    ε < β(ζ_a) (Section 5, the condition after Theorem 2); for the joint test
    ε < β(ζ_a + |C_a| - 1) (Theorem J).
    """
    return situation.bound.radius(_fresh_times(situation))


def plan(
    class_means: Sequence[float],
    class_sizes: Sequence[int],
    sigma: float,
    delta: float,
    epsilons: Sequence[float],
    eta: float = 0.0,
) -> dict[str, Any]:
    """Return all times for each class as plain values; a threshold without bound is None.

    The times are the paper's; those of the joint test are under ``joint``, laid out alike.

    Examples
    --------
    >>> both = plan([0.2, 0.8], [100, 100], sigma=0.5, delta=0.001, epsilons=[0.1])
    >>> both["classes"][0]["zeta"], both["joint"]["classes"][0]["zeta"]
    (584, 408)
    """
    sizes = _check.class_sizes(class_sizes, len(class_means))
    means = np.repeat(np.asarray(class_means, np.float64), sizes)
    overlap, joint = (
        _plan(class_means, sizes, Situation(means, sigma, delta, eta, test), epsilons)
        for test in (ClassTest.OVERLAP, ClassTest.JOINT)
    )
    return overlap | {"joint": joint}


def _plan(
    class_means: Sequence[float],
    sizes: Times,
    situation: Situation,
    epsilons: Sequence[float],
) -> dict[str, Any]:
    first = np.cumsum(sizes) - sizes
    n_star, zeta = needed_samples(situation), identification_times(situation)
    thresholds = epsilon_thresholds(situation)
    tau = {f"{e:g}": convergence_times(situation, e) for e in epsilons}
    oracle = {f"{e:g}": oracle_times(situation, e) for e in epsilons}
    local = {f"{e:g}": local_time(situation, e) for e in epsilons}
    classes = [
        {
            "mean": class_means[k],
            "size": int(sizes[k]),
            "n_star": int(n_star[a]),
            "zeta": int(zeta[a]),
            "tau": {key: int(times[a]) for key, times in tau.items()},
            "tau_local": local,
            "tau_oracle": {key: int(times[a]) for key, times in oracle.items()},
            "epsilon_threshold": _bounded(thresholds[a]),
        }
        for k, a in enumerate(first)
        if sizes[k] > 0
    ]
    return {
        "epsilon_threshold": _bounded(thresholds.min()),
        "risk": {"zeta": situation.delta / 8, "tau": situation.delta / 4},
        "tau_model": {f"{e:g}": model_time(situation, e) for e in epsilons},
        "classes": classes,
    }


def _bounded(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _margin(situation: Situation) -> NDArray[np.float64]:
    """Return how far the nearest agent beyond η is beyond it; infinite if there is none."""
    values, means = np.unique(situation.means), situation.means
    below, above = _bracket(values, means, np.full(means.size, situation.eta))
    padded = np.concatenate(([-np.inf], values, [np.inf]))
    gaps: NDArray[np.float64] = np.minimum(padded[above + 1] - means, means - padded[below])
    return gaps - situation.eta
