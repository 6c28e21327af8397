"""Makes hierarchies: checks their rows and stores them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.catalog import hierarchies as catalog
from sqlanon.catalog import policies
from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import same_name
from sqlanon.domain.policy import HierarchyDefinition
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import EngineError, PolicyError, SqlanonError, UserError, about
from sqlanon.sources.bind_policy import bind, hierarchies_of, policy_source
from sqlanon.sources.column_types import is_list, item_of
from sqlanon.sources.related_tables import related_sources
from sqlanon.sources.source import require_no_password
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import and_, exists, insert, into, is_not_null
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import inner_join, select, subquery
from sqlanon.sql.build.render import view_over
from sqlanon.sql.cells.labels import published_value, stored_labels
from sqlanon.sql.hierarchies.base import ReadsTable, builder, functional, stored
from sqlanon.statements.base import WARNING, Answer, done
from sqlanon.statements.named import Creates, to_be_made

# The check whether a replaced hierarchy still fits the columns of policies that use it.


def misfits(engine: Engine, name: str) -> list[str]:
    """Returns sentences about policies in which a column does not fit the hierarchy, or has only values that the
    hierarchy does not list.

    A policy whose source cannot be read is skipped, because its next release reports the error. Nothing is checked on
    Spark, where rows are not joined with labels, nor in a transaction of the user, which an unreadable source would
    abort.
    """
    if not engine.reads_in_place or engine.in_transaction():
        return []
    return [warning for policy in catalog.used_by(engine, name) for warning in _of_policy(engine, policy, name)]


def _of_policy(engine: Engine, policy_name: str, name: str) -> list[str]:
    try:
        with engine.transaction(), TempTables(engine) as temp:
            policy = policies.load(engine, policy_name)
            try:
                source = policy_source(engine, policy, temp, copy=False)
            except PolicyError as error:
                if error.part[:1] != ("column",):
                    raise
                return [f"the policy {policy.name} cannot use the hierarchy {name} any longer: {error.message}"]
            related = related_sources(engine, policy, temp, copy=False)
            try:
                bound = bind(policy, source, hierarchies_of(engine, policy), "", related=related)
            except UserError as error:
                return [f"the policy {policy.name} cannot use the hierarchy {name} any longer: {error.message}"]
            return [
                f"the hierarchy {name} lists no value of the column {attribute.column}, which the policy {policy.name} "
                "uses it for: the next release ends in an error"
                for rows, attribute in _attributes(bound)
                if attribute.hierarchy is not None and same_name(attribute.hierarchy.name, name)
                if attribute.stored and _lists_none(engine, attribute, rows)
            ]
    except SqlanonError:
        return []


def _attributes(bound: BoundPolicy) -> Iterator[tuple[QualifiedName, BoundAttribute]]:
    for attribute in bound.attributes:
        yield bound.relation, attribute
    for table in bound.related:
        for attribute in table.attributes:
            yield table.relation, attribute


def _lists_none(engine: Engine, bound: BoundAttribute, source: QualifiedName) -> bool:
    """Whether a column has values, and the hierarchy lists none of them."""
    value = published_value(bound)
    if is_list(bound.published_type):
        value, bound = exp.Unnest(expressions=[value]), item_of(bound)
    values = subquery(select(alias(value, "value"), of=relation(source)), "occurring")
    has_value = select(literal(1), of=values, where=[is_not_null(column("value"))])
    listed = stored_labels(bound)
    assert listed is not None
    same = column("value", "listed_value").eq(column("value", "occurring"))
    listing = select(literal(1), of=values, joins=[inner_join(subquery(listed, "listed_value"), same)])
    return bool(engine.rows(select(and_(exists(has_value), exp.not_(exists(listing)))))[0][0])


_SHOWN = 10


def create_hierarchy(engine: Engine, definition: HierarchyDefinition, statement: Creates) -> tuple[str, ...] | None:
    """Validates a hierarchy and stores it.

    Returns remarks on its rows, as sentences; None if IF NOT EXISTS found a hierarchy. Raises PolicyError, with the
    levels, values or nodes that do not form a hierarchy.
    """
    with about("kind"):
        kind = builder(definition.kind)
    with about("definition"):
        kind.validate(definition)
    with engine.transaction(), TempTables(engine) as temp:
        if not to_be_made(engine, catalog, "hierarchy", definition.name, statement):
            return None
        remarks: list[str] = []
        if kind.STORED:
            height = _store_values(engine, definition, temp, remarks)
        else:
            if isinstance(kind, ReadsTable) and (table := kind.table_of(definition)) is not None:
                definition = kind.with_rows(definition, _rows_of(engine, definition, table))
            height = functional(definition.kind).height(definition)
        catalog.save(engine, definition, height)
    return tuple(remarks)


def _rows_of(engine: Engine, definition: HierarchyDefinition, table: QualifiedName) -> Sequence[Sequence[object]]:
    try:
        return engine.rows(select(exp.Star(), of=relation(table)))
    except EngineError as error:
        raise PolicyError(
            f"the table {table} of the hierarchy {definition.name} cannot be read: {error.message}",
            hint=error.hint,
            part=("definition",),
        ) from None


def created_answer(engine: Engine, name: str, remarks: tuple[str, ...] | None) -> Answer:
    """Returns the answer of CREATE HIERARCHY, with a column of warnings if the hierarchy does not fit its policies."""
    answer = done("CREATE HIERARCHY", name, "exists" if remarks is None else "created", remarks or ())
    if remarks is None or not (warnings := misfits(engine, name)):
        return answer
    rows = tuple((*row, "\n".join(warnings)) for row in answer.rows)
    return replace(answer, columns=(*answer.columns, WARNING), rows=rows)


def _store_values(engine: Engine, definition: HierarchyDefinition, temp: TempTables, remarks: list[str]) -> int:
    """Runs the hierarchy's query once, checks its rows and stores them; adds remarks, and returns the height.

    Raises PolicyError for a query that does not run and for rows that do not form a hierarchy.
    """
    kind = stored(definition.kind)
    with about("definition"):
        require_no_password(str(definition.query), f"the query of the hierarchy {definition.name}")
    view = temp.view_name("hierarchy")
    try:
        engine.run(view_over(QualifiedName((view,)), str(definition.query), temporary=True))
        rows = temp.table("hierarchy", select(exp.Star(), of=relation(view)))
    except EngineError as error:
        raise PolicyError(
            f"the query of the hierarchy {definition.name} does not run: {error.message}",
            hint=error.hint,
            quoted=error.quoted,
            part=("definition",),
        ) from None
    columns = [name for name, _ in engine.columns(select(exp.Star(), of=relation(rows)))]
    for check in kind.checks(definition, columns, relation(rows)):
        if not (offending := _offending(engine, check.query)):
            continue
        if check.refuses:
            raise PolicyError(f"{check.message}: {offending}", hint=check.hint, part=("definition",))
        remarks.append(f"{check.message}: {offending}; {check.hint}")
    values = temp.table("values", kind.values(definition, columns, relation(rows)))
    name = alias(literal(definition.name), "hierarchy")
    parts = [column(part) for part in ("value", "level", "label")]
    target = into(relation(("anon", "hierarchy_value")), ("hierarchy", "value", "level", "label"))
    engine.run(insert(target, select(name, *parts, of=relation(values))))
    top = engine.rows(select(f.max(column("level")), of=relation(values)))[0][0]
    return int(top or 0) + 1


def _offending(engine: Engine, query: exp.Query) -> str:
    """Returns the first few names from a check's query, and the number of the other names; the text is empty if there
    are no names.
    """
    names = subquery(query, "offending")
    count = int(engine.rows(select(f.count(), of=names))[0][0])
    if not count:
        return ""
    rows = engine.rows(select(exp.Star(), of=names, order_by=[literal(1)], limit=_SHOWN))
    rest = f" and {count - _SHOWN} more" if count > _SHOWN else ""
    return ", ".join(str(row[0]) for row in rows) + rest
