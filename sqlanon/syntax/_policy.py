"""CREATE, ALTER and DROP POLICY, and the parts that CHECK shares with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import JoinedRelease, Pivot, Policy, Requirement
from sqlanon.domain.values import Source
from sqlanon.errors import Position
from sqlanon.syntax import _values
from sqlanon.syntax._attributes import ROLES, attribute, attributes
from sqlanon.syntax._head import created, dropped, object_name
from sqlanon.syntax._lexer import Kind, Token, keyword_of
from sqlanon.syntax._reader import Reader
from sqlanon.syntax._related import refuse_join, refuse_late, related_tables
from sqlanon.syntax._source import source
from sqlanon.syntax._wording import either
from sqlanon.syntax.statements import AlterPolicy, CreatePolicy, DropPolicy

__all__ = ["against", "alter", "create", "drop", "joined", "requirements", "sets"]

_EXAMPLE = "k_anonymity(k => 4)"


def create(reader: Reader, position: Position) -> CreatePolicy:
    """CREATE [OR REPLACE] POLICY [IF NOT EXISTS] name ON source [PIVOT item VALUES rating] (attributes)
    [WITH TABLE source [AS name] ON (column) (attributes) ...]
    [CONFIDENTIAL (attributes), ...] [VISIBLE (attributes), ...] [AGAINST public]
    [JOINED WITH RELEASE other ON (columns)] REQUIRE requirements.

    Where something is CONFIDENTIAL, REQUIRE may be left out.
    """
    or_replace, if_not_exists = created(reader, "POLICY")
    name = object_name(reader, "policy")
    reader.expect("ON")
    reader.mark("source")
    on = source(reader)
    refuse_join(reader)
    pivot, columns = _pivot(reader), attributes(reader)
    refuse_join(reader)
    if pivot is not None and reader.sees("WITH"):
        hint = "take WITH TABLE for the long table, or pivot it in a query, ON (SELECT ...)"
        raise reader.refused("WITH TABLE does not go with PIVOT", hint=hint, token=reader.peek())
    related = related_tables(reader, columns)
    confidential, visible = sets(reader, "CONFIDENTIAL"), sets(reader, "VISIBLE")
    also = _still_possible(confidential, visible)
    public, other, required = _rest(reader, also, optional=bool(confidential))
    policy = Policy(name, on, columns, required, public, confidential, visible, pivot, related, other)
    return CreatePolicy(policy, or_replace, if_not_exists, position=position)


def _pivot(reader: Reader) -> Pivot | None:
    """PIVOT item VALUES rating, two columns of the source; None without the keyword."""
    if not reader.accept("PIVOT"):
        return None
    item = reader.named("the column with the items", "pivot")
    reader.expect("VALUES")
    token = reader.peek()
    rating = reader.named("the column with the values of the items", "pivot")
    if fold(item) == fold(rating):
        hint = "the source has a column with the items, and another with their values: PIVOT item VALUES rating"
        raise reader.refused(f"the column {token.text} is named twice", hint=hint, token=token)
    return Pivot(item, rating)


def drop(reader: Reader, position: Position) -> DropPolicy:
    """DROP POLICY [IF EXISTS] name."""
    if_exists = dropped(reader, "POLICY")
    name = object_name(reader, "policy")
    reader.end()
    return DropPolicy(name, if_exists, position=position)


def alter(reader: Reader, position: Position) -> AlterPolicy:
    """ALTER POLICY [IF EXISTS] name action. ADD REQUIRE needs more than that word: a column may be called so."""
    reader.expect("ALTER", "POLICY")
    if_exists = reader.accept("IF", "EXISTS")
    name = object_name(reader, "policy")
    if reader.sees("REQUIRE"):
        required = requirements(reader)
        reader.end()
        return AlterPolicy(name, "require", requirements=required, if_exists=if_exists, position=position)
    action = reader.choose(("ADD", "ALTER", "DROP", "RENAME TO"), "REQUIRE").split()[0].lower()
    changed: dict[str, Any]
    if action in ("add", "drop") and reader.sees("REQUIRE") and _is_model(reader.peek(1)):
        if action == "drop":
            raise reader.expected("a column", hint=f"ALTER POLICY {name} REQUIRE names all that is to be required")
        changed = {"requirements": requirements(reader)}
    elif action == "rename":
        changed = {"new_name": object_name(reader, "policy")}
    else:
        reader.accept("COLUMN")
        changed = (
            {"column": reader.named("a column", "column")} if action == "drop" else {"attribute": attribute(reader)}
        )
    reader.end()
    return AlterPolicy(name, action, **changed, if_exists=if_exists, position=position)


def _is_model(token: Token) -> bool:
    """Whether a token behind REQUIRE can only be the name of a model, so that no column is called REQUIRE."""
    return token.kind is not Kind.END and keyword_of(token) not in {words.split()[0] for words in ROLES}


def against(reader: Reader, *also: str, behind: Sequence[str] = ()) -> Source | None:
    """AGAINST public, the table that a source's respondents are a part of; None without the keyword.

    REQUIRE comes next; `also` and, between AGAINST and it, `behind` could stand here instead, for the message.
    """
    if reader.accept("AGAINST"):
        reader.mark("public table")
        return source(reader, before_list=False)
    if not reader.sees("REQUIRE"):
        words = (*also, "AGAINST", *behind, "REQUIRE")
        raise reader.expected(either(*words), among=words)
    return None


def joined(reader: Reader) -> JoinedRelease | None:
    """JOINED WITH RELEASE other ON (column, ...), a release and the columns that it shares; None without it."""
    if not reader.accept("JOINED"):
        return None
    reader.expect("WITH", "RELEASE")
    reader.mark("other")
    other = reader.qualified_name("the name of the other release")
    reader.expect("ON")
    return JoinedRelease(other, _set(reader))


def requirements(reader: Reader) -> tuple[Requirement, ...]:
    """REQUIRE model(argument => value, ...), ...; a model more than once only if it is asked in other ways."""
    reader.expect("REQUIRE")
    listed: list[Requirement] = []
    while True:
        token = reader.peek()
        model, arguments = _values.call(reader, "a requirement", _EXAMPLE, "requirement")
        required = Requirement(model, arguments)
        if required.subject in (other.subject for other in listed):
            hint = f"keep one {model}(...), with the stricter of each number"
            raise reader.refused(f"{model} is required twice", hint=hint, token=token)
        listed.append(required)
        if not reader.further():
            return tuple(listed)


def _rest(
    reader: Reader, also: Sequence[str], *, optional: bool
) -> tuple[Source | None, JoinedRelease | None, tuple[Requirement, ...]]:
    """[AGAINST public] [JOINED WITH RELEASE ...] REQUIRE requirements, up to the end; if `optional`, the end may come
    at once.
    """
    refuse_late(reader)
    if optional and reader.peek().kind is Kind.END:
        return None, None, ()
    public = None if reader.sees("JOINED") else against(reader, *also, behind=["JOINED WITH RELEASE"])
    other = joined(reader)
    required = requirements(reader)
    refuse_late(reader)
    if reader.sees("JOINED"):
        hint = "it stands before REQUIRE: JOINED WITH RELEASE other ON (column) REQUIRE ..."
        raise reader.refused("JOINED WITH RELEASE stands too late", hint=hint, token=reader.peek())
    reader.end()
    return public, other, required


def _still_possible(confidential: Sequence[object], visible: Sequence[object]) -> tuple[str, ...]:
    """What else than AGAINST and REQUIRE could stand next, for the message."""
    if visible:
        return ('","',)
    return ('","', "VISIBLE") if confidential else ("WITH TABLE", "CONFIDENTIAL", "VISIBLE")


def sets(reader: Reader, keyword: str) -> tuple[tuple[str, ...], ...]:
    """CONFIDENTIAL, VISIBLE, FRAGMENTS or COLUMNS (column, ...), ...; nothing without the keyword."""
    columns: list[tuple[str, ...]] = []
    if reader.accept(keyword):
        columns.append(_set(reader))
        while reader.accept_symbol(","):
            columns.append(_set(reader))
    return tuple(columns)


def _set(reader: Reader) -> tuple[str, ...]:
    """(column, ...), no column twice."""
    columns: dict[str, str] = {}

    def item() -> None:
        token = reader.peek()
        column = reader.named("a column", "set")
        if fold(column) in columns:
            hint = "name it once; DuckDB's names do not tell upper from lower case"
            raise reader.refused(f"the column {token.text} is named twice in one set", hint=hint, token=token)
        columns[fold(column)] = column

    reader.listed(item)
    return tuple(columns.values())
