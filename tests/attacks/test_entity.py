"""A respondent with many rows: they are one person, and nothing of the release says which rows are whose."""

from __future__ import annotations

import hashlib
import hmac
import itertools
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from sqlanon import PrivacyViolation, UserError
from tests.support.database import template

# One person's five visits make a class of five rows, and of one respondent.
VISITS = """
CREATE TABLE visits AS
SELECT 'Zzrespondent ' || (i // 5) AS patient, 20 + 10 * (i // 25) AS age, 'd' || i % 5 AS disease
FROM range(125) AS t(i);
INSERT INTO visits SELECT 'Zzrespondent alone', 90, 'd' || i FROM range(50) AS t(i);
"""
POLICY = (
    "CREATE POLICY p ON visits (patient ENTITY{}, age QUASI IDENTIFIER, disease SENSITIVE) REQUIRE k_anonymity(k => 5);"
)
METHOD = "AS POLICY p METHOD generalization(suppression => 0.3)"
KEY = "0123456789abcdef0123456789abcdef"


def connected(pseudonym: str = "", *release: str) -> Any:
    return template(VISITS, POLICY.format(pseudonym), *release)


@pytest.mark.long
def test_rows_of_one_respondent_count_once() -> None:
    """Counted as rows, the 50 visits of one person are 50-anonymous; they are hers all the same."""
    connection = connected()
    connection.sql(f"CREATE ANONYMIZED TABLE r {METHOD}; CREATE ANONYMIZED VIEW v {METHOD}")
    for release in ("r", "v"):
        assert connection.sql(f"SELECT age, count(*) FROM {release} GROUP BY age ORDER BY age").fetchall() == [
            (age, 25) for age in (20, 30, 40, 50, 60)
        ]
        assert connection.sql(f"CHECK {release}").fetchall()[0][3:] == (5.0, 5.0, True)
    connection.sql("CREATE POLICY p0 ON visits (age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 5)")
    connection.sql("CREATE ANONYMIZED TABLE naive AS POLICY p0 METHOD generalization")
    assert connection.sql("SELECT count(*) FROM naive WHERE age = 90").fetchall() == [(50,)]


ROW = st.tuples(st.integers(0, 5) | st.none(), st.integers(0, 2) | st.none(), st.integers(0, 1))


@pytest.mark.long
@settings(max_examples=12, deadline=None)
@given(st.lists(ROW, min_size=1, max_size=30), st.integers(1, 3))
def test_every_class_of_a_release_has_k_respondents(rows: list[tuple[int | None, int | None, int]], k: int) -> None:
    """A row without a respondent may be of anybody who is in the class; rows of nobody else are of one respondent."""
    connection = sqlanon.connect()
    connection.sql("CREATE TABLE t (who INTEGER, a INTEGER, b INTEGER)")
    connection.duckdb.executemany("INSERT INTO t VALUES (?, ?, ?)", [list(row) for row in rows])
    connection.sql(
        "CREATE POLICY p ON t (who ENTITY, a QUASI IDENTIFIER MAX LEVEL 0, b QUASI IDENTIFIER MAX LEVEL 0) "
        f"REQUIRE k_anonymity(k => {k})"
    )
    respondents = defaultdict(set)
    for who, *class_ in rows:
        respondents[tuple(class_)].add(who)
    people = {of: max(1, len(names - {None})) for of, names in respondents.items()}
    expected = sorted((row[1:] for row in rows if people[row[1:]] >= k), key=repr)
    for kind in ("TABLE", "VIEW"):
        connection.sql(f"CREATE ANONYMIZED {kind} r_{kind} AS POLICY p METHOD generalization(suppression => 1)")
        assert sorted(connection.duckdb.execute(f"FROM r_{kind}").fetchall(), key=repr) == expected


# Four people and a row of nobody are in the north, six people in the south; each row is known by its visit.
NOBODY = """
CREATE TABLE t AS
SELECT if(i = 4, NULL, i) AS who, if(i < 5, 'north', 'south') AS place, i % 2 AS sex, i AS visit FROM range(11) AS t(i);
"""


REQUIRED = [
    "k_anonymity(k => 5)",
    "alpha_k_anonymity(alpha => 1, k => 5)",
    "p_sensitive_k_anonymity(p => 2, k => 5)",
    "k_anonymity(k => 5), l_diversity(l => 2)",
]
ON_PLACE = "k_anonymity(k => 5, on => (place)), k_anonymity(k => 2)"
METHODS = ["generalization(suppression => 0.5)", "generalization(recoding => 'local')", "mondrian"]


