"""A reply as the agent that reads it sees it."""

import math

import pytest

from colme import Reply
from colme.bounds import Betting, Laplace, NormalMixture, Windowed
from colme.model import Model
from colme.reply_view import completed, view_of
from colme.summary import View

BOUND = NormalMixture(0.5, 100)


def test_what_is_left_out_is_filled_in_and_nothing_else() -> None:
    short = Reply("b", 0.25, 8, epoch=3)
    full = completed(short, BOUND)
    assert (full.mean, full.count, full.epoch) == (0.25, 8, 3)
    assert (full.squares, full.shape) == (7 * 0.25, BOUND.shape(8))
    assert completed(full, Laplace(9.0, 0.1)) == full
    part = Reply("b", 0.25, 8, squares=1.0)
    assert completed(part, BOUND).squares == 1.0
    nothing = Reply("b", 0.0, 0)
    assert completed(nothing, Betting(0, 1)) == nothing


@pytest.mark.parametrize(
    "bound", [Betting(0, 1), Windowed(BOUND, 9)], ids=lambda b: type(b).__name__
)
def test_a_bound_that_follows_its_samples_cannot_stand_in(bound: Betting | Windowed) -> None:
    with pytest.raises(ValueError, match=rf"'b' carries no evidence.*{type(bound).__name__}"):
        completed(Reply("b", 0.25, 8), bound)


def test_a_view_has_the_radius_of_the_readers_risk() -> None:
    reply = completed(Reply("b", 0.25, 8, epoch=2), BOUND)
    seen = view_of(reply, -math.log(BOUND.gamma), Model.blank())
    assert seen.radius == pytest.approx(BOUND.radius(8))
    assert (seen.mean, seen.n_samples, seen.epoch) == (0.25, 8, 2)
    assert view_of(reply, 30.0, Model.blank()).radius > seen.radius


def test_who_has_no_samples_yet_has_only_an_epoch() -> None:
    assert view_of(Reply("b", 0.0, 0, epoch=4), 1.0, Model.blank()) == View(epoch=4)
