"""The base class of statements. Each statement is one class in one file, which declares all facts about the
statement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from sqlanon.domain.values import Source
from sqlanon.errors import EngineError, Position, SqlanonError, UserError, without_passwords
from sqlanon.syntax.lexer import UNPAIRED, Placeholder
from sqlanon.syntax.parts import Parts

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader

# Columns of an answer, each with its type.
Columns = tuple[tuple[str, str], ...]

# The outcome of a CHECK with a requirement that is not met.
NOT_SATISFIED = "not satisfied"

# The columns of a statement that makes, changes or drops an object.
DONE: Columns = (("statement", "VARCHAR"), ("name", "VARCHAR"), ("outcome", "VARCHAR"))
WARNING = ("warning", "VARCHAR")

_FACTS = ("OPENINGS", "EXAMPLES", "GRAMMAR", "CALCULATES", "DISTRIBUTED", "CATALOG", "COLUMNS")
_METHODS = ("sql", "title", "run")


class Catalog(Enum):
    """The catalog that a statement needs."""

    NONE = "the catalog is not read"
    READS = "without a catalog there is an error"
    LISTS = "without a catalog there is nothing to list or to drop, which the statement itself says"
    WRITES = "without a catalog one is made"


class Presentation(Enum):
    """The form in which a terminal shows the answer of a statement."""

    ROWS = "as they are"
    RELEASE = "the values that all rows share once, above the others; warnings and remarks are sentences below"
    FILES = "a row for each file, without the warning, which is a sentence below"
    PLAN = "steps, each on a line, and details of several lines on demand"
    PROFILE = "tables of several kinds of rows, and the statements that are proposed"
    DEFINITIONS = "statements that define objects, whole"
    SCRIPT = "the text of statements, to run elsewhere"
    FIGURES = "figures of one release, the first three in a table of their own where each has a meaning"
    UNASKED = "figures without a requirement"
    ADVICE = "figures, and the statements that are advised"


class Elsewhere(NamedTuple):
    """The name of a statement that does not run if rows are on an engine other than the catalog's, and the reason."""

    statement: str
    reason: str


READS_SOURCE = "it reads the rows of its source with functions that Spark does not have alike"
READS_RELEASE = "it reads the rows of a release with functions that Spark does not have alike"
COUNTS_RELEASES = "it counts the rows of several releases in the transaction of one"
MOVES_BATCHES = "it publishes rows in batches, which are moved between tables"
MAKES_CANDIDATES = "it makes many releases, which are rolled back"
FILES = "files of an export are DuckDB's to read and write"


@dataclass(frozen=True)
class Answer:
    """An answer: columns with their types, rows of numbers, texts, booleans and NULL, and `remarks` in sentences.

    `about` is the id of the release to which the remarks apply; a connection prints each such remark once. If it is
    None, the remarks are about the answer, and are printed each time.
    """

    columns: Columns
    rows: tuple[tuple[Any, ...], ...]
    remarks: tuple[str, ...] = ()
    about: str | None = None


def released_rows(answer: Answer) -> int:
    """Returns the number of a release's rows from an answer with the column `released_rows`."""
    number: int = answer.rows[0][[name for name, _ in answer.columns].index("released_rows")]
    return number


def done(statement: str, name: str, outcome: str, remarks: tuple[str, ...] = ()) -> Answer:
    """Returns the answer of a statement that makes, changes or drops an object: one row."""
    return Answer(DONE, ((statement, name, outcome),), remarks)


