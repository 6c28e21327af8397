"""A script for PostgreSQL makes the rows there that the release has in DuckDB, and publishes nothing else."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import psycopg
import pytest
from psycopg import sql
from sqlglot import exp

from sqlanon.sql.sizes import sizes
from tests.support import warehouses
from tests.support.names import quoted
from tests.support.warehouses import (
    BUCKET_COLUMNS,
    BUCKETS,
    COLUMNS,
    CONFIDENTIAL,
    MODELS,
    REGION_COLUMNS,
    REGIONS,
    RELEASE,
    TABLE,
    TOWNS,
    Buckets,
    Column,
    as_texts,
    assert_buckets,
    columns_for,
    crossed,
    made,
    random_rows,
    released,
    replace_rows,
    script,
    skewed_rows,
)

SOURCE, TARGET = ("cli nic", TABLE), ("public", 're"lease')


def load(con: psycopg.Connection[Any], rows: Sequence[tuple[Any, ...]], columns: Sequence[Column] = COLUMNS) -> None:
    table = sql.Identifier(*SOURCE)
    kinds = [exp.DataType.build(column.kind, dialect="duckdb").sql(dialect="postgres") for column in columns]
    parts = [sql.SQL("{} " + kind).format(sql.Identifier(c.name)) for c, kind in zip(columns, kinds, strict=True)]
    con.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(SOURCE[0])))
    con.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(table))
    con.execute(sql.SQL("CREATE TABLE {} ({})").format(table, sql.SQL(", ").join(parts)))
    places = sql.SQL(", ").join([sql.Placeholder()] * len(columns))
    with con.cursor() as cursor:
        cursor.executemany(sql.SQL("INSERT INTO {} VALUES ({})").format(table, places), rows)


def published(con: psycopg.Connection[Any]) -> Counter[tuple[Any, ...]]:
    cursor = con.execute(sql.SQL("SELECT * FROM {} LIMIT 0").format(sql.Identifier(*TARGET)))
    names = [sql.SQL("{}::text").format(sql.Identifier(part.name)) for part in cursor.description or ()]
    query = sql.SQL("SELECT {} FROM {}").format(sql.SQL(", ").join(names), sql.Identifier(*TARGET))
    return as_texts(con.execute(query).fetchall())


def is_there(con: psycopg.Connection[Any]) -> bool:
    found = con.execute("SELECT 1 FROM information_schema.tables WHERE table_name = %s", [TARGET[1]]).fetchall()
    return bool(found)


def run(con: psycopg.Connection[Any], text: str) -> None:
    con.execute(text.encode())


@pytest.mark.parametrize("seed", range(len(MODELS)))
def test_rows_are_those_of_duckdb(postgres: str, seed: int) -> None:
    model, columns = MODELS[seed], columns_for(MODELS[seed])
    rows = random_rows(seed, 80, columns)
    # One of the models whose guard has rounds has all of them, the others as many as are needed here.
    with sizes.replaced(guard_rounds=8 if seed == len(MODELS) - 1 else 4):
        con = made(rows, model, columns)
        text = script(con, "postgres", source=SOURCE, target=TARGET)
    grown = [*rows[::2], *random_rows(seed + 100, 40, columns, later=True)]
    with psycopg.connect(postgres, autocommit=True) as there:
        load(there, grown, columns)
        run(there, text)
        replace_rows(con, grown)
        assert published(there) == released(con)
        assert released(con)


def test_rows_are_those_of_a_snapshot_and_unseen_values_are_withheld(postgres: str) -> None:
    rows = [(town, "2020-02-29", 1, 0, "94141", True, "x", "Flu", 0.5) for town in (*TOWNS, None) for _ in range(3)]
    con = made(rows, "k_anonymity(k => 3)", kind="TABLE")
    text = script(con, "postgres", source=SOURCE, target=TARGET)
    unseen = [("unseen", *rows[0][1:])] * 5
    few = [(rows[0][0], "2020-02-29", 1, 0, "9", True, "x", "Flu", 0.5)] * 2
    with psycopg.connect(postgres, autocommit=True) as there:
        load(there, [*rows, *unseen, *few])
        run(there, text)
        assert published(there) == released(con)
        assert sum(published(there).values()) == len(rows)


@pytest.mark.parametrize(("method", "model"), REGIONS)
def test_rows_lie_in_the_regions_in_which_duckdb_places_them(postgres: str, method: str, model: str) -> None:
    """Combinations that the regions were cut by, others that lie in their ranges, and values that nobody had."""
    rows = random_rows(1, 240, REGION_COLUMNS)
    with sizes.replaced(guard_rounds=4):
        con = made(rows, model, REGION_COLUMNS, method=method)
        text = script(con, "postgres", source=SOURCE, target=TARGET)
    replace_rows(con, rows[::2])
    of_old_combinations = sum(released(con).values())
    grown = [*rows[::2], *crossed(rows, 1, 200), *random_rows(101, 40, REGION_COLUMNS, later=True)]
    replace_rows(con, grown)
    assert of_old_combinations < sum(released(con).values()) < len(grown)
    with psycopg.connect(postgres, autocommit=True) as there:
        load(there, grown, REGION_COLUMNS)
        run(there, text)
        assert published(there) == released(con)


def test_regions_of_no_rows_take_no_row_in(postgres: str) -> None:
    rows = random_rows(2, 20, REGION_COLUMNS)
    con = made([], "k_anonymity(k => 2)", REGION_COLUMNS, method="mondrian")
    with psycopg.connect(postgres, autocommit=True) as there:
        load(there, rows, REGION_COLUMNS)
        run(there, script(con, "postgres", source=SOURCE, target=TARGET))
        assert not published(there)


BUCKET_TABLES = tuple((TARGET[0], f"{TARGET[1]}_{name}") for name in ("qi", "sensitive"))


def texts(con: psycopg.Connection[Any], table: Sequence[str], last: str | None = None) -> list[tuple[Any, ...]]:
    """The rows of a table as texts, the `last` column moved behind the others."""
    cursor = con.execute(sql.SQL("SELECT * FROM {} LIMIT 0").format(sql.Identifier(*table)))
    names = sorted((part.name for part in cursor.description or ()), key=lambda name: name == last)
    parts = [sql.SQL("{}::text").format(sql.Identifier(name)) for name in names]
    query = sql.SQL("SELECT {} FROM {}").format(sql.SQL(", ").join(parts), sql.Identifier(*table))
    return con.execute(query).fetchall()


@pytest.mark.parametrize(("method", "model", "wanted"), BUCKETS)
def test_rows_are_dealt_out_to_buckets(postgres: str, method: str, model: str, wanted: Buckets) -> None:
    rows = skewed_rows(1, 90, BUCKET_COLUMNS)
    con = made(rows, model, BUCKET_COLUMNS, kind="TABLE", method=method)
    text = script(con, "postgres", source=SOURCE, target=TARGET)
    other_rows = skewed_rows(2, 145, BUCKET_COLUMNS)
    dealings = set()
    with psycopg.connect(postgres, autocommit=True) as there:
        load(there, other_rows, BUCKET_COLUMNS)
        source = texts(there, SOURCE, last="dis'ease")
        for _ in range(2):
            run(there, text)
            exact, values = (texts(there, table) for table in BUCKET_TABLES)
            assert_buckets(exact, values, source, wanted)
            dealings.add(tuple(sorted(map(str, exact))))
            for table in BUCKET_TABLES:
                there.execute(sql.SQL("DROP TABLE {}").format(sql.Identifier(*table)))
        assert len(dealings) == 2
        # More than two buckets: all rows as one would satisfy, too.
        assert len({bucket for bucket, _, _ in values}) > 2
        load(there, [], BUCKET_COLUMNS)
        run(there, text)
        assert [texts(there, table) for table in BUCKET_TABLES] == [[], []]


TAMPERED = (
    'UPDATE "sqlanon_candidate" SET "bucket" = 1',
    'UPDATE "sqlanon_candidate" SET "note" = 9',
    'DELETE FROM "sqlanon_candidate" WHERE "bucket" = 1; DELETE FROM "sqlanon_candidate_value" WHERE "bucket" = 1',
    'UPDATE "sqlanon_candidate_value" SET "value" = \'other\' WHERE "value" = \'Flu\'',
    'UPDATE "sqlanon_candidate_value" SET "count" = 0 WHERE "bucket" = 1',
    'INSERT INTO "sqlanon_candidate_value" SELECT "bucket", "value", 0 FROM "sqlanon_candidate_value" LIMIT 1',
)


def test_buckets_that_are_not_what_they_should_be_are_not_published(postgres: str) -> None:
    rows = skewed_rows(1, 60, BUCKET_COLUMNS)
    con = made(rows, "k_anonymity(k => 2)", BUCKET_COLUMNS, kind="TABLE", method="anatomy(l => 2)")
    text = script(con, "postgres", source=SOURCE, target=TARGET)
    begin, check, end = text.partition("-- The check:")
    too_alike = [(*row[:-2], "Flu" if n else "Cold", row[-1]) for n, row in enumerate(rows)]
    with psycopg.connect(postgres, autocommit=True) as there:
        attempts = [(rows, f"{begin}{change};\n{check}{end}") for change in TAMPERED]
        # The tables fit together, and a requirement is violated: by what was dealt out, and by any buckets there are.
        one_value = 'UPDATE "sqlanon_dealt" SET "slot" = CASE WHEN "value" = \'Flu\' THEN 0 ELSE 1 END;\n'
        mark = "-- The buckets, each with a draw."
        attempts += [(rows, text.replace(mark, one_value + mark)), (too_alike, text)]
        for source, attempt in attempts:
            load(there, source, BUCKET_COLUMNS)
            with pytest.raises(psycopg.errors.RaiseException, match="do not satisfy the requirements"):
                run(there, attempt)
            there.execute("ROLLBACK")
            for table in BUCKET_TABLES:
                found = "SELECT 1 FROM information_schema.tables WHERE table_name = %s"
                assert not there.execute(found, [table[1]]).fetchall()


def test_respondents_are_counted_and_not_published(postgres: str) -> None:
    columns = (
        Column("__sqlanon_entity", "VARCHAR", "QUASI IDENTIFIER MIN LEVEL 0 MAX LEVEL 0", ("a", "b", None)),
        Column("who", "BIGINT", "ENTITY", (1, 2, 3, 4, 5, None)),
        Column("gone", "INTEGER", "IDENTIFIER", (1,)),
    )
    rows = random_rows(5, 30, columns)
    con = made(rows, "k_anonymity(k => 4)", columns)
    with psycopg.connect(postgres, autocommit=True) as there:
        load(there, rows, columns)
        run(there, script(con, "postgres", source=SOURCE, target=TARGET))
        assert 0 < sum(published(there).values()) < len(rows)
        assert published(there) == released(con)


def test_respondents_are_counted_in_regions(postgres: str) -> None:
    columns = (
        Column("age", "INTEGER", "QUASI IDENTIFIER", tuple(range(40))),
        Column("who", "BIGINT", "ENTITY", tuple(range(12))),
        # The name of a column with an end of a range, had the others one.
        Column("note_low", "VARCHAR", "INSENSITIVE", ("x", None)),
    )
    rows = [(n * 7 % 40, n * 5 % 12, "x" if n % 3 else None) for n in range(120)]
    con = made(rows, "k_anonymity(k => 4)", columns, method="mondrian(bounds => true)")
    fewer = [row for row in rows if row[0] < 8 or row[0] % 5 == 0]
    replace_rows(con, fewer)
    with psycopg.connect(postgres, autocommit=True) as there:
        load(there, fewer, columns)
        run(there, script(con, "postgres", source=SOURCE, target=TARGET))
        assert 0 < sum(published(there).values()) < len(fewer)
        assert published(there) == released(con)


def test_nothing_is_published_if_the_check_fails_or_the_name_is_taken(postgres: str) -> None:
    rows = random_rows(3, 40)
    con = made(rows, "k_anonymity(k => 9)")
    text = script(con, "postgres", source=SOURCE, target=TARGET)
    assert text.count('"entities" < 9') == 2
    with psycopg.connect(postgres, autocommit=True) as there:
        load(there, rows)
        with pytest.raises(psycopg.errors.RaiseException, match="do not satisfy the requirements"):
            run(there, text.replace('"entities" < 9', '"entities" < 2', 1))
        there.execute("ROLLBACK")
        # Rows that no class of the check takes in count as a failure, too.
        lost = text.replace(
            'FROM "sqlanon_candidate" AS "candidate"\nJOIN',
            'FROM (SELECT * FROM "sqlanon_candidate" LIMIT 1) AS "candidate"\nJOIN',
        )
        assert lost != text
        with pytest.raises(psycopg.errors.RaiseException, match="do not satisfy the requirements"):
            run(there, lost)
        there.execute("ROLLBACK")
        assert not is_there(there)
        there.execute(sql.SQL("CREATE TABLE {} AS SELECT 1 AS one").format(sql.Identifier(*TARGET)))
        with pytest.raises(psycopg.errors.DuplicateTable):
            run(there, text)
        there.execute("ROLLBACK")
        assert published(there) == {("1",): 1}


PLAIN = (
    Column("town", "VARCHAR", "QUASI IDENTIFIER USING towns MIN LEVEL 1 MAX LEVEL 1", tuple(TOWNS)),
    Column("who", "VARCHAR", "ENTITY", ("1", "2", "3", "4")),
    Column("to_json", "VARCHAR", "INSENSITIVE", ("x", "y")),
)


def test_no_operator_and_no_table_of_others_is_used(postgres: str) -> None:
    """Whoever may create in a schema of the search path would read the source, or say what is published."""
    model = "k_anonymity(k => 3), t_closeness(t => 0.3, distance => 'ordered')"
    rows = random_rows(11, 60, COLUMNS)
    con = made(rows, model)
    text = script(con, "postgres", source=SOURCE, target=TARGET)
    with psycopg.connect(postgres, autocommit=True) as there:
        load(there, rows)
        there.execute("SET search_path = public, pg_temp")
        there.execute("CREATE TABLE public.loot (n INTEGER)")
        pairs = [("float8", "int8"), ("float8", "numeric"), ("int4", "float8"), ("float8", "int4")]
        foreign = "CREATE FUNCTION public.{0}({1}, {2}) RETURNS {3} LANGUAGE plpgsql AS $$ BEGIN "
        foreign += "INSERT INTO public.loot VALUES (1); RETURN {4}; END $$; "
        foreign += "CREATE OPERATOR public.{5} (leftarg = {1}, rightarg = {2}, function = public.{0})"
        signs = {"*": ("float8", "1e14"), "/": ("float8", "0"), "-": ("float8", "0"), ">": ("boolean", "false")}
        for number, (left, right) in enumerate(pairs):
            for sign, (kind, value) in signs.items():
                name = f"foreign_{number}_{ord(sign)}"
                there.execute(foreign.format(name, left, right, kind, value, sign).encode())
        there.execute("CREATE TABLE public.sqlanon_kept AS SELECT i AS class_id FROM generate_series(1, 99) AS t(i)")
        there.execute("CREATE TABLE public.sqlanon_label_of_0_listed (value TEXT, label TEXT)")
        run(there, text)
        assert published(there) == released(con)
        counts = "SELECT (SELECT count(*) FROM public.loot), (SELECT count(*) FROM public.sqlanon_kept), "
        counts += "(SELECT count(*) FROM public.sqlanon_label_of_0_listed)"
        assert there.execute(counts).fetchall() == [(0, 99, 0)]


@pytest.mark.parametrize("conforming", ["on", "off"])
def test_a_value_is_no_part_of_a_statement_whatever_the_session(
    postgres: str, conforming: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = "x\\', 'y'); CREATE TABLE public.pwned AS SELECT 1; "
    hostile += "INSERT INTO \"sqlanon_label_of_0_listed\" VALUES ('z', 'y') --"
    rows, columns = [(town,) for town in (hostile, "it's") for _ in range(3)], PLAIN[:1]
    monkeypatch.setattr(warehouses, "TOWNS", {hostile: "o'n\\e", "it's": "o'n\\e"})
    con = made(rows, "k_anonymity(k => 3)", columns)
    text = script(con, "postgres", source=SOURCE, target=TARGET)
    with psycopg.connect(postgres, autocommit=True) as there:
        load(there, rows, columns)
        there.execute(f"SET standard_conforming_strings = {conforming}")
        run(there, text)
        assert published(there) == Counter({("o'n\\e",): 6}) == released(con)
        assert there.execute("SELECT to_regclass('public.pwned')").fetchall() == [(None,)]


def test_a_source_with_other_columns_is_refused(postgres: str) -> None:
    """Equal numbers may be several texts, and the name of a column that is not there may be a function's."""
    rows = [(town, str(n % 4), "x") for n, town in enumerate([*TOWNS] * 8)]
    con = made(rows, "k_anonymity(k => 3)", PLAIN)
    text = script(con, "postgres", source=SOURCE, target=TARGET)
    table = sql.Identifier(*SOURCE)
    with psycopg.connect(postgres, autocommit=True) as there:
        for change, column in (
            ("ALTER TABLE {} ALTER who TYPE NUMERIC USING who::NUMERIC", "who"),
            ("ALTER TABLE {} DROP to_json", "to_json"),
        ):
            load(there, rows, PLAIN)
            there.execute(sql.SQL(change).format(table))
            with pytest.raises(psycopg.errors.RaiseException, match=f"lacks a column .*: {column}"):
                run(there, text)
            there.execute("ROLLBACK")
            assert not is_there(there)
        load(there, rows, PLAIN)
        there.execute(sql.SQL("ALTER TABLE {} ALTER who TYPE VARCHAR(9), ALTER town TYPE TEXT").format(table))
        run(there, text)
        assert published(there) == released(con)


