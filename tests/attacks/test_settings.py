"""What a reader's session may set for itself: does any of it show what the guard withholds, or turn a verdict round?

A reader may send queries on live views, calls of macros and CHECK, and SET whatever DuckDB lets them. The settings
are those of the DuckDB that is installed: one that a new version adds is tried without anybody's doing.
"""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlanon
from tests.support.attacks.settings import CHECKS, MACROS, QUERIES, READS, ROWS, make
from tests.support.attacks.settings_tried import (
    LIMITS,
    MEANINGS,
    REFUSED,
    SKIPPED,
    SOME_MACROS,
    TRIED,
    UNLISTED,
    kinds_of_settings,
    put,
    values_of,
)
from tests.support.database import written

SECRETS = ("SECRET", "secret", "ULM", "u lm", "9007", "90.25", "2090", "1890")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = str(tmp_path_factory.mktemp("settings") / "people.duckdb")
    make(file)
    return file


@pytest.fixture
def con(path: str) -> Iterator[Any]:
    """A bare session of a client that knows nothing of sqlanon."""
    with session(path) as connection:
        yield connection


def session(path: str) -> Any:
    connection = duckdb.connect(path, read_only=True)
    connection.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false")
    return connection


def query_of(asked: str) -> str:
    return f'{READS[asked]} FROM "view {asked}"' if asked in READS else f"FROM {MACROS[asked]}"


def answer(con: Any, asked: str, query: str | None = None) -> Counter[str] | str:
    """The rows, or the error."""
    try:
        if asked in CHECKS:
            return Counter(map(written, sqlanon.connect(con).execute(CHECKS[asked]).fetchall()))
        return Counter(map(written, con.execute(query or query_of(asked)).fetchall()))
    except (duckdb.Error, sqlanon.errors.SqlanonError) as error:
        return str(error)


@pytest.fixture(scope="module")
def expected(path: str) -> dict[str, Counter[str]]:
    """What everybody is answered who sets nothing."""
    with session(path) as connection:
        found = {asked: answer(connection, asked) for asked in (*READS, *MACROS, *CHECKS)}
    for asked, rows in found.items():
        assert isinstance(rows, Counter), (asked, rows)
        # METHOD mondrian withholds nothing of the rows that it was made of.
        assert asked not in READS or asked.startswith("region") or sum(rows.values()) < ROWS, asked
    return found  # type: ignore[return-value]


def require(asked: str, seen: Counter[str] | str, expected: Mapping[str, Counter[str]], said: str) -> None:
    """No setting changes an answer: it is refused, without a value, or stays what it is."""
    if isinstance(seen, str):
        assert not any(secret in seen for secret in SECRETS), (said, asked, seen)
    else:
        assert seen == expected[asked], (said, asked)


def of_ours(asked: str, message: str) -> bool:
    """A query of the user's that does not even run is an error of DuckDB's, before any of ours can be."""
    return "sqlanon: " in message or "this session" in message or (asked in QUERIES and "Binder Error" in message)


@pytest.mark.one_in(48)
@pytest.mark.parametrize("name", TRIED)
def test_a_setting_changes_no_answer(path: str, expected: dict[str, Counter[str]], name: str) -> None:
    asked = [*READS, *(MACROS if name in MEANINGS else SOME_MACROS)]
    if name in MEANINGS:
        asked += CHECKS
    could = False
    with duckdb.connect() as other:
        values = values_of(other, name, kinds_of_settings()[name])
    for value in values:
        with session(path) as con:
            if not put(con, name, value):
                continue
            could = True
            refused = {a for a in asked if isinstance(_required(con, a, expected, f"{name} = {value}"), str)}
        if name not in LIMITS:
            assert refused <= REFUSED.get(name, set()), value
    assert could, f"no value of {name} can be set: say in SKIPPED why it is not tried"


def _required(con: Any, asked: str, expected: Mapping[str, Counter[str]], said: str) -> Counter[str] | str:
    seen = answer(con, asked)
    require(asked, seen, expected, said)
    if isinstance(seen, str) and not said.startswith(LIMITS):
        assert of_ours(asked, seen), (said, asked, seen)
    return seen


