"""METHOD anatomy by example: what it publishes, what it refuses, and what happens to its tables afterwards."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from sqlglot import exp

import sqlanon
from sqlanon import Connection, PolicyError, PrivacyViolation, UserError
from sqlanon.clients.terminal.demo import load_adult
from sqlanon.errors import InternalError
from sqlanon.sources.column_types import sizes
from tests.support.database import VISIT_ROLES as ROLES
from tests.support.database import rows, tables, template, visits

SOURCE = visits("flu", "cold", "asthma", "ulcer", "flu")
SETUP = f"{SOURCE}; CREATE POLICY p ON visits ({ROLES}) REQUIRE k_anonymity(k => 2)"


@pytest.fixture
def con() -> Connection:
    return template(SETUP)


@pytest.fixture
def released() -> Connection:
    """The database with a release of the policy."""
    return template(SETUP, release)


def release(con: Connection, method: str = "(l => 2)", name: str = "r", policy: str = "p") -> list[Any]:
    statement = f"CREATE OR REPLACE ANONYMIZED TABLE {name} AS POLICY {policy} METHOD anatomy{method}"
    return list(con.execute(statement).fetchall())


def required(con: Connection) -> list[Any]:
    """What CHECK finds of the requirements; the last row is what their figures rest on."""
    return list(con.execute("CHECK r").fetchall())[:-1]


def refused(con: Connection, roles: str, requirements: str = "k_anonymity(k => 2)", method: str = "(l => 2)") -> str:
    con.execute(f"CREATE OR REPLACE POLICY q ON visits ({roles}) REQUIRE {requirements}")
    with pytest.raises(PolicyError) as error:
        release(con, method, "s", "q")
    return str(error.value)


def test_two_tables_are_published(con: Connection) -> None:
    answer = release(con)
    assert [row[:6] for row in answer] == [("main.r", "table", 120, 120, 0, 0.0)] * 2
    assert [row[7:12] for row in answer] == [
        ("k_anonymity", None, 2.0, 2.0, True),
        ("probabilistic_l_diversity", "disease", 2.0, 2.0, True),
    ]
    assert tables(con) == {"visits", "r_qi", "r_sensitive"}
    described = "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = '{}' ORDER BY column_index"
    assert rows(con, described.format("r_sensitive")) == [
        ("bucket", "BIGINT"),
        ("value", "VARCHAR"),
        ("count", "BIGINT"),
    ]
    assert [name for name, _ in rows(con, described.format("r_qi"))] == ["age", "zip", "ward", "bucket"]
    assert rows(con, "SELECT age, zip, ward FROM r_qi ORDER BY ALL") == rows(
        con, "SELECT age, zip, ward FROM visits ORDER BY ALL"
    )


@pytest.mark.long
def test_several_sensitive_attributes_have_a_table_each(con: Connection) -> None:
    con.execute(
        "CREATE POLICY two ON visits (age QUASI IDENTIFIER, disease SENSITIVE, ward SENSITIVE) "
        "REQUIRE k_anonymity(k => 4), t_closeness(t => 0.4, attribute => disease)"
    )
    answer = release(con, "(l => 2)", policy="two")
    assert tables(con) == {"visits", "r_qi", "r_disease", "r_ward"}
    assert {(row[7], row[8]) for row in answer} == {
        ("k_anonymity", None),
        ("equal_t_closeness", "disease"),
        ("probabilistic_l_diversity", "disease"),
        ("probabilistic_l_diversity", "ward"),
    }
    assert all(row[-1] for row in con.execute("CHECK r").fetchall())
    for name in ("disease", "ward"):
        assert rows(con, f"SELECT bucket FROM r_{name} GROUP BY bucket HAVING max(count) * 2 > sum(count)") == []
        assert Counter(dict(rows(con, f"SELECT value, sum(count) FROM r_{name} GROUP BY value"))) == Counter(
            dict(rows(con, f"SELECT {name}, count(*) FROM visits GROUP BY ALL"))
        )


def test_near_rows_share_buckets(con: Connection) -> None:
    spans = {}
    for grouping in ("random", "near"):
        release(con, f"(l => 2, grouping => '{grouping}')")
        spans[grouping] = rows(
            con, "SELECT avg(span) FROM (SELECT max(age) - min(age) AS span FROM r_qi GROUP BY bucket)"
        )[0][0]
    assert spans["near"] < spans["random"] / 2


@pytest.mark.long
def test_requirements_of_the_policy_hold_of_buckets(con: Connection) -> None:
    """They are put together until the shares of a bucket are those of the whole."""
    con.execute(f"CREATE POLICY close ON visits ({ROLES}) REQUIRE t_closeness(t => 0.1), l_diversity(l => 4)")
    for grouping in ("random", "near"):
        answer = release(con, f"(l => 2, grouping => '{grouping}')", policy="close")
        reached = {row[7]: row[10] for row in answer}
        assert reached["equal_t_closeness"] <= 0.1
        assert reached["distinct_l_diversity"] == 4
        assert rows(con, "SELECT count(DISTINCT bucket) > 1 FROM r_qi") == [(True,)]


@pytest.mark.long
def test_hierarchies_and_ranges_are_asked_of_buckets_and_of_files(con: Connection, tmp_path: Path) -> None:
    con.execute(
        "CREATE HIERARCHY organs AS LEVELS (FROM (VALUES ('flu', 'lung'), ('cold', 'lung'), ('asthma', 'lung'), "
        "('ulcer', 'gut')) AS t(a, b)); CREATE TABLE bounds (value VARCHAR, low DOUBLE, high DOUBLE);"
        "INSERT INTO bounds VALUES ('flu', 0.2, 0.6);"
        "CREATE POLICY far ON visits (AGE QUASI IDENTIFIER, Disease SENSITIVE USING organs) "
        "REQUIRE t_closeness(t => 0.25, distance => 'hierarchical'), value_ranges(ranges => bounds)"
    )
    release(con, policy="far")
    con.execute("DROP TABLE bounds; DROP POLICY far; DROP HIERARCHY organs")
    found = {row[1]: row[-1] for row in required(con)}
    assert found == {"hierarchical_t_closeness": True, "value_ranges": True, "probabilistic_l_diversity": True}
    con.execute(f"EXPORT r TO '{tmp_path}/out' (FORMAT csv)")


def test_what_has_pseudonyms_is_explained(con: Connection) -> None:
    roles = ROLES.replace("visit IDENTIFIER", "visit IDENTIFIER PSEUDONYM")
    con.execute(f"CREATE POLICY named ON visits ({roles}) REQUIRE k_anonymity(k => 2)")
    explained = con.execute("EXPLAIN VERBOSE ANONYMIZED TABLE r AS POLICY named METHOD anatomy(l => 2)").fetchall()
    assert ("bind", "visit", "identifier, published as a token") in explained


def test_null_is_a_value(con: Connection) -> None:
    con.execute("UPDATE visits SET disease = NULL WHERE disease = 'flu'")
    release(con)
    assert rows(con, "SELECT max(count) FROM r_sensitive WHERE value IS NULL") == [(1,)]
    with pytest.raises(
        PrivacyViolation, match=r"value, NULL, has 48 of 120 rows \(40.0%\), 8 more than the 40 that l => 3 allows"
    ):
        release(con, "(l => 3)")


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("variant", "l", "why", "largest"),
    [
        ("'probabilistic'", 3, "8 more than the 40", "l => 2 is"),
        ("'distinct'", 5, "it has 4 different values", "l => 4 is"),
        ("'entropy'", 4, "as diverse as 3.789", "l => 3 is"),
        ("'recursive', c => 1", 3, "fewer than 48 would be few enough", "l => 2 is"),
        ("'recursive', c => 0.1", 2, "fewer than 7.2 would be few enough", "no l above 1 works"),
    ],
)
def test_what_cannot_be_met_names_the_value(released: Connection, variant: str, l: int, why: str, largest: str) -> None:  # noqa: E741
    before = rows(released, "SELECT * FROM r_qi")
    with pytest.raises(PrivacyViolation) as error:
        release(released, f"(l => {l}, variant => {variant})")
    assert why in error.value.message
    assert largest in str(error.value.hint)
    assert "most frequent" in error.value.message
    assert "'flu', has 48 of 120 rows (40.0%)" in error.value.message
    assert not any(disease in str(error.value) for disease in ("cold", "asthma", "ulcer"))
    # The former release stands as it was.
    assert rows(released, "SELECT * FROM r_qi") == before
    assert tables(released) == {"visits", "r_qi", "r_sensitive"}


def test_a_value_of_one_row_is_not_named(con: Connection) -> None:
    """It would be a row's own."""
    con.execute("DELETE FROM visits WHERE visit >= 4")
    with pytest.raises(PrivacyViolation, match=r"its most frequent value has 1 of 4 rows") as error:
        release(con, "(l => 5)")
    assert not any(disease in str(error.value) for disease in ("flu", "cold", "asthma", "ulcer"))


