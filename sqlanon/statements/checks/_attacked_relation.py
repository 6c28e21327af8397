"""ATTACK of any table or query."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.assess.attacks.attacked import AttackAnswer, Target, attacked
from sqlanon.assess.attacks.known_people import KnownColumns
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Attribute, Policy, Role
from sqlanon.domain.values import Source
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import EngineError, PolicyError
from sqlanon.sources.bind_policy import bind
from sqlanon.sources.source import bind_source
from sqlanon.sql.build.names import relation
from sqlanon.sql.classes.rows import RowsOfRequirements, rows_of
from sqlanon.statements.checks.attack import Attack


def attack_relation(engine: Engine, statement: Attack, relation_source: Source) -> list[AttackAnswer]:
    """The answers for any table or query, whose columns tell the classes apart. Raises as `attacked` does."""
    policy = _policy(statement, relation_source)
    with engine.transaction(), Scratch(engine) as scratch:
        source = bind_source(engine, relation_source, scratch)
        bound = bind(policy, source, {}, fingerprint="")
        keys = [b.column for b in bound.quasi_identifiers]
        columns = {b.column: exp.column(b.column, quoted=True) for b in bound.sensitive}
        rows = rows_of(relation(source.relation), keys, columns)
        target = Target(
            called=relation_source.called,
            columns=source.columns,
            sensitive=dict.fromkeys(b.column for b in bound.sensitive),
            rows=lambda statistics: [RowsOfRequirements(rows, tuple(range(len(statistics))))],
            known=lambda: KnownColumns(tuple(keys), {fold(name): name for name in keys}, {}),
        )
        try:
            return attacked(engine, target, statement, scratch)
        except EngineError as error:
            raise PolicyError(f"{relation_source.called} cannot be attacked: {error.message}") from None


def _policy(statement: Attack, source: Source) -> Policy:
    """The policy that the statement stands for: a column named twice counts once."""
    quasi = {fold(name): Attribute(name, Role.QUASI_IDENTIFIER) for name in statement.quasi_identifiers}
    sensitive = [Attribute(name, Role.SENSITIVE) for name in statement.sensitive]
    if both := [attribute.name for attribute in sensitive if fold(attribute.name) in quasi]:
        raise PolicyError(
            f"{source.called}: {both[0]} is named as a quasi-identifier and as SENSITIVE",
            hint="a class has one value of a quasi-identifier: name the column once",
        )
    return Policy("", source, (*quasi.values(), *sensitive), ())
