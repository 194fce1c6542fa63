"""Peer sampling: small caches offer the whole fleet, evenly."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chisquare

from colme import Contacts, Gossip
from colme.gossip.caches import Caches, exchange, random_below

SEED = np.array([123456789, 362436069, 521288629, 88675123])


def ring(n: int, reach: int = 1) -> Contacts:
    return Contacts.of_graph([(a, (a + d) % n) for a in range(n) for d in range(1, reach + 1)])


def after(contacts: Contacts, periods: int, healing: int = 0, swap: int = 99) -> Caches:
    caches = Caches.of(contacts)
    exchange(caches, SEED.copy(), healing, swap, np.empty((periods, contacts.n_agents), np.int32))
    return caches


def kept(caches: Caches) -> list[list[int]]:
    return [
        row[:size].tolist() for row, size in zip(caches.names, caches.sizes.tolist(), strict=True)
    ]


def n_distinct(offers: NDArray[np.int32]) -> NDArray[np.int64]:
    return np.array([np.unique(column).size for column in offers.T])


def test_random_numbers_are_even_and_independent_of_the_ones_before() -> None:
    state = SEED.copy()
    drawn = np.array([random_below(state, 6) for _ in range(12_001)])
    assert (drawn.min(), drawn.max()) == (0, 5)
    assert chisquare(np.bincount(drawn)).pvalue > 1e-3
    assert chisquare(np.bincount(drawn[:-1] * 6 + drawn[1:])).pvalue > 1e-3
    assert 0 < state.min() <= state.max() < 2**32


def test_a_thousand_agents_are_offered_most_of_the_fleet_evenly() -> None:
    offers = Gossip(seed=1).suggestions(Contacts.random(1000, 20, seed=1), 500)
    assert offers.dtype == np.int32
    # Drawn from all 999 others, 500 offers would hold 394 different ones on average.
    assert n_distinct(offers).mean() > 370
    assert n_distinct(offers).min() > 200
    offered = np.bincount(offers.ravel(), minlength=1000)
    assert offered.max() < 1.5 * offered.mean()
    assert offered.min() > 0.6 * offered.mean()
    assert (offers != np.arange(1000)).all()


@pytest.mark.parametrize(("reach", "least"), [(1, 350), (3, 350), (10, 370)])
def test_a_ring_mixes(reach: int, least: float) -> None:
    n = 1000
    offers = Gossip(seed=2).suggestions(ring(n, reach), 500)
    assert n_distinct(offers).mean() > least
    late = offers[400:]
    away = abs(late - np.arange(n))
    away = np.minimum(away, n - away)
    assert away.mean() == pytest.approx(n / 4, rel=0.1)
    assert np.bincount(late.ravel(), minlength=n).max() < 3 * late.shape[0]


@pytest.mark.parametrize("healing", [0, 1, 4])
@pytest.mark.parametrize("swap", [0, 2, 99])
def test_caches_hold_each_name_once_and_never_their_owner(healing: int, swap: int) -> None:
    for contacts in (ring(30), ring(30, 4), Contacts.random(30, 8, seed=3), Contacts.everyone(6)):
        for periods in (1, 2, 7, 40):
            caches = after(contacts, periods, healing, swap)
            for a, names in enumerate(kept(caches)):
                assert a not in names
                assert len(names) == len(set(names)) <= max(8, contacts.size)
                assert 0 <= min(names) <= max(names) < contacts.n_agents
            assert (caches.sizes >= np.diff(contacts.starts) - 1).all()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("healing", [0, 1, 4])
def test_a_fleet_stays_one(seed: int, healing: int) -> None:
    caches = Caches.of(ring(200))
    state = np.random.default_rng(seed).integers(1, 2**32, 4)
    exchange(caches, state, healing, 99, np.empty((1000, 200), np.int32))
    assert Contacts.of_lists(kept(caches)).components() == 1


def test_swapping_spreads_names_more_evenly_than_dropping_at_random() -> None:
    contacts = Contacts.random(300, 20, seed=4)
    uneven = np.bincount(after(contacts, 200, swap=0).names.ravel(), minlength=300)
    even = np.bincount(after(contacts, 200).names.ravel(), minlength=300)
    assert even.std() < 0.5 * uneven.std()


def test_healing_keeps_names_young() -> None:
    contacts = Contacts.random(300, 20, seed=4)
    assert after(contacts, 200, healing=8).ages.mean() < 0.5 * after(contacts, 200).ages.mean()


def test_a_name_is_as_young_as_the_youngest_that_was_heard() -> None:
    assert after(Contacts.everyone(2), 10).ages[:, 0].tolist() == [1, 1]  # heard anew each period
    names = np.full((3, 8), -1)
    names[0, :2], names[1, :2] = [1, 2], [0, 2]
    ages = np.zeros((3, 8), np.int64)
    ages[0, :2], ages[1, :2] = [9, 8], [5, 3]
    caches = Caches.of(Contacts.everyone(3))._replace(
        names=names, ages=ages, sizes=np.array([2, 2, 0])
    )
    exchange(caches, SEED.copy(), 0, 99, np.empty((1, 3), np.int32))
    known = dict(zip(names[0, :2].tolist(), ages[0, :2].tolist(), strict=True))
    assert known[1] == 1  # just heard from itself
    assert known[2] in (1, 4)  # from itself, or from agent 1


def test_parts_stay_apart() -> None:
    edges = [(a, a + 1) for a in range(39) if a != 14]
    contacts = Contacts.of_graph(edges, n_agents=41, disconnected=True)
    offers = Gossip().suggestions(contacts, 300)
    assert (offers[:, :15] < 15).all()
    assert ((offers[:, 15:40] >= 15) & (offers[:, 15:40] < 40)).all()
    assert (offers[:, 40] == -1).all()
    assert (n_distinct(offers)[:15] == 14).all()
    assert (n_distinct(offers)[15:40] == 24).all()


def test_who_is_known_but_knows_nobody_learns_from_who_asks() -> None:
    offers = Gossip().suggestions(Contacts.of_lists([[2], [2], []]), 50)
    assert (offers >= 0).all()
    assert set(offers[:, 2].tolist()) == {0, 1}


@pytest.mark.parametrize("every", [1, 2, 7])
def test_offers_come_once_per_period(every: int) -> None:
    contacts = Contacts.random(20, 5, seed=1)
    offers = Gossip(every=every, seed=3).suggestions(contacts, 21)
    at_period = np.arange(21) % every == 0
    assert (offers[at_period] >= 0).all()
    assert (offers[~at_period] == -1).all()
    rarely = Gossip(seed=3).suggestions(contacts, int(at_period.sum()))
    assert (offers[at_period] == rarely).all()


def test_the_same_seed_and_run_give_the_same_offers() -> None:
    contacts = Contacts.random(40, 6, seed=1)
    offers = Gossip(seed=5).suggestions(contacts, 30, run=2)
    assert (offers == Gossip(seed=5).suggestions(contacts, 30, run=2)).all()
    assert (offers[:20] == Gossip(seed=5).suggestions(contacts, 20, run=2)).all()
    assert (offers != Gossip(seed=5).suggestions(contacts, 30, run=1)).any()
    assert (offers != Gossip(seed=6).suggestions(contacts, 30, run=2)).any()


@given(st.integers(1, 12), st.integers(0, 3), st.integers(0, 9), st.integers(0, 99), st.data())
def test_plain_and_compiled_gossip_are_the_same_bits(
    n: int, healing: int, swap: int, seed: int, data: Any
) -> None:
    contacts = Contacts.random(n, data.draw(st.integers(1, n)), seed)
    plain, fast = Caches.of(contacts), Caches.of(contacts)
    state = np.random.default_rng(seed).integers(1, 2**32, 4)
    offers = np.empty((2, 9, n), np.int32)
    exchange.function(plain, state.copy(), healing, swap, offers[0])
    exchange(fast, state.copy(), healing, swap, offers[1])
    assert (offers[0] == offers[1]).all()
    for one, other in zip(plain[:3], fast[:3], strict=True):
        assert (one == other).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"every": 0}, "every must be at least 1; received 0"),
        ({"healing": -1}, "healing must be 0 or greater; received -1"),
        ({"swap": 1.5}, "swap must be a whole number; received 1.5"),
        ({"seed": -3}, "seed must be 0 or greater; received -3"),
    ],
)
def test_wrong_gossip_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Gossip(**arguments)


def test_nothing_is_offered_for_a_wrong_horizon() -> None:
    with pytest.raises(ValueError, match="horizon must be at least 1; received 0"):
        Gossip().suggestions(Contacts.everyone(3), 0)
