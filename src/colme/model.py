"""A model of the means an agent has heard of, and what it says about the agent's own.

Lives here: two descriptions of the row, weighed by how well they fit: a few classes, each with
one mean, among strays; or one crowd, spread like a bell, among strays.  The derivation is in
docs/8-sharp.md.  Must not know time, I/O, randomness or the class test.
"""

from __future__ import annotations

import math
from collections.abc import MutableSequence, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colme._compile import compiled, exponential
from colme.rules import Flags, Numbers, Row, remember
from colme.summary import View

__all__ = [
    "MOST_CLASSES",
    "N_FACTS",
    "Bench",
    "Model",
    "chances",
    "enter",
    "expected_mean",
    "gather",
    "hear",
    "learn_noise",
    "likely",
    "mean_precision",
    "refit",
    "refit_due",
    "reset",
]

Table: TypeAlias = MutableSequence[Numbers] | NDArray[np.float64]

MOST_CLASSES = 8
"""A fit starts from so many classes; more than that are described as a crowd."""
_STRAYS = MOST_CLASSES
"""Where `shares` keeps the strays', and the sums the crowd's."""
_NEXT, _SIZE, _WIDTH, _TRUST, _CROWD_MEAN, _CROWD_VARIANCE, _NOISE, _FRESH = range(8)
N_FACTS = 8

_FEWEST = 3
"""Means needed for a fit."""
_REFIT_RATIO, _FRESH_RATIO = 1.2, 1.5
"""A fit is kept until the agent has so many times the samples; so is a fit from quantiles."""
_CLASS_COST = 1.5
"""A class costs so many times the logarithm of the number of means."""
_SCALE_COUNT, _NOISE_COUNT = 1.0, 10.0
"""So many samples the scale counts for in everybody's noise, and that noise in one stream's."""
_FRESH_STEPS, _WARM_STEPS, _CROWD_STEPS = 15, 5, 3
"""Steps of the fit: from quantiles, from the last fit, of the crowd."""
_CHANCE = 3.0
"""A class is spread out if its means scatter by so many standard deviations more than noise."""
_CLOSEST = 9.0
"""Classes less than 3 standard errors apart are one: squared."""
_SETTLED = 0.05
"""A fit has settled when no class moves by more standard errors than this."""
_LEAST_STRAYS = 1e-5
"""Share of strays when all means are explained: what an agent 4 standard errors off needs."""
_CROWD_STRAYS = 0.2
"""Share of strays beside a crowd."""
_WIDEST = 1e12
"""Strays lie over at most so many standard errors, which keeps products of densities finite."""
_MOST_LOG_ODDS = 50.0
_CHUNK = 16
"""So many factors between 1e-12 and 1e12 can be multiplied before taking a logarithm."""
_BELL = 1 / math.sqrt(2 * math.pi)


class Model(NamedTuple):
    """The last fit, and sums over the members that are kept up to date between fits.

    Attributes
    ----------
    facts
        When to fit again, how many classes, the width over which strays lie (0: not fitted), how
        far to trust the classes rather than the crowd, the crowd's mean and variance, the variance
        of a sample averaged over all streams, and when to fit from quantiles again.
    atoms, shares, variances
        Mean, share and spread of each class, 0 unless it must be several that are not told apart
        yet; the last share is the strays'.
    weights, totals
        Σ weights and Σ weights · means of the members, for each class; the last are the crowd's.

    Examples
    --------
    >>> refit_due(Model.blank(), 2), refit_due(Model.blank(), 3)
    (False, True)
    """

    facts: Numbers
    atoms: Numbers
    shares: Numbers
    variances: Numbers
    weights: Numbers
    totals: Numbers

    @staticmethod
    def blank() -> Model:
        """Return a model of lists, not fitted yet."""
        model = Model([0.0] * N_FACTS, *([0.0] * (MOST_CLASSES + 1) for _ in range(5)))
        reset(model)
        return model

    @staticmethod
    def of(parts: Sequence[Sequence[float]]) -> Model:
        """Return a model of lists with these numbers; refuse what no fit can have left."""
        model = Model.blank()
        if (
            [len(part) for part in parts] != [len(part) for part in model]
            or not all(math.isfinite(value) for part in parts for value in part)
            or parts[0][_SIZE] not in range(MOST_CLASSES + 1)
        ):
            raise ValueError(f"a model is {N_FACTS} facts and 5 lists of classes; received {parts}")
        return Model(*(list(part) for part in parts))


