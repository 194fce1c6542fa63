"""Fitting a model: where a slow judge finds classes, how often, and from which noise."""

import math
from dataclasses import fields

import numpy as np
import pytest
from fitted_models import PROBLEMS, SEPARATED, Array, classes_of, fitted, memory, noisy
from judges import mixture

from colme.bounds import NormalMixture
from colme.model import (
    Fit,
    Model,
    Scratch,
    expected_mean,
    fit_noise,
    likely,
    mean_precision,
    peer_chances,
    refit,
    refit_due,
    reset,
)
from colme.rules import Row
from colme.summary import view_at, views_of


@SEPARATED
def test_separated_classes_are_found_where_a_slow_judge_finds_them(centers: list[float]) -> None:
    n_right = 0
    for seed in range(10):
        _, means, precisions = noisy(centers, 12 * len(centers), seed)
        model, _ = fitted(memory(means, precisions))
        found = classes_of(model)
        if len(found) != len(centers):  # one class split in two, now and then
            continue
        n_right += 1
        atoms, shares = mixture(means, precisions, np.array(centers), model.fit.width)
        # A fit ends when no class moves by more than 0.05 standard errors.
        np.testing.assert_allclose(found, np.sort(atoms), rtol=0, atol=0.05 * 0.05)
        np.testing.assert_allclose(shares[:-1], 1 / len(centers), atol=0.06)
        assert model.fit.trust == pytest.approx(1, abs=1e-4)
    assert n_right >= 8


@pytest.mark.parametrize("n", [1, 2])
def test_too_few_means_leave_an_agent_with_its_own(n: int) -> None:
    _, means, precisions = noisy([0.0], n, 12)
    row = memory(means, precisions)
    model, scratch = fitted(row)
    assert expected_mean(view_at(row.views, 0), model, scratch) == means[0]
    same = [False] * n
    peer_chances(n, row, model, scratch)
    likely(0, n, row, model, scratch, same)
    assert same == [True, False][:n]


@pytest.mark.parametrize("counted", ["samples", "queries", "both"])
def test_a_fit_is_kept_until_there_are_a_fifth_more_samples_or_queries(counted: str) -> None:
    row, model, scratch = memory(*PROBLEMS["two"]), Model.blank(), Scratch.blank(40)
    fits = []
    for count in range(1, 1001):
        clocks = (count * (counted != "queries"), count * (counted != "samples"))
        if refit_due(model, *clocks):
            refit(0, 40, *clocks, row, model, scratch)
            fits.append(count)
    assert fits[:5] == [3, 4, 5, 6, 7]
    later = np.array(fits[10:])
    assert (np.diff(later) == np.floor(later[:-1] * 1.2) - later[:-1]).all()
    assert len(fits) < 40


def test_neither_samples_nor_queries_wait_for_the_other() -> None:
    row, model, scratch = memory(*PROBLEMS["two"]), Model.blank(), Scratch.blank(40)
    refit(0, 40, 1000.0, 10.0, row, model, scratch)
    assert not refit_due(model, 1199.0, 11.0)
    assert refit_due(model, 1000.0, 12.0)
    assert refit_due(model, 1200.0, 10.0)


def test_a_fit_from_before_queries_were_counted_is_kept_and_soon_made_again() -> None:
    model, _ = fitted(memory(*PROBLEMS["two"]))
    old = [list(part) for part in model.parts()]
    assert Model.of(old) == model
    del old[0][-1]  # the schedule of queries
    read = Model.of(old)
    assert read[1:] == model[1:]
    assert read.fit.n_classes == model.fit.n_classes
    assert refit_due(read, 3.0, 0.0)
    assert refit_due(read, 0.0, 3.0)
    del old[0][-1]
    with pytest.raises(ValueError, match="12 numbers of a fit"):
        Model.of(old)


def test_the_noise_of_all_streams_is_their_pooled_variance() -> None:
    rng = np.random.default_rng(20)
    streams = [rng.normal(l, 0.3, 2 + l) for l in range(30)]
    row = Row.blank(31)  # one more, never heard of
    for l, stream in enumerate(streams):
        row.views.n_samples[l], row.views.squares[l] = (
            float(len(stream)),
            float(stream.var() * len(stream)),
        )
    pooled = sum(row.views.squares) / sum(len(stream) - 1 for stream in streams)
    for scale, share in ((math.inf, 0.0), (2.0, 1.0)):
        model = Model.blank()
        fit_noise(31, scale, row, model)
        degrees = sum(len(stream) - 1 for stream in streams)
        noise = (degrees * pooled + share * 4.0) / (degrees + share)
        for l, stream in enumerate(streams):
            n = len(stream)
            variance = (10 * noise + row.views.squares[l]) / (10 + n - 1)
            assert row.views.precision[l] == pytest.approx(n / variance)
        assert row.views.precision[30] == 0.0


def test_a_scale_five_times_too_large_soon_does_no_harm() -> None:
    samples = np.random.default_rng(21).normal(0.0, 0.1, (40, 20))
    views = views_of(samples, [NormalMixture(0.5, 1000)] * 20, with_squares=True)
    row = Row.blank(20)
    for l in range(20):
        row.views.n_samples[l], row.views.squares[l] = views.n_samples[l, 5], views.squares[l, 5]
    model = Model.blank()
    fit_noise(20, 0.5, row, model)
    deviations = 1 / np.sqrt(np.array(row.views.precision) / 6)
    assert 0.08 < deviations.mean() < 0.13


def test_no_noise_of_unknown_scale_is_no_precision() -> None:
    row, model = Row.blank(3, n_samples=[1.0, 5.0, 0.0]), Model.blank()
    fit_noise(3, math.inf, row, model)
    assert row.views.precision == [0.0, 0.0, 0.0]
    assert mean_precision(7, 0.0, model) == 0.0


def test_forgetting_leaves_a_blank_model() -> None:
    model = Model.blank()
    for field in fields(Fit):
        setattr(model.fit, field.name, math.nan)
    for part in model[1:]:
        part[:] = [math.nan] * len(part)
    reset(model)
    assert model == Model.blank()


def refitted_warm(a: int, old: Array, new: Array) -> Model:
    """Return a model fitted to old means, and then to new ones without a start from quantiles."""
    row, model, scratch = memory(old, np.full(40, 400.0)), Model.blank(), Scratch.blank(40)
    refit(a, 40, 1000.0, 1000.0, row, model, scratch)
    row.views.mean[:] = new.tolist()
    refit(a, 40, 1200.0, 1000.0, row, model, scratch)
    return model


@pytest.mark.parametrize("a", [0, 39], ids=["one of many", "one of the few"])
def test_a_fit_from_the_last_one_finds_a_class_that_was_not_there(a: int) -> None:
    noise = np.random.default_rng(22).normal(0, 0.03, 40)
    one = np.zeros(40)
    two = np.append(np.zeros(33), np.ones(7))
    assert len(classes_of(refitted_warm(a, one + noise, one + noise))) == 1
    found = classes_of(refitted_warm(a, one + noise, two + noise))
    np.testing.assert_allclose(found, [0.0, 1.0], atol=0.06)
