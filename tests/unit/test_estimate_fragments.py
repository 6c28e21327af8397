"""ESTIMATE and MEASURE on fragments and loose associations by example: figures, exports, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sqlanon import Connection, connect
from sqlanon.errors import DataError, PolicyError, PrivacyViolation, SqlanonError
from sqlanon.estimates.fixed_sql import sizes
from tests.support.database import template
from tests.support.estimates.figures import figures_of

# Ages 0 to 11 twice, each with one of three diseases and one of four values; "group_1" is a column of the source.
SOURCE = """
CREATE TABLE t AS SELECT 'r' || i AS who, i % 12 AS "a ge", i % 6 AS "group_1",
    ['x', 'y', 'z'][1 + i % 3] AS "dis ease", CASE WHEN i % 4 > 0 THEN (10.5 * (i % 4))::DECIMAL(9, 2) END AS bucket,
    DATE '2020-01-01' + i::INTEGER AS "select", 'hidden' AS secret FROM range(24) AS r(i);
CREATE POLICY p ON t (who IDENTIFIER, "a ge" QUASI IDENTIFIER, "group_1" QUASI IDENTIFIER, "dis ease" SENSITIVE,
    bucket SENSITIVE, "select" INSENSITIVE, secret INSENSITIVE)
CONFIDENTIAL (secret), ("a ge", "dis ease"), ("a ge", "select") VISIBLE ("a ge", "group_1");
"""
FRAGMENTS = 'FRAGMENTS ("a ge", "group_1"), ("dis ease", bucket), ("select")'


@pytest.fixture
def con() -> Connection:
    return template(
        f"{SOURCE}; CREATE ANONYMIZED TABLE apart AS POLICY p METHOD fragments {FRAGMENTS};"
        f"CREATE ANONYMIZED TABLE linked AS POLICY p METHOD loose(groups => (2, 1, 1), suppression => 0.5) {FRAGMENTS}"
    )


def asked(con: Connection, query: str, release: str = "apart") -> list[Any]:
    return figures_of(con.sql(f"ESTIMATE {query} FROM RELEASE {release}"))


def refused(con: Connection, query: str, release: str = "apart") -> str:
    with pytest.raises(SqlanonError) as error:
        asked(con, query, release)
    return str(error.value)


@pytest.mark.long
def test_two_fragments_that_nothing_links(con: Connection) -> None:
    """Eight of 24 rows are younger than 4, and eight have x: as with one bucket that has all rows."""
    assert asked(con, 'SELECT count(*) FROM t WHERE "a ge" < 4 AND "dis ease" = \'x\'') == [
        (pytest.approx(8 / 3), pytest.approx((8 * 2 / 9) ** 0.5), 0, 8)
    ]
    ((_, _, low, high),) = asked(con, 'SELECT count(*) FROM t WHERE "a ge" < 11 AND "dis ease" <> \'z\'')
    assert (low, high) == (22 + 16 - 24, 16)


@pytest.mark.long
def test_three_fragments_that_nothing_links(con: Connection) -> None:
    """22 rows, 16 and 20: at least 22 + 16 + 20 - 2 * 24 of them coincide."""
    ((value, _, low, high),) = asked(
        con, 'SELECT count(*) FROM t WHERE "a ge" < 11 AND "dis ease" <> \'z\' AND "select" < \'2020-01-21\''
    )
    assert value == pytest.approx(22 * (16 / 24) * (20 / 24))
    assert (low, high) == (22 + 16 + 20 - 48, 16)


@pytest.mark.long
def test_one_fragment_is_exact_and_its_columns_are_known_together(con: Connection) -> None:
    for release in ("apart", "linked"):
        ((withheld,),) = con.duckdb.execute(f"SELECT count(*) - 24 FROM {release}_1").fetchall()
        found = asked(con, 'SELECT count(*) AS n, sum("a ge") AS s FROM t WHERE "a ge" > "group_1"', release)
        rows = con.duckdb.execute(
            f'SELECT count(*)::DOUBLE, 0.0, count(*), count(*) - {withheld}, sum("a ge")::DOUBLE, 0.0 '
            f'FROM {release}_1 WHERE "a ge" > "group_1"'
        ).fetchall()
        assert [row[:6] for row in found] == rows
        assert "dis ease, a ge: what is known of them is not known together" in refused(
            con, 'SELECT count(*) FROM t WHERE "dis ease"::INTEGER > "a ge"', release
        ).replace("a ge, dis ease", "dis ease, a ge")


@pytest.mark.long
def test_groups_having_and_lookups(con: Connection) -> None:
    con.execute("CREATE TABLE names AS FROM (VALUES ('x', 'Flu'), ('y', 'Cold')) AS n(code, name)")
    query = (
        'SELECT name, count(*) AS n, min("a ge") AS a FROM t JOIN names ON t."dis ease" = names.code '
        'WHERE "a ge" < 6 GROUP BY name HAVING count(*) > 1'
    )
    assert asked(con, query) == [
        (name, pytest.approx(4.0), pytest.approx((12 * 2 / 9) ** 0.5), 0, 8, 0.0, None, 0.0, 5.0)
        for name in ("Cold", "Flu")
    ]
    found = asked(con, query, "linked")
    assert [row[0] for row in found] == ["Cold", "Flu"]
    assert all(low <= 4 <= high for _, _, _, low, high, *_ in found)


def test_other_aggregates_are_bounded_by_as_many_rows_as_satisfy(con: Connection) -> None:
    """Each age is that of two rows, and any eight rows may be those with x: the least of them are 0 to 3."""
    ((total, _, low, high),) = asked(con, 'SELECT sum("a ge") FROM t WHERE "dis ease" = \'x\'')
    assert total == pytest.approx(2 * 66 / 3)
    assert (low, high) == (2 * (0 + 1 + 2 + 3), 2 * (8 + 9 + 10 + 11))
    ((mean, _, low, high),) = asked(con, 'SELECT avg("a ge") FROM t WHERE "dis ease" = \'x\'')
    assert (mean, low, high) == (pytest.approx(5.5), 1.5, 9.5)


def test_what_no_fragment_has(con: Connection) -> None:
    con.execute('CREATE ANONYMIZED TABLE part AS POLICY p METHOD fragments FRAGMENTS ("a ge", "group_1"), ("dis ease")')
    assert "secret: no fragment has it" in refused(con, "SELECT count(*) FROM t WHERE secret = 'hidden'")
    assert "who: identifiers are not published" in refused(con, "SELECT count(*) FROM t WHERE who = 'r1'")
    assert "bucket: no fragment has it" in refused(con, "SELECT count(*) FROM t WHERE bucket > 1", "part")
    for name in ("group_id", "group_2"):
        assert f"{name}: the release has no such column" in refused(
            con, f"SELECT count(*) FROM t WHERE {name} = 1", "linked"
        )


def test_one_table_is_exact(con: Connection) -> None:
    con.execute('CREATE ANONYMIZED TABLE one AS POLICY p METHOD fragments FRAGMENTS ("a ge", "group_1")')
    assert asked(con, 'SELECT count(*) FROM t WHERE "a ge" < 4', "one") == [(8.0, 0.0, 8, 8)]
    assert asked(con, "SELECT count(*) FROM t", "one") == [(24.0, 0.0, 24, 24)]


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["apart_1", "apart_2", "apart_3", "linked_1", "linked_2", "linked_3", "linked_association"]
)
def test_a_row_less_in_one_table_is_noticed_whatever_is_asked(con: Connection, name: str) -> None:
    con.duckdb.execute(f"DELETE FROM {name} WHERE rowid = 0")
    release = name.split("_")[0]
    for where in ("", "WHERE \"dis ease\" = 'x'", 'WHERE "a ge" < 5 AND bucket > 11'):
        with pytest.raises(DataError, match=f"the tables of main.{release} do not have the same rows"):
            asked(con, f"SELECT count(*) FROM t {where}", release)
    con.execute(
        "INSERT INTO anon.workload SELECT 'w', i, 'SELECT count(*) AS n FROM t WHERE bucket > ' || i FROM range(3) r(i)"
    )
    with pytest.raises(DataError, match="do not have the same rows"):
        con.execute(f"MEASURE {release} WITH WORKLOAD w")


@pytest.mark.long
def test_rows_in_other_groups_are_noticed(con: Connection) -> None:
    for change in (
        "UPDATE linked_1 SET group_id = NULL WHERE rowid = 0",
        "UPDATE linked_2 SET group_id = (SELECT max(group_id) FROM linked_2) WHERE rowid = 0 OR rowid = 1",
        "UPDATE linked_association SET group_3 = group_3 + 100",
    ):
        con.execute(
            "CREATE OR REPLACE ANONYMIZED TABLE linked AS POLICY p "
            f"METHOD loose(groups => (2, 1, 1), suppression => 0.5) {FRAGMENTS}"
        )
        con.duckdb.execute(change)
        with pytest.raises(DataError, match="do not have the same rows"):
            asked(con, 'SELECT count(*) FROM t WHERE "a ge" < 4', "linked")


def test_groups_are_those_of_their_fragment_in_whatever_order_the_catalog_has_them(con: Connection) -> None:
    queries = [
        'SELECT count(*) FROM t WHERE "a ge" < 4 AND "dis ease" = \'x\'',
        "SELECT count(*) FROM t WHERE bucket > 11 AND \"select\" < '2020-01-09'",
    ]
    before = [rounded(con, query, "linked") for query in queries]
    con.duckdb.execute(
        "CREATE TEMP TABLE turned AS FROM anon.release_object ORDER BY object_name DESC;"
        "DELETE FROM anon.release_object; INSERT INTO anon.release_object FROM turned"
    )
    assert [rounded(con, query, "linked") for query in queries] == before


def test_too_many_combinations_are_refused(con: Connection) -> None:
    query = 'SELECT "a ge", "select", count(*) AS n FROM t GROUP BY ALL'
    # 12 ages, and 24 dates, for the rows and for the aggregate.
    with sizes.replaced(max_combinations=12 * 24 * 2):
        assert len(asked(con, query)) == 12 * 24
    refused = pytest.raises(PolicyError, match="the query tells 576 combinations of rows and values apart")
    with sizes.replaced(max_combinations=12 * 24 * 2 - 1), refused:
        asked(con, query)


QUERIES = (
    "SELECT count(*) AS n FROM t",
    'SELECT count(*) AS n FROM t WHERE bucket > 10.5 AND "select" < \'2020-01-13\' AND "group_1" BETWEEN 1 AND 4',
    'SELECT "dis ease", sum(bucket) AS s, avg("a ge") AS a FROM t WHERE "a ge" > 3 OR bucket IS NULL GROUP BY ALL',
    'SELECT max("group_1") AS m FROM t WHERE "select" = DATE \'2020-01-05\'',
)


@pytest.mark.long
@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_exported_files_say_the_same_without_the_source(con: Connection, tmp_path: Path, kind: str) -> None:
    con.execute("DROP TABLE t")
    for release in ("apart", "linked"):
        folder = tmp_path / release
        con.execute(f"EXPORT {release} TO '{folder.as_posix()}/' (FORMAT {kind})")
        certificate = f"'{(folder / 'certificate.json').as_posix()}'"
        with connect() as other:
            for query in QUERIES:
                assert rounded(other, query, certificate) == rounded(con, query, release), query
            # Any of the files stands for the release.
            last = f"'{sorted(folder.glob(f'*.{kind}'))[-1].as_posix()}'"
            assert rounded(other, QUERIES[1], last) == rounded(con, QUERIES[1], release)
            first = folder / f"{release}_1.{kind}"
            first.write_bytes(first.read_bytes()[:-1])
            with pytest.raises(PrivacyViolation, match="is not the file that"):
                asked(other, QUERIES[0], certificate)


def rounded(con: Connection, query: str, release: str) -> list[list[Any]]:
    """Doubles are added up in the order of the rows."""
    found = asked(con, query, release)
    return [[round(part, 9) if isinstance(part, float) else part for part in row] for row in found]


@pytest.mark.long
def test_a_workload_of_counts_and_of_others_is_measured(con: Connection) -> None:
    asked_of = [
        'SELECT count(*) AS n FROM t WHERE "a ge" < 4 AND "dis ease" = \'x\'',
        'SELECT count(*) AS n FROM t WHERE "a ge" < 4 OR "dis ease" = \'x\'',
        'SELECT "dis ease", avg("a ge") AS a FROM t GROUP BY ALL',
        "SELECT count(*) AS n FROM t WHERE bucket > 11",
        "SELECT count(*) AS n FROM t",
        "SELECT count(*) AS n FROM t WHERE true AND bucket > 11",
        'SELECT count(*) AS n FROM t WHERE bucket > 1000 AND "a ge" > 2',
    ]
    con.duckdb.executemany("INSERT INTO anon.workload VALUES ('w', ?, ?)", [*enumerate(asked_of)])
    for release in ("apart", "linked"):
        con.duckdb.execute("DELETE FROM anon.query_error")
        figures = {name: value for _, _, name, value in con.execute(f"MEASURE {release} WITH WORKLOAD w").fetchall()}
        assert (figures["queries"], figures["results"], figures["bounds_hit_rate"]) == (7, 9, 1)
        found = con.duckdb.execute(
            "SELECT query_id, estimated, spread, low, high FROM anon.query_error WHERE query_id <> 2 ORDER BY query_id"
        ).fetchall()
        for number, *rest in found:
            (own,) = asked(con, asked_of[number], release)
            assert rest == pytest.approx(list(own)), asked_of[number]
    con.execute("INSERT INTO anon.workload VALUES ('w', 7, 'SELECT count(*) AS n FROM t WHERE secret IS NULL')")
    figures = {name: value for _, _, name, value in con.execute("MEASURE apart WITH WORKLOAD w").fetchall()}
    assert (figures["queries"], figures["not_estimated"]) == (8, 1)
    con.execute("INSERT INTO anon.workload VALUES ('one', 1, 'SELECT count(*) AS n FROM t WHERE bucket > 11')")
    con.execute("MEASURE linked WITH WORKLOAD one")


@pytest.mark.long
def test_a_drawn_workload_is_measured(con: Connection) -> None:
    con.execute("CREATE WORKLOAD w ON POLICY p (queries => 10, dimensions => 2, selectivity => 0.3, seed => 1)")
    for release in ("apart", "linked"):
        figures = {name: value for _, _, name, value in con.execute(f"MEASURE {release} WITH WORKLOAD w").fetchall()}
        assert figures["bounds_hit_rate"] == 1


def test_a_workload_is_measured_on_one_table(con: Connection) -> None:
    con.execute('CREATE ANONYMIZED TABLE one AS POLICY p METHOD fragments FRAGMENTS ("a ge", "group_1")')
    asked_of = [f'SELECT count(*) AS n FROM t WHERE "a ge" < {least} AND "group_1" > 2' for least in range(3, 11)]
    con.duckdb.executemany("INSERT INTO anon.workload VALUES ('w', ?, ?)", [*enumerate(asked_of)])
    figures = {name: value for _, _, name, value in con.execute("MEASURE one WITH WORKLOAD w").fetchall()}
    assert (figures["not_estimated"], figures["bounds_hit_rate"], figures["relative_error_95"]) == (0, 1, 0)


@pytest.mark.long
def test_a_count_is_no_more_and_no_less_than_its_bounds() -> None:
    """Shares of many values add up to a little more or less than all: HAVING would lose a group for it."""
    with connect() as con:
        con.execute(
            "CREATE TABLE f AS SELECT ['ICU', 'ward A', 'ward B'][1 + (hash(i) % 3)::INTEGER] AS a, "
            "(hash(i * 7) % 100000) / 300.0 AS b, hash(i * 11) % 9 AS d FROM range(1005) r(i);"
            "CREATE POLICY f ON f (a QUASI IDENTIFIER, d SENSITIVE, b SENSITIVE) CONFIDENTIAL (a, d);"
            "CREATE ANONYMIZED TABLE rf AS POLICY f METHOD fragments FRAGMENTS (a), (d, b)"
        )
        every = "SELECT a, count(*) AS n, sum(b) AS s FROM f GROUP BY a"
        truth = dict(con.execute("SELECT a, count(*) FROM f GROUP BY a").fetchall())
        assert {row[0]: row[1] for row in asked(con, every, "rf")} == truth
        for least in sorted(truth.values()):
            kept = {row[0] for row in asked(con, f"{every} HAVING count(*) >= {least}", "rf")}
            assert kept == {name for name, n in truth.items() if n >= least}
