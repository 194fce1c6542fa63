"""Simulations on a graph: what they return, what they refuse, and the published problem."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from on_graphs import DELTA, SIGMA, estimates_of, two_classes

from colme import Change, Contacts, Problem
from colme.neighbours import METHODS, Method, simulate_neighbours
from colme.noise import Gaussian
from colme.results import Digest


@pytest.mark.parametrize("name", METHODS)
def test_simulations_give_what_the_loop_does(name: str) -> None:
    problem, contacts = two_classes(14), Contacts.regular(14, 4, seed=3)
    digest = simulate_neighbours(
        problem, name, contacts, horizon=50, runs=2, seed=6, delta=DELTA, times=[1, 50]
    )
    for run in range(2):
        samples = problem.draw_run(50, run, seed=6)
        estimates, _, _ = estimates_of(problem, name, contacts, samples)
        assert (digest.estimates[run] == estimates[-1]).all()
        errors = np.abs(estimates - problem.true_means)
        np.testing.assert_allclose(digest.mean_errors[run], errors[[0, -1]].mean(axis=1))
    assert digest.name == name


def same(one: Digest, other: Digest) -> bool:
    arrays = ("estimates", "errors", "mean_errors", "wrong_shares", "convergence_times")
    return all((getattr(one, name) == getattr(other, name)).all() for name in arrays)


@pytest.mark.parametrize("name", METHODS)
def test_neither_blocks_nor_threads_change_a_bit(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, contacts = two_classes(20), Contacts.regular(20, 4)

    def run(threads: int, runs: int = 3) -> Digest:
        return simulate_neighbours(
            problem, name, contacts, horizon=61, runs=runs, delta=DELTA, threads=threads
        )

    whole = run(1)
    assert same(whole, run(2))
    assert (run(1, runs=1).estimates[0] == whole.estimates[0]).all()
    for size in (1, 700, 2500):
        monkeypatch.setattr("colme.neighbours.graph_runs._LINKS_PER_BLOCK", size)
        assert same(whole, run(3))


def test_progress_rises_to_the_end_and_errors_come_through() -> None:
    problem, contacts = two_classes(20), Contacts.regular(20, 4)
    shares: list[float] = []
    simulate_neighbours(problem, "c-colme", contacts, horizon=30, runs=3, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0

    def stop(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate_neighbours(problem, "c-colme", contacts, horizon=30, runs=3, progress=stop)


class Broken(Gaussian):
    """A sensor that fails after a while."""

    def fill(self, *_: object) -> None:
        raise OSError("no sensor")


def test_what_fails_in_a_thread_is_raised() -> None:
    problem, contacts = two_classes(20), Contacts.regular(20, 4)
    with pytest.raises(ValueError, match="times must list rising steps"):
        simulate_neighbours(problem, "c-colme", contacts, horizon=5, times=[9])
    broken = Problem(problem.labels, problem.true_means, Broken(SIGMA))
    with pytest.raises(OSError, match="no sensor"):
        simulate_neighbours(broken, "c-colme", contacts, horizon=5, runs=3)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"method": "d-colme"}, "unknown method 'd-colme'; known: b-colme, c-colme, cl-colme"),
        ({"method": 3}, "a method is a name or a colme.neighbours.Method; received 3"),
        (
            {"contacts": Contacts.everyone(9)},
            "contacts must be of 6 agents, as the samples are; received contacts of 9",
        ),
        (
            {"contacts": Contacts.of_lists([[1], [], [], [], [], []])},
            "agent 0 knows agent 1, which does not know agent 0: use Contacts.regular",
        ),
        (
            {"contacts": Contacts.of_lists([[], [0], [], [], [], []])},
            "agent 1 knows agent 0, which does not know agent 1: use Contacts.regular",
        ),
        ({"horizon": 0}, "horizon must be at least 1; received 0"),
        ({"runs": 0}, "runs must be at least 1; received 0"),
        ({"seed": -1}, "seed must be 0 or greater; received -1"),
        ({"threads": 0}, "threads must be at least 1; received 0"),
        ({"delta": 1.0}, "delta is a probability of failure in (0, 1); received 1"),
        ({"sigma": 0.0}, "sigma must be greater than 0; received 0"),
        ({"epsilons": (0.0,)}, "epsilon must be greater than 0; received 0"),
        (
            {"problem": two_classes(6).changing([Change(2, [0], 0.5)])},
            "true means must not change; received a problem with 1 changes",
        ),
    ],
)
def test_bad_input_is_refused(changes: dict[str, Any], words: str) -> None:
    settings: dict[str, Any] = {
        "problem": two_classes(6),
        "method": "c-colme",
        "contacts": Contacts.everyone(6),
        "horizon": 4,
    }
    with pytest.raises(ValueError, match=re.escape(words)):
        simulate_neighbours(**settings | changes)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"sharing": "gossip"}, "Sharing must be one of messages, consensus; received 'gossip'"),
        ({"test": "joint"}, "LinkTest must be one of paired, overlap-published; received 'joint'"),
        ({"links": "all"}, "Links must be one of uncut, likely; received 'all'"),
        ({"weights": 7}, "LinkWeights must be one of metropolis, laplacian; received 7"),
        ({"reset": "never"}, "Reset must be one of max-consensus, global-published, fading"),
        ({"hops": 0}, "hops must be at least 1; received 0"),
    ],
)
def test_a_method_of_unknown_words_is_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        Method(**{"sharing": "consensus"} | settings)


def test_a_method_composed_like_a_preset_is_named_like_it() -> None:
    problem, contacts = two_classes(6), Contacts.everyone(6)
    names = {
        simulate_neighbours(problem, method, contacts, horizon=2).name
        for method in (METHODS["cl-colme"], Method("messages", links="likely"))
    }
    assert names == {"cl-colme", "messages paired likely"}


def test_devices_find_the_classes_sooner_than_published() -> None:
    """The published problem, ten times smaller."""
    problem = Problem.gaussian([0.0, 1.0], 1000, sigma=2.0, seed=1)
    contacts = Contacts.regular(1000, 10, seed=1)
    times = [150, 300, 600, 800]
    wrong = {
        name: simulate_neighbours(
            problem, name, contacts, horizon=800, delta=0.1, times=times, runs=2
        )
        .wrong_shares[:, :, 0]
        .mean(axis=0)
        for name in METHODS
    }
    local = (
        simulate_neighbours(
            problem, "c-colme", Contacts.of_lists([[]] * 1000), horizon=800, times=times, runs=2
        )
        .wrong_shares[:, :, 0]
        .mean(axis=0)
    )
    for name in ("b-colme", "c-colme", "cl-colme"):
        assert wrong[name][2] <= 0.02
    assert wrong["b-colme-published"][2] > 0.9
    assert wrong["c-colme-published"][2] > 0.2
    assert (wrong["c-colme-likely"] < local).all()
    assert wrong["c-colme-likely"][1] <= 0.02
