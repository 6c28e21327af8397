"""METHOD fragments and METHOD loose on random tables and policies, through the statements, against the definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sqlanon import Connection, PolicyError, PrivacyViolation
from tests.oracles.fragments import best, correct
from tests.oracles.left_out import fewest, worst
from tests.oracles.loose import pair
from tests.support.database import new_database
from tests.support.draws import draws
from tests.support.names import quoted

pytestmark = pytest.mark.drawn

_NAMES = ('a "b"', "it's", "select", "é中", "row", "value_0", "a.b", " ", "group_1", "fragments", "source")
_TEXTS = (None, "", " ", "NULL", 'a "b"', "B", "b", "é", "\n", "'", "0", "None")
_NUMBERS = (None, -(2**63), -1, 0, 1, 2**53 + 1, 2**63 - 1, 7, 8, 9, 10, 11)
RELEASE, TABLE = 'm."r ""t"" é"', 'm."r ""t"" é_{}"'
BUDGET = settings(max_examples=draws(8, long=30), deadline=None, suppress_health_check=list(HealthCheck))


@dataclass(frozen=True)
class Case:
    """A table, what must not and what must be seen together, and how loose an association has to be."""

    names: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    confidential: tuple[tuple[str, ...], ...]
    visible: tuple[tuple[str, ...], ...]
    k: int
    near: bool

    def install(self) -> Connection:
        con = new_database()
        kinds = [("BIGINT", "VARCHAR")[place % 2] for place in range(len(self.names))]
        columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in zip(self.names, kinds, strict=True))
        con.execute(f"CREATE SCHEMA m; CREATE TABLE t ({columns}, who INTEGER)")
        for row in self.rows:
            con.duckdb.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(row))}, 1)", list(row))
        policy = ", ".join(f"{quoted(name)} QUASI IDENTIFIER" for name in self.names)
        sets = [f"{word} {', '.join(map(listed, some))}" for word, some in self.sets if some]
        con.execute(f"CREATE POLICY p ON t (who IDENTIFIER, {policy}) {' '.join(sets)}")
        return con

    @property
    def sets(self) -> Sequence[tuple[str, Sequence[Sequence[str]]]]:
        return ("CONFIDENTIAL", self.confidential), ("VISIBLE", self.visible)

    @property
    def required(self) -> frozenset[str]:
        """Every column but those that are confidential by themselves."""
        return frozenset(self.names) - {one[0] for one in self.confidential if len(one) == 1}

    @property
    def fewest(self) -> int:
        """How many fragments there must be; 0 where no fragmentation publishes what is required, or anything."""
        found = best(self.names, sets_of(self.confidential), sets_of(self.visible), self.required)
        return found[0] if found else 0

    def selected(self, names: Sequence[str]) -> list[tuple[Any, ...]]:
        return [tuple(row[self.names.index(name)] for name in names) for row in self.rows]


def listed(names: Sequence[str]) -> str:
    return f"({', '.join(map(quoted, names))})"


def sets_of(sets: Sequence[Sequence[str]]) -> list[frozenset[str]]:
    return [frozenset(one) for one in sets]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    names = tuple(draw(st.lists(st.sampled_from(_NAMES), min_size=2, max_size=5, unique=True)))
    one = st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True).map(tuple)
    several = st.lists(st.sampled_from(names), min_size=2, max_size=3, unique=True).map(tuple)
    confidential = tuple(draw(st.lists(st.one_of(one, several, several), min_size=1, max_size=4)))
    visible = draw(st.lists(one, max_size=1))
    count = draw(st.integers(0, 12))
    columns = []
    for place in range(len(names)):
        pool = (_NUMBERS, _TEXTS)[place % 2]
        ties = st.lists(st.sampled_from(pool), min_size=count, max_size=count)
        columns.append(draw(st.permutations(pool).map(lambda found: found[:count]) | ties))
    return Case(
        names=names,
        rows=tuple(zip(*columns, strict=True)),
        confidential=confidential,
        visible=tuple(v for v in visible if not any(set(c) <= set(v) for c in confidential)),
        k=draw(st.integers(2, 4)),
        near=draw(st.booleans()),
    )


def table(con: Connection, name: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    columns = [str(row[0]) for row in con.duckdb.execute(f"DESCRIBE {TABLE.format(name)}").fetchall()]
    return columns, con.duckdb.execute(f"FROM {TABLE.format(name)}").fetchall()


def published(con: Connection) -> list[str]:
    query = "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'm' ORDER BY table_name"
    return [name for (name,) in con.duckdb.execute(query).fetchall()]


@settings(BUDGET, max_examples=draws(2, long=30))
@given(cases())
def test_fragments_are_minimal_correct_and_whole(case: Case) -> None:
    con = case.install()
    statement = f"CREATE ANONYMIZED TABLE {RELEASE} AS POLICY p METHOD fragments"
    if not case.fewest:
        with pytest.raises(PolicyError):
            con.execute(statement)
        assert published(con) == []
        return
    (answer,) = con.execute(statement).fetchall()
    assert answer[2:5] == (len(case.rows), len(case.rows), 0)
    assert con.execute(f"CHECK {RELEASE}").fetchall()[0][1:] == answer[7:12]
    found = [table(con, str(number)) for number in range(1, case.fewest + 1)]
    assert len(published(con)) == case.fewest
    fragments = [frozenset(columns) for columns, _ in found]
    assert correct(fragments, sets_of(case.confidential), sets_of(case.visible))
    assert frozenset().union(*fragments) == case.required
    # Columns stand in the policy's order, and so do the fragments by their first ones.
    places = [[case.names.index(name) for name in columns] for columns, _ in found]
    assert places == sorted(sorted(place) for place in places)
    for columns, rows in found:
        assert Counter(rows) == Counter(case.selected(columns))
    # The same fragments named the other way round are those that are published then.
    named = [columns[::-1] for columns, _ in found[::-1]]
    again = statement.replace("CREATE", "CREATE OR REPLACE") + f" FRAGMENTS {', '.join(map(listed, named))}"
    con.execute(again)
    assert [table(con, str(number))[0] for number in range(1, case.fewest + 1)] == named
    assert_broken_fragments_are_refused(con, case, again)


def assert_broken_fragments_are_refused(con: Connection, case: Case, statement: str) -> None:
    """All columns in one fragment: that keeps every set apart only if none is within it."""
    whole = statement[: statement.index(" FRAGMENTS ")] + f" FRAGMENTS {listed(case.names)}"
    if correct([frozenset(case.names)], sets_of(case.confidential), sets_of(case.visible)):
        con.execute(whole)
        return
    before = published(con)
    with pytest.raises(PolicyError, match="these fragments cannot be published"):
        con.execute(whole)
    assert published(con) == before


@settings(BUDGET, max_examples=draws(2, long=30))
@given(cases())
def test_associations_are_loose_and_true(case: Case) -> None:
    con = case.install()
    near = ", near => true" if case.near else ""
    statement = f"CREATE ANONYMIZED TABLE {RELEASE} AS POLICY p METHOD loose(k => {case.k}{near}, suppression => 1)"
    if case.fewest < 2:
        with pytest.raises(PolicyError):
            con.execute(statement)
        assert published(con) == []
        return
    try:
        answers = con.execute(statement).fetchall()
    except PrivacyViolation:
        assert case.rows
        assert not blocks_of_two_fragments(case)
        assert published(con) == []
        return
    found = [table(con, str(number)) for number in range(1, case.fewest + 1)]
    groups, association = table(con, "association")
    assert groups == [f"group_{number}" for number in range(1, case.fewest + 1)]
    placed = len(association)
    assert answers[0][2:5] == (len(case.rows), placed, len(case.rows) - placed)
    names = [columns[:-1] for columns, _ in found]
    assert correct([frozenset(own) for own in names], sets_of(case.confidential), sets_of(case.visible))
    for own, (_, rows) in zip(names, found, strict=True):
        assert len(rows) == placed
        assert Counter(row[:-1] for row in rows) <= Counter(case.selected(own))
    assert_loose(case, names, [rows for _, rows in found], association, answers[1][10])
    assert_true(case, names, [rows for _, rows in found], association)
    *checked, rests = con.execute(f"CHECK {RELEASE}").fetchall()
    assert checked == [(answers[0][0], *answer[7:12]) for answer in answers]
    assert rests[1:] == ("assumes_random_worlds", None, None, None, True)
    assert_a_class(case, names, [rows for _, rows in found], answers[2])


def blocks_of_two_fragments(case: Case) -> bool:
    """Whether there are two fragments, and rows for blocks, all of which differ in every column."""
    size = {2: 2, 3: 4, 4: 4}[case.k]
    columns = [case.selected([name]) for name in case.names]
    differ = all(len(set(c)) == len(c) for c in columns)
    return case.fewest == 2 and differ and fewest(range(len(case.rows)), size, case.k) is not None


def assert_a_class(case: Case, names: Sequence[Sequence[str]], tables: Sequence[Any], answer: tuple[Any, ...]) -> None:
    """Of the rows left out one in k at most is alike in what a set has in a fragment, as the answer says."""
    left_out, parts = answer[4], []
    for constraint in case.confidential:
        if not set(constraint) <= {name for own in names for name in own}:
            continue
        for own, rows in zip(names, tables, strict=True):
            if part := [name for name in own if name in constraint]:
                shown = Counter(tuple(row[own.index(name)] for name in part) for row in rows)
                parts.append(list((Counter(case.selected(part)) - shown).elements()))
    assert {len(part) for part in parts} <= {left_out}
    required, achieved = answer[9:11]
    if parts:
        assert required == case.k
        assert worst(parts) <= Fraction(1, case.k)
        # Rows are told apart by the smallest parts, of which more are alike; an answer says no less than it has to.
        assert achieved is None if not left_out else float(1 / worst(parts)) >= achieved >= case.k


def assert_loose(
    case: Case,
    names: Sequence[Sequence[str]],
    tables: Sequence[Any],
    association: Sequence[Any],
    achieved: float | None,
) -> None:
    """Every constraint across fragments, from each side: groups, pairs and linked rows differ, and k of them do."""
    seen: list[int] = []
    for constraint in case.confidential:
        if not set(constraint) <= {name for own in names for name in own}:
            continue
        touched = [place for place, own in enumerate(names) if set(own) & set(constraint)]
        for one, other in permutations(touched, 2):
            parts = [
                [(tuple(row[names[p].index(n)] for n in names[p] if n in constraint), row[-1]) for row in tables[p]]
                for p in (one, other)
            ]
            judged = pair(parts[0], parts[1], [(row[one], row[other]) for row in association])
            assert judged.group
            assert judged.association
            assert judged.deep
            if judged.k is not None:
                assert judged.k >= case.k
                seen.append(judged.k)
    assert achieved == (min(seen) if seen else None)


def assert_true(case: Case, names: Sequence[Sequence[str]], tables: Sequence[Any], association: Sequence[Any]) -> None:
    """What the association says of a row is true of a row of the source: each of its groups has the row's values."""
    held: list[dict[int, list[Any]]] = [{} for _ in names]
    for place, rows in enumerate(tables):
        for row in rows:
            held[place].setdefault(row[-1], []).append(row[:-1])
    truths = list(zip(*(case.selected(own) for own in names), strict=True))
    for groups in association:
        assert any(all(part in held[p][groups[p]] for p, part in enumerate(truth)) for truth in truths)
    for place in range(len(names)):
        assert Counter(groups[place] for groups in association) == Counter(row[-1] for row in tables[place])
