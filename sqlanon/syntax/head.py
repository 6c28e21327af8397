"""Reads openings, names and closing clauses that several statements share."""

from __future__ import annotations

import re

from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.syntax.lexer import RESERVED, Kind, either, keyword_of, shortened
from sqlanon.syntax.reader import QUERY_WORDS, Reader


def created(reader: Reader, *kinds: str) -> tuple[bool, bool]:
    """Reads CREATE [OR REPLACE] kind [IF NOT EXISTS]; returns whether OR REPLACE and whether IF NOT EXISTS is there."""
    reader.expect("CREATE")
    or_replace = reader.accept("OR", "REPLACE")
    reader.expect(*kinds)
    return or_replace, if_not_exists(reader, or_replace)


def if_not_exists(reader: Reader, or_replace: bool) -> bool:
    token = reader.peek()
    if not (reader.sees("IF", "NOT") and reader.accept("IF")):
        return False
    reader.expect("NOT", "EXISTS")
    if or_replace:
        hint = "OR REPLACE makes it again, IF NOT EXISTS leaves it unchanged: keep one of them"
        raise reader.refused("OR REPLACE and IF NOT EXISTS exclude each other", hint=hint, token=token)
    return True


def dropped(reader: Reader, *kinds: str) -> bool:
    """Reads DROP kind [IF EXISTS]; returns whether IF EXISTS is there."""
    reader.expect("DROP", *kinds)
    return reader.accept("IF", "EXISTS")


def object_name(reader: Reader, kind: str) -> str:
    """Reads the name of a hierarchy or a policy, which has no schema; later errors also show the name."""
    reader.mark("name")
    name = reader.name(f"the name of the {kind}")
    reader.about(name)
    if reader.sees_symbol("."):
        raise reader.expected(f"a name without a schema for the {kind}", hint=f"write the {kind}'s own name only")
    return name


def skip_kind(reader: Reader) -> None:
    """Skips RELEASE, TABLE, VIEW or ANONYMIZED TABLE before a name, because the kind of the object is optional.

    A release may itself have the name release: in this case no other name follows.
    """
    if reader.sees("ANONYMIZED") and keyword_of(reader.peek(1)) in ("TABLE", "VIEW"):
        reader.take()
    behind = reader.peek(1)
    is_name = behind.kind is Kind.QUOTED or (behind.kind is Kind.WORD and keyword_of(behind).lower() not in RESERVED)
    if is_name and any(reader.sees(kind) for kind in ("RELEASE", "TABLE", "VIEW")):
        reader.take()


def policy_name(reader: Reader) -> str:
    """Reads the name of the policy that a statement refers to."""
    reader.mark("policy")
    return reader.name("the name of the policy")


def release_name(reader: Reader) -> QualifiedName:
    """Reads the name of the release of a statement; later errors also show the name."""
    reader.mark("release")
    name = reader.qualified_name("the name of the release")
    reader.about(str(name))
    return name


def granted_releases(reader: Reader) -> tuple[QualifiedName, ...]:
    """Reads RELEASE name, name, ... after GRANT SELECT ON; later errors also show the names."""
    if not reader.accept("RELEASE"):
        is_name = reader.peek().kind in (Kind.WORD, Kind.QUOTED)
        hint = f"only releases are granted: write ON RELEASE {reader.peek().text}" if is_name else None
        raise reader.expected("RELEASE", among=("RELEASE",), hint=hint)
    names: list[QualifiedName] = []
    while True:
        token = reader.peek()
        name = release_name(reader)
        if tuple(map(fold, name.parts)) in (tuple(map(fold, other.parts)) for other in names):
            raise reader.refused(f"{name} is named twice", hint="name each release once", token=token)
        names.append(name)
        if not reader.further():
            return tuple(names)


