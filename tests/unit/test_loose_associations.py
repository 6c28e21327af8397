"""Loose associations: what is found in tables made by hand, what is refused, and rows that must be left out."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from sqlglot import exp

from sqlanon import connect
from sqlanon.engines.temp_tables import TempTables
from sqlanon.engines.udfs import registered
from sqlanon.errors import PolicyError, PrivacyViolation
from sqlanon.methods.fragmentation import loose
from sqlanon.methods.fragmentation.association import associate as associations
from sqlanon.methods.fragmentation.association.associate import associate
from sqlanon.methods.fragmentation.association.block_grids import dissolved, rows_of_blocks, sizes, some_blocks
from sqlanon.methods.fragmentation.association.block_search import Blocks
from sqlanon.methods.fragmentation.association.looseness import looseness
from sqlanon.sql.build.names import column, relation
from tests.oracles.left_out import fewest
from tests.oracles.loose import most_blocks
from tests.support.loose import (
    Table,
    agrees,
    database,
    judged,
    make,
    publish,
    published_as,
    quoted,
    store,
)

FRAGMENTS = (("a",), ("b",))
TYPES = (("a", "INTEGER"), ("b", "VARCHAR"))
CONSTRAINTS = (("a", "b"),)

# A block of four rows: groups 1 and 2 of a, groups 1 and 2 of b, and all four pairs.
LEFT = [(1, 1), (2, 1), (3, 2), (4, 2)]
RIGHT = [("w", 1), ("x", 2), ("y", 1), ("z", 2)]
PAIRS = [(1, 1), (1, 2), (2, 1), (2, 2)]


def changed(rows, place, row):
    return [*rows[:place], row, *rows[place + 1 :]]


def found(left=LEFT, right=RIGHT, pairs=PAIRS):
    """The report on these tables, which the oracle agrees with."""
    with database() as engine:
        publish(engine, [Table(TYPES[:1], left), Table(TYPES[1:], right)], pairs)
        made = looseness(engine, published_as(FRAGMENTS), CONSTRAINTS)
    assert agrees(made, judged(FRAGMENTS, [left, right], pairs, CONSTRAINTS))
    return made


def test_a_sound_block() -> None:
    sound = found()
    assert sound.heterogeneous
    assert (sound.k, sound.sizes, sound.unmatched) == (4, (2, 2), (0, 0))


@pytest.mark.parametrize("value", [1, None])
def test_group_heterogeneity_is_missed(value) -> None:
    # Both rows of a group of a are alike, NULL or not: three values of a are left of four.
    broken = found(left=changed(changed(LEFT, 1, (value, 1)), 0, (value, 1)))
    assert not broken.heterogeneous
    assert [pair.alike_in_group for pair in broken.pairs] == [1, 0]
    assert [pair.repeated for pair in broken.pairs] == [0, 0]
    assert broken.k == 3


def test_association_heterogeneity_is_missed() -> None:
    # Each group still has two rows in the association, but is linked to one other group twice.
    broken = found(pairs=[(1, 1), (1, 1), (2, 2), (2, 2)])
    assert not broken.heterogeneous
    assert [pair.repeated for pair in broken.pairs] == [2, 2]
    assert [pair.alike_in_group for pair in broken.pairs] == [0, 0]
    assert broken.unmatched == (0, 0)
    assert broken.k == 2


def test_deep_heterogeneity_is_missed() -> None:
    # The groups of b differ within, but a group of a is linked to "w" in both of them.
    broken = found(right=changed(RIGHT, 1, ("w", 2)))
    assert not broken.heterogeneous
    assert [(pair.alike_in_group, pair.repeated) for pair in broken.pairs] == [(0, 0), (0, 0)]
    assert [pair.alike_in_linked for pair in broken.pairs] == [2, 0]
    assert [pair.k for pair in broken.pairs] == [3, 4]
    assert broken.k == 3


def test_tables_that_do_not_fit_together_are_seen() -> None:
    for pairs, unmatched in (
        (PAIRS[:3], (1, 1)),
        ([*PAIRS, (3, 3)], (1, 1)),
        ([(1, 1), (1, 2), (2, 1), (2, None)], (0, 2)),
    ):
        broken = found(pairs=pairs)
        assert broken.unmatched == unmatched
        assert not broken.heterogeneous
    # A row whose group is in no pair at all is linked to nothing.
    assert found(left=[*LEFT, (5, 3)]).k == 0
    assert found(left=[*LEFT, (5, None)]).k == 0
    assert found(left=[*LEFT, (5, None)]).sizes == (1, 2)


def test_the_least_k_of_all_groups_counts() -> None:
    lone_left, lone_right = [*LEFT, (9, 9), (10, 9)], [*RIGHT, ("p", 9), ("q", 9)]
    assert found(lone_left, lone_right, [*PAIRS, (9, 9), (9, 9)]).k == 2


def test_without_rows_there_is_no_k() -> None:
    nothing = found([], [], [])
    assert (nothing.k, nothing.sizes, nothing.unmatched, nothing.heterogeneous) == (None, (None, None), (0, 0), True)


def test_constraints_are_looked_at_by_their_parts() -> None:
    fragments = (("a", "c"), ("b",))
    left = [(1, 7, 1), (2, 7, 1), (3, 7, 2), (4, 7, 2)]
    with database() as engine:
        publish(engine, [Table((("a", "INTEGER"), ("c", "INTEGER")), left), Table(TYPES[1:], RIGHT)], PAIRS)
        published = published_as(fragments)
        assert looseness(engine, published, [("A", "b")]).k == 4
        assert looseness(engine, published, [("a", "b", "c")]).heterogeneous
        # All have one value of c.
        alone = looseness(engine, published, [("a", "b"), ("c", "b")])
        assert (alone.k, alone.heterogeneous) == (1, False)
        # What is not published is nobody's to link, and what lies in one fragment is another check's.
        assert looseness(engine, published, [("c", "b", "x"), ("a", "c")]).pairs == ()


@pytest.mark.parametrize(
    ("fragments", "constraints", "sizes", "near", "message"),
    [
        ((("a", "b"),), CONSTRAINTS, (2,), (), "the fragment (a, b) contains CONFIDENTIAL (a, b)"),
        ((("a",), ("b", "A")), CONSTRAINTS, (2, 2), (), "A is in two fragments"),
        ((("a",), ("b",)), [("a",)], (2, 2), (), "the fragment (a) contains CONFIDENTIAL (a)"),
        ((("a",),), [], (2,), (), "needs two fragments or more"),
        (FRAGMENTS, CONSTRAINTS, (2,), (), "2 fragments and 1 sizes"),
        (FRAGMENTS, CONSTRAINTS, (2, 0), (), "at least one row, not 0"),
        (FRAGMENTS, CONSTRAINTS, (1, 1), (), "publish the association unprotected"),
        (FRAGMENTS, CONSTRAINTS, (2, 2), ("a", "B"), "near names attributes of several fragments: a, B"),
    ],
)
def test_what_cannot_be_kept_is_refused(fragments, constraints, sizes, near, message) -> None:
    with database() as engine, pytest.raises(PolicyError) as refused:
        make(engine, Table(TYPES, [(1, "x")]), fragments, constraints, sizes, near)
    assert message in refused.value.message


@pytest.mark.parametrize(("flu", "left_out"), [(5, 5), (6, 5), (7, None), (20, None)])
def test_a_value_that_is_too_frequent_is_not_what_all_rows_left_out_have(flu: int, left_out: int | None) -> None:
    rows = [(number, "flu" if number < flu else f"rare {number}") for number in range(25)]
    with database() as engine:
        made = make(engine, Table(TYPES, rows), FRAGMENTS, CONSTRAINTS, (2, 2))
    # Blocks and rows left out may have it once in four, so it may have six of the 25.
    if left_out is None:
        assert (made.association.placed, made.association.least) == (0, None)
        return
    assert (made.association.placed, made.association.left_out, made.association.alike) == (20, 5, 1)
    assert len(made.fragments[0]) == len(made.fragments[1]) == 20
    assert (made.found.k, made.found.heterogeneous) == (4, True)


def test_blocks_of_more_rows_than_k_leave_room_for_a_frequent_value() -> None:
    """Of 25 rows nine have the flu, more than the six blocks of four hold; left out they may be one in two."""
    rows = [(number, "flu" if number < 9 else f"rare {number}") for number in range(25)]
    with database() as engine:
        made = make(engine, Table(TYPES, rows), FRAGMENTS, CONSTRAINTS, (2, 2), k=2)
        assert make(engine, Table(TYPES, rows), FRAGMENTS, CONSTRAINTS, (2, 2), k=3).association.placed == 0
    assert fewest([row[1] for row in rows], 4, 2) == made.association.left_out == 13
    assert made.association.alike == 6


@pytest.mark.parametrize("rows", [[], [(1, "x")], [(1, "x"), (2, "y"), (3, "z")], [(i, None) for i in range(50)]])
def test_what_fills_no_block_is_left_out_whole(rows) -> None:
    with database() as engine:
        made = make(engine, Table(TYPES, rows), FRAGMENTS, CONSTRAINTS, (2, 2))
    assert (made.association.placed, made.association.left_out) == (0, len(rows))
    assert made.fragments == ([], [])
    assert made.found.k is None


def test_not_a_number_is_one_value() -> None:
    rows = [(number, float("nan")) for number in range(12)]
    with database() as engine:
        made = make(engine, Table((("a", "INTEGER"), ("b", "DOUBLE")), rows), FRAGMENTS, CONSTRAINTS, (2, 2))
    assert made.association.placed == 0


def test_fragments_without_a_constraint_across_are_grouped_all_the_same() -> None:
    with database() as engine:
        made = make(engine, Table(TYPES, [(1, "x")] * 9), FRAGMENTS, [("a", "nowhere")], (2, 2))
    assert (made.association.placed, made.association.k, made.found.sizes) == (8, None, (2, 2))


WIDE = (("a", "INTEGER"), ("c", "INTEGER"), ("b", "VARCHAR"))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("near", [("a",), ("c", "a")])
def test_near_groups_hold_rows_that_are_near(near) -> None:
    rows = [(number, number * 7, f"b{number % 13}") for number in range(600)]
    spans = {}
    with database() as engine:
        for asked in ((), near):
            made = make(engine, Table(WIDE, rows), (("a", "c"), ("b",)), (("a", "c", "b"),), (3, 2), asked)
            assert made.found.heterogeneous
            groups: dict[int, list[int]] = {}
            for row in made.fragments[0]:
                groups.setdefault(row[-1], []).append(row[0])
            spans[asked] = sum(max(group) - min(group) for group in groups.values()) / len(groups)
    assert spans[near] < spans[()] / 10


def test_near_groups_leave_out_few_rows_more() -> None:
    # In one place every second row has the flu; in all it is rare enough for every row to be placed.
    rows = [(number, number, "flu" if number < 180 and number % 2 else f"b{number % 13}") for number in range(600)]
    assert most_blocks([row[2] for row in rows], 6) * 6 == 600
    with database() as engine:
        made = make(engine, Table(WIDE, rows), (("a", "c"), ("b",)), (("a", "c", "b"),), (3, 2), ("a",))
    assert made.found.heterogeneous
    assert made.association.left_out <= 6


@pytest.mark.long
def test_near_groups_stay_near_where_one_value_is_nearly_too_frequent() -> None:
    """In small chunks the flu is often too frequent; were they filled nevertheless, far rows would have to mend it."""
    drawn = random.Random(5)
    rows = [(at, at, "flu" if drawn.random() < 0.22 else f"b{drawn.randrange(20)}") for at in range(2000)]
    with database() as engine:
        made = make(engine, Table(WIDE, rows), (("a", "c"), ("b",)), (("a", "b"),), (2, 2), ("a",))
    assert made.association.left_out <= 40
    groups: dict[int, list[int]] = {}
    for row in made.fragments[0]:
        groups.setdefault(row[-1], []).append(row[0])
    # Drawn from all rows, two are a third of them apart.
    assert sum(max(group) - min(group) for group in groups.values()) / len(groups) < 2000 / 3 / 8


@pytest.mark.long
def test_near_groups_leave_out_few_rows_more_with_several_keys() -> None:
    # As before, and two rows are alike in what is confidential of the first fragment, too.
    rows = [(number // 2, number, "flu" if number < 180 and number % 2 else f"b{number % 13}") for number in range(600)]
    with database() as engine:
        made = make(engine, Table(WIDE, rows), (("a", "c"), ("b",)), (("a", "b"),), (3, 2), ("a",))
    assert made.found.heterogeneous
    # One row in a hundred, and by chance a few blocks more.
    assert made.association.left_out <= 36


@pytest.mark.parametrize("columns", [1, 3, 4])
def test_the_place_of_a_row_interleaves_the_ranks_of_its_values(columns) -> None:
    drawn = random.Random(3)
    pool = (None, -(2**62), -1, 0, 1, 5, 5, 7, 2**62)
    rows = [tuple(drawn.choice(pool) for _ in range(columns)) for _ in range(50)]
    bits = min(20, 62 // columns)

    def place(row) -> int:
        found = 0
        for at, value in enumerate(row):
            order = [(other[at] is None, other[at] or 0) for other in rows]
            step = sum(other < (value is None, value or 0) for other in order) * 2**bits // len(rows)
            found += sum((step >> bit & 1) << (bit * columns + at) for bit in range(bits))
        return found

    names = [f"n{at}" for at in range(columns)]
    with database() as engine, TempTables(engine) as temp:
        store(engine, "source", Table(tuple((name, "BIGINT") for name in names), rows))
        numbered = associations.numbered(relation("source"), [], [column(name, "source") for name in names])
        spread = [temp.table("spread", associations.spread(numbered, at, columns)) for at in range(columns)]
        with registered(engine, "random_draw") as draw:
            keyed = temp.table("keyed", associations.keyed(numbered, [], spread, draw))
        found = dict(engine.connection.execute(f"SELECT row, position FROM {quoted(keyed)}").fetchall())
    assert found == {number: place(row) for number, row in enumerate(rows)}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("tries", [0, 3])
def test_rows_left_over_are_dealt_again_among_others(monkeypatch, tries) -> None:
    rows = [(number // 2, number, f"b{number % 13}") for number in range(120)]
    deal = Blocks._deal_all
    dealt: list[Blocks] = []

    def poorly(self: Blocks) -> None:
        """As it is, but the first time the rows of five blocks are left over."""
        deal(self)
        if not dealt:
            dealt.append(self)
            chosen = self._temp.table("chosen", some_blocks(self._result, 5, self._draw))
            self._insert(self._free, rows_of_blocks(self._keyed, self._result, chosen, self._keys))
            self._engine.run(dissolved(self._result, exp.select("block").from_(relation(chosen))))
            self._in_blocks = self._rows_of(self._result)

    monkeypatch.setattr(Blocks, "_deal_all", poorly)
    with sizes.replaced(max_deals_without_gain=tries), database() as engine:
        made = make(engine, Table(WIDE, rows), (("a", "c"), ("b",)), (("a", "b"),), (2, 2))
    assert made.found.heterogeneous
    left = made.association.left_out
    # The draws are the operating system's: dealing again places some in every case, all of them in most.
    assert left >= 20 if not tries else left < 20


@pytest.mark.long
@pytest.mark.parametrize("near", [(), ("a",)])
def test_with_several_keys_nearly_every_row_is_placed(near) -> None:
    # Three columns in which rows are alike, each in its own way, and three fragments; blocks of 9 rows.
    rows = [(number % 31, number // 31 % 23, f"b{number * 7 % 29}") for number in range(900)]
    fragments = (("a",), ("c",), ("b",))
    with database() as engine:
        made = make(engine, Table(WIDE, rows), fragments, [("a", "b"), ("c", "b"), ("a", "c")], (3, 3, 3), near)
    assert (made.found.heterogeneous, made.found.k) == (True, 9)
    assert made.association.left_out <= 90


def test_names_of_groups_and_a_source_with_more_columns() -> None:
    table = Table((("row", "INTEGER"), ("draw", "VARCHAR"), ("value_0", "VARCHAR"), ("unused", "INTEGER")), [])
    rows = [(number, f"b{number}", "c", number) for number in range(8)]
    with database() as engine:
        made = make(
            engine, replace(table, rows=rows), (("value_0", "row"), ("draw",)), [("row", "draw")], (2, 2), ("row",)
        )
    assert (made.association.placed, made.found.k) == (8, 4)


@pytest.mark.long
def test_an_unlucky_draw_is_followed_by_another(monkeypatch: pytest.MonkeyPatch) -> None:
    con = connect()
    con.execute("CREATE TABLE t AS SELECT i % 8 AS a, i % 6 AS b, (i * 7) % 5 AS s FROM range(48) AS r(i)")
    con.execute("CREATE POLICY p ON t (a QUASI IDENTIFIER, b QUASI IDENTIFIER, s SENSITIVE) CONFIDENTIAL (a, s)")
    drawn = []

    def unlucky_at_first(*arguments):
        made = associate(*arguments)
        drawn.append(made)
        return replace(made, least=0, left_out=30) if len(drawn) == 1 else made

    monkeypatch.setattr(loose, "associate", unlucky_at_first)
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD loose(k => 2, suppression => 0.5)")
    assert len(drawn) == 2
    assert con.execute("SELECT suppressed_rows FROM anon.release").fetchall() == [(drawn[1].left_out,)]


@pytest.mark.long
@pytest.mark.parametrize(("most", "draws"), [(1, 1), (3, 3)])
def test_draws_end(monkeypatch: pytest.MonkeyPatch, most: int, draws: int) -> None:
    """A table of which each draw leaves out too many rows is refused after so many of them."""
    con = connect()
    con.execute("CREATE TABLE t AS SELECT i % 8 AS a, i % 6 AS b, (i * 7) % 5 AS s FROM range(48) AS r(i)")
    con.execute("CREATE POLICY p ON t (a QUASI IDENTIFIER, s SENSITIVE) CONFIDENTIAL (a, s)")
    made = []

    def unlucky(*arguments):
        made.append(associate(*arguments))
        return replace(made[-1], least=0, left_out=30)

    monkeypatch.setattr(loose, "associate", unlucky)
    with sizes.replaced(max_draws=most), pytest.raises(PrivacyViolation, match="would be left out"):
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD loose(k => 2, suppression => 0.5)")
    assert len(made) == draws
