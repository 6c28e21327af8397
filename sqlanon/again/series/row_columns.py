"""The columns that rows show beside the quasi-identifiers.

Somebody who knows the classes of a respondent in two releases looks for a row that both have: all its columns together
leave fewer rows than each column by itself leaves values. So the ledger has the rows of a class as one more attribute.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from sqlglot import exp

from sqlanon.again.series.known_text import has_known_text, known_text
from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Attribute, Role
from sqlanon.domain.release import Release
from sqlanon.domain.series import Series
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text
from sqlanon.sql.build.names import literal
from sqlanon.sql.build.sql_files import sql_file

Columns = Sequence[tuple[str, str]]
_BESIDE = (Role.SENSITIVE, Role.INSENSITIVE)


def row_columns(bound: BoundPolicy) -> tuple[tuple[str, str], ...]:
    """Returns the columns that the rows of a release show beside the quasi-identifiers, with their types.

    They are in the order of their names. There are none where a row shows one such column, which is an attribute of the
    series by itself.
    """
    columns = _in_order((b.column, b.published_type) for b in bound.attributes if b.role in _BESIDE)
    return columns if len(columns) > 1 else ()


def shown_columns(release: Release, columns: Columns) -> tuple[tuple[str, str], ...]:
    """Returns the columns that the rows of a release show beside the quasi-identifiers, as `row_columns` does, or one.

    `columns` are all columns of the release, each with its type.
    """
    beside = {fold(a.name) for a in release.attributes if a.role in _BESIDE}
    return _in_order((name, kind) for name, kind in columns if fold(name) in beside)


def _in_order(columns: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    known = [(name, kind) for name, kind in columns if has_known_text(kind)]
    return tuple(sorted(known, key=lambda each: fold(each[0])))


def named_row(columns: Columns) -> str:
    """Returns the attribute under which the ledger has rows of these columns: their folded names, as a list in JSON.

    No column has this name that is among them, and no row of one column is written down.
    """
    return fold(json.dumps([[fold(name), kind] for name, kind in columns], separators=(",", ":"), ensure_ascii=False))


def row_text(columns: Columns) -> exp.Expr:
    """Returns the text of a row by these columns: a list in JSON of the texts of their values."""
    return as_text(f.call("to_json", exp.Array(expressions=[known_text(name, kind) for name, kind in columns])))


def value_in_row(row: exp.Expr, attribute: str, name: str) -> exp.Expr:
    """Returns the text of a column's value in the text of a row of the attribute that `named_row` made."""
    position = [column for column, _ in json.loads(attribute)].index(fold(name))
    return f.call("json_extract_string", row, literal(f"$[{position}]"))


def require_known_rows(series: Series, bound: BoundPolicy) -> None:
    """Raises PolicyError for a release whose rows cannot be compared with those of other releases: `unknown_rows`."""
    if problem := unknown_rows(series, [(b.attribute, b.published_type) for b in bound.attributes]):
        why, hint = problem
        raise PolicyError(f"{why}; nothing was published", hint=hint, part=("series",))


def unknown_rows(series: Series, columns: Sequence[tuple[Attribute, str]]) -> tuple[str, str] | None:
    """Returns why the rows of a release cannot be compared in a series that requires something, and what to do.

    These are rows with tokens that are the same in each release, rows with values of a type whose equal values may have
    several texts, and rows of more than two columns beside the quasi-identifiers where values may change: which of
    them changed is not known. `columns` are the attributes of a policy, with the types of what they publish.
    """
    if not series.requirements:
        return None
    for attribute, _ in columns:
        if is_keyed(attribute):
            return (
                f"{attribute.name} is PSEUDONYM KEY: the tokens would tell which rows of two releases are of one "
                "respondent",
                "leave KEY out, so that each release has other tokens: ALTER POLICY ... ALTER COLUMN "
                f"{attribute.name} {attribute.role.value.upper()} PSEUDONYM",
            )
    beside = [(attribute.name, kind) for attribute, kind in columns if attribute.role in _BESIDE]
    for name, kind in beside:
        if not has_known_text(kind):
            return (
                f"{name} is published beside the quasi-identifiers, and equal values of {kind} may have other texts, "
                "so that rows of two releases cannot be compared",
                f"leave {name} out, ALTER POLICY ... ALTER COLUMN {name} IDENTIFIER, or cast it in a query",
            )
    arguments = [argument for requirement in series.requirements for argument in requirement.arguments]
    ignores = any(name == "changed" and fold(str(value)) == "ignored" for name, value in arguments)
    if ignores and len(beside) > 2:
        return (
            f"{series} ignores values that change, and rows show {', '.join(name for name, _ in beside)} beside the "
            "quasi-identifiers: a reader who knows which of them stay the same could compare these alone",
            "leave all but two of these columns out, or begin a series without changed => 'ignored'",
        )
    return None


def is_keyed(attribute: Attribute) -> bool:
    """Returns whether a column is published as tokens that other releases have, too."""
    return attribute.pseudonym is not None and attribute.pseudonym.key_variable is not None


def attributes_of_rows(engine: Engine, series: Series) -> dict[int, str | None]:
    """Returns for each release of a series, by its position, the attribute that `named_row` made; None without one."""
    names = {fold(name) for name, _ in series.attributes}
    attribute_at: dict[int, str | None] = {}
    for position, attribute in engine.rows(sql_file("ledger", "attributes"), [series.series_id]):
        of_row = None if attribute in names else str(attribute)
        attribute_at[int(position)] = of_row or attribute_at.get(int(position))
    return attribute_at


def require_same_rows(engine: Engine, series: Series) -> str | None:
    """Returns the attribute of the rows that all releases of a series show, None where they show one column.

    Raises PolicyError where the releases of a series that requires something show other columns; of a series that
    requires nothing it is None then.
    """
    shown_attributes = {*attributes_of_rows(engine, series).values()}
    if shown_attributes == {None} and len(series.attributes) > 1:
        shown_attributes.add("unknown")
    if len(shown_attributes) < 2:
        return next(iter(shown_attributes), None)
    if not series.requirements:
        return None
    raise PolicyError(
        f"the releases of {series} do not all show the same columns beside the quasi-identifiers, so that "
        "their rows cannot be compared; nothing was done",
        hint="let the policy have the columns of the releases before, or begin another series",
        part=("series",),
    )
