"""ESTIMATE: known answers, types, joins, exports, and what it refuses."""

from __future__ import annotations

import json
from math import isclose, sqrt
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from sqlanon import Connection, PrivacyViolation, connect
from sqlanon.catalog.releases import seal
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import CatalogError, DataError, PolicyError, SqlanonError, StatementError, UserError
from sqlanon.estimates.query.functions import never_fails
from tests.support.database import template
from tests.support.estimates.figures import figures_of

ROOT = Path(__file__).resolve().parents[2]
PATIENTS = """
CREATE TABLE patients AS SELECT * FROM (VALUES
    (21, 'F', 'north', 'Flu', 2, 'ann'), (24, 'F', 'north', 'Cold', 3, 'bea'), (29, 'F', 'south', 'Flu', 4, 'cat'),
    (31, 'M', 'south', 'Flu', 5, 'dan'), (35, 'M', 'south', 'Cold', 6, 'eli'), (38, 'M', 'north', 'Cold', 7, 'fay')
) AS t(age, sex, ward, disease, days, name);
CREATE HIERARCHY decades AS INTERVALS (10);
CREATE HIERARCHY wards AS LEVELS (SELECT * FROM (VALUES ('north', 'all'), ('south', 'all')));
CREATE POLICY clinic ON patients (
    name IDENTIFIER, age QUASI IDENTIFIER USING decades, sex QUASI IDENTIFIER,
    ward QUASI IDENTIFIER USING wards MIN LEVEL 1, disease SENSITIVE, days INSENSITIVE
) REQUIRE k_anonymity(k => 3);
CREATE ANONYMIZED TABLE released AS POLICY clinic METHOD generalization;
DROP TABLE patients;
"""


@pytest.fixture
def clinic() -> Connection:
    """Two classes of three rows, [20,30) and [30,40); the source is gone."""
    return template(PATIENTS)


@pytest.fixture(scope="module")
def asking() -> Connection:
    """Two classes of three rows, for tests that only ask: they share the connection."""
    con = connect(config={"threads": "1"})
    con.execute(PATIENTS)
    return con


def asked(con: Connection, query: str, release: str = "released") -> list[tuple[Any, ...]]:
    return figures_of(con.sql(f"ESTIMATE {query} FROM RELEASE {release}"))


def one(con: Connection, query: str, release: str = "released") -> tuple[Any, ...]:
    (row,) = asked(con, query, release)
    return row


def rounded(rows: list[tuple[Any, ...]]) -> list[list[Any]]:
    """Doubles are added up in the order of the rows, which is not that of a file."""
    return [[round(part, 9) if isinstance(part, float) else part for part in row] for row in rows]


def refused(con: Connection, query: str, release: str = "released", kind: type[SqlanonError] = PolicyError) -> str:
    with pytest.raises(kind) as caught:
        asked(con, query, release)
    return str(caught.value)


def test_a_misspelt_column_is_answered_with_the_one_that_was_meant(asking: Connection) -> None:
    with pytest.raises(PolicyError, match="aeg: the release has no such column") as caught:
        asked(asking, "SELECT count(*) FROM patients WHERE aeg < 34", "released")
    assert caught.value.hint == "did you mean age?"


def test_a_count_by_hand(asking: Connection) -> None:
    """4 of the 10 ages from 30 to 39 are below 34: 3 rows with p = 0.4 each, and 3 certain ones."""
    value, spread, low, high = one(asking, "SELECT count(*) AS n FROM patients WHERE age < 34")
    assert (value, low, high) == (pytest.approx(3 + 1.2), 3, 6)
    assert isclose(spread, sqrt(3 * 0.4 * 0.6))


def test_columns_that_are_combined_are_independent(asking: Connection) -> None:
    """Half of the wards, and 4 of 10 ages, of 3 rows, 2 of them with a cold."""
    query = "SELECT count(*) AS n FROM patients WHERE age >= 36 AND ward = 'south' AND disease = 'Cold'"
    value, spread, low, high = one(asking, query)
    assert (value, low, high) == (pytest.approx(2 * 0.2), 0, 2)
    assert isclose(spread, sqrt(2 * 0.2 * 0.8))


