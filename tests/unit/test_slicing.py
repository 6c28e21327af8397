"""METHOD slicing by example: what it publishes and refuses, and what happens to its tables afterwards."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sqlanon import Connection, PolicyError, PrivacyViolation, StatementError, UserError
from tests.support.database import VISIT_ROLES as ROLES
from tests.support.database import rows, tables, template, visits

SOURCE = visits("flu", "cold", "asthma", "ulcer", "flu")
NAMED = "(l => 2) COLUMNS (age, ward), (zip, disease)"


@pytest.fixture
def con() -> Connection:
    return template(f"{SOURCE}; CREATE POLICY p ON visits ({ROLES}) REQUIRE k_anonymity(k => 2)")


def release(con: Connection, method: str = NAMED, name: str = "r", policy: str = "p") -> list[Any]:
    statement = f"CREATE OR REPLACE ANONYMIZED TABLE {name} AS POLICY {policy} METHOD slicing{method}"
    return list(con.execute(statement).fetchall())


def published(con: Connection) -> dict[str, list[str]]:
    """The columns of each table of the release, by its name."""
    query = (
        "SELECT table_name, list(column_name ORDER BY column_index) FROM duckdb_columns() WHERE table_name LIKE 'r!_%'"
    )
    return dict(rows(con, f"{query} ESCAPE '!' GROUP BY table_name"))


def explained(con: Connection, method: str, policy: str = "p") -> list[tuple[str, str]]:
    found = con.execute(f"EXPLAIN VERBOSE ANONYMIZED TABLE r AS POLICY {policy} METHOD slicing{method}").fetchall()
    return [(item, detail) for _, item, detail in found]


def most_alike(con: Connection, table: str, beside: str, sensitive: str = "disease") -> float:
    """The greatest share that a value has of the rows of a bucket with the same values beside it."""
    counted = f"SELECT bucket, {beside}, {sensitive}, count(*) AS n FROM {table} GROUP BY ALL"
    query = (
        f"SELECT max(n / rows) FROM (SELECT n, sum(n) OVER (PARTITION BY bucket, {beside}) AS rows FROM ({counted}))"
    )
    return float(rows(con, query)[0][0])


def test_a_table_for_each_column(con: Connection) -> None:
    answer = release(con)
    assert [row[:6] for row in answer] == [("main.r", "table", 120, 120, 0, 0.0)] * 2
    assert [row[7:10] for row in answer] == [
        ("k_anonymity", None, 2.0),
        ("probabilistic_l_diversity", "disease", 2.0),
    ]
    assert published(con) == {"r_1": ["bucket", "age", "ward"], "r_2": ["bucket", "zip", "disease"]}
    for table, columns in (("r_1", "age, ward"), ("r_2", "zip, disease")):
        query = f"SELECT {columns} FROM {{}} ORDER BY ALL"
        assert rows(con, query.format(table)) == rows(con, query.format("visits"))
    assert most_alike(con, "r_2", "zip") <= 0.5
    sizes = [rows(con, f"SELECT bucket, count(*) FROM r_{number} GROUP BY ALL ORDER BY ALL") for number in (1, 2)]
    assert sizes[0] == sizes[1]
    assert len(sizes[0]) > 4


def test_each_attribute_by_itself_and_the_sensitive_ones_last(con: Connection) -> None:
    release(con, "(l => 2) COLUMNS EACH")
    assert [columns[1] for _, columns in sorted(published(con).items())] == ["age", "zip", "ward", "disease"]


@pytest.mark.long
def test_several_sensitive_attributes_stand_where_they_are_put(con: Connection) -> None:
    """Each is diverse beside what is not sensitive in its column."""
    con.execute(
        "CREATE POLICY two ON visits (age QUASI IDENTIFIER, zip QUASI IDENTIFIER, disease SENSITIVE, ward SENSITIVE) "
        "REQUIRE k_anonymity(k => 4), t_closeness(t => 0.4, attribute => disease)"
    )
    for columns, tables_of in (
        ("(age), (zip, disease, ward)", {"disease": ("r_2", "zip"), "ward": ("r_2", "zip")}),
        ("(ward, age), (zip, disease)", {"disease": ("r_2", "zip"), "ward": ("r_1", "age")}),
    ):
        answer = release(con, f"(l => 2) COLUMNS {columns}", policy="two")
        assert {(row[7], row[8]) for row in answer} == {
            ("k_anonymity", None),
            ("equal_t_closeness", "disease"),
            ("probabilistic_l_diversity", "disease"),
            ("probabilistic_l_diversity", "ward"),
        }
        assert all(row[11] for row in answer)
        for sensitive, (table, beside) in tables_of.items():
            assert most_alike(con, table, beside, sensitive) <= 0.5
    answer = release(con, "(l => 2, diversity => 'matching') COLUMNS (ward, age), (zip, disease)", policy="two")
    assert [row[7] for row in answer] == ["k_anonymity", "equal_t_closeness", "matching_l_diversity"]


def test_an_insensitive_attribute_beside_the_sensitive_one_counts(con: Connection) -> None:
    release(con, "(l => 2) COLUMNS (age, zip), (ward, disease)")
    assert most_alike(con, "r_2", "ward") <= 0.5


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("", "lacks its argument 'l'"),
        ("(l => 1)", "whole number from 2"),
        ("(l => 2, columns => 0)", "whole number from 1"),
        ("(l => 2, sensitive_attributes => 0)", "whole number from 1"),
        ("(l => 2, intervals => 10001)", "from 1 to 10000"),
        ("(l => 2, diversity => 'near')", "no diversity 'near'"),
        ("(l => 2, grouping => 'near')", "no grouping 'near'"),
        ("(l => 2, bucket_size => 10)", "bucket_size belongs to grouping => 'random'"),
        ("(l => 2, c => 3)", "c belongs to"),
        ("(l => 2, diversity => 'matching', variant => 'distinct')", "about the likeliest value"),
    ],
)
def test_arguments_are_checked(con: Connection, arguments: str, why: str) -> None:
    with pytest.raises(PolicyError, match=why):
        release(con, arguments)
    assert tables(con) == {"visits"}


@pytest.mark.parametrize(
    ("method", "why", "hint", "at"),
    [
        ("(l => 2, columns => 2) COLUMNS EACH", "columns is about columns that are", "leave columns out", "columns"),
        ("(l => 2, intervals => 5) COLUMNS (age), (zip, ward, disease)", "COLUMNS names", "intervals", "intervals"),
        ("(l => 2) COLUMNS (age, aeg), (zip, ward, disease)", "names aeg, which policy p does", "mean age", "aeg"),
        ("(l => 2) COLUMNS (age, visit), (zip, ward, disease)", "names visit, which policy p does", "", "visit"),
        ("(l => 2) COLUMNS (age), (zip, disease)", "COLUMNS leaves ward out", r"COLUMNS ..., \(ward\)", "slicing"),
        ("(l => 2) COLUMNS (age, disease), (zip, ward, disease)", "disease is in 2", "leave it in one", "disease"),
        (
            "(l => 2, diversity => 'matching') COLUMNS (age, zip), (zip, ward, disease)",
            "takes each attribute in one column, and zip is in several",
            "diversity => 'bucket'",
            "zip",
        ),
    ],
)  # fmt: skip
def test_columns_are_checked(con: Connection, method: str, why: str, hint: str, at: str) -> None:
    """`at` is what the caret points at."""
    statement = f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD slicing{method}"
    with pytest.raises(PolicyError, match=why) as error:
        con.execute(statement)
    assert hint.replace("\\", "") in str(error.value.hint)
    column = statement.index(at) + 1 if at else 1
    assert f"line 1, column {column}:" in str(error.value)
    assert tables(con) == {"visits"}


def test_a_column_twice_in_one_set_is_a_mistake(con: Connection) -> None:
    with pytest.raises(StatementError, match="named twice in one set"):
        release(con, "(l => 2) COLUMNS (age, AGE), (zip, ward, disease)")


def test_what_slicing_cannot_promise_is_refused(con: Connection) -> None:
    for roles, requirements, why in (
        ("visit IDENTIFIER PSEUDONYM, age QUASI IDENTIFIER, disease SENSITIVE", "k_anonymity(k => 2)", "no pseudonyms"),
        ("age QUASI IDENTIFIER MIN LEVEL 1, disease SENSITIVE", "k_anonymity(k => 2)", "MIN LEVEL 1"),
        ("age QUASI IDENTIFIER", "k_anonymity(k => 2)", "no sensitive attribute"),
        (
            "age QUASI IDENTIFIER, disease SENSITIVE, ward SENSITIVE",
            "l_diversity(l => 2, jointly => true)",
            "by itself",
        ),
    ):
        con.execute(f"CREATE OR REPLACE POLICY q ON visits ({roles}) REQUIRE {requirements}")
        with pytest.raises(PolicyError, match=why):
            release(con, "(l => 2)", policy="q")
    con.execute("CREATE VIEW buckets AS SELECT age AS Bucket, disease FROM visits")
    con.execute("CREATE POLICY b ON buckets (bucket QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 2)")
    with pytest.raises(PolicyError, match="slicing adds a column bucket"):
        release(con, "(l => 2)", policy="b")
    with pytest.raises(PolicyError, match="cannot draw the same buckets twice"):
        con.execute("CREATE ANONYMIZED VIEW v AS POLICY p METHOD slicing(l => 2)")
    assert tables(con) == {"visits"}


def test_a_table_of_the_users_is_never_replaced(con: Connection) -> None:
    con.execute("CREATE TABLE r_2 AS SELECT 1 AS mine")
    with pytest.raises(UserError, match=r"publishes a table main\.r_2"):
        release(con)
    assert tables(con) == {"visits", "r_2"}


ALIKE = "CREATE TABLE alike AS FROM (VALUES ('x', 1, 'a'), ('x', 2, 'a'), ('x', 1, 'b'), ('y', 2, 'b'), ('x', 2, 'a'), ('y', 1, 'c')) AS t(q, u, s)"  # noqa: E501 - one statement


@pytest.mark.parametrize(
    ("columns", "l", "why", "hint"),
    [
        (
            "(u), (q, s)",
            2,
            "with q in the column of s: .*; of the 4 rows with q 'x' 3 have 'a' .75.0%.",
            "take q out of",
        ),
        # With either of the two it cannot be met, and without both it can.
        ("(q, u, s)", 2, "with q, u in the column of s", "publish s in a column of its own"),
        ("(u), (q, s)", 3, "with q in the column of s", "it cannot be met with this attribute alone in its column"),
        ("(u, q), (s)", 3, "the most frequent value of s, 'a', has 3 of 6 rows", "l => 2 is the largest that works"),
    ],
)
def test_what_cannot_be_met_names_the_way_out(con: Connection, columns: str, l: int, why: str, hint: str) -> None:  # noqa: E741
    con.execute(ALIKE)
    if columns == "(q, u, s)":
        con.execute("UPDATE alike SET u = 3 WHERE s = 'c'; UPDATE alike SET u = 1 WHERE s = 'a'")
    con.execute(
        "CREATE POLICY a ON alike (q QUASI IDENTIFIER, u QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 1)"
    )
    with pytest.raises(PrivacyViolation, match=why) as error:
        release(con, f"(l => {l}) COLUMNS {columns}", policy="a")
    assert hint in str(error.value.hint)
    assert "nothing was published" in error.value.message
    assert tables(con) == {"visits", "alike"}


def test_values_of_one_row_are_not_named(con: Connection) -> None:
    """Beside a value that one row has, its sensitive value would be that row's."""
    con.execute("UPDATE visits SET zip = 'alone' WHERE visit = 3")
    with pytest.raises(PrivacyViolation, match="with zip in the column of disease") as error:
        release(con)
    assert "alone" not in str(error.value)
    assert "ulcer" not in str(error.value)


