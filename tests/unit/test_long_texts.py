"""Names and texts of a megabyte: an error about one takes time of its length, and not of the square of it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import duckdb
import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

import sqlanon
from sqlanon import SqlanonError
from sqlanon.clients.terminal.completion import StatementCompleter
from sqlanon.clients.terminal.shell import may_hold_secret
from sqlanon.domain.identifiers import nearest
from sqlanon.engines.translated import translated
from sqlanon.errors import may_have_password, without_passwords
from sqlanon.sources.column_types import without_enums
from sqlanon.sources.source import require_no_password
from sqlanon.statements.parser import hint_for, parse_script
from sqlanon.statements.registry import keywords, label_of, statements

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processor time is limited by a signal")

LONG = 1_000_000
# Seconds of processor time, many times what is needed. What takes the square of the length takes hours.
MOST = 20.0

# {N} is a name and {L} a text, in statements that each end in an error.
STATEMENTS = [
    "DESCRIBE POLICY {N}",
    "SHOW POLICY {N}",
    "CHECK {N}",
    "CHECK {L}",
    "CHECK 'x' SIGNED BY {L}",
    "CHECK t ({N}) REQUIRE k_anonymity(k => 2)",
    "CHECK t (age) REQUIRE {N}(k => 2)",
    "CHECK t (age) REQUIRE k_anonymity({N} => 2)",
    "CHECK t (age) REQUIRE l_diversity(l => 2, variant => {L}, attribute => ill)",
    "CREATE POLICY q ON {N} (a QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)",
    "CREATE POLICY q ON t ({N} QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)",
    "CREATE POLICY q ON t (age QUASI IDENTIFIER USING {N}) REQUIRE k_anonymity(k => 2)",
    "CREATE POLICY q ON (SELECT {L} AS a) (b QUASI IDENTIFIER) REQUIRE k_anonymity(k => 2)",
    "CREATE POLICY q ON t (age IDENTIFIER PSEUDONYM KEY {L}) REQUIRE k_anonymity(k => 2); EXPORT r TO {L}",
    "ALTER POLICY {N} REQUIRE k_anonymity(k => 2)",
    "ALTER POLICY p ALTER COLUMN {N} SENSITIVE",
    "DROP POLICY {N}",
    "CREATE HIERARCHY h AS {N} (1)",
    "CREATE HIERARCHY h AS INTERVALS ({L})",
    "CREATE HIERARCHY h AUTO ON t.{N}",
    "DROP HIERARCHY {N}",
    "CREATE ANONYMIZED TABLE x AS POLICY {N} METHOD generalization",
    "CREATE ANONYMIZED VIEW x AS POLICY {N}",
    "CREATE ANONYMIZED TABLE x AS POLICY p METHOD {N}",
    "CREATE ANONYMIZED TABLE x AS POLICY p METHOD generalization({N} => 1)",
    "CREATE ANONYMIZED TABLE x AS POLICY p METHOD generalization(recoding => {L})",
    "CREATE ANONYMIZED TABLE x AS POLICY p LEVELS FROM RELEASE {N}",
    "EXPLAIN ANONYMIZED TABLE x AS POLICY {N} METHOD generalization",
    "EXPLAIN ANONYMIZED VIEW x AS POLICY {N}",
    "REFRESH ANONYMIZED TABLE {N}",
    "DROP ANONYMIZED TABLE {N}",
    "DROP ANONYMIZED VIEW {N}",
    "CREATE ANONYMIZED STREAM s AS POLICY p ORDER BY {N} METHOD stream(k => 2, delay => 3)",
    "DROP ANONYMIZED STREAM {N}",
    "ADVANCE {N}",
    "EXPORT {N} TO 'x/'",
    "EXPORT r TO 'x/' (FORMAT {N})",
    "EXPORT r TO {L}",
    "EXPORT r TO 'x/' (SIGN KEY {L})",
    "EXPORT r TO 'x/' (PARTITION_BY ({N}))",
    "ESTIMATE SELECT count(*) FROM t WHERE {N} = 1 FROM RELEASE r",
    "ESTIMATE SELECT count(*) FROM t FROM RELEASE {N}",
    "MEASURE {N}",
    "MEASURE r WITH FIGURES ({N})",
    "MEASURE r WITH WORKLOAD {N}",
    "ATTACK r WITH {N}",
    "ATTACK r WITH homogeneity({N} => 1)",
    "ATTACK t ({N}) SENSITIVE ill WITH homogeneity",
    "ATTACK {L} WITH homogeneity",
    "PROFILE {N}",
    "PROFILE t ({N})",
    "FRONTIER f ON POLICY {N} METHODS (generalization) SWEEP k IN (2) MEASURE gain",
    "FRONTIER f ON POLICY p METHODS ({N}) SWEEP k IN (2) MEASURE gain",
    "FRONTIER f ON POLICY p METHODS (generalization) SWEEP {N} IN (2) MEASURE gain",
    "FRONTIER f ON POLICY p METHODS (generalization) SWEEP k IN (2) MEASURE {N}",
    "ADVISE {N} LEAST gain",
    "DROP FRONTIER {N}",
    "CREATE WORKLOAD v ON POLICY {N} (queries => 1)",
    "CREATE WORKLOAD v ON POLICY p ({N} => 1)",
    "DROP WORKLOAD {N}",
    "CREATE SERIES s ON POLICY {N} KEY 'K' REQUIRE composition(max => 0.5)",
    "CREATE SERIES s ON POLICY p KEY {L} REQUIRE composition(max => 0.5)",
    "CREATE SERIES s ON POLICY p KEY 'K' REQUIRE {N}(max => 0.5)",
    "DROP SERIES {N}",
    "SHOW {N}",
    "CREATE READER {N} EXPIRES DATE '2027-06-30'",
    "INSERT INTO nope VALUES ({L})",
    "CREATE ANONYMISED TABLE {N}",
]
# And the examples of statements that have no line above, about a release of such a name.
STATEMENTS += [
    cls.EXAMPLES[0].replace("hospital_2026", "{N}").replace(" IF EXISTS", "")
    for cls in statements()
    for label in map(label_of, cls.OPENINGS)
    if not any(text.startswith(label) for text in STATEMENTS) and not label.startswith("SHOW ")
]
# Texts that patterns may stumble over.
FILLINGS = (
    *("a", "0F", "a ", "_", ":", ",", "[", "(", "=", "/", "@", "\n", " ", "é", "aB_", "'", '"', '""', "'a'"),
    *("a.", ":a@", "a://", "://@", "pwd ", "pwd\n", "; ", "\nCHECK", "/*", "--", "$a", "METHOD ", "ANONYMIZED STREAM "),
    *("ENUM(", "ENUM('a''a'", 'database "', 'unrecognized configuration parameter "sqlanon: ', '; run x" '),
)
COMPLETER = StatementCompleter(keywords(), lambda: ["age"])
ERRORS = {
    duckdb.BinderException: 'Binder Error: "',
    duckdb.CatalogException: 'Catalog Error: unrecognized configuration parameter "sqlanon: ',
    duckdb.ConversionException: "Conversion Error: ",
    duckdb.InvalidInputException: "Invalid Input Error: Values were not provided for the following parameters: ",
    duckdb.NotImplementedException: "Not implemented Error: ",
    duckdb.ParserException: "Parser Error: syntax error\n\nLINE 1: ",
    duckdb.TransactionException: "TransactionContext Error: Attempting to write to database ",
}


def completions(text: str) -> None:
    for before in (text, f"CREATE ANONYMIZED TABLE x AS POLICY p METHOD mondrian({text}"):
        list(COMPLETER.get_completions(Document(before), CompleteEvent()))


def labels(text: str) -> None:
    with suppress(SqlanonError):
        for statement in parse_script(text):
            statement.label()


def errors(text: str) -> None:
    for kind, head in ERRORS.items():
        translated(kind(head + text))


def kept(text: str) -> None:
    with suppress(SqlanonError):
        require_no_password("'" + text.replace("'", "''") + "'", "a query")


FUNCTIONS: dict[str, Callable[[str], Any]] = {
    "without_passwords": without_passwords,
    "may_have_password": may_have_password,
    "may_hold_secret": may_hold_secret,
    "require_no_password": kept,
    "nearest": lambda text: nearest(text, [text[1:], text[:200], "age"]),
    "nearest to a short one": lambda text: nearest(text[:200], [text, text[1:200]]),
    "without_enums": lambda text: without_enums(f"STRUCT(\"{text}\" ENUM('a'{text}"),
    "translated": errors,
    "hint_for": lambda text: hint_for(duckdb.ParserException("syntax error"), f"SELEC {text}"),
    "label": labels,
    "completions": completions,
}


@contextmanager
def in_time() -> Iterator[None]:
    """Raises TimeoutError after `MOST` seconds of processor time, within a pattern too."""

    def late(number: int, frame: object) -> None:
        raise TimeoutError(f"more than {MOST} s of processor time")

    former = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, former)


@pytest.fixture(scope="module")
def con(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlanon.Connection]:
    with sqlanon.connect() as connection:
        connection.execute("""
            CREATE TABLE t AS SELECT i % 8 AS age, 'd' || i % 3 AS ill FROM range(64) AS r(i);
            CREATE POLICY p ON t (age QUASI IDENTIFIER, ill SENSITIVE) REQUIRE k_anonymity(k => 2);
            CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
        """)
        yield connection


@pytest.mark.one_in(44)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_an_error_about_a_long_name_or_text(
    con: sqlanon.Connection, statement: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    long = "0F" * (LONG // 2)
    text = statement.replace("{N}", f'"{long}"').replace("{L}", f"'{long}'")
    with in_time(), pytest.raises((SqlanonError, duckdb.Error)) as caught:
        con.execute(text)
    with in_time():
        assert str(caught.value)


def test_each_statement_is_among_them() -> None:
    # A statement that takes a VIEW takes a TABLE as well.
    openings = {opening.replace("ANONYMIZED VIEW", "ANONYMIZED TABLE") for opening in keywords()}
    lacking = [
        word for word in openings if not any(s.startswith(word) for s in STATEMENTS) and not word.startswith("SHOW ")
    ]
    assert lacking == []


@pytest.mark.one_in(11)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_pattern_takes_the_square_of_a_length(function: str) -> None:
    for filling in FILLINGS:
        long = filling * (LONG // 10 // len(filling))
        with in_time():
            # What a pattern looks for at the end is not there.
            FUNCTIONS[function](f"{long}\x00@")


def test_passwords_are_hidden_in_long_texts() -> None:
    """Behind a long word, behind many harmless URLs, and where the scheme is in a word of its own."""
    for head in ("a" * LONG, "https://h/x, " * (LONG // 100), "0F" * LONG + " ", "1+a." * (LONG // 4)):
        shown = without_passwords(f"{head} postgresql://u:Xq7s@h/d")
        assert shown.startswith(f"{head} postgresql://***")
        assert "Xq7s" not in shown


def test_names_that_are_nearly_too_long_to_be_compared() -> None:
    assert nearest("a" * 199 + "b", ["a" * 200]) is not None
    assert nearest("a" * 200 + "b", ["a" * 200]) is None
    assert nearest("ages", ["a" * 201, "age"]) == "did you mean age?"
