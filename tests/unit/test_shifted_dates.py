"""SHIFT: dates against their definition, and what a release, a figure, a certificate and a series tell of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import Connection, DataError, KAnonymity, PolicyError, Shift, UserError
from sqlanon.sources.shifts import days_of
from tests.oracles import shifts as oracle
from tests.support.database import new_database
from tests.support.draws import draws

KEY = b"a key of at least 16 bytes"
VARIABLE = "SHIFT_KEY"
HOSTILE = 'it\'s "p"'


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, KEY.decode())


def visits(con: Connection, rows: Sequence[tuple[object, object]], kind: str = "DATE") -> None:
    con.execute(f'CREATE OR REPLACE TABLE visits (who VARCHAR, age INTEGER, "on" {kind}, ill VARCHAR)')
    for who, moment in rows:
        con.duckdb.execute("INSERT INTO visits VALUES (?, 40, ?, 'flu')", [who, moment])


def released(con: Connection, shift: str, role: str = "INSENSITIVE") -> list[tuple[object, ...]]:
    con.execute(
        f'CREATE OR REPLACE POLICY p ON visits (who ENTITY, age QUASI IDENTIFIER, "on" {role} SHIFT {shift}, '
        "ill SENSITIVE) REQUIRE k_anonymity(k => 1)"
    )
    con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
    return con.sql('SELECT "on" FROM r').fetchall()


def test_the_worked_example_holds() -> None:
    # E36 of the definitions, by a program that was written apart from this one.
    assert [days_of(KEY, Shift(days=182), who) for who in "123"] == [73, -84, 32]
    assert [days_of(KEY, Shift(weeks=26), who) for who in "123"] == [14, -7, 21]
    dates = {"1": ["2024-01-03", "2024-01-31", "2024-03-01"], "2": ["2024-01-03", "2024-02-29"], "3": ["2023-12-31"]}
    moved = ["2023-10-11", "2023-12-07", "2024-02-01", "2024-03-16", "2024-04-13", "2024-05-13"]
    with new_database() as con:
        visits(con, [(who, day) for who, days in dates.items() for day in days])
        rows = released(con, f"(DAYS => 182) KEY '{VARIABLE}'")
        assert sorted(str(day) for (day,) in rows) == moved


@settings(deadline=None, max_examples=draws(3, long=10))
@given(
    rows=st.lists(
        st.tuples(st.sampled_from(["a", "b", HOSTILE, "\N{SNOWMAN}", ""]), st.none() | st.dates()), max_size=12
    ),
    width=st.integers(1, 400),
    weeks=st.booleans(),
    role=st.sampled_from(["SENSITIVE", "INSENSITIVE"]),
)
@pytest.mark.drawn
def test_dates_move_as_defined(rows: list[tuple[str, date | None]], width: int, weeks: bool, role: str) -> None:
    rows = [(who, day and min(max(day, date(1200, 1, 1)), date(9000, 1, 1))) for who, day in rows]
    with new_database() as con:
        visits(con, rows)
        shown = released(con, f"({'WEEKS' if weeks else 'DAYS'} => {width}) KEY '{VARIABLE}'", role)
        moved = oracle.shifted(KEY, rows, width, 7 if weeks else 1)
        assert sorted(str(day) for (day,) in shown) == sorted(str(day) for _, day in moved)


def test_distances_within_a_respondent_stay_and_other_releases_move_otherwise() -> None:
    rows = [(who, f"2024-0{month}-01") for who in "abcdefgh" for month in (1, 2, 4)]
    with new_database() as con:
        visits(con, rows)
        con.execute("UPDATE visits SET ill = who")
        draws_of = []
        for _ in range(2):
            released(con, "(WEEKS => 26)")
            days = con.sql('SELECT ill, list("on" ORDER BY "on") FROM r GROUP BY ill ORDER BY ill').fetchall()
            assert all([(day - first).days for day in (first, *others)] == [0, 31, 91] for _, (first, *others) in days)
            assert all((first - date(2024, 1, 1)).days % 7 == 0 for _, (first, *_) in days)
            draws_of.append(days)
        assert draws_of[0] != draws_of[1]


@pytest.mark.parametrize("kind", ["TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS"])
def test_a_moment_keeps_its_time_and_its_type(kind: str) -> None:
    with new_database() as con:
        visits(con, [("1", "2024-01-03 23:59:58"), ("1", "infinity"), ("2", None)], kind)
        rows = released(con, f"(DAYS => 182) KEY '{VARIABLE}'")
        assert (datetime(2024, 3, 16, 23, 59, 58),) in rows
        assert sorted(con.sql('SELECT isinf("on") FROM r').fetchall(), key=str) == [(False,), (None,), (True,)]
        assert con.sql('SELECT DISTINCT typeof("on") FROM r').fetchall() == [(kind,)]


def test_rows_of_nobody_and_dates_beyond_the_type_are_refused_by_number() -> None:
    with new_database() as con:
        visits(con, [(None, "2024-01-01"), ("1", "2024-01-01")])
        with pytest.raises(DataError, match="1 row of visits have no who"):
            released(con, "(DAYS => 9)")
        visits(con, [(who, "5881580-07-10") for who in "abcdefghijklmnop"])
        with pytest.raises(DataError, match=r"dates of on would be moved beyond what DATE has") as refused:
            released(con, "(DAYS => 90000)")
        assert "5881580" not in str(refused.value)
        assert con.sql("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'r'").fetchall() == [(0,)]


POLICY = "CREATE POLICY q ON visits (who ENTITY, age QUASI IDENTIFIER{columns}) REQUIRE {model}"


@pytest.mark.parametrize(
    ("columns", "model", "problem"),
    [
        (', "on" SENSITIVE SHIFT (DAYS => 9)', "l_diversity(l => 2)", "would count shifted dates"),
        (', "on" SENSITIVE SHIFT (DAYS => 9), ill SENSITIVE', "l_diversity(l => 2)", "would count shifted dates"),
        (', "on" SENSITIVE USING x SHIFT (DAYS => 9)', "k_anonymity(k => 2)", "a hierarchy is of true values"),
        (', "on" INSENSITIVE SHIFT (DAYS => 0)', "k_anonymity(k => 2)", "is shifted by up to 0"),
        (', "on" INSENSITIVE SHIFT (DAYS => 100001)', "k_anonymity(k => 2)", "is shifted by up to 100001"),
        (', "on" INSENSITIVE SHIFT (MONTHS => 1)', "k_anonymity(k => 2)", "SHIFT takes one number"),
        (', "on" INSENSITIVE SHIFT (DAYS => 1, WEEKS => 1)', "k_anonymity(k => 2)", "SHIFT takes one number"),
        (', "on" QUASI IDENTIFIER SHIFT (DAYS => 9)', "k_anonymity(k => 2)", "SHIFT does not go with QUASI"),
        (", ill SENSITIVE SHIFT (DAYS => 9)", "k_anonymity(k => 2)", "ill is of type VARCHAR, and SHIFT moves DATE"),
    ],
)
def test_what_is_refused_when_a_policy_is_made(columns: str, model: str, problem: str) -> None:
    with new_database() as con:
        visits(con, [])
        with pytest.raises(UserError, match=problem) as refused:
            con.execute(POLICY.format(columns=columns, model=model))
        assert refused.value.hint


def test_what_is_refused_when_a_release_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    with new_database() as con:
        visits(con, [("1", "2024-01-01"), ("2", "2024-01-01")])
        with pytest.raises(PolicyError, match="none is named"):
            con.execute(
                'CREATE POLICY q ON visits (age QUASI IDENTIFIER, "on" INSENSITIVE SHIFT (DAYS => 9)) '
                "REQUIRE k_anonymity(k => 2)"
            )
        released(con, f"(DAYS => 9) KEY '{VARIABLE}'")
        with pytest.raises(PolicyError, match="a live view cannot shift dates"):
            con.execute("CREATE ANONYMIZED VIEW v AS POLICY p")
        with pytest.raises(PolicyError, match=r"shifts no dates|counts rows and not respondents"):
            con.execute("CREATE ANONYMIZED TABLE v AS POLICY p METHOD trivial")
        monkeypatch.delenv(VARIABLE)
        with pytest.raises(UserError, match=f"{VARIABLE}, which should hold the key of the shifted dates"):
            con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
        con.execute('ALTER TABLE visits ALTER "on" TYPE TIMESTAMPTZ')
        with pytest.raises(PolicyError, match="AT TIME ZONE") as refused:
            con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD generalization")
        assert "TIMESTAMP WITH TIME ZONE" in refused.value.message


@pytest.mark.one_in(3)
def test_no_figure_no_attack_and_no_estimate_reads_shifted_dates() -> None:
    with new_database() as con:
        visits(con, [(who, f"2024-01-0{who}") for who in "1234"])
        released(con, f"(DAYS => 9) KEY '{VARIABLE}'", "SENSITIVE")
        assert {row[1] for row in con.sql("ATTACK r WITH HOMOGENEITY").fetchall()} == {"ill"}
        with pytest.raises(PolicyError, match="its dates are shifted"):
            con.sql("ESTIMATE SELECT count(*) FROM visits WHERE \"on\" > DATE '2024-01-01' FROM RELEASE r")


@pytest.mark.one_in(3)
def test_what_explain_and_a_certificate_say(tmp_path: Path) -> None:
    with new_database() as con:
        visits(con, [(who, f"2024-01-0{who}") for who in "1234"])
        released(con, f"(DAYS => 9) KEY '{VARIABLE}'", "SENSITIVE")
        explained = str(con.sql("EXPLAIN ANONYMIZED TABLE x AS POLICY p METHOD generalization").fetchall())
        assert f"on: shifted by one number of days a respondent, -9 to 9, keyed by {VARIABLE}" in explained
        con.execute(f"EXPORT r TO '{tmp_path / 'out'}'")
        written = (tmp_path / "out" / "certificate.md").read_text(encoding="utf-8")
        assert "`on`: dates are not true; distances within a respondent are." in written
        assert "move alike in every release" in written
        certificate = json.loads((tmp_path / "out" / "certificate.json").read_text(encoding="utf-8"))
        assert [a["pseudonym"] for a in certificate["policy"]["attributes"]] == [None, None, "shift, key kept", None]
        assert VARIABLE not in json.dumps(certificate)
        checked = con.sql(f"CHECK '{tmp_path / 'out' / 'certificate.json'}'").fetchall()
        assert all(satisfied for *_, satisfied, _ in checked)


def test_a_series_takes_no_key_that_lasts() -> None:
    with new_database() as con:
        visits(con, [(who, f"2024-01-0{who}") for who in "1234"])
        con.execute(
            f'CREATE POLICY p ON visits (who ENTITY, age QUASI IDENTIFIER, "on" INSENSITIVE SHIFT (DAYS => 9) KEY '
            f"'{VARIABLE}', ill SENSITIVE) REQUIRE k_anonymity(k => 1)"
        )
        con.execute(f"CREATE SERIES s ON POLICY p KEY '{VARIABLE}' REQUIRE composition(max => 1)")
        with pytest.raises(PolicyError, match="on is shifted alike in each release") as refused:
            con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization IN SERIES s")
        assert "INSENSITIVE SHIFT (days => 9)" in str(refused.value.hint)


def test_the_catalog_keeps_a_shift_and_python_writes_it() -> None:
    policy = sqlanon.Policy(
        "p",
        source="visits",
        entity="who",
        quasi_identifiers=["age"],
        sensitive={"ill": None, "seen": Shift(weeks=26, key_variable=VARIABLE)},
        insensitive={"on": Shift(days=182), "ward": None},
        require=KAnonymity(k=2),
    )
    text = policy.sql()
    assert f"\"seen\" SENSITIVE SHIFT (weeks => 26) KEY '{VARIABLE}'" in text
    assert '"on" INSENSITIVE SHIFT (days => 182)' in text
    assert "Shift(days=182, weeks=None, key_variable=None)" in repr(policy)
    with new_database() as con:
        con.execute('CREATE TABLE visits (who INT, age INT, ill TEXT, seen DATE, "on" DATE, ward INT)')
        con.execute(text)
        ((again,),) = con.sql("DESCRIBE POLICY p AS SQL").fetchall()
        assert again.rstrip(";") == text
        con.execute('UPDATE anon.policy_attribute SET mask = \'{"name": "shift"}\' WHERE mask IS NOT NULL')
        with pytest.raises(PolicyError, match="cannot be read"):
            con.sql("DESCRIBE POLICY p")


@pytest.mark.parametrize(
    ("detail", "problem"),
    [(Shift(days=True), "days is a whole number"), ("x", "insensitive\\['d'\\] is"), (Shift(), "has days or weeks")],
)
def test_python_says_what_a_shift_is(detail: object, problem: str) -> None:
    columns = {"entity": "e", "quasi_identifiers": ["a"], "insensitive": {"d": detail}}
    with pytest.raises(UserError, match=problem):
        sqlanon.Policy("p", source="t", **columns, require=KAnonymity(k=2))


# Related tables, and the other methods that publish rows of respondents.


RELATED = """
CREATE POLICY p ON people (who ENTITY, age QUASI IDENTIFIER, born INSENSITIVE SHIFT (DAYS => {width}){key})
WITH TABLE stays ON (patient) ("on" INSENSITIVE SHIFT (DAYS => {width}){key}, number INSENSITIVE,
    code IDENTIFIER MASK alphanumeric{key}, mail IDENTIFIER MASK email, bill IDENTIFIER PSEUDONYM{key}, ill SENSITIVE)
