"""Remarks: what roles may have overlooked, in EXPLAIN and in CREATE's answer, counted by hand or in plain Python."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from random import Random
from typing import Any

import pytest

from sqlanon import Connection, connect
from sqlanon.domain.numbers import per_cent
from sqlanon.release.pipeline.encode import sizes as ways
from sqlanon.release.remarks.columns import sizes
from tests.support.names import HOSTILE

VISITS = """CREATE TABLE visits AS
    SELECT 'patient ' || i // 10 AS name, i // 10 AS age, 'Flu' AS disease FROM range(200) AS t(i)"""
POLICY = "(name {}, age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 5)"
LIKE_A_PERSON = "repeats as the number of a person does"


@pytest.fixture
def con() -> Connection:
    return connect()


def remarks(con: Connection, policy: str, method: str = "METHOD generalization") -> list[str]:
    """The remarks of EXPLAIN, which are those of CREATE."""
    con.execute("DROP ANONYMIZED TABLE IF EXISTS r")
    con.execute(f"CREATE OR REPLACE POLICY p ON {policy}")
    rows = con.execute(f"EXPLAIN VERBOSE ANONYMIZED TABLE r AS POLICY p {method}").fetchall()
    explained = [detail for stage, item, detail in rows if (stage, item) == ("remark", "remark")]
    answer = con.sql(f"CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p {method}")
    assert answer.columns[-1] == "remarks"
    (created,) = {row[-1] for row in answer.fetchall()}
    # Regions that chance divides are other ones each time.
    assert "relaxed" in method or created == ("\n".join(explained) or None)
    return explained


def statements_remarks(con: Connection, script: str) -> list[str]:
    """The remarks of the statements of a script, beside what they answer."""
    said: list[str] = []
    con.script(script, lambda event: said.extend(event.remarks))
    return said


@pytest.mark.one_in(3)
@pytest.mark.parametrize("role", ["INSENSITIVE", "IDENTIFIER", "SENSITIVE"])
def test_a_name_that_repeats_is_not_an_entity_yet(con: Connection, role: str) -> None:
    con.execute(VISITS)
    column, person, *_ = remarks(con, f"visits {POLICY.format(role)}")
    assert column.startswith(f"name ({role}) repeats")
    assert "20 values in 200 rows" in column
    assert person.startswith("in 20 of 20 classes all rows have one value of name: ")


@pytest.mark.long
@pytest.mark.parametrize(
    ("method", "remark"),
    [
        ("METHOD mondrian", "age shows values beyond the open ends of its hierarchy, alone or as ends of ranges"),
        ("METHOD generalization", None),
    ],
)
def test_ranges_show_values_beyond_open_ends(con: Connection, method: str, remark: str | None) -> None:
    con.execute("CREATE TABLE t AS SELECT 80 + i % 20 AS age FROM range(20) AS r(i)")
    con.execute("CREATE HIERARCHY ages AS INTERVALS (ends, 5, high => 90, above => '90 and over')")
    found = remarks(con, "t (age QUASI IDENTIFIER USING ages) REQUIRE k_anonymity(k => 5)", method)
    about_ends = [each.partition(":")[0] for each in found if "open ends" in each]
    assert about_ends == ([] if remark is None else [remark])


def test_an_entity_is_enough(con: Connection) -> None:
    """All rows are one class then, with one disease."""
    con.execute(VISITS)
    stars, disease = remarks(con, f"visits {POLICY.format('ENTITY')}")
    assert stars.startswith("age is * in all rows: ")
    assert disease.startswith("in 1 of 1 class all rows have one value of disease: ")


