"""Queries under `sql/` with holes: names and values are filled in as parts of the tree, and never read as SQL."""

from __future__ import annotations

import duckdb
import pytest
from sqlglot import exp

from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.build.sql_files import filled, filled_query, query_file

HOSTILE = [
    'a"b',
    "{fragment.group}",
    "{attributes}",
    "$size",
    "rows) FROM fragment; DROP TABLE people; --",
    "select",
    "über Größe",
    "group_id",
    "a.b",
    "'",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_list_of_names_is_columns_whatever_they_are_called(name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE people ({quoted} INTEGER, number INTEGER, other INTEGER)")
        database.execute("INSERT INTO people VALUES (1, 7, 1), (1, 7, 1), (2, 7, 1), (2, 8, 1), (3, 9, NULL)")
        names = {"group": ["number"], "attributes": [name, "other"]}
        query = query_file("association", "alike_in_group", tables={"fragment": "people"}, names=names)
        assert database.execute(to_sql(query)).fetchall() == [(7,)]
        assert database.execute("SELECT count(*) FROM people").fetchall() == [(5,)]


def test_a_list_may_be_empty() -> None:
    names: dict[str, list[str]] = {"group": ["g"], "attributes": []}
    query = query_file("association", "alike_in_group", names=names)
    assert to_sql(query).endswith('GROUP BY "fragment"."g" HAVING COUNT(*) > 1')


def test_a_list_of_sort_keys_keeps_the_direction() -> None:
    query = query_file("association", "located", names={"keys": ["b", "p"]}, draw=exp.null())
    assert 'ORDER BY "b" ASC NULLS LAST, "p" ASC NULLS LAST, NULL ASC NULLS LAST' in to_sql(query)


@pytest.mark.parametrize("value", ["x' OR 1 = 1 --", "$size", 'a"b', "{key}"])
def test_a_text_is_a_literal(value: str) -> None:
    query = query_file("association", "excess", names={"key": ["a"]}, index=value, k=2, count=1)
    selected = query.selects[0].unalias()
    assert selected == exp.Literal.string(value)


def test_a_tree_is_filled_in_at_each_of_its_places() -> None:
    names = {"key": ["key_0"]}
    query = query_file("association", "beginnings", names=names, beginning=column("row", "keyed"))
    assert to_sql(query).count('"keyed"."row"') == 2


def test_what_is_missing_or_too_much_is_no_query() -> None:
    with pytest.raises(KeyError):
        query_file("association", "alike_in_group", names={"group": ["g"]})
    with pytest.raises(KeyError):
        query_file("association", "excess", names={"key": ["a"]}, index=0)
    with pytest.raises(ValueError, match="too many"):
        query_file("association", "excess", names={"key": ["a", "b"]}, index=0, k=1, count=1)
    with pytest.raises(KeyError):
        query_file("association", "alike_in_group")


def test_a_table_may_be_qualified_a_query_or_named() -> None:
    tables = {"fragment": relation(("a schema", "t"))}
    query = to_sql(query_file("association", "smallest_group", tables=tables, names={"group": ["g"]}))
    assert 'FROM "a schema"."t" AS "fragment"' in query
    tables_of_query = {"fragment": exp.select("g").from_("t")}
    query = to_sql(query_file("association", "smallest_group", tables=tables_of_query, names={"group": ["g"]}))
    assert 'FROM (SELECT "g" FROM "t") AS "fragment"' in query


def test_a_list_may_have_expressions() -> None:
    names = {"keys": ["k"], "figures": [exp.func("sum", column("n")), exp.func("count", exp.Star())]}
    query = filled_query("SELECT {keys}, {figures} FROM t GROUP BY {keys}", names=names)
    assert to_sql(query) == 'SELECT "k", SUM("n"), COUNT(*) FROM "t" GROUP BY "k"'


def test_without_keys_nothing_is_grouped() -> None:
    query = filled_query("SELECT {keys}, count(*) FROM t GROUP BY {keys}", names={"keys": []})
    assert to_sql(query) == 'SELECT COUNT(*) FROM "t"'


@pytest.mark.parametrize(
    ("keys", "condition"),
    [
        ([], "TRUE"),
        (["k"], '"t"."k" IS NOT DISTINCT FROM "u"."k"'),
        (["k", 'a"b'], '"t"."k" IS NOT DISTINCT FROM "u"."k" AND "t"."a""b" IS NOT DISTINCT FROM "u"."a""b"'),
    ],
)
def test_lists_are_compared_pair_by_pair(keys: list[str], condition: str) -> None:
    text = "{t.keys} IS NOT DISTINCT FROM {u.keys}"
    assert to_sql(filled(text, names={"keys": keys})) == condition
    query = to_sql(filled_query(f"SELECT 1 FROM t JOIN u ON {text} AND t.n = u.n", names={"keys": keys}))
    assert query.endswith(f'ON {condition} AND "t"."n" = "u"."n"')


def test_an_operation_keeps_its_operands() -> None:
    either = column("a").or_(column("b"))
    assert to_sql(filled("$c AND x", c=either)) == '("a" OR "b") AND "x"'
    assert to_sql(filled("f($c)", c=either)) == 'f("a" OR "b")'
    assert to_sql(filled("$n * 2", n=column("a") + 1)) == '("a" + 1) * 2'
    assert to_sql(filled("$n", n=column("a") + 1)) == '"a" + 1'


def test_a_call_becomes_what_its_function_makes() -> None:
    calls = {"point_of": lambda value: exp.Cast(this=value, to=exp.DataType.build("HUGEINT"))}
    assert to_sql(filled("point_of(point_of(low) + 1)", calls=calls)) == ('CAST(CAST("low" AS INT128) + 1 AS INT128)')
    assert to_sql(filled("other(low)", calls=calls)) == 'other("low")'
