"""Columns that a release in a short form may not publish: free text, and secrets that tell people apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from sqlanon.assess.profiling.roles import free_text, tells_people_apart
from sqlanon.assess.profiling.sample import sampled
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Role
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Column, Engine
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import column, relation

# How values of a role are published.
_PUBLISHED = {
    Role.QUASI_IDENTIFIER: "is known, and ranges of texts show some of them as they are",
    Role.SENSITIVE: "is secret, and secrets are published as they are",
    Role.INSENSITIVE: "would be published as it is",
}


def refused(
    engine: Engine, table: QualifiedName, columns: Sequence[Column], roles: Mapping[str, Role]
) -> Iterator[tuple[str, str]]:
    """The columns that a short form refuses, each with a sentence that says why.

    `columns` are those of the table, (name, type), and `roles` has the role of each column to be published. Free text
    is refused in any role, and a secret whose values tell people apart.
    """
    role_of = {fold(name): role for name, role in roles.items() if role in _PUBLISHED}
    asked = [
        (name, kind)
        for name, kind in columns
        if fold(name) in role_of and (kind == "VARCHAR" or role_of[fold(name)] is Role.SENSITIVE)
    ]
    if not asked:
        return
    counts: list[exp.Expr] = [f.count()]
    for name, kind in asked:
        length = f.call("avg", f.length(column(name))) if kind == "VARCHAR" else exp.null()
        counts += [f.count_distinct(column(name)), f.count(column(name)), length]
    [[rows, *figures]] = engine.rows(exp.select(*counts).from_(relation(table)))
    texts = [(name, kind) for name, kind in asked if kind == "VARCHAR"]
    wordy = {each.name for each in sampled(engine, table, texts, int(rows)).columns if each.is_wordy}
    for (name, _), values, present, length in zip(asked, figures[::3], figures[1::3], figures[2::3], strict=True):
        role = role_of[fold(name)]
        reason = tells_people_apart if role is Role.SENSITIVE else free_text
        if why := reason(values, present, length, is_wordy=name in wordy):
            yield name, f"{name} {_PUBLISHED[role]}: {why}"