def test_explain_shows_the_columns_and_the_buckets(con: Connection) -> None:
    said = dict(explained(con, NAMED))
    assert said["columns"] == "(age, ward), (zip, disease)"
    assert "columns found" not in said
    assert said["suppressed rows"] == "0 of 120"
    assert said["disease"] == "sensitive, published unchanged in r_2"
    assert {"sql of r_1", "sql of r_2"} <= said.keys()
    assert tables(con) == {"visits"}


def test_explain_shows_how_columns_were_found(con: Connection) -> None:
    """The ward says nearly what the disease is, so it does not stand beside it."""
    con.execute("UPDATE visits SET ward = length(disease)")
    found = explained(con, "(l => 2, sensitive_attributes => 2, intervals => 4)")
    said = dict(found)
    assert [detail.partition(":")[0] for item, detail in found if item == "not beside the sensitive attribute"][:1] == [
        "ward"
    ]
    assert said["columns"].endswith("disease)")
    assert said["columns found"].endswith("looked at all sets of medoids")
    assert [item for item, _ in found if item.startswith("correlation of")] == [
        "correlation of age",
        "correlation of zip",
        "correlation of ward",
    ]
    assert said["correlation of ward"].startswith("disease ")


@pytest.mark.long
def test_rows_that_are_drawn_are_put_together_until_they_satisfy(con: Connection) -> None:
    answer = release(con, "(l => 2, grouping => 'random', bucket_size => 2) COLUMNS (age, ward), (zip), (disease)")
    assert all(row[11] for row in answer)
    counts = [n for (n,) in rows(con, "SELECT count(*) FROM r_3 GROUP BY bucket")]
    assert sum(counts) == 120
    assert len(counts) > 4
    assert max(counts) > 2
    assert rows(con, "SELECT 1 FROM r_3 GROUP BY bucket HAVING max(disease) = min(disease)") == []
    # All rows together are one bucket at worst.
    con.execute(f"CREATE POLICY near ON visits ({ROLES}) REQUIRE t_closeness(t => 0)")
    release(con, "(l => 2, grouping => 'random', bucket_size => 3) COLUMNS EACH", policy="near")
    assert rows(con, "SELECT count(DISTINCT bucket) FROM r_1") == [(1,)]


