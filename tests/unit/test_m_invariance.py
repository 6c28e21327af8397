"""METHOD m_invariance: what it takes, what it refuses, and what becomes of its releases."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from sqlanon import Connection, DataError, PolicyError, PrivacyViolation, SqlanonError, UserError
from sqlanon.export.report import charts
from tests.support.invariance import KEY, counterfeits_of, people_in_series, publish, shown
from tests.support.reports import page_of

POLICY = """CREATE OR REPLACE POLICY p ON (SELECT *, who AS shown FROM people)
    (who ENTITY, shown INSENSITIVE, age QUASI IDENTIFIER, ill SENSITIVE)
    REQUIRE l_diversity(l => 2, variant => 'probabilistic')"""
# Three values, each twice: every way to deal them out gives everybody all three to choose from.
FIRST = [
    ("Ann", 30, "flu"),
    ("Ben", 31, "flu"),
    ("Cem", 40, "cold"),
    ("Dan", 41, "cold"),
    ("Eva", 50, "asthma"),
    ("Fay", 51, "asthma"),
]
CALL = "m_invariance(m => 3)"


@pytest.fixture
def con(monkeypatch: pytest.MonkeyPatch) -> Connection:
    return people_in_series(monkeypatch, POLICY)


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> Connection:
    return people_in_series(monkeypatch, POLICY, begin)


def begin(con: Connection) -> None:
    publish(con, FIRST, "r1", CALL)


def totals(con: Connection, name: str) -> tuple[int, int, int]:
    """How many rows, values and counterfeits a release has."""
    members, values = shown(con, name)
    return len(members), sum(map(len, values.values())), sum(counterfeits_of(con, name).values())


def tables(con: Connection) -> list[str]:
    found = con.duckdb.execute("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main' ORDER BY 1")
    return [name for (name,) in found.fetchall()]


@pytest.mark.long
def test_newcomers_fill_what_is_missing_and_counterfeits_the_rest(begun: Connection) -> None:
    rows = [row for row in FIRST if row[0] in ("Ann", "Eva", "Fay")]
    publish(begun, [*rows, ("Gus", 60, "cold")], "r2", CALL)
    assert totals(begun, "r2") == (4, 6, 2)
    _, values = shown(begun, "r2")
    assert [set(of) for of in values.values()] == [{"flu", "cold", "asthma"}] * 2
    checked = {row[1]: row[3:] for row in begun.execute("CHECK r2").fetchall()}
    assert checked["m_uniqueness"] == (3, 3, True)
    assert checked["counterfeits"] == (2, 2, True)
    assert [row[4] for row in begun.execute("CHECK r2 IN SERIES s").fetchall() if row[1] == "m_invariance"] == [3]


@pytest.mark.long
def test_what_is_published_shows_no_respondent_and_no_counterfeit(begun: Connection) -> None:
    publish(begun, FIRST[:3], "r2", CALL)
    columns = {
        table: [name for name, *_ in begun.duckdb.execute(f"DESCRIBE {table}").fetchall()] for table in tables(begun)
    }
    assert columns["r2_qi"] == ["shown", "age", "bucket"]
    assert columns["r2_sensitive"] == ["bucket", "value", "count"]
    assert columns["r2_counterfeits"] == ["bucket", "counterfeits"]
    # Ann and Ben have one value, so that there are two buckets, and three values are nobody's.
    assert totals(begun, "r2") == (3, 6, 3)
    order = begun.duckdb.execute("SELECT bucket, value FROM r2_sensitive").fetchall()
    assert order == sorted(order)


@pytest.mark.long
def test_who_was_away_keeps_the_values_to_choose_from(begun: Connection) -> None:
    others = [(f"n{i}", i, f"d{i % 3}") for i in range(9)]
    publish(begun, others, "r2", CALL)
    publish(begun, [*others, FIRST[0]], "r3", CALL)
    members, values = shown(begun, "r3")
    assert set(values[members["Ann"]]) == {"flu", "cold", "asthma"}
    assert totals(begun, "r3") == (10, 12, 2)


@pytest.mark.long
def test_a_newcomer_alone_is_among_counterfeits(begun: Connection) -> None:
    publish(begun, [*FIRST, ("Gus", 60, "ulcer")], "r2", CALL)
    members, values = shown(begun, "r2")
    assert totals(begun, "r2") == (7, 9, 2)
    assert counterfeits_of(begun, "r2") == {members["Gus"]: 2}
    assert "ulcer" in values[members["Gus"]]


def test_a_first_release_that_is_not_eligible_is_refused_with_the_counts(con: Connection) -> None:
    rows = [*FIRST, ("Gus", 60, "flu")]
    with pytest.raises(PrivacyViolation, match="ill is not 3-eligible: 3 of 7 rows have its most frequent value") as e:
        publish(con, rows, "r1", CALL)
    assert "no more than 2 may" in str(e.value)
    assert "m => 2 is the largest that works" in str(e.value.hint)
    assert "flu" not in str(e.value)
    assert tables(con) == ["people"]
    with pytest.raises(PrivacyViolation, match="not 2-eligible") as e:
        publish(con, [("Ann", 1, "flu")], "r1", "m_invariance(2)")
    assert "no m works" in str(e.value.hint)


def test_too_few_values_for_newcomers_are_refused(con: Connection) -> None:
    publish(con, [], "r1", CALL)
    with pytest.raises(PrivacyViolation, match="ill has 2 values, and the signature of each newcomer needs 3"):
        publish(con, [("Ann", 30, "flu"), ("Cem", 30, "cold")], "r2", CALL)
    assert tables(con) == ["people", "r1_counterfeits", "r1_qi", "r1_sensitive"]


def test_a_series_that_requires_a_greater_m_is_named(con: Connection) -> None:
    con.execute("DROP SERIES s; CREATE SERIES s ON POLICY p KEY 'SERIES_KEY' REQUIRE m_invariance(m => 3)")
    with pytest.raises(PrivacyViolation, match="not 3-eligible") as error:
        publish(con, [*FIRST, ("Gus", 60, "flu")], "r1", CALL)
    assert "m => 2 is the largest that works; the series requires m_invariance(m => 3)" in str(error.value.hint)


@pytest.mark.long
def test_hints_at_changed_values_are_of_what_the_series_takes(con: Connection) -> None:
    con.execute("DROP SERIES s; CREATE SERIES s ON POLICY p KEY 'SERIES_KEY' REQUIRE m_invariance(m => 3)")
    publish(con, FIRST, "r1", CALL)
    with pytest.raises(PrivacyViolation, match="1 respondent has another ill that") as error:
        publish(con, [("Ann", 30, "ulcer"), *FIRST[1:]], "r2", CALL)
    assert "new_signature" not in str(error.value.hint)
    assert "leave these respondents out of the source" in str(error.value.hint)
    publish(con, FIRST[1:], "r2", CALL)
    assert totals(con, "r2")[0] == 5


@pytest.mark.one_in(2)
@pytest.mark.parametrize("number", [1, 2])
def test_a_value_that_changed_is_refused_by_count(begun: Connection, number: int) -> None:
    rows = [(who, age, "ulcer" if i < number else ill) for i, (who, age, ill) in enumerate(FIRST)]
    said = "1 respondent has another ill that" if number == 1 else "2 respondents have another ill that"
    with pytest.raises(PrivacyViolation, match=said) as error:
        publish(begun, rows, "r2", CALL)
    assert not any(word in str(error.value) for word in ("Ann", "ulcer", "flu"))
    assert "changed => 'new_signature'" in str(error.value.hint)


def test_a_new_value_among_those_to_choose_from_is_not_noticed(begun: Connection) -> None:
    publish(begun, [("Ann", 30, "cold"), *FIRST[1:]], "r2", CALL)
    assert totals(begun, "r2") == (6, 9, 3)
    _, values = shown(begun, "r2")
    assert all(set(of) == {"flu", "cold", "asthma"} for of in values.values())


@pytest.mark.long
def test_with_new_signatures_a_release_says_of_how_many_nothing_is_promised(begun: Connection, tmp_path: Path) -> None:
    rows = [("Ann", 30, "ulcer"), *FIRST[1:]]
    call = "m_invariance(m => 3, changed => 'new_signature')"
    publish(begun, FIRST, "r1", call)
    publish(begun, rows, "r2", call)
    _, values = shown(begun, "r2")
    assert sum("ulcer" in of for of in values.values()) == 1
    checked = {row[1]: row[3:] for row in begun.execute("CHECK r2").fetchall()}
    assert checked["changed_values"] == (None, 1, True)
    assert {row[1]: row[3:] for row in begun.execute("CHECK r1").fetchall()}["changed_values"] == (None, 0, True)
    explained = begun.execute(f"EXPLAIN VERBOSE ANONYMIZED TABLE r3 AS POLICY p METHOD {call} IN SERIES s").fetchall()
    # What Ann has now she had to choose from in the last release.
    assert ("solve", "respondents", "6 keep their signature, 0 are newcomers") in explained
    assert [row[4] for row in begun.execute("CHECK r2 IN SERIES s").fetchall() if row[1] == "m_invariance"] == [1]
    begun.execute(f"EXPORT r2 TO '{tmp_path / 'out'}'")
    assert begun.execute(f"CHECK '{tmp_path / 'out' / 'certificate.json'}'").fetchall()
    certificate = (tmp_path / "out" / "certificate.md").read_text()
    assert "nothing is promised of them, nor of those who shared a bucket with them" in certificate


@pytest.mark.long
def test_a_series_that_requires_it_takes_no_new_signature(con: Connection) -> None:
    con.execute("DROP SERIES s; CREATE SERIES s ON POLICY p KEY 'SERIES_KEY' REQUIRE m_invariance(m => 3)")
    publish(con, FIRST, "r1", CALL)
    with pytest.raises(PrivacyViolation, match="respondents with another signature: 1"):
        publish(con, [("Ann", 30, "ulcer"), *FIRST[1:]], "r2", "m_invariance(m => 3, changed => 'new_signature')")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([*FIRST, ("Ann", 33, "cold")], "1 row of the source is of a respondent with another row"),
        (
            [*FIRST, ("Ann", 33, "cold"), ("Ben", 33, "cold")],
            "2 rows of the source are of respondents with another row",
        ),
        ([*FIRST, (None, 33, "cold"), (None, 34, "cold")], "2 rows of the source have no who"),
        ([*FIRST, (None, 33, "cold")], "1 row of the source has no who"),
    ],
)
def test_a_respondent_has_one_row(con: Connection, rows: list[tuple[object, ...]], words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        publish(con, rows, "r1", CALL)
    assert tables(con) == ["people"]


@pytest.mark.long
def test_releases_of_a_series_have_to_be_unique_and_large_enough(con: Connection) -> None:
    con.execute("ALTER POLICY p ALTER COLUMN age QUASI IDENTIFIER MIN LEVEL 1")
    con.execute("ALTER POLICY p ALTER COLUMN shown IDENTIFIER")
    con.duckdb.executemany("INSERT INTO people VALUES (?, ?, ?)", [list(row) for row in FIRST])
    con.execute("CREATE ANONYMIZED TABLE r1 AS POLICY p IN SERIES s")
    con.execute("ALTER POLICY p ALTER COLUMN age QUASI IDENTIFIER")
    with pytest.raises(PolicyError, match="has a value in two rows"):
        publish(con, FIRST, "r2", CALL)
    con.execute("DROP SERIES s; CREATE SERIES s ON POLICY p KEY 'SERIES_KEY'")
    publish(con, FIRST, "r2", "m_invariance(m => 2)")
    with pytest.raises(PolicyError, match="signatures of fewer than 4 values"):
        publish(con, FIRST, "r3", "m_invariance(m => 4)")


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (
            POLICY.replace("shown INSENSITIVE", "shown SENSITIVE"),
            "needs exactly one SENSITIVE column, and the policy has 2",
        ),
        (
            POLICY.replace(
                "ON (SELECT *, who AS shown FROM people)", "ON (SELECT *, who AS bucket FROM people)"
            ).replace("shown", "bucket"),
            "m_invariance adds a column bucket",
        ),
    ],
)
def test_policies_that_are_refused(con: Connection, policy: str, words: str) -> None:
    con.execute(f"DROP SERIES s; {policy}")
    con.execute("CREATE SERIES s ON POLICY p KEY 'SERIES_KEY'")
    with pytest.raises(PolicyError, match=words):
        publish(con, FIRST, "r1", CALL)


def test_a_frontier_has_no_such_candidates(con: Connection) -> None:
    con.duckdb.executemany("INSERT INTO people VALUES (?, ?, ?)", [list(row) for row in FIRST])
    rows = con.execute("FRONTIER f ON POLICY p METHODS (m_invariance(m => 2)) MEASURE gain").fetchall()
    assert any("which only the ledger of a series knows" in str(row) for row in rows)


def test_outside_of_a_series_it_is_refused_with_a_hint(con: Connection) -> None:
    with pytest.raises(PolicyError, match="which only the ledger of a series knows") as error:
        con.execute(f"CREATE ANONYMIZED TABLE r1 AS POLICY p METHOD {CALL}")
    assert "CREATE SERIES name ON POLICY policy" in str(error.value.hint)


def test_a_table_of_its_name_is_not_replaced(con: Connection) -> None:
    con.duckdb.execute("CREATE TABLE r1_counterfeits AS SELECT 1 AS mine")
    with pytest.raises(UserError, match=r"publishes a table main\.r1_counterfeits"):
        publish(con, FIRST, "r1", CALL)


@pytest.mark.long
def test_a_requirement_of_sizes_does_not_count_counterfeits(con: Connection) -> None:
    con.execute(POLICY.replace("l_diversity(l => 2, variant => 'probabilistic')", "k_anonymity(k => 3)"))
    con.execute("DROP SERIES s; CREATE SERIES s ON POLICY p KEY 'SERIES_KEY'")
    publish(con, FIRST, "r1", CALL)
    with pytest.raises(PrivacyViolation, match=r"violate k_anonymity\(k => 3\): it reaches [12]") as error:
        publish(con, FIRST[:5], "r2", CALL)
    assert "ALTER POLICY p REQUIRE" in str(error.value.hint)
    con.execute("ALTER POLICY p REQUIRE k_anonymity(k => 1)")
    publish(con, FIRST[:5], "r2", CALL)
    assert totals(con, "r2") == (5, 6, 1)


def test_a_refresh_stays_in_the_series(begun: Connection) -> None:
    begun.duckdb.execute("DELETE FROM people WHERE who = 'Ann'")
    begun.execute("REFRESH ANONYMIZED TABLE r1")
    assert begun.execute("SHOW SERIES").fetchall() == [("s", "p", 2, 6)]
    assert totals(begun, "r1") == (5, 6, 1)


def test_the_tables_are_compared_with_the_ledger(begun: Connection) -> None:
    begun.duckdb.execute("UPDATE r1_sensitive SET value = 'ulcer' WHERE value = 'flu'")
    with pytest.raises(PrivacyViolation, match="does not show the classes that it had"):
        begun.execute("CHECK r1 IN SERIES s")


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE r2_counterfeits SET counterfeits = counterfeits + 1",
        "DELETE FROM r2_counterfeits",
        "DELETE FROM r2_sensitive WHERE rowid = 0",
        "INSERT INTO r2_sensitive FROM r2_sensitive LIMIT 1",
        "INSERT INTO r2_qi SELECT * REPLACE ('Zoe' AS shown) FROM r2_qi LIMIT 1",
    ],
)
def test_changed_tables_keep_no_promise(begun: Connection, change: str) -> None:
    publish(begun, FIRST[:3], "r2", CALL)
    begun.duckdb.execute(change)
    with pytest.raises(SqlanonError):
        begun.execute("CHECK r2")
    with pytest.raises(SqlanonError):
        begun.execute("EXPORT r2 TO 'nowhere'")
    with pytest.raises(DataError):
        begun.execute("ESTIMATE SELECT count(*) AS n FROM r2 WHERE ill = 'flu' FROM RELEASE r2")


@pytest.mark.long
def test_estimates_of_a_release_and_of_its_export_leave_counterfeits_out(begun: Connection, tmp_path: Path) -> None:
    publish(begun, FIRST[:2], "r2", CALL)
    begun.execute(f"EXPORT r2 TO '{tmp_path / 'out'}'")
    for source in ("r2", f"'{tmp_path / 'out' / 'certificate.json'}'"):
        for condition, expected in (
            # Each of two people has each of three values.
            ("ill = 'flu'", (2 / 3, 0, 2)),
            ("ill <> 'ulcer'", (2, 2, 2)),
            ("true", (2, 2, 2)),
            ("ill = 'flu' AND age = 30", (1 / 3, 0, 1)),
        ):
            query = f"SELECT count(*) AS n FROM r2 WHERE {condition}"
            [(n, _, low, high, _)] = begun.execute(f"ESTIMATE {query} FROM RELEASE {source}").fetchall()
            assert (pytest.approx(n), low, high) == expected
    assert begun.execute(f"CHECK '{tmp_path / 'out' / 'certificate.json'}'").fetchall()


@pytest.mark.long
@pytest.mark.parametrize("format_", ["csv", "parquet"])
@pytest.mark.parametrize("changed", ["refuse", "new_signature"])
def test_an_export_of_any_format_is_checked_and_estimated_from(
    begun: Connection, tmp_path: Path, format_: str, changed: str
) -> None:
    publish(begun, FIRST[:2], "r2", f"m_invariance(m => 3, changed => '{changed}')")
    out = tmp_path / "out"
    begun.execute(f"EXPORT r2 TO '{out}' (FORMAT {format_})")
    checked = {row[1]: row[3:6] for row in begun.execute(f"CHECK '{out}'").fetchall()}
    assert checked["m_uniqueness"] == (3, 3, True)
    assert checked["counterfeits"] == (4, 4, True)
    assert ("changed_values" in checked) == (changed == "new_signature")
    query = "SELECT count(*) AS n FROM r2 WHERE ill = 'flu'"
    [(n, _, low, high, _)] = begun.execute(f"ESTIMATE {query} FROM RELEASE '{out}'").fetchall()
    assert (pytest.approx(n), low, high) == (2 / 3, 0, 2)


@pytest.mark.long
def test_an_export_with_other_counterfeits_than_stated_keeps_no_promise(begun: Connection, tmp_path: Path) -> None:
    publish(begun, FIRST[:2], "r2", CALL)
    out = tmp_path / "out"
    begun.execute(f"EXPORT r2 TO '{out}' (FORMAT csv)")
    file = out / "r2_counterfeits.csv"
    certified = file.read_bytes()
    file.write_bytes(certified.replace(b",2", b",1"))
    with pytest.raises(PrivacyViolation, match="is not the file that"):
        begun.execute(f"CHECK '{out}'")
    # A certificate that was forged, too.
    certificate, digests = (
        out / "certificate.json",
        [hashlib.sha256(of).hexdigest() for of in (certified, file.read_bytes())],
    )
    certificate.write_text(certificate.read_text().replace(*digests))
    with pytest.raises(PrivacyViolation, match="some buckets have other numbers of counterfeits than are stated"):
        begun.execute(f"CHECK '{out}'")
    with pytest.raises(DataError):
        begun.execute(f"ESTIMATE SELECT count(*) AS n FROM r2 FROM RELEASE '{out}'")


def test_an_export_of_three_databases_says_what_can_be_checked(begun: Connection, tmp_path: Path) -> None:
    begun.execute(f"EXPORT r1 TO '{tmp_path / 'out'}' (FORMAT duckdb)")
    with pytest.raises(UserError, match="are in 3 files of the format duckdb") as error:
        begun.execute(f"CHECK '{tmp_path / 'out'}'")
    assert "parquet or csv" in str(error.value.hint)


@pytest.mark.long
@pytest.mark.parametrize("pseudonym", ["PSEUDONYM", "PSEUDONYM KEY 'SERIES_KEY'"])
def test_what_has_pseudonyms_is_explained(con: Connection, pseudonym: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERIES_KEY", KEY * 2)
    con.execute(POLICY.replace("who ENTITY", f"who ENTITY {pseudonym}"))
    con.execute("DROP SERIES s; CREATE SERIES s ON POLICY p KEY 'SERIES_KEY'")
    con.duckdb.executemany("INSERT INTO people VALUES (?, ?, ?)", [list(row) for row in FIRST])
    create = f"ANONYMIZED TABLE r{{}} AS POLICY p METHOD {CALL} IN SERIES s"
    for number, respondents in enumerate(("0 keep", "6 keep")):
        explained = con.execute(f"EXPLAIN VERBOSE {create.format(number)}").fetchall()
        assert any(item == "respondents" and detail.startswith(respondents) for _, item, detail in explained)
        assert ("bind", "who", "entity, published as a token") in explained
        con.execute(f"CREATE {create.format(number)}")
        assert con.duckdb.execute(f"SELECT count(DISTINCT who) FROM r{number}_qi").fetchall() == [(6,)]


@pytest.mark.long
def test_certificates_and_reports_say_that_values_may_be_counterfeits(
    begun: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(charts, "_scripts", lambda: ("0;",))
    publish(begun, FIRST[:2], "r2", CALL)
    begun.execute(f"EXPORT r2 TO '{tmp_path / 'out'}'")
    certificate = (tmp_path / "out" / "certificate.md").read_text()
    said = dict(re.findall(r"\| `r2_sensitive` \| 6 \| `(\w+)` \| `\w+` \| (.*) \|", certificate))
    assert said == {
        "bucket": "the number of the bucket",
        "value": "a value of one row of the bucket, or a counterfeit, which no row has, of `ill`",
        "count": "how many rows and counterfeits of the bucket have the value beside it",
    }
    text = page_of(begun, "r2").text
    assert "as a value of some row of a bucket, or a counterfeit" in text
    assert "how many rows and counterfeits of a bucket have the value" in text


@pytest.mark.long
def test_a_release_with_counterfeits_is_measured_and_attacked(begun: Connection) -> None:
    publish(begun, FIRST[:2], "r2", CALL)
    begun.execute("MEASURE r2; CREATE WORKLOAD w ON POLICY p (queries => 5, seed => 1); MEASURE r2 WITH WORKLOAD w")
    for attack, certainty in (("homogeneity", 1 / 3), ("background", 1 / 2)):
        [(_, attribute, _, exposed, _, _, surest, _)] = begun.execute(f"ATTACK r2 WITH {attack}").fetchall()
        assert (attribute, exposed, surest) == ("ill", 0, pytest.approx(certainty))
    for attack in ("minimality", "composition(with => r1)"):
        with pytest.raises(PolicyError):
            begun.execute(f"ATTACK r2 WITH {attack}")


@pytest.mark.long
def test_what_counts_rows_does_not_count_counterfeits(begun: Connection) -> None:
    publish(begun, FIRST[:2], "r2", CALL)
    begun.execute("MEASURE r2 WITH FIGURES (class_sizes, membership)")
    figures = dict(begun.duckdb.execute("SELECT figure, value FROM anon.release_figure").fetchall())
    assert (figures["least_class_size"], figures["greatest_class_size"]) == (1, 1)
    with pytest.raises(PolicyError, match="has counterfeits"):
        begun.execute("ATTACK r2 WITH definetti")


@pytest.mark.one_in(8)
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("BOOLEAN", ["true", "false", None]),
        ("INTEGER", [1, -2, None]),
        ("DOUBLE", [0.1, -0.0, float("nan")]),
        ("DECIMAL(18,3)", ["1.500", "2", None]),
        ("DATE", ["2020-02-29", "1900-01-01", None]),
        ("TIMESTAMP WITH TIME ZONE", ["2020-02-29 12:00:00+00", "2020-10-25 01:30:00+01", None]),
        ("ENUM('a', 'b', 'c')", ["a", "b", None]),
        ("VARCHAR", ["", "it's\n", None]),
    ],
)
def test_values_of_any_type_are_counterfeited(con: Connection, kind: str, values: list[object]) -> None:
    con.execute("DROP SERIES s; DROP POLICY p")
    con.duckdb.execute(f"CREATE OR REPLACE TABLE people (who VARCHAR, age INTEGER, ill {kind})")
    con.execute(POLICY)
    con.execute("CREATE SERIES s ON POLICY p KEY 'SERIES_KEY' REQUIRE m_invariance(m => 3)")
    rows = [(f"{i}", i, values[i % 3]) for i in range(6)]
    publish(con, rows, "r1", CALL)
    con.duckdb.execute("SET TimeZone = 'America/New_York'")
    publish(con, rows[:1], "r2", CALL)
    assert totals(con, "r2") == (1, 3, 2)
    both = "SELECT value FROM r{}_sensitive GROUP BY value ORDER BY value NULLS LAST"
    first, second = (con.duckdb.execute(both.format(number)).fetchall() for number in (1, 2))
    assert str(first) == str(second)


def test_names_that_have_to_be_quoted(con: Connection) -> None:
    con.execute("DROP SERIES s; DROP POLICY p")
    con.duckdb.execute(
        'CREATE TABLE "a ""t" AS SELECT i AS "who\'s", i AS "__sqlanon_respondent", i % 2 AS "é ill" FROM range(4) t(i)'
    )
    con.execute(
        'CREATE POLICY p ON "a ""t" ("who\'s" ENTITY, "__sqlanon_respondent" QUASI IDENTIFIER, "é ill" SENSITIVE) '
        "REQUIRE l_diversity(l => 2, variant => 'probabilistic')"
    )
    con.execute("CREATE SERIES \"s'\" ON POLICY p KEY 'SERIES_KEY'")
    con.execute('CREATE ANONYMIZED TABLE "r ""1" AS POLICY p METHOD m_invariance(2) IN SERIES "s\'"')
    assert con.duckdb.execute('SELECT count(*), count("__sqlanon_respondent") FROM "r ""1_qi"').fetchall() == [(4, 4)]
    assert con.execute('CHECK "r ""1" IN SERIES "s\'"').fetchall()[1][4] == 2
