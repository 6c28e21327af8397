"""CHECK POLICY ... FOR SAFE HARBOR: the findings on the 18 identifiers, by what a policy does with its columns."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sqlanon import Connection, PolicyError, StatementError, UserError
from tests.support.database import template

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


def findings(con: Connection, arguments: str = "", **changed: str) -> dict[str, tuple[str, str, str]]:
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
    for argument, problem in (("more_than => 1", "people is no table"), ("people => areas", "more_than is no number")):
        with pytest.raises(UserError, match=problem):
            con.execute(f"CREATE HIERARCHY h AS PREFIXES (3, {argument})")
    con.execute("CREATE TABLE numbers AS SELECT 3601 AS zip")
    with pytest.raises(UserError, match="prefixes of texts"):
        con.execute("CREATE POLICY n ON numbers (zip QUASI IDENTIFIER USING zips) REQUIRE k_anonymity(k => 1)")
