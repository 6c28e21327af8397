"""The columns of a release as the catalog remembers them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Reading, ReleaseAttribute
from sqlanon.errors import InternalError
from sqlanon.release.pipeline.stages import Compiled
from sqlanon.sql.release.multi_table_query import TablesQuery
from sqlanon.sql.release.release_query import ReleaseQuery


def published_attributes(compiled: Compiled) -> tuple[ReleaseAttribute, ...]:
    """The release's columns. Those that tell its classes apart are its quasi-identifiers."""
    query = compiled.query
    if isinstance(query, TablesQuery):
        return _attributes_of(query)
    known = {b.column: b for b in compiled.bound.policy.published}
    return tuple(_attribute(name, known.get(name), query, compiled) for name in query.columns)


def _attribute(name: str, b: BoundAttribute | None, query: ReleaseQuery, compiled: Compiled) -> ReleaseAttribute:
    """A column of a release that is one table or view; `b` is the attribute that it shows, if it shows one."""
    role = b.role if b else Role.QUASI_IDENTIFIER
    if role is Role.QUASI_IDENTIFIER and name not in query.keys:
        role = Role.INSENSITIVE
    recoding = next((recoding for recoding in query.recodings if recoding.bound.column == name), None)
    return ReleaseAttribute(
        name=name,
        role=role,
        hierarchy=b.hierarchy.name if b and b.hierarchy else None,
        level=recoding.level if recoding else None,
        height=b.height if b and recoding else None,
        weight=b.attribute.weight if b else Decimal(1),
        reading=_reading(name, b, compiled.readings),
        rounds=tuple(sorted(set(recoding.levels))) if recoding and compiled.rounds else (),
    )


def _reading(name: str, bound: BoundAttribute | None, readings: Mapping[str, Reading]) -> Reading:
    """The reading of a column. Raises InternalError for a quasi-identifier whose reading the method does not say."""
    if bound is not None and bound.attribute.pseudonym:
        return Reading.TOKEN
    if name in readings:
        return readings[name]
    if bound is None or bound.role is Role.QUASI_IDENTIFIER:
        raise InternalError(f"the method does not say how the column {name} is read; nothing was published")
    return Reading.EXACT


def _attributes_of(query: TablesQuery) -> tuple[ReleaseAttribute, ...]:
    return tuple(
        ReleaseAttribute(
            name=part.name,
            role=part.role,
            hierarchy=part.bound.hierarchy.name if part.bound and part.bound.hierarchy else None,
            level=part.level,
            height=part.bound.height if part.bound and part.level is not None else None,
            weight=part.bound.attribute.weight if part.bound else Decimal(1),
            fragment=table.name,
            source=part.bound.column if part.bound and part.bound.column != part.name else None,
            reading=part.reading,
        )
        for table in query.tables
        for part in table.columns
    )