@pytest.mark.long
def test_rows_of_nobody(con: Connection) -> None:
    con.execute(VISITS)
    policy = f"visits {POLICY.format('ENTITY')}"
    script = f"CREATE OR REPLACE POLICY p ON {policy}; ALTER POLICY p REQUIRE k_anonymity(k => 3)"
    before = statements_remarks(con, script)
    assert all("has no hierarchy" in remark for remark in before)
    con.execute("UPDATE visits SET name = NULL WHERE age > 17")
    told = "20 rows have no name (ENTITY), and count as nobody: "
    [nobody] = [remark for remark in remarks(con, policy) if remark.startswith(told)]
    assert [remark for remark in statements_remarks(con, script) if remark not in before] == [nobody] * 2
    con.execute("CREATE OR REPLACE TABLE visits AS FROM visits LIMIT 181")
    said = [remark for remark in statements_remarks(con, script) if remark not in before]
    assert said[0].startswith("1 row has no name (ENTITY), and counts as nobody: ")


@pytest.mark.parametrize(
    ("requirement", "meant"),
    [
        ("alpha_k_anonymity(alpha => 0.666666, k => 2)", "2/3 violates it: write alpha => 0.6667 to allow 2/3"),
        ("l_diversity(l => 2.33334, variant => 'entropy')", "7/3 violates it: write l => 2.3333 to allow 7/3"),
        ("alpha_k_anonymity(alpha => 0.666667, k => 2)", None),
        ("l_diversity(l => 2.33333, variant => 'entropy')", None),
        ("alpha_k_anonymity(alpha => 0.5, k => 2)", None),
    ],
)
def test_a_threshold_with_the_digits_of_a_fraction(con: Connection, requirement: str, meant: str | None) -> None:
    """A share of 2/3 is more than 0.666666, and an l of 7/3 is less than 2.33334."""
    said = statements_remarks(
        con,
        "CREATE TABLE t AS SELECT 1 AS q, i AS s FROM range(9) AS n(i); "
        f"CREATE POLICY p9 ON t (q QUASI IDENTIFIER, s SENSITIVE) REQUIRE {requirement}",
    )
    fractions = [remark for remark in said if "is compared exactly" in remark]
    assert [remark.partition(", so ")[2] for remark in fractions] == ([meant] if meant else [])


def test_a_column_that_the_policy_does_not_name(con: Connection) -> None:
    con.execute(VISITS)
    column, person, *_ = remarks(con, "visits (age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 5)")
    assert column.startswith(f"name (not in the policy) {LIKE_A_PERSON}: 20 values in 200 rows, ")
    assert person.startswith("in 20 of 20 classes all rows have one value of name: ")


def test_a_column_that_tells_rows_apart(con: Connection) -> None:
    con.execute("CREATE TABLE t AS SELECT i AS note, i % 4 AS age, i % 3 AS s FROM range(60) AS r(i)")
    con.execute("UPDATE t SET note = 0 WHERE note < 20; UPDATE t SET note = NULL WHERE note = 59")
    policy = "t (note INSENSITIVE, age QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 5)"
    (said,) = remarks(con, policy)
    assert said.startswith(
        "note (INSENSITIVE) identifies most rows: 39 of 59 rows have a value that no other row has; "
    )


@pytest.mark.long
def test_a_place_gives_away_its_region(con: Connection) -> None:
    """It determines one of three quasi-identifiers: it is no number of a person."""
    con.execute(
        "CREATE TABLE t AS SELECT i % 40 AS place, i % 40 // 10 AS region, i % 3 AS a, i % 7 AS b "
        "FROM range(840) AS r(i)"
    )
    policy = """t (place INSENSITIVE, region QUASI IDENTIFIER, a QUASI IDENTIFIER, b QUASI IDENTIFIER)
        REQUIRE k_anonymity(k => {})"""
    (said,) = (remark for remark in remarks(con, policy.format(211)) if remark.startswith("place "))
    assert said.startswith("place (INSENSITIVE) reveals values behind labels: 40 values in 840 rows, ")
    assert "one value of region;" in said
    # Each class of all values has ten rows: the regions are there to read.
    assert not any(remark.startswith("place ") for remark in remarks(con, policy.format(10)))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("columns", "roles"),
    [
        # Each has few values, or values that chance puts beside any age.
        ("i % 5 AS x", "x SENSITIVE"),
        ("hash(i) % 50 AS x", "x INSENSITIVE"),
        ("hash(i) % 50 AS x", ""),
        # Nearly all rows are alike: any column would determine it.
        ("i % 50 AS x, i < 2 AS rare", "x INSENSITIVE, rare QUASI IDENTIFIER"),
    ],
)
def test_what_is_worth_no_remark(con: Connection, columns: str, roles: str) -> None:
    con.execute(f"CREATE TABLE t AS SELECT i % 7 AS age, {columns} FROM range(1000) AS r(i)")
    assert remarks(con, f"t (age QUASI IDENTIFIER{', ' + roles if roles else ''}) REQUIRE k_anonymity(k => 5)") == []


@pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
def test_classes_of_one_row_and_of_one_value(con: Connection, kind: str) -> None:
    """Of age 0 there are two rows of one disease, of age 1 two of two, of age 2 and 3 one each."""
    con.execute(
        "CREATE TABLE t AS FROM (VALUES (0, 'a'), (0, 'a'), (1, 'a'), (1, 'b'), (2, 'a'), (3, 'b')) AS v(age, s)"
    )
    con.execute("CREATE POLICY p ON t (age QUASI IDENTIFIER, s SENSITIVE) REQUIRE t_closeness(t => 1)")
    answer = con.execute(f"CREATE ANONYMIZED {kind} r AS POLICY p").fetchall()
    single, alike = answer[0][-1].split("\n")
    assert single.startswith("in 2 of 4 classes there is a single row; ")
    assert alike.startswith("in 1 of 4 classes all rows have one value of s: ")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("method", ["generalization", "mondrian"])
@pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
def test_classes_of_one_known_value_beside_null(con: Connection, method: str, kind: str) -> None:
    """l = 2 is met; whoever of age 0 or 1 has a value has 'a' or 'b'."""
    con.execute(
        "CREATE TABLE t AS FROM (VALUES (0, 'a', 1), (0, NULL, 1), (0, 'a', 2), (1, NULL, 3), (1, 'b', 4), "
        "(2, 'a', 5), (2, 'b', NULL), (2, NULL, NULL), (3, 'a', 6), (3, 'b', 7)) AS v(age, s, z)"
    )
    con.execute(
        "CREATE POLICY p ON t (age QUASI IDENTIFIER, s SENSITIVE, z SENSITIVE) REQUIRE l_diversity(l => 2), "
        "k_anonymity(k => 2)"
    )
    answer = con.execute(f"CREATE ANONYMIZED {kind} r AS POLICY p METHOD {method}").fetchall()
    shown: dict[Any, list[Any]] = defaultdict(list)
    for age, s, z in con.duckdb.execute("FROM r").fetchall():
        shown[age].append((s, z))
    said = []
    for index, name in enumerate("sz"):
        kinds = [{row[index] for row in rows} for rows in shown.values()]
        if count := sum(None in values and len(values) == 2 for values in kinds):
            called = f"{count} of {len(shown)} class{'es' if len(shown) > 1 else ''}"
            said.append(f"in {called} all values of {name} other than NULL are the same: ")
    assert len(said) == 2 or method == "mondrian"
    assert [
        remark.split("same: ")[0] + "same: " for remark in answer[0][-1].split("\n") if "other than NULL" in remark
    ] == said


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("method", "table", "value", "called"),
    [
        ("anatomy(l => 2)", "r_sensitive", "value", "buckets"),
        ("slicing(l => 2)", "r_2", "s", "buckets"),
        ("mondrian(publish => 'none')", "r", "s", "classes"),
    ],
)
def test_buckets_of_one_known_value_beside_null(
    con: Connection, method: str, table: str, value: str, called: str
) -> None:
    """Half of the rows have no value, a quarter has each of two others: a bucket has NULL and one of these."""
    con.execute("CREATE TABLE t AS SELECT i AS age, ['a', NULL, 'b', NULL][1 + i % 4] AS s FROM range(16) AS r(i)")
    asked = "l_diversity(l => 2, variant => 'probabilistic')"
    con.execute(f"CREATE POLICY p ON t (age QUASI IDENTIFIER, s SENSITIVE) REQUIRE {asked}")
    remark = con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {method}").fetchall()[0][-1]
    buckets: dict[int, set[str | None]] = defaultdict(set)
    for bucket, shown in con.duckdb.execute(f"SELECT bucket, {value} FROM {table}").fetchall():
        buckets[bucket].add(shown)
    assert all(None in values and len(values) == 2 for values in buckets.values())
    seen = f"in {len(buckets)} of {len(buckets)} {called} all values of s other than NULL are the same: "
    assert remark.startswith(seen)
    explained = con.execute(f"EXPLAIN VERBOSE ANONYMIZED TABLE r AS POLICY p METHOD {method}").fetchall()
    assert any(detail.startswith(seen) for _, item, detail in explained if item == "remark")


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("required", "advice"),
    [
        ("k_anonymity(k => 2)", "l_diversity or t_closeness"),
        ("t_closeness(t => 1, attribute => s)", "l_diversity or a smaller t"),
        ("t_closeness(t => 1, attribute => 'S', distance => 'ordered')", "l_diversity or a smaller t"),
        ("l_diversity(l => 1, attribute => s)", "a greater l or t_closeness"),
        ("l_diversity(l => 1, attribute => s), t_closeness(t => 1, attribute => s)", "a greater l or a smaller t"),
        # What is required of another column, or of both together, leaves this one as it is.
        ("t_closeness(t => 1, attribute => z)", "l_diversity or t_closeness"),
        ("l_diversity(l => 1, jointly => true)", "l_diversity or t_closeness"),
    ],
)
def test_what_is_required_already_is_not_advised(con: Connection, required: str, advice: str) -> None:
    con.execute("CREATE TABLE t AS SELECT i // 10 AS age, i // 20 AS s, i % 10 AS z FROM range(80) AS r(i)")
    policy = f"t (age QUASI IDENTIFIER, s SENSITIVE, z SENSITIVE) REQUIRE {required}"
    (said,) = [remark for remark in remarks(con, policy) if "one value of s: " in remark]
    assert said.endswith(f"knows the value; require {advice}")


