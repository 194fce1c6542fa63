"""Fitting the whole model to a row: noise, classes, crowd, and how far to trust which.

Lives here: one fit.  Must not know when it is done, nor what it is used for.
"""

from __future__ import annotations

import math

from colme._compile import compiled
from colme.model.classes import (
    class_cost,
    em_fit,
    explain,
    fit_variances,
    sum_of_logarithms,
)
from colme.model.expectation import chances, mean_precision
from colme.model.mixture import (
    LEAST_OUTLIERS,
    NORMAL_PEAK,
    SCALE_COUNT,
    component_density,
    pull_share,
    shrunk_precision,
)
from colme.model.quantiles import fit_from_quantiles
from colme.model.state import (
    CROWD_OUTLIERS,
    MAX_CLASSES,
    MIN_MEANS,
    OUTLIERS,
    Model,
    Scratch,
)
from colme.rules import Row

_REFIT_RATIO, _FRESH_RATIO = 1.2, 1.5
"""A fit is kept until samples or queries have grown by the first factor; a fit from quantiles,
until queries have grown by the second."""
_WARM_STEPS, _CROWD_STEPS = 5, 3
"""Steps of a fit from the last one, and of the crowd's."""
_WIDEST = 1e12
"""Outliers lie over at most this many standard errors, which keeps products of densities finite."""
_MOST_LOG_ODDS = 50.0
_BEYOND_NOISE = 2.5
"""Outliers lie over at least this many times the span of the noise of a single class, ..."""
_WELL_KNOWN = 300.0
"""... once an agent has this many samples."""
_DOUBT = 3.0
"""Costs of a class by which a crowd is preferred at first, and one class later on, ..."""
_RESOLVED = 130.0
"""... from this many samples: with fewer, noise may hide a class that is half a deviation away."""
_CHANCE_OUTLIERS = 2.0
"""This many members may look like outliers by chance, the agent itself among them."""


@compiled
def fit_noise(n: int, scale: float, row: Row, model: Model) -> None:
    """Estimate the variance of a sample from all streams; bring the row's precisions up to date.

    `scale` is the most that the standard deviation can be.  It is safe, and often far too large
    (half the range, say), so it counts for one sample only.

    Examples
    --------
    >>> row, model = Row.blank(2, n_samples=[5.0, 6.0], squares=[0.04, 0.05]), Model.blank()
    >>> fit_noise(2, 0.1, row, model)
    >>> [round(precision) for precision in row.views.precision]
    [500, 600]
    """
    counts, squares = row.views.n_samples, row.views.squares
    total, degrees = 0.0, 0.0
    if scale < math.inf:
        total, degrees = SCALE_COUNT * scale * scale, SCALE_COUNT
    for l in range(n):
        total += squares[l]
        degrees += counts[l] - 1.0 if counts[l] > 0.0 else 0.0
    model.fit.noise = total / degrees if degrees > 0.0 else 0.0
    for l in range(n):
        row.views.precision[l] = mean_precision(counts[l], squares[l], model)


@compiled
def _pack(n: int, row: Row, scratch: Scratch) -> int:
    """Copy the means heard of to the scratch; return how many there are."""
    known = 0
    for l in range(n):
        if row.views.precision[l] > 0.0:
            scratch.means[known] = row.views.mean[l]
            scratch.precisions[known] = row.views.precision[l]
            scratch.roots[known] = math.sqrt(row.views.precision[l])
            known += 1
    return known


@compiled
def _packed_entry(a: int, row: Row) -> int:
    """Return where entry a is on the scratch; -1 if there is nothing known of it."""
    if row.views.precision[a] <= 0.0:
        return -1
    known = 0
    for l in range(a):
        known += 1 if row.views.precision[l] > 0.0 else 0
    return known


@compiled
def _size_up(n: int, count: float, model: Model, scratch: Scratch) -> float:
    """Start the crowd from its moments; return the width over which outliers lie."""
    means, precisions = scratch.means, scratch.precisions
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
    model.fit.crowd_mean, model.fit.crowd_variance = mean, variance
    # A uniform distribution of that variance is √(12 variance) wide; never less than the means
    # span, nor than their noise.  Means of one class span some √(8 ln n) standard errors: outliers
    # lie over more than that, or half of a single class would look like them.  That is for later:
    # with few samples the noise itself is badly known.
    noise = math.sqrt(noise)
    if model.fit.n_forgotten > 0.0:
        low, high = min(low, model.fit.lowest), max(high, model.fit.highest)
    least = _BEYOND_NOISE * min(count / _WELL_KNOWN, 1.0) * math.sqrt(8.0 * math.log(n))
    width = max(1.5 * math.sqrt(12.0 * variance), high - low, max(least, 2.0) * noise)
    return min(width, _WIDEST * noise)


@compiled
def _fit_crowd(n: int, width: float, model: Model, scratch: Scratch) -> float:
    """Fit one bell among outliers, starting from its mean and variance; return its likelihood."""
    means, precisions, explained = scratch.means, scratch.precisions, scratch.explained
    log_likelihood = 0.0
    for step in range(_CROWD_STEPS):
        center, variance = model.fit.crowd_mean, model.fit.crowd_variance
        mass = weight = total = excess = 0.0
        for l in range(n):
            precision = precisions[l]
            shrunk = shrunk_precision(precision, variance)
            off = means[l] - center
            scale = (1.0 - CROWD_OUTLIERS) * NORMAL_PEAK * width
            density = component_density(scale, off, math.sqrt(shrunk), shrunk)
            explained[l] = density + CROWD_OUTLIERS
            chance = density / explained[l]
            mass += chance
            weight += chance * shrunk
            total += chance * shrunk * means[l]
            excess += chance * (off * off - 1.0 / precision)
        log_likelihood = sum_of_logarithms(n, explained)
        if step + 1 < _CROWD_STEPS and mass > 1.0:
            model.fit.crowd_mean = total / weight
            model.fit.crowd_variance = excess / mass if excess > 0.0 else 0.0
    return log_likelihood


