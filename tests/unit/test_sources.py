"""Every form of source, through each statement that takes one, and through a view.

What a release of it must hold is known from plain DuckDB: the rows of the classes that are large enough.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, count, product
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pytest

from sqlanon import Connection, PolicyError, connect
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.sql.build.sql_files import sql_file
from tests.support.sources import FORMS, Form, database

NUMBERS = count()
COLUMNS = "a QUASI IDENTIFIER MAX LEVEL 0, s SENSITIVE"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Connection, Path]]:
    folder = tmp_path_factory.mktemp("sources")
    with database(folder) as connection:
        yield connection, folder


@pytest.fixture(params=FORMS, ids=[form.label for form in FORMS])
def form(request: pytest.FixtureRequest, shared: tuple[Connection, Path]) -> Form:
    given: Form = request.param
    folder = str(shared[1])
    return given._replace(
        query=given.query.replace("{folder}", folder),
        tables=tuple(name.replace("{folder}", folder) for name in given.tables),
    )


@pytest.fixture
def con(shared: tuple[Connection, Path]) -> Connection:
    return shared[0]


def rows(con: Connection, query: str) -> list[Any]:
    """The columns a and s, where there are both, as plain DuckDB reads them."""
    found = con.duckdb.execute(query)
    names = [name.lower() for name, *_ in found.description]
    places = [names.index(name) for name in ("a", "s") if name in names]
    return [tuple(row[place] for place in places) for row in found.fetchall()]


def released(of: list[Any], k: int) -> Counter[Any]:
    sizes = Counter(row[0] for row in of)
    return Counter(row for row in of if sizes[row[0]] >= k)


def test_the_forms_are_many() -> None:
    assert len({form.query for form in FORMS}) == len(FORMS) > 48


@pytest.mark.one_in(5)
def test_what_it_reads(con: Connection, form: Form, viewed: str) -> None:
    def full(name: str) -> tuple[str, ...]:
        parts = name.split(".") if "/" not in name and '"' not in name else [name]
        return tuple(parts if "/" in name else [*["hospital", "main", ""][: 3 - len(parts)], *parts])

    engine = DuckDBEngine(con.duckdb)
    expected = sorted(map(full, form.tables))
    assert sorted(name.parts for name in engine.tables_of(form.query)) == expected
    assert sorted(name.parts for name in engine.tables_of(f"FROM {viewed}")) == expected


@pytest.fixture
def viewed(con: Connection, form: Form) -> str:
    """A view that stands for the form."""
    name = f"source_{next(NUMBERS)}"
    con.execute(f"CREATE {'' if form.lasts else 'TEMP '}VIEW {name} AS {form.query}")
    return name


def columns_of(of: list[Any]) -> str:
    return COLUMNS if len(of[0]) > 1 else COLUMNS.split(",")[0]


@pytest.mark.one_in(135)
def test_releases(con: Connection, form: Form) -> None:
    """A snapshot and a live view of it hold the rows that they must, and EXPLAIN can speak of them."""
    of, number = rows(con, form.query), next(NUMBERS)
    expected = released(of, 2)
    con.execute(f"CREATE POLICY p{number} ON ({form.query}) ({columns_of(of)}) REQUIRE k_anonymity(k => 2)")
    method = f"AS POLICY p{number} METHOD generalization(suppression => 1)"
    explained = dict(row[1:] for row in con.execute(f"EXPLAIN VERBOSE ANONYMIZED TABLE r{number} {method}").fetchall())
    assert f"{len(of) - expected.total()} of {len(of)}" in explained["suppressed rows"]
    con.execute(f"CREATE ANONYMIZED TABLE r{number} {method}")
    assert Counter(rows(con, f"FROM r{number}")) == expected != Counter()
    require_view(con, form, f"v{number} {method}", expected)


def require_view(con: Connection, form: Form, view: str, expected: Counter[Any]) -> None:
    if not form.lasts:
        with pytest.raises(PolicyError, match="a live view cannot read"):
            con.execute(f"CREATE ANONYMIZED VIEW {view}")
        return
    con.execute(f"CREATE ANONYMIZED VIEW {view}")
    assert Counter(rows(con, f"FROM {view.split()[0]}")) == expected


@pytest.mark.one_in(480)
def test_releases_through_a_view(con: Connection, form: Form, viewed: str) -> None:
    of, number = rows(con, form.query), next(NUMBERS)
    con.execute(f"CREATE POLICY p{number} ON {viewed} ({columns_of(of)}) REQUIRE k_anonymity(k => 2)")
    require_view(con, form, f"v{number} AS POLICY p{number} METHOD generalization(suppression => 1)", released(of, 2))


@pytest.mark.one_in(12)
def test_checks(con: Connection, form: Form, viewed: str) -> None:
    """Of it, through a view too, and against it as the public table."""
    sizes = Counter(row[0] for row in rows(con, form.query))
    for source in (f"({form.query})", viewed):
        checked = con.execute(f"CHECK {source} (a) REQUIRE k_anonymity(k => 2)").fetchall()
        assert [row[4] for row in checked] == [min(sizes.values())]
    checked = con.execute(
        f"CHECK (SELECT DISTINCT a FROM {viewed}) (a) AGAINST ({form.query}) "
        "REQUIRE k_map(k => 2), delta_presence(min => 0, max => 0.5)"
    ).fetchall()
    assert [row[4] for row in checked] == [min(sizes.values()), 1 / min(sizes.values())]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "query",
    [
        "SELECT a, s FROM query_table('parts')",
        "FROM all_of('parts')",
        "SELECT a, s FROM stay WHERE (SELECT count(*) FROM duckdb_table_sample('person')) >= 0",
        f"SELECT a, s FROM stay WHERE {' + '.join(['a'] * 900)} > 0",
    ],
    ids=["a file by argument", "in a macro", "a sample by argument", "nested deep"],
)
def test_what_it_reads_cannot_be_told(con: Connection, shared: tuple[Connection, Path], query: str) -> None:
    """Then there is a snapshot and no live view."""
    con.execute(f"CREATE OR REPLACE VIEW parts AS SELECT a, s FROM '{shared[1]}/part0.parquet'")
    expected, number = released(rows(con, query), 2), next(NUMBERS)
    con.execute(f"CREATE POLICY p{number} ON ({query}) ({COLUMNS}) REQUIRE k_anonymity(k => 2)")
    method = f"AS POLICY p{number} METHOD generalization(suppression => 1)"
    con.execute(f"CREATE ANONYMIZED TABLE r{number} {method}")
    assert Counter(rows(con, f"FROM r{number}")) == expected
    with pytest.raises(PolicyError, match="the tables that it reads cannot be determined") as refused:
        con.execute(f"CREATE ANONYMIZED VIEW v{number} {method}")
    assert "snapshot" in str(refused.value.hint)


@pytest.mark.long
def test_a_variable_of_python_is_no_source_of_a_live_view(tmp_path: Path) -> None:
    """It is gone with the session."""
    frame = pandas.DataFrame({"a": [1, 1, 2, 2], "s": ["x", "y", "x", "y"]})
    with connect(tmp_path / "x.duckdb", config={"python_scan_all_frames": "true"}) as con:
        con.execute(f"CREATE POLICY p ON (FROM frame) ({COLUMNS}) REQUIRE k_anonymity(k => 2)")
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
        assert len(con.execute("FROM r").fetchall()) == len(frame)
        with pytest.raises(PolicyError, match="it is temporary"):
            con.execute("CREATE ANONYMIZED VIEW v AS POLICY p METHOD generalization")


PLACES = ("temp.main", "hospital.main", "hospital.ward", "clinic.main", "clinic.ward")
NAMES = ("t", "T", "main.t", "ward.t", "clinic.t", "hospital.t", "temp.t", "clinic.ward.t", "hospital.main.t")


@pytest.mark.long
@pytest.mark.parametrize("path", ["hospital", "hospital.ward", "clinic", "clinic.ward", "hospital.ward,clinic.ward"])
def test_a_name_means_what_duckdb_takes_it_for(path: str) -> None:
    """Wherever tables of that name stand, alone and in views and macros: as DuckDB's own plan says."""
    con = duckdb.connect()
    con.execute("ATTACH ':memory:' AS hospital; ATTACH ':memory:' AS clinic")
    con.execute("CREATE SCHEMA hospital.ward; CREATE SCHEMA clinic.ward")
    stand: set[str] = set()
    put(con, stand, PLACES)
    con.execute(f"SET search_path = '{path}'")
    names = list(NAMES)
    for place, (number, name) in product(PLACES[1:], enumerate(("t", "ward.t", "clinic.t"))):
        con.execute(f"CREATE VIEW {place}.v{number} AS FROM {name}")
        names.append(f"{place}.v{number}")
    con.execute("CREATE MACRO clinic.ward.m() AS TABLE FROM t")
    names.append("clinic.ward.m()")
    engine, told = DuckDBEngine(con), 0
    for places in (some for size in (1, 2, len(PLACES)) for some in combinations(PLACES, size)):
        put(con, stand, places)
        for name in names:
            if planned := tables_planned(con, f"FROM {name}"):
                assert [found.parts for found in engine.tables_of(f"FROM {name}")] == planned, (name, stand)
                told += 1
    assert told > 150