def test_an_empty_source(con: Connection) -> None:
    con.execute("CREATE TABLE t (age INTEGER, s INTEGER)")
    (said,) = remarks(con, "t (age QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 5)")
    assert said.startswith("the source has no rows: what is published is empty")


def test_a_search_that_was_stopped(con: Connection) -> None:
    con.execute("CREATE TABLE t AS SELECT i AS age, i % 11 AS size, i * i % 17 AS job FROM range(400) AS r(i)")
    con.execute("CREATE HIERARCHY h AS INTERVALS (2, 4, 8, 16)")
    policy = """t (age QUASI IDENTIFIER USING h, size QUASI IDENTIFIER USING h, job QUASI IDENTIFIER USING h)
        REQUIRE k_anonymity(k => 9)"""
    con.execute(f"CREATE POLICY p ON {policy}")
    method = "METHOD generalization(time_limit => 0.000001)"
    (answer, *_) = con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p {method}").fetchall()
    said = re.search(
        r"^the granularity loss ([\d.]+) is not proven to be the least: the search stopped after (\d+) of 216 nodes"
        r"(, and none that may be published loses less than ([\d.]+))?; a longer time_limit ",
        answer[-1],
        re.MULTILINE,
    )
    assert said
    (bound, checked) = con.duckdb.execute("SELECT loss_bound, nodes_checked FROM anon.release").fetchall()[0]
    assert (float(said[1]), int(said[2])) == (pytest.approx(answer[5], abs=1e-6), checked)
    assert float(said[4] or 0) == pytest.approx(bound, abs=1e-6)