def budget_and_reader(reader: Reader, keyword: str) -> tuple[str, str]:
    """Reads BUDGET name, the keyword and the name of a reader; later errors also show the budget's name."""
    if not reader.accept("BUDGET"):
        is_name = reader.peek().kind in (Kind.WORD, Kind.QUOTED)
        hint = f"ESTIMATE is granted on budgets: write ON BUDGET {reader.peek().text}" if is_name else None
        raise reader.expected("BUDGET", among=("BUDGET",), hint=hint)
    reader.mark("budget")
    budget = reader.name("the name of the budget")
    reader.about(budget)
    reader.expect(keyword)
    reader.mark("reader")
    name = reader.name("the name of the reader")
    reader.end()
    return budget, name


def stream_name(reader: Reader) -> QualifiedName:
    """Reads the name of the stream of a statement; later errors also show the name."""
    reader.mark("stream")
    name = reader.qualified_name("the name of the stream")
    reader.about(str(name))
    return name


def levels_from(reader: Reader) -> QualifiedName | None:
    """Reads LEVELS FROM RELEASE name; returns None if the keywords are missing."""
    if not reader.sees("LEVELS"):
        return None
    reader.expect("LEVELS", "FROM", "RELEASE")
    reader.mark("levels")
    return reader.qualified_name("the name of the release whose levels are kept")


def in_series(reader: Reader) -> str | None:
    """Reads IN SERIES name; returns None if the keywords are missing."""
    if not reader.sees("IN"):
        return None
    reader.expect("IN", "SERIES")
    reader.mark("series")
    return reader.name("the name of the series")


def accept_workload(reader: Reader) -> bool:
    """Skips WORKLOAD before a name and returns whether it did; a figure may have the name workload."""
    return reader.peek(1).kind in (Kind.WORD, Kind.QUOTED) and reader.accept("WORKLOAD")


# The sources that statements name.


# The suffixes of files that DuckDB reads by their names.
FILE_NAME = re.compile(r"\.(csv|tsv|txt|parquet|json|jsonl|ndjson|xlsx)(\.gz|\.zst)?", re.IGNORECASE)
_IN_PATHS = frozenset("/\\.-~*?:")


def refuse_path(reader: Reader) -> None:
    """Raises StatementError for the path of a file without quotes, with the quotes to type.

    A name with a dot, such as flchain.csv, may be a table in a schema, so it is not refused here.
    """
    first = reader.peek()
    if first.kind not in (Kind.WORD, Kind.SYMBOL, Kind.NUMBER) or (first.kind, first.text) == (Kind.SYMBOL, "("):
        return
    path, ahead, end = "", 0, first.start
    while (token := reader.peek(ahead)).start == end and (
        token.kind in (Kind.WORD, Kind.NUMBER) or (token.kind is Kind.SYMBOL and token.text in _IN_PATHS)
    ):
        path, ahead, end = path + token.text, ahead + 1, token.end
    has_sign = any(sign in path for sign in _IN_PATHS - {"."})
    if has_sign and (path.startswith(("/", "./", "../", "~/")) or FILE_NAME.search(path)):
        raise reader.refused(
            f"a file needs quotes, and {shortened(path)} has none", hint=f"write '{shortened(path)}'", token=first
        )


def source(reader: Reader, *, before_list: bool = True) -> Source:
    """Reads a source: the name of a table or view, (SELECT ...), a 'file', or a table function: read_csv('file').

    If `before_list` is true, a list in parentheses follows the source, so a name before a single pair of parentheses
    names a table.
    """
    if reader.sees_query():
        return Source(query=reader.query())
    refuse_path(reader)
    reader.refuse_bare_query("a table, a view, a 'file' or (SELECT ...)")
    if reader.sees_symbol("("):
        reader.take()
        raise reader.expected(
            f"a query in the parentheses, which begins with {either(*QUERY_WORDS)}", among=QUERY_WORDS
        )
    start = reader.peek().start
    if reader.peek().kind is Kind.STRING and not reader.peek().text.startswith("$"):
        reader.take()
        return Source(query="FROM " + reader.sql_between(start))
    name = reader.qualified_name("a table, a view, a 'file' or (SELECT ...)")
    closing = reader.call_ends()
    if closing is None or (before_list and not reader.sees_symbol("(", ahead=closing + 1)):
        return Source(name=name)
    for _ in range(closing + 1):
        reader.take()
    return Source(query="FROM " + reader.sql_between(start))
