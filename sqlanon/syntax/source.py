"""What statements read, as they name it."""

from __future__ import annotations

import re

from sqlanon.domain.values import Source
from sqlanon.syntax.lexer import Kind
from sqlanon.syntax.reader import QUERY_WORDS, Reader
from sqlanon.syntax.wording import either, shortened

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
