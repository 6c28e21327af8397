"""The base class of statements: one class in one file says all that sqlanon knows of a statement."""

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
    """The need of a statement for the catalog."""

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
    UNASKED = "figures of which nothing is required"
    ADVICE = "figures, and the statements that are advised"


class Elsewhere(NamedTuple):
    """The name of a statement that does not run where rows are on another engine than the catalog, and the reason."""

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
    """Columns with their types, rows of numbers, texts, booleans and NULL, and sentences about them as `remarks`.

    `about` is the id of the release that the remarks are about: a connection tells each of these once. None where they
    are about the answer, and told with each.
    """

    columns: Columns
    rows: tuple[tuple[Any, ...], ...]
    remarks: tuple[str, ...] = ()
    about: str | None = None


def released_rows(answer: Answer) -> int:
    """The rows of a release, by an answer each of whose rows has their number."""
    number: int = answer.rows[0][[name for name, _ in answer.columns].index("released_rows")]
    return number


def done(statement: str, name: str, outcome: str, remarks: tuple[str, ...] = ()) -> Answer:
    """The answer of a statement that makes, changes or drops an object: one row."""
    return Answer(DONE, ((statement, name, outcome),), remarks)


@dataclass(frozen=True)
class Statement:
    """A statement that sqlanon adds to SQL.

    A class of one says each of the facts below, without a default: a class that lacks one cannot be defined.

    - `OPENINGS`: the keywords that begin it, [in brackets] those that may be left out. Without any, another class reads
      it, which has the opening that both share.
    - `EXAMPLES`: correct statements, for errors and for help.
    - `GRAMMAR`: its productions in EBNF; the first is called like the class, in lower case with underscores.
    - `CALCULATES`: whether a release, a figure or a guarantee comes from it. Then settings and macros of the session
      by which one could come out otherwise are refused.
    - `DISTRIBUTED`: why it does not run where rows are on another engine than the catalog; None if it does.
    - `CATALOG`: what it needs of the catalog.
    - `COLUMNS`: the columns of its answer, which may have others behind them; None where they depend on what is asked.
    - `read(reader)`, unless another class reads it; `sql()`, `title()` and `run(engine, progress)`.
    - A docstring, which is its meaning.

    `position` is the start of the statement in its script, `parts` the positions of its parts, and `placeholders` the
    parameters that need a value before it can run; none of them takes part in comparisons, so that a statement equals
    its own text read back.
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

    # Openings that are a statement's only where a name follows, each with that statement.
    OPENINGS_BEFORE_NAME: ClassVar[Mapping[str, type[Statement]]] = {}
    # Keywords that may follow each opening, for completion.
    KINDS: ClassVar[tuple[str, ...]] = ("",)
    # How a terminal shows its answer.
    PRESENTATION: ClassVar[Presentation] = Presentation.ROWS
    # Whether the catalog keeps the sources of the statement, data frames among them.
    KEEPS_SOURCES: ClassVar[bool] = False

    def __init_subclass__(cls, *, abstract: bool = False) -> None:
        """Raises TypeError for a statement that does not say all facts; an `abstract` class is no statement itself."""
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
        """Reads the statement, up to its end. Raises StatementError where it is not written correctly."""
        raise NotImplementedError

    def sql(self) -> str:
        """The statement as canonical text, without a semicolon, which is read back to an equal statement.

        Raises StatementError if what should be a query in it is not one.
        """
        raise NotImplementedError

    def title(self) -> str:
        """The statement's keywords and the name that it is about; a password may be in it."""
        raise NotImplementedError

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        """Runs the statement. It imports what it needs here, because a program waits for every import."""
        raise NotImplementedError

    def label(self) -> str:
        """The name of the statement in status lines and errors: CREATE POLICY hospital, CHECK hospital_2026, ..."""
        return without_passwords(self.title())

    @classmethod
    def form(cls) -> str:
        """Correct statements to show in an error."""
        return " or ".join(cls.EXAMPLES)

    def outcome(self, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
        """The outcome of the statement in a word or two, by the columns and rows of its answer."""
        return str(rows[0][columns.index("outcome")]) if "outcome" in columns else "done"

    def released_rows(self, answer: Answer) -> int | None:
        """The rows of the release that the statement made, or of all tables that it exported; None for others."""
        return None

    def catalog(self) -> Catalog:
        """The need of this statement for the catalog."""
        return self.CATALOG

    def presentation(self) -> Presentation:
        """The form in which a terminal shows the answer of this statement."""
        return self.PRESENTATION

    def elsewhere(self) -> Elsewhere | None:
        """The reason why this statement does not run where rows are on another engine; None if it does."""
        return self.DISTRIBUTED

    def explain_lack(self, engine: Engine) -> None:
        """Raises the error of a statement for which there is no catalog, unless the general one says enough."""

    def sources(self) -> Sequence[Source]:
        """The tables and queries that the statement reads and that no policy names."""
        return ()

    def with_sources(self, renamed: Callable[[Source], Source]) -> Self:
        """The statement with each of its sources renamed; it `KEEPS_SOURCES`."""
        raise NotImplementedError

    def locate(self, error: SqlanonError) -> SqlanonError:
        """Says where in the script an error belongs, unless it knows, and which line stands there; returns it.

        That is the part that the error is about. Where the statement has no such part, the column of a policy that it
        names, say, it is that name, and without a part the beginning of the statement. Where quotes of the statement
        do not pair, an error that may name what they set free says only that.
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
    """The function behind a method, also behind a class method."""
    method = getattr(cls, name)
    return getattr(method, "__func__", method)


@dataclass(frozen=True)
class PassThrough(Statement, abstract=True):
    """SQL that is not sqlanon's: DuckDB runs this text as the user wrote it."""

    text: str

    def sql(self) -> str:
        return self.text

    def title(self) -> str:
        from sqlanon.syntax.script import first_word

        return first_word(self.text) or "SQL"