def test_whoever_goes_on_after_a_failed_check_gets_no_row(postgres: str) -> None:
    rows = random_rows(3, 40)
    text = script(made(rows, "k_anonymity(k => 2)"), "postgres", source=SOURCE, target=TARGET)
    lost = text.replace(
        'FROM "sqlanon_candidate" AS "candidate"\nJOIN',
        'FROM (SELECT * FROM "sqlanon_candidate" LIMIT 1) AS "candidate"\nJOIN',
    )
    checks = re.findall(r"DO \$sqlanon\$.*?\$sqlanon\$;", lost, re.DOTALL)
    assert len(checks) == 2
    assert lost != text
    with psycopg.connect(postgres, autocommit=True) as there:
        load(there, rows)
        run(there, lost.replace(checks[1], ""))
        assert not published(there)


def test_the_order_of_rows_is_drawn(postgres: str) -> None:
    columns = (Column("letter", "VARCHAR", "QUASI IDENTIFIER MIN LEVEL 0 MAX LEVEL 0", ("a", "b")),)
    rows = [("a",)] * 300 + [("b",)] * 300
    con = made(rows, "k_anonymity(k => 3)", columns)
    text = script(con, "postgres", source=SOURCE, target=TARGET)
    orders = set()
    with psycopg.connect(postgres, autocommit=True) as there:
        load(there, rows, columns)
        for _ in range(2):
            run(there, text)
            stored = "".join(r for (r,) in there.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(*TARGET))))
            assert 100 < stored[:300].count("b") < 200
            orders.add(stored)
            # And its texts are compared like others there, not by the collation of the steps.
            collations = there.execute('SELECT pg_collation_for(letter) FROM public."re""lease" LIMIT 1').fetchall()
            assert collations == [('"default"',)]
            there.execute(sql.SQL("DROP TABLE {}").format(sql.Identifier(*TARGET)))
    assert len(orders) == 2


