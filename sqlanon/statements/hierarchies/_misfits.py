"""Whether a hierarchy that has been replaced still fits the columns that policies use it for."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sqlanon.catalog import hierarchies as catalog
from sqlanon.catalog import policies
from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import same_name
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import SqlanonError, UserError
from sqlanon.sources.bind_policy import bind, hierarchies_of, policy_source
from sqlanon.sources.column_types import is_list, item_of
from sqlanon.sources.related_tables import related_sources
from sqlanon.sql.build.expressions import exists, is_not_null
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.cells.labels import published_value, stored_labels


def misfits(engine: Engine, name: str) -> list[str]:
    """Sentences about policies that use a hierarchy which lists no value of their column, or does not fit it.

    A policy whose source cannot be read now is left out: its next release says why. Nothing is read on Spark, where
    rows are not joined with labels, nor in a transaction of the user's, which an unreadable source would abort.
    """
    if not engine.reads_in_place or engine.in_transaction():
        return []
    return [said for policy in catalog.used_by(engine, name) for said in _of_policy(engine, policy, name)]


def _of_policy(engine: Engine, policy_name: str, name: str) -> list[str]:
    try:
        with engine.transaction(), Scratch(engine) as scratch:
            policy = policies.load(engine, policy_name)
            source = policy_source(engine, policy, scratch, copy=False)
            related = related_sources(engine, policy, scratch, copy=False)
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
    values = exp.select(alias(value, "value")).from_(relation(source)).subquery("occurring")
    has_value = exp.select(literal(1)).from_(values).where(is_not_null(column("value")))
    listed = stored_labels(bound)
    assert listed is not None
    same = column("value", "listed_value").eq(column("value", "occurring"))
    listing = exp.select(literal(1)).from_(values.copy()).join(listed.subquery("listed_value"), on=same)
    return bool(engine.rows(exp.select(exp.and_(exists(has_value), exp.not_(exists(listing)))))[0][0])
