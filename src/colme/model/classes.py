"""A few classes among outliers, fitted to the means on the scratch.

Lives here: expectation and maximisation, and when there is a class more or less.  Must not know
agents.
"""

from __future__ import annotations

import math

from colme._compile import compiled
from colme.model.mixture import LEAST_OUTLIERS, NORMAL_PEAK, component_density
from colme.model.state import OUTLIERS, Model, Scratch
from colme.rules import Numbers

_CLASS_COST = 0.3
"""The cost of a class, in multiples of the squared logarithm of the number of means."""
_TRIAL_STEPS = 2
"""Steps in which a class gathers its means before it can be removed."""
_CHANCE = 4.5
"""A class is spread out if its means scatter by this many standard deviations beyond noise."""
_CLOSEST = 9.0
"""Classes less than 3 standard errors apart are one: squared."""
_SETTLED = 0.05
"""A fit has settled when no class moves by more standard errors than this."""
_CHUNK = 16
"""This many factors between 1e-12 and 1e12 can be multiplied before taking a logarithm."""


@compiled
def sum_of_logarithms(n: int, values: Numbers) -> float:
    """Return Σ ln values, with few logarithms.

    Examples
    --------
    >>> sum_of_logarithms(3, [1.0, 2.0, 0.5])
    0.0
    """
    total, l = 0.0, 0
    while l + _CHUNK <= n:
        product = 1.0
        for i in range(l, l + _CHUNK):
            product *= values[i]
        total += math.log(product)
        l += _CHUNK
    product = 1.0
    for i in range(l, n):
        product *= values[i]
    return total + math.log(product)


@compiled
def explain(
    n: int, size: int, width: float, atoms: Numbers, shares: Numbers, scratch: Scratch
) -> float:
    """Write the density of every mean, by class and in all; return the log-likelihood.

    Densities are in units of the outliers', so that no choice of units can overflow.

    Examples
    --------
    >>> from colme.model import MAX_CLASSES
    >>> scratch = Scratch.blank(1)._replace(precisions=[1.0], roots=[1.0])
    >>> shares = [1.0] + [0.0] * MAX_CLASSES
    >>> round(explain(1, 1, 2.0, [0.0] * (MAX_CLASSES + 1), shares, scratch), 3)
    -0.226

    Notes
    -----
    x̄_l ~ Σ_k p_k N(m_k, 1/w_l) + p_0 / width.
    """
    means, precisions, roots, explained = (
        scratch.means,
        scratch.precisions,
        scratch.roots,
        scratch.explained,
    )
    for l in range(n):
        explained[l] = shares[OUTLIERS]
    for k in range(size):
        atom, share, density = atoms[k], shares[k] * NORMAL_PEAK * width, scratch.densities[k]
        for l in range(n):
            value = component_density(share, means[l] - atom, roots[l], precisions[l])
            density[l] = value
            explained[l] += value
    return sum_of_logarithms(n, explained)


@compiled
def class_cost(n: int) -> float:
    """Return what a class costs, in log-likelihood, among n means.

    Examples
    --------
    >>> round(class_cost(200), 2)
    8.42

    Notes
    -----
    0.3 ln² n.  The Bayesian information criterion charges ln n for a mean and a share.  Agents fit
    again and again, and in a large fleet some class always looks like two to somebody, so 200
    agents pay half more, and a dozen less.
    """
    return _CLASS_COST * math.log(n) ** 2


@compiled
def _class_of(me: int, size: int, shares: Numbers, scratch: Scratch) -> int:
    """Return the class that explains mean `me` best; -1 if outliers do, or without that mean."""
    best, most = -1, shares[OUTLIERS]
    if me >= 0:
        for k in range(size):
            if scratch.densities[k][me] > most:
                best, most = k, scratch.densities[k][me]
    return best


@compiled
def _em_step(
    n: int,
    size: int,
    kept_class: int,
    penalty: float,
    atoms: Numbers,
    shares: Numbers,
    scratch: Scratch,
) -> tuple[int, float]:
    """Move each class to the means it explains; return (classes left, largest move).

    The class whose means outliers would explain almost as well, losing less than `penalty` of the
    log-likelihood, is removed, unless it is `kept_class`; so is any that explains less than one
    mean.  Moves are counted in standard errors.
    """
    means, precisions, explained, left = (
        scratch.means,
        scratch.precisions,
        scratch.explained,
        scratch.left,
    )
    masses, weights, totals = scratch.masses, scratch.weights, scratch.totals
    outliers = 0.0
    for l in range(n):
        explained[l] = 1.0 / explained[l]
        outliers += explained[l]
    outliers *= shares[OUTLIERS]
    weakest, least = -1, penalty
    for k in range(size):
        density, as_outliers = scratch.densities[k], shares[k]
        mass = weight = total = 0.0
        for l in range(n):
            chance = density[l] * explained[l]
            mass += chance
            weight += chance * precisions[l]
            total += chance * precisions[l] * means[l]
            left[l] = 1.0 + 1e-12 - chance + as_outliers * explained[l]
        gain = -sum_of_logarithms(n, left)
        if gain < least and k != kept_class:
            weakest, least = k, gain
        masses[k], weights[k], totals[k] = mass, weight, total
    kept, move = 0, 0.0
    for k in range(size):
        if k != weakest and masses[k] > 1.0:
            atom = totals[k] / weights[k]
            step = abs(atom - atoms[k]) * math.sqrt(weights[k])
            move = step if step > move else move
            atoms[kept], shares[kept] = atom, masses[k]
            kept += 1
    least_outliers = LEAST_OUTLIERS * n
    shares[OUTLIERS] = outliers if outliers > least_outliers else least_outliers
    return kept, move