def test_more_quasi_identifiers_than_can_be_cut_are_drawn(con: Connection) -> None:
    names = [f"q{number}" for number in range(63)]
    listed = ", ".join(f"i * {number} % 3 AS {name}" for number, name in enumerate(names))
    con.execute(f"CREATE TABLE wide AS SELECT {listed}, i % 5 AS s FROM range(40) AS n(i)")
    roles = ", ".join(f"{name} QUASI IDENTIFIER" for name in names)
    con.execute(f"CREATE POLICY wide ON wide ({roles}, s SENSITIVE) REQUIRE k_anonymity(k => 2)")
    with pytest.raises(PolicyError, match="cuts at most 62 quasi-identifiers") as error:
        release(con, "(l => 2) COLUMNS EACH", policy="wide")
    assert "grouping => 'random'" in str(error.value.hint)
    columns = f"({', '.join(names)}), (s)"
    release(con, f"(l => 2, grouping => 'random', bucket_size => 10) COLUMNS {columns}", policy="wide")
    shown = ", ".join(names)
    assert Counter(rows(con, f"SELECT {shown} FROM r_1")) == Counter(rows(con, f"SELECT {shown} FROM wide"))


@pytest.mark.long
def test_an_empty_source_is_published_empty(con: Connection) -> None:
    con.execute("DELETE FROM visits")
    for method in ("(l => 2)", "(l => 2, diversity => 'matching') COLUMNS EACH", "(l => 2, grouping => 'random')"):
        assert all(row[10] is None and row[11] for row in release(con, method))
        assert all(row[-1] for row in con.execute("CHECK r").fetchall())