def test_figures_are_those_of_plain_python(con: Connection) -> None:
    """People with 1 to 6 visits; a birth and a sex each, a month a visit. Classes of 4 rows or more are published."""
    random = Random(7)
    visits = [
        (person, birth, sex, random.randrange(12), random.randrange(3))
        for person in range(150)
        for birth, sex in [(random.randrange(1900, 2000), random.randrange(2))]
        for _ in range(random.randrange(1, 7))
    ]
    con.execute("CREATE TABLE t (person INTEGER, birth INTEGER, sex INTEGER, month INTEGER, s INTEGER)")
    con.duckdb.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", [list(row) for row in visits])
    con.execute("CREATE HIERARCHY decades AS INTERVALS (5)")
    policy = """t (birth QUASI IDENTIFIER USING decades MIN LEVEL 1 MAX LEVEL 1, sex QUASI IDENTIFIER MAX LEVEL 0,
        s SENSITIVE) REQUIRE k_anonymity(k => 4)"""
    said = remarks(con, policy, "METHOD generalization(suppression => 1)")
    classes: dict[Any, list[Any]] = defaultdict(list)
    for person, birth, sex, _, s in visits:
        classes[birth // 5, sex].append((person, s))
    released = [rows for rows in classes.values() if len(rows) >= 4]
    people = sum(len({person for person, _ in rows}) == 1 for rows in released)
    alike = sum(len({s for _, s in rows}) == 1 for rows in released)
    assert people
    assert f"150 values in {len(visits)} rows, and each repeated value has one value each of birth and sex" in said[0]
    assert f"in {people} of {len(released)} classes all rows have one value of person" in said[1]
    assert [alike] if alike else [int(text.split()[1]) for text in said[2:]] == []


@pytest.mark.long
def test_slips_of_the_pen_are_not_passed_over(con: Connection) -> None:
    """Of 200 people one has two ages: that is said, and not that each has one."""
    con.execute(
        "CREATE TABLE t AS SELECT i // 4 AS person, IF(i = 5, 99, i // 4 % 50) AS age, i % 3 AS s "
        "FROM range(800) AS r(i)"
    )
    policy = "t (age QUASI IDENTIFIER, person INSENSITIVE, s SENSITIVE) REQUIRE k_anonymity(k => 5)"
    assert "and over 99 % of the repeated values have one value of age" in remarks(con, policy)[0]
    con.execute("UPDATE t SET age = 98 WHERE s = 1 AND person = 7")
    con.execute("DELETE FROM t WHERE person >= 100")
    con.execute("UPDATE t SET age = 1 WHERE person = 1")
    assert "and 99 % of the repeated values have one value of age" in remarks(con, policy)[0]


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0.0066, "0.66 %"),
        (0.066, "6.6 %"),
        (0.5, "50 %"),
        (0.994, "99 %"),
        (0.9999, "over 99 %"),
        (1, "100 %"),
        (0, "0 %"),
    ],
)
def test_shares_are_said_in_per_cent(share: float, said: str) -> None:
    assert per_cent(share) == said


def test_a_large_source_is_counted_in_part(con: Connection) -> None:
    """5,000 people with four visits each: one value in four is looked at, and one class in four."""
    con.execute(
        "CREATE TABLE t AS SELECT i % 5000 AS person, i % 5000 // 50 AS age, i // 5000 % 2 AS s "
        "FROM range(20000) AS r(i)"
    )
    with sizes.replaced(sample_rows=5000):
        said = remarks(con, "t (age QUASI IDENTIFIER, person INSENSITIVE, s SENSITIVE) REQUIRE k_anonymity(k => 5)")
        # In the first 5,000 rows nobody repeats: it looks as if the column told all rows apart.
        found = re.fullmatch(
            r"person \(INSENSITIVE\) repeats as .*: about (\d+) values in about (\d+) rows, and nearly each .*", said[0]
        )
    assert found
    assert (int(found[1]), int(found[2])) == (pytest.approx(5000, rel=0.2), pytest.approx(20000, rel=0.2))


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "method", ["anatomy(l => 2)", "mondrian", "mondrian(publish => 'none')", "mondrian(mode => 'relaxed')"]
)
def test_other_methods(con: Connection, method: str) -> None:
    con.execute("CREATE TABLE t AS SELECT i // 4 AS person, i // 4 AS age, i % 2 AS s FROM range(200) AS r(i)")
    said = remarks(
        con, "t (person IDENTIFIER, age QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 2)", f"METHOD {method}"
    )
    assert said[0].startswith("person (IDENTIFIER) repeats: 50 values in 200 rows; ")
    assert ("one value of person" in "".join(said[1:])) is ("mondrian" in method)


