"""ATTACK of an export: what its receiver learns from the files."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.attacks.attacked import AttackAnswer, Target, attacked
from sqlanon.attacks.known_people import known_columns
from sqlanon.domain.policy import Role
from sqlanon.engines.base import Column, Engine
from sqlanon.errors import about
from sqlanon.export.exported_rows import ReadExport, exported_tables, read_export, rows_of_export
from sqlanon.releases.people import people_in_no_class
from sqlanon.syntax.statements import Attack

__all__ = ["attack_export"]


def attack_export(engine: Engine, statement: Attack) -> list[AttackAnswer]:
    """The answers of an attack for the files of an export.

    Raises UserError where they cannot be read, and PrivacyViolation where they are not what the certificate says.
    """
    path = statement.file or ""
    with about("path"):
        read = read_export(engine, path)
        with exported_tables(engine, read) as (reader, scratch, tables):
            return attacked(reader, _target(reader, read, tables), statement, scratch)


def _target(engine: Engine, read: ReadExport, tables: dict[str, exp.Table]) -> Target:
    if read.recorded.policy.related:
        raise people_in_no_class(read.path)
    sensitive = read.recorded.policy.having(Role.SENSITIVE)
    columns: list[Column] = []
    for table, recorded in zip(tables.values(), read.recorded.tables, strict=True):
        types = dict(engine.columns(exp.select(exp.Star()).from_(table)))
        # By the source's names: in a table of values a column has another.
        columns += [(part.source, types[part.name]) for part in recorded.columns]
    return Target(
        called=read.path,
        columns=tuple(columns),
        sensitive={attribute.name: attribute.hierarchy for attribute in sensitive},
        rows=lambda statistics: rows_of_export(engine, read.recorded, statistics, range(len(statistics)), tables),
        known=lambda: known_columns(read.recorded, [a.name for a in read.recorded.policy.quasi_identifiers]),
        requirements=read.requirements,
        against=read.recorded.policy.against,
    )
