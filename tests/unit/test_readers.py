"""Readers and their grants: who may query which releases, and what the catalog remembers of it."""

from __future__ import annotations

import hashlib
from datetime import UTC, date, datetime, timedelta

import pytest

from sqlanon import connect
from sqlanon.catalog import readers
from sqlanon.catalog.releases import seal
from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.errors import CatalogError, PrivacyViolation, StatementError, UserError
from tests.support.database import template
from tests.support.names import HOSTILE, quoted

SETUP = """
CREATE TABLE visits AS SELECT i AS age, 'd' || i % 2 AS disease, 'w' || i % 2 AS ward FROM range(8) AS t(i);
CREATE HIERARCHY ages AS INTERVALS (4, 8);
CREATE POLICY p ON visits (age QUASI IDENTIFIER USING ages, disease SENSITIVE) REQUIRE k_anonymity(k => 2);
CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
CREATE ANONYMIZED VIEW live AS POLICY p METHOD generalization;
CREATE TABLE others AS FROM visits;
CREATE POLICY q ON others (age QUASI IDENTIFIER USING ages, disease SENSITIVE) REQUIRE k_anonymity(k => 2);
CREATE ANONYMIZED TABLE apart AS POLICY q METHOD generalization;
CREATE READER ana;
"""


@pytest.fixture
def con():
    with template(SETUP) as connection:
        yield connection


def rows(con, text):
    return con.execute(text).fetchall()


def token_of(con, text):
    [(*_, token)] = rows(con, text)
    return token


def grant(con, releases, to="ana"):
    """The outcome and the warning of each release."""
    return [row[2:] for row in rows(con, f"GRANT SELECT ON RELEASE {releases} TO {to}")]


def grants(con, of="ana"):
    """The releases of a reader with their states, as SHOW GRANTS says."""
    return {row[1]: row[3] for row in rows(con, f"SHOW GRANTS FOR {of}")}


def access(con):
    """Returns the releases of each reader, as a door reads them."""
    found = readers.access(DuckDBEngine(con.duckdb))
    return {each.reader.reader: {str(name) for _, name in each.releases} for each in found}


def test_a_token_is_shown_once_and_kept_as_its_digest(con, tmp_path):
    token = token_of(con, "CREATE READER ben")
    assert token.startswith("sqlanon_")
    # 32 bytes in base64 without padding: no fewer than 256 bits.
    assert len(token) == len("sqlanon_") + 43
    digest = hashlib.sha256(token.encode()).hexdigest()
    assert rows(con, "SELECT reader, token_sha256 FROM anon.reader WHERE reader = 'ben'") == [("ben", digest)]
    con.duckdb.execute(f"ATTACH '{tmp_path / 'copy.duckdb'}' AS copied")
    con.duckdb.execute("COPY FROM DATABASE memory TO copied")
    con.duckdb.execute("DETACH copied")
    content = (tmp_path / "copy.duckdb").read_bytes()
    assert digest.encode() in content
    assert token.encode() not in content


def test_no_two_tokens_are_alike(con):
    tokens = {token_of(con, f"CREATE READER r{i}") for i in range(20)}
    tokens |= {token_of(con, "ALTER READER ana NEW TOKEN") for _ in range(20)}
    assert len(tokens) == 40


def test_a_new_token_replaces_the_old_one(con):
    former = token_of(con, "CREATE READER ben EXPIRES DATE '9999-01-01'")
    new = token_of(con, "ALTER READER BEN NEW TOKEN")
    [(kept, expires)] = rows(con, "SELECT token_sha256, expires_on FROM anon.reader WHERE reader = 'ben'")
    assert (kept, expires) == (hashlib.sha256(new.encode()).hexdigest(), date(9999, 1, 1))
    assert former != new


def test_the_last_day_of_a_token(con):
    today = datetime.now(UTC).date()
    assert token_of(con, f"ALTER READER ana EXPIRES DATE '{today}'") is None
    assert [row[:4] for row in rows(con, "SHOW READERS")] == [("ana", str(today), 0, "open")]
    with pytest.raises(UserError, match="is over") as refused:
        con.execute(f"ALTER READER ana EXPIRES DATE '{today - timedelta(days=1)}'")
    assert "DROP READER" in refused.value.hint
    con.execute("ALTER READER ana EXPIRES NEVER")
    assert [row[:4] for row in rows(con, "SHOW READERS")] == [("ana", None, 0, "open")]
    con.duckdb.execute("UPDATE anon.reader SET expires_on = '2020-01-01'")
    con.execute("GRANT SELECT ON RELEASE r TO ana")
    assert [row[:4] for row in rows(con, "SHOW READERS")] == [("ana", "2020-01-01", 1, "expired")]
    assert grants(con) == {"main.r": "void: the reader has expired"}