def test_a_long_value_is_cut_off_and_stays_on_one_line(con: Connection) -> None:
    con.execute("UPDATE visits SET disease = 'it''s\n' || repeat('x', 500) WHERE disease = 'flu'")
    with pytest.raises(PrivacyViolation, match=r"40\.0%") as error:
        release(con, "(l => 3)")
    assert "\n" not in error.value.message
    assert len(error.value.message) < 300


def test_the_policys_own_numbers_are_named_where_it_asks_for_more_than_any(con: Connection) -> None:
    """Whatever l the method has: the policy's own requirement says what stands in the way, and its value."""
    con.execute(f"CREATE POLICY far ON visits ({ROLES}) REQUIRE k_anonymity(k => 121), l_diversity(l => 5)")
    with pytest.raises(PrivacyViolation) as error:
        release(con, "(l => 3)", policy="far")
    assert "k_anonymity(k => 121)" in error.value.message
    assert "l_diversity(l => 5, variant => 'distinct') of disease" in error.value.message
    assert "probabilistic" not in error.value.message
    assert "the most frequent value of disease, 'flu', has 48 of 120 rows (40.0%)" in error.value.message
    assert error.value.hint == (
        "ask for less: k_anonymity(k => 120) is the most that the whole table meets; "
        "disease has 4 values: l_diversity(l => 4) is the most that the whole table meets"
    )