@pytest.mark.long
def test_stored_hierarchies_and_models_that_read_copies(con: Connection) -> None:
    """A dry run has no copies in the catalog, and leaves none."""
    con.execute("CREATE TABLE t AS SELECT i // 8 AS person, i // 8 % 6 AS job, i % 3 AS s FROM range(480) AS r(i)")
    con.execute(
        "CREATE HIERARCHY jobs AS LEVELS (SELECT i, i // 2, i // 4 FROM range(6) AS t(i)); "
        "CREATE HIERARCHY tree AS LEVELS (SELECT i, i // 2 FROM range(3) AS t(i))"
    )
    said = remarks(
        con,
        """t (job QUASI IDENTIFIER USING jobs MIN LEVEL 1, s SENSITIVE USING tree)
        REQUIRE k_anonymity(k => 2), t_closeness(t => 0.9, distance => 'hierarchical')""",
    )
    assert said[0].startswith(f"person (not in the policy) {LIKE_A_PERSON}")
    for name in ("release_recoding", "release_taxonomy"):
        con.duckdb.execute(f"DELETE FROM anon.{name}")
        con.execute("EXPLAIN VERBOSE ANONYMIZED TABLE other AS POLICY p METHOD generalization")
        assert con.duckdb.execute(f"SELECT count(*) FROM anon.{name}").fetchall() == [(0,)]


@pytest.mark.one_in(20)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(con: Connection, name: str) -> None:
    """A remark is one line, whatever a column is called."""
    quoted = '"' + name.replace('"', '""') + '"'
    con.execute(f"CREATE TABLE t AS SELECT i // 4 AS {quoted}, i // 4 AS age, 1 AS s FROM range(200) AS r(i)")
    said = remarks(con, f"t ({quoted} INSENSITIVE, age QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 2)")
    assert len(said) == 3
    assert not any("\n" in text for text in said)


@pytest.mark.long
def test_nothing_of_it_leaves_the_database(con: Connection, tmp_path: Path) -> None:
    con.execute(VISITS)
    said = remarks(con, f"visits {POLICY.format('IDENTIFIER')}")
    con.execute(f"EXPORT r TO '{tmp_path / 'out'}'")
    con.execute("CREATE ANONYMIZED VIEW live AS POLICY p METHOD generalization")
    (text,) = con.duckdb.execute("SELECT sql FROM duckdb_views() WHERE view_name = 'live'").fetchall()[0]
    certificates = (tmp_path / "out" / "certificate.json").read_text() + (
        tmp_path / "out" / "certificate.md"
    ).read_text()
    assert json.loads((tmp_path / "out" / "certificate.json").read_text())["release"]
    for remark in said:
        assert remark[:40] not in text + certificates
    assert not any(f"patient {i}" in remark for remark in said for i in range(20))


def test_it_takes_two_queries(con: Connection) -> None:
    con.execute("CREATE TABLE t AS SELECT i % 9 AS age, hash(i) % 7 AS s, hash(i) % 13 AS x FROM range(500) AS r(i)")
    con.execute("CREATE POLICY p ON t (age QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 5)")
    stages: list[str] = []
    con.observe(lambda stage, sql, done, total, detail: stages.append(stage) if sql else None)
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    assert stages.count("remark") == 2