@pytest.mark.long
def test_an_order_of_the_session_neither_shows_a_row_nor_turns_a_verdict() -> None:
    con = sqlanon.connect()
    con.execute("""
        CREATE TABLE z AS FROM (VALUES (1, 9), (2, 4), (2, NULL)) AS v(q, s);
        CREATE POLICY p ON z (q QUASI IDENTIFIER MAX LEVEL 0, s SENSITIVE)
        REQUIRE t_closeness(t => 0.3, distance => 'ordered');
        CREATE ANONYMIZED VIEW v AS POLICY p METHOD generalization(suppression => 1);
    """)
    asked = "FROM anon.t_closeness('z', ['q'], 's', t => 0.3, distance => 'ordered')"
    for order in ("ASC", "DESC"):
        con.duckdb.execute(f"SET default_order = '{order}'")
        assert sorted(con.duckdb.execute("FROM v").fetchall(), key=repr) == [(2, 4), (2, None)]
        achieved, *_, satisfied, violations = con.duckdb.execute(asked).fetchone()
        assert (round(achieved, 9), satisfied, violations) == (round(1 / 3, 9), False, 1)
        ((*_, again, verdict),) = con.execute(
            "CHECK z (q) SENSITIVE s REQUIRE t_closeness(t => 0.3, distance => 'ordered')"
        ).fetchall()
        assert (round(again, 9), verdict) == (round(1 / 3, 9), False)


def test_a_collation_of_the_session_shows_no_row() -> None:
    con = sqlanon.connect()
    con.execute("""
        CREATE TABLE p AS SELECT 'A' AS town, 'HIV' AS disease FROM range(5)
        UNION ALL SELECT 'B', 'hiv' FROM range(5)
        UNION ALL SELECT 'C', CASE WHEN i % 2 = 0 THEN 'HIV' ELSE 'hiv' END FROM range(10) AS t(i)
        UNION ALL SELECT 'a', 'SECRETX';
        CREATE POLICY k ON p (town QUASI IDENTIFIER MAX LEVEL 0, disease SENSITIVE) REQUIRE k_anonymity(k => 5);
        CREATE POLICY t ON p (town QUASI IDENTIFIER MAX LEVEL 0, disease SENSITIVE) REQUIRE t_closeness(t => 0.1);
        CREATE ANONYMIZED VIEW v AS POLICY k METHOD generalization(suppression => 1);
        CREATE ANONYMIZED VIEW w AS POLICY t METHOD generalization(suppression => 1);
    """)
    shown = [Counter(con.duckdb.execute(f"FROM {view}").fetchall()) for view in "vw"]
    con.duckdb.execute("SET default_collation = 'NOCASE'")
    for view, rows in zip("vw", shown, strict=True):
        assert not Counter(answered(con.duckdb, f"FROM {view}")) - rows
    assert answered(con.duckdb, "FROM v WHERE disease = 'SECRETX'") == []


def answered(con: Any, query: str) -> list[Any]:
    """The rows; none where the session is refused."""
    try:
        return list(con.execute(query).fetchall())
    except duckdb.CatalogException as error:
        return [] if of_ours(query, str(error)) else [str(error)]


def test_every_setting_is_tried_or_skipped() -> None:
    assert sorted(TRIED) == sorted(kinds_of_settings())


def test_what_is_skipped_is_there() -> None:
    """A reason for a setting that DuckDB no longer has would hide the next one of that name."""
    with duckdb.connect() as con:
        there = {name for (name,) in con.execute("SELECT name FROM duckdb_settings()").fetchall()}
    assert {name for names in SKIPPED.values() for name in names.split()} <= there | UNLISTED


@pytest.mark.one_in(3)
@pytest.mark.parametrize("how", ["SET", "SET SESSION", "SET GLOBAL", "PRAGMA"])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("default_collation", "'NOCASE'"),
        ("default_order", "'DESC'"),
        ("TimeZone", "'Asia/Kolkata'"),
        ("null_order", "'NULLS FIRST'"),
    ],
)
def test_it_does_not_matter_how_it_is_set(
    path: str, expected: dict[str, Counter[str]], name: str, value: str, how: str
) -> None:
    with session(path) as con:
        if name == "TimeZone" and how == "SET GLOBAL":
            con.execute("RESET TimeZone")
        assert put(con, name, value, how)
        for asked in ("text", "ordered", "listed moments", "own query"):
            _required(con.cursor() if how == "SET GLOBAL" else con, asked, expected, f"{how} {name}")