def test_a_value_of_the_column_that_stands_in_the_way_is_named(con: Connection) -> None:
    con.execute(
        "CREATE POLICY two ON visits (age QUASI IDENTIFIER, ward SENSITIVE, disease SENSITIVE) "
        "REQUIRE k_anonymity(k => 2)"
    )
    with pytest.raises(PrivacyViolation, match=r"disease cannot be 3-diverse: its most frequent value, 'flu'") as error:
        release(con, "(l => 3)", policy="two")
    assert error.value.hint == "l => 2 is the largest that works"


@pytest.mark.long
def test_the_largest_l_works(con: Connection) -> None:
    for variant, number in (("probabilistic'", 2), ("distinct'", 4), ("entropy'", 3), ("recursive', c => 1", 2)):
        assert all(row[11] for row in release(con, f"(l => {number}, variant => '{variant})"))


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("", "lacks its argument 'l'"),
        ("(l => 1)", "whole number from 2"),
        ("(l => 2.5)", "whole number from 2"),
        ("(l => true)", "whole number from 2"),
        ("(l => 2, variant => 'none')", "no variant 'none'"),
        ("(l => 2, grouping => 'far')", "no grouping 'far'"),
        ("(l => 2, c => 3)", "c belongs to"),
        ("(l => 2, variant => 'recursive', c => 0)", "c must be a number above 0"),
        ("(l => 2, suppression => 0.1)", "no argument 'suppression'"),
    ],
)
def test_arguments_are_checked(con: Connection, arguments: str, why: str) -> None:
    with pytest.raises(PolicyError, match=why):
        release(con, arguments)
    assert tables(con) == {"visits"}


def test_what_buckets_cannot_promise_is_refused_by_name(con: Connection) -> None:
    one = "age QUASI IDENTIFIER, disease SENSITIVE"
    assert "MIN LEVEL 1" in refused(con, "age QUASI IDENTIFIER MIN LEVEL 1, disease SENSITIVE")
    jointly = refused(con, f"{one}, ward SENSITIVE", "l_diversity(l => 2, jointly => true)")
    assert "never published together" in jointly
    con.execute("CREATE TABLE voters AS SELECT age FROM visits")
    con.execute(f"CREATE POLICY public ON visits ({one}) AGAINST voters REQUIRE k_map(k => 2)")
    with pytest.raises(PolicyError, match="k_map"):
        release(con, policy="public")
    con.execute("CREATE HIERARCHY h AS LEVELS (SELECT DISTINCT disease FROM visits)")
    wish = "age QUASI IDENTIFIER, disease SENSITIVE USING h, zip INSENSITIVE"
    assert "guarding nodes belong" in refused(con, wish, "personalized(p => 0.5, guarding => zip)")
    assert "there is no sensitive attribute" in refused(con, "age QUASI IDENTIFIER")
    with pytest.raises(PolicyError, match="cannot draw the same buckets twice"):
        con.execute("CREATE ANONYMIZED VIEW v AS POLICY p METHOD anatomy(l => 2)")
    assert tables(con) == {"visits", "voters"}