@pytest.mark.long
@pytest.mark.parametrize(("requirement", "method"), [(ON_PLACE, METHODS[0]), *itertools.product(REQUIRED, METHODS)])
def test_a_row_of_nobody_is_no_respondent(requirement: str, method: str) -> None:
    connection = sqlanon.connect()
    connection.sql(NOBODY)
    sex = "sex QUASI IDENTIFIER," if requirement == ON_PLACE else ""
    connection.sql(
        f"CREATE POLICY p ON t (who ENTITY, place QUASI IDENTIFIER, {sex} visit SENSITIVE) REQUIRE {requirement}"
    )
    who = dict(connection.duckdb.execute("SELECT visit, who FROM t").fetchall())
    for kind in ("TABLE", "VIEW"):
        achieved = connection.sql(f"CREATE ANONYMIZED {kind} r_{kind} AS POLICY p METHOD {method}").fetchall()[0][10]
        classes: dict[Any, set[Any]] = defaultdict(set)
        for place, visit in connection.duckdb.execute(f"SELECT place, visit FROM r_{kind}").fetchall():
            classes[place].add(who[visit])
        assert classes
        assert (least := min(len(people - {None}) for people in classes.values())) >= 5
        assert {row[5] for row in connection.sql(f"CHECK r_{kind}").fetchall()} == {True}
        if requirement.startswith("k_anonymity(k => 5)"):
            assert achieved == least


def test_rows_of_nobody_else_are_one_respondent() -> None:
    connection = sqlanon.connect()
    connection.sql(NOBODY + "DELETE FROM t WHERE place = 'north' AND who IS NOT NULL")
    connection.sql("CREATE POLICY p ON t (who ENTITY, place QUASI IDENTIFIER) REQUIRE k_anonymity(k => 1)")
    for kind in ("TABLE", "VIEW"):
        row = connection.sql(f"CREATE ANONYMIZED {kind} r_{kind} AS POLICY p METHOD generalization").fetchall()[0]
        assert (row[3], row[10]) == (7, 1.0)


@pytest.mark.long
@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM r WHERE age = 20 AND disease = 'd0'",
        "INSERT INTO r VALUES (90, 'd0')",
        "UPDATE r SET age = 20 WHERE age = 30",
        "UPDATE r SET disease = 'd9' WHERE age = 30",
        "DELETE FROM r",
        "CREATE OR REPLACE TABLE r AS SELECT age, disease FROM visits",
        "ALTER TABLE r ADD COLUMN patient VARCHAR",
        "ALTER TABLE r RENAME COLUMN age TO alter_age",
        "DROP TABLE r; CREATE VIEW r AS SELECT age, disease FROM visits",
    ],
)
def test_a_changed_snapshot_is_not_vouched_for(change: str) -> None:
    """Its respondents cannot be counted again, so it must be as it was when they were."""
    connection = connected("", f"CREATE ANONYMIZED TABLE r {METHOD}")
    assert connection.sql("CHECK r").fetchall()[0][-1] is True
    connection.sql(change)
    with pytest.raises(PrivacyViolation):
        connection.sql("CHECK r")
    with pytest.raises(PrivacyViolation):
        connection.sql("EXPORT r TO 'never written'")


def test_the_order_of_a_snapshot_is_not_part_of_it() -> None:
    connection = connected("", f"CREATE ANONYMIZED TABLE r {METHOD}")
    connection.sql("CREATE OR REPLACE TABLE r AS FROM r ORDER BY ALL")
    assert connection.sql("CHECK r").fetchall()[0][-1] is True


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    "change",
    [
        "CREATE OR REPLACE VIEW v AS SELECT age, disease FROM visits",
        "CREATE OR REPLACE VIEW v AS FROM visits",
        "DROP VIEW v; CREATE TABLE v AS SELECT age, disease FROM visits",
    ],
)
def test_a_view_that_took_the_place_of_a_live_view_is_not_vouched_for(change: str) -> None:
    connection = connected("", f"CREATE ANONYMIZED VIEW v {METHOD}")
    assert connection.sql("CHECK v").fetchall()[0][-1] is True
    connection.sql(change)
    with pytest.raises(PrivacyViolation):
        connection.sql("CHECK v")


@pytest.mark.long
def test_a_release_whose_object_is_gone_can_be_made_again_or_forgotten() -> None:
    connection = connected()
    for kind in ("TABLE", "VIEW"):
        for again in (
            f"CREATE OR REPLACE ANONYMIZED {kind} r {METHOD}",
            f"CREATE ANONYMIZED {kind} IF NOT EXISTS r {METHOD}",
        ):
            connection.sql(f"CREATE ANONYMIZED {kind} r {METHOD}")
            connection.sql(f"DROP {kind} r")
            with pytest.raises(UserError, match="is gone"):
                connection.sql("CHECK r")
            connection.sql(again)
            assert connection.sql("CHECK r").fetchall()[0][-1] is True
            connection.sql(f"DROP {kind} r")
            connection.sql(f"DROP ANONYMIZED {kind} r")
            assert connection.sql("SELECT count(*) FROM anon.release").fetchall() == [(0,)]


