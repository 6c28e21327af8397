"""Every form of source that DuckDB has words for: a query with the columns a and s, and what it reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pandas

from sqlanon import Connection, connect

__all__ = ["FORMS", "Form", "database"]

# Classes of a differ in size, and 3 has a single row. Names stand in several schemas and databases, always with other
# rows, so that a name that is looked up wrongly is seen.
MADE = """
    CREATE TABLE person AS SELECT i::INTEGER AS id, (CASE WHEN i = 0 THEN 3 ELSE i % 3 END)::INTEGER AS a
    FROM range(20) t(i);
    CREATE TABLE visit AS SELECT i::INTEGER AS id, 'flu' || i % 2 AS s FROM range(2, 20) t(i);
    CREATE TABLE stay AS SELECT id, a, 'flu' || id % 4 AS s FROM person;
    CREATE TABLE more AS SELECT 'cold' AS s, a FROM stay WHERE a > 0;
    CREATE TABLE wide AS SELECT a, 'flu' AS s1, 'cold' AS s2 FROM person;
    CREATE TABLE packed AS SELECT a, list(s) AS ss, {'a': a, 's': 'flu'} AS stay FROM stay GROUP BY a, id;
    CREATE TABLE doc AS SELECT to_json({'a': a, 's': s}) AS j FROM stay;
    CREATE TABLE computed (a INTEGER, s AS ('flu' || a));
    INSERT INTO computed SELECT a FROM person;
    CREATE TABLE "odd ""name.x" AS SELECT a, s FROM stay;
    CREATE SCHEMA ward;
    CREATE TABLE ward.person AS SELECT 7 AS a, 'ward' AS s FROM range(3);
    CREATE TABLE ward.bed AS SELECT 8 AS a, 'bed' AS s FROM range(3);
    CREATE VIEW shown AS SELECT a, s FROM person JOIN visit USING (id);
    CREATE SECURE VIEW secret AS FROM shown;
    CREATE VIEW ward.shown AS SELECT a, s FROM person;
    CREATE TEMP TABLE passing AS SELECT a, s FROM stay;
    CREATE TEMP VIEW fleeting AS SELECT a, s FROM stay;
    CREATE MACRO above(least) AS TABLE SELECT a, s FROM stay WHERE a >= least;
    CREATE MACRO told(number) AS (SELECT max(s) FROM visit WHERE id = number);
    CREATE MACRO all_of(t) AS TABLE SELECT a, s FROM query_table(t);
    CREATE MACRO nested(least) AS TABLE FROM above(least);
    CREATE MACRO files(path) AS TABLE SELECT a::INTEGER AS a, s FROM read_csv(path);
    CREATE SCHEMA clinic.ward;
    CREATE TABLE clinic.person AS SELECT 9 AS a, 'clinic' AS s FROM range(4);
    CREATE TABLE clinic.ward.bed AS SELECT 10 AS a, 'clinic bed' AS s FROM range(4);
    CREATE VIEW clinic.shown AS FROM person;
