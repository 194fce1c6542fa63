"""What the studies find, on smaller fleets and in few runs: the claims that the pages make."""

from __future__ import annotations

import re

import pytest

from colme.experiment import ChangeSpec, DriftSpec
from colme.studies import Study, batches, conservative, drift, noise, rates, views
from colme.studies.work import Work, three_classes


def work(runs: int = 1, seed: int = 3) -> Work:
    return Work(runs=runs, seed=seed)


def numbers(answer: str) -> list[float]:
    return [float(word) for word in re.findall(r"\d+(?:\.\d+)?", answer)]


@pytest.fixture(scope="module")
def drifted() -> Study:
    return drift.measure(work(), n_agents=60)


@pytest.fixture(scope="module")
def batched() -> Study:
    return batches.measure(work(runs=2), sizes=(1, 10, 20))


def test_waiting_saves_queries_down_to_a_round(batched: Study) -> None:
    def saved(name: str) -> float:
        asked = batches._QUERIES
        one: float = batched.value(f"{name}, m = 1", asked)
        return one / batched.value(f"{name}, m = 10", asked)  # type: ignore[no-any-return]

    assert saved("restricted-round-robin") >= 4
    # One has to ask 199 others at least once: four times fewer than 560 is out of reach.
    assert 2.2 <= saved("sharp") <= 3
    for name in batches.ALGORITHMS:
        at_once, waiting = (batched.value(f"{name}, m = {m}", "samples") for m in (1, 10))
        assert at_once < waiting
    for cells in batched.rows:
        assert cells[1] >= 0.95 * 199  # type: ignore[operator]


def test_batches_are_faster_than_their_theory_and_counted_in_both_ways(batched: Study) -> None:
    for _, queries, samples, promised, *_ in batched.rows:
        assert isinstance(queries, float)
        assert isinstance(samples, float)
        assert isinstance(promised, float)
        assert queries < promised
        assert samples / queries == pytest.approx(round(samples / queries))


def test_the_sentence_of_batches_is_made_of_its_table(batched: Study) -> None:
    known = {cells[0]: cells[1] for cells in batched.rows}
    saved = [known[f"{name}, m = 1"] / known[f"{name}, m = 10"] for name in batches.ALGORITHMS]  # type: ignore[operator]
    told = numbers(batched.answer)
    assert told[:4] == [10, 1, round(saved[0], 1), round(10 / saved[0], 1)]
    assert told[4:] == [round(saved[1], 1), round(10 / saved[1], 1)]


def test_slow_agents_have_less_than_a_third_of_the_error_they_would_have_alone() -> None:
    study = rates.measure(work(runs=2), n_agents=150, horizon=600)
    for pattern in ("steady", "poisson"):
        slow, fast = (study.value(f"{who}, {pattern}", "share of it") for who in ("slow", "fast"))
        assert slow < 1 / 3
        assert slow < fast < 0.6
    assert all(cells[-1] > 0.001 for cells in study.rows)  # type: ignore[operator]


def test_twenty_entries_and_gossip_do_nearly_what_everybody_does() -> None:
    study = views.measure(work(), n_agents=300, horizon=1200)
    fine = {cells[0]: cells[3] for cells in study.rows}
    assert fine["20, gossip"] <= 2.5 * fine["everybody"]  # type: ignore[operator]
    assert fine["20, the same for ever"] > 2.5 * fine["everybody"]  # type: ignore[operator]
    assert fine["20, gossip"] <= 0.6 * fine["20, the same for ever"]  # type: ignore[operator]
    assert fine["50, gossip"] < fine["20, gossip"] < fine["10, gossip"]  # type: ignore[operator]
    assert [cells[1] for cells in study.rows] == [10, 20, 50, 20, 300, 20]


def test_what_is_not_known_of_noise_costs_time_and_never_a_classmate() -> None:
    study = noise.measure(work(), n_agents=60, horizon=2000)
    known = {str(cells[0]): float(cells[1]) for cells in study.rows}  # type: ignore[arg-type]
    assert known["normal: nothing"] == pytest.approx(known["normal: σ"], rel=0.1)
    assert known["unequal: the largest σ"] > 1.15 * known["unequal: σ of each"]
    adaptive = [known[f"coins: {how}"] for how in ("Bernstein", "betting")]
    assert known["coins: usual bound"] < min(adaptive)  # of means like these
    for cells in study.rows:
        assert cells[4] == 0  # 60 agents and a promise of 0.001
        assert cells[7] > 2  # type: ignore[operator]


def test_restarts_bring_the_fleet_back_and_nothing_else_does_as_soon(drifted: Study) -> None:
    back = {cells[0]: cells[-4] for cells in drifted.rows}
    assert back["restarts"] is not None
    assert back["restarts"] <= 800  # type: ignore[operator]
    assert back["nothing"] is None
    assert back["window of 500"] is None or back["window of 500"] > back["restarts"]  # type: ignore[operator]
    then = f"moved {drift.AFTER[-1]} after"
    told = drifted.value("alone, told of the change", then)
    assert drifted.value("restarts", then) < told / 2
    assert drifted.value("nothing", then) > 2 * told


def test_restarts_cost_little_while_nothing_changes(drifted: Study) -> None:
    calm = drifted.columns[-1]
    assert drifted.value("restarts", calm) <= 1.1 * drifted.value("nothing", calm)


def test_alarms_are_counted_as_the_streams_give_them(drifted: Study) -> None:
    assert drifted.value("restarts", "restarted for nothing") == 0
    assert 15 <= drifted.value("restarts", "change found after") <= 45
    assert drifted.value("nothing", "change found after") is None


def test_a_restart_before_the_change_counts_as_one_for_nothing() -> None:
    job = work()
    change = ChangeSpec.make({"at": 100, "from": 0, "to": 2, "share": 1 / 3})
    problem = three_classes(12, changes=(change,))
    scenario = job.scenario(problem, 200, drift=DriftSpec(restart=True))
    scenario.samples[0, 50:, 5] += 3.0  # no change of the problem
    assert drift._alarms(scenario, 100)["restarted for nothing"] == 1


def test_careful_agents_pool_no_stranger_and_wait_for_it() -> None:
    study = conservative.measure(work(), n_agents=100, horizon=2500)
    early, later, fine = study.columns[1], study.columns[3], study.columns[6]
    bold, careful = (f"restricted-round-robin, {how}" for how in ("optimistic", "within 0.2"))
    assert study.value(careful, early) < study.value(bold, early) / 2
    assert study.value(careful, early) == study.value("local", early)
    assert study.value("sharp, within 0.2", later) > 1.5 * study.value("sharp, optimistic", later)
    times = [study.value(f"sharp, {how}", fine) for how in ("optimistic", "within 0.4")]
    times += [study.value(f"sharp, within {within}", fine) for within in (0.2, 0.1)]
    assert times == sorted(times)
