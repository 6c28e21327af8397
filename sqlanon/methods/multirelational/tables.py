"""The tables of a release of people: one of them, and one for each table with rows about them.

All have a column with the number of the person, which is drawn anew for each release.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy, Role
from sqlanon.domain.reading import Reading
from sqlanon.engines.udfs import registered
from sqlanon.errors import InternalError, PolicyError
from sqlanon.methods.multirelational.choice import RelatedLevels
from sqlanon.methods.multirelational.people import PERSON
from sqlanon.methods.shared.task import Task
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import ascending, identical, not_, order_by, window
from sqlanon.sql.build.names import alias, column, identifier, literal, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.cells.label_codes import label_at, shown_at
from sqlanon.sql.cells.labels import generalized, published_value, stored_labels
from sqlanon.sql.release.multi_table_query import PublishedColumn, PublishedTable, TablesQuery

# Types of which no two values that are equal are written in two ways.
_ONE_SPELLING = (
    *("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
    *("UHUGEINT", "DECIMAL", "VARCHAR", "BLOB", "DATE", "TIMESTAMP", "UUID"),
)
_NUMBER, _BITS = "number", "bits"


def published_names(policy: Policy) -> tuple[str, ...]:
    """What stands behind the release's name in those of its tables. Raises PolicyError where two would have one."""
    names = policy.table_names
    if len({fold(name) for name in names}) < len(names):
        raise PolicyError(
            f"{policy}: two of its tables are called {names[0]}",
            hint=f"tell them apart: WITH TABLE ... AS {to_sql(identifier(f'{names[0]}_rows'))} ON (...)",
        )
    return names


def tables_of(task: Task, choice: RelatedLevels, release_id: str) -> TablesQuery:
    """The tables, each with the labels of its rows at the levels that were chosen."""
    policy = task.policy
    entity = policy.entity
    if entity is None:
        raise InternalError("a policy on several tables has no ENTITY")
    numbers = _numbers(task, choice.nodes.people.person, choice.gone)
    names, first = published_names(policy.policy), 0
    tables: list[PublishedTable] = []
    for number, name in enumerate(names):
        part = policy.of_related(policy.related[number - 1]) if number else policy
        key = policy.related[number - 1].key if number else entity.column
        levels = choice.levels[first : first + len(part.quasi_identifiers)]
        first += len(levels)
        number_column = PublishedColumn(entity.column, Role.ENTITY, Reading.RESPONDENT, entity)
        columns, query = _labelled(task, part, levels, key, numbers, entity.column)
        tables.append(PublishedTable(name, (number_column, *columns), query, words=()))
    return TablesQuery(policy, release_id, tuple(tables))


def _numbers(task: Task, person: str, gone: str | None) -> str:
    """entity and number: everybody who is published, in a random order that nobody can draw again."""
    conditions = []
    if gone is not None:
        conditions.append(not_(column(PERSON).isin(query=select(column(PERSON), of=relation(gone)))))
    with registered(task.engine, "random_draw") as draw:
        drawn = select(column("entity"), alias(f.call(draw, 0), _BITS), of=relation(person), where=conditions)
        number = window(f.row_number(), order=order_by(ascending(column(_BITS))))
        query = select(column("entity"), alias(number, _NUMBER), of=drawn.subquery("drawn"))
        return task.scratch.table("number", query)


def _labelled(
    task: Task, policy: BoundPolicy, levels: Sequence[int], key: str, numbers: str, called: str
) -> tuple[list[PublishedColumn], exp.Select]:
    """The columns of a table beside the number of the person, and the query of its rows."""
    at = dict(zip((b.column for b in policy.quasi_identifiers), levels, strict=True))
    published = [b for b in policy.attributes if b.role not in (Role.ENTITY, Role.IDENTIFIER)]
    query = select(alias(column(_NUMBER, "drawn"), called), of=relation(policy.relation, as_="source"))
    query.join(relation(numbers, as_="drawn"), on=column("entity", "drawn").eq(column(key, "source")), copy=False)
    columns: list[PublishedColumn] = []
    for index, bound in enumerate(published):
        level = at.get(bound.column)
        query.select(alias(_published(task, query, bound, level, f"label_{index}"), bound.column), copy=False)
        reading = Reading.LABEL if level else Reading.EXACT
        columns.append(PublishedColumn(bound.column, bound.role, reading, bound, level))
    return columns, query


def _has_one_spelling(type_: str) -> bool:
    return type_.startswith(_ONE_SPELLING) and not type_.endswith("]")


def _published(task: Task, query: exp.Select, bound: BoundAttribute, level: int | None, name: str) -> exp.Expr:
    """What a column shows; the query is joined with its labels."""
    value = published_value(bound, "source")
    if level is None or (level == 0 and _has_one_spelling(bound.published_type)):
        return value
    if level == 0:
        # Of values that are equal one stands for all: 0.0 and -0.0 would tell rows of one class apart.
        return window(f.min(value), [value.copy()])
    if level == bound.height:
        return literal("*")
    (label,) = shown_at(bound, [level])
    distinct = select(
        alias(published_value(bound, "source"), "value"), of=query.args["from_"].this.copy(), distinct=True
    )
    values = generalized(bound, distinct, stored_labels(bound), counted=False).subquery("generalized")
    labels = task.scratch.table("label", select(column("value"), label, of=values))
    same = identical(published_value(bound, "source"), column("value", name))
    query.join(relation(labels, as_=name), on=same, copy=False)
    return column(label_at(level), name)