class Bench(NamedTuple):
    """Room to work in: nothing here outlives a call.

    Examples
    --------
    >>> len(Bench.blank(5).means)
    5
    """

    means: Numbers
    precisions: Numbers
    roots: Numbers
    explained: Numbers
    left: Numbers
    densities: Table
    atoms: Numbers
    shares: Numbers
    masses: Numbers
    weights: Numbers
    totals: Numbers
    chances: Numbers
    own: Numbers

    @staticmethod
    def blank(n: int) -> Bench:
        """Return a bench of lists for a row of n."""
        a, b, c, d, e = ([0.0] * n for _ in range(5))
        table: list[Numbers] = [[0.0] * n for _ in range(MOST_CLASSES)]
        f, g, h, i, j, k, l = ([0.0] * (MOST_CLASSES + 1) for _ in range(7))
        return Bench(a, b, c, d, e, table, f, g, h, i, j, k, l)


@compiled
def reset(model: Model) -> None:
    """Forget every fit.

    Examples
    --------
    >>> model = Model.blank()
    >>> refit(0, 0, 3, Row.blank(0), model, Bench.blank(0))
    >>> reset(model)
    >>> refit_due(model, 3)
    True
    """
    for i in range(N_FACTS):
        model.facts[i] = 0.0
    for k in range(MOST_CLASSES + 1):
        model.atoms[k] = model.shares[k] = model.variances[k] = 0.0
        model.weights[k] = model.totals[k] = 0.0
    model.facts[_NEXT] = float(_FEWEST)


@compiled
def refit_due(model: Model, count: float) -> bool:
    """Return whether an agent with so many samples should fit again.

    Examples
    --------
    >>> refit_due(Model.blank(), 10)
    True
    """
    return count >= model.facts[_NEXT]


@compiled
def _sum_of_logarithms(n: int, values: Numbers) -> float:
    """Return Σ ln values, with few logarithms."""
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
def _explain(
    n: int, size: int, width: float, atoms: Numbers, shares: Numbers, bench: Bench
) -> float:
    """Write the density of every mean, by class and in all; return the log-likelihood.

    Densities are in units of the strays', so that no choice of units can overflow.

    Notes
    -----
    x̄_l ~ Σ_k p_k N(m_k, 1/w_l) + p_0 / width.
    """
    means, precisions, roots, explained = (
        bench.means,
        bench.precisions,
        bench.roots,
        bench.explained,
    )
    for l in range(n):
        explained[l] = shares[_STRAYS]
    for k in range(size):
        atom, share, density = atoms[k], shares[k] * _BELL * width, bench.densities[k]
        for l in range(n):
            off = means[l] - atom
            value = share * roots[l] * exponential(-0.5 * off * off * precisions[l])
            density[l] = value
            explained[l] += value
    return _sum_of_logarithms(n, explained)


