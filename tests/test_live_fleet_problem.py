"""The problem of a demonstration fleet as other processes see it, and the replies of its liars."""

from __future__ import annotations

import asyncio
import dataclasses
import math
import time
from collections.abc import Callable
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from local_fleets import PROBLEM

import colme
from colme.live.fleet.false_replies import reply_filter
from colme.live.fleet.fleet_problem import BLOCK, AgentStream, ProblemRecord
from colme.live.fleet.fleet_settings import FleetSettings, Lie
from colme.noise import Bernoulli, Beta, Custom, Gaussian, NoiseLaw, Uniform
from colme.problem import Change, Problem

LIES: tuple[Lie, ...] = get_args(Lie)


@pytest.mark.parametrize(
    "noise",
    [Gaussian(0.5), Gaussian([0.1, 0.2, 0.3]), Bernoulli(), Uniform(0.3), Beta(4.0, -1.0, 2.0)],
    ids=repr,
)
def test_a_problem_reaches_another_process_as_it_is(noise: NoiseLaw) -> None:
    problem = Problem([0, 1, 1], [0.2, 0.8, 0.7], noise, [Change(5, [0, 2], 0.1)])
    told = ProblemRecord.model_validate_json(ProblemRecord.of(problem).model_dump_json()).problem()
    assert told.noise == noise
    assert told.changes == problem.changes
    assert told.labels.tolist() == problem.labels.tolist()
    assert told.true_means.tolist() == problem.true_means.tolist()


def test_noise_that_is_a_function_cannot_be_told() -> None:
    noise = Custom(lambda *_: np.zeros((1, 1)), 1.0)
    with pytest.raises(ValueError, match=r"gaussian, bernoulli, uniform, beta.*received Custom"):
        ProblemRecord.of(Problem([0], [0.0], noise))


async def first(stream: AgentStream, n: int, after: int = 0) -> list[float]:
    samples: list[float] = []
    async for sample in stream.after(after):
        samples.append(sample)
        if len(samples) == n:
            break
    return samples


def test_a_sample_depends_on_seed_agent_and_number_alone() -> None:
    one = AgentStream(PROBLEM, seed=1, agent=3, interval=1e-9)
    whole = asyncio.run(first(one, BLOCK + 10))
    for n in (1, BLOCK - 1, BLOCK, BLOCK + 1):
        assert asyncio.run(first(one, 5, after=n)) == whole[n : n + 5]
    others = [
        AgentStream(PROBLEM, seed=2, agent=3, interval=1e-9),
        AgentStream(PROBLEM, 1, 4, 1e-9),
    ]
    for other in others:
        assert not set(asyncio.run(first(other, 20))) & set(whole)
    assert len(set(whole)) == len(whole)


def test_samples_scatter_as_the_problem_says_and_change_when_it_says() -> None:
    problem = Problem([0, 0], [0.2, 0.2], Gaussian([0.01, 0.1]), [Change(BLOCK + 101, [1], 5.0)])
    steady, moved = (
        np.array(asyncio.run(first(AgentStream(problem, 1, a, 1e-9), 400))) for a in (0, 1)
    )
    assert np.std(steady) == pytest.approx(0.01, rel=0.2)
    assert np.mean(steady) == pytest.approx(0.2, abs=0.005)
    assert np.std(moved[: BLOCK + 100]) == pytest.approx(0.1, rel=0.2)
    assert (moved > 3).tolist() == [False] * (BLOCK + 100) + [True] * (300 - BLOCK)


def test_samples_come_when_they_are_due_and_at_once_when_overdue() -> None:
    async def times() -> tuple[float, float]:
        stream, begin = AgentStream(PROBLEM, 1, 0, interval=0.1), time.monotonic()
        samples = stream.after(0)
        await anext(samples)
        waited = time.monotonic() - begin
        time.sleep(0.45)  # the process is held up
        late = time.monotonic()
        for _ in range(4):
            await anext(samples)
        return waited, time.monotonic() - late

    waited, late = asyncio.run(times())
    assert waited >= 0.099
    assert late < 0.3  # and not four times 0.1


def liar(lie: Lie, shift: float) -> Callable[[colme.Reply], colme.Reply]:
    settings = FleetSettings(problem=PROBLEM, liars=1.0, lie=lie, shift=shift)
    lying = reply_filter(settings, agent=2)
    assert lying is not None
    return lying


def test_who_is_no_liar_tells_the_truth() -> None:
    settings = FleetSettings(problem=PROBLEM, liars=0.5)
    lying = [agent for agent in range(12) if reply_filter(settings, agent) is not None]
    assert tuple(lying) == settings.liar_numbers


numbers = st.floats(-1e100, 1e100)


@given(
    st.sampled_from(LIES),
    numbers,
    st.integers(0, 2**53),
    st.floats(0, 1e100),
    st.floats(1e-100, 1e100) | st.just(math.inf),
    st.floats(-1e6, 1e6),
)
def test_liars_always_tell_a_valid_reply(
    lie: Lie, mean: float, count: int, squares: float, spread: float, shift: float
) -> None:
    lying = liar(lie, shift)
    truth = colme.Reply("b", mean, count, squares, (spread, math.inf, 2.0), epoch=3)
    for _ in range(3):
        told = lying(truth)
        assert (told.sender, told.epoch) == ("b", 3)
        if lie != "random":
            assert told.mean == mean + shift
        elif count:
            assert 0.2 - abs(shift) <= told.mean <= 0.8 + abs(shift)
    assert lying(colme.Reply("b", 0.5, 10)).shape is None


def test_what_each_lie_says() -> None:
    truth = colme.Reply("b", 0.5, 10, 2.0, (0.5, 1.0, 2.0))
    lies = {lie: liar(lie, 0.25) for lie in LIES}
    assert lies["shifted"](truth) == dataclasses.replace(truth, mean=0.75)
    inflated = colme.Reply("b", 0.75, 1000, 200.0, (0.005, 1.0, 2.0))
    assert lies["inflated"](truth) == inflated
    told = [lies["random"](truth) for _ in range(50)]
    assert len({reply.mean for reply in told}) == 50
    assert len({reply.count for reply in told}) > 20
    for reply in told:  # they scatter as the truth does
        assert reply.squares == pytest.approx(0.2 * reply.count)
