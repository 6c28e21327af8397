"""Random changes of the source that a live view reads."""

from __future__ import annotations

from hypothesis import strategies as st

from sqlanon import Connection
from tests.support.policies import Case, Row, insert


@st.composite
def changes(draw: st.DrawFn, case: Case) -> list[tuple[str, Row]]:
    """Inserts, updates and deletes by s; rows mix the values there were with new ones."""
    values = [st.sampled_from((*q.domain, *q.later, None)) for q in case.quasi]
    old = st.sampled_from(case.rows) if case.rows else st.tuples(*values)
    quasi = st.one_of(st.tuples(*values), old, old)
    found = []
    fresh = len(case.rows)
    for _ in range(draw(st.integers(1, 8))):
        kind = draw(st.sampled_from(["insert", "insert", "update", "delete"]))
        who = draw(st.sampled_from([None, 1, 2, 3, 99]))
        place = draw(st.integers(0, fresh)) if kind != "insert" else fresh
        fresh += kind == "insert"
        found.append((kind, (*draw(quasi), who, place)))
    return found


def apply(con: Connection, rows: list[Row], kind: str, row: Row) -> list[Row]:
    if kind == "insert":
        insert(con, row)
        return [*rows, row]
    if kind == "delete":
        con.duckdb.execute("DELETE FROM source WHERE s = ?", [row[-1]])
        return [other for other in rows if other[-1] != row[-1]]
    columns = [*(f"q{i}" for i in range(len(row) - 2)), "who"]
    con.duckdb.execute(f"UPDATE source SET {', '.join(f'{name} = ?' for name in columns)} WHERE s = ?", list(row))
    return [row if other[-1] == row[-1] else other for other in rows]
