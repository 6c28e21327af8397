"""A script for Spark makes the rows there that the release has in DuckDB, and publishes nothing if the check fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import sqlglot
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from sqlanon.engines.spark import SparkEngine
from sqlanon.sql.sizes import sizes
from tests.support.names import quoted
from tests.support.warehouses import (
    BUCKET_COLUMNS,
    BUCKETS,
    CONFIDENTIAL,
    MODELS,
    REGION_COLUMNS,
    REGIONS,
    TABLE,
    Column,
    as_texts,
    assert_buckets,
    columns_for,
    crossed,
    finite,
    made,
    random_rows,
    released,
    replace_rows,
    script,
    skewed_rows,
)

pytestmark = pytest.mark.spark

SOURCE, TARGET = ("clinic", "patients"), ("published", "release")


def statements(text: str) -> list[str]:
    """The statements of a script, parted as Spark's own shell does it: at semicolons outside of texts and comments."""
    starts, parts = 0, []
    for token in sqlglot.tokenize(text, dialect="spark"):
        if token.token_type is sqlglot.TokenType.SEMICOLON:
            parts.append(text[starts : token.start])
            starts = token.end + 1
    return parts


def run(session: SparkSession, text: str) -> None:
    for statement in statements(text):
        session.sql(statement).collect()


@pytest.fixture
def schemas(spark: SparkEngine) -> Iterator[SparkSession]:
    session = spark.connection
    for name in ("clinic", "published", "private"):
        session.sql(f"CREATE DATABASE {name}")
    yield session
    for name in ("clinic", "published", "private"):
        session.sql(f"DROP DATABASE {name} CASCADE")
    session.catalog.clearCache()


PLACES = {"source": SOURCE, "target": TARGET, "staging": ("private",)}


def published(session: SparkSession) -> Counter[tuple[Any, ...]]:
    rows = session.table("published.`release`")
    kinds = [f"CAST(`{name.replace('`', '``')}` AS STRING)" for name in rows.columns]
    return as_texts([tuple(row) for row in rows.selectExpr(*kinds).collect()])


@pytest.mark.parametrize("seed", [2, 9])
def test_rows_are_those_of_duckdb(schemas: SparkSession, seed: int) -> None:
    model = MODELS[seed]
    columns = finite(columns_for(model))
    rows = random_rows(seed, 60, columns)
    # As many rounds as are needed here: each is many steps.
    with sizes.replaced(guard_rounds=2):
        con = made(rows, model, columns)
        text = script(con, "spark", **PLACES)
    replace_rows(con, [*rows[::2], *random_rows(seed + 100, 40, columns, later=True)])
    source = con.duckdb.sql(f"FROM {quoted(TABLE)}").to_arrow_table()
    schemas.createDataFrame(source).write.saveAsTable("clinic.patients")
    # Tables of texts would have other rows where a value has a line break.
    schemas.conf.set("spark.sql.sources.default", "csv")
    try:
        run(schemas, text)
    finally:
        schemas.conf.unset("spark.sql.sources.default")
    assert published(schemas) == released(con)
    assert 0 < sum(published(schemas).values()) < source.num_rows
    assert schemas.sql("SHOW TABLES IN private").filter("NOT isTemporary").count() == 0


def test_rows_lie_in_the_regions_in_which_duckdb_places_them(schemas: SparkSession) -> None:
    method, model = REGIONS[1]
    columns = finite(REGION_COLUMNS)
    rows = random_rows(1, 240, columns)
    con = made(rows, model, columns, method=method)
    text = script(con, "spark", **PLACES)
    replace_rows(con, rows[::2])
    of_old_combinations = sum(released(con).values())
    replace_rows(con, [*rows[::2], *crossed(rows, 1, 200), *random_rows(101, 40, columns, later=True)])
    source = con.duckdb.sql(f"FROM {quoted(TABLE)}").to_arrow_table()
    schemas.createDataFrame(source).write.saveAsTable("clinic.patients")
    run(schemas, text)
    assert published(schemas) == released(con)
    assert of_old_combinations < sum(published(schemas).values()) < source.num_rows


