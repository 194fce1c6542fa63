"""Details of rules, bounds and models that a small slip would change without much ado."""

from __future__ import annotations

import math

import numpy as np
import pytest

from colme import Agent, Algorithm, bounds
from colme.bounds import Discounted, Laplace, Restarted, Student, Windowed, student_radius
from colme.estimator import Estimator, capped
from colme.memory import Memory
from colme.messages import Query, Reply
from colme.model import (
    MAX_CLASSES,
    Model,
    Scratch,
    expected_mean,
    fit_noise,
    mean_precision,
    refit,
)
from colme.model.classes import em_fit, explain
from colme.reply_view import view_of
from colme.rules import (
    Choice,
    Row,
    Turn,
    next_peer,
    next_room,
    pool,
    reset_peer,
    take_turn,
    take_turn_among,
)
from colme.rules.robust import robust_mean
from colme.summary import View


@pytest.mark.parametrize(("within", "confirmed"), [(None, True), (0.5, False)])
def test_a_peer_that_restarted_must_be_confirmed_anew(
    within: float | None, confirmed: bool
) -> None:
    algorithm = Algorithm("restricted-round-robin", "simple", "joint", within=within)
    choice = Choice.of(algorithm, 0.01)
    row = Row.blank(2)._replace(member=[True, False], confirmed=[True, not confirmed])
    assert reset_peer(choice, 1, View(epoch=0), row) == 0
    assert not row.member[1]
    assert reset_peer(choice, 1, View(epoch=1), row) == 1
    assert (row.member[1], row.confirmed[1]) == (True, confirmed)


def test_the_evidence_of_student_reaches_twice_the_level_and_no_further() -> None:
    bound = Student(n_opt=50, gamma=0.01)
    stream = bound.stream()
    for sample in np.random.default_rng(0).normal(2.0, 0.7, 60).tolist():
        stream.update(sample)
    twice = 2 * math.log(1 / bound.gamma)
    for level in np.linspace(0.5, twice, 20).tolist():
        exact = student_radius(stream.count, stream.squares, bound.prior, level)
        assert stream.evidence.radius(level) >= exact * (1 - 1e-12)
    assert stream.evidence.radius(twice) < 1.03 * exact


def test_streams_with_a_memory_revisit_only_once_it_has_been_filled() -> None:
    plain = Laplace(0.5, 0.05)
    for bound in (Windowed(plain, 20, revisit=7), Discounted(plain, 0.9, revisit=7)):
        assert [bound.revisit_in(epoch) for epoch in (0, 1, 2)] == [0, 7, 7]
    assert [Restarted(plain, revisit=7).revisit_in(epoch) for epoch in (0, 1)] == [7, 7]
    assert plain.revisit_in(3) == 0


# Rules


def test_nobody_to_ask_is_minus_one() -> None:
    silent = Choice.of(Algorithm("none", "simple"), 0.01)
    restricted = Choice.of(Algorithm("restricted-round-robin", "simple", "joint"), 0.01)
    alone = Row.blank(3, member=[True, False, False])
    assert next_peer(silent, 0, 3, -1, Row.blank(3)) == -1
    assert next_peer(restricted, 0, 3, -1, alone) == -1
    assert next_room(restricted, 0, 3, -1, Row.blank(3)) == -1
    assert take_turn(restricted, 0, 3, 0, Turn(), alone) == (-1, Turn())
    assert take_turn_among(restricted, 0, 3, 0, Turn(), alone, [True] * 3) == (-1, Turn())


def test_the_first_peer_of_a_row_has_its_turn_too() -> None:
    choice = Choice.of(Algorithm("round-robin", "simple"), 0.01)
    for reachable in ([True] * 3, [True, False, False]):
        asked = take_turn_among(choice, 1, 3, 0, Turn(2, -1, 5), Row.blank(3), reachable)
        assert asked == (0, Turn(0, -1, 6))
    restricted = Choice.of(Algorithm("restricted-round-robin", "simple", "joint"), 0.01)
    row = Row.blank(3, member=[False, True, True])
    assert take_turn(restricted, 1, 3, 2, Turn(2, -1, 5), row) == (0, Turn(2, 0, 6))
    again = take_turn_among(restricted, 1, 3, 2, Turn(2, -1, 5), row, [True] * 3)
    assert again == (0, Turn(2, 0, 6))


@pytest.mark.parametrize("weighting", ["simple", "soft", "class-uniform", "robust"])
def test_an_agent_that_knows_nothing_has_no_estimate(weighting: str) -> None:
    choice = Choice.of(Algorithm("round-robin", weighting, "joint"), 0.01)
    assert math.isnan(pool(choice, 0, 2, Row.blank(2))[1])


def test_an_agent_with_one_sample_has_no_noise_to_judge_others_by() -> None:
    row = Row.blank(2, mean=[0.0, 0.1], n_samples=[1.0, 1.0], radius=[9.0, 9.0])
    assert robust_mean(0, 2, row) == 0.0
    row.views.n_samples[0] = 0.0
    assert math.isnan(robust_mean(0, 2, row))


# The model


