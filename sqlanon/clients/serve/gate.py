"""The gate: decides whether a reader's statement runs, by DuckDB's own parse tree and by allow-lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from sqlglot import exp

from sqlanon.clients.serve.allowed import allowed, grammar
from sqlanon.clients.serve.estimates import Question, question_of, read_estimate, read_under_budget
from sqlanon.clients.serve.open_pivots import Completed, completed
from sqlanon.clients.serve.refused import Forbidden, Refused
from sqlanon.clients.serve.tree_walk import Scope, TreeWalk, folded, on_one_line
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.parse_trees import ParseTrees, Token, Unparsed, tokens
from sqlanon.engines.room_reader import ROOM
from sqlanon.sql.build.render import to_sql

# The longest statement, in bytes.
MOST_BYTES = 64 * 1024
# The deepest nesting of brackets. The time of DuckDB's parser grows with its square, and cannot be interrupted.
MOST_BRACKETS = 60
# The most tokens; a tree of as many is read in less than a second.
MOST_TOKENS = 12_000

# DuckDB reads these names as functions where no column has them. They tell of the database and of its user.
_SESSION_NAMES = frozenset(
    ("current_catalog", "current_database", "current_role", "current_schema", "current_user", "session_user", "user")
)
_DEFAULT_SCHEMA = "main"
# The schemas and the databases of every room, whose names are no columns' where a function is called on one.
_SCHEMAS = frozenset(("main", "information_schema", "pg_catalog", "system", "temp", ROOM))
# The only statement whose answer does not come from a room.
_SHOW_TABLES = ["SHOW", "TABLES"]
_ANSWERED = (
    "one SELECT, FROM, WITH, VALUES, PIVOT, UNPIVOT, DESCRIBE, SUMMARIZE, SHOW TABLES or ESTIMATE ... FROM RELEASE "
    "or UNDER BUDGET"
)

Granted = Mapping[QualifiedName, Sequence[str]]
Releases = Mapping[QualifiedName, Sequence[QualifiedName]]


@dataclass(frozen=True)
class Admitted:
    """A statement that may run in a room: its text, and the granted relations that it reads.

    With `estimate`, the name of a release, the text is the query of an ESTIMATE from it. `parameters` are the names of
    its parameters in the order in which they first appear; that of ? is its number. With `question`, the text is an
    ESTIMATE under a budget, which no room answers.
    """

    sql: str
    reads: frozenset[QualifiedName]
    estimate: QualifiedName | None = None
    parameters: tuple[str, ...] = ()
    question: Question | None = None


def admit(statement: str, granted: Granted, releases: Releases | None = None) -> Admitted:
    """Returns the statement if it is one SELECT over granted relations; `granted` has the columns of each relation.

    Also an ESTIMATE from one of `releases`, which has the relations of each release. A room's relations have two parts,
    schema and name, and a statement may leave out the schema `main`. Raises Refused for any other statement, and if it
    cannot be decided.
    """
    statement_tokens = _checked_tokens(statement)
    words = [token.text.decode(errors="replace").upper() for token in statement_tokens if token.text != b";"]
    if _is_estimate(statement_tokens):
        return _admit_estimate(statement, granted, releases or {})
    if words == _SHOW_TABLES:
        return Admitted(_list_of_names(granted), frozenset())
    if words[:1] == ["SHOW"]:
        first_words = on_one_line(" ".join(words[:2]))
        raise Forbidden(
            f"{first_words} is not answered here: SHOW TABLES lists your releases, DESCRIBE the columns of one"
        )
    try:
        walk, reads = _walk(statement, granted)
    except Unparsed as error:
        pivots = completed(statement, statement_tokens)
        if pivots is None:
            raise _not_a_query(words, str(error)) from None
        walk, reads = _reads_of_pivots(statement, pivots, granted)
    return Admitted(statement, reads, parameters=walk.parameters)


def admit_under_budget(statement: str) -> Admitted | None:
    """Returns the statement if it is one ESTIMATE under a budget; None for a statement that `admit` decides on.

    Raises Refused for an ESTIMATE that cannot be read, and for parts that read other tables.
    """
    if not _is_estimate(_checked_tokens(statement)):
        return None
    estimate = read_under_budget(statement)
    return None if estimate is None else Admitted(statement, frozenset(), question=question_of(estimate))


def _is_estimate(words: Sequence[Token]) -> bool:
    return bool(words) and words[0].text.lower() == b"estimate"


@cache
def _parser() -> ParseTrees:
    return ParseTrees()


def _checked_tokens(statement: str) -> list[Token]:
    """Returns a statement's tokens without comments; raises Refused if it is too long, too deeply nested, or binary."""
    try:
        size = len(statement.encode())
    except UnicodeEncodeError:
        raise Refused("the statement is not valid Unicode text") from None
    if size > MOST_BYTES:
        raise Refused(f"the statement has {size:,} bytes; at most {MOST_BYTES:,} are read")
    if any(ord(letter) < 32 and letter not in "\t\n\r" for letter in statement):
        raise Refused("the statement has control characters")
    words = [token for token in tokens(statement) if token.kind != "comment"]
    if len(words) > MOST_TOKENS:
        raise Refused(f"the statement has {len(words):,} words and signs; at most {MOST_TOKENS:,} are read")
    depth = deepest = 0
    for token in words:
        if token.kind == "operator":
            depth += sum(map(token.text.count, (b"(", b"[", b"{")))
            deepest = max(deepest, depth)
            depth -= sum(map(token.text.count, (b")", b"]", b"}")))
    if deepest > MOST_BRACKETS:
        raise Refused(f"brackets are nested {deepest} deep; at most {MOST_BRACKETS} are read")
    return words


