"""Details of a node's core that a small slip would change without much ado."""

from __future__ import annotations

from node_cores import core, exchange, fold, save


def test_peers_hear_nothing_while_any_event_is_unsaved() -> None:
    one = core("a")
    one.fold([0.3], "1")
    one.fold([0.5], "2")
    assert len(one.unsaved) == 2
    one.saved(1)
    assert one.published.count == 0
    one.saved(1)
    assert one.published.count == 2


def test_after_a_crash_a_peer_is_still_held_to_what_it_said() -> None:
    a, b = core("a"), core("b", life=2)
    for one in (a, b):
        one.appear("a", "b")
    fold(a, 0.5)
    fold(b, *[0.5, 0.52, 0.48] * 20)
    assert exchange(a, b, now=1.0)
    save(a)
    again = core("a", life=3)
    again.resume(a.checkpoint(), [])
    liar = core("b", life=2)
    liar.appear("a", "b")
    fold(liar, *[5.0] * 61)  # one sample more, and the mean is elsewhere: no samples explain that
    assert not exchange(again, liar, now=3.0)
    assert sum(again.refused.values()) == 1