def test_conditions_on_one_column_are_one_condition(asking: Connection) -> None:
    value, _, low, high = one(asking, "SELECT count(*) AS n FROM patients WHERE NOT (age < 25 OR age >= 30)")
    assert (value, low, high) == (pytest.approx(1.5), 0, 3)
    contradiction = one(asking, "SELECT count(*) AS n FROM patients WHERE age < 25 AND age > 27")
    assert contradiction == (0.0, 0.0, 0, 0)


def test_a_sum_and_a_mean_by_hand(asking: Connection) -> None:
    """Ages from 20 to 29 have the mean 24.5 and the variance 8.25."""
    row = one(
        asking, "SELECT sum(age) AS s, avg(age) AS a, min(age) AS least, max(age) AS most FROM patients WHERE age < 30"
    )
    assert row[:4] == (pytest.approx(73.5), pytest.approx(sqrt(3 * 8.25)), 60, 87)
    assert row[4:8] == (pytest.approx(24.5), pytest.approx(sqrt(3 * 8.25) / 3), 20, 29)
    assert row[8:] == (pytest.approx(24.5), None, 20, 29, pytest.approx(24.5), None, 20, 29)


def test_what_is_published_as_it_is_is_exact(asking: Connection) -> None:
    query = "SELECT disease, count(*) AS n, sum(days) AS d FROM patients WHERE sex = 'F' GROUP BY disease"
    assert asked(asking, query) == [
        ("Cold", 1.0, 0.0, 1, 1, 3.0, 0.0, 3.0, 3.0),
        ("Flu", 2.0, 0.0, 2, 2, 6.0, 0.0, 6.0, 6.0),
    ]


def test_groups_of_a_generalized_column_are_its_leaves(asking: Connection) -> None:
    query = "SELECT age, count(*) AS n FROM patients WHERE age BETWEEN 28 AND 30 GROUP BY age"
    assert [(row[0], row[1], row[3:]) for row in asked(asking, query)] == [
        (28, pytest.approx(0.3), (0, 3)),
        (29, pytest.approx(0.3), (0, 3)),
        (30, pytest.approx(0.3), (0, 3)),
    ]
    by_ward = "SELECT ward AS w, count(*) AS n FROM patients GROUP BY ALL HAVING count(*) > 2 AND avg(days) > 1"
    assert [row[:2] for row in asked(asking, by_ward)] == [("north", pytest.approx(3)), ("south", pytest.approx(3))]


@pytest.mark.long
def test_a_lookup_table(clinic: Connection) -> None:
    clinic.execute("CREATE TABLE homes AS SELECT * FROM (VALUES ('north', 'up'), ('south', 'down')) AS t(ward, side)")
    clinic.execute("CREATE TABLE bands AS SELECT i AS age, i // 5 AS band FROM range(20, 35) AS t(i)")
    query = (
        "SELECT count(*) AS n FROM patients p JOIN homes h ON p.ward = h.ward WHERE h.side = 'up' AND disease = 'Flu'"
    )
    assert one(clinic, query)[0] == pytest.approx(1.5)
    banded = "SELECT band, count(*) AS n FROM patients JOIN bands USING (age) GROUP BY band"
    assert [row[:2] for row in asked(clinic, banded)] == [
        (4, pytest.approx(1.5)),
        (5, pytest.approx(1.5)),
        (6, pytest.approx(1.5)),
    ]
    clinic.execute("INSERT INTO homes VALUES ('north', 'left')")
    assert "several rows for one ward" in refused(clinic, query)