@pytest.mark.parametrize("column", ["INSENSITIVE", "SENSITIVE"])
def test_explain_counts_classes_of_many_rows_in_the_cells(con: Connection, column: str) -> None:
    """The cells have the sensitive column that a requirement reads, and lack the other ones."""
    con.execute("CREATE TABLE t AS SELECT i % 9 AS age, i % 4 AS s, i % 5 AS x FROM range(900) AS r(i)")
    con.execute(f"""CREATE POLICY p ON t (age QUASI IDENTIFIER, s SENSITIVE, x {column})
        REQUIRE k_anonymity(k => 5), l_diversity(l => 2, attribute => s)""")
    sent: list[str] = []
    con.observe(lambda stage, sql, done, total, detail: sent.append(sql) if sql and stage == "remark" else None)
    with ways.replaced(joined_from=0):
        con.execute("EXPLAIN ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    reading_rows = [sql for sql in sent if '"t"' in sql and "hashed" not in sql]
    assert bool(reading_rows) is (column == "SENSITIVE")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("role", ["IDENTIFIER PSEUDONYM", "ENTITY PSEUDONYM"])
@pytest.mark.parametrize("method", ["generalization", "mondrian"])
def test_explain_makes_no_tokens_and_says_what_create_says(role: str, method: str) -> None:
    con = connect()
    con.execute("CREATE TABLE s AS SELECT 'n' || i // 2 AS name, i % 3 AS prov, i % 7 AS reason FROM range(60) AS t(i)")
    con.execute(f"CREATE POLICY s ON s (name {role}, prov QUASI IDENTIFIER, reason SENSITIVE) REQUIRE k_anonymity(3)")
    explained = con.execute(f"EXPLAIN VERBOSE ANONYMIZED TABLE r AS POLICY s METHOD {method}").fetchall()
    remarks = [detail for stage, _, detail in explained if stage == "remark"]
    created = con.sql(f"CREATE ANONYMIZED TABLE r AS POLICY s METHOD {method}").select("remarks").fetchall()
    assert [(text or "").splitlines() for (text,) in created] == [remarks]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("method", ["anatomy(l => 3)", "slicing(l => 3) COLUMNS EACH"])
def test_all_rows_in_one_bucket(con: Connection, method: str) -> None:
    con.execute("CREATE TABLE few AS SELECT i % 4 AS age, 'd' || i % 3 AS disease FROM range(6) AS t(i)")
    roles = "age QUASI IDENTIFIER, disease SENSITIVE"
    alike = "all rows are in one bucket"
    of_one = remarks(con, f"few ({roles}) REQUIRE k_anonymity(k => 6)", f"METHOD {method}")
    assert [remark for remark in of_one if remark.startswith(alike)]
    of_two = remarks(con, f"few ({roles}) REQUIRE k_anonymity(k => 3)", "METHOD anatomy(l => 3)")
    assert not [remark for remark in of_two if remark.startswith(alike)]


STRATA = """CREATE TABLE sample AS SELECT 'r' || i % 5 AS region, 10.5 + i % 5 AS weight, hash(i) % 40 AS age,
    hash(i * 7) % 3 AS ill FROM range(750) AS t(i)"""
STRATUM = (
    "weight (INSENSITIVE) reveals values {}: 5 values in 750 rows, and each repeated value has one value of region"
)


def about_weight(con: Connection, k: int, method: str) -> list[str]:
    policy = "sample (age QUASI IDENTIFIER, region QUASI IDENTIFIER{}, weight INSENSITIVE, ill SENSITIVE)"
    # With a weight of its own the region is what is given up first.
    policy = policy.format(" WEIGHT 0.01" if method == "generalization" else "")
    said = remarks(con, f"{policy} REQUIRE k_anonymity(k => {k})", f"METHOD {method}")
    return [remark for remark in said if remark.startswith("weight ")]


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("k", "method", "what"),
    [
        (10, "generalization", "behind labels"),
        (1, "generalization", None),
        (40, "mondrian", "behind labels"),
        (40, "mondrian(publish => 'none')", None),
        (40, "trivial", "of another table"),
        (2, "anatomy(l => 2)", None),
    ],
)
def test_a_column_of_few_values_gives_away_what_the_release_does_not_show(
    con: Connection, k: int, method: str, what: str | None
) -> None:
    """A sampling weight says the region of each row: worth a remark where the region itself is not to be read."""
    con.execute(STRATA)
    expected = [] if what is None else [f"{STRATUM.format(what)}; make it QUASI IDENTIFIER, or leave it out"]
    assert about_weight(con, k, method) == expected


