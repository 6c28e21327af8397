"""The errors of sqlanon, one class for each responsible party; each error says what to do about it.

No error contains source rows. Names of objects, columns and hierarchy values may appear, because the user has to act on
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Position:
    """The place of a statement, or of a part of it, in the script, counted from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"

    def within(self, text: Position) -> Position:
        """Converts a position in a text to a position in the script in which the text begins at `text`."""
        column = self.column + text.column - 1 if self.line == 1 else self.column
        return Position(self.line + text.line - 1, column)


# The beginning of a URL (of a database also without slashes), and the text after it that can contain no password:
# hosts and ports, folders, a schema and a name behind #. A space ends it only behind the last @ of the text.
# A scheme is matched at the beginning of a word only: otherwise a long word would be read again from each letter on.
_URL = re.compile(
    r"(?<![a-z0-9+.-])[0-9+.-]*+[a-z][a-z0-9+.-]*+://"
    r"|(?<![\w./-])(?:postgres|postgresql|mysql|mariadb|jdbc|mongodb):(?=\S)",
    re.IGNORECASE,
)
_HOST = r"(?:\[[0-9a-f:.]*\]|[\w.%-]*)(?::\d*)?"
_PARTS = rf"{_HOST}(?:,{_HOST})*(?:/[^\s?#@:'\"]*)?(?:\?schema=[^\s?#@&:='\"]*)?(?:#[^\s@:='\"]*)?(?:$|(?=['\"),;]|:\s"
_HARMLESS_BEFORE_AT = re.compile(rf"{_PARTS}))", re.IGNORECASE)
_HARMLESS = re.compile(rf"{_PARTS}|\s))", re.IGNORECASE)
# The keyword of a password in a connection string as libpq reads it.
_KEYWORD = re.compile(r"(?:password|passwd|pwd)\s*=", re.IGNORECASE)


def without_passwords(text: str, *, same_length: bool = False) -> str:
    """Returns the text with stars in place of any part of a URL that may be a password.

    A script may contain passwords, and no message shows them. A password can contain any character, so the stars reach
    to the last @ of the text, or to its end. They are three, or with `same_length` one for each character.
    """
    start = end = len(text)
    at = text.rfind("@") + 1
    for url in _URL.finditer(text):
        harmless = _HARMLESS_BEFORE_AT if url.end() < at else _HARMLESS
        if not harmless.match(text, url.end()):
            start = url.end()
            end = at if at > start and not re.search("[?=#]", text[at:]) else end
            break
    keyword = _KEYWORD.search(text)
    if keyword:
        start, end = min(start, keyword.end()), len(text)
    return text[:start] + "*" * (end - start if same_length else 3 * (start < end)) + text[end:]


def not_encodable(error: UnicodeEncodeError) -> UserError:
    """Returns the error for a text that the session's encoding lacks, as with LC_ALL=C and without UTF-8 mode."""
    letter = error.object[error.start : error.end].encode("unicode_escape").decode("ascii")
    return UserError(
        f"the encoding of this session is {error.encoding}, which has no {letter}",
        hint="set PYTHONUTF8=1, or a locale of UTF-8 such as LC_ALL=C.UTF-8",
    )


def may_have_password(text: str) -> bool:
    """Whether a text has a URL or a password's keyword; `without_passwords` leaves any other text unchanged."""
    return _URL.search(text) is not None or _KEYWORD.search(text) is not None


class SqlanonError(Exception):
    """The base of every error that sqlanon raises.

    `message` says what is wrong, and `hint` what to change. `position` is the place in the script, if known, and
    `excerpt` the line there with a caret below it. `query` (for a failed check) is the SELECT that returns the
    violating classes. `part` names the part of the statement at fault, from the general to the special, as ("column",
    "age"). `quoted` is the text of a query that the database quotes, with the offset of the fault in it. `exit_code` is
    the exit code of the command line.

    >>> import sqlanon
    >>> try:
    ...     sqlanon.connect().sql("CHECK (FROM range(4)) (range) REQUIRE k_anonimity(k => 5)")
    ... except SqlanonError as error:
    ...     print(type(error).__name__, error.hint, sep=": ")
    UserError: did you mean k_anonymity or km_anonymity or ke_anonymity?
    """

    exit_code = 3

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        position: Position | None = None,
        query: str | None = None,
        part: tuple[str, ...] = (),
        quoted: tuple[str, int] | None = None,
    ) -> None:
        message = without_passwords(message)
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.position = position
        self.query = query
        self.part = part
        self.quoted = quoted
        self.excerpt: str | None = None

    def at(self, position: Position | None) -> SqlanonError:
        """Sets the position of the error in the script unless it has one, and returns the error."""
        if self.position is None:
            self.position = position
        return self

    def __str__(self) -> str:
        where = f"{self.position}: " if self.position else ""
        excerpt = "".join(f"\n  {line}" for line in self.excerpt.splitlines()) if self.excerpt else ""
        hint = f"\n  hint: {self.hint}" if self.hint else ""
        return f"{where}{self.message}{excerpt}{hint}"


