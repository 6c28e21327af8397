"""A release's rows as the oracle of estimates reads them."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sqlanon import Connection
from tests.support.estimates.labels import ANY, cells
from tests.support.estimates.queries import COLUMNS, DEALT, Query, Task

QUASI = ("number", "kind", "code")


def released_rows(con: Connection, task: Task, query: Query) -> list[dict[str, list[tuple[Any, float | None]]]]:
    """The released rows as the oracle sees them, in the columns that the query names."""
    dealt = values_of_buckets(con, task)
    if len(query.columns) == 1 and query.columns <= set(dealt):
        (name,) = query.columns
        return [{name: [(value, 1.0)]} for held in dealt[name].values() for value in held.elements()]
    found = con.duckdb.execute("FROM r" if task.release == "buckets" or not dealt else "FROM r_qi")
    names = [column[0] for column in found.description]
    own = {shown: name for name, shown in COLUMNS.items()}
    rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    seen = []
    for row in rows:
        one: dict[str, list[tuple[Any, float | None]]] = {}
        for shown, name in own.items():
            if name not in query.columns:
                continue
            if name in QUASI and not dealt:
                ends = (
                    (row[shown + "_low"], row[shown + "_high"]) if shown + "_low" in row and name == "number" else None
                )
                one[name] = leaves(con, task, name, row[shown], ends)
            elif name in dealt:
                one[name] = [(value, float(n)) for value, n in dealt[name][row["bucket"]].items()]
            else:
                one[name] = [(row[shown], 1.0)]
        seen.append(one)
    return seen


def values_of_buckets(con: Connection, task: Task) -> dict[str, dict[int, Counter[Any]]]:
    """For each dealt column the values of each bucket, as often as they occur."""
    found: dict[str, dict[int, Counter[Any]]] = {}
    for name, table in DEALT.get(task.release, {}).items():
        for bucket, value, count in con.duckdb.execute(f"SELECT bucket, value, count FROM {table}").fetchall():
            found.setdefault(name, {}).setdefault(bucket, Counter())[value] = count
        found.setdefault(name, {})
    return found


def leaves(con: Connection, task: Task, name: str, shown: Any, ends: Any) -> list[tuple[Any, float | None]]:
    if name == "code" and task.release == "bounds":
        # The middle row's value says nothing of the others.
        return [(None, 1.0)] if shown is None else [(value, None) for value in ANY["code"]]
    return cells(task, name, shown, ends)
