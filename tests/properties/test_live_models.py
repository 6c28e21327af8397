"""The guard of a live view, for every privacy model, against an oracle that withholds anew after each random change."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from sqlanon import Connection
from sqlanon.sql.questions.load import load_question, question_names
from tests.oracles.lattice import recoded
from tests.support.draws import draws
from tests.support.models.relations import valued
from tests.support.models.search import NODES, VALUES, Drawn, drawn, exhaustive, install, withheld
from tests.support.policies import BUDGET, levels_of

pytestmark = pytest.mark.drawn

FEW = settings(BUDGET, max_examples=draws(2, long=3))


def apply(con: Connection, table: str, rows: list[Any], change: tuple[str, int, tuple[Any, ...]]) -> list[Any]:
    """Inserts a row, or deletes or updates one that is there; rows have no key, so all that are alike change."""
    kind, place, row = change
    columns = [name for name, *_ in con.duckdb.execute(f"DESCRIBE {table}").fetchall()]
    if kind == "insert" or not rows:
        con.duckdb.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", list(row))
        return [*rows, row]
    old = rows[place % len(rows)]
    alike = " AND ".join(f"{name} IS NOT DISTINCT FROM ?" for name in columns)
    if kind == "delete":
        con.duckdb.execute(f"DELETE FROM {table} WHERE {alike}", list(old))
        return [other for other in rows if other != old]
    assigned = ", ".join(f"{name} = ?" for name in columns)
    con.duckdb.execute(f"UPDATE {table} SET {assigned} WHERE {alike}", [*row, *old])
    return [row if other == old else other for other in rows]


@st.composite
def changes(draw: st.DrawFn, case: Drawn) -> list[tuple[str, str, int, tuple[Any, ...]]]:
    keys = st.tuples(*(st.sampled_from((*q.domain, *q.later, None)) for q in case.quasi))
    width = len(case.quasi)
    old = st.sampled_from(case.rows).map(lambda row: row[:width])
    values = st.sampled_from([valued(case.question, value) for value in (*VALUES, None, "e")])
    kinds = st.sampled_from(["insert", "insert", "update", "delete"])
    found = []
    for _ in range(draw(st.integers(1, 5))):
        table = draw(st.sampled_from(["source", "source", "source", "everybody"]))
        key = draw(st.one_of(keys, old, old))
        row = (*key, draw(values), draw(st.sampled_from(NODES))) if table == "source" else key
        found.append((table, draw(kinds), draw(st.integers(0, 30)), row))
    return found


def shown(case: Drawn, levels: Sequence[int]) -> list[tuple[Any, ...]]:
    """The rows of the release: labels and sensitive value."""
    width = len(case.quasi)

    def placed(row: Sequence[Any]) -> bool:
        return all(
            level == q.height or q.has_place(value) for q, value, level in zip(case.quasi, row, levels, strict=False)
        )

    rows = tuple(row for row in case.rows if placed(row))
    values = [[*(row[i] for row in rows), *(row[i] for row in case.public if placed(row))] for i in range(width)]
    taxonomies = [q.taxonomy(column) for q, column in zip(case.quasi, values, strict=True)]
    classes: dict[Hashable, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        classes[recoded(row[:width], taxonomies, tuple(levels))].append(place)
    public: dict[Hashable, int] = defaultdict(int)
    for row in case.public:
        public[recoded(row, taxonomies, tuple(levels)) if placed(row) else "no class"] += 1
    gone = withheld(replace(case, rows=rows), dict(classes), dict(public))
    if gone is None:
        return []
    return [(*of, rows[p][width]) for of, places in classes.items() for p in places if p not in gone]  # type: ignore[misc]


@pytest.mark.one_in(18)
@pytest.mark.parametrize("question", [name for name in question_names() if "superset" not in load_question(name).reads])
def test_the_view_shows_what_satisfies(question: str) -> None:
    @given(data=st.data(), case=drawn(question))
    @FEW
    def check(data: st.DataObject, case: Drawn) -> None:
        assume(exhaustive(case) is not None)
        con = install(case)
        con.execute(f"CREATE ANONYMIZED VIEW v AS POLICY p METHOD generalization(suppression => {case.suppression})")
        levels = levels_of(con)
        # From here on the view stands by itself.
        con.execute("DROP POLICY p")
        con.execute("DROP TABLE ranges")
        names = ", ".join([*(f"q{i}" for i in range(len(case.quasi))), "s"])
        for table, *change in [("", "start", 0, ()), *data.draw(changes(case))]:
            if table:
                rows = case.rows if table == "source" else case.public
                after = tuple(apply(con, table, list(rows), tuple(change)))  # type: ignore[arg-type]
                case = replace(case, rows=after) if table == "source" else replace(case, public=after)
            found = con.duckdb.execute(f"SELECT {names} FROM v").fetchall()
            assert Counter(found) == Counter(shown(case, levels)), (table, change)
            event("nothing shown" if not found else "some shown")
        con.execute("CHECK v")
        satisfied = all(row[-1] is True for row in con.fetchall())
        # A release without rows has nobody of the public table in it, which is less than a least presence above 0.
        assert satisfied or (question == "delta_presence" and not found)
        con.close()

    check()