def test_names_that_are_taken_or_alike_are_refused_before_anything_is_done(con: Connection) -> None:
    for name in ("r_qi", "R_SENSITIVE"):
        con.execute(f"CREATE TABLE {name} AS SELECT 1 AS mine")
        with pytest.raises(UserError, match=f"publishes a table main.{name.lower()}"):
            release(con)
        con.execute(f"DROP TABLE {name}")
    con.execute("CREATE TABLE r AS SELECT 1 AS mine")
    with pytest.raises(UserError, match="r is a table that is not a release"):
        release(con)
    con.execute("DROP TABLE r; CREATE VIEW buckets AS SELECT age, disease, ward AS qi, zip AS Bucket FROM visits")
    for roles, why in (
        ("disease SENSITIVE, qi SENSITIVE", "two tables"),
        ("disease SENSITIVE, bucket INSENSITIVE", "adds"),
    ):
        con.execute(
            f"CREATE OR REPLACE POLICY q ON buckets (age QUASI IDENTIFIER, {roles}) REQUIRE k_anonymity(k => 2)"
        )
        with pytest.raises(PolicyError, match=why):
            release(con, policy="q")
    assert tables(con) == {"visits"}


@pytest.mark.parametrize("grouping", ["random", "near"])
def test_columns_have_whatever_names(con: Connection, grouping: str) -> None:
    names = ("rowid", "region", "code_0", "column_0", "draw", "source", "word")
    shown = ", ".join(f"age + {place} AS {name}" for place, name in enumerate(names))
    con.execute(f"CREATE TABLE odd AS SELECT {shown}, disease, zip FROM visits")
    roles = ", ".join(f"{name} QUASI IDENTIFIER" for name in names)
    con.execute(f"CREATE POLICY q ON odd ({roles}, zip INSENSITIVE, disease SENSITIVE) REQUIRE k_anonymity(k => 2)")
    release(con, f"(l => 2, grouping => '{grouping}')", policy="q")
    listed = ", ".join((*names, "zip"))
    assert Counter(rows(con, f"SELECT {listed} FROM r_qi")) == Counter(rows(con, f"SELECT {listed} FROM odd"))


@pytest.mark.long
def test_a_release_is_one_thing_whatever_it_publishes(con: Connection) -> None:
    assert release(con)
    first = rows(con, "FROM r_qi ORDER BY rowid")
    con.execute("CREATE ANONYMIZED TABLE IF NOT EXISTS r AS POLICY p METHOD anatomy(l => 2)")
    assert rows(con, "FROM r_qi ORDER BY rowid") == first
    with pytest.raises(UserError, match="exists already"):
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD anatomy(l => 2)")
    with pytest.raises(UserError, match="r_qi is a table that is not a release"):
        con.execute("CREATE ANONYMIZED TABLE r_qi AS POLICY p METHOD anatomy(l => 2)")
    # A release of one table takes the place of several, and the other way round.
    con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    assert tables(con) == {"visits", "r"}
    release(con)
    assert tables(con) == {"visits", "r_qi", "r_sensitive"}
    assert rows(con, "SELECT object_name, fragment FROM anon.release_object ORDER BY ALL") == [
        ("r_qi", "qi"),
        ("r_sensitive", "sensitive"),
    ]
    # What has taken a name since is somebody else's.
    con.execute("DROP TABLE r_qi; CREATE TABLE r_qi AS SELECT 1 AS mine")
    with pytest.raises(PrivacyViolation, match=r"main\.r_qi was changed after it was released"):
        con.execute("CHECK r")
    con.execute("DROP ANONYMIZED TABLE r")
    assert tables(con) == {"visits", "r_qi"}
    assert rows(con, "SELECT count(*) FROM anon.release") == [(0,)]


def test_if_not_exists_makes_what_is_gone(released: Connection) -> None:
    released.execute("DROP TABLE r_sensitive")
    with pytest.raises(UserError, match=r"the table main\.r_sensitive of the release main\.r is gone"):
        released.execute("CHECK r")
    released.execute("CREATE ANONYMIZED TABLE IF NOT EXISTS r AS POLICY p METHOD anatomy(l => 2)")
    assert all(row[-1] for row in released.execute("CHECK r").fetchall())


