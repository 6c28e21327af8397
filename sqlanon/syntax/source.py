"""What statements read, as they name it."""

from __future__ import annotations

from sqlanon.domain.values import Source
from sqlanon.syntax.lexer import Kind
from sqlanon.syntax.reader import QUERY_WORDS, Reader
from sqlanon.syntax.wording import either


def source(reader: Reader, *, before_list: bool = True) -> Source:
    """A table or view by its name, (SELECT ...), a 'file', or a table function, read_csv('file').

    Where a list in parentheses follows, `before_list`, a name before only one pair of them is a table's.
    """
    if reader.sees_query():
        return Source(query=reader.query())
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
