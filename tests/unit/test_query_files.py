"""Queries under `sql/` with holes: names and values are filled in as parts of the tree, and never read as SQL."""

from __future__ import annotations

import ast
from pathlib import Path

import duckdb
import pytest
from sqlglot import exp

from sqlanon.domain.values import QualifiedName
from sqlanon.sql.build.expressions import union_all
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.build.sql_files import filled, filled_query, parsed, query_file, sql_file

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


_OF_CODES = """
    SELECT row.id, "{of}".code AS "{codes}" FROM rows AS row
    LEFT JOIN "{tables}" AS "{of}" ON {row.values} IS NOT DISTINCT FROM "{of}"."{keys}" ORDER BY row.id ASC NULLS LAST
"""


@pytest.mark.parametrize("name", HOSTILE)
def test_a_list_of_relations_repeats_its_join(name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    with duckdb.connect() as database:
        database.execute("CREATE TABLE data (id INTEGER, a INTEGER, b INTEGER)")
        database.execute("INSERT INTO data VALUES (1, 5, NULL), (2, 6, 7)")
        database.execute(f"CREATE TABLE {quoted} AS SELECT 5 AS {quoted}, 50 AS code")
        tables = [QualifiedName((name,)), filled_query("SELECT NULL AS k, 90 AS code UNION ALL SELECT 7, 70")]
        query = filled_query(
            _OF_CODES,
            # A relation in a list keeps its name, even if a table of the text is called the same.
            tables={"rows": "data", name: "none"},
            names={"of": [name, "x"], "codes": ["c", "d"], "tables": tables, "values": ["a", "b"], "keys": [name, "k"]},
        )
        assert database.execute(to_sql(query)).fetchall() == [(1, 50, 90), (2, None, 70)]


def test_an_empty_list_of_relations_leaves_the_join_out() -> None:
    nothing: dict[str, list[str]] = {name: [] for name in ("of", "codes", "tables", "values", "keys")}
    query = filled_query(_OF_CODES, names=nothing)
    assert to_sql(query) == 'SELECT "row"."id" FROM "rows" AS "row" ORDER BY "row"."id" ASC NULLS LAST'


def test_each_join_has_the_conditions_of_its_own() -> None:
    same = [
        filled('{t.keys} = "{of}"."{keys}"', names={"keys": keys, "of": of})
        for keys, of in ((["a", "b"], "x"), ([], "y"))
    ]
    names = {"tables": ["u", "v"], "of": ["x", "y"]}
    query = filled_query('SELECT 1 FROM t JOIN "{tables}" AS "{of}" ON $same', names=names, same=same)
    assert to_sql(query) == (
        'SELECT 1 FROM "t" JOIN "u" AS "x" ON "t"."a" = "x"."a" AND "t"."b" = "x"."b" JOIN "v" AS "y" ON TRUE'
    )


def test_a_relation_is_read_without_another_name() -> None:
    for source in (QualifiedName(("s", "t")), relation(("s", "t"))):
        query = filled_query('SELECT {key} FROM "{source}"', names={"key": "k", "source": source})
        assert to_sql(query) == 'SELECT "k" FROM "s"."t"'


def test_what_is_missing_or_too_much_is_no_query() -> None:
    with pytest.raises(KeyError):
        query_file("association", "alike_in_group", names={"group": ["g"]})
    with pytest.raises(KeyError):
        query_file("association", "excess", names={"key": ["a"]}, index=0)
    with pytest.raises(ValueError, match="different lengths"):
        filled("{a.keys} = {b.others}", names={"keys": ["k", "l"], "others": ["m"]})
    with pytest.raises(KeyError):
        query_file("association", "alike_in_group")


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (["k", "{l}"], '"x" AND "a"."k" = "b"."k" AND "a"."{l}" = "b"."{l}"'),
        (["k"], '"x" AND "a"."k" = "b"."k"'),
        ([], '"x"'),
        ("{k}", '"x" AND "a"."{k}" = "b"."{k}"'),
    ],
)
def test_a_condition_is_repeated_for_each_name(keys: str | list[str], expected: str) -> None:
    assert to_sql(filled("x AND {a.keys} = {b.keys}", names={"keys": keys})) == expected


