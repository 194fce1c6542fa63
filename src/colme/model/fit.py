"""Fitting the whole model to a row: noise, classes, crowd, and how far to trust which.

Lives here: one fit.  Must not know when it is done, nor what it is used for.
"""

from __future__ import annotations

import math

from colme._compile import compiled, exponential
from colme.model.classes import explain, fit_anew, settle, spread_out, sum_of_logarithms
from colme.model.expectation import chances, mean_precision
from colme.model.state import (
    BELL,
    CROWD_MEAN,
    CROWD_STRAYS,
    CROWD_VARIANCE,
    FEWEST,
    FORGOTTEN,
    FRESH,
    HIGHEST,
    LOWEST,
    MOST_CLASSES,
    NEXT,
    NEXT_ASKED,
    NOISE,
    SIZE,
    STRAYS,
    TRUST,
    WIDTH,
    Bench,
    Model,
)
from colme.rules import Row

__all__ = ["learn_noise", "refit"]

_REFIT_RATIO, _FRESH_RATIO = 1.2, 1.5
"""A fit is kept until there are so many times the samples or the queries; one from quantiles, until
there are so many times the queries."""
_WARM_STEPS, _CROWD_STEPS = 5, 3
"""Steps of a fit from the last one, and of the crowd's."""
_SCALE_COUNT = 1.0
"""So many samples the scale counts for in everybody's noise."""
_WIDEST = 1e12
"""Strays lie over at most so many standard errors, which keeps products of densities finite."""
_MOST_LOG_ODDS = 50.0
_BEYOND_NOISE = 2.5
"""Strays lie over at least so many times what the noise of a single class spans, ..."""
_WELL_KNOWN = 300.0
"""... once an agent has so many samples."""


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
    model.facts[NOISE] = total / degrees if degrees > 0.0 else 0.0
    for l in range(n):
        row.precisions[l] = mean_precision(counts[l], squares[l], model)


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
def _size_up(n: int, count: float, model: Model, bench: Bench) -> float:
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
    model.facts[CROWD_MEAN], model.facts[CROWD_VARIANCE] = mean, variance
    # A uniform distribution of that variance is √(12 variance) wide; never less than the means
    # span, nor than their noise.  Means of one class span some √(8 ln n) standard errors: strays
    # lie over more than that, or half of a single class would look like strays.  That is for later:
    # with few samples the noise itself is badly known.
    noise = math.sqrt(noise)
    if model.facts[FORGOTTEN] > 0.0:
        low, high = min(low, model.facts[LOWEST]), max(high, model.facts[HIGHEST])
    least = _BEYOND_NOISE * min(count / _WELL_KNOWN, 1.0) * math.sqrt(8.0 * math.log(n))
    width = max(1.5 * math.sqrt(12.0 * variance), high - low, max(least, 2.0) * noise)
    return min(width, _WIDEST * noise)


@compiled
def _fit_crowd(n: int, width: float, model: Model, bench: Bench) -> float:
    """Fit one bell among strays, starting from its mean and variance; return its likelihood."""
    means, precisions, explained = bench.means, bench.precisions, bench.explained
    log_likelihood = 0.0
    for step in range(_CROWD_STEPS):
        center, variance = model.facts[CROWD_MEAN], model.facts[CROWD_VARIANCE]
        mass = weight = total = excess = 0.0
        for l in range(n):
            precision = precisions[l]
            shrunk = precision / (1.0 + variance * precision)
            off = means[l] - center
            density = (1.0 - CROWD_STRAYS) * BELL * width * math.sqrt(shrunk)
            density *= exponential(-0.5 * off * off * shrunk)
            explained[l] = density + CROWD_STRAYS
            chance = density / explained[l]
            mass += chance
            weight += chance * shrunk
            total += chance * shrunk * means[l]
            excess += chance * (off * off - 1.0 / precision)
        log_likelihood = sum_of_logarithms(n, explained)
        if step + 1 < _CROWD_STEPS and mass > 1.0:
            model.facts[CROWD_MEAN] = total / weight
            model.facts[CROWD_VARIANCE] = excess / mass if excess > 0.0 else 0.0
    return log_likelihood


@compiled
def _found(a: int, n: int, size: int, width: float, row: Row, model: Model, bench: Bench) -> int:
    """Start one more class, where there may be a small one; return how many there are.

    A small class can lie between all quantiles.  An agent that looks like a stray looks for its
    own class; any other starts at the mean that the classes explain worst.  What turns out to be
    no class is removed in the next step.
    """
    if size == MOST_CLASSES:
        return size
    model.facts[WIDTH] = width
    chances(row.means[a], row.precisions[a], model, bench.own)
    belonging = 0.0
    for k in range(size):
        belonging += bench.own[k]
    place = row.means[a]
    if belonging > 0.5:
        explain(n, size, width, model.atoms, model.shares, bench)
        means, explained = bench.means, bench.explained
        worst = 0
        for l in range(n):
            worst = l if explained[l] < explained[worst] else worst
        place = means[worst]
    model.shares[STRAYS] /= 2.0
    model.atoms[size], model.shares[size] = place, model.shares[STRAYS]
    return size + 1


@compiled
def _later(x: float) -> float:
    """Return the next number of samples or queries, after x, at which to fit."""
    later = float(math.floor(x * _REFIT_RATIO))
    return later if later > x + 1.0 else x + 1.0


@compiled
def refit(
    a: int, n: int, count: float, n_asked: float, row: Row, model: Model, bench: Bench
) -> None:
    """Fit the model to the n means of the row, for agent a with so many samples and queries.

    Excluded peers are fitted too: to leave out those that chance has carried far away would make
    the others look closer than they are.

    Examples
    --------
    >>> row, model = Row.blank(40), Model.blank()
    >>> row.means[:] = [0.0] * 20 + [1.0] * 20
    >>> row.precisions[:] = [100.0] * 40
    >>> refit(0, 40, 1000, 10, row, model, Bench.blank(40))
    >>> sorted(round(atom, 6) for atom in model.atoms[:2])
    [0.0, 1.0]
    >>> model.facts[NEXT], model.facts[NEXT_ASKED]
    (1200.0, 12.0)
    """
    model.facts[NEXT], model.facts[NEXT_ASKED] = _later(count), _later(n_asked)
    known = _pack(n, row, bench)
    if known < FEWEST:
        return
    width = _size_up(known, max(count, n_asked), model, bench)
    for l in range(known):
        if bench.roots[l] > _WIDEST / width:
            bench.roots[l] = _WIDEST / width
            bench.precisions[l] = bench.roots[l] ** 2
    fresh, best = 0, -math.inf
    if n_asked >= model.facts[FRESH]:
        model.facts[FRESH] = n_asked * _FRESH_RATIO
        fresh, best = fit_anew(known, width, bench)
    size = int(model.facts[SIZE])
    warm = -math.inf
    if size > 0:
        size = _found(a, known, size, width, row, model, bench)
        size, warm = settle(known, size, _WARM_STEPS, width, model.atoms, model.shares, bench)
    if best > warm:
        size = fresh
        for k in range(MOST_CLASSES + 1):
            model.atoms[k], model.shares[k] = bench.atoms[k], bench.shares[k]
    spread_out(known, size, width, model, bench)
    log_odds = max(best, warm) - _fit_crowd(known, width, model, bench)
    log_odds = min(max(log_odds, -_MOST_LOG_ODDS), _MOST_LOG_ODDS)
    model.facts[SIZE], model.facts[WIDTH] = float(size), width
    model.facts[TRUST] = 1.0 / (1.0 + math.exp(-log_odds)) if size > 0 else 0.0