@pytest.mark.one_in(12)
@pytest.mark.parametrize(
    ("kind", "hierarchy", "values", "where", "share"),
    [
        ("DATE", "CALENDAR (YEAR)", ("2023-02-01", "2023-11-30"), "x < DATE '2023-02-01'", 31 / 365),
        ("DATE", "CALENDAR (QUARTER)", ("2024-04-01", "2024-06-30"), "x >= '2024-06-01'", 30 / 91),
        ("DATE", "CALENDAR (DAY, WEEK) ", ("2021-01-01", "2020-12-31"), "x >= '2021-01-01'", 3 / 7),
        (
            "TIMESTAMP",
            "CALENDAR (DAY)",
            ("2023-02-01 01:00:00", "2023-02-01 23:00:00"),
            "x < '2023-02-01 06:00:00'",
            0.25,
        ),
        ("DOUBLE", "INTERVALS (10)", ("1.5", "9.25"), "x < 2.5", 0.25),
        ("DECIMAL(9,2)", "INTERVALS (1)", ("1.50", "1.25"), "x < 1.25", 0.25),
        ("INTEGER", "INTERVALS (10)", ("-1", "-9"), "x > -2.5", 0.2),
        ("BIGINT", "PREFIXES (1)", ("120", "199"), "x < 125", 0.25),
        ("INTEGER", "PREFIXES (2)", ("-120", "-199"), "x > -150", 0.5),
        ("VARCHAR", "PREFIXES (2)", ("4711", "4722"), "x LIKE '471%'", 0.1),
    ],
)
def test_shares_of_labels(kind: str, hierarchy: str, values: tuple[str, str], where: str, share: float) -> None:
    con = connect()
    con.execute(f"CREATE TABLE t (x {kind})")
    con.duckdb.execute("INSERT INTO t VALUES (?), (?)", list(values))
    level = 2 if "WEEK" in hierarchy else 1
    con.execute(
        f"CREATE HIERARCHY h AS {hierarchy}; CREATE POLICY p ON t (x QUASI IDENTIFIER USING h "
        f"MIN LEVEL {level} MAX LEVEL {level}) REQUIRE k_anonymity(k => 2); "
        "CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization; DROP TABLE t"
    )
    assert one(con, f"SELECT count(*) AS n FROM t WHERE {where}", "r") == (
        pytest.approx(2 * share),
        pytest.approx(sqrt(2 * share * (1 - share))),
        0,
        2,
    )
    assert one(con, f"SELECT count(*) AS n FROM t WHERE ({where}) OR x IS NOT NULL", "r")[0] == 2.0


@pytest.mark.long
def test_withheld_rows_widen_what_they_may_change(clinic: Connection) -> None:
    con = connect()
    con.execute(
        "CREATE TABLE t AS SELECT 'a' AS q, 5 AS v FROM range(9) UNION ALL SELECT 'b', 7; "
        "CREATE POLICY p ON t (q QUASI IDENTIFIER, v SENSITIVE) REQUIRE k_anonymity(k => 2); "
        "CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 0.1)"
    )
    assert one(con, "SELECT count(*) AS n FROM t", "r") == (9.0, 0.0, 9, 10)
    assert one(con, "SELECT sum(v) AS n, avg(v) AS a, min(v) AS l, max(v) AS m FROM t", "r") == (
        *(45.0, 0.0, None, None),
        *(5.0, 0.0, None, None),
        *(5.0, None, None, 5.0),
        *(5.0, None, 5.0, None),
    )
    con.execute("CREATE ANONYMIZED VIEW w AS POLICY p METHOD generalization(suppression => 0.1)")
    assert one(con, "SELECT count(*) AS n FROM t", "w") == (9.0, 0.0, 9, None)


def test_a_suppressed_column_says_nothing_and_is_not_guessed() -> None:
    con = connect()
    con.execute(
        "CREATE TABLE t AS SELECT i AS q FROM range(4) AS t(i); "
        "CREATE POLICY p ON t (q QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2); CREATE ANONYMIZED TABLE r AS POLICY p "
        "METHOD generalization"
    )
    assert one(con, "SELECT count(*) AS n, sum(q) AS s FROM t WHERE q < 2", "r") == (
        *(None, None, 0, 4),
        *(None, None, None, 4),
    )
    assert one(con, "SELECT count(*) AS n FROM t WHERE q < 2 OR q >= 2 OR q IS NULL", "r") == (4.0, 0.0, 4, 4)
    # A count does not depend on what is added up beside it.
    assert one(con, "SELECT count(*) AS n, sum(q) AS s FROM t", "r") == (4.0, 0.0, 4, 4, None, None, None, None)


def test_an_empty_release() -> None:
    con = connect()
    con.execute(
        "CREATE TABLE t (q INTEGER, v INTEGER); CREATE HIERARCHY h AS INTERVALS (5); "
        "CREATE POLICY p ON t (q QUASI IDENTIFIER USING h, v SENSITIVE) REQUIRE k_anonymity(k => 2); "
        "CREATE ANONYMIZED TABLE r AS POLICY p METHOD mondrian"
    )
    assert one(con, "SELECT count(*) AS n, sum(v) AS s FROM t WHERE q > 1", "r") == (0.0, 0.0, 0, 0, *[None] * 4)
    assert asked(con, "SELECT v, count(*) AS n FROM t WHERE q > 1 GROUP BY v", "r") == []