REQUIRE k_anonymity(k => 1)
"""


def related(con: Connection, rows: Sequence[tuple[str, date | None]], width: int, key: str) -> None:
    con.execute("CREATE TABLE people (who VARCHAR, age INTEGER, born DATE)")
    columns = 'patient VARCHAR, "on" DATE, number INTEGER, code VARCHAR, mail VARCHAR, bill INTEGER, ill VARCHAR'
    con.execute(f"CREATE TABLE stays ({columns})")
    for who in dict.fromkeys(who for who, _ in rows):
        con.duckdb.execute("INSERT INTO people VALUES (?, 40, DATE '1970-01-01')", [who])
    for number, (who, day) in enumerate(rows):
        values = [who, day, number, f"C-{10000 + number}"]
        con.duckdb.execute("INSERT INTO stays VALUES (?, ?, ?, ?, 'ann@x.org', 7, 'flu')", values)
    con.execute(RELATED.format(width=width, key=key))
    con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD multirelational(suppression => 0)")


@settings(deadline=None, max_examples=draws(2, long=10))
@given(
    rows=st.lists(
        st.tuples(st.sampled_from(["a", "b", HOSTILE, "\N{SNOWMAN}", "", " a"]), st.none() | st.dates()),
        min_size=1,
        max_size=12,
    ),
    width=st.integers(1, 400),
)
@pytest.mark.drawn
def test_rows_of_related_tables_move_with_their_respondent(rows: list[tuple[str, date | None]], width: int) -> None:
    rows = [(who, day and min(max(day, date(1200, 1, 1)), date(9000, 1, 1))) for who, day in rows]
    with new_database() as con:
        related(con, rows, width, f" KEY '{VARIABLE}'")
        moved = oracle.shifted(KEY, rows, width)
        shown = dict(con.sql('SELECT number, "on" FROM r_stays').fetchall())
        assert [shown[number] for number in range(len(rows))] == [day for _, day in moved]
        born = [(who, date(1970, 1, 1)) for who in dict.fromkeys(who for who, _ in rows)]
        expected = sorted(day for _, day in oracle.shifted(KEY, born, width) if day)
        assert [day for (day,) in con.sql("SELECT born FROM r_people ORDER BY born").fetchall()] == expected
        assert all(row[5] is not False for row in con.sql("CHECK r").fetchall())


def test_related_tables_share_a_key_that_is_drawn_and_have_tokens_and_masks(tmp_path: Path) -> None:
    rows: list[tuple[str, date | None]] = [(who, date(2024, 1, 1)) for who in "abcdefgh" for _ in range(2)]
    with new_database() as con:
        related(con, rows, 182, "")
        apart = (
            "SELECT DISTINCT date_diff('day', DATE '1970-01-01', born) - date_diff('day', DATE '2024-01-01', \"on\")"
        )
        assert con.sql(f"{apart} FROM r_people JOIN r_stays USING (who)").fetchall() == [(0,)]
        counts = "count(DISTINCT code), count(DISTINCT bill), min(length(bill)), min(mail)"
        assert con.sql(f"SELECT {counts} FROM r_stays").fetchall() == [(16, 1, 32, "a***@x.org")]
        measured = {row[1]: row[5] for row in con.sql("CHECK r").fetchall()}
        assert measured["mask_alphanumeric"] is measured["mask_email"] is True
        con.execute(f"EXPORT r TO '{tmp_path / 'out'}' (FORMAT csv)")
        measured = {row[1]: row[5] for row in con.sql(f"CHECK '{tmp_path / 'out'}'").fetchall()}
        assert measured["mask_alphanumeric"] is measured["mask_email"] is True
        con.execute(f"CREATE OR REPLACE {RELATED.format(width=9, key=f''' KEY '{VARIABLE}' ''').strip()[7:]}")
        con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD multirelational")
        con.execute(f"EXPORT r TO '{tmp_path / 'again'}' (FORMAT csv)")
        assert VARIABLE not in (tmp_path / "again" / "certificate.json").read_text(encoding="utf-8")


def test_a_date_of_a_related_table_that_leaves_its_type_is_refused() -> None:
    with new_database() as con:
        related(con, [("1", date(2024, 1, 1))], 9, f" KEY '{VARIABLE}'")
        con.execute("UPDATE stays SET \"on\" = DATE '5881580-07-10'")
        with pytest.raises(DataError, match="1 date of on would be moved beyond what DATE has"):
            con.execute("CREATE OR REPLACE ANONYMIZED TABLE r AS POLICY p METHOD multirelational")
        assert con.sql("SELECT count(*) FROM r_stays").fetchall() == [(1,)]


def test_m_invariance_moves_the_dates_of_its_rows() -> None:
    rows = [(who, date(2024, 1, 1 + number)) for number, who in enumerate("abcdefghijkl")]
    with new_database() as con:
        visits(con, rows)
        con.execute("ALTER TABLE visits ADD COLUMN number INT; ALTER TABLE visits ADD COLUMN left_on DATE")
        con.execute("UPDATE visits SET ill = 'flu ' || rowid % 3, number = rowid, left_on = \"on\" + rowid::INT")
        policy = "CREATE POLICY p ON visits (who ENTITY, age QUASI IDENTIFIER, number INSENSITIVE, {} ill SENSITIVE)"
        shifts = '"on" INSENSITIVE SHIFT (DAYS => 182), left_on INSENSITIVE SHIFT (DAYS => 182),'
        con.execute(policy.format(shifts) + " REQUIRE k_anonymity(k => 2)")
        con.execute(f"CREATE SERIES s ON POLICY p KEY '{VARIABLE}'")
        con.execute("CREATE ANONYMIZED TABLE r AS POLICY p METHOD m_invariance(m => 2) IN SERIES s")
        shown = con.sql('SELECT number, left_on - "on", "on" FROM r_qi ORDER BY number').fetchall()
        assert [days for _, days, _ in shown] == list(range(12))
        assert len({(day - date(2024, 1, 1)).days - number for number, _, day in shown}) > 1
        assert all(row[5] is not False for row in con.sql("CHECK r").fetchall())
        ranges = "CREATE ANONYMIZED TABLE x AS POLICY p METHOD m_invariance(m => 2, publish => 'ranges') IN SERIES s"
        with pytest.raises(PolicyError, match="counterfeits have no respondent"):
            con.execute(ranges)
        con.execute(
            policy.format('"on" SENSITIVE SHIFT (DAYS => 182),').replace("POLICY p", "POLICY q")
            + " REQUIRE k_anonymity(k => 2)"
        )
        con.execute(f"CREATE SERIES t ON POLICY q KEY '{VARIABLE}'")
        with pytest.raises(PolicyError, match="on is SENSITIVE: its date would be known"):
            con.execute("CREATE ANONYMIZED TABLE y AS POLICY q METHOD m_invariance(m => 2) IN SERIES t")