@pytest.mark.long
def test_a_release_is_one_thing_whatever_it_publishes(con: Connection) -> None:
    release(con)
    first = rows(con, "FROM r_1 ORDER BY rowid")
    con.execute("CREATE ANONYMIZED TABLE IF NOT EXISTS r AS POLICY p METHOD slicing(l => 2)")
    assert rows(con, "FROM r_1 ORDER BY rowid") == first
    with pytest.raises(UserError, match="exists already"):
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD slicing(l => 2)")
    release(con, "(l => 2) COLUMNS EACH")
    assert tables(con) == {"visits", "r_1", "r_2", "r_3", "r_4"}
    # What no longer belongs to the release is gone.
    release(con, "(l => 2) COLUMNS (age, zip, ward), (disease)")
    assert tables(con) == {"visits", "r_1", "r_2"}
    con.execute("DROP ANONYMIZED TABLE r")
    assert tables(con) == {"visits"}


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("edit", "why"),
    [
        ("DELETE FROM r_1 WHERE rowid = 3", "do not fit together"),
        ("UPDATE r_2 SET disease = 'gout' WHERE rowid = 3", "do not have the rows"),
        ("UPDATE r_1 SET bucket = NULL WHERE rowid = 3", "do not fit together"),
        ("UPDATE r_2 SET bucket = bucket % 2", "do not fit together"),
        ("INSERT INTO r_1 FROM r_1", "do not fit together"),
        ("ALTER TABLE r_1 ADD COLUMN disease VARCHAR", "was changed after it was released"),
    ],
)
def test_check_and_export_notice_an_edit(con: Connection, tmp_path: Path, edit: str, why: str) -> None:
    release(con)
    assert all(row[-1] for row in con.execute("CHECK r").fetchall())
    con.execute(edit)
    with pytest.raises(PrivacyViolation, match=why):
        con.execute("CHECK r")
    with pytest.raises(PrivacyViolation):
        con.execute(f"EXPORT r TO '{tmp_path}/out'")
    assert not (tmp_path / "out").exists()


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("method", "again"),
    [
        (NAMED, 'slicing(l => 2) COLUMNS ("age", "ward"), ("zip", "disease")'),
        (
            "(2, variant => 'distinct') COLUMNS EACH",
            'slicing(l => 2, variant => \'distinct\') COLUMNS ("age"), ("zip"), ',
        ),
        # Columns that were found are named: what finds them is left out.
        ("(l => 2, columns => 1, intervals => 3)", 'slicing(l => 2) COLUMNS ("'),
        ("(l => 2) COLUMNS (age, zip), (zip, ward, disease)", 'COLUMNS ("age", "zip"), ("zip", "ward", "disease")'),
    ],
)
def test_the_statement_that_makes_it_again_does(con: Connection, method: str, again: str) -> None:
    release(con, method)
    before = published(con)
    con.execute("DROP TABLE r_1")
    with pytest.raises(UserError, match=r"r_1 of the release main\.r is gone") as error:
        con.execute("CHECK r")
    hint = str(error.value.hint)
    assert again in hint
    con.execute(hint.partition(" makes it again")[0])
    assert published(con) == before
    assert all(row[-1] for row in con.execute("CHECK r").fetchall())


