"""A name may mean something else in the session that reads it: nothing that is published or said may depend on that.

Temporary tables, views and data frames come before all others in DuckDB, the search path decides where it goes on, and
a macro may have the name of any function. Each statement is compared with what it does in a clean session: it does
the same, or it is an error.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest
import sqlglot
from sqlglot import exp

import sqlanon
from sqlanon.errors import SqlanonError
from tests.support.attacks.names import (
    ANSWERS,
    READS,
    RELEASES,
    SETUP,
    Shadow,
    shadow_of_function,
    shadow_of_relation,
)
from tests.support.database import written

# A statement, and the query whose rows count; None where these are those of its answer.
STATEMENTS: tuple[tuple[str, str | None], ...] = (*RELEASES.items(), *((text, None) for text in (*ANSWERS, *READS)))
KEY = "0123456789abcdef0123456789abcdef"
Outcome = Counter[str] | None


@pytest.fixture(scope="module")
def sent() -> list[str]:
    """The queries that the statements of the clean session have sent."""
    return []


@pytest.fixture(scope="module")
def con(sent: list[str]) -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SQLANON_TEST_KEY", KEY)
        connection = sqlanon.connect()
        connection.execute(SETUP)
        connection.observe(lambda stage, text, *_: sent.append(text) if text else None)
        yield connection
        connection.close()


def outcome(con: Any, statement: str, query: str | None, shadow: Shadow | None = None) -> Outcome:
    """The rows of a statement, run in a transaction that is rolled back; None for an error."""
    con.execute("BEGIN")
    try:
        if shadow:
            shadow.put(con)
        answer = con.execute(statement).fetchall()
        if query is None:
            # The counts behind this figure are drawn at random.
            return Counter(written(row) for row in answer if "count_error" not in row)
        return Counter(map(written, con.duckdb.execute(query).fetchall()))
    except (duckdb.Error, SqlanonError):
        return None
    finally:
        con.duckdb.execute("ROLLBACK")
        if shadow:
            shadow.take(con)


@pytest.fixture(scope="module")
def clean(con: Any, sent: list[str]) -> dict[str, Outcome]:
    found = {statement: outcome(con, statement, query) for statement, query in STATEMENTS}
    assert None not in found.values(), [statement for statement, rows in found.items() if rows is None]
    return found


@pytest.fixture(scope="module")
def functions(con: Any, clean: dict[str, Outcome], sent: list[str]) -> tuple[str, ...]:
    """The functions and operators that are in a query that was sent."""
    words = {word.lower() for text in sent for word in re.findall(r"[A-Za-z_]\w*|[^\w\s(),.;'\"]+", text)}
    built_in = con.duckdb.execute("SELECT DISTINCT function_name FROM system.main.duckdb_functions() WHERE internal")
    return tuple(sorted({name for (name,) in built_in.fetchall()} & words | {"count_star", "row", "struct_pack"}))


def differs(con: Any, clean: dict[str, Outcome], functions: tuple[str, ...], random: Random) -> str | None:
    """What is drawn and goes another way than in the clean session; None where nothing does."""
    statement, query = random.choice(STATEMENTS)
    shadow = shadow_of_relation(random) if random.random() < 0.6 else shadow_of_function(random, functions)
    rows = outcome(con, statement, query, shadow)
    if rows is None or rows == clean[statement]:
        return None
    return f"{statement} beside {shadow.what}: {sorted((rows - (clean[statement] or Counter())).items())[:3]}"


@pytest.mark.long
@pytest.mark.one_in(40)
@pytest.mark.parametrize("seed", range(40))
def test_drawn_names_change_nothing(con: Any, clean: dict[str, Outcome], functions: tuple[str, ...], seed: int) -> None:
    """Two thousand names, fifty in each test."""
    random = Random(seed)
    assert [found for _ in range(50) if (found := differs(con, clean, functions, random))] == []


def test_a_hidden_relation_is_an_error_or_the_one_that_was_meant(con: Any, clean: dict[str, Outcome]) -> None:
    """Each live view beside a temporary table of what it reads: six of these showed a row that was to be withheld."""
    for name in ("people", "town", "places", "grown"):
        shadow = Shadow(
            name,
            lambda con, name=name: con.execute(
                f"CREATE TEMP TABLE {name} AS SELECT original.* FROM memory.main.{name} AS original, range(20)"
            ),
        )
        for read in READS:
            assert outcome(con, read, None, shadow) in (None, clean[read]), (read, name)


def named_in_full(table: exp.Table, known: set[str]) -> bool:
    """Whether a relation of a query is named with its database, or is one that no name of the user's can hide."""
    name = table.name
    if isinstance(table.this, exp.Func) or len(table.parts) == 3 or table.db in ("anon", "recurring"):
        return True
    if isinstance(table.parent, exp.AlterRename):
        return True
    return not table.db and (name in known or name.startswith("__sqlanon_"))


@pytest.mark.long
def test_every_relation_is_named_with_its_database(con: Any, clean: dict[str, Outcome], sent: list[str]) -> None:
    """But for the bodies of live views, which survive another name of the file, and so ask what hides their names."""
    unnamed: Counter[str] = Counter()
    for text in dict.fromkeys(sent):
        # The user's own query is not ours to change: what its names mean is compared with what they meant.
        if text.startswith(("SET", "--")) or re.match(r'CREATE TEMPORARY VIEW "__sqlanon_\w+_source" AS ', text):
            continue
        tree = sqlglot.parse_one(text.replace("SECURE VIEW", "VIEW"), dialect="duckdb")
        known = {cte.alias for cte in tree.find_all(exp.CTE)}
        for table in tree.find_all(exp.Table):
            if named_in_full(table, known):
                continue
            if not re.search(rf"\.lower\('{table.name.lower()}'\)", text, re.IGNORECASE):
                unnamed[f"{table.sql()}: {text[:120]}"] += 1
    assert unnamed == {}


GUARDS = (
    *("shadowing_macros", "connection_numbers", "find_relation", "find_table"),
    *("table_columns", "relations", "nothing_hidden", "session"),
)


@pytest.mark.parametrize("guard", GUARDS)
def test_a_guard_calls_functions_by_their_full_names(guard: str) -> None:
    text = (Path(sqlanon.__file__).parents[1] / "sql" / "statements" / f"{guard}.sql").read_text(encoding="utf-8")
    code = re.sub(r"--[^\n]*|'[^']*'", "", text)
    calls = re.findall(r"([\w.]*\w)\s*\(", code)
    keywords = {"filter", "from", "and", "in", "as", "select", "not", "or", "cast", "union", "all", "where"}
    assert {name for name in calls if name.lower() not in keywords and not name.startswith("system.main.")} == set()
    assert not re.search(r"\|\||[-+*/%](?!\))", code.replace("(*)", ""))