def everything(connection: Any, *, but: str) -> str:
    """All rows of all tables and views of the database, and all of its definitions."""
    names = connection.duckdb.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE table_name <> ? UNION ALL "
        "SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal", [but]
    ).fetchall()  # fmt: skip
    texts = [repr(connection.duckdb.execute(f'FROM "{schema}"."{name}"').fetchall()) for schema, name in names]
    texts.append(
        repr(
            connection.duckdb.execute(
                "SELECT sql FROM duckdb_views() UNION ALL SELECT sql FROM duckdb_tables()"
            ).fetchall()
        )
    )
    return "\n".join(texts)


@pytest.mark.one_in(9)
@pytest.mark.parametrize("pseudonym", ["", " PSEUDONYM", " PSEUDONYM KEY 'SQLANON_TEST_KEY'"])
def test_the_respondent_stands_nowhere_but_in_the_source(
    pseudonym: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SQLANON_TEST_KEY", KEY)
    connection = sqlanon.connect(tmp_path / "visits.duckdb")
    connection.sql(VISITS + POLICY.format(pseudonym))
    connection.sql(f"CREATE ANONYMIZED TABLE r {METHOD}")
    if not pseudonym:
        connection.sql(f"CREATE ANONYMIZED VIEW v {METHOD}")
    columns = [name for name, *_ in connection.duckdb.execute("DESCRIBE r").fetchall()]
    assert columns == (["patient", "age", "disease"] if pseudonym else ["age", "disease"])
    text = everything(connection, but="visits")
    assert "Zzrespondent" not in text
    assert KEY not in text
    for format_ in ("parquet", "csv", "duckdb"):
        connection.sql(f"EXPORT r TO '{tmp_path / format_}' (FORMAT {format_})")
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.parent != tmp_path]
    assert len(files) >= 6
    for file in files:
        content = file.read_bytes()
        assert b"Zzrespondent" not in content
        assert KEY.encode() not in content


def tokens(connection: Any, release: str) -> list[str]:
    return [token for (token,) in connection.sql(f"SELECT DISTINCT patient FROM {release} ORDER BY patient").fetchall()]


def test_tokens_stand_for_respondents_one_to_one() -> None:
    connection = connected(" PSEUDONYM")
    connection.sql(f"CREATE ANONYMIZED TABLE r {METHOD}")
    visits = connection.sql("SELECT patient, count(*) FROM r GROUP BY patient").fetchall()
    assert sorted(n for _, n in visits) == [5] * 25
    assert all(len(token) == 32 and int(token, 16) >= 0 for token, _ in visits)


def test_tokens_of_two_releases_do_not_match_without_a_key() -> None:
    connection = connected(" PSEUDONYM")
    for name in ("one", "two"):
        connection.sql(f"CREATE ANONYMIZED TABLE {name} {METHOD}")
    assert not set(tokens(connection, "one")) & set(tokens(connection, "two"))
    guesses = [f"Zzrespondent {i}".encode() for i in range(25)]
    plain = [hashlib.sha256(guess).hexdigest()[:32] for guess in guesses]
    empty = [hmac.digest(b"", guess, "sha256").hex()[:32] for guess in guesses]
    assert not set(tokens(connection, "one")) & {*plain, *empty}


def test_tokens_match_under_the_users_key_and_only_then(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = connected(" PSEUDONYM KEY 'SQLANON_TEST_KEY'")
    monkeypatch.delenv("SQLANON_TEST_KEY", raising=False)
    with pytest.raises(UserError, match="SQLANON_TEST_KEY"):
        connection.sql(f"CREATE ANONYMIZED TABLE r {METHOD}")
    found = {}
    for name, key in (("one", KEY), ("two", KEY), ("other", KEY[::-1])):
        monkeypatch.setenv("SQLANON_TEST_KEY", key)
        connection.sql(f"CREATE ANONYMIZED TABLE {name} {METHOD}")
        found[name] = tokens(connection, name)
    expected = {hmac.digest(KEY.encode(), f"Zzrespondent {i}".encode(), "sha256").hex()[:32] for i in range(25)}
    assert set(found["one"]) == set(found["two"]) == expected
    assert not expected & set(found["other"])


def test_the_order_of_tokens_does_not_follow_the_order_of_names() -> None:
    connection = connected(" PSEUDONYM")
    connection.sql(f"CREATE ANONYMIZED TABLE r {METHOD}")
    rows = connection.sql("SELECT patient, min(age) FROM r GROUP BY patient ORDER BY patient").fetchall()
    ages = [age for _, age in rows]
    assert any(a > b for a, b in itertools.pairwise(ages)), "sorted tokens are sorted respondents"