@pytest.mark.long
@pytest.mark.parametrize(
    ("edit", "why"),
    [
        ("UPDATE r_qi SET age = age + 1 WHERE rowid = 3", "do not have the rows"),
        ("UPDATE r_sensitive SET value = 'gout' WHERE rowid = 3", "do not have the rows"),
        ("UPDATE r_sensitive SET value = NULL WHERE rowid = 3", "do not have the rows"),
        ("UPDATE r_qi SET bucket = 1 WHERE bucket = 2", "do not fit together"),
        ("UPDATE r_qi SET bucket = NULL WHERE rowid = 0", "do not fit together"),
        ("DELETE FROM r_qi WHERE bucket = 1", "do not fit together"),
        ("DELETE FROM r_sensitive WHERE bucket = 1", "do not fit together"),
        ("UPDATE r_sensitive SET count = count + 1 WHERE rowid = 0", "do not fit together"),
        ("UPDATE r_sensitive SET count = NULL WHERE rowid = 0", "do not fit together"),
        ("INSERT INTO r_sensitive VALUES (1, 'flu', 0), (1, 'gout', 0)", "do not fit together"),
        ("INSERT INTO r_sensitive SELECT bucket, value, 1 FROM r_sensitive", "do not fit together"),
        ("ALTER TABLE r_qi ADD COLUMN disease VARCHAR", "was changed after it was released"),
    ],
)
def test_check_and_export_notice_an_edit(released: Connection, tmp_path: Path, edit: str, why: str) -> None:
    assert all(row[-1] for row in released.execute("CHECK r").fetchall())
    released.execute(edit)
    with pytest.raises(PrivacyViolation, match=why):
        released.execute("CHECK r")
    with pytest.raises(PrivacyViolation):
        released.execute(f"EXPORT r TO '{tmp_path}/out'")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE anon.release_object SET fragment = NULL WHERE fragment = 'qi'",
        "UPDATE anon.release_object SET fragment = 'other' WHERE fragment = 'sensitive'",
        "UPDATE anon.release_attribute SET role = 'insensitive' WHERE role = 'sensitive'",
        "UPDATE anon.release_attribute SET source = 'ward' WHERE source = 'disease'",
        "DELETE FROM anon.release_object WHERE fragment = 'sensitive'",
    ],
)
def test_a_catalog_that_was_changed_proves_nothing(released: Connection, edit: str) -> None:
    released.duckdb.execute(edit)
    with pytest.raises(sqlanon.SqlanonError) as error:
        released.execute("CHECK r")
    assert not isinstance(error.value, InternalError)


def test_rows_may_stand_in_another_order(released: Connection) -> None:
    released.execute("CREATE OR REPLACE TABLE r_qi AS FROM r_qi ORDER BY age")
    assert all(row[-1] for row in released.execute("CHECK r").fetchall())


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", ["parquet", "csv", "duckdb"])
def test_an_export_has_a_file_a_table_and_one_certificate(con: Connection, tmp_path: Path, kind: str) -> None:
    release(con, name='"r é"')
    answer = con.execute(f"""EXPORT "r é" TO '{tmp_path}/out' (FORMAT {kind})""").fetchall()
    names = [f"r_é_qi.{kind}", f"r_é_sensitive.{kind}"]
    assert [Path(path).name for _, _, path, *_ in answer] == names
    assert [row[3] for row in answer] == [120, 120]
    assert {file.name for file in (tmp_path / "out").iterdir()} == {*names, "certificate.json", "certificate.md"}
    stated = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert [file["name"] for file in stated["files"]] == names
    assert [(table["name"], table["rows"]) for table in stated["tables"]] == [("r é_qi", 120), ("r é_sensitive", 120)]
    assert "columns" not in stated
    assert [one["achieved"] for one in stated["requirements"]] == [2, 2]
    assert "| `r é_sensitive` | 120 | `value` | `VARCHAR` |" in (tmp_path / "out" / "certificate.md").read_text()
    if kind != "duckdb":
        read = duckdb.execute(f"FROM '{tmp_path}/out/{names[1]}' ORDER BY ALL").fetchall()
        assert read == rows(con, 'FROM "r é_sensitive" ORDER BY ALL')
    with pytest.raises(UserError, match="exists already"):
        con.execute(f"""EXPORT "r é" TO '{tmp_path}/out' (FORMAT {kind})""")
    con.execute(f"""EXPORT "r é" TO '{tmp_path}/out' (FORMAT {kind}, REPLACE true)""")
    with pytest.raises(UserError, match="names one file, and the release has 2 tables"):
        con.execute(f"""EXPORT "r é" TO '{tmp_path}/x.{kind}' (FORMAT {kind})""")