COUNTS = (
    ("zip = 'z5' AND disease = 'flu'", True),
    ("age > 30 AND ward = 2", True),
    ("age > 30 AND disease = 'flu'", False),
)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["parquet", "csv", "duckdb"])
def test_an_export_is_checked_and_asked_as_the_release_is(con: Connection, tmp_path: Path, kind: str) -> None:
    release(con)
    answer = con.execute(f"EXPORT r TO '{tmp_path}/out' (FORMAT {kind})").fetchall()
    assert [Path(path).name for _, _, path, *_ in answer] == [f"r_1.{kind}", f"r_2.{kind}"]
    assert [row[3] for row in answer] == [120, 120]
    if kind == "duckdb":
        # As of every release of several tables.
        with pytest.raises(UserError, match="2 files of the format duckdb"):
            con.execute(f"CHECK '{tmp_path}/out'")
        return
    checked = con.execute(f"CHECK '{tmp_path}/out'").fetchall()
    assert [row[1] for row in checked] == ["files_as_certified", "k_anonymity", "probabilistic_l_diversity"]
    assert all(row[5] for row in checked)
    stated = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert [(table["name"], table["rows"]) for table in stated["tables"]] == [("r_1", 120), ("r_2", 120)]
    for condition, exact in COUNTS:
        query = f"ESTIMATE SELECT count(*) AS n FROM visits WHERE {condition} FROM RELEASE"
        [from_release] = con.execute(f"{query} r").fetchall()
        assert con.execute(f"{query} '{tmp_path}/out/certificate.json'").fetchall() == [from_release]
        [(true,)] = rows(con, f"SELECT count(*) FROM visits WHERE {condition}")
        n, _, low, high, _ = from_release
        assert low <= true <= high
        assert (low == high and n == true) is exact


def test_an_export_of_matching_repeats_what_was_measured(con: Connection, tmp_path: Path) -> None:
    answer = release(con, "(l => 2, diversity => 'matching', grouping => 'random') COLUMNS (age, ward), (zip, disease)")
    [(achieved, satisfied)] = [(row[10], row[11]) for row in answer if row[7] == "matching_l_diversity"]
    assert achieved >= 2
    assert satisfied
    con.execute(f"EXPORT r TO '{tmp_path}/out'")
    checked = {row[1]: row[3:] for row in con.execute(f"CHECK '{tmp_path}/out'").fetchall()}
    assert checked["k_anonymity"][2] is True
    assert checked["matching_l_diversity"] == (2.0, achieved, True, "stated by the certificate")
    con.execute("DELETE FROM visits")
    assert ("main.r", "matching_l_diversity", None, 2.0, achieved, True) in con.execute("CHECK r").fetchall()


