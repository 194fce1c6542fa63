"""When an estimate is accurate, with peers and without, and for which accuracy peers help.

Lives here: Theorems 2, 4 and J, and the times of baselines.  Must not know how classes are found.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colme import _check
from colme.algorithm import ClassTest
from colme.theory.identification import identification_times
from colme.theory.situation import Situation, Times, class_sizes


def local_time(situation: Situation, epsilon: float) -> int:
    """Return the time after which an agent on its own stays within ε of its mean.

    Examples
    --------
    >>> local_time(Situation([0.2] * 200, sigma=0.5, delta=0.001), 0.1)
    885

    Notes
    -----
    ⌈β⁻¹(ε)⌉ samples (Section 5).
    """
    return situation.steps(_alone(situation, epsilon))


def _alone(situation: Situation, epsilon: float) -> int:
    """Return the number of samples from which on their mean stays within ε."""
    return situation.bound.inverse(_check.positive("epsilon", epsilon))


def model_time(situation: Situation, epsilon: float) -> int:
    """Return the time after which an estimate weighted by a model is guaranteed to stay within ε.

    With probability at least 1 - γ, whatever the class test and the peers.  The estimate of
    ``sharp`` is of this kind, and has no better guarantee.

    Examples
    --------
    >>> model_time(Situation([0.2] * 200, sigma=0.5, delta=0.001, class_test="joint"), 0.1)
    3357

    Notes
    -----
    β⁻¹(ε/2) samples: mean and estimate are both in the agent's own interval, at most 2 β(n) apart.
    """
    return situation.steps(_alone(situation, _check.positive("epsilon", epsilon) / 2))


def oracle_times(situation: Situation, epsilon: float) -> Times:
    """Return the time after which an agent that knows its class stays within ε, rounded up.

    Examples
    --------
    >>> oracle_times(Situation([0.2] * 67 + [0.8] * 133, sigma=0.5, delta=0.001), 0.01)[0]
    np.int64(1529)

    Notes
    -----
    ⌈β⁻¹(ε)⌉ / (m |C_a|) + (|C_a| - 1) / 2 for batches of m; with η > 0, ⌈β⁻¹(ε) / m⌉ + |C_a| - 1
    (Theorems 2 and 4).
    """
    sizes = class_sizes(situation)
    if situation.eta > 0:
        return local_time(situation, epsilon) + sizes - 1
    together = _alone(situation, epsilon) / situation.batch / sizes
    return np.ceil(together + (sizes - 1) / 2).astype(np.int64)


def full_information_times(situation: Situation, epsilon: float) -> Times:
    """Return the time to ε for an agent that knows its class and hears all of it every step.

    Examples
    --------
    >>> full_information_times(Situation([0.2] * 67, sigma=0.5, delta=0.001), 0.01)[0]
    np.int64(1413)

    Notes
    -----
    ⌈β⁻¹(ε)⌉ / (m |C_a|) rounded up for batches of m (Section 5); with η > 0 each mean must be
    known: ⌈β⁻¹(ε) / m⌉.
    """
    alone, sizes = local_time(situation, epsilon), class_sizes(situation)
    if situation.eta > 0:
        return np.full(situation.n_agents, alone)
    return -(-alone // sizes)


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
    """Return when counts of classmates are as large as if the class had always been known."""
    zeta = identification_times(situation)
    if situation.class_test == ClassTest.OVERLAP:  # as printed in the paper
        return zeta
    return np.where(zeta > 0, zeta + class_sizes(situation) - 1, 0)


def epsilon_thresholds(situation: Situation) -> NDArray[np.float64]:
    """Return, for each agent, the accuracy below which collaboration is faster than working alone.

    It is infinite for an agent whose class is everybody: collaboration always pays.

    Examples
    --------
    >>> situation = Situation([0.2] * 67 + [0.4] * 67 + [0.8] * 66, sigma=0.5, delta=0.001)
    >>> epsilon_thresholds(situation)[[0, 199]].round(4).tolist()
    [0.0491, 0.0935]

    Notes
    -----
    ε < β(m ζ_a) for batches of m (Section 5, the condition after Theorem 2); for the joint test
    ε < β(m (ζ_a + |C_a| - 1)) (Theorem J).
    """
    return situation.bound.radius(situation.batch * _fresh_times(situation))