@contextmanager
def about(*part: str) -> Iterator[None]:
    """Records the part of the statement in errors raised inside the block, unless they have a part."""
    try:
        yield
    except SqlanonError as error:
        error.part = error.part or part
        raise


def _render_alone(error: SqlanonError) -> list[str]:
    """Returns a notebook's lines for an error that the user can act on, without a traceback of sqlanon's frames."""
    return [f"{type(error).__name__}: {error}"]


class UserError(SqlanonError):
    """The user requested something that cannot be done as written.

    Its subclasses are more precise. The command line ends with exit code 2.

    >>> import sqlanon
    >>> try:
    ...     sqlanon.anonymize(42, known="age")
    ... except sqlanon.UserError as error:
    ...     print(error.message)
    anonymize() takes a data frame or a path, not int
    """

    exit_code = 2
    _render_traceback_ = _render_alone


class InUseError(UserError):
    """Another process uses the database, or another transaction its catalog; the statement works once it is free.

    >>> InUseError("clinic.duckdb is open in another process").exit_code
    2
    """


class StatementError(UserError):
    """The text of a statement is wrong.

    >>> import sqlanon
    >>> try:
    ...     sqlanon.connect().execute("CREATE POLICY p ON t")
    ... except sqlanon.StatementError as error:
    ...     print(error.message)
    CREATE POLICY p: expected "(", found the end of the statement
    """


class PolicyError(UserError):
    """A policy or a hierarchy contradicts itself, its catalog or its source.

    >>> import sqlanon
    >>> try:
    ...     sqlanon.connect().execute("DROP POLICY visits")
    ... except sqlanon.PolicyError as error:
    ...     print(error.message)
    there is no policy visits
    """


class DataError(UserError):
    """The data contradicts the policy, such as a value that a hierarchy lacks.

    >>> import sqlanon
    >>> script = '''
    ... CREATE TABLE t AS SELECT 'Rome' AS city;
    ... CREATE HIERARCHY places AS LEVELS (SELECT 'Paris', 'France');
    ... CREATE POLICY p ON t (city QUASI IDENTIFIER USING places) REQUIRE k_anonymity(k => 1);
    ... CREATE ANONYMIZED TABLE r AS POLICY p METHOD generalization;
    ... '''
    >>> try:
    ...     sqlanon.connect().script(script)
    ... except sqlanon.DataError as error:
    ...     print(error.message)
    the hierarchy places lacks values of the column city: 'Rome'
    """


class CatalogError(UserError):
    """The catalog in schema anon is older or newer than this version, or was changed.

    >>> import sqlanon
    >>> try:
    ...     sqlanon.connect().script("CREATE SCHEMA anon; CREATE TABLE anon.policy (a INT); SHOW POLICIES")
    ... except sqlanon.CatalogError as error:
    ...     print(error.message)
    sqlanon cannot keep its catalog in this database: the schema anon holds tables that sqlanon did not make
    """


class PrivacyViolation(SqlanonError):
    """A guarantee is not met, or cannot be met. Nothing was published.

    >>> import pandas, sqlanon
    >>> try:
    ...     sqlanon.anonymize(pandas.DataFrame({"age": [31, 32, 33]}), known="age", k=5)
    ... except sqlanon.PrivacyViolation as error:
    ...     print(error.message, error.hint, sep="; ")
    k = 5 cannot be met: there are 3 rows; give at most k=3; data that protect nobody are not published
    """

    exit_code = 1
    _render_traceback_ = _render_alone


# Replaces an engine's own text in the message of an EngineError, because that text may quote values.
WITHHELD = "the message may hold values and is withheld"


class EngineError(SqlanonError):
    """The database refused what sqlanon sent to it.

    >>> import sqlanon
    >>> try:
    ...     sqlanon.connect().execute("CHECK (SELECT error('x') AS a) (a) REQUIRE k_anonymity(k => 2)")
    ... except sqlanon.EngineError as error:
    ...     print(error.message)
    DuckDB InvalidInputException: the message may hold values and is withheld
    """

    exit_code = 3


class InternalError(SqlanonError):
    """A promise that sqlanon makes to itself is broken: a defect to report.

    >>> InternalError("a query has no table").exit_code
    3
    """

    exit_code = 3


class PrivacyRemark(UserWarning):
    """A warning about a risk that a release leaves open although it meets all requirements.

    `warnings.filterwarnings("ignore", category=sqlanon.PrivacyRemark)` turns these warnings off; "error" in place of
    "ignore" raises them.

    >>> import warnings
    >>> import pandas, sqlanon
    >>> with warnings.catch_warnings(record=True, action="always") as remarks:
    ...     _ = sqlanon.anonymize(pandas.DataFrame({"age": [31, 32]}), known="age", k=1)
    >>> print(remarks[0].message)
    k = 1 requires nothing: each row may be alone in its class; give k=5, which it is if left out, or more
    """