@pytest.mark.long
def test_overlapping_columns_are_read_from_the_table_that_has_most_of_a_query(con: Connection) -> None:
    """What some table has is exact, whichever others have its columns, too; MEASURE agrees with ESTIMATE."""
    release(con, "(l => 2) COLUMNS (age, zip), (ward, zip), (zip, disease)")
    for columns in (("age", "zip"), ("ward", "zip"), ("zip", "disease")):
        select = f"SELECT {', '.join(columns)}, count(*) AS n FROM visits GROUP BY {', '.join(columns)}"
        estimated = con.execute(f"ESTIMATE {select} FROM RELEASE r").fetchall()
        assert {row[:3] for row in estimated} == set(rows(con, select))
        assert all(row[2] == row[4] == row[5] for row in estimated)
    condition = "zip = 'z5' AND age > 30 AND ward = 1 AND disease = 'flu'"
    [(true,)] = rows(con, f"SELECT count(*) FROM visits WHERE {condition}")
    [(_, _, low, high, _)] = con.execute(
        f"ESTIMATE SELECT count(*) AS n FROM visits WHERE {condition} FROM RELEASE r"
    ).fetchall()
    assert low <= true <= high


@pytest.mark.long
@pytest.mark.parametrize("columns", ["(age, zip), (ward), (disease)", "(age, zip), (ward, zip), (zip, disease)"])
def test_measure_asks_as_estimate_does(con: Connection, columns: str) -> None:
    """Rows of a table may be equal: they count as often as they are there."""
    release(con, f"(l => 2) COLUMNS {columns}")
    con.execute("CREATE WORKLOAD asked ON POLICY p (queries => 8, dimensions => 2, seed => 1)")
    figures = {row[2]: row[3] for row in con.execute("MEASURE r WITH WORKLOAD asked").fetchall()}
    assert figures["bounds_hit_rate"] == 1
    assert figures["not_estimated"] == 0
    found = (
        "SELECT sql, actual, estimated, low, high FROM anon.query_error JOIN anon.workload USING (workload, query_id)"
    )
    for query, actual, estimated, low, high in rows(con, found):
        [(n, _, least, most, _)] = con.execute(f"ESTIMATE {query} FROM RELEASE r").fetchall()
        assert n == pytest.approx(estimated)
        # Together the bounds of all buckets are added up by table, which may be wider.
        assert low <= least <= actual <= most <= high


def test_null_is_a_value(con: Connection) -> None:
    con.execute("UPDATE visits SET disease = NULL WHERE disease = 'flu'; UPDATE visits SET zip = NULL WHERE zip = 'z0'")
    assert all(row[11] for row in release(con))
    assert most_alike(con, "r_2", "zip") <= 0.5
    assert rows(con, "SELECT count(*) FROM r_2 WHERE disease IS NULL") == [(48,)]


def test_names_that_have_to_be_quoted(con: Connection) -> None:
    con.execute(
        'CREATE POLICY odd ON (SELECT age AS "select", zip AS "a ""b", ward AS region, disease AS "it\'s" FROM visits) '
        '("select" QUASI IDENTIFIER, "a ""b" QUASI IDENTIFIER, region INSENSITIVE, "it\'s" SENSITIVE) '
        "REQUIRE k_anonymity(k => 2)"
    )
    release(con, '(l => 2) COLUMNS ("select", REGION), ("a ""b", "IT\'S")', policy="odd")
    assert published(con) == {"r_1": ["bucket", "select", "region"], "r_2": ["bucket", 'a "b', "it's"]}
    assert all(row[-1] for row in con.execute("CHECK r").fetchall())


@pytest.mark.long
def test_what_stands_beside_has_more_bits_than_half_a_key(con: Connection) -> None:
    con.execute(
        """CREATE TABLE wide AS SELECT i % 997 AS a, i * 7 % 1009 AS b, 'z' || (i * 13 % 1013) AS z, i * 31 % 2003 AS y,
            i % 50 AS x, s FROM range(300) AS t(i), (VALUES ('p'), ('q'), ('r')) AS v(s);
        CREATE POLICY wide ON wide (a QUASI IDENTIFIER, b QUASI IDENTIFIER, z QUASI IDENTIFIER, y QUASI IDENTIFIER,
            x QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 2)"""
    )
    for arguments in ("", ", diversity => 'matching'", ", grouping => 'random', bucket_size => 9"):
        con.execute(
            f"CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY wide METHOD slicing(l => 3{arguments}) "
            "COLUMNS (x), (a, b, z, y, s)"
        )
        alike = "SELECT count(*) FROM r_2 GROUP BY bucket, a, b, z, y HAVING count(DISTINCT s) < 3 OR count(*) <> 3"
        assert con.duckdb.execute(alike).fetchall() == []