@pytest.mark.parametrize(
    ("last", "today", "is_over"),
    [("2027-06-30", "2027-06-30", False), ("2027-06-30", "2027-07-01", True), (None, "9999-12-31", False)],
)
def test_a_token_is_valid_until_the_end_of_its_last_day(last, today, is_over):
    reader = readers.Reader("1", "ana", "0" * 64, last and date.fromisoformat(last))
    assert reader.has_expired(date.fromisoformat(today)) is is_over


@pytest.mark.parametrize("day", ["2027-02-30", "20270630", "2027-W26-3", "tomorrow", "2027-6-30", ""])
def test_a_day_that_is_none(con, day):
    with pytest.raises(StatementError, match="expected a date in quotes"):
        con.execute(f"CREATE READER ben EXPIRES DATE '{day}'")


def test_a_day_may_be_a_parameter(con):
    con.execute("CREATE READER ben EXPIRES DATE $day", {"day": "9999-06-30"})
    assert rows(con, "SELECT expires_on FROM anon.reader WHERE reader = 'ben'") == [(date(9999, 6, 30),)]
    with pytest.raises(StatementError, match="expected a date in quotes"):
        con.execute("CREATE READER eve EXPIRES DATE $day", {"day": "soon"})


def test_a_reader_is_neither_made_twice_nor_replaced(con):
    with pytest.raises(UserError, match="there is a reader ANA already") as refused:
        con.execute("CREATE READER ANA")
    assert "NEW TOKEN" in refused.value.hint
    assert rows(con, "CREATE READER IF NOT EXISTS Ana") == [("CREATE READER", "Ana", "exists", None)]
    with pytest.raises(StatementError, match="a reader is not replaced"):
        con.execute("CREATE OR REPLACE READER ana")
    assert [row[0] for row in rows(con, "SHOW READERS")] == ["ana"]


@pytest.mark.parametrize("name", ["a:b", "two\nlines", "nul\x00", "x" * 201])
def test_a_name_that_no_client_can_send(con, name):
    with pytest.raises(UserError, match=r"a reader's name has no colon|quotes|printed"):
        con.execute(f"CREATE READER {quoted(name)}")
    assert [row[0] for row in rows(con, "SHOW READERS")] == ["ana"]


def test_hostile_names(con):
    names = [name for name in HOSTILE if ":" not in name and name.isprintable() and len(name) <= 200]
    assert len(names) > 10
    for name in names:
        con.execute(f"CREATE READER IF NOT EXISTS {quoted(name)}")
        con.execute(f"GRANT SELECT ON RELEASE r TO {quoted(name)}")
        assert grants(con, quoted(name)) == {"main.r": "granted"}
        con.execute(f"REVOKE SELECT ON RELEASE r FROM {quoted(name)}")
        assert grants(con, quoted(name)) == {}
        con.execute(f"DROP READER {quoted(name)}")
    assert [row[0] for row in rows(con, "SHOW READERS")] == ["ana"]


def test_without_a_catalog_there_is_nothing_to_list():
    with connect() as connection:
        assert rows(connection, "SHOW READERS") == rows(connection, "SHOW GRANTS") == []
        assert rows(connection, "DROP READER IF EXISTS ana") == [("DROP READER", "ana", "absent")]
        assert token_of(connection, "CREATE READER ana")
        assert [row[0] for row in rows(connection, "SHOW READERS")] == ["ana"]


def test_a_granted_release_may_be_queried(con):
    assert grant(con, "apart") == [("granted", None)]
    assert grant(con, "APART") == [("was granted already", None)]
    assert grants(con) == {"main.apart": "granted"}
    assert access(con) == {"ana": {"main.apart"}}
    assert [row[:4] for row in rows(con, "SHOW GRANTS")] == [("ana", "main.apart", "table", "granted")]
    assert rows(con, "REVOKE SELECT ON RELEASE main.apart FROM ana") == [("ana", "main.apart", "revoked")]
    assert (grants(con), access(con)) == ({}, {"ana": set()})


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("GRANT SELECT ON RELEASE apart TO anna", "there is no reader anna"),
        ("GRANT SELECT ON RELEASE appart TO ana", r"there is no release main\.appart"),
        ("GRANT SELECT ON RELEASE apart, appart TO ana", r"there is no release main\.appart"),
        ("REVOKE SELECT ON RELEASE apart FROM ana", r"ana has no grant on main\.apart; nothing was revoked"),
        ("REVOKE SELECT ON RELEASE apart FROM anna", "there is no reader anna"),
        ("SHOW GRANTS FOR anna", "there is no reader anna"),
        ("ALTER READER anna NEW TOKEN", "there is no reader anna"),
        ("DROP READER anna", "there is no reader anna"),
        ("GRANT SELECT ON RELEASE other_file.main.r TO ana", "another database|no schema"),
    ],
)
def test_what_is_not_there(con, statement, message):
    with pytest.raises(UserError, match=message):
        con.execute(statement)
    assert grants(con) == {}