def test_without_a_scale_and_without_pairs_of_samples_noise_is_unknown() -> None:
    row, model = Row.blank(2, n_samples=[1.0, 0.0]), Model.blank()
    fit_noise(2, math.inf, row, model)
    assert model.fit.noise == 0.0
    fit_noise(2, 0.5, row, model)
    assert model.fit.noise == 0.25


def test_a_model_not_fitted_yet_knows_nothing() -> None:
    model = Model.blank()
    assert set(model.parts()[0]) == {0.0, 3.0}
    assert (model.fit.next_fit, model.fit.next_fit_asked) == (3.0, 3.0)
    own = View(mean=0.3, n_samples=4.0, radius=1.0, precision=9.0)
    assert expected_mean(own, model, Scratch.blank(1)) == 0.3
    assert Model.of(model.parts()) == model
    old = [model.parts()[0][:-1], *model.parts()[1:]]
    assert Model.of(old) == model
    with pytest.raises(ValueError, match="a model is"):
        Model.of([old[0][:-1], *old[1:]])


def two_classes(n: int, gap: float = 1.0) -> Scratch:
    means = [0.0] * (n // 2) + [gap] * (n - n // 2)
    return Scratch.blank(n)._replace(means=means, precisions=[400.0] * n, roots=[20.0] * n)


@pytest.mark.parametrize("n", [12, 40, 400])
def test_a_class_costs_three_tenths_of_the_squared_logarithm(n: int) -> None:
    scratch = two_classes(n)
    atoms = [0.05, 0.95] + [0.0] * (MAX_CLASSES - 1)
    shares = [0.4, 0.4] + [0.0] * (MAX_CLASSES - 2) + [0.2]
    size, likelihood = em_fit(n, 2, -1, 15, 1.0, atoms, shares, scratch)
    assert size == 2
    cost = explain(n, size, 1.0, atoms, shares, scratch) - likelihood
    assert cost == pytest.approx(size * 0.3 * math.log(n) ** 2)


def test_a_fit_from_the_last_one_finds_a_class_that_has_appeared_since() -> None:
    row, model, scratch = Row.blank(40), Model.blank(), Scratch.blank(40)
    rng = np.random.default_rng(0)
    row.views.mean[:] = (0.05 * rng.standard_normal(40)).tolist()
    row.views.precision[:] = [400.0] * 40
    refit(0, 40, 1000, 10, row, model, scratch)
    assert model.fit.n_classes == 1
    fresh = model.fit.next_fresh
    row.views.mean[35:] = [mean + 0.6 for mean in row.views.mean[35:]]
    refit(0, 40, 1200, 12, row, model, scratch)
    assert model.fit.next_fresh == fresh > 12  # not from quantiles
    assert model.fit.n_classes == 2
    assert max(model.atoms[:2]) == pytest.approx(0.6, abs=0.05)


def test_a_fit_under_a_cap_leaves_the_precision_of_every_peer_as_it_is() -> None:
    algorithm = Algorithm("restricted-round-robin", "model", "joint")
    choice = Choice.of(algorithm, 0.01)
    names = [str(l) for l in range(8)]
    memory = Memory("0", names, 8, choice)
    views = memory.row.views
    views.mean[:] = [0.0, 0.1, 0.0, 0.1, 1.0, 1.1, 1.0, 1.1]
    views.n_samples[:] = [10.0] + [500.0] * 7
    views.squares[:] = [9.0] + [499.0] * 7
    estimator = Estimator(choice, memory, 1.0, cap=2.0)
    estimator.learn(10, 10)
    assert estimator.model.fit.width > 0
    for l in range(8):
        exact = mean_precision(views.n_samples[l], views.squares[l], estimator.model)
        assert views.precision[l] == exact


def test_a_cap_keeps_the_variance_of_samples() -> None:
    row = Row.blank(3, n_samples=[10.0, 101.0, 30.0], squares=[9.0, 200.0, 58.0])
    limited = capped(0, 3.0, row, Model.blank()).views
    assert limited.n_samples == [10.0, 30.0, 30.0]
    assert limited.squares == pytest.approx([9.0, 58.0, 58.0])  # 2.0 for each degree of freedom


def test_an_agent_with_a_cap_weighs_a_peer_by_the_cap_and_not_by_its_count() -> None:
    pooling = Algorithm("restricted-round-robin", "simple", "joint")
    one, other = (
        Agent(name, sigma=0.5, delta=0.1, cap=2.0, max_agents=2, algorithm=pooling) for name in "ab"
    )
    one.perceive(0.0)
    other.perceive(*[0.3] * 50)
    one.receive(other.answer(Query("a", "b")))
    assert one.estimate == pytest.approx(0.2)  # two thirds of 0.3


def test_a_reply_that_says_too_little_is_the_view_of_nobody() -> None:
    shape = (0.1, math.inf, 0.0)
    for reply in (
        Reply("b", 0.5, 0, squares=0.0, shape=shape, epoch=2),
        Reply("b", 0.5, 3, squares=0.5, epoch=2),
        Reply("b", 0.5, 3, shape=shape, epoch=2),
    ):
        assert view_of(reply, log_risk=1.0, model=Model.blank()) == View(epoch=2)


def test_every_bound_is_known_by_its_name() -> None:
    assert {name for name in bounds.__all__ if name in bounds.KINDS} == set(bounds.KINDS)