@dataclass(frozen=True)
class Statement:
    """A statement that sqlanon adds to SQL.

    Each subclass defines all facts below, which have no defaults, so that a class without one of them cannot be
    defined.

    - `OPENINGS`: the keywords that begin it, with optional keywords [in brackets]. If there are none, the statement is
      read by another class, which has their common opening.
    - `EXAMPLES`: correct statements, for errors and for help.
    - `GRAMMAR`: its productions in EBNF; the first has the name of the class, in lower case with underscores.
    - `CALCULATES`: whether it makes a release, a figure or a guarantee. If so, settings and macros of the session that
      could change the result are refused.
    - `DISTRIBUTED`: the reason why it does not run with rows on another engine than the catalog; None if it does.
    - `CATALOG`: what it needs from the catalog.
    - `COLUMNS`: the columns of its answer, possibly followed by others; None if they depend on the arguments.
    - `read(reader)`, unless another class reads it; `sql()`, `title()` and `run(engine, progress)`.
    - A docstring, which is its meaning.

    `position` is the start of the statement in its script, `parts` the positions of its parts, and `placeholders` the
    parameters that need a value before it can run; comparisons ignore these fields, so that a statement equals the
    statement that is read from its text.
    """

    position: Position | None = field(default=None, compare=False, kw_only=True)
    parts: Parts | None = field(default=None, compare=False, repr=False, kw_only=True)
    placeholders: tuple[Placeholder, ...] = field(default=(), compare=False, repr=False, kw_only=True)

    OPENINGS: ClassVar[tuple[str, ...]]
    EXAMPLES: ClassVar[tuple[str, ...]]
    GRAMMAR: ClassVar[str]
    CALCULATES: ClassVar[bool]
    DISTRIBUTED: ClassVar[Elsewhere | None]
    CATALOG: ClassVar[Catalog]
    COLUMNS: ClassVar[Columns | None]

    # Openings that belong to a statement only if a name follows, each with that statement.
    OPENINGS_BEFORE_NAME: ClassVar[Mapping[str, type[Statement]]] = {}
    # Keywords that may follow each opening, for completion.
    KINDS: ClassVar[tuple[str, ...]] = ("",)
    # The form in which a terminal shows its answer.
    PRESENTATION: ClassVar[Presentation] = Presentation.ROWS
    # Whether the catalog keeps the sources of the statement, including data frames.
    KEEPS_SOURCES: ClassVar[bool] = False

    def __init_subclass__(cls, *, abstract: bool = False) -> None:
        """Raises TypeError for a statement class that lacks a fact or a method; an `abstract` class is not checked."""
        if abstract:
            return
        lacking = [name for name in _FACTS if not hasattr(cls, name)]
        methods = (*_METHODS, "read") if getattr(cls, "OPENINGS", ()) else _METHODS
        lacking += [name for name in methods if _code(cls, name) is _code(Statement, name)]
        lacking += [] if cls.__doc__ else ["a docstring"]
        if lacking:
            raise TypeError(f"the statement {cls.__name__} lacks {', '.join(lacking)}")

    @classmethod
    def read(cls, reader: Reader) -> Statement:
        """Reads the statement to its end. Raises StatementError for an error in its text."""
        raise NotImplementedError

    def sql(self) -> str:
        """Writes the statement as canonical text without a semicolon; reading this text gives an equal statement.

        Raises StatementError if a text in the place of a query is not a query.
        """
        raise NotImplementedError

    def title(self) -> str:
        """Returns the statement's keywords and the name of its object; it may contain a password."""
        raise NotImplementedError

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        """Runs the statement; returns its answer. Methods import modules inside, because an import at the top of a
        module would delay the start of every program.
        """
        raise NotImplementedError

    def label(self) -> str:
        """Returns the name of the statement in status lines and errors, without passwords: CREATE POLICY hospital,
        CHECK hospital_2026, ...
        """
        return without_passwords(self.title())

    @classmethod
    def form(cls) -> str:
        """Returns correct statements for the text of an error."""
        return " or ".join(cls.EXAMPLES)

    def outcome(self, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
        """Returns the outcome of the statement in a word or two, read from the columns and rows of its answer."""
        return str(rows[0][columns.index("outcome")]) if "outcome" in columns else "done"

    def released_rows(self, answer: Answer) -> int | None:
        """Returns the number of rows of the release that the statement made, or of all tables that it exported; None
        for other statements.
        """
        return None

    def catalog(self) -> Catalog:
        """Returns the catalog that this statement needs."""
        return self.CATALOG

    def presentation(self) -> Presentation:
        """Returns the form in which a terminal shows the answer of this statement."""
        return self.PRESENTATION

    def elsewhere(self) -> Elsewhere | None:
        """Returns the reason why this statement does not run with rows on another engine; None if it does."""
        return self.DISTRIBUTED

    def explain_lack(self, engine: Engine) -> None:
        """Raises the statement's own error for a missing catalog; does nothing if the general error is enough."""

    def sources(self) -> Sequence[Source]:
        """Returns the tables and queries that the statement reads and that no policy names."""
        return ()

    def with_sources(self, renamed: Callable[[Source], Source]) -> Self:
        """Returns the statement with each of its sources renamed; only for classes with `KEEPS_SOURCES`."""
        raise NotImplementedError

    def locate(self, error: SqlanonError) -> SqlanonError:
        """Adds the position in the script, and the line at that position, to an error without a position; returns the
        error.

        The position is the position of the error's part. If the statement does not contain that part, such as a column
        of its policy, the position is the policy's name; for an error without a part, it is the beginning of the
        statement. If quotes in the statement seem unpaired, the error becomes an error about the quotes.
        """
        if self.parts and self.parts.is_doubtful and isinstance(error, UserError | EngineError):
            error.message, error.hint = UNPAIRED
            error.args, error.quoted = (error.message,), None
        if error.position is None and self.parts:
            error.position = self.parts.position_in_query(error.quoted) if error.quoted else None
            if error.position is None and error.part:
                error.position = self.parts.position_of(error.part) or self.parts.position_of(("policy",))
        error.at(self.position)
        if error.excerpt is None and self.parts and error.position:
            error.excerpt = self.parts.excerpt(error.position)
        return error


def _code(cls: type, name: str) -> object:
    """Returns the function of a method or of a class method."""
    method = getattr(cls, name)
    return getattr(method, "__func__", method)


@dataclass(frozen=True)
class PassThrough(Statement, abstract=True):
    """SQL that is not a statement of sqlanon: DuckDB runs this text as the user wrote it."""

    text: str

    def sql(self) -> str:
        return self.text

    def title(self) -> str:
        from sqlanon.syntax.script import first_word

        return first_word(self.text) or "SQL"