def test_a_condition_alone_is_repeated() -> None:
    both = '"a"."k" = "b"."k" AND "a"."l" = "b"."l"'
    assert to_sql(filled("{a.keys} = {b.keys}", names={"keys": ["k", "l"]})) == both
    query = filled_query("SELECT 1 FROM a JOIN b ON {a.keys} = {b.keys} WHERE {a.keys} > 0", names={"keys": ["k", "l"]})
    assert to_sql(query) == f'SELECT 1 FROM "a" JOIN "b" ON {both} WHERE "a"."k" > 0 AND "a"."l" > 0'
    query = filled_query("SELECT 1 FROM a JOIN b ON {a.keys} = {b.keys} WHERE {a.keys} > 0", names={"keys": []})
    assert to_sql(query) == 'SELECT 1 FROM "a" JOIN "b" ON TRUE'


def test_conditions_of_an_or_stay_in_it() -> None:
    query = filled("($parts IS NULL OR x) AND y", parts=[column("a"), column("b")])
    assert to_sql(query) == '("a" IS NULL OR "b" IS NULL OR "x") AND "y"'


def test_an_item_of_a_list_is_repeated() -> None:
    names = {"low": ["low_0", "low_1"], "end": ["e", "{low}"], "group": []}
    query = filled_query(
        'SELECT min({t.end}) AS "{low}", greatest({low}) AS most, count(*) OVER (PARTITION BY {group}) AS n, $others '
        "FROM t GROUP BY {group}",
        names=names,
        others=[column("x"), column("y")],
    )
    assert to_sql(query) == (
        'SELECT MIN("t"."e") AS "low_0", MIN("t"."{low}") AS "low_1", GREATEST("low_0", "low_1") AS "most", '
        'COUNT(*) OVER () AS "n", "x", "y" FROM "t"'
    )


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a", "b"], 'CASE "dim" WHEN 0 THEN "a" WHEN 1 THEN "b" ELSE 7 END'),
        ([], "7"),
    ],
)
def test_a_branch_of_a_case_is_repeated(names: list[str], expected: str) -> None:
    branch = filled("CASE dim WHEN $index THEN {names} ELSE 7 END", names={"names": names}, index=[*range(len(names))])
    assert to_sql(branch) == expected


def test_parameters_stay() -> None:
    assert to_sql(filled("$1 + $n", n=2)) == "$1 + 2"
    assert to_sql(filled("$1 + $n")) == "$1 + $n"


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
        (["k"], '"t"."k" IS NOT DISTINCT FROM "u"."k"'),
        (["k", 'a"b'], '"t"."k" IS NOT DISTINCT FROM "u"."k" AND "t"."a""b" IS NOT DISTINCT FROM "u"."a""b"'),
    ],
)
def test_lists_are_compared_pair_by_pair(keys: list[str], condition: str) -> None:
    text = "{t.keys} IS NOT DISTINCT FROM {u.keys}"
    assert to_sql(filled(text, names={"keys": keys})) == condition
    query = to_sql(filled_query(f"SELECT 1 FROM t JOIN u ON {text} AND t.n = u.n", names={"keys": keys}))
    assert query.endswith(f'ON {condition} AND "t"."n" = "u"."n"')


def test_a_comparison_of_no_keys_is_true() -> None:
    text = "{t.keys} IS NOT DISTINCT FROM {u.keys}"
    assert to_sql(filled(text, names={"keys": []})) == "TRUE"
    assert to_sql(filled(f"CASE WHEN {text} THEN 1 END", names={"keys": []})) == "CASE WHEN TRUE THEN 1 END"
    assert to_sql(filled(f"{text} AND t.n = u.n", names={"keys": []})) == '"t"."n" = "u"."n"'


