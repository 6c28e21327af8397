"""METHOD m_invariance with publish => 'ranges': what it takes, what it refuses, and what becomes of its releases."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from pathlib import Path

import pytest

from sqlanon import Connection, DataError, PolicyError, PrivacyViolation, SqlanonError, UserError
from sqlanon.export.report import charts
from tests.support.invariance import counterfeits_of, in_ranges, people_in_series, publish
from tests.support.reports import page_of

POLICY = """CREATE OR REPLACE POLICY p ON people (who ENTITY, age QUASI IDENTIFIER, ill SENSITIVE)
    REQUIRE l_diversity(l => 2, variant => 'probabilistic')"""
# Three values, each twice: every way to deal them out gives everybody all three to choose from.
FIRST = [
    ("Ann", 30, "flu"),
    ("Ben", 41, "flu"),
    ("Cem", 40, "cold"),
    ("Dan", 31, "cold"),
    ("Eva", 42, "asthma"),
    ("Fay", 33, "asthma"),
]
PEOPLE = [who for who, *_ in FIRST]
CALL = "m_invariance(m => 3, publish => 'ranges')"


@pytest.fixture
def con(monkeypatch: pytest.MonkeyPatch) -> Connection:
    return people_in_series(monkeypatch, POLICY)


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> Connection:
    return people_in_series(monkeypatch, POLICY, begin)


def begin(con: Connection) -> None:
    publish(con, FIRST, "r1", CALL)


def rows_of(con: Connection, name: str) -> Counter[tuple[object, ...]]:
    return Counter(con.duckdb.execute(f"SELECT age, ill FROM {name}_rows").fetchall())


def test_rows_of_a_class_are_near_and_show_its_range(begun: Connection) -> None:
    diseases = ("flu", "cold", "asthma")
    assert rows_of(begun, "r1") == Counter((age, ill) for ill in diseases for age in ("[30, 33]", "[40, 42]"))
    assert counterfeits_of(begun, "r1") == {}


def test_counterfeits_are_rows_like_the_others(begun: Connection) -> None:
    publish(begun, FIRST[:3], "r2", CALL)
    # Ann and Ben have one value, so that there are two classes, and three rows are nobody's.
    members, values = in_ranges(begun, "r2", PEOPLE)
    assert len(members) == 3
    assert [sorted(of) for of in values.values()] == [["asthma", "cold", "flu"]] * 2
    assert sum(counterfeits_of(begun, "r2").values()) == 3
    # Cem lies with Ben or, by chance, beside Ann; either way all rows of a class show the same.
    assert len(begun.duckdb.execute("SELECT DISTINCT bucket, age FROM r2_rows").fetchall()) == 2
    columns = {
        table: [name for name, *_ in begun.duckdb.execute(f"DESCRIBE r2_{table}").fetchall()]
        for table in ("rows", "counterfeits")
    }
    assert columns == {"rows": ["age", "ill", "bucket"], "counterfeits": ["bucket", "counterfeits"]}


@pytest.mark.long
def test_which_row_is_a_counterfeit_is_not_told_by_its_place(begun: Connection) -> None:
    """Ann alone has the flu: over many releases her value stands first, second and third in its class as often."""
    places = Counter[int]()
    for _ in range(60):
        publish(begun, FIRST[:1], "r2", CALL)
        diseases = [ill for (ill,) in begun.duckdb.execute("SELECT ill FROM r2_rows ORDER BY rowid").fetchall()]
        assert len(diseases) == 3
        places[diseases.index("flu")] += 1
    # 20 of each are expected; fewer than 4 of one come with a chance of less than one in a million.
    assert min(places[place] for place in range(3)) >= 4


@pytest.mark.long
def test_the_numbers_of_buckets_tell_nothing_of_counterfeits(con: Connection) -> None:
    publish(con, [(f"p{i}", i, f"d{i % 2}") for i in range(40)], "r1", "m_invariance(2, publish => 'ranges')")
    publish(
        con, [(f"p{i}", i, f"d{i % 2}") for i in range(40) if i % 4 != 1], "r2", "m_invariance(2, publish => 'ranges')"
    )
    buckets = sorted(counterfeits_of(con, "r2"))
    assert len(buckets) == 10
    assert buckets not in ([*range(1, 11)], [*range(11, 21)])


def test_one_signature_and_one_row_of_each_value(con: Connection) -> None:
    publish(con, [("Ann", 30, "flu"), ("Ben", 31, "cold")], "r1", "m_invariance(2, publish => 'ranges')")
    assert rows_of(con, "r1") == Counter([("[30, 31]", "flu"), ("[30, 31]", "cold")])


def test_values_and_quasi_identifiers_that_are_null(con: Connection) -> None:
    rows = [("Ann", None, None), ("Ben", 31, "cold"), ("Cem", None, "cold"), ("Dan", None, None)]
    publish(con, rows, "r1", "m_invariance(2, publish => 'ranges')")
    shown = rows_of(con, "r1")
    assert shown == Counter([("31 or NULL", None), ("31 or NULL", "cold"), (None, None), (None, "cold")])
    publish(con, rows[:1], "r2", "m_invariance(2, publish => 'ranges')")
    assert rows_of(con, "r2") == Counter([(None, None), (None, "cold")])
    assert all(row[5] for row in con.execute("CHECK r2").fetchall())


@pytest.mark.long
def test_a_series_may_go_from_buckets_to_ranges_and_back(con: Connection) -> None:
    con.execute("DROP SERIES s; CREATE SERIES s ON POLICY p KEY 'SERIES_KEY' REQUIRE m_invariance(m => 3)")
    for number, call in enumerate(("m_invariance(m => 3)", CALL, "m_invariance(m => 3)")):
        publish(con, FIRST[number:], f"r{number}", call)
    reached = {row[1]: row[4:] for row in con.execute("CHECK r2 IN SERIES s").fetchall()}
    assert reached["m_invariance"] == (3, True)


def test_hierarchies_give_ranges_along_them(con: Connection) -> None:
    con.execute("CREATE TABLE tree AS FROM (VALUES ('b1', 'B'), ('a2', 'A'), ('a1', 'A'), ('b2', 'B')) AS t (item, up)")
    con.execute("CREATE HIERARCHY items AS LEVELS (SELECT item, up FROM tree)")
    con.execute("DROP SERIES s; DROP POLICY p; CREATE OR REPLACE TABLE people (who VARCHAR, age VARCHAR, ill VARCHAR)")
    con.execute(POLICY.replace("age QUASI IDENTIFIER", "age QUASI IDENTIFIER USING items"))
    con.execute("CREATE SERIES s ON POLICY p KEY 'SERIES_KEY'")
    rows = [("Ann", "a1", "flu"), ("Ben", "b2", "flu"), ("Cem", "b1", "cold"), ("Dan", "a2", "cold")]
    publish(con, rows, "r1", "m_invariance(2, publish => 'ranges')")
    assert {age for age, _ in rows_of(con, "r1")} == {"[a1, a2]", "[b1, b2]"}


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (
            POLICY.replace("ON people", "ON (SELECT *, 1 AS ward FROM people)").replace(
                "age QUASI", "ward INSENSITIVE, age QUASI"
            ),
            "counterfeits have no ward",
        ),
        (POLICY.replace("who ENTITY", "who ENTITY PSEUDONYM"), "counterfeits have no token, but who is a pseudonym"),
        (
            POLICY.replace("age QUASI IDENTIFIER", "age QUASI IDENTIFIER MIN LEVEL 1"),
            "has no levels, and age has a MIN",
        ),
        (
            POLICY.replace("age QUASI", "bucket QUASI").replace(
                "ON people", "ON (SELECT *, age AS bucket FROM people)"
            ),
            "m_invariance adds a column bucket",
        ),
    ],
)
def test_policies_that_are_refused(con: Connection, policy: str, words: str) -> None:
    con.execute(f"DROP SERIES s; {policy}")
    con.execute("CREATE SERIES s ON POLICY p KEY 'SERIES_KEY'")
    with pytest.raises(PolicyError, match=words) as error:
        publish(con, FIRST, "r1", CALL)
    assert error.value.hint
    assert con.duckdb.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name LIKE 'r1%'").fetchall() == [(0,)]


def test_rows_of_nobody_are_refused_and_not_taken_for_counterfeits(con: Connection) -> None:
    with pytest.raises(PolicyError, match="1 row of the source has no who"):
        publish(con, [*FIRST, (None, 33, "flu")], "r1", CALL)


def test_a_table_of_its_name_is_not_replaced(con: Connection) -> None:
    con.duckdb.execute("CREATE TABLE r1_rows AS SELECT 1 AS mine")
    with pytest.raises(UserError, match=r"publishes a table main\.r1_rows"):
        publish(con, FIRST, "r1", CALL)


@pytest.mark.long
def test_a_requirement_of_sizes_does_not_count_counterfeits(con: Connection) -> None:
    con.execute(POLICY.replace("l_diversity(l => 2, variant => 'probabilistic')", "k_anonymity(k => 3)"))
    con.execute("DROP SERIES s; CREATE SERIES s ON POLICY p KEY 'SERIES_KEY'")
    publish(con, FIRST, "r1", CALL)
    with pytest.raises(PrivacyViolation, match=r"violate k_anonymity\(k => 3\): it reaches [12]"):
        publish(con, FIRST[:5], "r2", CALL)
    con.execute("ALTER POLICY p REQUIRE k_anonymity(k => 1)")
    publish(con, FIRST[:5], "r2", CALL)
    reached = {row[1]: row[4:] for row in con.execute("CHECK r2").fetchall()}
    assert reached["k_anonymity"] == (2, True)
    con.execute("MEASURE r2 WITH FIGURES (class_sizes)")
    figures = dict(con.duckdb.execute("SELECT figure, value FROM anon.release_figure").fetchall())
    assert (figures["least_class_size"], figures["greatest_class_size"]) == (2, 3)


def test_counts_of_rows_are_those_of_people(begun: Connection) -> None:
    publish(begun, FIRST[:2], "r2", CALL)
    assert begun.duckdb.execute("SELECT count(*) FROM r2_rows").fetchall() == [(6,)]
    counts = "SELECT source_rows, released_rows, suppressed_rows FROM anon.release WHERE object_name = 'r2'"
    assert begun.duckdb.execute(counts).fetchall() == [(2, 2, 0)]
    assert begun.execute("SHOW SERIES").fetchall() == [("s", "p", 2, 6)]
    begun.execute("MEASURE r2 WITH FIGURES (granularity_loss)")
    [(loss, measured)] = begun.duckdb.execute(
        "SELECT loss, value FROM anon.release JOIN anon.release_figure USING (release_id) WHERE object_name = 'r2' "
        "AND figure = 'granularity_loss' AND attribute IS NULL"
    ).fetchall()
    assert loss == pytest.approx(measured)


@pytest.mark.long
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE r2_counterfeits SET counterfeits = counterfeits - 1",
        "UPDATE r2_counterfeits SET counterfeits = 3",
        "UPDATE r2_counterfeits SET bucket = NULL",
        "DELETE FROM r2_counterfeits",
        "INSERT INTO r2_counterfeits VALUES (7, 1)",
        "DELETE FROM r2_rows WHERE rowid = 0",
        "INSERT INTO r2_rows FROM r2_rows LIMIT 1",
        "UPDATE r2_rows SET age = '[1, 2]' WHERE rowid = 0",
        "UPDATE r2_rows SET bucket = 3 - bucket WHERE rowid = 0",
        "UPDATE r2_rows SET ill = 'ulcer' WHERE rowid = 0",
    ],
)
def test_changed_tables_keep_no_promise(begun: Connection, change: str) -> None:
    publish(begun, FIRST[:3], "r2", CALL)
    begun.duckdb.execute(change)
    for statement in ("CHECK r2", "EXPORT r2 TO 'nowhere'"):
        with pytest.raises(SqlanonError):
            begun.execute(statement)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE r2_counterfeits SET counterfeits = counterfeits - 1",
        "UPDATE r2_rows SET ill = 'ulcer' WHERE rowid = 0",
        "UPDATE r2_rows SET bucket = 3 - bucket WHERE rowid = 0",
    ],
)
def test_the_tables_are_compared_with_the_ledger(begun: Connection, change: str) -> None:
    publish(begun, FIRST[:3], "r2", CALL)
    begun.duckdb.execute(change)
    with pytest.raises(PrivacyViolation, match="does not show the classes that it had"):
        begun.execute("CHECK r2 IN SERIES s")


def test_no_estimate_is_made_of_more_counterfeits_than_rows(begun: Connection) -> None:
    publish(begun, FIRST[:3], "r2", CALL)
    begun.duckdb.execute("UPDATE r2_counterfeits SET counterfeits = 4")
    with pytest.raises(DataError):
        begun.execute("ESTIMATE SELECT count(*) AS n FROM r2 WHERE ill = 'flu' FROM RELEASE r2")


@pytest.mark.long
def test_estimates_of_a_release_and_of_its_export_leave_counterfeits_out(begun: Connection, tmp_path: Path) -> None:
    publish(begun, [*FIRST[:1], FIRST[4]], "r2", CALL)
    # Ann and Eva are of one class, [30, 42], whose third row is nobody's.
    assert rows_of(begun, "r2") == Counter(("[30, 42]", ill) for ill in ("flu", "cold", "asthma"))
    for format_ in ("csv", "parquet"):
        begun.execute(f"EXPORT r2 TO '{tmp_path / format_}' (FORMAT {format_})")
    for source in ("r2", f"'{tmp_path / 'csv'}'", f"'{tmp_path / 'parquet'}'"):
        for condition, expected in (
            # Each of two people has one of three values.
            ("ill = 'flu'", (2 / 3, 0, 1)),
            ("ill <> 'ulcer'", (2, 2, 2)),
            ("ill <> 'flu'", (4 / 3, 1, 2)),
            ("true", (2, 2, 2)),
            ("age > 20", (2, 2, 2)),
            ("age < 30", (0, 0, 0)),
        ):
            query = f"SELECT count(*) AS n FROM r2 WHERE {condition}"
            [(n, _, low, high, _)] = begun.execute(f"ESTIMATE {query} FROM RELEASE {source}").fetchall()
            assert (pytest.approx(n), low, high) == expected, (source, condition)
    assert begun.execute(f"CHECK '{tmp_path / 'csv'}'").fetchall()


@pytest.mark.long
def test_an_export_with_other_counterfeits_than_stated_keeps_no_promise(begun: Connection, tmp_path: Path) -> None:
    publish(begun, FIRST[:2], "r2", CALL)
    out = tmp_path / "out"
    begun.execute(f"EXPORT r2 TO '{out}' (FORMAT csv)")
    file = out / "r2_counterfeits.csv"
    certified = file.read_bytes()
    file.write_bytes(certified.replace(b",2", b",3"))
    with pytest.raises(PrivacyViolation, match="is not the file that"):
        begun.execute(f"CHECK '{out}'")
    # A certificate that was forged, too.
    digests = [hashlib.sha256(of).hexdigest() for of in (certified, file.read_bytes())]
    certificate = out / "certificate.json"
    certificate.write_text(certificate.read_text().replace(*digests))
    with pytest.raises(PrivacyViolation, match="some buckets have other numbers of counterfeits than are stated"):
        begun.execute(f"CHECK '{out}'")


@pytest.mark.long
def test_certificates_and_reports_say_that_rows_may_be_counterfeits(
    begun: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(charts, "_scripts", lambda: ("0;",))
    publish(begun, FIRST[:2], "r2", CALL)
    begun.execute(f"EXPORT r2 TO '{tmp_path / 'out'}'")
    certificate = (tmp_path / "out" / "certificate.md").read_text()
    assert "2 of the source's 2 rows; 0 suppressed." in certificate
    assert "Some rows may be counterfeits, which are nobody's" in certificate
    said = dict(re.findall(r"\| `r2_rows` \| 6 \| `(\w+)` \| `\w+` \| (.*) \|", certificate))
    assert said == {
        "age": "the range of the values that the people of the bucket have",
        "ill": "a value of one row of the bucket, or a counterfeit, which no row has",
        "bucket": "the number of the bucket",
    }
    text = page_of(begun, "r2").text
    assert "as a value of some row of a bucket, or a counterfeit" in text
    assert "as the range of a bucket" in text


@pytest.mark.long
def test_a_release_is_measured_and_attacked_where_counterfeits_are_not_taken_for_people(begun: Connection) -> None:
    publish(begun, FIRST[:2], "r2", CALL)
    begun.execute("MEASURE r2; CREATE WORKLOAD w ON POLICY p (queries => 5, seed => 1); MEASURE r2 WITH WORKLOAD w")
    for attack, certainty in (("homogeneity", 1 / 3), ("background", 1 / 2)):
        [(_, attribute, _, exposed, _, _, surest, _)] = begun.execute(f"ATTACK r2 WITH {attack}").fetchall()
        assert (attribute, exposed, surest) == ("ill", 0, pytest.approx(certainty))
    begun.execute("CREATE TABLE voters AS SELECT who, age FROM people")
    for attack in ("minimality", "composition(with => r1)", "definetti", "linkage(against => voters)", "order"):
        with pytest.raises(SqlanonError):
            begun.execute(f"ATTACK r2 WITH {attack}")
    with pytest.raises(PolicyError):
        begun.execute("MEASURE r2 WITH FIGURES (membership)")


def test_a_refresh_stays_in_the_series(begun: Connection) -> None:
    begun.duckdb.execute("DELETE FROM people WHERE who = 'Ann'")
    begun.execute("REFRESH ANONYMIZED TABLE r1")
    assert sum(counterfeits_of(begun, "r1").values()) == 1


def test_an_explanation_says_what_ranges_lose(begun: Connection) -> None:
    explained = begun.execute(f"EXPLAIN VERBOSE ANONYMIZED TABLE r2 AS POLICY p METHOD {CALL} IN SERIES s").fetchall()
    assert ("bind", "age", "quasi_identifier, published as ranges in r2_rows") in explained
    assert ("bind", "ill", "sensitive, published by bucket in r2_rows") in explained
    assert any(item == "granularity loss" for _, item, _ in explained)


@pytest.mark.long
def test_names_that_have_to_be_quoted(con: Connection) -> None:
    con.execute("DROP SERIES s; DROP POLICY p")
    con.duckdb.execute(
        'CREATE TABLE "a ""t" AS SELECT i AS "who\'s", i AS "__sqlanon_respondent", i % 3 AS "select", '
        'i % 2 AS "é ill" FROM range(8) t(i)'
    )
    con.execute(
        'CREATE POLICY p ON "a ""t" ("who\'s" ENTITY, "__sqlanon_respondent" QUASI IDENTIFIER, '
        '"select" QUASI IDENTIFIER, "é ill" SENSITIVE) REQUIRE l_diversity(l => 2, variant => \'probabilistic\')'
    )
    con.execute("CREATE SERIES \"s'\" ON POLICY p KEY 'SERIES_KEY'")
    call = "m_invariance(2, publish => 'ranges')"
    con.execute(f'CREATE ANONYMIZED TABLE "r ""1" AS POLICY p METHOD {call} IN SERIES "s\'"')
    con.duckdb.execute('DELETE FROM "a ""t" WHERE "é ill" = 1 AND "who\'s" > 2')
    con.execute(f'CREATE ANONYMIZED TABLE "r ""2" AS POLICY p METHOD {call} IN SERIES "s\'"')
    assert con.duckdb.execute('SELECT count(*), count("__sqlanon_respondent") FROM "r ""2_rows"').fetchall() == [(8, 8)]
    assert con.duckdb.execute('SELECT sum(counterfeits) FROM "r ""2_counterfeits"').fetchall() == [(3,)]
    assert con.execute('CHECK "r ""2" IN SERIES "s\'"').fetchall()[1][4] == 2


def test_a_class_is_halved_in_the_second_attribute_if_its_rows_vary_more_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variances of x, twice as important, and of y in the last four rows are 0.062 and 0.067."""
    policy = """CREATE OR REPLACE POLICY p ON points (
        who ENTITY, x QUASI IDENTIFIER WEIGHT 2, y QUASI IDENTIFIER, ill SENSITIVE
    ) REQUIRE l_diversity(l => 2, variant => 'probabilistic')"""
    con = people_in_series(monkeypatch, POLICY)
    con.execute("CREATE TABLE points (who VARCHAR, x INTEGER, y INTEGER, ill VARCHAR)")
    for x, y in enumerate([0, 1, 2, 3, 4, 5, 6, 8, 17, 7]):
        con.duckdb.execute("INSERT INTO points VALUES (?, ?, ?, ?)", [f"p{x}", x, y, f"d{x % 2}"])
    con.execute(policy)
    con.execute("CREATE SERIES t ON POLICY p KEY 'SERIES_KEY'")
    con.execute("CREATE ANONYMIZED TABLE g AS POLICY p METHOD m_invariance(2, publish => 'ranges') IN SERIES t")
    shown = con.duckdb.execute("SELECT DISTINCT x, y FROM g_rows ORDER BY x").fetchall()
    assert shown[-2:] == [("[6, 9]", "[6, 7]"), ("[7, 8]", "[8, 17]")]
