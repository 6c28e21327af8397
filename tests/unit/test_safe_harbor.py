"""CHECK ... FOR SAFE HARBOR: the findings on the 18 identifiers, of a policy with its columns and of a release."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon import Connection, PolicyError, SqlanonError, StatementError, UserError
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.statements.parser import parse_script
from sqlanon.statements.run import run_statement
from tests.support.database import template
from tests.support.draws import draws

# The columns, their treatment and the finding, by item.
Found = dict[str, tuple[str, str, str]]

SETUP = """
CREATE TABLE areas AS FROM (VALUES ('036', 13000), ('037', 45000), ('941', 800000), ('893', 20000)) AS t(area, people);
CREATE HIERARCHY zips AS PREFIXES (4, 3, people => areas, more_than => 20000, small => '000**');
CREATE HIERARCHY plain AS PREFIXES (4, 3);
CREATE HIERARCHY birth AS CALENDAR (YEAR, DECADE, low => DATE '1937-01-01', below => 'born before 1937');
CREATE HIERARCHY years AS CALENDAR (MONTH, YEAR);
CREATE HIERARCHY ages AS INTERVALS (ends, high => 90);
CREATE HIERARCHY wide AS INTERVALS (10, high => 95);
CREATE TABLE patients AS SELECT 'Ann ' || i AS name, 'a' || i || '@example.org' AS mail, 'm' || i AS mrn,
    '0360' || i % 9 AS zip,
    DATE '1950-01-01' AS dob, DATE '2026-01-03' AS admitted, 40 AS age, 'Flu' AS diagnosis, 'x' || i AS sample,
    '192.0.2.' || i AS source_ip, 'CA' AS region, CAST('x' AS BLOB) AS scan FROM range(40) AS t(i);