REFUSED = [
    ("SELECT count(*) FROM patients WHERE name = 'ann'", "name"),
    ("SELECT count(*) FROM patients WHERE height > 3", "height"),
    ("SELECT count(*) FROM patients WHERE age > days", "age > days"),
    ("SELECT sum(age * days) FROM patients", "age * days"),
    ("SELECT count(DISTINCT age) FROM patients", "DISTINCT"),
    ("SELECT count(*) FROM patients WHERE age > (SELECT 3)", "SELECT 3"),
    ("SELECT count(*) OVER () FROM patients", "OVER"),
    ("SELECT count(*) FROM patients WHERE hash(age) = 3", "HASH(age)"),
    ("SELECT count(*) FROM patients WHERE random() < 0.5", "RANDOM()"),
    ("SELECT median(age) FROM patients", "MEDIAN(age)"),
    ("SELECT count(*) + 1 FROM patients", "COUNT(*) + 1"),
    ("SELECT age FROM patients", "age"),
    ("SELECT count(*) FROM patients ORDER BY 1", "ORDER BY"),
    ("SELECT count(*) FROM patients LIMIT 1", "LIMIT"),
    ("SELECT count(*), count(*) FROM patients", "count"),
    ("SELECT count(*) FROM staff", "staff"),
    ("SELECT count(*) FROM patients JOIN homes ON true", "homes"),
    ("SELECT count(*) FROM patients LEFT JOIN homes ON patients.ward = homes.ward", "LEFT JOIN"),
    ("SELECT count(*) FROM patients JOIN nowhere ON patients.ward = nowhere.ward", "nowhere"),
    ("SELECT max(disease) FROM patients", "disease"),
    ("SELECT count(*) FROM patients GROUP BY ROLLUP (sex)", "ROLLUP (sex)"),
    ("SELECT sex, count(*) FROM patients GROUP BY sex HAVING days > 3", "days"),
    ("SELECT count(*) FROM patients UNION SELECT 1", "UNION"),
    ("WITH p AS (SELECT 1) SELECT count(*) FROM patients", "WITH"),
]


@pytest.mark.parametrize(("query", "named"), REFUSED)
def test_what_cannot_be_estimated_is_named(asking: Connection, query: str, named: str) -> None:
    assert named in refused(asking, query)


def test_a_query_that_is_none(asking: Connection) -> None:
    assert "cannot be read" in refused(asking, "SELECT count( FROM patients WHERE )", kind=StatementError)
    with pytest.raises(StatementError, match="FROM RELEASE"):
        asking.sql("ESTIMATE SELECT count(*) FROM patients")
    with pytest.raises(UserError, match=r"no release main\.nowhere"):
        asked(asking, "SELECT count(*) FROM patients", "nowhere")


def test_values_that_are_not_known_are_not_listed() -> None:
    con = connect()
    con.execute(
        "CREATE TABLE t AS SELECT i / 7 AS x FROM range(8) AS t(i); CREATE HIERARCHY h AS INTERVALS (2); "
        "CREATE POLICY p ON t (x QUASI IDENTIFIER USING h) REQUIRE k_anonymity(k => 4); "
        "CREATE ANONYMIZED TABLE r AS POLICY p METHOD mondrian"
    )
    assert "not known" in refused(con, "SELECT x, count(*) FROM t GROUP BY x", "r")
    assert "not known" in refused(con, "SELECT count(*) FROM t WHERE round(x) = 1", "r")


def test_a_hierarchy_that_was_replaced(clinic: Connection) -> None:
    clinic.execute(
        "CREATE OR REPLACE HIERARCHY wards AS LEVELS (SELECT * FROM (VALUES ('north', 'all'), ('sea', 'all')))"
    )
    assert "was changed after" in refused(clinic, "SELECT count(*) FROM patients WHERE ward = 'north'")
    assert one(clinic, "SELECT count(*) AS n FROM patients WHERE sex = 'F'")[0] == 3.0


def test_a_label_that_nobody_made(clinic: Connection) -> None:
    clinic.execute("UPDATE released SET age = 'old' WHERE age = '[20,30)'")
    assert "below which there is no value" in refused(
        clinic, "SELECT count(*) FROM patients WHERE age > 3", kind=DataError
    )