@compiled
def _merge_closest(size: int, precision: float, atoms: Numbers, shares: Numbers) -> int:
    """Merge the two classes that are least apart, if that is too little; return what is left.

    `shares` count means here, each of that precision.
    """
    first, second, nearest = -1, -1, _CLOSEST
    for k in range(size):
        for j in range(k):
            gap = atoms[k] - atoms[j]
            apart = gap * gap * precision * shares[k] * shares[j] / (shares[k] + shares[j])
            if apart < nearest:
                first, second, nearest = j, k, apart
    if first < 0:
        return size
    both = shares[first] + shares[second]
    atoms[first] = (shares[first] * atoms[first] + shares[second] * atoms[second]) / both
    shares[first] = both
    atoms[second], shares[second] = atoms[size - 1], shares[size - 1]
    return size - 1


@compiled
def em_fit(
    n: int,
    size: int,
    me: int,
    steps: int,
    width: float,
    atoms: Numbers,
    shares: Numbers,
    scratch: Scratch,
) -> tuple[int, float]:
    """Fit the classes by expectation and maximisation; return (classes, penalised likelihood).

    The class of mean `me` stays, however small: for an agent's own class; -1: none.

    Examples
    --------
    >>> from colme.model import MAX_CLASSES
    >>> scratch = Scratch.blank(40)._replace(
    ...     means=[0.0] * 20 + [1.0] * 20, precisions=[400.0] * 40, roots=[20.0] * 40
    ... )
    >>> atoms = [0.05, 0.95] + [0.0] * (MAX_CLASSES - 1)
    >>> shares = [0.4, 0.4] + [0.0] * (MAX_CLASSES - 2) + [0.2]
    >>> size, _ = em_fit(40, 2, -1, 15, 1.0, atoms, shares, scratch)
    >>> size, [round(atom, 6) for atom in atoms[:2]]
    (2, [0.0, 1.0])
    """
    penalty = class_cost(n)
    precision = 0.0
    for l in range(n):
        precision += scratch.precisions[l] / n
    for step in range(steps):
        explain(n, size, width, atoms, shares, scratch)
        before, tried = size, step >= _TRIAL_STEPS
        mine, least = _class_of(me, size, shares, scratch), penalty if tried else -math.inf
        size, move = _em_step(n, size, mine, least, atoms, shares, scratch)
        if tried:
            size = _merge_closest(size, precision, atoms, shares)
        total = shares[OUTLIERS]
        for k in range(size):
            total += shares[k]
        for k in range(size):
            shares[k] /= total
        shares[OUTLIERS] /= total
        if size == before and move < _SETTLED and step > 2:
            break
    return size, explain(n, size, width, atoms, shares, scratch) - penalty * size


@compiled
def fit_variances(n: int, size: int, width: float, model: Model, scratch: Scratch) -> None:
    """Write by how much the means of each class scatter more than their noise explains.

    Examples
    --------
    >>> scratch = Scratch.blank(40)._replace(
    ...     means=[0.0] * 20 + [1.0] * 20, precisions=[4.0] * 40, roots=[2.0] * 40
    ... )
    >>> model = Model.blank()
    >>> model.atoms[0], model.shares[0] = 0.5, 1.0
    >>> fit_variances(40, 1, 1.0, model, scratch)
    >>> model.variances[0]  # each mean is one standard error off, as it should be
    0.0

    Notes
    -----
    Q = Σ r w (x̄ - m)² / Σ r is 1 ± √(2 / Σ r) for a true class.  What is beyond 4.5 of these
    deviations, over the average precision, is the variance of the class.
    """
    explain(n, size, width, model.atoms, model.shares, scratch)
    means, precisions, explained = scratch.means, scratch.precisions, scratch.explained
    for k in range(size):
        density, atom = scratch.densities[k], model.atoms[k]
        mass = weight = scatter = 0.0
        for l in range(n):
            chance, off = density[l] / explained[l], means[l] - atom
            mass += chance
            weight += chance * precisions[l]
            scatter += chance * precisions[l] * off * off
        excess = scatter - mass - _CHANCE * math.sqrt(2.0 * mass)
        model.variances[k] = excess / weight if excess > 0.0 else 0.0