"""
# E39 of the definitions: the columns of its policy, and what is found.
COLUMNS = {
    "name": "IDENTIFIER",
    "mail": "IDENTIFIER MASK email",
    "mrn": "ENTITY PSEUDONYM KEY 'k'",
    "zip": "QUASI IDENTIFIER USING zips MIN LEVEL 2",
    "dob": "QUASI IDENTIFIER USING birth MIN LEVEL 1",
    "admitted": "INSENSITIVE SHIFT (DAYS => 182)",
    "age": "QUASI IDENTIFIER USING ages MIN LEVEL 1",
    "diagnosis": "SENSITIVE",
}
FOUND = {"A": "met", "B": "met", "C": "not met", "F": "not met", "H": "not met", "O": "met", "R": "not met"}
BETTER = {
    "admitted": "QUASI IDENTIFIER USING years MIN LEVEL 2",
    "mail": "IDENTIFIER",
    "mrn": "ENTITY PSEUDONYM",
}


@pytest.fixture
def con() -> Iterator[Connection]:
    with template(SETUP) as connection:
        yield connection


def findings(con: Connection, arguments: str = "", **changed: str) -> Found:
    """The columns, their treatment and the finding of each item."""
    columns = ", ".join(f"{name} {role}" for name, role in (COLUMNS | changed).items())
    con.execute(f"CREATE OR REPLACE POLICY clinic ON patients ({columns}) REQUIRE k_anonymity(k => 1)")
    rows = con.sql(f"CHECK POLICY clinic FOR SAFE HARBOR {arguments}").fetchall()
    assert [item for item, *_ in rows] == [*"ABCDEFGHIJKLMNOPQR", "-"]
    return {item: (columns, treated, finding) for item, _, columns, treated, finding in rows}


def test_the_worked_example_holds(con: Connection) -> None:
    found = findings(con)
    shown = {item: finding for item, (_, _, finding) in found.items() if finding not in ("none found", "yours to say")}
    assert shown == {**FOUND, "Q": "met"}
    assert {item: found[item][0] for item in ("C", "F", "H", "R")} == {
        **{"C": "admitted", "F": "mail", "H": "mrn", "R": "mrn"}
    }
    assert found["-"][2] == "yours to say"
    better = findings(con, **BETTER)
    assert all(better[item][2] == "met" for item in "ABCFHR")


@pytest.mark.parametrize(
    ("changed", "item", "treated", "finding"),
    [
        ({"zip": "QUASI IDENTIFIER USING zips MIN LEVEL 1"}, "B", "4 digits", "not met"),
        ({"zip": "QUASI IDENTIFIER USING plain MIN LEVEL 2"}, "B", "20,000 people or fewer", "not met"),
        ({"zip": "QUASI IDENTIFIER USING plain MIN LEVEL 3"}, "B", "* in all rows", "met"),
        ({"zip": "QUASI IDENTIFIER USING zips"}, "B", "from level 0", "not met"),
        ({"region": "INSENSITIVE"}, "B", "region: published", "not met"),
        ({"dob": "QUASI IDENTIFIER USING years MIN LEVEL 2", **BETTER}, "C", "without an open end", "not met"),
        ({"dob": "QUASI IDENTIFIER USING years MIN LEVEL 1", **BETTER}, "C", "by MONTH", "not met"),
        ({"age": "QUASI IDENTIFIER USING wide MIN LEVEL 1", **BETTER}, "C", "over 89 are told apart", "not met"),
        ({"age": "SENSITIVE", **BETTER}, "C", "age: published", "not met"),
        ({"mail": "IDENTIFIER MASK alphanumeric"}, "F", "a key that is forgotten", "met"),
        ({"mail": "IDENTIFIER MASK alphanumeric KEY 'k'"}, "F", "a key that lasts", "not met"),
        ({"source_ip": "INSENSITIVE"}, "O", "source_ip: published", "not met"),
        ({"sample": "INSENSITIVE", **BETTER}, "R", "sample: published", "not met"),
        ({"scan": "INSENSITIVE"}, "Q", "scan: published", "yours to say"),
        ({"name": "INSENSITIVE"}, "A", "name: published", "not met"),
    ],
)
def test_what_a_policy_does_with_a_column(
    con: Connection, changed: dict[str, str], item: str, treated: str, finding: str
) -> None:
    _, said, found = findings(con, **changed)[item]
    assert (found, treated in said) == (finding, True), said


def test_the_user_says_what_columns_are(con: Connection) -> None:
    assert findings(con, "(state => region)", region="INSENSITIVE")["B"][2] == "met"
    assert findings(con, "(dates => (admitted, dob))", **BETTER)["C"][2] == "met"
    assert findings(con, "(birth => admitted)", **BETTER)["C"][:1] == ("admitted",)
    with pytest.raises(PolicyError, match="no column x") as refused:
        con.sql("CHECK POLICY clinic FOR SAFE HARBOR (zip => x)")
    assert "has no column x" in refused.value.message
    for argument, problem in (("ages => age", "there is no argument ages"), ("age => 3", "age names no column")):
        with pytest.raises(StatementError, match=problem):
            con.sql(f"CHECK POLICY clinic FOR SAFE HARBOR ({argument})")


def test_an_open_end_has_to_reach_ages_of_90(con: Connection) -> None:
    con.execute("CREATE HIERARCHY early AS CALENDAR (YEAR, low => DATE '1900-01-01')")
    _, said, finding = findings(con, **BETTER, dob="QUASI IDENTIFIER USING early MIN LEVEL 1")["C"]
    assert finding == "not met"
    assert "births before 1937 tell an age over 89" in said


def test_years_that_may_be_of_births_are_not_met_whatever_the_column_is_called(con: Connection) -> None:
    con.execute("ALTER TABLE patients ADD COLUMN since DATE DEFAULT DATE '1921-05-06'")
    changed = {**BETTER, "since": "QUASI IDENTIFIER USING years MIN LEVEL 2"}
    columns, said, finding = findings(con, **changed)["C"]
    assert (columns, finding) == ("since", "not met")
    assert "if they are births" in said
    assert findings(con, "(dates => (since))", **changed)["C"][2] == "met"


@pytest.mark.parametrize("role", ["INSENSITIVE", "QUASI IDENTIFIER"])
@pytest.mark.parametrize("column", ["sample", "contact", "notes"])
def test_codes_and_columns_that_are_not_read_are_listed_in_any_role(con: Connection, column: str, role: str) -> None:
    con.execute("ALTER TABLE patients ADD COLUMN contact STRUCT(ssn VARCHAR)")
    con.execute("ALTER TABLE patients ADD COLUMN notes VARCHAR[]")
    columns, said, finding = findings(con, **BETTER, **{column: role})["R"]
    assert column in columns
    assert finding == ("not met" if (column, role) == ("sample", "INSENSITIVE") else "yours to say"), said


@pytest.mark.parametrize(
    ("name", "role", "finding"),
    [
        ("birth_year", "INSENSITIVE", "not met"),
        ("yob", "INSENSITIVE", "not met"),
        ("Geburtsjahr", "QUASI IDENTIFIER USING wide MIN LEVEL 1", "not met"),
        ("yob", "QUASI IDENTIFIER USING from_1937 MIN LEVEL 1", "met"),
        ("age_at_visit", "INSENSITIVE", "not met"),
        ("birth_weight", "INSENSITIVE", "none found"),
        ("newborn", "INSENSITIVE", "none found"),
    ],
)
def test_ages_and_years_of_birth_are_told_by_names(con: Connection, name: str, role: str, finding: str) -> None:
    con.execute("CREATE HIERARCHY from_1937 AS INTERVALS (ends, 10, low => 1937)")
    con.execute(f"CREATE TABLE other AS SELECT 'M' AS sex, 1930 + i % 3 AS {name} FROM range(40) AS t(i)")
    con.execute(f"CREATE POLICY other ON other (sex QUASI IDENTIFIER, {name} {role}) REQUIRE k_anonymity(k => 1)")
    found = {row[0]: row[4] for row in con.sql("CHECK POLICY other FOR SAFE HARBOR").fetchall()}
    assert found["C"] == finding


def test_a_table_of_larger_areas_says_nothing_of_three_digits(con: Connection) -> None:
    con.execute("UPDATE areas SET area = area[:2]; DELETE FROM areas WHERE area <> '94'")
    con.execute("CREATE HIERARCHY states AS PREFIXES (3, people => areas, more_than => 20000, small => '000**')")
    _, said, finding = findings(con, zip="QUASI IDENTIFIER USING states MIN LEVEL 1")["B"]
    assert finding == "not met"
    assert "areas has the people of larger areas" in said


def test_an_empty_source_has_findings_by_names(con: Connection) -> None:
    con.execute("DELETE FROM patients")
    assert findings(con)["A"][2] == "met"


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ("(VALUES ('036', 1))", "no area of its table has more than 20000 people"),
        ("(VALUES ('036', 30000), ('36', 30000))", "not texts of one length"),
        ("(VALUES ('036', 30000), ('036', 30000))", "has a prefix twice"),
        ("(VALUES (36, 30000))", "no texts"),
        ("(VALUES ('036', 3.5))", "a prefix and a whole number"),
        ("(VALUES ('036', NULL))", "a prefix and a whole number"),
        ("(VALUES ('036'))", "a prefix and a whole number"),
        ("(VALUES ('000', 30000))", "small '000**' could be the label of a value"),
        ("(VALUES ('000', 30000)) AS t(x, y) WHERE false", "no area"),
    ],
)
def test_tables_of_people_that_do_not_fit(con: Connection, rows: str, problem: str) -> None:
    con.execute(f"CREATE OR REPLACE TABLE areas AS FROM {rows}")
    with pytest.raises(PolicyError) as refused:
        con.execute("CREATE HIERARCHY h AS PREFIXES (3, people => areas, more_than => 20000, small => '000**')")
    assert problem in refused.value.message


def test_small_areas_have_one_label_and_the_table_is_read_once(con: Connection) -> None:
    # E38 of the definitions.
    con.execute("CREATE TABLE zips AS SELECT unnest(['03601', '03755', '94141', '89301', '10213', NULL]) AS zip")
    con.execute(
        "CREATE POLICY z ON zips (zip QUASI IDENTIFIER USING zips MIN LEVEL 2 MAX LEVEL 2) REQUIRE k_anonymity(k => 1)"
    )
    con.execute("DROP TABLE areas")
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY z METHOD generalization")
    assert sorted(con.sql("FROM r").fetchall(), key=str) == [*[("000**",)] * 3, ("037**",), ("941**",), (None,)]
    for argument, problem in (
        ("more_than => 1", "people is not a table"),
        ("people => areas", "more_than is not a number"),
    ):
        with pytest.raises(UserError, match=problem):
            con.execute(f"CREATE HIERARCHY h AS PREFIXES (3, {argument})")
    con.execute("CREATE TABLE numbers AS SELECT 3601 AS zip")
    with pytest.raises(UserError, match="prefixes of texts"):
        con.execute("CREATE POLICY n ON numbers (zip QUASI IDENTIFIER USING zips) REQUIRE k_anonymity(k => 1)")


# CHECK of a release: the levels that its rows have, and what is in its texts.


def released(con: Connection, arguments: str = "", method: str = "generalization", **changed: str) -> Found:
    """The columns, their treatment and the finding of each item, of a release of the policy."""
    findings(con, **changed)
    con.execute(f"CREATE OR REPLACE ANONYMIZED TABLE shown AS POLICY clinic METHOD {method}")
    rows = con.sql(f"CHECK shown FOR SAFE HARBOR {arguments}").fetchall()
    assert [item for item, *_ in rows] == [*"ABCDEFGHIJKLMNOPQR", "-"]
    return {item: (columns, treated, finding) for item, _, columns, treated, finding in rows}


def test_a_release_has_the_findings_of_its_policy_with_its_own_levels(
    con: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    # E39 of the definitions.
    monkeypatch.setenv("k", "sixteen bytes or more")
    found = released(con)
    assert {item: finding for item, (_, _, finding) in found.items() if item in FOUND} == FOUND
    better = released(con, **BETTER)
    assert all(better[item][2] == "met" for item in "ABCFHR")
    # The release has coarser levels than its policy asks for.
    con.execute("CREATE TABLE other AS SELECT i AS id, DATE '1950-01-01' + i::INT AS admitted FROM range(40) AS t(i)")
    con.execute(
        "CREATE POLICY other ON other (id IDENTIFIER, admitted QUASI IDENTIFIER USING years) "
        "REQUIRE k_anonymity(k => 35); CREATE ANONYMIZED TABLE by_level AS POLICY other METHOD generalization"
    )
    assert [row[4] for row in con.sql("CHECK POLICY other FOR SAFE HARBOR").fetchall() if row[0] == "C"] == ["not met"]
    said = [row[2:] for row in con.sql("CHECK by_level FOR SAFE HARBOR").fetchall() if row[0] == "C"]
    assert said == [("admitted", "admitted: by YEAR", "met")]


# A text of each kind, with the item of the rule.
WITHIN = {
    "C": [
        "on 3 May 2020.",
        "3-MAY-2020",
        "since March 4th, 2021",
        "2020/05/31",
        "seen 2024-05-06 again",
        "born 1.7.1950",
        "on 12/31/2001, late",
        "at 2024-05-06T10:00",
    ],
    "D": ["call +49 170 1234567", "or (415) 555-0132", "415-555-0132 at night"],
    "F": ["mail ann.b+c@example.org now", "x@y.de"],
    "G": ["ssn 123-45-6789"],
    "J": ["to DE89370400440532013000", "card 4111 1111 1111 1111", "4111111111111111"],
    "M": ["by 00:1A:2B:3C:4D:5E"],
    "N": ["see https://example.org/x", "www.example.org"],
    "O": ["from 192.168.0.254", "2001:0db8:0000:0000:0000:ff00:0042:8329"],
    "R": ["id 123e4567-e89b-12d3-a456-426614174000."],
}
CLEAN = [
    "Flu",
    "",
    "version 1.2.3",
    "3.50 of 4.75",
    "ICD J45.901, room 12",
    "in May 2020",
    "may 12 2 times",
    "10:30",
    "Zürich \N{SNOWMAN}",
    "a@b",
    None,
]


@pytest.mark.drawn
@settings(max_examples=draws(3, long=30), deadline=None)
@given(
    st.lists(
        st.sampled_from([(item, text) for item, texts in WITHIN.items() for text in texts] + [("", t) for t in CLEAN]),
        max_size=12,
    ),
    st.sampled_from(["note", "no \"te'", "\N{SNOWMAN}", "SELECT"]),
)
def test_rows_with_an_identifier_in_their_text_are_counted(rows: list[tuple[str, str | None]], name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    with template("") as con:
        con.execute(f"CREATE TABLE t (age INT, {quoted} VARCHAR)")
        con.executemany("INSERT INTO t VALUES (40, ?)", [[text] for _, text in rows] or [[None]])
        con.execute(
            f"CREATE POLICY p ON t (age QUASI IDENTIFIER, {quoted} INSENSITIVE) REQUIRE k_anonymity(k => 1);"
            "CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization; DROP TABLE t"
        )
        counted = {
            row[0]: int(re.search(r"in (\d+) row", row[3])[1])
            for row in con.sql("CHECK r FOR SAFE HARBOR").fetchall()
            if " in " in row[3]
        }
        planted = Counter(item for item, _ in rows if item)
        # A column whose values are all of a kind is of that kind.
        assert all(counted.get(item, number) == number for item, number in planted.items())
        assert counted.keys() <= planted.keys()
        findings = {row[0]: row[4] for row in con.sql("CHECK r FOR SAFE HARBOR").fetchall()}
        assert all(findings[item] == "not met" for item in planted)


def test_masks_are_not_taken_for_identifiers_and_other_columns_are_read(
    con: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    con.execute("ALTER TABLE patients ADD COLUMN phone VARCHAR DEFAULT '+49 170 1234567'")
    con.execute("ALTER TABLE patients ADD COLUMN visits STRUCT(day DATE, mail VARCHAR)[]")
    con.execute("UPDATE patients SET visits = [{'day': DATE '2024-01-02', 'mail': 'dr@example.org'}] WHERE mrn = 'm1'")
    found = released(con, **BETTER, phone="IDENTIFIER MASK phone", visits="INSENSITIVE")
    assert found["D"] == ("phone", "phone: mask phone under a key that is forgotten", "met")
    assert found["F"][:2] == ("visits", "visits: published, with an e-mail address in 1 row")
    assert found["C"][:2] == ("visits", "visits: published, with a date in 1 row")


@pytest.mark.parametrize(
    ("method", "item", "columns", "treated"),
    [
        ("mondrian", "C", "age", "age: published as ranges"),
        ("mondrian(bounds => true)", "C", "age", "age: published as ranges"),
        ("anatomy(l => 2)", "C", "age", "age: published from level 0 on"),
    ],
)
def test_other_methods_publish_ranges_or_values(
    con: Connection, method: str, item: str, columns: str, treated: str
) -> None:
    con.execute("UPDATE patients SET diagnosis = 'Flu ' || length(mail) % 2 || name[5], age = length(name) + 80")
    con.execute(
        "CREATE POLICY other ON patients (age QUASI IDENTIFIER, diagnosis SENSITIVE) REQUIRE k_anonymity(k => 2)"
    )
    con.execute(f"CREATE ANONYMIZED TABLE shown AS POLICY other METHOD {method}")
    said = {row[0]: row[2:] for row in con.sql("CHECK shown FOR SAFE HARBOR (age => age)").fetchall()}
    assert columns in said[item][0]
    assert treated in said[item][1]
    assert said[item][2] == "not met"


def test_related_tables_are_asked_too(con: Connection) -> None:
    con.execute(
        "CREATE TABLE who AS SELECT i AS id, 30 + i % 2 AS age FROM range(8) AS t(i);"
        "CREATE TABLE visits AS SELECT i AS id, DATE '2024-01-01' + i::INT AS admitted, 'x' || i || '@y.org' AS mail,"
        " 'Flu' AS ill FROM range(8) AS t(i);"
        "CREATE POLICY two ON who (id ENTITY, age QUASI IDENTIFIER) WITH TABLE visits ON (id) "
        "(admitted QUASI IDENTIFIER USING years, ill SENSITIVE) REQUIRE k_anonymity(k => 2)"
    )
    said = {row[0]: row[2:] for row in con.sql("CHECK POLICY two FOR SAFE HARBOR").fetchall()}
    assert said["C"] == (
        "age, admitted",
        "age: published from level 0 on; admitted: published from level 0 on",
        "not met",
    )
    assert said["F"] == ("mail", "mail: removed: the policy does not name it", "met")
    con.execute("CREATE ANONYMIZED TABLE shown AS POLICY two METHOD multirelational")
    said = {row[0]: row[2:] for row in con.sql("CHECK shown FOR SAFE HARBOR").fetchall()}
    assert said["F"][2] == "met"


def test_what_is_no_release_or_was_changed_is_refused(con: Connection) -> None:
    with pytest.raises(UserError, match="is a table, not a release"):
        con.sql("CHECK patients FOR SAFE HARBOR")
    released(con, **BETTER)
    with pytest.raises(PolicyError, match="no column x"):
        con.sql("CHECK shown FOR SAFE HARBOR (zip => x)")
    con.execute("ALTER TABLE shown ADD COLUMN name VARCHAR")
    with pytest.raises(SqlanonError):
        con.sql("CHECK shown FOR SAFE HARBOR")


@pytest.mark.parametrize("level", [1, 2, 3])
def test_years_of_a_release_are_those_of_its_labels(con: Connection, level: int) -> None:
    con.execute(
        "CREATE HIERARCHY by_century AS CALENDAR (YEAR, DECADE, CENTURY);"
        "CREATE TABLE other AS SELECT DATE '1921-05-06' + (400 * i)::INTEGER AS since FROM range(40) AS t(i);"
        f"CREATE POLICY other ON other (since QUASI IDENTIFIER USING by_century MIN LEVEL {level} MAX LEVEL {level}) "
        "REQUIRE k_anonymity(k => 1);"
        "CREATE ANONYMIZED TABLE shown AS POLICY other METHOD generalization; DROP TABLE other"
    )
    said = {row[0]: row[2:] for row in con.sql("CHECK shown FOR SAFE HARBOR").fetchall()}["C"]
    assert said[2] == "not met"
    assert "tell an age over 89 if they are births" in said[1]


def test_a_check_aborts_no_transaction(con: Connection) -> None:
    released(con, **BETTER)
    con.execute("DROP TABLE patients; BEGIN")
    assert len(con.sql("CHECK shown FOR SAFE HARBOR").fetchall()) == 19
    assert con.sql("SELECT 1").fetchall() == [(1,)]
    con.execute("COMMIT")


@pytest.mark.parametrize(
    ("columns", "item", "treated", "finding"),
    [
        ("full_name IDENTIFIER MASK alphanumeric", "A", "leaves some letters as they are", "yours to say"),
        ("full_name IDENTIFIER MASK digits", "A", "leaves some letters as they are", "yours to say"),
        ("mail IDENTIFIER MASK digits", "F", "leaves some letters as they are", "yours to say"),
        ("mail IDENTIFIER MASK alphanumeric", "F", "under a key that is forgotten", "met"),
        ("card IDENTIFIER MASK card(first => 12)", "J", "leaves the first 12 digits", "not met"),
        ("card IDENTIFIER MASK card", "J", "under a key that is forgotten", "met"),
        ("seen QUASI IDENTIFIER USING years MIN LEVEL 2", "C", "tell an age over 89", "not met"),
        ("seen QUASI IDENTIFIER USING early MIN LEVEL 1", "C", "tell an age over 89", "not met"),
        ("seen QUASI IDENTIFIER USING birth MIN LEVEL 1", "C", "one label before 1937-01-01", "met"),
        ("yob QUASI IDENTIFIER USING tens MIN LEVEL 1", "C", "tell an age over 89", "not met"),
        ("yob SENSITIVE", "C", "published", "not met"),
        ("patient_age SENSITIVE", "C", "published", "not met"),
        ("patient_age QUASI IDENTIFIER USING ages MIN LEVEL 1", "C", "in one label from 90 on", "met"),
        ("home_zip SENSITIVE", "B", "published", "not met"),
        ("home_zip QUASI IDENTIFIER USING few MIN LEVEL 1", "B", "the people of larger areas", "not met"),
    ],
)
def test_published_parts_of_identifiers_are_not_met(columns: str, item: str, treated: str, finding: str) -> None:
    # One birth of 1911 is in no sample, letters other than A to Z are in no mask, and two digits are no area of three.
    with template(
        SETUP + "CREATE HIERARCHY early AS CALENDAR (YEAR, low => DATE '1900-01-01', below => 'old');"
        "CREATE HIERARCHY tens AS INTERVALS (10, high => 80);"
        "CREATE TABLE two_digits AS SELECT '94' AS area, 8000000 AS people;"
        "CREATE HIERARCHY few AS PREFIXES (3, people => two_digits, more_than => 20000, small => '000**');"
        "CREATE TABLE t AS SELECT i % 2 AS side, 'Иван ' || 123456 + i AS full_name,"
        "'ann' || 123456 + i || '@example.org' AS mail, '4111 1111 1111 1111' AS card, 1930 + i % 50 AS yob,"
        "80 + i % 20 AS patient_age, '9414' || i % 9 AS home_zip,"
        "IF(i = 7777, DATE '1911-05-05', DATE '1990-01-01' + (i % 9000)::INT) AS seen FROM range(12000) AS u(i)"
    ) as con:
        con.execute(f"CREATE POLICY p ON t (side QUASI IDENTIFIER, {columns}) REQUIRE k_anonymity(k => 1)")
        rows = con.sql("CHECK POLICY p FOR SAFE HARBOR").fetchall()
        assert [(treated in row[3], row[4]) for row in rows if row[0] == item] == [(True, finding)]


def test_a_release_whose_source_is_gone_has_the_years_of_its_labels(con: Connection) -> None:
    con.execute(
        "CREATE TABLE t AS SELECT DATE '1930-01-01' + 3000 * i::INT AS seen, 'f' || i AS note FROM range(9) AS t(i);"
        "CREATE POLICY p ON t (seen QUASI IDENTIFIER USING years MIN LEVEL 2) REQUIRE k_anonymity(k => 1);"
        "CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization; DELETE FROM t WHERE seen < DATE '1950-01-01'"
    )
    for gone in ("", "DROP TABLE t"):
        con.execute(gone)
        found = {row[0]: row[4] for row in con.sql("CHECK r FOR SAFE HARBOR").fetchall()}
        assert found["C"] == "not met"


def test_published_columns_under_no_item_are_named(con: Connection) -> None:
    findings(con, diagnosis="SENSITIVE", region="IDENTIFIER")
    remarks = run_statement(DuckDBEngine(con.duckdb), *parse_script("CHECK POLICY clinic FOR SAFE HARBOR")).remarks
    assert "published, and not recognized as any of these identifiers: diagnosis" in remarks
