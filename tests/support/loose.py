"""Loose associations of tables in Python: made by sqlanon, read back, and looked at by the oracle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import duckdb
from sqlglot import exp

from sqlanon.engines.base import Query
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.portable import require_portable
from sqlanon.engines.random_order import RANDOM_DRAW, without_draws
from sqlanon.engines.temp_tables import TempTables
from sqlanon.engines.udfs import registered
from sqlanon.methods.fragmentation.association.associate import Association, Grouping, associate, covered, numbered
from sqlanon.methods.fragmentation.association.associate_drawn import associate_drawn
from sqlanon.methods.fragmentation.association.block_grids import association_rows, fragment_rows, own_rows
from sqlanon.methods.fragmentation.association.drawn_rows_sql import drawn_rows
from sqlanon.methods.fragmentation.association.grid_proof import PublishedAssociation, PublishedFragment
from sqlanon.methods.fragmentation.association.looseness import Looseness, looseness
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.render import create_temporary, to_sql
from tests.oracles import loose as oracle
from tests.support.names import quoted

Rows = Sequence[tuple[Any, ...]]


@dataclass(frozen=True)
class Table:
    """Columns with their SQL types, and rows."""

    columns: tuple[tuple[str, str], ...]
    rows: Rows


@dataclass(frozen=True)
class Made:
    """A loose association as it is published: each fragment's rows with their group last, and the group numbers.

    `truth` is what nobody may see: the values of each row that is published, fragment after fragment, then its groups.
    """

    association: Association
    truth: Rows
    fragments: tuple[Rows, ...]
    groups: Rows
    found: Looseness


@contextmanager
def database() -> Iterator[DuckDBEngine]:
    connection = duckdb.connect()
    yield DuckDBEngine(connection)
    connection.close()


def store(engine: DuckDBEngine, name: str, table: Table) -> None:
    engine.run(f"CREATE OR REPLACE TABLE {quoted(name)} ({', '.join(f'{quoted(c)} {t}' for c, t in table.columns)})")
    if table.rows:
        marks = ", ".join("?" for _ in table.columns)
        engine.connection.executemany(f"INSERT INTO {quoted(name)} VALUES ({marks})", [list(row) for row in table.rows])


def make(
    engine: DuckDBEngine,
    table: Table,
    fragments: Sequence[Sequence[str]],
    constraints: Sequence[Sequence[str]],
    sizes: Sequence[int],
    near: Sequence[str] = (),
    k: int | None = None,
) -> Made:
    store(engine, "source", table)
    columns = [name for fragment in fragments for name in fragment]
    values, close = ([column(name, "source") for name in names] for names in (columns, near))
    source = numbered(relation("source"), values, close)
    with TempTables(engine) as temp, registered(engine, "random_draw") as draw:
        made = associate(engine, source, Grouping(fragments, constraints, sizes, near, k), draw, temp)
        for number in range(len(fragments)):
            named = [(columns.index(name), name) for name in fragments[number]]
            keep(engine, f"fragment_{number}", fragment_rows(source, made.groups, named, number, "a group"))
        groups = [f"group {number}" for number in range(len(fragments))]
        keep(engine, "association", association_rows(made.groups, groups))
        columns = [f"value_{place}" for place in range(len(columns))]
        columns += [f"group_{number}" for number in range(len(fragments))]
        truth = engine.connection.execute(
            f"SELECT {', '.join(columns)} FROM ({to_sql(source)}) AS row JOIN {quoted(made.groups)} USING (row)"
        ).fetchall()
    published = published_as(fragments)
    return Made(
        made,
        truth,
        tuple(engine.connection.execute(f"FROM fragment_{number}").fetchall() for number in range(len(fragments))),
        engine.connection.execute("FROM association").fetchall(),
        looseness(engine, published, constraints),
    )


class PartedEngine(DuckDBEngine):
    """DuckDB in the place of Spark: rows get texts as their draws, and what reads rows has to be portable.

    Names of the relations of rows are in `copies`.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        super().__init__(connection)
        self.copies: set[str] = set()
        connection.execute(f"CREATE MACRO {RANDOM_DRAW}(x) AS CAST(uuid() AS VARCHAR)")

    def native_function(self, name: str) -> str | None:
        return RANDOM_DRAW if name == "random_draw" else None

    def copy_rows(self, name: str, query: exp.Query) -> str:
        require_portable(without_draws(query)[0])
        self.copies.add(name)
        super().run(create_temporary("TABLE", name, query))
        return "TABLE"

    def rows(self, query: Query, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        made = query.expression if isinstance(query, exp.Create) else query
        if isinstance(made, exp.Query) and any(table.name in self.copies for table in made.find_all(exp.Table)):
            named = isinstance(query, exp.Create) and query.this.name in self.copies
            require_portable(without_draws(made)[0] if named else made)
        return super().rows(query, parameters)


def make_drawn(
    table: Table,
    fragments: Sequence[Sequence[str]],
    constraints: Sequence[Sequence[str]],
    sizes: Sequence[int],
    k: int | None = None,
) -> Made:
    """What `make` returns, of rows that are known by draws, on another engine than the summaries."""
    columns = [name for fragment in fragments for name in fragment]
    with duckdb.connect() as connection:
        engine = PartedEngine(connection)
        store(engine, "source", table)
        with TempTables(engine) as temp, registered(engine, "random_draw") as draw:
            values = [column(name, "source") for name in columns]
            rows = temp.rows("rows", drawn_rows(values, relation("source", as_="source"), draw))
            grouping = Grouping(fragments, constraints, sizes, (), k)
            made = associate_drawn(engine, rows, len(table.rows), grouping, temp)
            for number, fragment in enumerate(fragments):
                named = [(columns.index(name), name) for name in fragment]
                keep(engine, f"fragment_{number}", own_rows(made.groups, named, number, "a group"))
            keep(engine, "association", association_rows(made.groups, [f"group {i}" for i in range(len(fragments))]))
            truth = connection.execute(f"FROM {quoted(made.groups)}").fetchall()
        return Made(
            made,
            truth,
            tuple(connection.execute(f"FROM fragment_{number}").fetchall() for number in range(len(fragments))),
            connection.execute("FROM association").fetchall(),
            looseness(engine, published_as(fragments), constraints),
        )


def left_out(
    engine: DuckDBEngine,
    table: Table,
    fragments: Sequence[Sequence[str]],
    constraints: Sequence[Sequence[str]],
    sizes: Sequence[int],
    near: Sequence[str] = (),
) -> Rows:
    """The rows that an association leaves out; nothing is published."""
    store(engine, "source", table)
    values, close = ([column(name, "source") for name in names] for names in (sum(map(tuple, fragments), ()), near))
    with TempTables(engine) as temp, registered(engine, "random_draw") as draw:
        source = numbered(relation("source"), values, close)
        made = associate(engine, source, Grouping(fragments, constraints, sizes, near), draw, temp)
        query = f"FROM source WHERE rowid NOT IN (SELECT row FROM {quoted(made.groups)})"
        return engine.connection.execute(query).fetchall()


def keep(engine: DuckDBEngine, name: str, query: exp.Select) -> None:
    engine.run(exp.Create(kind="TABLE", this=relation(name), expression=query, replace=True))


def published_as(fragments: Sequence[Sequence[str]]) -> PublishedAssociation:
    """The tables fragment_0, ..., with the column "a group", and association."""
    return PublishedAssociation(
        relation("association"),
        tuple(f"group {number}" for number in range(len(fragments))),
        tuple(
            PublishedFragment(relation(f"fragment_{number}"), tuple(fragment), "a group")
            for number, fragment in enumerate(fragments)
        ),
    )


def publish(engine: DuckDBEngine, fragments: Sequence[Table], groups: Rows) -> None:
    """Tables made by hand, each fragment's group in its last column."""
    for number, table in enumerate(fragments):
        store(engine, f"fragment_{number}", Table((*table.columns, ("a group", "INTEGER")), table.rows))
    columns = tuple((f"group {number}", "INTEGER") for number in range(len(fragments)))
    store(engine, "association", Table(columns, groups))


def judged(
    fragments: Sequence[Sequence[str]], tables: Sequence[Rows], groups: Rows, constraints: Sequence[Sequence[str]]
) -> dict[tuple[tuple[str, ...], int, int], oracle.Pair]:
    """What the oracle says of each pair of fragments under each constraint."""
    found = {}
    for constraint, parts in covered(fragments, constraints):
        for one, other in permutations(sorted(parts), 2):
            sides = [
                [(tuple(row[fragments[f].index(name)] for name in parts[f]), row[-1]) for row in tables[f]]
                for f in (one, other)
            ]
            pairs = [(row[one], row[other]) for row in groups]
            found[tuple(constraint), one, other] = oracle.pair(sides[0], sides[1], pairs)
    return found


def agrees(found: Looseness, expected: dict[tuple[tuple[str, ...], int, int], oracle.Pair]) -> bool:
    seen = {(p.constraint, p.fragment, p.other): p for p in found.pairs}
    return seen.keys() == expected.keys() and all(
        (not pair.repeated, not pair.alike_in_linked, pair.k) == (own.association, own.deep, own.k)
        and (not pair.alike_in_group and not seen[key[0], key[2], key[1]].alike_in_group) == own.group
        for key, own in expected.items()
        for pair in [seen[key]]
    )


def multiset(rows: Rows) -> Counter[tuple[Any, ...]]:
    return Counter(map(tuple, rows))


def left_over(made: Made, table: Table, fragments: Sequence[Sequence[str]], names: Sequence[str]) -> Rows:
    """What the rows that were left out have in these columns of one fragment."""
    start = 0
    for fragment in fragments:
        if set(names) <= set(fragment):
            places = [start + fragment.index(name) for name in names]
            held = multiset([tuple(row[place] for place in places) for row in made.truth])
            return list((multiset(selected(table, names)) - held).elements())
        start += len(fragment)
    raise AssertionError(names)


def selected(table: Table, names: Sequence[str]) -> list[tuple[Any, ...]]:
    places = [[name for name, _ in table.columns].index(name) for name in names]
    return [tuple(row[place] for place in places) for row in table.rows]
