"""The paired test, the one risk of all peers, and what an agent keeps of its past."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import colme
from colme import Agent, Algorithm, Query, Reply
from colme.algorithm import ClassTest
from colme.bounds import STREAM_N_OPT, split_risk, tuned_prior
from colme.rules import (
    Choice,
    Past,
    Row,
    exclude,
    forget_past,
    keep_past,
    lowest_level,
    news_evidence,
    paired_evidence,
)
from colme.rules import (
    test_remembered as excluded_by_samples,
)
from colme.rules.paired import PAIRED_SHARE, PAST_LENGTH
from colme.summary import View

PAIRED = Algorithm("stalest", "simple", "paired")
CHOICE = Choice.of(PAIRED, split_risk(0.001, 200), 199)
OWN = View(mean=0.1, n_samples=40.0, spread=0.02, offset=0.9, variance=0.25)


def past_of(own: View[float] = OWN) -> Past:
    past = Past.blank()
    keep_past(own, past)
    return past


def test_the_evidence_of_a_pair_is_its_formula() -> None:
    peer = View(mean=0.9, n_samples=40.0, variance=0.5)
    nu = tuned_prior(STREAM_N_OPT, split_risk(0.001, 200))
    expected = 40**2 * 0.8**2 / (2 * 0.75 * (40 + nu)) - 0.5 * math.log(1 + 40 / nu)
    found = paired_evidence(CHOICE, OWN, past_of(), peer)
    assert found == pytest.approx(expected + math.log(PAIRED_SHARE), rel=1e-12)
    tolerant = paired_evidence(CHOICE._replace(eta=0.8), OWN, past_of(), peer)
    assert tolerant == pytest.approx(-0.5 * math.log(1 + 40 / nu) + math.log(PAIRED_SHARE))


@pytest.mark.parametrize(
    "peer",
    [
        View(mean=0.9, n_samples=41.0, variance=0.5),  # it is ahead
        View(mean=0.9, n_samples=39.0, variance=0.5),  # that count was not kept
        View(mean=0.9, n_samples=40.0),  # its variance is not known
        View(),  # never heard of
    ],
)
def test_what_cannot_be_paired_gives_no_paired_evidence(peer: View[float]) -> None:
    assert paired_evidence(CHOICE, OWN, past_of(), peer) == 0.0


def test_what_cannot_be_paired_is_tested_jointly_at_its_price() -> None:
    ahead = View(mean=0.9, n_samples=41.0, spread=0.02, offset=1.1, variance=0.5)
    joint = 0.8**2 / (2 * 0.04) - 2.0
    price = -math.log(1 - PAIRED_SHARE)
    assert news_evidence(CHOICE, OWN, past_of(), ahead) == pytest.approx(joint - price)
    relaying = CHOICE._replace(relays=4)
    worth = joint - math.log1p(joint) - price
    assert news_evidence(relaying, OWN, past_of(), ahead) == pytest.approx(worth)
    unknown = ahead._replace(variance=math.inf)  # it can never be paired: all the risk is here
    assert news_evidence(CHOICE, OWN, past_of(), unknown) == pytest.approx(joint)
    assert news_evidence(CHOICE, OWN, past_of(), View()) == 0.0


def test_the_past_keeps_as_many_means_as_it_is_long_and_forgets_all_at_once() -> None:
    past = Past.blank()
    for n in range(1, 2 * PAST_LENGTH + 1):
        keep_past(View(mean=n / 8, n_samples=float(n)), past)
    kept = dict(zip(past.counts, past.means, strict=True))
    assert kept == {float(n): n / 8 for n in range(PAST_LENGTH + 1, 2 * PAST_LENGTH + 1)}
    forget_past(past)
    assert set(past.counts) == {0.0}


def holm(evidence: list[float], n_peers: float, log_risk: float) -> list[bool]:
    """Return who stays, peer by peer from the clearest, as in a textbook."""
    member, left = [True] * len(evidence), n_peers
    for l in np.argsort(evidence)[::-1]:
        if evidence[l] < log_risk - math.log(n_peers / left):
            break
        member[l], left = False, left - 1
    return member


def test_risk_is_shared_by_holms_method() -> None:
    rng = np.random.default_rng(2)
    for _ in range(100):
        row, n = Row.blank(12), 12
        row.evidence[:] = rng.uniform(8, 16, n).tolist()
        choice = CHOICE._replace(n_peers=15.0, log_risk=13.0)
        n_out = exclude(choice, n, row)
        assert row.member == holm(list(row.evidence), 15.0, 13.0)
        assert n_out == n - sum(row.member)
        gone = [row.evidence[l] for l in range(n) if not row.member[l]]
        assert all(found >= lowest_level(choice) for found in gone)
        assert exclude(choice, n, row) == 0
    spent = CHOICE._replace(n_peers=math.inf)
    assert lowest_level(spent) == spent.log_risk


def test_all_peers_may_be_excluded_and_the_agent_itself_never() -> None:
    row = Row.blank(3)
    row.evidence[:] = [0.0, 99.0, 99.0]
    assert exclude(CHOICE._replace(n_peers=2.0), 3, row) == 2
    assert row.member == [True, False, False]
    assert exclude(CHOICE._replace(n_peers=2.0), 3, row) == 0


def test_own_samples_test_what_is_remembered_only_where_pairs_cannot() -> None:
    views: dict[str, Any] = {"mean": [0.0, 1.0], "n_samples": [9.0, 50.0], "spread": [0.01] * 2}
    known = Row.blank(2, **views, variance=[0.25, 0.25])
    assert excluded_by_samples(CHOICE, 0, 2, known) == 0
    restarted = Row.blank(2, **views, variance=[0.25, 0.25], epoch=[1.0, 0.0])
    unknown = Row.blank(2, **views)
    for row in (restarted, unknown):
        assert excluded_by_samples(CHOICE, 0, 2, row) == 1
        assert row.member == [True, False]
    overlap = CHOICE._replace(class_test=ClassTest.OVERLAP)
    assert excluded_by_samples(overlap, 0, 2, Row.blank(2, **views)) == 0


def test_a_peer_that_was_ahead_is_tested_once_the_agent_has_as_many_samples() -> None:
    agent = Agent("a", sigma=0.1, delta=0.05, max_agents=2, algorithm=PAIRED, peers="ab")
    ahead = Reply("b", 0.5, 30, 0.29, (1e9, math.inf, 0.0), variance=0.01)
    agent.perceive(0.0)
    agent.receive(ahead)
    for _ in range(40):
        agent.perceive(0.0)
    assert agent.optimistic_class == {"a", "b"}  # there was no news
    agent.receive(replace(ahead, count=60, mean=0.5))
    assert agent.optimistic_class == {"a"}


def test_pairs_and_evidence_survive_a_restart_of_the_program() -> None:
    names = ["a", "b"]
    one, other = (
        Agent(name, sigma=0.1, delta=0.05, max_agents=2, algorithm=PAIRED, peers=names)
        for name in names
    )
    for t in range(12):
        one.perceive(0.0)
        other.perceive(0.15)
        one.receive(other.answer(Query("a", "b")))
        one = Agent.restore(colme.Snapshot.from_json(one.snapshot().to_json()))
        assert len(one.snapshot().past) == t + 1
    assert one.snapshot().evidence[1] > 0


def lost_share(relays: int, sigma: float, **settings: Any) -> tuple[int, int]:
    """Return in how many runs one agent excludes a classmate, and of how many."""
    problem = colme.Problem.gaussian([0.0], n_agents=20, sigma=0.5, seed=1)
    samples = problem.draw(400, 30, seed=12)
    record = colme.Record(estimates=False, every=1)
    trajectory = colme.simulate(
        samples, PAIRED, sigma=sigma, delta=0.8, relays=relays, record=record, **settings
    )
    assert trajectory.class_counts is not None
    lost = trajectory.class_counts[..., 0].min(axis=1) < 20
    return int(lost[:, -1].sum()), len(lost)


RATES = np.random.default_rng(7).poisson(np.linspace(0.2, 1.0, 20), (300, 20))


@pytest.mark.parametrize("arrivals", [None, RATES], ids=["equal", "unequal rates"])
@pytest.mark.parametrize("relays", [0, 4])
def test_classmates_are_excluded_no_more_often_than_promised(relays: int, arrivals: Any) -> None:
    """One agent may fail with probability 0.8 / 8, and runs are independent: an exact test.

    At a third of the noise it fails.
    """
    n_lost, n = lost_share(relays, 0.5, arrivals=arrivals)
    assert binom.sf(n_lost - 1, n, 0.1) > 1e-6
    weak, n = lost_share(relays, 0.17, arrivals=arrivals)
    assert binom.sf(weak - 1, n, 0.1) < 1e-6


def test_a_relayer_that_shows_only_what_looks_worst_gains_nothing() -> None:
    """Of all views of a peer with the same mean, the worst, in any order: still within the risk."""
    rng, risk, n_pairs = np.random.default_rng(21), 0.1, 400
    choice = Choice.of(Algorithm("stalest", "simple", "paired", relays=4), risk)
    crossed = {"paired": 0, "joint": 0, "weakened": 0}
    bound = colme.bounds.NormalMixture(0.5, STREAM_N_OPT, risk)
    shapes = [bound.shape(n) for n in range(1, 301)]
    for _ in range(n_pairs):
        here, there = (np.cumsum(rng.normal(0, 0.5, 300)) / np.arange(1, 301) for _ in range(2))
        past, most, worst = Past.blank(300), 0.0, 0.0
        for n, mean in enumerate(here, start=1):
            keep_past(View(mean=mean, n_samples=float(n)), past)
        own = View(here[-1], 300.0, 0.0, 0.0, *shapes[-1], variance=0.25)
        for n in range(1, 301):
            peer = View(there[n - 1], float(n), 0.0, 0.0, *shapes[n - 1], variance=0.25)
            most = max(most, paired_evidence(choice, own, past, peer))
            for m in (n, 300):  # own samples then, or all of them
                mine = View(here[m - 1], float(m), 0.0, 0.0, *shapes[m - 1], variance=0.25)
                worst = max(worst, news_evidence(choice, mine, Past.blank(1), peer))
        crossed["paired"] += most >= choice.log_risk
        crossed["joint"] += worst >= choice.log_risk
        crossed["weakened"] += most >= choice.log_risk / 5
    assert binom.sf(crossed["paired"] - 1, n_pairs, risk * PAIRED_SHARE) > 1e-6
    assert binom.sf(crossed["joint"] - 1, n_pairs, risk * (1 - PAIRED_SHARE)) > 1e-6
    assert binom.sf(crossed["weakened"] - 1, n_pairs, risk * PAIRED_SHARE) < 1e-6