def test_the_dates_before_infinity_are_not_equally_likely() -> None:
    with connect() as con:
        con.execute(
            "CREATE TABLE t AS SELECT CASE WHEN i % 2 = 0 THEN DATE '2020-01-01' ELSE DATE 'infinity' END AS day "
            "FROM range(20) AS r(i)"
        )
        con.execute("CREATE POLICY p ON t (day QUASI IDENTIFIER) REQUIRE k_anonymity(k => 20)")
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD mondrian")
        query = "SELECT count(*) AS n FROM t WHERE day < DATE '2020-06-01'"
        assert figures_of(con.sql(f"ESTIMATE {query} FROM RELEASE r")) == [(None, None, 0, 20)]


def test_the_order_of_an_enum_is_not_guessed() -> None:
    con = connect()
    con.execute(
        "CREATE TYPE size AS ENUM ('small', 'big'); CREATE TABLE t AS SELECT 'big'::size AS s FROM range(3); "
        "CREATE POLICY p ON t (s QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2); CREATE ANONYMIZED TABLE r AS POLICY p "
        "METHOD generalization"
    )
    assert "ENUM" in refused(con, "SELECT count(*) FROM t WHERE s > 'small'", "r")
    assert one(con, "SELECT count(*) AS n FROM t WHERE s = 'big'", "r") == (3.0, 0.0, 3, 3)
    (text,) = con.duckdb.execute("SELECT policy_json FROM anon.release").fetchone()
    assert json.loads(text)["types"] == {"s": "ENUM"}


def test_a_join_does_not_reach_the_source() -> None:
    con = connect()
    con.execute(PATIENTS.replace("DROP TABLE patients;", "CREATE VIEW seen AS SELECT name, age FROM patients;"))
    for table in ("patients", "seen"):
        query = f"SELECT count(*) FROM patients p JOIN {table} s ON p.days = s.age"
        assert "source" in refused(con, query)


def test_nothing_is_written(tmp_path: Path) -> None:
    with connect(tmp_path / "clinic.duckdb") as con:
        con.execute(PATIENTS)
    with connect(tmp_path / "clinic.duckdb", read_only=True) as con:
        assert one(con, "SELECT count(*) AS n FROM patients WHERE age < 34")[0] == pytest.approx(4.2)
        assert con.duckdb.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchone() == (0,)


@pytest.mark.long
@pytest.mark.one_in(5)
@pytest.mark.parametrize("format_", ["parquet", "csv", "duckdb", "arrow", "sqlite"])
def test_an_export_answers_without_a_database(clinic: Connection, tmp_path: Path, format_: str) -> None:
    clinic.execute(f"EXPORT released TO '{tmp_path}/out' (FORMAT {format_})")
    query = "SELECT disease, count(*) AS n, avg(days) AS d FROM patients WHERE age < 34 GROUP BY disease"
    expected = asked(clinic, query)
    for file in (f"released.{format_}", "certificate.json"):
        assert rounded(asked(connect(), query, f"'{tmp_path}/out/{file}'")) == rounded(expected)


def test_an_export_does_not_say_what_a_stored_hierarchy_lists(clinic: Connection, tmp_path: Path) -> None:
    clinic.execute(f"EXPORT released TO '{tmp_path}/out'")
    query = "SELECT count(*) AS n FROM patients WHERE ward = 'north'"
    assert one(clinic, query)[0] == pytest.approx(3)
    assert one(connect(), query, f"'{tmp_path}/out/released.parquet'") == (None, None, 0, 6)
    text = (tmp_path / "out/certificate.json").read_text(encoding="utf-8")
    assert "north" not in text
    types = {one["name"]: one["type"] for one in json.loads(text)["policy"]["attributes"]}
    assert (types["age"], types["days"], types["name"]) == ("INTEGER", "INTEGER", None)


