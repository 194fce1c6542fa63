"""Whom to ask next: against the definition of each strategy."""

import math

from hypothesis import given
from hypothesis import strategies as st
from one_row import RR, RRR, OneRow, choice, rows

from colme.algorithm import ClassTest, QueryStrategy, Weighting
from colme.rules import Turn, makes_room, take_turn, take_turn_among
from colme.summary import View


@given(rows())
def test_round_robin_asks_everyone_else_in_turn(row: OneRow) -> None:
    cursor, asked = -1, []
    for _ in range(row.n - 1):
        cursor = row.next(RR, cursor)
        asked.append(cursor)
    assert asked == [l for l in range(row.n) if l != row.a]
    assert row.next(RR, cursor) == (asked[0] if asked else -1)


@given(rows(), st.data())
def test_restricted_asks_the_first_member_after_the_cursor(
    row: OneRow, data: st.DataObject
) -> None:
    cursor = data.draw(st.integers(-1, row.n - 1))
    member = row.members()
    turn = [(cursor + 1 + i) % row.n for i in range(row.n)]
    allowed = [l for l in turn if l != row.a and member[l]]
    assert row.next(RRR, cursor) == (allowed[0] if allowed else -1)
    assert row.next(RRR, cursor) == row.next(RRR, cursor, member)  # the same class, known


@given(rows())
def test_restricted_with_a_class_of_everybody_is_round_robin(row: OneRow) -> None:
    for cursor in range(-1, row.n):
        assert row.next(RRR, cursor, [True] * row.n) == row.next(RR, cursor)


@given(rows())
def test_nobody_is_asked_without_a_strategy_or_without_a_classmate(row: OneRow) -> None:
    alone = [l == row.a for l in range(row.n)]
    assert row.next(QueryStrategy.NONE, -1) == -1
    assert all(row.next(RRR, cursor, alone) == -1 for cursor in range(-1, row.n))


@given(rows(), st.data())
def test_every_so_many_queries_one_goes_to_an_excluded_peer(
    row: OneRow, data: st.DataObject
) -> None:
    known = data.draw(st.lists(st.booleans(), min_size=row.n, max_size=row.n))
    revisit = data.draw(st.integers(0, 4))
    memory, turn = row.memory(known), Turn()
    asking = choice(ClassTest.KNOWN, query=RRR)
    for _ in range(12):
        before = turn
        l, turn = take_turn(asking, row.a, row.n, revisit, turn, memory)
        again = revisit > 0 and (before.n_asked + 1) % revisit == 0
        excluded = row.n - sum(known) - (not known[row.a])
        if l < 0:
            assert turn == before
        else:
            assert l != row.a
            assert known[l] == (not (again and excluded))
            assert turn.n_asked == before.n_asked + 1
            assert (turn.visited if not known[l] else turn.cursor) == l


@given(rows(), st.data())
def test_among_those_in_reach_a_turn_falls_as_if_there_were_nobody_else(
    row: OneRow, data: st.DataObject
) -> None:
    known, reachable = (
        data.draw(st.lists(st.booleans(), min_size=row.n, max_size=row.n)) for _ in range(2)
    )
    asking, memory = choice(ClassTest.KNOWN, query=RRR), row.memory(known)
    cursor, visited = (data.draw(st.integers(-1, row.n - 1)) for _ in range(2))
    turn = Turn(cursor, visited, n_asked=3)
    everybody = [True] * row.n
    whole = take_turn(asking, row.a, row.n, 2, turn, memory)
    assert take_turn_among(asking, row.a, row.n, 2, turn, memory, everybody) == whole
    l, after = take_turn_among(asking, row.a, row.n, 2, turn, memory, reachable)
    assert l < 0 or (reachable[l] and l != row.a)
    if l >= 0:
        alone = [i == l for i in range(row.n)]
        assert take_turn_among(asking, row.a, row.n, 2, turn, memory, alone) == (l, after)


def test_three_standard_errors_make_room_where_a_model_weighs() -> None:
    own = View(mean=0.0, precision=100.0)  # the difference of two such means has √2 standard errors
    far = 3 * math.sqrt(2 / 100)
    for gap, room in ((far * 0.999, False), (far * 1.001, True)):
        peer = View(mean=gap, precision=100.0)
        weighing = choice(ClassTest.KNOWN, weighting=Weighting.MODEL)
        assert makes_room(weighing, own, peer, True) == room
        assert not makes_room(choice(ClassTest.KNOWN), own, peer, True)
        assert makes_room(choice(ClassTest.KNOWN), own, peer, False)
