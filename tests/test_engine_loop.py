"""The loop of all agents: compiled and plain, whatever is kept, in one block or in many."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from engine_runs import NO_STATES, everyone, run_block
from numpy.typing import NDArray
from one_row import LOG_RISK, RR

from colme.algorithm import ClassTest, QueryStrategy, Weighting
from colme.bounds import Bound, Laplace
from colme.engine import Output, Workspace
from colme.rules import Choice
from colme.summary import View, views_of

LABELS: NDArray[np.int64] = np.array([0, 1, 0, 2, 1, 0, 2])
SAMPLES = np.random.default_rng(3).normal(LABELS, 0.3, (40, 7))


def views_for(chosen: Choice, bound: Bound) -> View[Any]:
    with_squares = Weighting(chosen.weighting).needs_squares
    return views_of(SAMPLES, [bound] * 7, with_squares=with_squares)


def blank_output(n_slots: int, by_model: bool) -> Output:
    """Return memory for all that the loop writes; nonsense stands where it wrote nothing."""
    counts, likely = np.full((2, 7, n_slots, 3), -9, np.int16)
    return Output(np.full((7, n_slots), 9e9), counts, likely if by_model else likely[:0])


def outcome(plain: bool, chosen: Choice, bound: Bound, every: int) -> list[NDArray[np.float64]]:
    """Return estimates and counts at every `every`-th step, by the compiled or the plain loop."""
    steps = np.arange(40)
    slots = np.where(steps % every == every - 1, steps // every, -1)
    output = blank_output(int(slots.max()) + 1, chosen.weighting == Weighting.MODEL)
    agents = everyone(LABELS, bound.scale)
    run_block(chosen, agents, views_for(chosen, bound), slots, output, plain=plain)
    return [part.astype(float) for part in output if len(part)]


@pytest.mark.parametrize("query", QueryStrategy, ids=lambda query: query.word)
@pytest.mark.parametrize("test", ClassTest, ids=lambda test: test.word)
def test_the_compiled_loop_is_the_plain_loop(query: QueryStrategy, test: ClassTest) -> None:
    for weighting, (eta, every) in product(Weighting, ((0.0, 3), (0.1, 1))):
        chosen = Choice(int(query), int(test), int(weighting), eta, LOG_RISK)
        both = (outcome(plain, chosen, Laplace(0.1, 0.01), every) for plain in (False, True))
        for compiled, plain in zip(*both, strict=True):
            np.testing.assert_allclose(compiled, plain, rtol=0, atol=1e-12)


@pytest.mark.parametrize("weighting", Weighting, ids=lambda weighting: weighting.word)
def test_once_out_stays_out_also_between_the_steps_that_are_kept(weighting: Weighting) -> None:
    chosen = Choice(int(RR), int(ClassTest.JOINT), int(weighting), 0.0, 1.0)
    daring = Laplace(0.05, 0.3)
    _, every_step, *_ = outcome(False, chosen, daring, 1)
    assert (np.diff(every_step, axis=1) <= 0).all()
    assert every_step[:, -1].sum() < every_step[:, 0].sum()
    for every in (4, 10, 40):
        _, kept, *_ = outcome(False, chosen, daring, every)
        np.testing.assert_array_equal(kept, every_step[:, every - 1 :: every])


@pytest.mark.parametrize("plain", [False, True], ids=["compiled", "plain"])
@pytest.mark.parametrize("weighting", [Weighting.SIMPLE, Weighting.MODEL], ids=lambda w: w.word)
def test_blocks_and_pieces_of_agents_leave_every_bit_as_it_is(
    weighting: Weighting, plain: bool
) -> None:
    chosen = Choice(int(RR), int(ClassTest.JOINT), int(weighting), 0.0, 1.0)
    by_model, bound = weighting == Weighting.MODEL, Laplace(0.05, 0.3)
    views, agents = views_for(chosen, bound), everyone(LABELS, bound.scale)
    whole = blank_output(40, by_model=False)
    run_block(chosen, agents, views, np.arange(40), whole, plain=plain)

    workspace = Workspace.blank(7, 3, by_model)
    states = np.zeros((7, workspace.kept.size), np.int64)
    parts = blank_output(40, by_model=False)
    for start, stop in ((0, 1), (1, 14), (14, 40)):
        here: View[Any] = View(*(np.ascontiguousarray(field[:, start:stop]) for field in views))
        for first, last in ((4, 7), (0, 4)):
            piece: Any = Output(*(part[first:last] for part in parts))  # type: ignore[arg-type]
            how: dict[str, Any] = {"first": first, "last": last, "is_first": start == 0}
            how |= {"workspace": workspace, "states": states, "plain": plain}
            run_block(chosen, agents, here, np.arange(start, stop), piece, **how)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("weighting", [Weighting.SIMPLE, Weighting.MODEL], ids=lambda w: w.word)
def test_what_is_not_asked_for_is_not_written(weighting: Weighting) -> None:
    chosen = Choice(int(RR), int(ClassTest.JOINT), int(weighting), 0.0, 1.0)
    bound = Laplace(0.05, 0.3)
    views, agents = views_for(chosen, bound), everyone(LABELS, bound.scale)
    everything, nothing = blank_output(40, by_model=False), blank_output(40, by_model=False)
    run_block(chosen, agents, views, np.arange(40), everything)
    run_block(chosen, agents, views, np.full(40, -1), nothing)
    assert (nothing.estimates == 9e9).all()
    assert (nothing.class_counts == -9).all()
    for name in ("estimates", "class_counts"):
        some = blank_output(40, by_model=False)
        some = some._replace(**{name: getattr(some, name)[:0]})
        run_block(chosen, agents, views, np.arange(40), some, states=NO_STATES)
        for one, other in zip(everything, some, strict=True):
            assert len(other) == 0 or (one == other).all()
