"""WITH TABLE: the tables that belong to the source of a policy."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Attribute, RelatedTable, Role
from sqlanon.domain.values import Source
from sqlanon.syntax.attributes import attributes
from sqlanon.syntax.lexer import Token
from sqlanon.syntax.reader import Reader
from sqlanon.syntax.source import source
from sqlanon.syntax.texts import name_text

_JOINS = ("JOIN", "INNER JOIN", "LEFT JOIN", "LEFT OUTER JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN")
_FORM = "(id ENTITY, ...) WITH TABLE visits AS checkups ON (patient) (diagnosis SENSITIVE)"


def related_tables(reader: Reader, of_source: Sequence[Attribute]) -> tuple[RelatedTable, ...]:
    """WITH TABLE source [AS name] ON (column) (attributes) ..., no name and no column twice; none without the keywords.

    `of_source` are the attributes of the policy's source.
    """
    tables: list[RelatedTable] = []
    columns = {fold(attribute.name) for attribute in of_source}
    form = reader.form
    while reader.accept("WITH"):
        reader.form = _FORM
        reader.expect("TABLE")
        tables.append(_related_table(reader, columns, {fold(table.name) for table in tables}))
        columns |= {fold(attribute.name) for attribute in tables[-1].attributes}
    reader.form = form
    return tuple(tables)


def refuse_late(reader: Reader) -> None:
    """Raises StatementError where WITH TABLE stands next, and other clauses stood before it."""
    if reader.sees("WITH", "TABLE"):
        raise reader.refused(
            "WITH TABLE stands too late",
            hint=f"it stands right behind the columns of the source: {_FORM}",
            token=reader.peek(),
        )


def refuse_join(reader: Reader) -> None:
    """Raises StatementError where JOIN stands next, as in a query."""
    if any(reader.sees(*words.split()) for words in _JOINS):
        raise reader.refused(
            "a policy joins no tables",
            hint=f"name those that belong to its source WITH TABLE: {_FORM}; or join them in a query, ON (SELECT ...)",
            token=reader.peek(),
        )


def _related_table(reader: Reader, columns: set[str], names: set[str]) -> RelatedTable:
    token = reader.peek()
    of_rows = source(reader, before_list=False)
    name, token = _name(reader, of_rows, token)
    if fold(name) in names:
        raise reader.refused(
            f"two tables are called {name}", hint="tell them apart: WITH TABLE ... AS another_name", token=token
        )
    reader.parts.add(token.start, "table", name)
    reader.expect("ON")
    key = _key(reader, name)
    return RelatedTable(name, of_rows, key, _attributes(reader, name, columns))


def _name(reader: Reader, of_rows: Source, token: Token) -> tuple[str, Token]:
    """The name behind AS, or else the table's own, with the token at which it stands."""
    if reader.accept("AS"):
        token = reader.peek()
        return reader.name("a name for the table"), token
    if of_rows.name is None:
        raise reader.expected("AS, and a name for the table", among=("AS",))
    return of_rows.name.name, token


def _key(reader: Reader, table: str) -> str:
    """(column), the one with the values of the ENTITY."""
    keys: list[str] = []
    reader.mark("table", table, "key")

    def item() -> None:
        if keys:
            raise reader.refused(
                "ON names more than one column",
                hint="a row is about the respondent whose ENTITY its column has; make one of several in a query",
                token=reader.peek(),
            )
        keys.append(reader.name("the column with the values of the ENTITY"))

    reader.listed(item)
    return keys[0]


def _attributes(reader: Reader, table: str, columns: set[str]) -> tuple[Attribute, ...]:
    """The columns of a related table, none of which another table of the policy has, too."""

    def require(attribute: Attribute, token: Token) -> None:
        if fold(attribute.name) in columns:
            raise reader.refused(
                f"the column {token.text} is named in two tables",
                hint=f"rename it in a query: WITH TABLE (SELECT {token.text} AS ..., ...) AS {name_text(table)}",
                token=token,
            )
        if attribute.role is Role.ENTITY:
            raise reader.refused(
                f"{token.text} is an ENTITY, which stands among the columns of the source",
                hint=f"ON (column) names the column of {table} with its values, which needs no role",
                token=token,
            )

    return attributes(reader, require)