def test_rows_are_dealt_out_to_buckets(schemas: SparkSession) -> None:
    method, model, wanted = BUCKETS[1]
    columns = finite(BUCKET_COLUMNS)
    con = made(skewed_rows(1, 90, columns), model, columns, kind="TABLE", method=method)
    replace_rows(con, skewed_rows(2, 145, columns))
    source = con.duckdb.sql(f"FROM {quoted(TABLE)}").to_arrow_table()
    schemas.createDataFrame(source).write.saveAsTable("clinic.patients")
    run(schemas, script(con, "spark", **PLACES))

    def texts(table: str, last: str | None = None) -> list[tuple[Any, ...]]:
        rows = schemas.table(table)
        names = [name.replace("`", "``") for name in sorted(rows.columns, key=lambda name: name == last)]
        return [tuple(row) for row in rows.selectExpr(*(f"CAST(`{name}` AS STRING)" for name in names)).collect()]

    exact, values = texts("published.release_qi"), texts("published.release_sensitive")
    assert_buckets(exact, values, texts("clinic.patients", last="dis'ease"), wanted)
    assert len({bucket for bucket, _, _ in values}) > 2
    assert schemas.sql("SHOW TABLES IN private").filter("NOT isTemporary").count() == 0


def test_fragments_have_the_rows_of_the_source(schemas: SparkSession) -> None:
    columns = finite(BUCKET_COLUMNS)
    con = made(random_rows(1, 60, columns), CONFIDENTIAL, columns, kind="TABLE", method="fragments")
    source = con.duckdb.sql(f"FROM {quoted(TABLE)}").to_arrow_table()
    schemas.createDataFrame(source).write.saveAsTable("clinic.patients")
    run(schemas, script(con, "spark", **PLACES))
    shown = []
    for number in (1, 2, 3):
        rows = schemas.table(f"published.release_{number}")
        shown += rows.columns
        names = [f"`{name.replace('`', '``')}`" for name in rows.columns]
        assert Counter(rows.collect()) == Counter(schemas.table("clinic.patients").selectExpr(*names).collect())
    assert sorted(shown) == sorted(column.name for column in columns)


def test_a_source_with_another_type_than_text_is_refused(schemas: SparkSession) -> None:
    """Equal numbers may be several texts, and one respondent several."""
    columns = (
        Column("town", "VARCHAR", "QUASI IDENTIFIER", ("a", "b")),
        Column("who", "VARCHAR", "ENTITY", ("0", "1", "2")),
    )
    con = made(random_rows(4, 20, columns), "k_anonymity(k => 3)", columns)
    schemas.sql("CREATE TABLE clinic.patients AS SELECT 'a' AS town, CAST(id AS DOUBLE) AS who FROM range(9)")
    with pytest.raises(PySparkException, match="a text in the release is none there"):
        run(schemas, script(con, "spark", **PLACES))
    assert schemas.sql("SHOW TABLES IN private").filter("NOT isTemporary").count() == 0


def test_a_guard_that_lets_classes_pass_publishes_nothing(schemas: SparkSession) -> None:
    columns = finite()
    con = made(random_rows(3, 30, columns), "k_anonymity(k => 9)", columns)
    source = con.duckdb.sql(f"FROM {quoted(TABLE)}").to_arrow_table()
    schemas.createDataFrame(source).write.saveAsTable("clinic.patients")
    text = script(con, "spark", **PLACES).replace("`entities` < 9", "`entities` < 2", 1)
    parts = statements(text)
    failed = next(index for index, part in enumerate(parts) if "requirements" in part and "assert_true" in part)
    for part in parts[:failed]:
        schemas.sql(part).collect()
    with pytest.raises(PySparkException, match="do not satisfy"):
        schemas.sql(parts[failed]).collect()
    # Even a shell that goes on after an error publishes no row.
    schemas.sql(parts[failed + 1]).collect()
    assert not published(schemas)
