"""Names that break careless SQL: as tables, schemas, columns, policies, hierarchies, releases, values and labels."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import PolicyError, UserError
from tests.support.names import HOSTILE, quoted

# What sqlanon itself calls its relations and columns.
OURS = [
    "source",
    "recoded",
    "kept",
    "class_id",
    "size",
    "entities",
    "value",
    "label",
    "n",
    "key_0",
    "tree_0",
    "occurring",
    "listed",
    "equivalence_class",
    "snapshot",
    "recode_0",
    "label_0",
    "column_0",
    "token_0",
    "code",
    "level_1",
    "rank_0",
    "leaves_1",
    "low_1",
    "entity",
    "spans",
    "generalized",
    "labelled",
    "violations",
    "hierarchy",
    "release_id",
    "attribute",
    "nodes_0",
    "one",
    "released",
    "answer",
    "candidate",
]


def text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def rows(connection: Any, relation: str, *columns: str) -> Counter[tuple[Any, ...]]:
    listed = ", ".join(map(quoted, columns)) or "*"
    return Counter(connection.duckdb.execute(f"SELECT {listed} FROM {relation}").fetchall())


def satisfied(connection: Any, release: str) -> bool:
    checked = connection.sql(f"CHECK {release}").fetchall()
    return bool(checked) and all(row[-1] for row in checked)


def chunks(names: list[str], size: int) -> list[list[str]]:
    return [names[i : i + size] for i in range(0, len(names), size)]


@pytest.mark.one_in(12)
@pytest.mark.parametrize("names", chunks(HOSTILE + OURS, 15), ids=lambda names: f"{names[0][:9]!r}...")
@pytest.mark.parametrize("entity", [False, True])
def test_columns(names: list[str], entity: bool) -> None:
    """Every name is a quasi-identifier, a sensitive and an insensitive column and an entity somewhere."""
    connection = sqlanon.connect()
    columns = [f"({i % 3} + r % 2)::INTEGER AS {quoted(name)}" for i, name in enumerate(names)]
    connection.duckdb.execute(f"CREATE TABLE t AS SELECT {', '.join(columns)} FROM range(40) AS t(r)")
    quasi, others = names[::2], names[1::2]
    if entity:
        quasi, others = others, quasi
    parts = [f"{quoted(name)} QUASI IDENTIFIER MAX LEVEL 0" for name in quasi]
    parts += [f"{quoted(name)} {('SENSITIVE', 'INSENSITIVE')[i % 2]}" for i, name in enumerate(others)]
    if entity:
        parts[-1] = f"{quoted(others[-1])} ENTITY"
        published = quasi + others[:-1]
    else:
        published = quasi + others
    connection.sql(f"CREATE POLICY p ON t ({', '.join(parts)}) REQUIRE k_anonymity(k => {1 if entity else 20})")
    connection.sql("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    connection.sql("CREATE ANONYMIZED VIEW v AS POLICY p METHOD generalization")
    expected = rows(connection, "t", *published)
    assert [name for name, *_ in connection.duckdb.execute("DESCRIBE r").fetchall()] == published
    assert rows(connection, "r") == rows(connection, "v") == expected
    assert satisfied(connection, "r")
    assert satisfied(connection, "v")
    checked = connection.sql(f"CHECK t ({', '.join(map(quoted, quasi))}) REQUIRE k_anonymity(k => 2)").fetchall()
    assert checked[0][4] == min(rows(connection, "t", *quasi).values())


def whole_cycle(name: str, *, hierarchy: str, policy: str, release: str) -> None:
    """Everything that is created is named as told, used, checked and dropped again."""
    connection = sqlanon.connect()
    schema = "main" if name.lower() in ("temp", "main", "anon") else name
    if schema != "main":
        connection.duckdb.execute(f"CREATE SCHEMA {quoted(schema)}")
    table, view = f"{quoted(schema)}.{quoted(release)}", f"{quoted(schema)}.{quoted(release + ' v')}"
    source = f"{quoted(schema)}.{quoted(name)}"
    connection.duckdb.execute(
        f"CREATE TABLE {source} AS SELECT {text(name)} || (i % 3) AS {quoted(name)}, i % 4 AS {quoted(name + '2')}, "
        f"i AS {quoted(name + '3')} FROM range(24) AS t(i)"
    )
    connection.sql(
        f"CREATE HIERARCHY {quoted(hierarchy)} AS LEVELS (SELECT DISTINCT {quoted(name)}, {text(name)} FROM {source});"
        f"CREATE POLICY {quoted(policy)} ON {source} ({quoted(name + '3')} ENTITY, {quoted(name)} QUASI IDENTIFIER "
        f"USING {quoted(hierarchy)} MIN LEVEL 1, {quoted(name + '2')} SENSITIVE) REQUIRE k_anonymity(k => 2);"
        f"CREATE ANONYMIZED TABLE {table} AS POLICY {quoted(policy)} METHOD generalization;"
        f"CREATE OR REPLACE ANONYMIZED TABLE {table} AS POLICY {quoted(policy)} METHOD generalization;"
        f"CREATE ANONYMIZED VIEW {view} AS POLICY {quoted(policy)} METHOD generalization;"
        f"CREATE ANONYMIZED VIEW IF NOT EXISTS {view} AS POLICY {quoted(policy)} METHOD generalization"
    )
    expected = Counter({(name, i): 6 for i in range(4)})
    assert rows(connection, table) == rows(connection, view) == expected
    assert satisfied(connection, table)
    assert satisfied(connection, view)
    columns = f"[{text(name)}, {text(name + '2')}]"
    assert connection.duckdb.execute(f"FROM anon.k_anonymity({text(view)}, {columns})").fetchall() == [(6, 4, 24)]
    with pytest.raises(PolicyError, match="is used by"):
        connection.sql(f"DROP HIERARCHY {quoted(hierarchy)}")
    connection.sql(
        f"DROP ANONYMIZED TABLE {table}; DROP ANONYMIZED VIEW {view};"
        f"DROP POLICY {quoted(policy)}; DROP HIERARCHY {quoted(hierarchy)}"
    )
    left = connection.duckdb.execute(
        "SELECT (SELECT count(*) FROM duckdb_views() WHERE NOT internal), (SELECT count(*) FROM duckdb_tables() WHERE "
        "schema_name <> 'anon'), (SELECT count(*) FROM anon.release), (SELECT count(*) FROM anon.hierarchy_value)"
    ).fetchall()
    assert left == [(0, 1, 0, 0)]


@pytest.mark.one_in(30)
@pytest.mark.parametrize("names", chunks(HOSTILE + OURS, 3), ids=lambda names: repr(names[0][:12]))
def test_objects(names: list[str]) -> None:
    first, second, third = (names * 3)[:3]
    whole_cycle(first, hierarchy=second, policy=third, release=second + " r")


NAME = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=30)


@pytest.mark.long
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(NAME, NAME, NAME, NAME)
def test_any_names(name: str, hierarchy: str, policy: str, release: str) -> None:
    whole_cycle("x" + name, hierarchy=hierarchy, policy=policy, release="r" + release)


def test_values_and_labels() -> None:
    """Each hostile text is a value, and the label of another."""
    connection = sqlanon.connect()
    values = [*HOSTILE, *OURS, "", "\0", "NULL", "null", "é", "e\u0301"]
    connection.duckdb.execute("CREATE TABLE t (q VARCHAR, s VARCHAR); CREATE TABLE h (value VARCHAR, label VARCHAR)")
    labels = {value: values[i // 2] for i, value in enumerate(values)}
    connection.duckdb.executemany("INSERT INTO h VALUES (?, ?)", list(labels.items()))
    connection.duckdb.executemany("INSERT INTO t VALUES (?, ?)", [(value, value) for value in values for _ in "123"])
    connection.duckdb.execute("INSERT INTO t VALUES (NULL, NULL), (NULL, NULL), (NULL, NULL)")
    connection.sql("""
        CREATE HIERARCHY h AS LEVELS (SELECT * FROM h);
        CREATE POLICY p ON t (q QUASI IDENTIFIER USING h MIN LEVEL 1 MAX LEVEL 1, s SENSITIVE)
        REQUIRE k_anonymity(k => 3);
        CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
        CREATE ANONYMIZED VIEW v AS POLICY p METHOD generalization;
    """)
    expected = Counter({(label, value): 3 for value, label in labels.items()} | {(None, None): 3})
    assert rows(connection, "r") == rows(connection, "v") == expected


# DuckDB folds A to Z only: É and é are two tables and two columns, and so is every pair of such names here.
PAIRS = [("É", "é"), ("Ü", "ü"), ("Σ", "\u03c3"), ("İ", "i"), ("ẞ", "ß"), ("\u212a", "k")]


@pytest.mark.long
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("turned", [False, True])
def test_columns_that_differ_in_a_letter_beyond_z_are_two(pair: tuple[str, str], turned: bool) -> None:
    """Publishing one must not publish the other."""
    public, secret = reversed(pair) if turned else pair
    for order in ((public, secret), (secret, public)):
        connection = sqlanon.connect()
        contents = {public: "'public'", secret: "'secret'"}
        columns = ", ".join(f"{contents[name]} AS {quoted(name)}" for name in order)
        connection.duckdb.execute(f"CREATE TABLE t AS SELECT 1 AS q, {columns} FROM range(5)")
        connection.sql(f"""
            CREATE POLICY p ON t (q QUASI IDENTIFIER, {quoted(public)} INSENSITIVE) REQUIRE k_anonymity(k => 5);
            CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
            CREATE ANONYMIZED VIEW v AS POLICY p METHOD generalization;
        """)
        assert rows(connection, "r") == rows(connection, "v") == {(1, "public"): 5}


@pytest.mark.one_in(24)
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("turned", [False, True])
def test_tables_that_differ_in_a_letter_beyond_z_are_two(pair: tuple[str, str], turned: bool) -> None:
    public = pair[turned]
    connection = sqlanon.connect()
    for name in sorted(pair, reverse=turned):
        content = "public" if name == public else "secret"
        connection.duckdb.execute(f"CREATE TABLE {quoted(name)} AS SELECT '{content}' AS q FROM range(5)")
    connection.sql(f"""
        CREATE POLICY p ON {quoted(public)} (q QUASI IDENTIFIER) REQUIRE k_anonymity(k => 5);
        CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
        CREATE ANONYMIZED VIEW v AS POLICY p METHOD generalization;
    """)
    assert rows(connection, "r") == rows(connection, "v") == {("public",): 5}


def test_a_release_never_takes_the_place_of_a_table_of_a_similar_name() -> None:
    connection = sqlanon.connect()
    connection.sql("""
        CREATE TABLE t AS SELECT 1 AS q FROM range(5);
        CREATE TABLE "Mine" AS SELECT 'mine' AS q;
        CREATE POLICY p ON t (q QUASI IDENTIFIER) REQUIRE k_anonymity(k => 5);
    """)
    for name in ("mine", "MINE", '"Mine"', "main.mine", "T"):
        with pytest.raises(UserError, match="not a release"):
            connection.sql(f"CREATE OR REPLACE ANONYMIZED TABLE {name} AS POLICY p METHOD generalization")
    assert connection.sql('FROM "Mine"').fetchall() == [("mine",)]