def test_a_comparison_of_lists_is_one_condition() -> None:
    pairs = '"a"."k" = "b"."k" AND "a"."l" = "b"."l"'
    for text, expected in (
        ("NOT $pairs", f"NOT ({pairs})"),
        ("$pairs OR x", f'({pairs}) OR "x"'),
        ("CASE WHEN $pairs THEN 1 END", f"CASE WHEN {pairs} THEN 1 END"),
        ("f(x, $pairs)", f'f("x", {pairs})'),
    ):
        pair = text.replace("$pairs", "{a.keys} = {b.keys}")
        assert to_sql(filled(pair, names={"keys": ["k", "l"]})) == expected


def test_an_operation_keeps_its_operands() -> None:
    either = column("a").or_(column("b"))
    assert to_sql(filled("$c AND x", c=either)) == '("a" OR "b") AND "x"'
    assert to_sql(filled("f($c)", c=either)) == 'f("a" OR "b")'
    assert to_sql(filled("NOT $c AND x", c=either)) == 'NOT ("a" OR "b") AND "x"'
    assert to_sql(filled("$n * 2", n=column("a") + 1)) == '("a" + 1) * 2'
    assert to_sql(filled("$n", n=column("a") + 1)) == '"a" + 1'


def test_a_call_becomes_what_its_function_makes() -> None:
    calls = {"point_of": lambda value: exp.Cast(this=value, to=exp.DataType.build("HUGEINT"))}
    assert to_sql(filled("point_of(point_of(low) + 1)", calls=calls)) == ('CAST(CAST("low" AS INT128) + 1 AS INT128)')
    assert to_sql(filled("other(low)", calls=calls)) == 'other("low")'


def test_queries_with_steps_of_their_own_are_united() -> None:
    with_step = "WITH step AS (SELECT 1 AS n) SELECT n FROM step"
    both = "WITH step AS (SELECT 2 AS n) SELECT n FROM step UNION ALL SELECT n + 1 AS n FROM step"
    with duckdb.connect() as database:
        for texts in ((with_step, both), (both, with_step), (both, both)):
            query = union_all([filled_query(text) for text in texts])
            separate = [row for text in texts for row in database.execute(text).fetchall()]
            assert sorted(database.execute(to_sql(query)).fetchall()) == sorted(separate)


ROOT = Path(__file__).parents[2]
# Folders whose files are all read by query_file.
OF_METHODS = ("anatomy", "association", "lattice", "losses", "microaggregation", "partition", "slicing")


def short_texts() -> list[str]:
    """Returns the queries that are texts in modules: the constants that begin with SELECT, without parts of other
    texts and docstrings.
    """
    texts: list[str] = []
    for path in (ROOT / "sqlanon").rglob("*.py"):
        text = path.read_text()
        if "sql_files import" not in text:
            continue
        tree = ast.parse(text)
        others = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        others |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        others |= {
            id(part) for node in ast.walk(tree) if isinstance(node, ast.BinOp) for part in (node.left, node.right)
        }
        constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in others)
        texts += [node.value for node in constants if isinstance(node.value, str)]
    return [text for text in texts if text.strip().startswith("SELECT ") and not text.endswith("FROM")]


def test_each_short_query_is_one() -> None:
    texts = short_texts()
    assert len(texts) > 100
    for text in texts:
        assert isinstance(parsed(text), exp.Query), text


@pytest.mark.parametrize("folder", OF_METHODS)
def test_each_file_is_a_query_with_a_header(folder: str) -> None:
    for path in (ROOT / "sql" / folder).glob("*.sql"):
        text = sql_file(folder, path.stem)
        assert text.startswith("-- "), path
        assert isinstance(parsed(text), exp.Query), path


def test_the_greatest_of_a_list_is_not_repeated_with_each_member() -> None:
    """Each branch would compare a member with itself, so that the first one is always taken."""
    text = "SELECT CASE WHEN {sizes} = greatest({sizes}) THEN $numbers END FROM region"
    with pytest.raises(ValueError, match="a function of one list"):
        filled_query(text, tables={"region": "r"}, names={"sizes": ["a", "b"]}, numbers=[0, 1])
