"""Finds columns that a short form cannot publish unchanged: free text, identifying secrets, and numbers that are stored
as text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.assess.profiling.categories import recognized
from sqlanon.assess.profiling.checked_values import MissingCodes, StoredAsText, missing_codes, stored_as_text
from sqlanon.assess.profiling.roles import RareTexts, free_text, rare_texts, tells_people_apart
from sqlanon.assess.profiling.sample import sampled
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Role
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Column, Engine
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import select

# A part of a remark on a text column, after its name.
IS_TEXT = " is text,"
# A part of a remark on codes for missing values.
IS_CODE = " like a missing value, and count"
# The form in which values of each role are published, in words.
_PUBLISHED = {
    Role.QUASI_IDENTIFIER: "is known, and ranges of texts show some of them as they are",
    Role.SENSITIVE: "is secret, and secrets are published as they are",
    Role.INSENSITIVE: "would be published as it is",
}


@dataclass(frozen=True)
class Looked:
    """The findings in the columns that a short form is to publish.

    `refused` has the refused columns, each with a sentence that gives the reason: in any role, these are identifiers by
    the form of their values, and free text; also a secret whose values identify people. `as_text` has known text
    columns with numbers or dates, whose ranges are alphabetical. `codes` has known and secret columns with codes for
    missing values, except columns in `as_text`.
    """

    refused: tuple[tuple[str, str], ...] = ()
    as_text: tuple[StoredAsText, ...] = ()
    codes: tuple[MissingCodes, ...] = ()


def looked_at(engine: Engine, table: QualifiedName, columns: Sequence[Column], roles: Mapping[str, Role]) -> Looked:
    """Finds columns that a short form refuses, columns with numbers that are stored as text, and columns with codes for
    missing values.

    `columns` has (name, type) of the table's columns, and `roles` has the role of each column that is to be published.
    """
    role_of = {fold(name): role for name, role in roles.items() if role in _PUBLISHED}
    published = [(name, kind) for name, kind in columns if fold(name) in role_of]
    if not published:
        return Looked()
    checked_columns = [
        (name, kind) for name, kind in published if kind == "VARCHAR" or role_of[fold(name)] is Role.SENSITIVE
    ]
    counts: list[exp.Expr] = [f.count()]
    for name, _ in checked_columns:
        counts += [f.count_distinct(column(name)), f.count(column(name))]
    [[rows, *figures]] = engine.rows(select(*counts, of=relation(table)))
    sample = sampled(engine, table, published, int(rows))
    texts_of = rare_texts(engine, table, sample)
    identifiers = {name: each.why for name, each in recognized(sample).items() if each.direct and each.by_values}
    refused = []
    for (name, _), values, present in zip(checked_columns, figures[::2], figures[1::2], strict=True):
        role, rare = role_of[fold(name)], texts_of.get(name, RareTexts())
        why = tells_people_apart(values, present, rare) if role is Role.SENSITIVE else free_text(rare)
        if why := identifiers.get(name, why):
            refused.append((name, f"{name} {_PUBLISHED[role]}: {why}"))
    known = [each for each in sample.columns if role_of[fold(each.name)] is Role.QUASI_IDENTIFIER]
    as_text = {each.name: stored for each in known if (stored := stored_as_text(each))}
    codes = tuple(
        missing
        for each in sample.columns
        if role_of[fold(each.name)] is not Role.INSENSITIVE
        and each.name not in as_text
        and (missing := missing_codes(each))
    )
    return Looked(tuple(refused), tuple(as_text.values()), codes)


def counted_as_values(missing: MissingCodes, advice: str) -> str:
    """Returns a sentence about a known or secret column with codes for missing values."""
    are = "look like" if len(missing.codes) > 1 else "looks like"
    count = "and count as values" if len(missing.codes) > 1 else "and counts as a value"
    return f"{missing.listed} in {missing.name} {are} a missing value, {count}; {advice}"


def alphabetical(stored: StoredAsText, advice: str) -> str:
    """Returns a sentence about a known text column with numbers or dates."""
    codes = ", ".join(f'"{code}"' for code in stored.codes)
    others = f", but for {codes}" if codes else ""
    return f"{stored.name}{IS_TEXT} and its ranges are alphabetical: its values are {stored.meant}{others}; {advice}"