@pytest.mark.long
def test_files_of_names_that_a_file_system_holds_alike_are_numbered(con: Connection, tmp_path: Path) -> None:
    con.execute(
        'CREATE POLICY q ON (SELECT age, disease AS "a b", ward AS "A?B" FROM visits) '
        '(age QUASI IDENTIFIER, "a b" SENSITIVE, "A?B" SENSITIVE) REQUIRE k_anonymity(k => 2)'
    )
    release(con, policy="q")
    con.execute(f"EXPORT r TO '{tmp_path}/out'")
    assert {file.name for file in (tmp_path / "out").glob("*.parquet")} == {
        "r_qi.parquet",
        "r_a_b.parquet",
        "r_A_B_2.parquet",
    }


def test_explain_says_the_buckets_and_the_statements(con: Connection) -> None:
    found = con.execute("EXPLAIN VERBOSE ANONYMIZED TABLE r AS POLICY p METHOD anatomy(l => 2)").fetchall()
    said = {item: detail for _, item, detail in found}
    assert said["buckets"] == "60, 2.0 rows each in the mean; the largest has 2 rows, the smallest 2"
    assert said["disease"] == "sensitive, published by bucket in r_sensitive"
    assert [item for stage, item, _ in found if stage == "compile"] == ["sql of r_qi", "sql of r_sensitive"]
    assert tables(con) == {"visits"}
    near = con.execute(
        "EXPLAIN VERBOSE ANONYMIZED TABLE r AS POLICY p METHOD anatomy(l => 2, grouping => 'near')"
    ).fetchall()
    assert "within" in {item: detail for _, item, detail in near}["buckets"]


def test_pseudonyms_stay_with_the_quasi_identifiers(con: Connection) -> None:
    con.execute(
        "CREATE POLICY tokens ON visits (visit IDENTIFIER PSEUDONYM, age QUASI IDENTIFIER, disease SENSITIVE) "
        "REQUIRE l_diversity(l => 2)"
    )
    release(con, policy="tokens")
    assert rows(con, "SELECT count(DISTINCT visit), min(length(visit)) FROM r_qi") == [(120, 32)]
    assert {row[1] for row in required(con)} == {
        "distinct_l_diversity",
        "probabilistic_l_diversity",
    }


def test_what_the_policy_requires_already_is_asked_once(con: Connection) -> None:
    con.execute(f"CREATE POLICY same ON visits ({ROLES}) REQUIRE l_diversity(l => 2, variant => 'probabilistic')")
    assert len(release(con, policy="same")) == len(required(con)) == 1


def test_enums_are_published_as_text(con: Connection) -> None:
    con.execute("CREATE TYPE illness AS ENUM ('flu', 'cold', 'asthma', 'ulcer', 'plague')")
    con.execute("ALTER TABLE visits ALTER disease TYPE illness")
    release(con)
    assert rows(con, "SELECT DISTINCT typeof(value) FROM r_sensitive") == [("VARCHAR",)]


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("DOUBLE", "CASE i % 4 WHEN 0 THEN 'nan' WHEN 1 THEN '-0.0' WHEN 2 THEN 'inf' END::DOUBLE"),
        ("INTEGER[]", "CASE WHEN i % 4 > 0 THEN [i % 4, NULL] END"),
        ("STRUCT(a INTEGER, b VARCHAR)", "{'a': i % 4, 'b': NULL}"),
        ("BOOLEAN", "i % 2 = 0"),
        ("DATE", "DATE '0001-01-01' + (i % 4)::INTEGER"),
    ],
)
def test_values_of_any_type(con: Connection, tmp_path: Path, kind: str, value: str) -> None:
    con.execute(f"CREATE TABLE typed AS SELECT i % 7 AS age, CAST({value} AS {kind}) AS held FROM range(40) AS t(i)")
    con.execute("CREATE POLICY typed ON typed (age QUASI IDENTIFIER, held SENSITIVE) REQUIRE k_anonymity(k => 2)")
    for grouping in ("random", "near"):
        release(con, f"(l => 2, grouping => '{grouping}')", policy="typed")
        assert rows(con, "SELECT DISTINCT typeof(value) FROM r_sensitive") == [(kind,)]
        held = "SELECT CAST(value AS VARCHAR), sum(count) FROM r_sensitive GROUP BY ALL ORDER BY ALL"
        assert rows(con, held) == rows(
            con, "SELECT CAST(held AS VARCHAR), count(*) FROM typed GROUP BY ALL ORDER BY ALL"
        )
        assert all(row[-1] for row in con.execute("CHECK r").fetchall())
    for form in ("parquet", "csv"):
        con.execute(f"EXPORT r TO '{tmp_path}/{form}' (FORMAT {form})")


