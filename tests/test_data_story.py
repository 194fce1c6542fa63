"""The story says what the numbers say: classes, gaps, help, and who differs."""

from __future__ import annotations

import numpy as np
import pytest

from colme.data import Estimates, Summaries, estimate
from colme.data.estimator.story import story

MEANS = {
    "one class": np.zeros(40),
    "two classes": 4.0 * (np.arange(40) % 2),
    "eight classes": 6.0 * (np.arange(80) % 8),
    "a crowd": np.random.default_rng(0).normal(0.0, 1.0, 300),
    "evenly": np.linspace(0.0, 4.0, 200),
    "all far apart": 50.0 * np.arange(6),
    "one far away": np.append(np.zeros(39), 90.0),
}


def found(truth: np.ndarray, each: int = 40, seed: int = 1) -> Estimates:
    whose = np.repeat(np.arange(len(truth)), each)
    values = np.random.default_rng(seed).normal(truth[whose], 1.0)
    return estimate(Summaries.of(whose, values))


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("one class", "All agents are indistinguishable: they may share one mean"),
        ("two classes", "2 classes are found: 20 agents around"),
        ("eight classes", "8 classes are found, of 10 to 10 agents, with means from"),
        ("a crowd", "Means vary without clear gaps"),
        ("evenly", "Means vary without clear gaps"),
        ("all far apart", "Every agent is a class of its own"),
        ("one far away", "2 classes are found: 39 agents around"),
    ],
)
def test_classes_are_distinguished_from_means_that_vary(kind: str, words: str) -> None:
    assert words in story(found(MEANS[kind]))[1]


def test_borders_that_are_not_certain_are_named_with_their_number() -> None:
    estimates = found(MEANS["a crowd"])
    shared = sum(one.shared for one in estimates.class_table)
    assert shared > 0
    assert any(
        line.startswith(f"{shared} of 300 agents are also indistinguishable from")
        and "transitive" in line
        for line in story(estimates)
    )
    assert any(
        "differs from all others" in line for line in story(found(MEANS["two classes"], 300))
    )


def test_help_is_described_as_it_is() -> None:
    estimates = found(MEANS["two classes"])
    doubled = int(np.sum(estimates.gains > 2))
    expected = f"worth {np.median(estimates.gains):.3g} times the agent's own rows (median); for "
    assert any(expected + f"{doubled} of 40" in line for line in story(estimates))
    assert any("help little" in line for line in story(found(MEANS["all far apart"])))


def test_agents_shown_to_differ_are_named() -> None:
    lines = story(found(MEANS["one far away"]))
    assert any(line.startswith("39 is shown to differ from all others (") for line in lines)
    assert any("(39), the lowest" in line and "shown to differ" in line for line in lines)
    everyone = story(found(MEANS["all far apart"]))
    assert any(line.startswith("All agents are shown to differ") for line in everyone)
    nobody = story(found(MEANS["one class"]))
    assert any(line.startswith("No agent is shown to differ") for line in nobody)
    assert any(line.endswith("these two are indistinguishable.") for line in nobody)


def test_many_who_differ_are_counted_after_some() -> None:
    truth = np.concatenate([np.zeros(20), 40.0 * np.arange(1, 9)])
    line = next(line for line in story(found(truth)) if line.startswith("20, "))
    assert line.startswith("20, 21, 22, 23, 24 and 3 more are shown to differ from all others")
    assert "at a risk of 0.0063" in line


@pytest.mark.parametrize("values", [[1.0, 2.0, 5.0], [1.0]])
def test_a_table_without_noise_or_peers_has_a_story(values: list[float]) -> None:
    table = Summaries.of(list("abc")[: len(values)], values)
    assert story(estimate(table))[1] == "Nothing distinguishes agents, so none can help."
    assert "nan" not in " ".join(story(estimate(table, sigma=1.0)))


def test_one_agent_is_no_crowd() -> None:
    lines = story(estimate(Summaries.of(["a", "a"], [1.0, 2.0]), sigma=1.0))
    assert lines[0] == "1 agent has 2 rows: 2 each."
    assert len(lines) == 3
