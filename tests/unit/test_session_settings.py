"""What a session says of orders, NULLs and divisions changes no statement's answer: our SQL says all of it itself."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlglot import exp, tokenize
from sqlglot.tokens import Token

import sqlanon
from sqlanon.errors import UserError
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.render import to_sql
from tests.support.statements import SCRIPT, SETUP

SQL = Path(__file__).resolve().parents[2] / "sql"
# What follows the last key of an ORDER BY.
_ENDS = {"LIMIT", "OFFSET", "ROWS", "RANGE", "GROUPS", "UNION", "QUALIFY", ";"}


def keys(sql: str) -> Iterator[str]:
    """Every sort key of a text, those of texts in its literals too: a macro is written as one."""
    tokens = tokenize(sql, dialect="duckdb")
    for place, token in enumerate(tokens):
        if token.token_type.name == "ORDER_BY":
            yield from _keys(tokens[place + 1 :])
        elif token.token_type.name == "STRING" and "ORDER BY" in token.text.upper():
            # A macro's text has its marks between dollars, which would be quotes here.
            yield from keys(token.text.replace("$", ""))


def _keys(tokens: list[Token]) -> Iterator[str]:
    words: list[str] = []
    depth = 0
    for token in tokens:
        text = token.text.upper()
        # A quoted name may be that of a keyword, such as "rows".
        mark = "" if token.token_type.name == "IDENTIFIER" else text
        depth += (mark == "(") - (mark == ")")
        if depth < 0 or (depth == 0 and mark in _ENDS):
            break
        if depth == 0 and mark == ",":
            yield " ".join(words)
            words = []
        else:
            words.append(text)
    yield " ".join(words)


def unsaid(sql: str) -> list[str]:
    """The keys that do not say in which direction they sort and where NULLs stand."""
    ends = [f"{way} NULLS {place}" for way in ("ASC", "DESC") for place in ("FIRST", "LAST")]
    return [key for key in keys(sql) if not any(key.endswith(" " + end) for end in ends)]


def test_the_search_finds_what_is_left_unsaid() -> None:
    said = "SELECT sum(a) OVER (ORDER BY b ASC NULLS LAST, (c, d) DESC NULLS FIRST ROWS UNBOUNDED PRECEDING) FROM t"
    assert len(list(keys(said))) == 2
    assert unsaid(said) == []
    assert unsaid('SELECT a FROM t ORDER BY "rows" DESC NULLS LAST, "limit", ")" ASC NULLS LAST') == ["LIMIT"]
    assert unsaid("SELECT a FROM t ORDER BY a, b DESC, c NULLS LAST, d DESC NULLS LAST LIMIT 3") == [
        "A",
        "B DESC",
        "C NULLS LAST",
    ]
    assert unsaid("SELECT string_agg(a ORDER BY f(b, c)) FROM query('SELECT 1 ORDER BY ''x'' DESC')") == [
        "F ( B , C )",
        "X DESC",
    ]


@pytest.mark.parametrize("file", sorted(SQL.rglob("*.sql")), ids=lambda file: file.relative_to(SQL).as_posix())
def test_files_say_every_order_in_full(file: Path) -> None:
    if file.parent.name == "examples":
        # They are scripts as a user writes them, whose queries show rows and decide nothing.
        return
    lines = (line for line in file.read_text(encoding="utf-8").splitlines() if not line.lstrip().startswith("--"))
    assert unsaid("\n".join(lines)) == []


@pytest.mark.parametrize("dialect", ["duckdb", "spark"])
def test_a_tree_is_written_with_every_order_in_full(dialect: str) -> None:
    last, first = exp.Ordered(this=column("c"), desc=True), exp.Ordered(this=column("d"), nulls_first=True)
    over = exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=[first]))
    tree = exp.select(column("a"), over).from_(relation("t")).order_by(column("b"), last, exp.Literal.number(1))
    text = to_sql(tree, dialect=dialect)
    # What is left out on Spark is the standing of NULLs that it has by itself, which no session changes.
    window = "ASC NULLS FIRST" if dialect == "duckdb" else "ASC"
    below = "DESC NULLS LAST" if dialect == "duckdb" else "DESC"
    assert re.findall(r"(?:A|DE)SC(?: NULLS \w+)?", text) == [window, "ASC NULLS LAST", below, "ASC NULLS LAST"]
    # What is written once for one engine is written anew for another.
    assert to_sql(tree, dialect=dialect) == text


def answers(folder: Path, *settings: str) -> tuple[dict[str, list[Any]], list[str]]:
    """What each statement answers in a session with these settings, and each text that the engine was given."""
    texts: list[str] = []
    con = sqlanon.connect(folder / "people.duckdb")
    con.duckdb.execute(SETUP)
    for setting in settings:
        con.duckdb.execute(f"SET {setting}")
    con.observe(lambda stage, sql, done, total, detail: texts.append(sql) if sql else None)
    before = os.getcwd()
    os.chdir(folder)
    try:
        # Sums of fractions, in whatever order, differ in the last digit.
        found = {
            statement: [
                tuple(round(value, 9) if isinstance(value, float) else value for value in row)
                for row in con.sql(statement).fetchall()
            ]
            for statement in SCRIPT
        }
    finally:
        os.chdir(before)
    return found, texts


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, list[Any]], list[str]]:
    return answers(tmp_path_factory.mktemp("usual"))


@pytest.mark.long
def test_the_engine_is_given_every_order_in_full(usual: tuple[dict[str, list[Any]], list[str]]) -> None:
    _, texts = usual
    assert sum(len(list(keys(text))) for text in texts) > 200
    assert {text: found for text in texts if (found := unsaid(text))} == {}


# Drawn anew each time; and the SQL of an explained view has the release's own number.
_DRAWN = ("dealt", "loosened", "made_relaxed", "EXPLAIN")


@pytest.mark.long
def test_statements_answer_alike_in_any_session(usual: tuple[dict[str, list[Any]], list[str]], tmp_path: Path) -> None:
    expected, _ = usual
    found, _ = answers(
        tmp_path,
        "default_order = 'DESC'",
        "default_null_order = 'NULLS FIRST'",
        "ieee_floating_point_ops = false",
        "error_on_division_by_zero = false",
        "scalar_subquery_error_on_multiple_rows = false",
        "dialect_compatibility_mode = 'spark'",
        "preserve_identifier_case = 'uppercase'",
        "TimeZone = 'Asia/Kolkata'",
    )
    same = [statement for statement in SCRIPT if not any(drawn in statement for drawn in _DRAWN)]
    assert {statement: found[statement] for statement in same} == {statement: expected[statement] for statement in same}
    for statement in SCRIPT:
        if statement.startswith("CHECK"):
            assert [row[-1] for row in found[statement]] == [row[-1] for row in expected[statement]], statement


@pytest.mark.one_in(4)
@pytest.mark.parametrize("setting", ["default_collation = 'NOCASE'", "integer_division = true"])
def test_a_session_that_counts_or_divides_otherwise_is_refused(setting: str) -> None:
    con = sqlanon.connect()
    con.execute(SETUP)
    made = ("CREATE HIERARCHY", "CREATE POLICY exact", "CREATE ANONYMIZED TABLE dealt AS", "CREATE WORKLOAD")
    for statement in (text.replace("basic", "exact") for text in SCRIPT if text.startswith(made)):
        con.execute(statement)
    con.duckdb.execute(f"SET {setting}")
    for statement in (
        "CREATE HIERARCHY h AS INTERVALS (10)",
        "EXPLAIN ANONYMIZED VIEW r AS POLICY exact METHOD generalization",
        "CREATE ANONYMIZED TABLE r AS POLICY exact",
        "CHECK dealt",
        "CHECK people (ward) REQUIRE k_anonymity(k => 2)",
        "EXPORT dealt TO 'dealt'",
        "CREATE OR REPLACE WORKLOAD asked ON POLICY exact (dimensions => 2)",
        "MEASURE dealt WITH WORKLOAD asked",
        "ESTIMATE SELECT count(*) FROM people FROM RELEASE dealt",
    ):
        with pytest.raises(UserError) as error:
            con.execute(statement)
        assert error.value.hint == f"run RESET {setting.split()[0]} first", statement


def test_a_catalog_is_not_changed_by_an_order() -> None:
    con = sqlanon.connect()
    con.execute("CREATE HIERARCHY h AS INTERVALS (10)")
    con.execute("SET default_order = 'DESC'; SET default_null_order = 'NULLS FIRST'")
    con.execute("CREATE HIERARCHY i AS INTERVALS (10)")
    assert con.duckdb.execute("SELECT count(*) FROM anon.hierarchy").fetchall() == [(2,)]


@pytest.mark.parametrize("made", ["", "SET default_order = 'DESC'"])
def test_a_reader_may_say_the_order_that_a_view_was_made_with(made: str) -> None:
    """In a new session it is ASCENDING, and ASC once it was set; what the error says to run works."""
    with sqlanon.connect() as con:
        con.execute(
            "CREATE TABLE t AS SELECT i % 5 AS q, i AS s FROM range(50) t(i);"
            "CREATE POLICY p ON (SELECT q, s FROM t) (q QUASI IDENTIFIER, s SENSITIVE) REQUIRE k_anonymity(k => 5)"
        )
        con.execute(f"{made}; CREATE ANONYMIZED VIEW v AS POLICY p" if made else "CREATE ANONYMIZED VIEW v AS POLICY p")
        reader = con.duckdb.cursor()
        reader.execute(f"SET default_order = '{'ASC' if made else 'DESC'}'")
        with pytest.raises(Exception, match="depends on the setting default_order") as refused:
            reader.execute("SELECT count(*) FROM v")
        found = re.search(r"run (SET default_order = '\w+')", str(refused.value))
        assert found
        reader.execute(found[1])
        assert reader.execute("SELECT count(*) FROM v").fetchall() == [(50,)]