def test_an_error_half_way_leaves_nothing(con: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlanon.methods.anatomy import method

    def broken(*_: object, as_stored: bool) -> int:
        return 1

    monkeypatch.setattr(method, "unequal_buckets", broken)
    with pytest.raises(sqlanon.SqlanonError, match="do not fit together"):
        release(con)
    left = rows(con, "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main' OR temporary")
    assert left == [("visits",)]
    assert rows(con, "SELECT count(*) FROM anon.release") == [(0,)]


@pytest.mark.long
def test_the_census_extract_is_7_diverse_and_no_more(with_adult: Path) -> None:
    """Of 45,222 people 13.31 % work in craft and repair."""
    connection = sqlanon.connect()
    load_adult(connection.duckdb)
    connection.execute(
        "CREATE TABLE people AS SELECT * FROM adult WHERE COLUMNS(*) IS NOT NULL;"
        "CREATE POLICY census ON people (age QUASI IDENTIFIER, sex QUASI IDENTIFIER, race QUASI IDENTIFIER, "
        "occupation SENSITIVE) REQUIRE k_anonymity(k => 7)"
    )
    ((n, most),) = rows(connection, "SELECT sum(n), max(n) FROM (SELECT count(*) AS n FROM people GROUP BY occupation)")
    assert (n, round(most / n, 4)) == (45_222, 0.1331)
    assert [row[10] for row in release(connection, "(l => 7)", policy="census")] == [7.0, 7.0]
    assert rows(connection, "SELECT count(DISTINCT bucket), count(*) FROM r_qi") == [(45_222 // 7, 45_222)]
    assert rows(connection, "SELECT max(count), max(bucket) FROM r_sensitive") == [(1, 45_222 // 7)]
    with pytest.raises(PrivacyViolation, match=rf"{most - 45_222 // 8} more than the {45_222 // 8} that") as error:
        release(connection, "(l => 8)", policy="census")
    assert "l => 7" in str(error.value.hint)


def test_a_rollback_takes_every_table_along(con: Connection) -> None:
    con.duckdb.execute("BEGIN")
    release(con)
    assert tables(con) == {"visits", "r_qi", "r_sensitive"}
    con.duckdb.execute("ROLLBACK")
    assert tables(con) == {"visits"}
    assert rows(con, "SELECT count(*) FROM anon.release_object") == [(0,)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("sample", "few"), [(100_000, 2_000), (3, 2_000), (100_000, 0)])
def test_texts_are_published_as_they_are_whether_they_were_words_or_not(sample: int, few: int) -> None:
    """Many texts after a few that are alike are words too, and none of them is lost or changed."""
    connection = sqlanon.connect(config={"threads": "1"})
    connection.execute("""
        CREATE TABLE texts AS SELECT
            CASE WHEN i < 9 THEN 'same' WHEN i % 7 = 0 THEN NULL WHEN i % 7 = 1 THEN ''
                ELSE 'the long text ' || i END AS "a ""word",
            (['x', 'y', NULL])[i % 3 + 1]::ENUM ('x', 'y') AS "code", 'all the same, and long' AS "coded.value",
            i % 9 AS kept, ['flu', 'cold', NULL, 'ulcer'][i % 4 + 1] AS held
        FROM range(300) AS t(i);
        CREATE POLICY texts ON texts (
            "a ""word" QUASI IDENTIFIER, "code" QUASI IDENTIFIER, "coded.value" INSENSITIVE, kept INSENSITIVE,
            held SENSITIVE
        ) REQUIRE k_anonymity(k => 2)
    """)
    with sizes.replaced(sample_rows=sample, few_texts=few):
        release(connection, policy="texts")
    published = rows(connection, "SELECT * EXCLUDE (bucket) FROM r_qi")
    source = rows(connection, "SELECT * EXCLUDE (held) FROM texts")
    assert Counter(published) == Counter(source)
    assert published != source


def test_values_of_one_column_stand_by_bucket_and_value_and_those_of_several_do_not(con: Connection) -> None:
    con.execute(
        "CREATE POLICY two ON visits (age QUASI IDENTIFIER, disease SENSITIVE, zip SENSITIVE) "
        "REQUIRE k_anonymity(k => 2)"
    )
    release(con)
    release(con, name="s", policy="two")
    stand = "SELECT bucket, value FROM {} ORDER BY rowid"
    ordered = "SELECT bucket, value FROM {} ORDER BY bucket, value"
    assert rows(con, stand.format("r_sensitive")) == rows(con, ordered.format("r_sensitive"))
    for name in ("s_disease", "s_zip"):
        assert rows(con, stand.format(name)) != rows(con, ordered.format(name))


@pytest.mark.long
def test_the_check_finds_the_same_whether_values_are_read_or_grouped(con: Connection) -> None:
    """The statement reads the values where they stand; CHECK counts them, also once they were turned round."""
    con.execute(f"""
        CREATE POLICY many ON visits ({ROLES}) REQUIRE k_anonymity(k => 3), t_closeness(t => 0.5),
            l_diversity(l => 2, variant => 'entropy'), beta_likeness(beta => 5),
            delta_disclosure(delta => 2, absent => 'ignored')
    """)
    found = [row[9:12] for row in release(con, policy="many")]
    checked = [row[-3:] for row in required(con)]
    assert len(found) > 4
    assert [one[1] for one in found] == [one[1] for one in checked]
    assert all(row[-1] for row in checked)
    con.duckdb.execute("CREATE TABLE turned AS FROM r_sensitive ORDER BY rowid DESC")
    con.duckdb.execute("DELETE FROM r_sensitive; INSERT INTO r_sensitive FROM turned")
    assert [row[-3:] for row in required(con)] == checked


def test_buckets_that_are_lost_on_the_way_are_an_error(con: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search counts rows by what it dealt out, and the release has to have as many."""
    from sqlanon.methods.anatomy import assign_groups

    whole = assign_groups.rows_in_slots

    def short(*arguments: Any) -> Any:
        return exp.select("*").from_(whole(*arguments).subquery("dealt")).where("slot > 0")

    monkeypatch.setattr(assign_groups, "rows_in_slots", short)
    with pytest.raises(InternalError, match="where its method keeps 120"):
        release(con)
    assert rows(con, "SELECT count(*) FROM anon.release") == [(0,)]


def test_rows_that_are_dealt_out_in_another_order_are_an_error(
    con: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlanon.methods.anatomy import assign_groups

    right = assign_groups.sorted_rows

    def unordered(*arguments: Any) -> Any:
        query = right(*arguments)
        query.set("order", None)
        return query

    monkeypatch.setattr(assign_groups, "sorted_rows", unordered)
    with pytest.raises(sqlanon.SqlanonError):
        release(con, "(l => 2, variant => 'probabilistic')")
    assert rows(con, "SELECT count(*) FROM anon.release") == [(0,)]


def test_rows_whose_numbers_have_gaps_are_not_dealt_out(con: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlanon.methods.anatomy import assign_groups

    monkeypatch.setattr(assign_groups, "numbers_of", lambda _: exp.select("0", "121", "120"))
    with pytest.raises(InternalError, match="not numbered one after the other"):
        release(con)
    assert rows(con, "SELECT count(*) FROM anon.release") == [(0,)]


@pytest.mark.parametrize("sensitive", ["disease SENSITIVE", "disease SENSITIVE, zip SENSITIVE"])
def test_rows_that_stand_as_they_were_dealt_out_are_an_error(
    con: Connection, monkeypatch: pytest.MonkeyPatch, sensitive: str
) -> None:
    from sqlanon.release.pipeline import materialize

    con.execute(f"CREATE POLICY q ON visits (age QUASI IDENTIFIER, {sensitive}) REQUIRE k_anonymity(k => 2)")
    monkeypatch.setattr(materialize, "shuffled", lambda rows, *_: exp.select("*").from_(rows.subquery("released")))
    with pytest.raises(InternalError, match="out of order"):
        release(con, policy="q")
    assert rows(con, "SELECT count(*) FROM anon.release") == [(0,)]
