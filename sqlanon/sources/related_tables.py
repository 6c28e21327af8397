"""Finds the tables related to a policy's source, and checks that each row is about a respondent of the source."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy, BoundRelatedTable
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import Policy
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import DataError, PolicyError
from sqlanon.sources.coarse import with_labels
from sqlanon.sources.source import BoundSource, bind_source
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import is_null
from sqlanon.sql.build.names import column, identifier, literal, relation
from sqlanon.sql.build.queries import anti_join, extend, select, subquery
from sqlanon.sql.build.render import to_sql


def require_one_table(policy: Policy, statement: str, why: str, *part: str) -> None:
    """Raises PolicyError, with the reason `why`, if the policy has related tables and the statement does not support
    them.
    """
    if policy.related:
        raise PolicyError(
            f"{policy} has related tables, WITH TABLE {policy.related[0].name}, and {statement} is about one: {why}",
            hint="make another policy on a query that joins them, or leaves them out: ON (SELECT ...)",
            part=part,
        )


def related_sources(engine: Engine, policy: Policy, temp: TempTables, *, copy: bool = True) -> tuple[BoundSource, ...]:
    """Returns the related tables of a policy, each found and copied like its source.

    Raises PolicyError, which names the policy and the table.
    """
    sources: list[BoundSource] = []
    for table in policy.related:
        try:
            rows = bind_source(engine, table.source, temp, copy=copy)
            sources.append(with_labels(engine, policy, table.attributes, rows, temp, copy=copy))
        except PolicyError as error:
            raise PolicyError(
                f"{policy}: WITH TABLE {table.name}: {error.message}",
                hint=error.hint,
                quoted=error.quoted,
                part=("table", table.name),
            ) from None
    return tuple(sources)


def require_of_respondents(engine: Engine, bound: BoundPolicy) -> None:
    """Raises DataError unless the source has one row for each respondent, and if a related table has rows about nobody.

    The error counts the rows without naming any.
    """
    if not bound.related:
        return
    _require_one_row_each(engine, bound)
    for table in bound.related:
        _require_rows_of_somebody(engine, bound, table)


def _require_one_row_each(engine: Engine, bound: BoundPolicy) -> None:
    policy, entity = bound.policy, bound.entity
    assert entity is not None
    part, named, called = ("column", entity.column), _quoted(entity.column), policy.source.called
    nobody = select(f.count(), of=relation(bound.relation), where=[is_null(column(entity.column))])
    if rows := _number(engine, nobody):
        raise DataError(
            f"{policy}: {entity.column} is NULL in {counted(rows, 'row')} of {called}, where it must name the "
            f"respondent of the rows of {bound.related[0].name}",
            hint=f"leave them out in a query, ON (SELECT ... WHERE {named} IS NOT NULL)",
            part=part,
        )
    several = select(literal(1), of=relation(bound.relation), group_by=[column(entity.column)], having=f.count() > 1)
    if respondents := _number(engine, select(f.count(), of=subquery(several, "several"))):
        raise DataError(
            f"{policy}: {counted(respondents, 'value')} of {entity.column} {_occur(respondents)} in more than one row "
            f"of {called}, which has one row for each respondent",
            hint="keep one row of each in a query, ON (SELECT ...), and name the table with several WITH TABLE",
            part=part,
        )


def _require_rows_of_somebody(engine: Engine, bound: BoundPolicy, table: BoundRelatedTable) -> None:
    policy, entity = bound.policy, bound.entity
    assert entity is not None
    called, key, part = policy.source.called, column(table.key, "related"), ("table", table.name, "key")
    rows = select(f.count(), of=relation(table.relation, as_="related"))
    if nobodys := _number(engine, rows.where(is_null(key))):
        raise DataError(
            f"{policy}: {table.key} is NULL in {counted(nobodys, 'row')} of {table.name}, where it must name the "
            "respondent of a row",
            hint=f"leave them out in a query, WITH TABLE (SELECT ... WHERE {_quoted(table.key)} IS NOT NULL) "
            f"AS {_quoted(table.name)}",
            part=part,
        )
    of_nobody = extend(
        rows, joins=[anti_join(relation(bound.relation, as_="source"), column(entity.column, "source").eq(key))]
    )
    if others := _number(engine, of_nobody):
        raise DataError(
            f"{policy}: {counted(others, 'row')} of {table.name} {'is' if others == 1 else 'are'} of no respondent in "
            f"{called}",
            hint=f"leave {'it' if others == 1 else 'them'} out in a query that keeps the rows whose {table.key} is an "
            f"{entity.column} of {called}, WITH TABLE (SELECT ...) AS {_quoted(table.name)}",
            part=part,
        )


def _quoted(name: str) -> str:
    return to_sql(identifier(name))


def _occur(number: int) -> str:
    return "occurs" if number == 1 else "occur"


def _number(engine: Engine, query: exp.Select) -> int:
    return int(engine.rows(query)[0][0])
