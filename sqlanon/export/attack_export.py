"""ATTACK of an export: what its receiver learns from the files."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.assess.attacks.attacked import AttackAnswer, Target, attacked
from sqlanon.assess.attacks.known_people import known_columns
from sqlanon.domain.policy import Role
from sqlanon.domain.requests import AttackRequest
from sqlanon.engines.base import Column, Engine
from sqlanon.errors import about
from sqlanon.export.opening import received
from sqlanon.export.received import ExportedTables, ReceivedExport
from sqlanon.release.existing.people import people_in_no_class


def attack_export(engine: Engine, path: str, request: AttackRequest) -> list[AttackAnswer]:
    """The answers of an attack for the files of an export, by its path.

    Raises UserError where they cannot be read, and PrivacyViolation where they are not what the certificate says.
    """
    with about("path"):
        export = received(engine, path)
        export.require_consistent()
        with export.tables(engine) as exported:
            return attacked(exported.engine, _target(export, exported), request, exported.scratch)


def _target(export: ReceivedExport, exported: ExportedTables) -> Target:
    policy = export.recorded.policy
    if policy.related:
        raise people_in_no_class(export.called)
    sensitive = policy.having(Role.SENSITIVE)
    columns: list[Column] = []
    for table, recorded in zip(exported.tables.values(), export.recorded.tables, strict=True):
        types = dict(exported.engine.columns(exp.select(exp.Star()).from_(table)))
        # By the source's names: in a table of values a column has another.
        columns += [(part.source, types[part.name]) for part in recorded.columns]
    return Target(
        called=export.called,
        columns=tuple(columns),
        sensitive={attribute.name: attribute.hierarchy for attribute in sensitive},
        rows=lambda statistics: exported.rows(statistics, range(len(statistics))),
        known=lambda: known_columns(export.recorded, [a.name for a in policy.quasi_identifiers]),
        requirements=export.requirements,
        against=policy.against,
    )