def _not_a_query(words: Sequence[str], message: str) -> Refused:
    """Returns the error for a text that is not a query: one of sqlanon's statements, which only the owner may run,
    another statement, or text that DuckDB's parser cannot read.

    `words` are the text's words, and `message` is the parser's error.
    """
    # Imported with the first such statement: most readers send none.
    from sqlanon.statements.registry import keywords

    owners = max((each for each in keywords() if words[: len(each.split())] == each.split()), key=len, default=None)
    if owners is not None:
        return Forbidden(f"{owners} is a statement for the owner of the releases; a reader may run {_ANSWERED}")
    if message.startswith("Only SELECT"):
        is_query = not words or words[0] in _ANSWERED
        part = "the rest of the text" if is_query else on_one_line(words[0])
        return Forbidden(f"{part} is not allowed here: a reader may run {_ANSWERED}")
    return Refused(f"the statement is not SQL that DuckDB reads: {message}")


def _reads_of_pivots(statement: str, pivots: Completed, granted: Granted) -> tuple[TreeWalk, frozenset[QualifiedName]]:
    """Returns the relations that a statement reads. Pivots without a list of values get a list, so that the statement
    can be parsed.

    DuckDB runs such a statement as several: one for the values of each pivot, and then the query.
    """
    try:
        walk, reads = _walk(pivots.sql, granted)
    except Unparsed as error:
        raise _not_a_query((), str(error)) from None
    if walk.pivot_entries.count([pivots.entry]) != pivots.count or _parser().kinds(statement) != ["MULTI"]:
        raise Refused("write the values of this PIVOT: ON column IN (...)")
    names = [name for name, _ in walk.ctes]
    if len(set(names)) != len(names) or any(depth > 1 for _, depth in walk.ctes):
        raise Refused(
            "a PIVOT without a list of values reads CTEs of the outermost WITH only: write ON column IN (...)"
        )
    return walk, reads


def _admit_estimate(statement: str, granted: Granted, releases: Releases) -> Admitted:
    """Admits an ESTIMATE. Its query names the source of the release once; joined tables have to be granted."""
    estimate = read_estimate(statement)
    assert estimate.release is not None
    named = {_path(release): release for release in releases}
    release = named.get(_path(estimate.release)) if len(estimate.release.parts) <= 2 else None
    if release is None:
        raise _not_granted(estimate.release.parts)
    sources: set[tuple[str, ...]] = set()
    try:
        _, reads = _walk(estimate.query, granted, sources)
    except Unparsed as error:
        raise _not_a_query((), str(error)) from None
    if len(sources) > 1:
        raise _not_granted(max(sources))
    return Admitted(estimate.query, reads | frozenset(releases[release]), release)


def _path(name: QualifiedName) -> tuple[str, ...]:
    """Returns the folded schema and name of a relation."""
    return tuple(folded(part) for part in (_DEFAULT_SCHEMA, *name.parts)[-2:])


def _not_granted(path: Sequence[str]) -> Forbidden:
    return Forbidden(f"no release of this name is granted to you: {on_one_line('.'.join(path))}")


def _walk(
    statement: str, granted: Granted, others: set[tuple[str, ...]] | None = None
) -> tuple[TreeWalk, frozenset[QualifiedName]]:
    """Reads the parse tree of a statement; returns the walk and the granted relations that the statement reads.

    Raises Refused for a relation that is not granted, or adds it to `others` if that is given.
    """
    names = {_path(name): name for name in granted}
    columns = {folded(column) for relation in granted.values() for column in relation}
    reads: set[QualifiedName] = set()

    def table(path: list[str], scope: Scope) -> None:
        parts = [folded(part) for part in path]
        if len(parts) == 1 and parts[0] in scope:
            return
        schema, name = parts if len(parts) == 2 else (_DEFAULT_SCHEMA, parts[0])
        if len(parts) <= 2 and (schema, name) in names:
            reads.add(names[schema, name])
        elif others is None:
            raise _not_granted(path)
        else:
            others.add(tuple(path))

    def column(path: list[str]) -> None:
        if len(path) == 1 and folded(path[0]) in _SESSION_NAMES and folded(path[0]) not in columns:
            raise Forbidden(f"{path[0]} is not allowed here")

    schemas = {folded(name.parts[0]) for name in granted if len(name.parts) > 1} | _SCHEMAS
    walk = TreeWalk(grammar(), allowed(), table, column, frozenset(columns - schemas))
    try:
        statements = _parser().read(statement)
    except RecursionError:
        raise Refused("the statement is nested too deep") from None
    if len(statements) != 1:
        raise Refused(f"write one statement; this text has {len(statements)}")
    walk.read(statements[0])
    return walk, frozenset(reads)


def _list_of_names(granted: Granted) -> str:
    """Returns the SELECT that answers SHOW TABLES: the granted names, sorted."""
    names = sorted(str(name).removeprefix(f"{_DEFAULT_SCHEMA}.") for name in granted)
    strings = [exp.cast(exp.Literal.string(name), "VARCHAR") for name in names] or [exp.cast(exp.null(), "VARCHAR")]
    rows = exp.Unnest(expressions=[exp.Array(expressions=strings)])
    return to_sql(exp.select(exp.alias_(rows, "name")).where("TRUE" if names else "FALSE"))