def test_values_of_fewer_rows_than_a_class_needs_are_not_named(con: Connection) -> None:
    con.execute(
        """CREATE TABLE rare AS SELECT i AS age, CASE WHEN i < 2 THEN 'z9' ELSE 'z' || i % 3 END AS zip,
            CASE WHEN i < 2 THEN 'rare' ELSE 'd' || i % 7 END AS disease FROM range(90) AS t(i);
        CREATE POLICY rare ON rare (age QUASI IDENTIFIER, zip QUASI IDENTIFIER, disease SENSITIVE)
            REQUIRE k_anonymity(k => 5)"""
    )
    with pytest.raises(PrivacyViolation, match="of 2 rows with the same zip 2 have the same disease") as error:
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY rare METHOD slicing(l => 2) COLUMNS (age), (zip, disease)")
    assert "'rare'" not in str(error.value)
    assert "z9" not in str(error.value)


def test_a_distance_names_no_value(con: Connection) -> None:
    con.execute(
        """CREATE TABLE far AS SELECT i AS age, 'w' || i % 2 AS ward, i % 2 * 100 + i % 10 AS salary
            FROM range(100) AS t(i);
        CREATE POLICY far ON far (age QUASI IDENTIFIER, ward QUASI IDENTIFIER, salary SENSITIVE)
            REQUIRE t_closeness(t => 0.1)"""
    )
    with pytest.raises(PrivacyViolation, match="not even all rows as one bucket do; nothing was published") as error:
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY far METHOD slicing(l => 2) COLUMNS (age), (ward, salary)")
    assert error.value.hint == "take ward out of the column of salary"


@pytest.mark.parametrize(
    ("rest", "why", "hint"),
    [
        ("COLUMNS (age) METHOD slicing(l => 2)", "COLUMNS belongs to a METHOD", "METHOD name"),
        ("METHOD slicing(l => 2) COLUMNS age", "expected EACH or", "or COLUMNS EACH"),
        ("METHOD slicing(l => 2) COLUMNS", "expected EACH or", "or COLUMNS EACH"),
        ("METHOD slicing(l => 2) COLUMNS (EACH)", "COLUMNS names EACH", "without parentheses"),
        ("METHOD slicing(l => 2) COLUMS EACH", "expected FRAGMENTS, COLUMNS", "did you mean COLUMNS"),
    ],
)
def test_columns_written_otherwise(con: Connection, rest: str, why: str, hint: str) -> None:
    with pytest.raises((StatementError, PolicyError), match=why) as error:
        con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p {rest}")
    assert hint in str(error.value)


def test_the_largest_l_is_named(con: Connection) -> None:
    con.execute(
        """CREATE TABLE few AS SELECT i AS age, 'd' || i % 3 AS disease FROM range(30) AS t(i);
        CREATE POLICY few ON few (age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 2)"""
    )
    with pytest.raises(PrivacyViolation) as error:
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY few METHOD slicing(l => 9) COLUMNS EACH")
    assert error.value.hint == "l => 3 is the largest that works"
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY few METHOD slicing(l => 3) COLUMNS EACH")


@pytest.mark.long
def test_rows_of_many_columns_are_numbered(con: Connection) -> None:
    """By rowid, which must not be a column of the source."""
    columns = [f"c{index}" for index in range(64)]
    values = ", ".join(f"i * {index + 3} % 5 AS {name}" for index, name in enumerate(columns))
    roles = ", ".join(f"{name} QUASI IDENTIFIER" for name in columns)
    con.execute(f"CREATE TABLE many AS SELECT {values}, 7 AS rowid, 'd' || i % 4 AS s FROM range(100) AS t(i)")
    con.execute(f"CREATE POLICY many ON many ({roles}, s SENSITIVE) REQUIRE k_anonymity(k => 2)")
    statement = f"METHOD slicing(l => 2, grouping => 'random', bucket_size => 9) COLUMNS ({', '.join(columns)}), (s)"
    with pytest.raises(PolicyError, match="many has a column rowid of its own"):
        con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY many {statement}")
    con.execute("ALTER TABLE many RENAME rowid TO number")
    con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY many {statement}")
    assert con.duckdb.execute("SELECT count(*) FROM r_1").fetchall() == [(100,)]