def test_the_hint_names_the_reader_or_the_release_that_was_meant(con):
    with pytest.raises(UserError) as refused:
        con.execute("GRANT SELECT ON RELEASE apart TO anna")
    assert (refused.value.hint, refused.value.position.column) == ("did you mean ana?", 34)
    with pytest.raises(StatementError) as refused:
        con.execute("GRANT SELECT ON apart TO ana")
    assert "write ON RELEASE apart" in refused.value.hint
    with pytest.raises(StatementError, match="is named twice"):
        con.execute("GRANT SELECT ON RELEASE apart, Apart TO ana")


def test_a_revocation_of_several_is_whole_or_none(con):
    grant(con, "apart")
    with pytest.raises(UserError, match="nothing was revoked"):
        con.execute("REVOKE SELECT ON RELEASE apart, r FROM ana")
    assert grants(con) == {"main.apart": "granted"}


# A grant is for the release that was there.


@pytest.mark.parametrize(
    "again",
    [
        "CREATE OR REPLACE ANONYMIZED TABLE apart AS POLICY q METHOD generalization",
        "REFRESH ANONYMIZED TABLE apart",
        "DROP ANONYMIZED TABLE apart; CREATE ANONYMIZED TABLE apart AS POLICY q METHOD generalization",
        "DROP ANONYMIZED TABLE apart; CREATE ANONYMIZED VIEW apart AS POLICY q METHOD generalization",
    ],
)
def test_another_release_of_the_name_is_not_granted(con, again):
    grant(con, "apart")
    con.execute(again)
    assert grants(con) == {"main.apart": "void: another release has this name"}
    assert access(con) == {"ana": set()}
    [(outcome, warning)] = grant(con, "apart")
    assert outcome == "granted"
    assert "main.apart (granted" in warning
    assert "gone since" in warning
    assert access(con) == {"ana": {"main.apart"}}
    # Both grants go at once.
    con.execute("REVOKE SELECT ON RELEASE apart FROM ana")
    assert grants(con) == {}


def test_a_dropped_release_is_not_granted(con):
    grant(con, "apart")
    con.execute("DROP ANONYMIZED TABLE apart")
    assert grants(con) == {"main.apart": "void: the release was dropped"}
    assert access(con) == {"ana": set()}
    con.execute("REVOKE SELECT ON RELEASE apart FROM ana")
    assert grants(con) == {}


def test_a_live_view_that_was_replaced_by_hand_is_not_granted(con):
    grant(con, "live")
    con.duckdb.execute("CREATE OR REPLACE VIEW live AS SELECT age::VARCHAR AS age, disease FROM visits")
    with pytest.raises(CatalogError, match=r"the view main\.live was changed after the release was made"):
        con.execute("GRANT SELECT ON RELEASE live TO ana")
    con.execute("CREATE OR REPLACE ANONYMIZED VIEW live AS POLICY p METHOD generalization")
    assert grant(con, "live")[0][0] == "granted"


def test_a_live_view_of_an_older_sqlanon_is_not_granted(con):
    engine = DuckDBEngine(con.duckdb)
    con.duckdb.execute("UPDATE anon.release_object SET digest = NULL WHERE kind = 'view'")
    for (release_id,) in rows(con, "SELECT release_id FROM anon.release"):
        seal(engine, release_id)
    with pytest.raises(CatalogError, match="made by an older sqlanon") as refused:
        con.execute("GRANT SELECT ON RELEASE live TO ana")
    assert "CREATE OR REPLACE ANONYMIZED VIEW" in refused.value.hint


def test_a_table_in_the_place_of_a_release_is_not_granted(con):
    con.duckdb.execute("CREATE OR REPLACE TABLE apart AS FROM others")
    with pytest.raises(PrivacyViolation, match=r"main\.apart was changed after it was released"):
        con.execute("GRANT SELECT ON RELEASE apart TO ana")