@compiled
def _improve(
    n: int, size: int, penalty: float, atoms: Numbers, shares: Numbers, bench: Bench
) -> tuple[int, float]:
    """Move each class to the means it explains; return (classes left, largest move).

    The class whose means strays would explain almost as well, losing less than `penalty` of the
    log-likelihood, is removed, and so is one that explains less than one mean.  Moves are counted
    in standard errors.
    """
    means, precisions, explained, left = (
        bench.means,
        bench.precisions,
        bench.explained,
        bench.left,
    )
    masses, weights, totals = bench.masses, bench.weights, bench.totals
    strays = 0.0
    for l in range(n):
        explained[l] = 1.0 / explained[l]
        strays += explained[l]
    strays *= shares[_STRAYS]
    weakest, least = -1, penalty
    for k in range(size):
        density, as_strays = bench.densities[k], shares[k]
        mass = weight = total = 0.0
        for l in range(n):
            chance = density[l] * explained[l]
            mass += chance
            weight += chance * precisions[l]
            total += chance * precisions[l] * means[l]
            left[l] = 1.0 + 1e-12 - chance + as_strays * explained[l]
        gain = -_sum_of_logarithms(n, left)
        if gain < least:
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
    least_strays = _LEAST_STRAYS * n
    shares[_STRAYS] = strays - 1.0 if strays - 1.0 > least_strays else least_strays
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
def _settle(
    n: int,
    size: int,
    steps: int,
    width: float,
    atoms: Numbers,
    shares: Numbers,
    bench: Bench,
) -> tuple[int, float]:
    """Fit the classes by expectation and maximisation; return (classes, penalised likelihood).

    Notes
    -----
    Each class costs 1.5 ln n: three halves of what the Bayesian information criterion charges for
    its mean and its share, because agents fit again and again.
    """
    penalty = _CLASS_COST * math.log(n)
    precision = 0.0
    for l in range(n):
        precision += bench.precisions[l] / n
    for step in range(steps):
        _explain(n, size, width, atoms, shares, bench)
        before = size
        size, move = _improve(n, size, penalty, atoms, shares, bench)
        if step > 1:
            size = _merge_closest(size, precision, atoms, shares)
        total = shares[_STRAYS]
        for k in range(size):
            total += shares[k]
        for k in range(size):
            shares[k] /= total
        shares[_STRAYS] /= total
        if size == before and move < _SETTLED and step > 2:
            break
    return size, _explain(n, size, width, atoms, shares, bench) - penalty * size


@compiled
def _fit_crowd(n: int, width: float, model: Model, bench: Bench) -> float:
    """Fit one bell among strays, starting from its mean and variance; return its likelihood."""
    means, precisions, explained = bench.means, bench.precisions, bench.explained
    log_likelihood = 0.0
    for step in range(_CROWD_STEPS):
        center, variance = model.facts[_CROWD_MEAN], model.facts[_CROWD_VARIANCE]
        mass = weight = total = excess = 0.0
        for l in range(n):
            precision = precisions[l]
            shrunk = precision / (1.0 + variance * precision)
            off = means[l] - center
            density = (1.0 - _CROWD_STRAYS) * _BELL * width * math.sqrt(shrunk)
            density *= exponential(-0.5 * off * off * shrunk)
            explained[l] = density + _CROWD_STRAYS
            chance = density / explained[l]
            mass += chance
            weight += chance * shrunk
            total += chance * shrunk * means[l]
            excess += chance * (off * off - 1.0 / precision)
        log_likelihood = _sum_of_logarithms(n, explained)
        if step + 1 < _CROWD_STEPS and mass > 1.0:
            model.facts[_CROWD_MEAN] = total / weight
            model.facts[_CROWD_VARIANCE] = excess / mass if excess > 0.0 else 0.0
    return log_likelihood


