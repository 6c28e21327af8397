"""CHECK of any table, query or view, and the macro for bare clients, against counting in Python."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from math import inf, isclose, isinf
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sqlanon import Connection, connect
from sqlanon.sql.questions.load import load_question, question_names
from tests.oracles.k_anonymity import achieved
from tests.oracles.models.support import Table
from tests.support.draws import draws
from tests.support.models.drawn import Drawn, drawn_models
from tests.support.models.relations import NUMBERS_TYPE, listed, of_numbers, ranges_for
from tests.support.policies import BUDGET, insert

pytestmark = pytest.mark.drawn

Row = tuple[Any, ...]

_ROWS = st.lists(
    st.tuples(
        st.sampled_from([None, 0, 1]), st.sampled_from([None, "", "a", "A", "*"]), st.sampled_from([None, 0.0, 1.5])
    ),
    max_size=12,
)
_COLUMNS = st.permutations(["a", "b", "c"]).flatmap(lambda names: st.integers(1, 3).map(lambda n: names[:n]))


def _table(rows: list[Row]) -> Connection:
    con = connect(config={"threads": "1"})
    con.execute("CREATE TABLE source (a INTEGER, b VARCHAR, c DOUBLE)")
    for row in rows:
        insert(con, row)
    con.execute("CREATE VIEW seen AS FROM source")
    con.execute("CREATE POLICY p ON source (a QUASI IDENTIFIER, b SENSITIVE) REQUIRE k_anonymity(k => 1)")
    return con


@given(rows=_ROWS, columns=_COLUMNS, k=st.integers(1, 5))
@settings(BUDGET, max_examples=draws(2, long=25))
def test_check_counts_as_python_does(rows: list[Row], columns: list[str], k: int) -> None:
    con = _table(rows)
    reached = achieved([tuple(row["abc".index(name)] for name in columns) for row in rows])
    for source in ("source", "main.source", "memory.main.source", "seen", "(SELECT * FROM source)", "(FROM seen)"):
        found = con.execute(f"CHECK {source} ({', '.join(columns)}) REQUIRE k_anonymity(k => {k})").fetchall()
        assert [row[1:] for row in found] == [
            ("k_anonymity", None, float(k), reached, reached is None or reached >= k),
        ]
    quoted = ", ".join(f"'{name}'" for name in columns)
    for source in ("source", "main.source", "seen", "(SELECT * FROM source)"):
        answer = con.duckdb.execute(f"FROM anon.k_anonymity('{source}', [{quoted}])").fetchall()
        keys = {tuple(row["abc".index(name)] for name in columns) for row in rows}
        assert answer == [(reached, len(keys), len(rows) if rows else None)]
    con.close()


def test_check_of_a_release_sees_what_was_changed_by_hand() -> None:
    con = connect()
    con.execute("CREATE TABLE source AS SELECT i // 3 AS a, i AS s FROM range(9) r(i)")
    con.execute("CREATE POLICY p ON source (a QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 3)")
    con.execute("CREATE ANONYMIZED TABLE t AS POLICY p METHOD generalization")
    assert con.execute("CHECK t").fetchall() == [("main.t", "k_anonymity", None, 3.0, 3.0, True)]
    con.execute("DELETE FROM t WHERE s = 0")
    assert con.execute("CHECK t").fetchall() == [("main.t", "k_anonymity", None, 3.0, 2.0, False)]
    # The policy of the release counts, not what became of its name.
    con.execute("CREATE OR REPLACE POLICY p ON source (a QUASI IDENTIFIER) REQUIRE k_anonymity(k => 1)")
    assert con.execute("CHECK t").fetchall() == [("main.t", "k_anonymity", None, 3.0, 2.0, False)]
    con.execute("DROP POLICY p")
    assert con.execute("CHECK t").fetchall() == [("main.t", "k_anonymity", None, 3.0, 2.0, False)]


def test_check_of_a_column_named_twice_is_a_check_of_it() -> None:
    con = connect()
    con.execute("CREATE TABLE source AS SELECT 1 AS a FROM range(2)")
    found = con.execute("CHECK source (a, A) REQUIRE k_anonymity(k => 2)").fetchall()
    assert found == [("source", "k_anonymity", None, 2.0, 2.0, True)]


def test_check_writes_nothing() -> None:
    con = connect()
    con.execute("CREATE TABLE source AS SELECT 1 AS a FROM range(2)")
    con.execute("CHECK source (a) REQUIRE k_anonymity(k => 2)")
    assert con.execute("SELECT count(*) FROM duckdb_schemas() WHERE schema_name = 'anon'").fetchall() == [(0,)]
    assert con.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("source",)]


@pytest.fixture(scope="module")
def shared() -> Connection:
    return connect(config={"threads": "1"})


def _install(con: Connection, table: Table, question: str, kind: str = "VARCHAR") -> None:
    """A drawn table as tables of a database: `c` is the class, `d` the disease, `g` whom a row guards."""
    by_place = {place: of for of, places in table.classes.items() for place in places}
    guards = table.guards or [None] * len(table.values)
    rows = [(of, table.values[place], _node(guards[place])) for place, of in by_place.items()]
    con.execute(
        f"CREATE OR REPLACE TABLE t (c INTEGER, d {kind}, g VARCHAR); CREATE OR REPLACE TABLE public (c INTEGER)"
    )
    columns, shares = listed(question, table.ranges or {}, table.known)
    kinds = ", ".join(f"{column} {kind}" for column, kind in columns.items())
    con.execute(f"CREATE OR REPLACE TABLE given ({kinds})")
    for name, found in (
        ("t", rows),
        ("public", [(of,) for of, n in (table.public or {}).items() for _ in range(n)]),
        ("given", shares),
    ):
        if found:
            con.duckdb.executemany(
                f"INSERT INTO {name} VALUES ({', '.join('?' * len(found[0]))})", list(map(list, found))
            )
    if table.taxonomy is not None:
        paths = [", ".join(_text(part) for part in (value, *path)) for value, path in table.taxonomy.items()]
        values = ", ".join(f"({row})" for row in paths)
        con.execute(f"CREATE OR REPLACE HIERARCHY h AS LEVELS (SELECT * FROM (VALUES {values}) AS t)")


def _node(guard: Any) -> str | None:
    return None if guard is None else str(guard)


def _text(label: Any) -> str:
    return "NULL" if label is None else "'" + str(label).replace("'", "''") + "'"


def _asked(drawn: Drawn) -> str:
    """The requirement as a user writes it."""
    question = drawn.requirement.question
    given = [
        f"{name} => {repr(value) if isinstance(value, str) else repr('infinite') if value == inf else value}"
        for name, value in drawn.requirement.arguments
    ]
    given = [part.replace("guarding => given", "guarding => g") for part in given]
    chosen = [f"{question.when.argument} => '{question.when.value}'"] if question.when else []
    return f"{question.model}({', '.join([*given, *chosen])})"


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", question_names())
@given(data=st.data())
@settings(BUDGET, max_examples=draws(3, long=8))
def test_check_of_every_model_agrees_with_its_oracle(shared: Connection, name: str, data: st.DataObject) -> None:
    """The tables of the contract of the models as a user has them: rows, a hierarchy, a public table."""
    oracle = import_module(f"tests.oracles.models.{name}")
    drawn = data.draw(drawn_models(load_question(name), oracle))
    table = replace(drawn.table, entities=None)
    if not table.ranges and "value_range" in drawn.requirement.reads:
        table = replace(table, ranges={"a": (None, None)})
    table = replace(table, ranges=ranges_for(name, table.ranges or {}))
    if table.broader is not None:
        # A class by itself, and all rows: a relation shows no labels above its own.
        table = replace(table, broader={of: {("own", of), "all"} for of in table.classes})
        assume(drawn.arguments["n"] <= table.rows)
    _install(shared, table, name, NUMBERS_TYPE if of_numbers(name) else "VARCHAR")
    using = " USING h" if table.taxonomy is not None else ""
    sensitive = f" SENSITIVE d{using}" if drawn.requirement.question.of_sensitive_values else ""
    against = " AGAINST public" if table.public is not None else ""
    [found] = shared.execute(f"CHECK t (c){sensitive}{against} REQUIRE {_asked(drawn)}").fetchall()
    reached = oracle.achieved(table, **drawn.arguments)
    assert found[:3] == ("t", name, "d" if sensitive else None)
    assert found[5] is (not oracle.violating(table, **drawn.arguments))
    if reached is None or isinf(reached):
        assert found[4] == reached
    else:
        assert isclose(found[4], float(reached), rel_tol=1e-9, abs_tol=1e-9)