def test_a_parquet_file_carries_what_it_needs(clinic: Connection, tmp_path: Path) -> None:
    clinic.execute(f"EXPORT released TO '{tmp_path}/one.parquet'")
    (tmp_path / "one.parquet.certificate.json").unlink()
    assert one(connect(), "SELECT count(*) AS n FROM released WHERE age < 34", f"'{tmp_path}/one.parquet'")[0] > 4


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("edited", "said"),
    [
        ({"format_version": 2}, "does not have the format 1"),
        ({"format_version": "1"}, "does not have the format 1"),
        ({"format_version": float("inf")}, "does not have the format 1"),
        ({"rows": {"suppressed": float("inf")}}, "lacks information"),
        ({"rows": {"suppressed": -1}}, "lacks information"),
        ({"columns": [{"name": "age", "type": "((", "reading": "label"}]}, "lacks information"),
        ({"columns": [{"name": "age", "type": "INTEGER", "reading": "group"}]}, "lacks information"),
        ({"columns": [{"name": "age", "type": "INTEGER", "reading": "link"}]}, "lacks information"),
        ({"columns": [{"name": "age", "type": "INTEGER", "reading": "some other"}]}, "lacks information"),
        ({"files": [5]}, "names no file"),
        ({"files": 5}, "names no file"),
    ],
)
def test_a_certificate_that_was_edited_is_refused(
    clinic: Connection, tmp_path: Path, edited: dict[str, object], said: str
) -> None:
    clinic.execute(f"EXPORT released TO '{tmp_path}/out' (FORMAT csv)")
    certificate = tmp_path / "out/certificate.json"
    stated = json.loads(certificate.read_text(encoding="utf-8"))
    certificate.write_text(json.dumps({**stated, **edited}), encoding="utf-8")
    assert said in refused(connect(), "SELECT count(*) FROM patients", f"'{certificate}'", UserError)


@pytest.mark.long
def test_files_that_do_not_belong_together(clinic: Connection, tmp_path: Path) -> None:
    query = "SELECT count(*) FROM patients"
    clinic.execute(f"EXPORT released TO '{tmp_path}/out' (FORMAT csv)")
    data, certificate = tmp_path / "out/released.csv", tmp_path / "out/certificate.json"
    text = data.read_text(encoding="utf-8")
    data.write_text(text.replace("Flu", "Fly"), encoding="utf-8")
    assert "certifies" in refused(connect(), query, f"'{data}'", PrivacyViolation)
    data.write_text(text, encoding="utf-8")
    stated = json.loads(certificate.read_text(encoding="utf-8"))
    certificate.write_text(json.dumps({**stated, "policy": {}}), encoding="utf-8")
    assert "lacks information" in refused(connect(), query, f"'{certificate}'", UserError)
    certificate.unlink()
    assert "no certificate" in refused(connect(), query, f"'{data}'", UserError)
    assert "there is no file" in refused(connect(), query, f"'{tmp_path}/none.csv'", UserError)
    assert "out is a folder" in refused(connect(), query, f"'{tmp_path}/out'", UserError)
    (tmp_path / "released.xlsx").write_text("", encoding="utf-8")
    assert "parquet or csv" in refused(connect(), query, f"'{tmp_path}/released.xlsx'", UserError)
    clinic.execute(f"EXPORT released TO '{tmp_path}/db' (FORMAT duckdb)")
    with_table = "SELECT count(*) FROM patients JOIN wards ON patients.disease = wards.disease"
    assert "the tables of this database cannot be joined" in refused(clinic, with_table, f"'{tmp_path}/db'", UserError)


@pytest.mark.long
@pytest.mark.parametrize("method", ["mondrian", "mondrian(bounds => true)", "generalization(recoding => 'local')"])
def test_an_export_of_any_method(tmp_path: Path, method: str) -> None:
    con = connect(config={"threads": "1"})
    con.execute(
        "CREATE TABLE t AS SELECT i AS x, i % 3 AS y FROM range(9) AS t(i); CREATE HIERARCHY h AS INTERVALS (3, 6); "
        "CREATE POLICY p ON t (x QUASI IDENTIFIER USING h, y SENSITIVE) REQUIRE k_anonymity(k => 3); "
        f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}; EXPORT r TO '{tmp_path}/r.csv' (FORMAT csv)"
    )
    query = "SELECT y, count(*) AS n, sum(x) AS s FROM t WHERE x < 4 GROUP BY y"
    expected = asked(con, query, "r")
    assert [row[0] for row in expected] == [0, 1, 2]
    assert rounded(asked(connect(), query, f"'{tmp_path}/r.csv'")) == rounded(expected)