@compiled
def _sort(n: int, result: Numbers, values: Numbers) -> None:
    """Write the first n values in order: Shell's sort, which compiles in no time."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    for l in range(n):
        result[l] = values[l]
    while gap > 0:
        for l in range(gap, n):
            value, i = result[l], l
            while i >= gap and result[i - gap] > value:
                result[i] = result[i - gap]
                i -= gap
            result[i] = value
        gap //= 3


@compiled
def _pack(n: int, row: Row, bench: Bench) -> int:
    """Copy the means heard of to the bench; return how many there are."""
    known = 0
    for l in range(n):
        if row.precisions[l] > 0.0:
            bench.means[known] = row.means[l]
            bench.precisions[known] = row.precisions[l]
            bench.roots[known] = math.sqrt(row.precisions[l])
            known += 1
    return known


@compiled
def _size_up(n: int, model: Model, bench: Bench) -> float:
    """Start the crowd from its moments; return the width over which strays lie."""
    means, precisions = bench.means, bench.precisions
    low = high = means[0]
    mean = noise = 0.0
    for l in range(n):
        low = means[l] if means[l] < low else low
        high = means[l] if means[l] > high else high
        mean += means[l] / n
        noise += 1.0 / precisions[l] / n
    squares = 0.0
    for l in range(n):
        squares += (means[l] - mean) ** 2 / (n - 1)
    variance = squares - noise if squares > noise else 0.0
    model.facts[_CROWD_MEAN], model.facts[_CROWD_VARIANCE] = mean, variance
    # A uniform distribution of that variance is √(12 variance) wide; never less than the means
    # span, nor than their noise.
    noise = math.sqrt(noise)
    width = max(1.5 * math.sqrt(12.0 * variance), high - low, 2.0 * noise)
    return min(width, _WIDEST * noise)


@compiled
def _fit_anew(n: int, width: float, bench: Bench) -> tuple[int, float]:
    """Fit classes from quantiles of the means, on the bench; return (classes, likelihood)."""
    size = MOST_CLASSES if n > MOST_CLASSES else n
    _sort(n, bench.left, bench.means)
    for k in range(size):
        bench.atoms[k] = bench.left[int((k + 0.5) * n / size)]
        bench.shares[k] = 0.5 / size
    bench.shares[_STRAYS] = 0.5
    return _settle(n, size, _FRESH_STEPS, width, bench.atoms, bench.shares, bench)


@compiled
def mean_precision(count: float, squares: float, model: Model) -> float:
    """Return one over the variance of a mean of `count` samples with Σ (x - x̄)² = `squares`.

    Examples
    --------
    >>> model = Model.blank()
    >>> learn_noise(1, 0.5, Row.blank(1), model)
    >>> mean_precision(4, 0.75, model), mean_precision(0, 0.0, model)
    (16.0, 0.0)

    Notes
    -----
    n / v with v = (10 v̄ + Σ (x - x̄)²) / (10 + n - 1), where v̄ is what `learn_noise` has found.
    """
    known = _NOISE_COUNT * model.facts[_NOISE] + squares
    return count * (_NOISE_COUNT + count - 1.0) / known if known > 0.0 else 0.0


@compiled
def learn_noise(n: int, scale: float, row: Row, model: Model) -> None:
    """Estimate the variance of a sample from all streams; bring the row's precisions up to date.

    `scale` is the most that the standard deviation can be.  It is safe, and often far too large
    (half the range, say), so it counts for one sample only.

    Examples
    --------
    >>> row, model = Row.blank(2)._replace(counts=[5.0, 6.0], squares=[0.04, 0.05]), Model.blank()
    >>> learn_noise(2, 0.1, row, model)
    >>> [round(precision) for precision in row.precisions]
    [500, 600]
    """
    counts, squares = row.counts, row.squares
    total, degrees = 0.0, 0.0
    if scale < math.inf:
        total, degrees = _SCALE_COUNT * scale * scale, _SCALE_COUNT
    for l in range(n):
        total += squares[l]
        degrees += counts[l] - 1.0 if counts[l] > 0.0 else 0.0
    model.facts[_NOISE] = total / degrees if degrees > 0.0 else 0.0
    for l in range(n):
        row.precisions[l] = mean_precision(counts[l], squares[l], model)


@compiled
def _found(a: int, n: int, size: int, width: float, row: Row, model: Model, bench: Bench) -> int:
    """Start one more class, where there may be a small one; return how many there are.

    A small class can lie between all quantiles.  An agent that looks like a stray looks for its
    own class; any other starts at the mean that the classes explain worst.  What turns out to be
    no class is removed in the next step.
    """
    if size == MOST_CLASSES:
        return size
    model.facts[_WIDTH] = width
    chances(row.means[a], row.precisions[a], model, bench.own)
    belonging = 0.0
    for k in range(size):
        belonging += bench.own[k]
    place = row.means[a]
    if belonging > 0.5:
        _explain(n, size, width, model.atoms, model.shares, bench)
        means, explained = bench.means, bench.explained
        worst = 0
        for l in range(n):
            worst = l if explained[l] < explained[worst] else worst
        place = means[worst]
    model.shares[_STRAYS] /= 2.0
    model.atoms[size], model.shares[size] = place, model.shares[_STRAYS]
    return size + 1


@compiled
def _spread_out(n: int, size: int, width: float, model: Model, bench: Bench) -> None:
    """Write by how much the means of each class scatter more than their noise explains.

    Notes
    -----
    Q = Σ r w (x̄ - m)² / Σ r is 1 ± √(2 / Σ r) for a true class.  What is beyond three of these
    deviations, over the average precision, is the variance of the class.
    """
    _explain(n, size, width, model.atoms, model.shares, bench)
    means, precisions, explained = bench.means, bench.precisions, bench.explained
    for k in range(size):
        density, atom = bench.densities[k], model.atoms[k]
        mass = weight = scatter = 0.0
        for l in range(n):
            chance, off = density[l] / explained[l], means[l] - atom
            mass += chance
            weight += chance * precisions[l]
            scatter += chance * precisions[l] * off * off
        excess = scatter - mass - _CHANCE * math.sqrt(2.0 * mass)
        model.variances[k] = excess / weight if excess > 0.0 else 0.0


@compiled
def refit(a: int, n: int, count: float, row: Row, model: Model, bench: Bench) -> None:
    """Fit the model to the n means of the row, for agent a, which has so many samples.

    Excluded peers are fitted too: to leave out those that chance has carried far away would make
    the others look closer than they are.

    Examples
    --------
    >>> row, model = Row.blank(40), Model.blank()
    >>> row.means[:] = [0.0] * 20 + [1.0] * 20
    >>> row.precisions[:] = [100.0] * 40
    >>> refit(0, 40, 10, row, model, Bench.blank(40))
    >>> sorted(round(atom, 6) for atom in model.atoms[:2]), refit_due(model, 11)
    ([0.0, 1.0], False)
    """
    later = float(math.floor(count * _REFIT_RATIO))
    model.facts[_NEXT] = later if later > count + 1.0 else count + 1.0
    known = _pack(n, row, bench)
    if known < _FEWEST:
        return
    width = _size_up(known, model, bench)
    for l in range(known):
        if bench.roots[l] > _WIDEST / width:
            bench.roots[l] = _WIDEST / width
            bench.precisions[l] = bench.roots[l] ** 2
    fresh, best = 0, -math.inf
    if count >= model.facts[_FRESH]:
        model.facts[_FRESH] = count * _FRESH_RATIO
        fresh, best = _fit_anew(known, width, bench)
    size = int(model.facts[_SIZE])
    warm = -math.inf
    if size > 0:
        size = _found(a, known, size, width, row, model, bench)
        size, warm = _settle(known, size, _WARM_STEPS, width, model.atoms, model.shares, bench)
    if best > warm:
        size = fresh
        for k in range(MOST_CLASSES + 1):
            model.atoms[k], model.shares[k] = bench.atoms[k], bench.shares[k]
    _spread_out(known, size, width, model, bench)
    log_odds = max(best, warm) - _fit_crowd(known, width, model, bench)
    log_odds = min(max(log_odds, -_MOST_LOG_ODDS), _MOST_LOG_ODDS)
    model.facts[_SIZE], model.facts[_WIDTH] = float(size), width
    model.facts[_TRUST] = 1.0 / (1.0 + math.exp(-log_odds)) if size > 0 else 0.0


@compiled
def chances(mean: float, precision: float, model: Model, result: Numbers) -> float:
    """Write how likely a mean comes from each class, and last from the crowd if that is the truth.

    Returns the precision with which the mean tells the crowd's.

    Examples
    --------
    >>> model, result = Model.blank(), [0.0] * (MOST_CLASSES + 1)
    >>> model.facts[1:3], model.atoms[0], model.shares[0] = [1.0, 2.0], 0.0, 1.0
    >>> _ = chances(0.1, 100.0, model, result)
    >>> result[0]
    1.0
    """
    facts, atoms, shares, variances = model.facts, model.atoms, model.shares, model.variances
    size, unit = int(facts[_SIZE]), _BELL * facts[_WIDTH]
    explained = shares[_STRAYS]
    for k in range(size):
        off, shrunk = mean - atoms[k], precision / (1.0 + variances[k] * precision)
        result[k] = shares[k] * unit * math.sqrt(shrunk) * exponential(-0.5 * off * off * shrunk)
        explained += result[k]
    for k in range(size):
        result[k] = result[k] / explained if explained > 0.0 else 0.0
    shrunk = precision / (1.0 + facts[_CROWD_VARIANCE] * precision)
    off = mean - facts[_CROWD_MEAN]
    density = (1.0 - _CROWD_STRAYS) * unit * math.sqrt(shrunk)
    density *= exponential(-0.5 * off * off * shrunk)
    result[_STRAYS] = density / (density + _CROWD_STRAYS)
    return shrunk


@compiled
def enter(sign: float, mean: float, precision: float, model: Model, bench: Bench) -> None:
    """Add a member to the sums (sign 1), or take it out as it was added (sign -1).

    Examples
    --------
    >>> model, bench = Model.blank(), Bench.blank(1)
    >>> model.facts[1:3], model.atoms[0], model.shares[0] = [1.0, 2.0], 0.0, 1.0
    >>> enter(1.0, 0.1, 100.0, model, bench)
    >>> model.weights[0], model.totals[0]
    (100.0, 10.0)
    """
    weights, totals, chance = model.weights, model.totals, bench.chances
    shrunk = chances(mean, precision, model, chance)
    for k in range(int(model.facts[_SIZE])):
        weight = sign * chance[k] * precision / (1.0 + model.variances[k] * precision)
        weights[k] += weight
        totals[k] += weight * mean
    weight = sign * chance[_STRAYS] * shrunk
    weights[_STRAYS] += weight
    totals[_STRAYS] += weight * mean


@compiled
def hear(l: int, seen: View, row: Row, model: Model, bench: Bench) -> None:
    """Remember what peer l says, and keep the sums up to date if it is a member.

    Examples
    --------
    >>> row, model = Row.blank(1), Model.blank()
    >>> model.facts[1:3], model.atoms[0], model.shares[0] = [1.0, 2.0], 0.0, 1.0
    >>> model.facts[6] = 0.01
    >>> hear(0, View(mean=0.1, n_samples=1), row, model, Bench.blank(1))
    >>> row.means[0], model.weights[0]
    (0.1, 100.0)
    """
    counts = row.member[l] and model.facts[_WIDTH] > 0.0
    if counts and row.precisions[l] > 0.0:
        enter(-1.0, row.means[l], row.precisions[l], model, bench)
    remember(row, l, seen)
    row.precisions[l] = mean_precision(seen.n_samples, seen.squares, model)
    if counts:
        enter(1.0, seen.mean, row.precisions[l], model, bench)


@compiled
def gather(a: int, n: int, row: Row, model: Model, bench: Bench) -> None:
    """Make the sums over all members but agent a itself anew.

    Examples
    --------
    >>> row, model = Row.blank(2)._replace(means=[9.0, 0.1], precisions=[1.0, 100.0]), Model.blank()
    >>> model.facts[1:3], model.atoms[0], model.shares[0] = [1.0, 2.0], 0.0, 1.0
    >>> gather(0, 2, row, model, Bench.blank(2))
    >>> model.weights[0]
    100.0
    """
    for k in range(MOST_CLASSES + 1):
        model.weights[k] = model.totals[k] = 0.0
    if model.facts[_WIDTH] > 0.0:
        for l in range(n):
            if row.member[l] and row.precisions[l] > 0.0 and l != a:
                enter(1.0, row.means[l], row.precisions[l], model, bench)


@compiled
def expected_mean(own: View, model: Model, bench: Bench) -> float:
    """Return the mean that the model expects of an agent with that view of itself.

    Examples
    --------
    >>> own = View(mean=0.1, n_samples=1, radius=9.0, precision=100.0)
    >>> expected_mean(own, Model.blank(), Bench.blank(1))
    0.1
    >>> model = Model.blank()
    >>> model.facts[1:4], model.atoms[0], model.shares[0] = [1.0, 2.0, 1.0], 0.0, 1.0
    >>> model.weights[0], model.totals[0] = 900.0, 0.0
    >>> round(expected_mean(own, model, Bench.blank(1)), 12)
    0.01

    Notes
    -----
    Of each class the pooled mean of its members counts, as likely as the agent is one of them; a
    stray keeps its own mean.  In a crowd the agent's mean is drawn to the crowd's.  The result
    never leaves the agent's own interval.
    """
    if model.facts[_WIDTH] <= 0.0 or own.precision <= 0.0:
        return own.mean
    weights, totals, chance = model.weights, model.totals, bench.chances
    shrunk = chances(own.mean, own.precision, model, chance)
    classes = 0.0
    for k in range(int(model.facts[_SIZE])):
        share = 1.0 / (1.0 + model.variances[k] * own.precision)
        weight = chance[k] * own.precision * share
        pooled = weights[k] + weight
        pull = (totals[k] + weight * own.mean) / pooled - own.mean if pooled > 0.0 else 0.0
        classes += chance[k] * pull * share
    weight = chance[_STRAYS] * shrunk
    pooled = weights[_STRAYS] + weight
    pull = (totals[_STRAYS] + weight * own.mean) / pooled - own.mean if pooled > 0.0 else 0.0
    crowd = chance[_STRAYS] * pull * shrunk / own.precision
    shift = model.facts[_TRUST] * classes + (1.0 - model.facts[_TRUST]) * crowd
    return own.mean + min(max(shift, -own.radius), own.radius)


@compiled
def likely(a: int, n: int, row: Row, model: Model, bench: Bench, same: Flags) -> None:
    """Write who more probably than not shares the mean of agent a, and was never excluded.

    Nothing is promised of this class: it is what the model finds probable.  A peer never heard of
    is as likely in a class as the class is large.

    Examples
    --------
    >>> row, model, same = Row.blank(3), Model.blank(), [False] * 3
    >>> row.means[:], row.precisions[:] = [0.0, 0.1, 0.9], [100.0] * 3
    >>> model.facts[1:4], model.atoms[:2], model.shares[:2] = [2.0, 2.0, 1.0], [0.0, 1.0], [0.5] * 2
    >>> likely(0, 3, row, model, Bench.blank(3), same)
    >>> same
    [True, True, False]
    """
    size, unit = int(model.facts[_SIZE]), _BELL * model.facts[_WIDTH]
    chances(row.means[a], row.precisions[a], model, bench.own)
    means, precisions, member = row.means, row.precisions, row.member
    explained, together = bench.explained, bench.left
    for l in range(n):
        explained[l] = model.shares[_STRAYS]
        together[l] = 0.0
    for k in range(size):
        atom, share, own = model.atoms[k], model.shares[k], bench.own[k]
        variance = model.variances[k]
        for l in range(n):
            off, shrunk = means[l] - atom, precisions[l] / (1.0 + variance * precisions[l])
            density = unit * math.sqrt(shrunk) * exponential(-0.5 * off * off * shrunk)
            density = share * (density if shrunk > 0.0 else 1.0)
            explained[l] += density
            together[l] += own * density
    trust = model.facts[_TRUST]
    for l in range(n):
        same[l] = l == a or (member[l] and trust * together[l] > 0.5 * explained[l])