def test_a_stream_is_not_granted(con):
    con.execute("CREATE TABLE calls AS SELECT i AS caller, i AS age, i AS moment FROM range(4) AS t(i)")
    con.execute("CREATE POLICY calls ON calls (caller ENTITY, age QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)")
    con.execute("CREATE ANONYMIZED STREAM s AS POLICY calls ORDER BY moment METHOD stream(k => 2, delay => 10)")
    with pytest.raises(UserError, match="is a stream, not a release"):
        con.execute("GRANT SELECT ON RELEASE s TO ana")


def test_a_macro_of_the_session_cannot_turn_a_grant(con):
    con.duckdb.execute("CREATE MACRO sha256(x) AS 'a'")
    with pytest.raises(UserError, match="macro"):
        con.execute("GRANT SELECT ON RELEASE apart TO ana")


# The warning.


def test_releases_of_one_source_are_named(con):
    [(_, first), (_, second)] = grant(con, "r, live")
    assert "main.live (granted" in first
    assert ", live) is made from the same source" in first
    assert "main.r (granted" in second
    assert grant(con, "apart") == [("granted", None)]


def test_what_was_revoked_or_granted_before_a_drop_was_read(con):
    grant(con, "r")
    con.execute("REVOKE SELECT ON RELEASE r FROM ana; DROP READER ana; CREATE READER Ana")
    [(_, warning)] = grant(con, "live", "ana")
    assert "main.r (granted" in warning


def test_what_others_were_granted_is_not_named(con):
    con.execute("CREATE READER ben")
    grant(con, "r", "ben")
    assert grant(con, "live") == [("granted", None)]


def test_what_was_exported_is_named(con, tmp_path):
    con.execute(f"EXPORT r TO '{tmp_path}/out/' (FORMAT csv)")
    [(_, warning)] = grant(con, "live")
    assert "main.r (exported" in warning


def test_a_granted_release_that_is_gone_counts_as_given_away(con):
    grant(con, "r")
    con.execute("DROP ANONYMIZED TABLE r; DROP ANONYMIZED VIEW live")
    cursor = con.execute("CREATE ANONYMIZED TABLE again AS POLICY p METHOD generalization")
    [warning] = {row[[name for name, *_ in cursor.description].index("warning")] for row in cursor.fetchall()}
    assert "main.r (granted" in warning
    assert "gone since" in warning


def test_the_warning_ends_with_a_check_of_the_join_that_runs(con):
    con.execute("""
        CREATE POLICY jobs ON visits (age QUASI IDENTIFIER USING ages, ward INSENSITIVE) REQUIRE k_anonymity(k => 2);
        CREATE ANONYMIZED TABLE wards AS POLICY jobs METHOD generalization LEVELS FROM RELEASE r;
    """)
    grant(con, "r")
    [(_, warning)] = grant(con, "wards")
    check = warning[warning.index("CHECK ") : warning.index(" measures what their join tells")]
    assert check == (
        "CHECK main.wards JOINED WITH RELEASE main.r ON (age) REQUIRE xy_anonymity(x => ward, y => disease, k => 2)"
    )
    [(_, question, *_)] = rows(con, check)
    assert question == "xy_anonymity"


# Rows that were written by hand.


def test_a_name_that_stands_twice_has_no_access(con):
    grant(con, "apart")
    con.duckdb.execute("INSERT INTO anon.reader (reader_id, reader, token_sha256) SELECT 'x', 'Ana', repeat('0', 64)")
    assert access(con) == {}
    with pytest.raises(CatalogError, match="has 2 rows"):
        con.execute("GRANT SELECT ON RELEASE r TO ana")
    con.execute("DROP READER ana")
    assert rows(con, "SHOW READERS") == []


@pytest.mark.parametrize("digest", ["", "secret", "0" * 63, "G" * 64])
def test_a_digest_that_is_none_gives_no_access(con, digest):
    grant(con, "apart")
    con.duckdb.execute("UPDATE anon.reader SET token_sha256 = ?", [digest])
    assert access(con) == {}
    with pytest.raises(CatalogError, match="is not the SHA-256 of a token"):
        con.execute("ALTER READER ana NEW TOKEN")
    con.execute("DROP READER ana")


def test_a_grant_of_a_release_under_another_name_does_not_hold(con):
    """Neither the id alone nor the name alone is enough."""
    grant(con, "apart")
    con.duckdb.execute("UPDATE anon.reader_grant SET object_name = 'r'")
    assert access(con) == {"ana": set()}


def test_dropping_a_reader_revokes_all(con):
    grant(con, "r, apart")
    con.execute("DROP READER ana; CREATE READER ana")
    assert (grants(con), access(con)) == ({}, {"ana": set()})
    assert rows(con, "SELECT count(*), count(revoked_at) FROM anon.reader_grant") == [(2, 2)]
