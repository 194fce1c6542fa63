"""What every simulation checks of its agents, once."""

import math
from typing import Any

import numpy as np
import pytest

from colme import ALGORITHMS, Algorithm, Contacts, Gossip, Record
from colme.bounds import Laplace, NormalMixture, Restarted, split_risk
from colme.setup import Setup

FEW = Contacts.of_lists([[1], [0, 2], [1], [0]])


@pytest.mark.parametrize(
    ("options", "n_sharing"),
    [({}, 4), ({"contacts": FEW}, 3), ({"contacts": FEW, "gossip": Gossip()}, 4)],
    ids=["everybody", "contacts", "gossip"],
)
def test_the_risk_is_split_over_all_an_agent_can_ever_meet(
    options: dict[str, Any], n_sharing: int
) -> None:
    setup = Setup.of(4, "sharp", sigma=0.5, delta=0.1, **options)
    assert [bound.gamma for bound in setup.bounds] == [split_risk(0.1, n_sharing)]
    plan = setup.plan([(0, 5)], threads=1)
    assert plan.choice.log_risk == -math.log(split_risk(0.1, n_sharing))


def test_contacts_of_everybody_are_no_contacts() -> None:
    everybody = Setup.of(4, "sharp", sigma=0.5, contacts=Contacts.everyone(4))
    assert everybody.contacts is None
    assert everybody.longest_row == 4
    some = Setup.of(4, "sharp", sigma=0.5, contacts=FEW)
    assert some.contacts is FEW
    assert some.longest_row == FEW.size == 3
    assert some.plan([(0, 5)], 1).agents.names.tolist() == FEW.names.tolist()


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_preset_keeps_its_name_however_it_is_given(name: str) -> None:
    options: dict[str, Any] = {"sigma": 0.5, "labels": [0, 1]}
    assert Setup.of(2, name, **options).name == name
    again = Setup.of(2, ALGORITHMS[name], **options)
    assert ALGORITHMS[again.name] == ALGORITHMS[name]


def test_a_composed_algorithm_is_named_by_its_parts() -> None:
    composed = Algorithm("round-robin", "soft", "overlap", eta=0.25)
    assert Setup.of(2, composed, sigma=0.5).name == "round-robin soft eta=0.25"


def test_one_bound_serves_all_and_one_for_each_is_kept() -> None:
    one = Setup.of(3, "round-robin", sigma=0.5)
    each = Setup.of(3, "round-robin", sigma=[0.5, 0.25, 1.0])
    gamma = split_risk(0.001, 3)
    assert one.bounds == (Laplace(0.5, gamma),)
    assert each.bounds == tuple(Laplace(sigma, gamma) for sigma in (0.5, 0.25, 1.0))
    assert one.plan([(0, 5)], 1).agents.scales.tolist() == [0.5] * 3
    assert each.plan([(0, 5)], 1).agents.scales.tolist() == [0.5, 0.25, 1.0]


def test_agents_ask_excluded_peers_again_as_their_bounds_say() -> None:
    bounds = [Restarted(NormalMixture(0.5, 100)), NormalMixture(0.5, 100)]
    agents = Setup.of(2, "sharp", bound=bounds).plan([(0, 5)], 1).agents
    expected = [[bound.revisit_in(0), bound.revisit_in(1)] for bound in bounds]
    assert agents.revisits.tolist() == expected
    assert expected[0] != expected[1]


def test_an_empty_trajectory_has_room_for_what_the_record_asks() -> None:
    setup = Setup.of(3, "sharp", sigma=[0.5, 0.25, 1.0], labels=[0, 2, 0])
    kept = setup.trajectory(2, 10, Record(likely_counts=True, every=4))
    assert kept.times.tolist() == [4, 8, 10]
    assert kept.estimates is not None
    assert kept.class_counts is not None
    assert kept.likely_counts is not None
    assert kept.estimates.shape == (2, 3, 3)
    assert kept.class_counts.shape == kept.likely_counts.shape == (2, 3, 3, 3)
    assert (kept.sigma, kept.delta, kept.horizon, kept.name) == (1.0, 0.001, 10, "sharp")
    nothing = setup.trajectory(2, 10, Record(estimates=False, class_counts=False))
    for part in (nothing.estimates, nothing.class_counts, nothing.likely_counts):
        assert part is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"algorithm": "oracle"}, "know the true classes: pass labels="),
        ({"contacts": Contacts.everyone(3)}, "contacts are of 3 agents; there are 4"),
        ({"gossip": Gossip()}, "pass contacts="),
        ({"labels": [0, 1]}, r"one label for each of the 4 agents; received shape \(2,\)"),
        ({"labels": [0, 1, 5000, 0]}, "labels"),
        ({"labels": [0, 1, -1, 0]}, "labels"),
        ({"sigma": [0.5] * 3}, "one for each of the 4 agents; received 3"),
        ({"sigma": None}, "sigma"),
        ({"delta": 0.0}, "delta"),
    ],
    ids=str,
)
def test_agents_that_do_not_fit_together_are_refused(changes: dict[str, Any], message: str) -> None:
    usual: dict[str, Any] = {"algorithm": "sharp", "sigma": 0.5}
    with pytest.raises(ValueError, match=message):
        Setup.of(4, **(usual | changes))


def test_likely_classes_are_kept_only_where_a_model_weighs() -> None:
    with pytest.raises(ValueError, match="only to algorithms that weigh by a model"):
        Setup.of(2, "local", sigma=0.5).trajectory(1, 5, Record(likely_counts=True))


def test_labels_are_zero_unless_given() -> None:
    assert Setup.of(3, "sharp", sigma=0.5).labels.tolist() == [0, 0, 0]
    labels = Setup.of(3, "sharp", sigma=0.5, labels=np.array([2, 0, 1], np.uint8)).labels
    assert labels.tolist() == [2, 0, 1]
    assert labels.dtype == np.int64


def test_a_setting_that_does_not_exist_is_refused() -> None:
    options: Any = {"sigma": 0.5, "sgima": 0.5}
    with pytest.raises(TypeError, match=r"unexpected 'sgima': .* sigma, bound, delta"):
        Setup.of(2, "local", **options)