@compiled
def _try_new_class(
    a: int, n: int, size: int, width: float, row: Row, model: Model, scratch: Scratch
) -> int:
    """Start one more class, where there may be a small one; return how many there are.

    A small class can lie between all quantiles.  An agent that looks like an outlier looks for its
    own class; any other starts at the mean that the classes explain worst.  What turns out to be
    no class is removed later.
    """
    if size == MAX_CLASSES:
        return size
    model.fit.width = width
    chances(row.views.mean[a], row.views.precision[a], model, scratch.own)
    belonging = 0.0
    for k in range(size):
        belonging += scratch.own[k]
    place = row.views.mean[a]
    if belonging > 0.5:
        explain(n, size, width, model.atoms, model.shares, scratch)
        means, explained = scratch.means, scratch.explained
        worst = 0
        for l in range(n):
            worst = l if explained[l] < explained[worst] else worst
        place = means[worst]
    model.shares[OUTLIERS] /= 2.0
    model.atoms[size], model.shares[size] = place, model.shares[OUTLIERS]
    return size + 1


@compiled
def _prior_odds(n: int, count: float, model: Model, scratch: Scratch) -> float:
    """Return by how much classes are preferred to a crowd before looking at how well they fit.

    With few samples a crowd is the safer guess.  With many, a crowd without spread is one class,
    and must not win for being cheaper.
    """
    precision = 0.0
    for l in range(n):
        precision += scratch.precisions[l] / n
    spreadless: float = pull_share(precision, model.fit.crowd_variance)
    resolved = min(count / _RESOLVED, 1.0) ** 2
    return _DOUBT * class_cost(n) * (resolved * spreadless - (1.0 - resolved))


@compiled
def _set_outliers(n: int, row: Row, model: Model, scratch: Scratch) -> None:
    """Let only members say how common outliers are, not counting those that chance explains.

    The others are excluded: that they exist makes no member one of them.  `explain` comes before.
    """
    share, outliers, members, known = model.shares[OUTLIERS], 0.0, 0.0, 0
    for l in range(n):
        if row.views.precision[l] > 0.0:
            outliers += share / scratch.explained[known] if row.member[l] else 0.0
            members += 1.0 if row.member[l] else 0.0
            known += 1
    beyond = (outliers - _CHANCE_OUTLIERS) / members if members > 0.0 else 0.0
    model.shares[OUTLIERS] = max(beyond, LEAST_OUTLIERS)


@compiled
def _later(x: float) -> float:
    """Return the next number of samples or queries, after x, at which to fit."""
    later = float(math.floor(x * _REFIT_RATIO))
    return later if later > x + 1.0 else x + 1.0


@compiled
def refit(
    a: int, n: int, count: float, n_asked: float, row: Row, model: Model, scratch: Scratch
) -> None:
    """Fit the model to the n means of the row of agent a, after `count` samples and some queries.

    Excluded peers are fitted too: to leave out those that chance has carried far away would make
    the others look closer than they are.

    Examples
    --------
    >>> row, model = Row.blank(40), Model.blank()
    >>> row.views.mean[:] = [0.0] * 20 + [1.0] * 20
    >>> row.views.precision[:] = [100.0] * 40
    >>> refit(0, 40, 1000, 10, row, model, Scratch.blank(40))
    >>> sorted(round(atom, 6) for atom in model.atoms[:2])
    [0.0, 1.0]
    >>> model.fit.next_fit, model.fit.next_fit_asked
    (1200.0, 12.0)
    """
    model.fit.next_fit, model.fit.next_fit_asked = _later(count), _later(n_asked)
    known = _pack(n, row, scratch)
    if known < MIN_MEANS:
        return
    width = _size_up(known, max(count, n_asked), model, scratch)
    for l in range(known):
        if scratch.roots[l] > _WIDEST / width:
            scratch.roots[l] = _WIDEST / width
            scratch.precisions[l] = scratch.roots[l] ** 2
    fresh, best = 0, -math.inf
    if n_asked >= model.fit.next_fresh:
        model.fit.next_fresh = n_asked * _FRESH_RATIO
        fresh, best = fit_from_quantiles(known, width, scratch)
    size = int(model.fit.n_classes)
    me, warm = _packed_entry(a, row), -math.inf
    if size == 0:
        model.shares[OUTLIERS] = 1.0
    if size > 0 or me >= 0:
        size = _try_new_class(a, known, size, width, row, model, scratch)
        atoms, shares = model.atoms, model.shares
        size, warm = em_fit(known, size, me, _WARM_STEPS, width, atoms, shares, scratch)
    if best > warm:
        size = fresh
        for k in range(MAX_CLASSES + 1):
            model.atoms[k], model.shares[k] = scratch.atoms[k], scratch.shares[k]
    fit_variances(known, size, width, model, scratch)
    _set_outliers(n, row, model, scratch)
    log_odds = max(best, warm) - _fit_crowd(known, width, model, scratch)
    log_odds += _prior_odds(known, max(count, n_asked), model, scratch)
    log_odds = min(max(log_odds, -_MOST_LOG_ODDS), _MOST_LOG_ODDS)
    model.fit.n_classes, model.fit.width = float(size), width
    model.fit.trust = 1.0 / (1.0 + math.exp(-log_odds)) if size > 0 else 0.0
