"""Openings, names and closing clauses that several statements share."""

from __future__ import annotations

import re

from sqlanon.domain.values import QualifiedName, Source
from sqlanon.syntax.lexer import RESERVED, Kind, either, keyword_of, shortened
from sqlanon.syntax.reader import QUERY_WORDS, Reader


def created(reader: Reader, *kinds: str) -> tuple[bool, bool]:
    """CREATE [OR REPLACE] kind [IF NOT EXISTS]: whether it says OR REPLACE, whether IF NOT EXISTS."""
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
        hint = "OR REPLACE makes it anew, IF NOT EXISTS leaves it as it is: keep one of them"
        raise reader.refused("OR REPLACE and IF NOT EXISTS exclude each other", hint=hint, token=token)
    return True


def dropped(reader: Reader, *kinds: str) -> bool:
    """DROP kind [IF EXISTS]: whether it says IF EXISTS."""
    reader.expect("DROP", *kinds)
    return reader.accept("IF", "EXISTS")


def object_name(reader: Reader, kind: str) -> str:
    """The name of a hierarchy or a policy: they live in the catalog and have no schema."""
    reader.mark("name")
    name = reader.name(f"the name of the {kind}")
    reader.about(name)
    if reader.sees_symbol("."):
        raise reader.expected(f"a name without a schema for the {kind}", hint=f"write the {kind}'s own name only")
    return name


def skip_kind(reader: Reader) -> None:
    """Takes RELEASE, TABLE, VIEW or ANONYMIZED TABLE before a name: what kind of object it is, nobody has to say.

    A release may be called release: behind that name stands no other.
    """
    if reader.sees("ANONYMIZED") and keyword_of(reader.peek(1)) in ("TABLE", "VIEW"):
        reader.take()
    behind = reader.peek(1)
    is_name = behind.kind is Kind.QUOTED or (behind.kind is Kind.WORD and keyword_of(behind).lower() not in RESERVED)
    if is_name and any(reader.sees(kind) for kind in ("RELEASE", "TABLE", "VIEW")):
        reader.take()


def policy_name(reader: Reader) -> str:
    """The name of a policy that a statement refers to."""
    reader.mark("policy")
    return reader.name("the name of the policy")


def release_name(reader: Reader) -> QualifiedName:
    """The name of the release that a statement is about; errors from here on name it, too."""
    reader.mark("release")
    name = reader.qualified_name("the name of the release")
    reader.about(str(name))
    return name


def stream_name(reader: Reader) -> QualifiedName:
    """The name of the stream that a statement is about; errors from here on name it, too."""
    reader.mark("stream")
    name = reader.qualified_name("the name of the stream")
    reader.about(str(name))
    return name


def levels_from(reader: Reader) -> QualifiedName | None:
    """LEVELS FROM RELEASE name; None without the keywords."""
    if not reader.sees("LEVELS"):
        return None
    reader.expect("LEVELS", "FROM", "RELEASE")
    reader.mark("levels")
    return reader.qualified_name("the name of the release whose levels are kept")


def in_series(reader: Reader) -> str | None:
    """IN SERIES name; None without the keywords."""
    if not reader.sees("IN"):
        return None
    reader.expect("IN", "SERIES")
    reader.mark("series")
    return reader.name("the name of the series")


def accept_workload(reader: Reader) -> bool:
    """Takes WORKLOAD before a name; a figure may be called workload."""
    return reader.peek(1).kind in (Kind.WORD, Kind.QUOTED) and reader.accept("WORKLOAD")


# What statements read, as they name it.


# How the names of files end that DuckDB reads by their names.
FILE_NAME = re.compile(r"\.(csv|tsv|txt|parquet|json|jsonl|ndjson|xlsx)(\.gz|\.zst)?", re.IGNORECASE)
_IN_PATHS = frozenset("/\\.-~*?:")


def refuse_path(reader: Reader) -> None:
    """Raises StatementError for the path of a file without quotes, with the quotes to type.

    A name with a dot in it, as flchain.csv, may be a table of a schema: whoever reads it says what it is.
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
            f"a file stands in quotes, and {shortened(path)} has none", hint=f"write '{shortened(path)}'", token=first
        )


def source(reader: Reader, *, before_list: bool = True) -> Source:
    """A table or view by its name, (SELECT ...), a 'file', or a table function, read_csv('file').

    Where a list in parentheses follows, `before_list`, a name before only one pair of them is a table's.
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
