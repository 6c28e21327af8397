"""ESTIMATE from anatomized releases by example: one and several sensitive columns, exports, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlanon import Connection, connect
from sqlanon.errors import DataError, PolicyError, PrivacyViolation, UserError
from sqlanon.estimates.fixed_sql import sizes
from tests.support.database import template
from tests.support.estimates.figures import figures_of

# Of 24 people of twelve ages all are in one bucket: each "dis ease" has 8, each value of the other column 6.
SOURCE = """
CREATE TABLE t AS SELECT i % 12 AS "a ge", ['x', 'y', 'z'][1 + i % 3] AS "dis ease", 10 * (i % 4) AS "value",
    CASE WHEN i % 2 = 0 THEN 'even' END AS "select" FROM range(24) AS r(i);
CREATE POLICY two ON t ("a ge" QUASI IDENTIFIER, "dis ease" SENSITIVE, "value" SENSITIVE, "select" INSENSITIVE)
REQUIRE k_anonymity(k => 24);
CREATE POLICY one ON t ("a ge" QUASI IDENTIFIER, "dis ease" SENSITIVE, "value" INSENSITIVE)
REQUIRE k_anonymity(k => 24);
CREATE ANONYMIZED TABLE "re lease" AS POLICY two METHOD anatomy(l => 3);
CREATE ANONYMIZED TABLE single AS POLICY one METHOD anatomy(l => 3);
"""


@pytest.fixture
def con() -> Connection:
    return template(SOURCE)


def asked(con: Connection, query: str, release: str = '"re lease"') -> list[Any]:
    return figures_of(con.sql(f"ESTIMATE {query} FROM RELEASE {release}"))


@pytest.mark.long
def test_one_sensitive_column(con: Connection) -> None:
    """Eight of the 24 rows match; eight of the 24 values do, so that no more than eight rows satisfy."""
    where = 'WHERE "a ge" < 4 AND "dis ease" = \'x\''
    assert asked(con, f"SELECT count(*) FROM t {where}", "single") == [
        (pytest.approx(8 / 3), pytest.approx((8 * 2 / 9) ** 0.5), 0, 8)
    ]
    # Of 22 rows that match and 16 values that do, 14 coincide at least.
    ((_, _, low, high),) = asked(con, 'SELECT count(*) FROM t WHERE "a ge" < 11 AND "dis ease" <> \'z\'', "single")
    assert (low, high) == (22 + 16 - 24, 16)


@pytest.mark.long
def test_two_sensitive_columns_are_independent(con: Connection) -> None:
    query = 'SELECT count(*), sum("a ge") FROM t WHERE "dis ease" = \'x\' AND "value" >= 20 AND "select" = \'even\''
    ((count, _, low, high, total, *_),) = asked(con, query)
    assert count == pytest.approx(12 * (1 / 3) * (1 / 2))
    assert (low, high) == (0, 8)
    assert total == pytest.approx(sum(2 * (i % 6) for i in range(12)) / 6)


@pytest.mark.long
def test_sensitive_columns_alone_are_exact_and_of_two_tables_are_not(con: Connection) -> None:
    groups = asked(con, 'SELECT "value", count(*) FROM t GROUP BY "value"')
    assert groups == [(value, 6.0, 0.0, 6, 6) for value in (0, 10, 20, 30)]
    ((count, spread, low, high),) = asked(con, 'SELECT count(*) FROM t WHERE "dis ease" = \'x\' AND "value" = 0')
    assert count == pytest.approx(24 / 12)
    assert spread > 0
    assert (low, high) == (0, 6)
    assert asked(con, 'SELECT avg("value") FROM t')[0][:4] == (15.0, 0.0, 15.0, 15.0)


@pytest.mark.long
def test_sensitive_columns_alone_are_exact_with_lookups_and_having(con: Connection) -> None:
    """What a joined table and HAVING add is known of a value too, whether or not their columns are qualified."""
    con.execute(
        "CREATE TABLE costs AS SELECT * FROM (VALUES (0, 7, 'low'), (20, 9, 'high')) AS c(\"of\", price, class)"
    )
    for class_, price in (("class", "price"), ("costs.class", "costs.price")):
        query = f'SELECT {class_}, sum({price}) AS s FROM t JOIN costs ON t."value" = costs."of" GROUP BY {class_}'
        assert asked(con, query) == [("high", 54.0, 0.0, 54.0, 54.0), ("low", 42.0, 0.0, 42.0, 42.0)]
        for having in ("s > 50", f"sum({price}) > 50"):
            assert asked(con, f"{query} HAVING {having}") == [("high", 54.0, 0.0, 54.0, 54.0)]
        assert asked(con, f"{query} HAVING count(*) > 6") == []


def test_what_is_not_dealt_is_exact(con: Connection) -> None:
    assert asked(con, 'SELECT count("select"), sum("a ge") FROM t WHERE "a ge" BETWEEN 3 AND 5')[0][:4] == (2, 0, 2, 2)


def test_a_comparison_of_a_dealt_value_with_one_of_the_row_is_refused(con: Connection) -> None:
    with pytest.raises(PolicyError, match="not known together"):
        asked(con, 'SELECT count(*) FROM t WHERE "value" > "a ge"')
    with pytest.raises(PolicyError, match="not known together"):
        asked(con, 'SELECT count(*) FROM t WHERE length("dis ease") > "value"')


@pytest.mark.long
@pytest.mark.one_in(2)
@pytest.mark.parametrize("format_", ["parquet", "csv"])
def test_an_export_says_the_same(con: Connection, tmp_path: Path, format_: str) -> None:
    con.execute(f"EXPORT \"re lease\" TO '{tmp_path}/out/' (FORMAT {format_})")
    files = sorted((tmp_path / "out").glob(f"*.{format_}"))
    assert len(files) == 3
    queries = (
        'SELECT count(*) FROM t WHERE "a ge" < 4 AND "dis ease" = \'x\'',
        'SELECT "dis ease", sum("value"), count(*) FROM t WHERE "a ge" > 3 GROUP BY "dis ease"',
        'SELECT "value" + 1 AS v, count(*) FROM t WHERE "select" IS NULL GROUP BY v',
    )
    with connect() as empty:
        for query in queries:
            for path in (tmp_path / "out" / "certificate.json", *files):
                assert asked(empty, query, f"'{path}'") == [pytest.approx(row) for row in asked(con, query)]


def test_files_that_are_missing_or_changed(con: Connection, tmp_path: Path) -> None:
    con.execute(f"EXPORT single TO '{tmp_path}/out/'")
    values = tmp_path / "out" / "single_sensitive.parquet"
    bytes_ = values.read_bytes()
    values.write_bytes(bytes_ + b"x")
    with pytest.raises(PrivacyViolation, match="is not the file"):
        asked(con, "SELECT count(*) FROM t", f"'{tmp_path}/out/single_qi.parquet'")
    values.unlink()
    with pytest.raises(UserError, match="there is no file"):
        asked(con, "SELECT count(*) FROM t", f"'{tmp_path}/out/certificate.json'")
    (tmp_path / "out" / "certificate.json").unlink()
    with pytest.raises(UserError, match="one of several files"):
        asked(con, "SELECT count(*) FROM t", f"'{tmp_path}/out/single_qi.parquet'")


def test_a_release_that_was_changed(con: Connection) -> None:
    con.execute("DELETE FROM single_sensitive WHERE value = 'x'")
    for query in ('SELECT count(*) FROM t WHERE "a ge" < 3 AND "dis ease" = \'y\'',):
        with pytest.raises(DataError, match="do not have as many values as rows"):
            asked(con, query, "single")
    con.execute("DROP TABLE single_sensitive")
    with pytest.raises((UserError, PrivacyViolation), match="gone"):
        asked(con, "SELECT count(*) FROM t", "single")


def test_an_empty_release() -> None:
    con = connect(config={"threads": "1"})
    con.execute(
        "CREATE TABLE t (a INTEGER, s VARCHAR); "
        "CREATE POLICY p ON t (a QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 2); "
        "CREATE ANONYMIZED TABLE r AS POLICY p METHOD anatomy(l => 2)"
    )
    assert asked(con, "SELECT count(*), sum(a) FROM t WHERE s = 'x' AND a > 1", "r") == [
        (0.0, 0.0, 0, 0, None, None, None, None)
    ]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("bits", "k"),
    [
        (sizes().code_bits, 2),
        ((8, 12), 2),
        ((1, 1), 2),
        ((36, 42), 2),
        # Buckets have more rows than 6 bits can count, and not more than 7 bits can.
        ((36, 42), 100),
        ((36, 36), 100),
    ],
)
def test_buckets_that_are_alike_are_asked_once(bits: tuple[int, int], k: int) -> None:
    """With too few bits for a count, or none, they are asked one by one, and come to the same."""
    rows = [(None if i % 5 == 1 else i % 7, "abcdef"[(i * i + i // 7) % 6]) for i in range(1200)]
    con = connect(config={"threads": "1"})
    con.execute("CREATE TABLE t (age INTEGER, disease VARCHAR)")
    con.duckdb.executemany("INSERT INTO t VALUES (?, ?)", rows)
    con.execute(
        f"CREATE POLICY p ON t (age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => {k});"
        "CREATE ANONYMIZED TABLE r AS POLICY p METHOD anatomy(l => 3)"
    )
    ages: dict[int, list[int | None]] = {}
    values: dict[int, list[str]] = {}
    for bucket, age in con.duckdb.execute("SELECT bucket, age FROM r_qi").fetchall():
        ages.setdefault(bucket, []).append(age)
    for bucket, value, count in con.duckdb.execute("SELECT bucket, value, count FROM r_sensitive").fetchall():
        values.setdefault(bucket, []).extend([value] * count)
    matching = [
        (sum(a is not None and a < 3 for a in ages[b]), sum(v in "ab" for v in values[b]), len(ages[b])) for b in ages
    ]
    shares = [(m, s / n) for m, s, n in matching]
    # 400 buckets have few kinds: what they come to is asked of these.
    most = 200 if bits == sizes().code_bits else sizes().max_combinations
    with sizes.replaced(max_combinations=most, code_bits=bits):
        query = "SELECT count(*) FROM t WHERE age < 3 AND disease IN ('a', 'b')"
        ((estimate, spread, low, high),) = asked(con, query, "r")
    assert estimate == pytest.approx(sum(m * p for m, p in shares))
    assert spread == pytest.approx(sum(m * p * (1 - p) for m, p in shares) ** 0.5)
    assert low == sum(max(0, m + s - n) for m, s, n in matching)
    assert high == sum(min(m, s) for m, s, _ in matching)


@pytest.mark.parametrize("rows", [300, 5000])
def test_many_nulls_in_a_bucket_fit_no_code_and_are_counted(rows: int) -> None:
    """Nine kinds of rows and nine of values; the last, of which all values are, would need more than 128 bits."""
    con = connect(config={"threads": "1"})
    con.execute(
        f"CREATE TABLE t AS SELECT i % 7 AS a, i % 5 AS b, CAST(NULL AS VARCHAR) AS s FROM range({rows}) AS r(i); "
        f"CREATE POLICY p ON t (a QUASI IDENTIFIER, b QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => {rows}); "
        "CREATE ANONYMIZED TABLE r AS POLICY p METHOD mondrian(publish => 'none')"
    )
    query = "SELECT count(*) FROM t WHERE (s = 'x' AND a < 3) OR (s > 'y' AND b < 2)"
    assert asked(con, query, "r") == [(0.0, 0.0, 0, 0)]