def test_the_order_of_rows_in_buckets_tells_no_value(postgres: str) -> None:
    columns = (
        Column("who", "INTEGER", "QUASI IDENTIFIER", tuple(range(600))),
        Column("letter", "VARCHAR", "SENSITIVE", ("a", "b")),
    )
    rows = [(n, "a" if n < 300 else "b") for n in range(600)]
    con = made(rows, "k_anonymity(k => 2)", columns, kind="TABLE", method="anatomy(l => 2)")
    with psycopg.connect(postgres, autocommit=True) as there:
        load(there, rows, columns)
        run(there, script(con, "postgres", source=SOURCE, target=TARGET))
        exact, values = (
            there.execute(sql.SQL("TABLE {}").format(sql.Identifier(*t))).fetchall() for t in BUCKET_TABLES
        )
    assert 100 < sum(who < 300 for who, _ in exact[:300]) < 200
    assert 100 < sum(letter == "a" for _, letter, _ in values[:300]) < 200
    assert 100 < sum(bucket <= 150 for _, bucket in exact[:300]) < 200


def test_fragments_have_the_rows_of_the_source_in_orders_of_their_own(postgres: str) -> None:
    rows = sorted(random_rows(1, 200, BUCKET_COLUMNS), key=lambda row: str(row[-2]))
    con = made(rows[:50], CONFIDENTIAL, BUCKET_COLUMNS, kind="TABLE", method="fragments")
    text = script(con, "postgres", source=SOURCE, target=TARGET)
    tables = [(TARGET[0], f"{TARGET[1]}_{number}") for number in (1, 2, 3)]
    names = [column.name for column in BUCKET_COLUMNS]
    apart = ("dis'ease", "order by", 'sel"ect')
    shown = []
    second = con.duckdb.execute(f"DESCRIBE {quoted(RELEASE + '_2')}").fetchall()[0][0]
    with psycopg.connect(postgres, autocommit=True) as there:
        load(there, rows, BUCKET_COLUMNS)
        source = texts(there, SOURCE)
        begin, check, end = text.partition("-- The check:")
        for change in (
            'DELETE FROM "sqlanon_candidate_3"',
            f'UPDATE "sqlanon_candidate_2" SET {quoted(second)} = NULL',
            'INSERT INTO "sqlanon_candidate" TABLE "sqlanon_candidate"',
        ):
            with pytest.raises(psycopg.errors.RaiseException, match="nothing is published"):
                run(there, f"{begin}{change};\n{check}{end}")
            there.execute("ROLLBACK")
        run(there, text)
        for table in tables:
            cursor = there.execute(sql.SQL("SELECT * FROM {} LIMIT 0").format(sql.Identifier(*table)))
            columns = [part.name for part in cursor.description or ()]
            shown += columns
            assert len(set(columns) & set(apart)) == 1
            published_rows = texts(there, table)
            wanted = [tuple(row[names.index(name)] for name in columns) for row in source]
            assert Counter(published_rows) == Counter(wanted)
            assert published_rows != wanted
        assert sorted(shown) == sorted(names)