def test_few_values_of_a_large_source_are_all_read(con: Connection) -> None:
    """Of one value in eight, which is looked at of a column of many values, there would be none or one."""
    con.execute(STRATA)
    with sizes.replaced(sample_rows=100):
        assert about_weight(con, 40, "mondrian") == [
            f"{STRATUM.format('behind labels')}; make it QUASI IDENTIFIER, or leave it out"
        ]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("weight", ["hash(i * 31) % 5", "i // 150", "1", "if(i < 2, 1, 2)"])
def test_few_values_that_determine_nothing(con: Connection, weight: str) -> None:
    con.execute(STRATA.replace("10.5 + i % 5", weight))
    assert about_weight(con, 40, "mondrian") == []


@pytest.mark.long
def test_a_column_of_a_related_table(con: Connection) -> None:
    con.execute("CREATE TABLE people AS SELECT i AS who, i % 4 AS age FROM range(80) AS t(i)")
    con.execute(
        "CREATE TABLE visits AS SELECT i % 80 AS who, i % 6 AS ward, i % 6 // 2 AS house FROM range(400) AS t(i)"
    )
    policy = """people (who ENTITY, age QUASI IDENTIFIER)
        WITH TABLE visits ON (who) (house QUASI IDENTIFIER{}, ward INSENSITIVE) REQUIRE k_anonymity(k => 1)"""
    hidden = [remark for remark in remarks(con, policy.format(" MIN LEVEL 1"), "") if remark.startswith("ward")]
    shown = [remark for remark in remarks(con, policy.format(""), "") if remark.startswith("ward")]
    assert shown == []
    assert hidden == [
        "ward of visits (INSENSITIVE) reveals values behind labels: 6 values in 400 rows, and each repeated value has "
        "one value of house; make it QUASI IDENTIFIER, or leave it out"
    ]


LIMITED = "t (age QUASI IDENTIFIER USING ages MAX LEVEL {}, ill SENSITIVE) REQUIRE k_anonymity(k => 8)"


def test_a_method_without_levels_says_that_it_keeps_none(con: Connection) -> None:
    con.execute("CREATE TABLE t AS SELECT 80 + i * i % 20 AS age, 'd' || i % 3 AS ill FROM range(40) AS r(i)")
    con.execute("CREATE HIERARCHY ages AS INTERVALS (2, 20)")

    def about_levels(level: int, method: str) -> list[str]:
        return [each for each in remarks(con, LIMITED.format(level), method) if "MAX LEVEL" in each]

    [remark] = about_levels(1, "METHOD mondrian")
    assert remark.startswith("mondrian has no levels, so it ignores MAX LEVEL of age: a range may contain more values")
    # A limit that limits nothing, and values that are published as they are.
    assert about_levels(3, "METHOD mondrian") == about_levels(1, "METHOD mondrian(publish => 'none')") == []
    # A statement without METHOD keeps the limit.
    con.execute(f"CREATE OR REPLACE POLICY p ON {LIMITED.format(2)}")
    rows = con.execute("EXPLAIN VERBOSE ANONYMIZED TABLE r2 AS POLICY p").fetchall()
    [refused] = [detail for stage, item, detail in rows if (stage, item) == ("compare", "mondrian")]
    assert refused == "refused: METHOD mondrian keeps no MAX LEVEL, and the policy says MAX LEVEL 2 of age"
