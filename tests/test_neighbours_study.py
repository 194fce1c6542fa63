"""What the study of neighbours finds, on a smaller fleet: the claims that the page makes."""

from __future__ import annotations

import numpy as np
import pytest

from colme.neighbours import METHODS
from colme.studies import STUDIES, Study, neighbours
from colme.studies.work import Work


@pytest.fixture(scope="module")
def study() -> Study:
    return neighbours.measure(Work(runs=1, seed=3), n_agents=1500)


def test_the_joint_test_halves_the_time(study: Study) -> None:
    for letter in "bc":
        ours = study.value(f"{letter}-colme", "steps to 0.01")
        published = study.value(f"{letter}-colme-published, run again", "steps to 0.01")
        assert ours < 0.65 * published


def test_published_methods_run_again_are_near_the_published_plot(study: Study) -> None:
    """A tenth of the agents: fewer links, a larger risk for each, so a little sooner."""
    for letter in "BC":
        name = f"{letter.lower()}-colme-published, run again"
        for share, steps in zip(
            neighbours.REACH[:3], neighbours.PUBLISHED[f"{letter}-ColME, published"], strict=False
        ):
            assert steps is not None
            assert 0.75 * steps < study.value(name, f"steps to {share:g}") < 1.1 * steps


def test_likely_links_are_never_worse_than_none(study: Study) -> None:
    curves = {curve.name: dict(zip(curve.x, curve.y, strict=True)) for curve in study.curves}
    local, likely = curves["local"], curves["c-colme-likely"]
    # Of 1500 estimates the share scatters by about 0.01.
    assert all(likely.get(t, 0.0) <= local[t] + 0.03 for t in local)
    assert study.value("c-colme-likely", "steps to 0.01") < 400


def test_devices_are_right_in_time(study: Study) -> None:
    for name in ("c-colme", "cl-colme", "b-colme"):
        assert study.value(name, "wrong at 600") <= 0.02
        assert study.value(name, "wrong at 1000") <= 0.004


def test_the_table_has_all_methods_and_its_sentence_their_numbers(study: Study) -> None:
    assert {case for case in neighbours.CASES.values() if case} == set(METHODS)
    assert STUDIES["neighbours"].parts == len(neighbours.CASES)
    for name in ("c-colme-likely", "c-colme", "b-colme"):
        assert f"after {study.value(name, 'steps to 0.01')} steps with {name}" in study.answer
    assert study.columns[1:5] == tuple(f"steps to {share}" for share in (0.5, 0.1, 0.01, 0.001))


def test_progress_is_told_to_the_end() -> None:
    told: list[float] = []
    work = Work(runs=1, progress=lambda _, share: told.append(share))
    short = neighbours.measure(work, n_agents=20, degree=4, horizon=50)
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1.0)
    assert short.value("local", "wrong at 100") is None
    assert np.isfinite([y for curve in short.curves for y in curve.y]).all()
