"""A row with names."""

import pytest

from colme.memory import Memory
from colme.messages import Reply
from colme.rules import Choice
from colme.summary import View, view_at

JOINT = Choice(2, 2, 0, eta=0.0, log_risk=1.0)
SEEN = View(0.5, 3.0, radius=0.1, epoch=2.0)


def test_entries_are_added_in_order_and_once() -> None:
    memory = Memory("a", ["b", "a", "b"], 3, JOINT)
    memory.add("c")
    assert memory.names == ["b", "a", "c"]
    assert [memory.index[name] for name in memory.names] == [0, 1, 2]
    assert (len(memory), memory.own) == (3, 1)
    with pytest.raises(ValueError, match=r"over 3 agents .*received one more, 'd'"):
        memory.add("d")


def test_an_entry_given_to_another_is_blank() -> None:
    memory = Memory("a", ["a", "b"], 2, JOINT._replace(within=0.2))
    memory.write(Reply("b", 0.5, 3), SEEN)
    memory.row.member[1], memory.row.confirmed[1] = False, True
    memory.replace(1, "c")
    assert view_at(memory.row.views, 1) == View()
    assert memory.replies[1] == Reply("c", 0.0, 0)
    assert (memory.row.member[1], memory.row.confirmed[1]) == (True, False)
    assert list(memory.index) == ["a", "c"]
    with pytest.raises(ValueError, match="non-empty string; received ''"):
        memory.replace(1, "")
    assert list(memory.index) == ["a", "c"]


def test_a_known_class_decides_who_is_a_member() -> None:
    memory = Memory("a", ["a", "b", "c"], 3, JOINT._replace(class_test=1), frozenset("ac"))
    assert memory.named(memory.row.member) == {"a", "c"}
    memory.replace(2, "d")
    assert memory.named(memory.row.member) == {"a"}


def test_news_of_a_new_epoch_undoes_an_exclusion_of_a_peer_alone() -> None:
    memory = Memory("a", ["a", "b"], 2, JOINT)
    memory.row.member[1] = False
    memory.write(Reply("b", 0.5, 3), SEEN._replace(epoch=0.0))
    assert memory.named(memory.row.member) == {"a"}
    memory.write(Reply("b", 0.5, 3, epoch=2), SEEN)
    assert memory.named(memory.row.member) == {"a", "b"}