def test_a_prepared_statement_is_refused_like_another(con: Any, expected: dict[str, Counter[str]]) -> None:
    for asked in ("text", "ordered", "words"):
        con.execute(f"PREPARE {asked} AS {query_of(asked)}")
    con.execute("SET default_collation = 'NOCASE'")
    con.execute("SET default_order = 'DESC'")
    for asked in ("text", "ordered", "words"):
        require(asked, answer(con, asked, f"EXECUTE {asked}"), expected, "prepared")
    con.execute("RESET default_collation")
    for asked in ("text", "ordered", "words"):
        assert answer(con, asked, f"EXECUTE {asked}") == expected[asked]


def test_a_condition_on_a_withheld_value_finds_nothing(con: Any) -> None:
    """Whether an error comes must not depend on it either: the session is refused before any row is looked at."""
    for value in ("ULM", "SECRET", "no such value"):
        query = f"SELECT count(*) FROM \"view words\" WHERE town = '{value}' OR kind = '{value}'"
        assert con.execute(query).fetchall() == [(0,)]
        con.execute("SET default_collation = 'NOCASE'")
        with pytest.raises(duckdb.CatalogException, match="sqlanon: this session compares text by a collation"):
            con.execute(query)
        with pytest.raises(duckdb.CatalogException, match="sqlanon: this session compares text by a collation"):
            con.execute(f"EXPLAIN {query}")
        con.execute("RESET default_collation")


@pytest.mark.long
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_settings_together_change_no_answer(path: str, expected: dict[str, Counter[str]], data: st.DataObject) -> None:
    kinds = kinds_of_settings()
    meanings = [name for name in MEANINGS if name in kinds]
    names = data.draw(st.lists(st.sampled_from(meanings), min_size=2, max_size=3, unique=True))
    asked = data.draw(st.lists(st.sampled_from([*READS, *MACROS, *CHECKS]), min_size=3, max_size=3, unique=True))
    with session(path) as con:
        said = []
        for name in names:
            value = data.draw(st.sampled_from(values_of(con, name, kinds[name])))
            if put(con, name, value):
                said.append(f"{name} = {value}")
        for one in asked:
            _required(con, one, expected, ", ".join(said) or "nothing")


# What a body is without the condition on the session that stands before it.
CONDITION = re.compile(r'WHERE \(NOT \("system"\.main\.current_setting\(CASE .*? END\) IS NULL\)\)')


@pytest.mark.one_in(4)
@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT", "th", "de"])
def test_a_body_compares_text_by_bytes_whatever_the_session(
    con: Any, expected: dict[str, Counter[str]], collation: str
) -> None:
    """The condition is decided while a query is bound. Another session of the process may change a setting meanwhile.

    DuckDB has no way to say how texts inside lists and structs are compared: for these there is the condition alone.
    """
    bodies = dict(con.execute("SELECT view_name, sql FROM duckdb_views() WHERE view_name LIKE 'view %'").fetchall())
    compared = [asked for asked in READS if asked not in (*QUERIES, "nested")]
    for asked in compared:
        text, times = CONDITION.subn("", bodies[f"view {asked}"])
        assert times > 0
        con.execute(text.replace(f'CREATE SECURE VIEW "view {asked}"', f'CREATE TEMP VIEW "view {asked}"'))
    con.execute(f"SET default_collation = '{collation}'")
    assert {asked: answer(con, asked) for asked in compared} == {asked: expected[asked] for asked in compared}


@pytest.mark.long
def test_another_session_cannot_change_a_setting_in_between(path: str, expected: dict[str, Counter[str]]) -> None:
    """SET without SESSION is for the whole process."""
    with session(path) as con:
        reader, other, stop = con.cursor(), con.cursor(), threading.Event()

        def toggle() -> None:
            while not stop.is_set():
                other.execute("SET default_collation = 'NOCASE'; SET default_order = 'DESC'")
                other.execute("RESET default_collation; RESET default_order")

        thread = threading.Thread(target=toggle)
        thread.start()
        try:
            end = time.monotonic() + 1.5
            seen = [answer(reader, asked) for asked in ("text", "ordered") * 200 if time.monotonic() < end]
        finally:
            stop.set()
            thread.join()
    rows = [rows for rows in seen if isinstance(rows, Counter)]
    assert all(one in (expected["text"], expected["ordered"]) for one in rows)


@pytest.mark.parametrize("asked", READS)
def test_what_is_shown_has_no_collation(con: Any, asked: str) -> None:
    """A reader compares it as they like, and a table that is made of it has plain columns."""
    con.execute(f'CREATE TEMP TABLE shown AS FROM "view {asked}"')
    ((made,),) = con.execute("SELECT sql FROM duckdb_tables() WHERE table_name = 'shown'").fetchall()
    assert "COLLATE" not in made