def sealed(con: Connection) -> None:
    """Has the release's digest say what its rows say now, as a release made otherwise would."""
    engine = DuckDBEngine(con.duckdb)
    ((release_id,),) = engine.rows("SELECT release_id FROM anon.release")
    seal(engine, release_id)


@pytest.mark.parametrize(
    ("reading", "error", "why"),
    [
        ("'noisy'", CatalogError, "cannot be read: 'noisy' is not a valid Reading"),
        ("'group'", PolicyError, "do not determine how its tables are joined"),
    ],
)
def test_a_column_that_is_read_in_no_known_way(
    clinic: Connection, reading: str, error: type[SqlanonError], why: str
) -> None:
    clinic.execute(f"UPDATE anon.release_attribute SET reading = {reading} WHERE attribute = 'age'")
    sealed(clinic)
    with pytest.raises(error, match=why):
        clinic.execute("ESTIMATE SELECT count(*) FROM patients WHERE age = 1 FROM RELEASE released")


def test_a_release_that_does_not_say_the_types_of_its_source(clinic: Connection) -> None:
    (text,) = clinic.duckdb.execute("SELECT policy_json FROM anon.release").fetchone()
    parts = {name: part for name, part in json.loads(text).items() if name != "types"}
    clinic.duckdb.execute("UPDATE anon.release SET policy_json = ?", [json.dumps(parts)])
    sealed(clinic)
    assert "cannot be read" in refused(clinic, "SELECT count(*) FROM patients WHERE sex = 'F'", kind=CatalogError)


def test_comparisons_that_lose_the_order(asking: Connection) -> None:
    assert "may be rounded" in refused(asking, "SELECT count(*) FROM patients WHERE age = 1e1")
    con = connect(config={"threads": "1"})
    con.execute(
        "CREATE TABLE t AS SELECT '0' || i AS z FROM range(3) AS t(i); CREATE HIERARCHY h AS PREFIXES (1); "
        "CREATE POLICY p ON t (z QUASI IDENTIFIER USING h) REQUIRE k_anonymity(k => 3); "
        "CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization"
    )
    assert "is text" in refused(con, "SELECT count(*) FROM t WHERE z = 1", "r")
    con.execute("SET default_collation = 'nocase'")
    assert "collation" in refused(con, "SELECT count(*) FROM t WHERE z = '1'", "r", UserError)


def test_names_that_mean_two_things(asking: Connection) -> None:
    assert "another name" in refused(asking, "SELECT age // 10 AS days, count(*) FROM patients GROUP BY days")
    assert asked(asking, "SELECT sex, count(*) AS n FROM patients GROUP BY 1 HAVING n > 5") == []


@pytest.mark.long
def test_an_export_of_a_query(tmp_path: Path) -> None:
    """What a policy on a query is of has the name of the policy."""
    con = connect(config={"threads": "1"})
    con.execute(
        "CREATE POLICY p ON (SELECT i AS x, 0 AS y FROM range(6) AS t(i)) (x INSENSITIVE, y QUASI IDENTIFIER) "
        "REQUIRE k_anonymity(k => 3); "
        f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization; EXPORT r TO '{tmp_path}/r.parquet'"
    )
    for release in ("r", f"'{tmp_path}/r.parquet'"):
        assert one(connect() if release != "r" else con, "SELECT sum(x) AS n FROM p", release) == (
            15.0,
            0.0,
            15.0,
            15.0,
        )
        assert "write FROM p" in refused(con, "SELECT count(*) FROM elsewhere", release)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("SELECT count(*) AS n FROM patients WHERE age < 34", "age"),
        ("SELECT count(*) AS n FROM patients WHERE age < 30", None),
        ("SELECT count(*) AS n FROM patients WHERE age < 34 AND ward = 'south'", "age, ward"),
        ("SELECT sum(days) AS d FROM patients WHERE disease = 'Flu'", None),
        ("SELECT avg(age) AS a FROM patients", "age"),
        ("SELECT max(age) AS a FROM patients WHERE ward = 'south'", "ward, age"),
        ("SELECT ward, count(*) AS n FROM patients GROUP BY ward", "ward"),
    ],
)
def test_the_answer_names_the_columns_that_were_taken_to_be_uniform(
    asking: Connection, query: str, columns: str | None
) -> None:
    answer = asking.sql(f"ESTIMATE {query} FROM RELEASE released")
    assert answer.columns[-1] == "uniform_columns"
    assert {row[-1] for row in answer.fetchall()} == {columns}


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("where", "estimate", "high", "uniform"),
    [("a IN (0, 5)", 0.0, 20, "a"), ("a <> 5", 40.0, 40, "a"), ("a < 10", 20.0, 20, None), ("a = -3", 0.0, 0, None)],
)
def test_a_single_real_number_is_not_certain(where: str, estimate: float, high: int, uniform: str | None) -> None:
    """Within a range of real numbers it has no width: that it counts for nothing is taken for granted, and said."""
    con = connect()
    con.execute("""
        CREATE TABLE t AS SELECT (i % 4)::DOUBLE * 5 AS a, i % 3 AS s FROM range(40) AS r(i);
        CREATE HIERARCHY tens AS INTERVALS (10);
        CREATE POLICY p ON t (a QUASI IDENTIFIER USING tens MIN LEVEL 1, s SENSITIVE) REQUIRE k_anonymity(k => 2);
        CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
    """)
    answer = con.sql(f"ESTIMATE SELECT count(*) AS n FROM t WHERE {where} FROM RELEASE r").fetchall()
    assert [(n, most, columns) for n, _, _, most, columns in answer] == [(estimate, high, uniform)]


