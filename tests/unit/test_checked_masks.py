"""CHECK of masked values: forms, check digits, NULLs and lists of choices, of a release and of an export."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlanon import Connection
from sqlanon.clients.session import StatementEvent
from sqlanon.sources.masks import list_digest
from tests.support.database import template
from tests.support.draws import draws

KEY = "a key of at least 16 bytes"
SETUP = """
CREATE TABLE names AS SELECT unnest(['Ada', 'Ben', 'Cem', 'Dora', 'Eli']) AS name;
CREATE TABLE people AS SELECT 'patient ' || i AS patient, ['4111111111111111', '5500000000000004'][1 + i % 2] AS card,
    CASE WHEN i % 5 > 0 THEN 'john' || i || '@example.org' END AS mail, 20 + i % 4 AS age, 'Flu' AS ill
FROM range(40) AS t(i);
CREATE POLICY p ON people (patient IDENTIFIER MASK choice(from => names) KEY 'BANK_KEY', card IDENTIFIER MASK card,
    mail IDENTIFIER MASK email, age QUASI IDENTIFIER, ill SENSITIVE) REQUIRE k_anonymity(k => 2);
CREATE POLICY again ON people (patient IDENTIFIER MASK choice(from => names) KEY 'BANK_KEY', age QUASI IDENTIFIER)
REQUIRE k_anonymity(k => 2);
"""
MADE = "CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization"


@pytest.fixture
def con(monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    monkeypatch.setenv("BANK_KEY", KEY)
    with template(SETUP) as connection:
        yield connection


def checked(con: Connection, what: str = "r") -> dict[str, tuple[object, ...]]:
    """The attribute, the requirement, the figure and the verdict of each measurement about masks."""
    rows = con.sql(f"CHECK {what}").fetchall()
    return {row[1]: row[2:6] for row in rows if row[1].startswith("mask")}


def remarks(con: Connection, statement: str) -> str:
    events: list[StatementEvent] = []
    con.script(statement, events.append)
    return "\n".join(events[-1].remarks)


def made(con: Connection, statement: str = MADE) -> str:
    return con.sql(statement).fetchall()[0][-1] or ""


def test_all_that_a_release_shows_of_its_masks_is_asked(con: Connection) -> None:
    con.sql(MADE)
    measured = checked(con)
    assert measured == {
        "mask_choice": ("patient", 0, 0, True),
        "mask_card": ("card", 0, 0, True),
        "mask_email": ("mail", 0, 0, True),
        "mask_nulls": (None, 0, 0, True),
    }
    con.sql("UPDATE r SET patient = 'Zoe' WHERE patient = 'Ada'; UPDATE r SET mail = NULL")
    measured = checked(con)
    assert measured["mask_choice"] == ("patient", 0, 1, False)
    assert measured["mask_nulls"] == ("mail", 0, 32, False)


def test_another_list_under_the_same_key_is_said(con: Connection) -> None:
    assert "another list" not in made(con, MADE)
    assert "another list" not in made(con, MADE.replace(" r ", " second ").replace("POLICY p", "POLICY again"))
    con.sql("INSERT INTO names VALUES ('Fay')")
    assert "mask_choice" not in checked(con)
    said = remarks(con, "CHECK second")
    assert "patient has texts of a list that is not any more as it was, names" in said
    said = made(con, MADE.replace(" r ", " third "))
    assert "names differs from the list of main.second, so the same value has another mask" in said
    assert "BANK_KEY" in said
    said = made(con, MADE.replace("CREATE", "CREATE OR REPLACE"))
    assert "differs from the list of the former main.r" in said
    assert checked(con)["mask_choice"] == ("patient", 0, 0, True)
    con.sql("DROP TABLE names")
    assert "mask_choice" not in checked(con)


def test_lists_under_keys_that_are_forgotten_are_not_compared(con: Connection) -> None:
    con.sql("ALTER POLICY p ALTER COLUMN patient IDENTIFIER MASK choice(from => names)")
    con.sql(MADE)
    con.sql("INSERT INTO names VALUES ('Fay')")
    assert "another list" not in made(con, MADE.replace("CREATE", "CREATE OR REPLACE"))


def test_the_digest_of_a_list_is_kept_with_the_release(con: Connection) -> None:
    con.sql(MADE)
    ((attribute, name, key, digest),) = con.sql("FROM anon.release_choice").project("* EXCLUDE release_id").fetchall()
    assert (attribute, name, key) == ("patient", "names", "BANK_KEY")
    expected = b"".join(b"%d:%b" % (len(text.encode()), text.encode()) for text in ("Ada", "Ben", "Cem", "Dora", "Eli"))
    assert digest == hashlib.sha256(expected).hexdigest()
    con.sql("UPDATE anon.release_choice SET digest = repeat('0', 64)")
    with pytest.raises(Exception, match="its rows in the catalog were changed"):
        con.sql("CHECK r")
    con.sql(f"UPDATE anon.release_choice SET digest = '{digest}'")
    con.sql("DROP ANONYMIZED TABLE r")
    assert con.sql("FROM anon.release_choice").fetchall() == []


@given(st.lists(st.text(max_size=3), max_size=4), st.lists(st.text(max_size=3), max_size=4))
def test_lists_that_differ_have_digests_that_differ(first: list[str], second: list[str]) -> None:
    assert (list_digest(first) == list_digest(second)) == (first == second)


def test_a_source_that_has_changed_is_remarked_on(con: Connection) -> None:
    con.sql(MADE)
    for change in (
        "UPDATE people SET mail = NULL WHERE patient = 'patient 1'",
        "DELETE FROM people WHERE patient = 'patient 1'",
        "ALTER TABLE people DROP COLUMN mail",
        "DROP TABLE people",
    ):
        con.sql(change)
        assert "mask_nulls" not in checked(con), change
    con.sql("UPDATE r SET age = '22' WHERE age = '20'")
    assert "the source is not any more as it was" in remarks(con, "CHECK r")


def test_a_check_aborts_no_transaction(con: Connection) -> None:
    con.sql(MADE)
    for change in ("ALTER TABLE people DROP COLUMN mail", "DROP TABLE people; DROP TABLE names"):
        con.execute(f"{change}; BEGIN")
        assert set(checked(con)) == {"mask_card", "mask_email"}
        assert con.sql("SELECT 1").fetchall() == [(1,)]
        con.execute("COMMIT")


def test_the_order_of_a_list_is_that_of_its_rows(con: Connection) -> None:
    con.execute("CREATE TABLE long_list AS SELECT 'n' || i AS name FROM range(300000) AS t(i)")
    con.execute("ALTER POLICY again ALTER COLUMN patient IDENTIFIER MASK choice(from => long_list) KEY 'BANK_KEY'")
    con.execute("SET preserve_insertion_order = false; SET threads = 4")
    con.execute(MADE.replace("POLICY p", "POLICY again"))
    ((digest,),) = con.sql("SELECT digest FROM anon.release_choice").fetchall()
    assert digest == list_digest([f"n{i}" for i in range(300000)])
    con.execute('CREATE SCHEMA "a b"; CREATE TABLE "a b"."c.d" AS FROM names')
    con.execute("""ALTER POLICY again ALTER COLUMN patient IDENTIFIER MASK choice(from => "a b"."c.d")""")
    con.execute(MADE.replace("POLICY p", "POLICY again").replace("CREATE", "CREATE OR REPLACE"))
    assert con.sql("SELECT list_name FROM anon.release_choice").fetchall() == [('"a b"."c.d"',)]


def came_or_went(source: list[bool], released: list[bool], withheld: int) -> int:
    """The least number of NULLs that came or went, over all ways to withhold rows of the source."""
    before, now = sum(source), sum(released)
    least = [abs(before - gone - now) for gone in range(withheld + 1) if gone <= before]
    return min(least)


@pytest.mark.drawn
@settings(max_examples=draws(4, long=30), deadline=None)
@given(st.data())
def test_nulls_are_counted_up_to_the_rows_that_were_withheld(data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.tuples(st.sampled_from([1, 1, 1, 2, 3]), st.booleans()), min_size=2, max_size=12))
    with template("") as con:
        con.sql("CREATE TABLE t (age INT, mail TEXT)")
        con.executemany("INSERT INTO t VALUES (?, ?)", [[age, None if null else "a@b"] for age, null in rows])
        con.sql("CREATE POLICY p ON t (age QUASI IDENTIFIER, mail IDENTIFIER MASK email) REQUIRE k_anonymity(k => 2)")
        con.sql("CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization(suppression => 0.4)")
        assert checked(con)["mask_nulls"] == (None, 0, 0, True)
        con.sql("UPDATE r SET mail = CASE WHEN rowid % 3 > 0 THEN 'a***@b' END")
        released = [mail is None for (mail,) in con.sql("SELECT mail FROM r").fetchall()]
        expected = came_or_went([null for _, null in rows], released, len(rows) - len(released))
        # Where the former values had as many NULLs, the rows may be the same.
        assert checked(con).get("mask_nulls", (0, 0, expected))[2] == expected


def test_an_export_is_asked_for_the_forms_of_its_masks(
    con: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    con.sql(MADE)
    con.sql(f"EXPORT r TO '{tmp_path}/out' (FORMAT csv)")
    rows = {row[1]: row[2:] for row in con.sql(f"CHECK '{tmp_path}/out'").fetchall() if row[1].startswith("mask")}
    by_files = "recomputed from the files"
    assert rows == {"mask_card": ("card", 0, 0, True, by_files), "mask_email": ("mail", 0, 0, True, by_files)}
    file = tmp_path / "out" / "r.csv"
    card = next(part for part in file.read_text().replace("\n", ",").split(",") if part.startswith("4111"))
    file.write_text(file.read_text().replace(card, card[:-1] + str((int(card[-1]) + 1) % 10)))
    certificate = tmp_path / "out" / "certificate.json"
    stated = json.loads(certificate.read_text())
    for entry in stated["files"]:
        content = (tmp_path / "out" / entry["name"]).read_bytes()
        entry |= {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    certificate.write_text(json.dumps(stated))
    assert checked(con, f"'{tmp_path}/out'")["mask_card"] == ("card", 0, 1, False)
    monkeypatch.setitem(sys.modules, "stdnum.luhn", None)
    ((*_, known_by),) = [row for row in con.sql(f"CHECK '{tmp_path}/out'").fetchall() if row[1] == "mask_card"]
    assert checked(con, f"'{tmp_path}/out'")["mask_card"] == ("card", None, None, None)
    assert known_by == "not known: pip install 'sqlanon[masks]'"