"""


class Form(NamedTuple):
    """A source. It reads `tables`, by their last two names where they are in the database itself.

    A live view can be made of it if it `lasts`.
    """

    label: str
    query: str
    tables: tuple[str, ...]
    lasts: bool = True


def database(folder: Path) -> Connection:
    """A database with all that the forms read; their files stand in `folder`, where {folder} is written."""
    connection = connect(folder / "hospital.duckdb")
    plain = connection.duckdb
    plain.execute(f"ATTACH '{folder}/clinic.duckdb' AS clinic")
    plain.execute(MADE)
    for number, condition in enumerate(("a <= 1", "a > 1")):
        for kind in ("parquet", "csv", "json"):
            plain.execute(f"COPY (SELECT a, s FROM stay WHERE {condition}) TO '{folder}/part{number}.{kind}'")
    connection.register("frame", pandas.DataFrame({"a": [1, 1, 2, 2, 2], "s": ["flu", "cold"] * 2 + ["flu"]}))
    return connection


def _forms() -> Iterable[Form]:
    yield Form("from first", "FROM stay", ("stay",))
    yield Form("a table as a query", "TABLE stay", ("stay",))
    yield Form("exclude", "SELECT * EXCLUDE (id) FROM stay", ("stay",))
    yield Form("replace", "SELECT * REPLACE (a // 2 AS a) FROM stay", ("stay",))
    yield Form("rename", "SELECT * RENAME (s1 AS s) FROM wide", ("wide",))
    yield Form("columns by pattern", "SELECT COLUMNS('^[as]$') FROM stay", ("stay",))
    yield Form("columns by lambda", "SELECT COLUMNS(lambda c: c IN ('a', 's')) FROM stay", ("stay",))
    yield Form("columns but some", "SELECT COLUMNS(* EXCLUDE (id)) FROM stay", ("stay",))
    yield Form("columns unpacked", "SELECT a, coalesce(*COLUMNS('^s[12]$')) AS s FROM wide", ("wide",))
    yield Form("prefix alias", "SELECT a: a + 1, s: upper(s) FROM stay", ("stay",))
    yield Form("join on", "SELECT a, s FROM person p JOIN visit v ON p.id = v.id", ("person", "visit"))
    yield Form("join using", "SELECT a, s FROM person JOIN visit USING (id)", ("person", "visit"))
    yield Form("left join using", "SELECT a, s FROM person LEFT JOIN visit USING (id)", ("person", "visit"))
    yield Form("right join using", "SELECT a, s FROM visit RIGHT JOIN person USING (id)", ("person", "visit"))
    yield Form("full join using", "FROM person FULL JOIN visit USING (id)", ("person", "visit"))
    yield Form("natural join", "FROM person NATURAL JOIN visit", ("person", "visit"))
    yield Form("natural left join", "FROM person NATURAL LEFT JOIN visit", ("person", "visit"))
    yield Form("semi join using", "FROM stay SEMI JOIN visit USING (id)", ("stay", "visit"))
    yield Form("anti join using", "FROM stay ANTI JOIN (FROM visit WHERE id < 9) USING (id)", ("stay", "visit"))
    yield Form("semi join on", "FROM stay b SEMI JOIN visit v ON b.id = v.id", ("stay", "visit"))
    yield Form("asof join on", "SELECT a, s FROM person p ASOF JOIN visit v ON p.id >= v.id", ("person", "visit"))
    yield Form("asof join using", "SELECT a, s FROM person ASOF JOIN visit USING (id)", ("person", "visit"))
    yield Form("asof left join", "FROM person ASOF LEFT JOIN visit USING (id)", ("person", "visit"))
    yield Form("positional join", "SELECT a, s FROM person POSITIONAL JOIN visit", ("person", "visit"))
    yield Form("cross join", "SELECT a, s FROM person CROSS JOIN (SELECT DISTINCT s FROM visit)", ("person", "visit"))
    yield Form("comma join", "SELECT a, s FROM person p, visit v WHERE p.id = v.id", ("person", "visit"))
    yield Form("self join using", "SELECT x.a, y.s FROM stay x JOIN stay y USING (id)", ("stay",))
    yield Form(
        "three joined",
        "SELECT a, m.s FROM person JOIN visit USING (id) JOIN more m USING (a)",
        ("person", "visit", "more"),
    )
    yield Form("lateral", "SELECT a, v.s FROM person p, LATERAL (FROM visit WHERE id = p.id) v", ("person", "visit"))
    yield Form("lateral unnest", "SELECT a, u.s FROM packed, UNNEST(ss) u(s)", ("packed",))
    yield Form(
        "scalar subquery",
        "SELECT a, (SELECT min(s) FROM visit v WHERE v.id = p.id) AS s FROM person p",
        ("person", "visit"),
    )
    yield Form("subquery in a condition", "FROM stay WHERE id IN (SELECT id FROM visit)", ("stay", "visit"))
    yield Form("exists", "FROM stay b WHERE EXISTS (FROM visit v WHERE v.id = b.id)", ("stay", "visit"))
    yield Form("any", "FROM stay WHERE id = ANY (SELECT id FROM visit)", ("stay", "visit"))
    yield Form("nested subqueries", "SELECT * FROM (FROM (SELECT a, s FROM stay) WHERE a < 3) x", ("stay",))
    yield Form("a table that is never read", "FROM stay WHERE true OR EXISTS (FROM ward.bed)", ("stay", "ward.bed"))
    yield Form("with", "WITH x AS (SELECT a, s FROM stay), y AS (FROM x) FROM y", ("stay",))
    yield Form("with the table's own name", "WITH stay AS (SELECT a, s FROM stay) FROM stay", ("stay",))
    yield Form("with another table's name", "WITH person AS (FROM stay) FROM person", ("stay",))
    yield Form(
        "with in another's scope",
        "SELECT a, s FROM (WITH visit AS (FROM stay) FROM visit) JOIN visit USING (s)",
        ("stay", "visit"),
    )
    yield Form("with after it is used", "WITH x AS (FROM stay), stay AS (FROM more) FROM x", ("stay", "more"))
    yield Form(
        "materialized", "WITH x AS MATERIALIZED (FROM stay) SELECT x.a, y.s FROM x JOIN x y USING (id)", ("stay",)
    )
    yield Form("not materialized", "WITH x AS NOT MATERIALIZED (FROM stay) FROM x", ("stay",))
    yield Form("columns of with", "WITH x(a, s) AS (SELECT a, s FROM stay) FROM x", ("stay",))
    yield Form(
        "recursive",
        "WITH RECURSIVE r(a, s) AS (SELECT a, s FROM stay UNION ALL SELECT a + 1, s FROM r WHERE a < 3) FROM r",
        ("stay",),
    )
    yield Form(
        "recursive with a key",
        "WITH RECURSIVE r(id, a, s) USING KEY (id) AS (SELECT id, a, s FROM stay UNION "
        "SELECT r.id, r.a + 1, r.s FROM r JOIN recurring.r AS q USING (id) WHERE r.a < 3) FROM r",
        ("stay",),
    )
    yield Form("union all", "SELECT a, s FROM stay UNION ALL SELECT a, s FROM more", ("stay", "more"))
    yield Form("union by name", "SELECT a, s FROM stay UNION BY NAME FROM more", ("stay", "more"))
    yield Form("union all by name", "SELECT a, s FROM stay UNION ALL BY NAME FROM more", ("stay", "more"))
    yield Form("except all", "SELECT a, s FROM stay EXCEPT ALL SELECT a, s FROM more", ("stay", "more"))
    yield Form("intersect all", "SELECT a FROM stay INTERSECT ALL SELECT a FROM more", ("stay", "more"))
    yield Form("qualify", "FROM stay QUALIFY row_number() OVER (PARTITION BY a ORDER BY id) < 4", ("stay",))
    yield Form(
        "named window", "SELECT a, first(s) OVER w AS s FROM stay WINDOW w AS (PARTITION BY a ORDER BY id)", ("stay",)
    )
    yield Form("group by all", "SELECT a, s, id FROM stay GROUP BY ALL", ("stay",))
    yield Form("grouping sets", "SELECT a, s FROM stay GROUP BY GROUPING SETS ((a, s), (a), (a))", ("stay",))
    yield Form("rollup", "SELECT a, s FROM stay GROUP BY ROLLUP (a, s)", ("stay",))
    yield Form("having", "SELECT a, s FROM stay GROUP BY a, s, id HAVING count(*) > 0", ("stay",))
    yield Form("distinct on", "SELECT DISTINCT ON (id) a, s FROM stay ORDER BY id", ("stay",))
    yield Form("order and limit", "SELECT a, s FROM stay ORDER BY id LIMIT 12", ("stay",))
    yield Form("order by all, limit in percent", "SELECT a, s FROM stay ORDER BY ALL LIMIT 50%", ("stay",))
    yield Form("tablesample", "SELECT a, s FROM stay TABLESAMPLE 100%", ("stay",))
    yield Form("using sample", "SELECT a, s FROM stay USING SAMPLE 100 PERCENT (bernoulli)", ("stay",))
    yield Form("values", "SELECT a, s FROM (VALUES (1, 'x'), (1, 'y'), (2, 'x')) t(a, s)", ())
    yield Form("values in with", "WITH t(a, s) AS (VALUES (1, 'x'), (1, 'y'), (2, 'x')) FROM t", ())
    yield Form("unnest", "SELECT a, unnest(ss) AS s FROM packed", ("packed",))
    yield Form("unnest a struct", "SELECT unnest(stay) FROM packed", ("packed",))
    yield Form("struct star", "SELECT stay.* FROM packed", ("packed",))
    yield Form("list comprehension", "SELECT a, [x || '!' FOR x IN ss][1] AS s FROM packed", ("packed",))
    yield Form("json", "SELECT (j->>'a')::INTEGER AS a, j->>'s' AS s FROM doc", ("doc",))
    yield Form("a computed column", "FROM computed", ("computed",))
    yield Form("range", "SELECT (i % 3)::INTEGER AS a, 'x' AS s FROM range(10) t(i)", ())
    yield Form("generate_series", "SELECT a, g AS s FROM stay, generate_series(1, a) t(g)", ("stay",))
    yield Form("unnest in from", "SELECT a, 'x' AS s FROM UNNEST([1, 1, 2]) t(a)", ())
    yield Form(
        "pivot",
        "SELECT a, s FROM (PIVOT stay ON s IN ('flu1') USING first(s) AS s GROUP BY a, id) t(a, id, s)",
        ("stay",),
    )
    yield Form("pivot alone", "PIVOT stay ON s IN ('flu1') USING count(*) GROUP BY a, id", ("stay",))
    yield Form(
        "pivot of the standard",
        "SELECT a, s, flu1 FROM (FROM stay SELECT *, s AS t) PIVOT (count(*) FOR t IN ('flu1') GROUP BY a, s, id)",
        ("stay",),
    )
    yield Form("unpivot", "SELECT a, s FROM (UNPIVOT wide ON s1, s2 INTO NAME n VALUE s)", ("wide",))
    yield Form("unpivot alone", "UNPIVOT wide ON s1, s2 INTO NAME n VALUE s", ("wide",))
    yield Form("unpivot columns", "SELECT a, s FROM (UNPIVOT wide ON COLUMNS('s.') INTO NAME n VALUE s)", ("wide",))
    yield Form("unpivot of the standard", "SELECT a, s FROM wide UNPIVOT (s FOR n IN (s1, s2))", ("wide",))
    yield Form("table macro", "FROM above(1)", ("stay",), lasts=False)
    yield Form("macro in a macro", "FROM nested(1)", ("stay",), lasts=False)
    yield Form("scalar macro", "SELECT a, told(id) AS s FROM person", ("person", "visit"), lasts=False)
    yield Form("query_table", "SELECT a, s FROM query_table('stay')", ("stay",), lasts=False)
    yield Form(
        "query_table of several", "SELECT a, s FROM query_table(['stay', 'more'], true)", ("stay", "more"), lasts=False
    )
    yield Form("query", "FROM query('SELECT a, s FROM ' || 'stay')", ("stay",), lasts=False)
    yield Form("query_table in a macro", "FROM all_of('stay')", ("stay",), lasts=False)
    yield Form("read_parquet", "FROM read_parquet('{folder}/part0.parquet')", ())
    yield Form("read_parquet of a list", "FROM read_parquet(['{folder}/part0.parquet', '{folder}/part1.parquet'])", ())
    yield Form("a pattern of files", "FROM read_parquet('{folder}/part*.parquet', union_by_name => true)", ())
    yield Form("a parquet file's name", "FROM '{folder}/part0.parquet'", ("{folder}/part0.parquet",))
    yield Form("a pattern as a name", "FROM '{folder}/*.parquet'", ("{folder}/*.parquet",))
    yield Form("read_csv", "FROM read_csv('{folder}/part0.csv', header => true, types => {'a': 'INTEGER'})", ())
    yield Form(
        "read_csv of a list",
        "FROM read_csv(['{folder}/part0.csv', '{folder}/part1.csv'], columns => {'a': 'INTEGER', 's': 'VARCHAR'})",
        (),
    )
    yield Form("a csv file's name", "SELECT a::INTEGER AS a, s FROM '{folder}/part1.csv'", ("{folder}/part1.csv",))
    yield Form("read_json", "SELECT a::INTEGER AS a, s FROM read_json('{folder}/part0.json')", ())
    yield Form(
        "a table joined with a file",
        "SELECT a, f.s FROM stay b JOIN '{folder}/part0.csv' f USING (a)",
        ("stay", "{folder}/part0.csv"),
    )
    yield Form("a file in a macro", "FROM files('{folder}/part0.csv')", (), lasts=False)
    yield Form("another schema", "FROM ward.bed", ("ward.bed",))
    yield Form("its full name", "SELECT a, s FROM hospital.main.stay", ("stay",))
    yield Form("database and table", "SELECT a, s FROM hospital.stay", ("stay",))
    yield Form("a hostile name", 'FROM "odd ""name.x"', ('odd "name.x',))
    yield Form("in other letters", "SELECT A, S FROM STAY", ("stay",))
    yield Form("a view", "FROM shown", ("person", "visit"))
    yield Form("a secure view", "FROM secret", ("person", "visit"))
    yield Form("a view of another schema", "FROM ward.shown", ("ward.person",))
    yield Form(
        "a join of views",
        "SELECT x.a, y.s FROM shown x JOIN ward.shown y ON x.s <> y.s",
        ("person", "visit", "ward.person"),
    )
    yield Form("another database", "FROM clinic.person", ("clinic.main.person",), lasts=False)
    yield Form("another database's schema", "FROM clinic.ward.bed", ("clinic.ward.bed",), lasts=False)
    yield Form("another database's view", "FROM clinic.shown", ("clinic.main.person",), lasts=False)
    yield Form("a temporary table", "FROM passing", ("temp.main.passing",), lasts=False)
    yield Form("a temporary view", "FROM fleeting", ("stay",), lasts=False)
    yield Form("a frame", "FROM frame", (), lasts=False)
    yield Form(
        "a join with another database",
        "SELECT b.a, c.s FROM stay b JOIN clinic.person c ON c.a > b.a",
        ("stay", "clinic.main.person"),
        lasts=False,
    )


FORMS = tuple(_forms())
