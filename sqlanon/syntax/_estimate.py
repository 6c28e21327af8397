"""ESTIMATE: an aggregate query that a release answers."""

from __future__ import annotations

from sqlanon.domain.values import QualifiedName
from sqlanon.errors import Position
from sqlanon.syntax import _values
from sqlanon.syntax._lexer import Kind
from sqlanon.syntax._reader import QUERY_WORDS, Reader
from sqlanon.syntax._wording import either
from sqlanon.syntax.statements import Estimate

__all__ = ["estimate"]


def estimate(reader: Reader, position: Position) -> Estimate:
    """ESTIMATE query FROM RELEASE name | 'file' [MARGINALS (column => table, ...)].

    A table that is called release may stand in the query.
    """
    reader.expect("ESTIMATE")
    if not any(reader.sees(word) for word in QUERY_WORDS) and not reader.sees_query():
        raise reader.expected(either(*QUERY_WORDS), among=QUERY_WORDS)
    reader.mark("query")
    begins = reader.position()
    query = reader.text_before("FROM", "RELEASE")
    # A literal has not the length of the parameter that it replaces, so places in the query are no longer known.
    is_as_written = not reader.placeholders.read
    name, file = None, None
    reader.mark("release")
    if reader.peek().kind is Kind.STRING:
        reader.mark("path")
        file = _values.string(reader, "a path in quotes, as in 'out/hospital_2026.parquet'")
    else:
        name = reader.qualified_name("the name of the release, or the path of an exported one in quotes")
    marginals: list[tuple[str, QualifiedName]] = []
    if reader.accept("MARGINALS"):
        reader.listed(lambda: marginals.append(_marginal(reader)))
        reader.end()
    else:
        reader.end("MARGINALS")
    return Estimate(
        query, name, file, tuple(marginals), position=position, query_position=begins if is_as_written else None
    )


def _marginal(reader: Reader) -> tuple[str, QualifiedName]:
    """column => table."""
    column = reader.named("the name of a column", "marginal")
    reader.expect_symbol("=>")
    return column, reader.qualified_name("the table that says how frequent its values are")
