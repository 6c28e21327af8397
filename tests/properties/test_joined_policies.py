"""Policies that join another release: what is published is the best of all nodes, by joins made row by row."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from sqlanon import Connection, PrivacyViolation
from sqlanon.methods.shared.lattice.nodes import sizes
from sqlanon.sql.sizes import sizes as key_sizes
from tests.oracles.granularity_loss import Taxonomy, granularity_loss
from tests.oracles.joined import anonymity, linkability
from tests.oracles.k_anonymity import violating_rows
from tests.support.database import template
from tests.support.draws import draws
from tests.support.names import quoted

pytestmark = pytest.mark.drawn

FEW = settings(max_examples=draws(4, long=15), deadline=None)
AGE, WARD, WHO, ILL = 'sel"ect', "a b", "it's", "שלום"
WARDS = {None: "none", "u": "G", "v'": "G", "w": "H"}
SETUP = f"""
CREATE TABLE a ({quoted(AGE)} INTEGER, {quoted(WARD)} VARCHAR, {quoted(WHO)} VARCHAR);
CREATE TABLE b ({quoted(AGE)} INTEGER, {quoted(WARD)} VARCHAR, {quoted(ILL)} VARCHAR);
CREATE HIERARCHY bands AS INTERVALS (5, 10);
CREATE HIERARCHY wards AS LEVELS (
    SELECT * FROM (VALUES (NULL, 'none'), ('u', 'G'), ('v''', 'G'), ('w', 'H')) AS t(value, level_1)
);
"""
AGES: list[int | None] = [None, -7, 1, 4, 6, 12]
TOPS = (3, 2)
Row = tuple[Any, ...]
# X and Y, of which one is in the new release; both have age and ward, of which nobody can say whose label is meant.
ASKED = [((WHO,), ILL), ((ILL,), WHO)]


def label(column: int, value: Any, level: int) -> Hashable:
    """The label of an age, 0, or a ward, 1."""
    if level == TOPS[column]:
        return "*"
    if level == 0 or (column == 0 and value is None):
        return value
    return WARDS[value] if column else value // (5, 10)[level - 1]


@dataclass(frozen=True)
class Case:
    new: list[Row]
    other: list[Row]
    of_other: tuple[int, int]
    k_of_other: int
    shared: tuple[int, ...]
    asked: tuple[tuple[str, ...], str]
    k: int
    suppression: str
    values: int
    share: str
    loss: str

    @property
    def requirements(self) -> str:
        x, y = ", ".join(map(quoted, self.asked[0])), quoted(self.asked[1])
        return (
            f"xy_anonymity(x => ({x}), y => {y}, k => {self.values}), "
            f"xy_linkability(x => ({x}), y => {y}, max => {self.share})"
        )


def rows(last: Sequence[str | None]) -> st.SearchStrategy[list[Row]]:
    return st.lists(st.tuples(st.sampled_from(AGES), st.sampled_from(list(WARDS)), st.sampled_from(last)), max_size=7)


CASES = st.builds(
    Case,
    new=rows([None, "x", "y"]),
    other=rows([None, "p", "q"]),
    of_other=st.tuples(st.integers(0, 3), st.integers(0, 2)),
    k_of_other=st.integers(1, 2),
    shared=st.sampled_from([(0,), (1,), (0, 1)]),
    asked=st.sampled_from(ASKED),
    k=st.integers(1, 2),
    suppression=st.sampled_from(["0", "0.5"]),
    values=st.integers(1, 2),
    share=st.sampled_from(["0.4", "0.5", "0.7", "1"]),
    loss=st.sampled_from(["granularity_loss", "height"]),
)


def left(rows: Sequence[Row], levels: tuple[int, int], k: int) -> tuple[set[int], list[Row]]:
    """The places of the rows that are left out at some levels, and the others."""
    keys = [tuple(label(column, row[column], levels[column]) for column in (0, 1)) for row in rows]
    out = set(violating_rows(keys, k))
    return out, [row for place, row in enumerate(rows) if place not in out]


def join(case: Case, levels: tuple[int, int], new: Sequence[Row], other: Sequence[Row]) -> list[tuple[Any, Any]]:
    """X and Y of each row of the join of what the new release shows at some levels with the other."""
    pairs = []
    for one, two in product(new, other):
        at = [max(levels[column], case.of_other[column]) for column in (0, 1)]
        if any(label(c, one[c], at[c]) != label(c, two[c], at[c]) for c in case.shared):
            continue
        shown = {AGE: label(0, one[0], levels[0]), WARD: label(1, one[1], levels[1]), WHO: one[2], ILL: two[2]}
        pairs.append((tuple(shown[name] for name in case.asked[0]), shown[case.asked[1]]))
    return pairs


@dataclass(frozen=True)
class Best:
    rank: tuple[Any, ...]
    levels: tuple[int, int]
    suppressed: int
    anonymity: int | None
    linkability: float | None


def exhaustive(case: Case) -> Best | None:
    """The node of least loss that meets all that is required; None if there is none."""
    _, other = left(case.other, case.of_other, case.k_of_other)
    occurring = ({row[0] for row in case.new}, set(WARDS))
    trees = [
        Taxonomy({v: tuple(label(c, v, level) for level in range(TOPS[c])) for v in occurring[c]}, TOPS[c])
        for c in (0, 1)
    ]
    found: list[Best] = []
    for levels in product(range(4), range(3)):
        out, published = left(case.new, levels, case.k)
        if len(out) > Fraction(case.suppression) * len(case.new):
            continue
        pairs = join(case, levels, published, other)
        values, share = anonymity(pairs), linkability(pairs)
        if (values is None or values >= case.values) and (share is None or share <= float(case.share)):
            loss = granularity_loss([row[:2] for row in case.new], trees, levels, out)
            loss = Fraction(sum(levels)) if case.loss == "height" else loss
            found.append(Best((loss, sum(levels), levels), levels, len(out), values, share))
    return min(found, key=lambda best: best.rank, default=None)


def install(case: Case) -> Connection:
    con = template(SETUP)
    for table, of_table in (("a", case.new), ("b", case.other)):
        if of_table:
            con.duckdb.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", of_table)
    age, ward = (f"MIN LEVEL {level} MAX LEVEL {level}" for level in case.of_other)
    con.execute(
        f"CREATE POLICY other ON b ({quoted(AGE)} QUASI IDENTIFIER USING bands {age}, {quoted(WARD)} QUASI IDENTIFIER "
        f"USING wards {ward}, {quoted(ILL)} SENSITIVE) REQUIRE k_anonymity(k => {case.k_of_other})"
    )
    con.execute("CREATE ANONYMIZED TABLE other AS POLICY other METHOD generalization(suppression => 1)")
    shared = ", ".join(quoted((AGE, WARD)[column]) for column in case.shared)
    con.execute(
        f"CREATE POLICY p ON a ({quoted(AGE)} QUASI IDENTIFIER USING bands, "
        f"{quoted(WARD)} QUASI IDENTIFIER USING wards, {quoted(WHO)} INSENSITIVE) "
        f"JOINED WITH RELEASE other ON ({shared}) REQUIRE k_anonymity(k => {case.k}), {case.requirements}"
    )
    return con


def assert_published(case: Case) -> None:
    best, con = exhaustive(case), install(case)
    create = (
        "CREATE ANONYMIZED TABLE made AS POLICY p "
        f"METHOD generalization(suppression => {case.suppression}, loss => '{case.loss}')"
    )
    if best is None:
        event("infeasible")
        with pytest.raises(PrivacyViolation):
            con.execute(create)
        assert con.duckdb.execute("SELECT count(*) FROM anon.release").fetchall() == [(1,)]
        con.close()
        return
    event("suppressed some" if best.suppressed else "suppressed none")
    event("some match" if best.anonymity else "none match")
    con.execute(create)
    released = con.duckdb.execute(
        "SELECT level, suppressed_rows, proven_optimal FROM anon.release_attribute "
        "JOIN anon.release USING (release_id) WHERE object_name = 'made' AND level IS NOT NULL ORDER BY position"
    ).fetchall()
    assert released == [(level, best.suppressed, True) for level in best.levels]
    share = None if best.linkability is None else pytest.approx(best.linkability)
    checked = [(row[1], row[4], row[5]) for row in con.execute("CHECK made").fetchall()]
    assert checked[1:] == [("xy_anonymity", best.anonymity, True), ("xy_linkability", share, True)]
    con.close()


@given(case=CASES)
@settings(FEW, max_examples=draws(2, long=15))
def test_what_is_published_is_the_best_of_all_nodes(case: Case) -> None:
    assert_published(case)


@pytest.mark.long
@given(case=CASES)
@settings(max_examples=draws(2, long=4), deadline=None)
def test_where_keys_take_several_words_and_no_rows_are_kept(case: Case) -> None:
    with key_sizes.replaced(word_bits=5), sizes.replaced(large_source=0, one_in=2, times_fewer=1):
        assert_published(case)


@pytest.mark.long
@given(case=CASES)
@settings(max_examples=draws(2, long=5), deadline=None)
def test_explain_says_what_the_join_comes_to(case: Case) -> None:
    best, con = exhaustive(case), install(case)
    explain = (
        "EXPLAIN VERBOSE ANONYMIZED TABLE made AS POLICY p "
        f"METHOD generalization(suppression => {case.suppression}, loss => '{case.loss}')"
    )
    if best is None:
        with pytest.raises(PrivacyViolation):
            con.execute(explain)
    else:
        said = [detail for _, item, detail in con.execute(explain).fetchall() if item == "joined with main.other"]
        figures = (best.anonymity, best.linkability)
        nothing = "nothing, for no rows match"
        ends = [nothing if figure is None else f"{figure:.6g}" for figure in figures]
        assert [detail.rpartition(" comes to ")[2] for detail in said] == ends
    con.close()
