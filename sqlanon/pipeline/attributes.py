"""The columns of a release as the catalog remembers them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.policy import Role
from sqlanon.domain.reading import Reading
from sqlanon.domain.release import ReleaseAttribute
from sqlanon.errors import InternalError
from sqlanon.pipeline.state import State, need
from sqlanon.sqlgen.release.multi_table_query import TablesQuery

__all__ = ["published_attributes"]


def published_attributes(state: State) -> tuple[ReleaseAttribute, ...]:
    """The release's columns. Those that tell its classes apart are its quasi-identifiers."""
    bound, query = need(state.bound), state.compiled
    if isinstance(query, TablesQuery):
        return _attributes_of(query)
    known = {b.column: b for b in bound.published}
    readings = need(state.recoded).readings
    levels = {recoding.bound.column: recoding.level for recoding in query.recodings}
    is_local = bool(need(state.recoded).rounds)
    rounds = {r.bound.column: tuple(sorted(set(r.levels))) for r in query.recodings if is_local}
    attributes: list[ReleaseAttribute] = []
    for name in query.columns:
        b = known.get(name)
        role = b.role if b else Role.QUASI_IDENTIFIER
        if role is Role.QUASI_IDENTIFIER and name not in query.keys:
            role = Role.INSENSITIVE
        attributes.append(
            ReleaseAttribute(
                name=name,
                role=role,
                hierarchy=b.hierarchy.name if b and b.hierarchy else None,
                level=levels.get(name),
                height=b.height if b and name in levels else None,
                weight=b.attribute.weight if b else Decimal(1),
                reading=_reading(name, b, readings),
                rounds=rounds.get(name, ()),
            )
        )
    return tuple(attributes)


def _reading(name: str, bound: BoundAttribute | None, readings: Mapping[str, Reading]) -> Reading:
    """How a column is read. Raises InternalError for a quasi-identifier whose reading the method does not say."""
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