def test_with_marginals_nothing_is_taken_to_be_uniform(asking: Connection) -> None:
    asking.execute("CREATE TEMP TABLE ages AS SELECT i AS age, i AS people FROM range(20, 60) AS t(i)")
    query = "ESTIMATE SELECT count(*) AS n FROM patients WHERE age < 34 FROM RELEASE released MARGINALS (age => ages)"
    assert asking.sql(query).fetchall()[0][-1] is None
    asking.execute("DROP TABLE ages")


def test_a_column_of_the_answer_cannot_be_called_as_its_last(asking: Connection) -> None:
    query = "SELECT ward AS uniform_columns, count(*) AS n FROM patients GROUP BY ward"
    assert "two columns of the result are called uniform_columns" in refused(asking, query)


@pytest.mark.parametrize(
    ("kind", "extremes", "sure", "doubtful"),
    [
        ("VARCHAR", ["", "9" * 400, "é"], ["'a'", "''", "'9'"], ["9", "DATE '2020-01-01'", "x"]),
        (
            "DATE",
            ["-infinity", "infinity", "5877642-06-25 (BC)"],
            ["'2020-02-29'", "'0001-01-01'"],
            ["'2021-02-29'", "'x'"],
        ),
        ("TINYINT", ["-128", "127"], ["999999999999999999", "-999999999999999999", "0"], ["'1'", "1.5", "9" * 19]),
        ("UINTEGER", ["0", "4294967295"], ["999999999999999999", "-1"], ["'1'", "1e2"]),
        ("HUGEINT", [str(-(2**127)), str(2**127 - 1)], ["999999999999999999", "-1"], ["'1'", "0.5"]),
        ("UBIGINT", ["0", str(2**64 - 1)], [], ["-1", "1"]),
        ("DECIMAL(38,37)", ["9.9"], [], ["1", "'1'"]),
    ],
)
def test_a_part_that_never_fails_needs_no_try(
    kind: str, extremes: list[str], sure: list[str], doubtful: list[str]
) -> None:
    database = duckdb.connect()
    database.execute(f"CREATE TABLE t (x {kind})")
    for value in [*extremes, None]:
        database.execute("INSERT INTO t VALUES (?)", [value])
    forms = [f"x {sign} {{0}}" for sign in ("=", "<>", "<", ">=", "IS DISTINCT FROM")]
    forms += ["x IN ({0})", "NOT (x BETWEEN {0} AND {0} AND x IS NULL)", "CAST((x IN ({0}, {0})) AS BOOLEAN)"]
    for form in forms:
        for constant in (*sure, *doubtful):
            text = form.format(constant)
            tree = sqlglot.parse_one(text, dialect="duckdb")
            for node in tree.find_all(exp.Column):
                node.set("table", exp.to_identifier("row"))
            assert never_fails(tree, {("row", "x"): kind}) == (constant in sure), text
            if constant in sure:
                assert len(database.execute(f"SELECT {text} FROM t").fetchall()) == len(extremes) + 1
    database.close()