def put(con: duckdb.DuckDBPyConnection, stand: set[str], places: Sequence[str]) -> None:
    """Has a table t stand in each of these places, and in no other."""
    for place in stand.symmetric_difference(places):
        temporary = "TEMP " if place == "temp.main" else ""
        made = f"CREATE {temporary}TABLE {place}.t AS SELECT 1 AS a"
        con.execute(f"DROP TABLE {place}.t" if place in stand else made)
    stand.clear()
    stand.update(places)


def tables_planned(con: duckdb.DuckDBPyConnection, query: str) -> list[Any]:
    planned = str(con.execute("SELECT json_serialize_plan(?)", [query]).fetchall()[0][0])
    return [tuple(json.loads(path)) for path in re.findall(r'"is_create_index".*?"path":(\[.*?\])', planned)]


def test_the_columns_of_a_table_are_those_that_duckdb_describes() -> None:
    """Of every type, of types with names, generated and with quotes; compared with DESCRIBE, which binds the table."""
    with duckdb.connect() as con:
        con.execute("CREATE SCHEMA s; CREATE TYPE mood AS ENUM ('a', 'b''c')")
        con.execute('CREATE TYPE s.pair AS STRUCT(a INT, "b c" TEXT)')
        con.execute(
            """CREATE TABLE s."a ""table" (
                a INT, b VARCHAR COLLATE nocase, c mood, d s.pair, e DECIMAL(10, 2), f INT[3], g VARCHAR[],
                h MAP(TEXT, INT), i UNION(x INT, y TEXT), j JSON, k TIMESTAMPTZ, l BIT, m UUID,
                "N n" ENUM ('x'), o INTERVAL, p TIMETZ, q VARIANT, r AS (a + 1),
                s TEXT GENERATED ALWAYS AS (b || 'x'), t TIMESTAMP_NS, u BLOB
            )"""
        )
        described = con.execute('DESCRIBE s."a ""table"').fetchall()
        listed = sorted(con.execute(sql_file("statements", "table_columns"), ["memory", "s", 'a "table']).fetchall())
    assert [(name, type_) for name, type_, *_ in described] == [(name, type_) for _, name, type_, _ in listed]
    assert [name for _, name, _, is_generated in listed if is_generated] == ["r", "s"]
