"""The vocabulary of algorithms and its presets."""

from dataclasses import FrozenInstanceError
from itertools import product
from typing import Any

import pytest

from colme.algorithm import ALGORITHMS, Algorithm, ClassTest, QueryStrategy, Weighting, resolve


def test_the_presets_are_ours_the_papers_six_and_the_two_eta_algorithms() -> None:
    assert {
        name: (preset.query.word, preset.weighting.word, preset.class_test.word, preset.eta)
        for name, preset in ALGORITHMS.items()
    } == {
        "sharp": ("stalest", "model", "paired", 0),
        "robust": ("stalest", "robust", "paired", 0),
        "round-robin": ("round-robin", "simple", "overlap", 0),
        "restricted-round-robin": ("restricted-round-robin", "simple", "overlap", 0),
        "soft-restricted-round-robin": ("restricted-round-robin", "soft", "overlap", 0),
        "aggressive-restricted-round-robin": ("restricted-round-robin", "aggressive", "overlap", 0),
        "local": ("none", "simple", "overlap", 0),
        "oracle": ("restricted-round-robin", "simple", "known", 0),
        "eta-round-robin": ("round-robin", "class-uniform", "overlap", 0),
        "eta-restricted-round-robin": ("restricted-round-robin", "class-uniform", "overlap", 0),
    }


def test_the_recommended_preset_comes_first() -> None:
    first, *others = ALGORITHMS.values()
    assert "recommended" in first.meaning
    assert not any("recommended" in preset.meaning for preset in others)


def test_every_preset_says_what_it_means_in_one_line_of_its_own() -> None:
    meanings = {preset.meaning for preset in ALGORITHMS.values()}
    assert len(meanings) == len(ALGORITHMS)
    assert all(meaning and "\n" not in meaning for meaning in meanings)


def test_the_presets_cannot_be_replaced() -> None:
    presets: Any = ALGORITHMS
    with pytest.raises(TypeError):
        presets["local"] = presets["oracle"]


@pytest.mark.parametrize("words", [QueryStrategy, ClassTest, Weighting])
def test_a_word_and_its_member_stand_for_each_other(
    words: type[QueryStrategy] | type[ClassTest] | type[Weighting],
) -> None:
    for member in words:
        assert words.of(member.word) is words.of(member) is member  # type: ignore[arg-type]


@pytest.mark.parametrize("words", [QueryStrategy, ClassTest, Weighting])
@pytest.mark.parametrize("value", ["Soft", "", "round robin", 9, None])
def test_an_unknown_word_is_refused_with_the_words_allowed(words: Any, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{words.__name__} must be one of .*received {value!r}"):
        words.of(value)


def test_every_combination_of_words_composes_an_algorithm() -> None:
    for query, weighting, test in product(QueryStrategy, Weighting, ClassTest):
        composed = Algorithm(query.word, weighting.word, test.word, eta=0.25)
        assert composed == Algorithm(query, weighting, test, 0.25)
        assert (composed.query, composed.weighting, composed.class_test) == (query, weighting, test)


def test_an_algorithm_is_frozen_and_can_be_a_key() -> None:
    algorithm: Any = Algorithm("round-robin", "soft")
    with pytest.raises(FrozenInstanceError):
        algorithm.eta = 1.0
    assert {algorithm: 1}[Algorithm("round-robin", "soft")] == 1


@pytest.mark.parametrize("eta", [-0.1, float("nan"), float("inf"), None])
def test_eta_must_be_a_finite_number_from_0_on(eta: Any) -> None:
    with pytest.raises(ValueError, match=f"eta must be .*; received {eta}"):
        Algorithm("round-robin", "soft", eta=eta)


def test_resolve_finds_presets_keeps_algorithms_and_replaces_eta() -> None:
    composed = Algorithm("round-robin", "soft", eta=0.5)
    assert resolve("oracle") is ALGORITHMS["oracle"]
    assert resolve(composed) is composed
    assert resolve(composed, 0.0).eta == 0
    assert resolve("eta-round-robin", 0.25).weighting is Weighting.CLASS_UNIFORM


def test_resolve_refuses_a_name_it_does_not_know_and_lists_those_it_does() -> None:
    with pytest.raises(
        ValueError, match=r"unknown algorithm 'gossip'; known: sharp, robust, round-robin, .*local"
    ):
        resolve("gossip")


@pytest.mark.parametrize("eta", [-1.0, float("nan")])
def test_resolve_refuses_a_bad_eta(eta: float) -> None:
    with pytest.raises(ValueError, match=f"eta must be .*received {eta:g}"):
        resolve("eta-round-robin", eta)


@pytest.mark.parametrize("value", [3, None])
def test_resolve_refuses_what_is_neither_a_name_nor_an_algorithm(value: Any) -> None:
    with pytest.raises(ValueError, match=f"received {value}"):
        resolve(value)
