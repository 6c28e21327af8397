"""USING AUTO: makes the hierarchies that PROFILE would propose for the columns of a policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from sqlanon.assess.profiling.automatic import definition, propose
from sqlanon.assess.profiling.sample import sizes
from sqlanon.catalog import hierarchies as catalog
from sqlanon.catalog import policies
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Attribute, HierarchyDefinition, Policy, Role
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError, SqlanonError, about
from sqlanon.estimates.release_model import counted_source, number_column
from sqlanon.sources.source import bind_source, source_column
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import select, subquery
from sqlanon.sql.build.render import over_rows
from sqlanon.statements.hierarchies._definition import create_hierarchy
from sqlanon.statements.policies._proposal import numbered_name
from sqlanon.syntax.definitions import hierarchy_text

# The end of the name of a hierarchy that a policy has made for itself.
_SUFFIX = "_auto"
# The name of the rows of a source that is a query, in the query of a hierarchy.
_ROWS = "source_rows"
# The rows that are searched for many values in a column without USING.
_LOOKED_AT = 10_000
_NOT_PIVOTED = "the columns of a PIVOT are made of the values of its items"


@dataclass(frozen=True)
class _Making:
    """A CREATE HIERARCHY with an unused name."""

    or_replace: bool = False
    if_not_exists: bool = False


def with_hierarchies(engine: Engine, policy: Policy) -> tuple[Policy, tuple[str, ...]]:
    """Returns the policy with a hierarchy, or none, in place of each USING AUTO, and a remark on these hierarchies.

    Makes and stores the hierarchies: intervals, prefixes, units of a calendar, or groups of the column's current
    values. It runs in the caller's transaction. Raises PolicyError for a missing column, and for a policy with PIVOT.
    """
    if not any(attribute.automatic for attribute in policy.all_attributes):
        return policy, ()
    if policy.pivot:
        raise PolicyError(
            f"{policy}: USING AUTO does not go with PIVOT: {_NOT_PIVOTED}",
            hint="make a hierarchy yourself, CREATE HIERARCHY stars AS INTERVALS (2), and write USING stars",
        )
    making = _Hierarchies(engine, policy.name)
    attributes = making.of(policy.source, policy.attributes)
    related = tuple(replace(table, attributes=making.of(table.source, table.attributes)) for table in policy.related)
    return replace(policy, attributes=attributes, related=related), tuple(making.remarks())


def stored_policy(engine: Engine, name: str) -> Policy | None:
    """Returns the policy of this name; None if there is no such policy, or if it cannot be read."""
    with suppress(PolicyError):
        return policies.load(engine, name) if policies.exists(engine, name) else None
    return None


def drop_hierarchies(engine: Engine, policy: Policy | None, successor: Policy | None = None) -> None:
    """Drops the hierarchies that USING AUTO made for a policy that has been deleted.

    A hierarchy stays if another policy uses it, or if a user has replaced it since. Hierarchies that the `successor`
    names, the policy stored next, belong to the successor from then on.
    """
    if policy is None:
        return
    named = {fold(attribute.hierarchy or "") for attribute in successor.all_attributes} if successor else set()
    for name in catalog.made_for(engine, policy.name):
        if successor is not None and fold(name) in named:
            catalog.mark_made_for(engine, name, successor.name)
        elif not catalog.used_by(engine, name):
            catalog.delete(engine, name)


def lacking(engine: Engine, policy: Policy) -> tuple[str, ...]:
    """Returns a remark on the quasi-identifiers without USING that have more than a few values in the first rows.

    The result is empty for a source that cannot be read, and in a transaction of the user, because such a source would
    abort it.
    """
    if policy.pivot or policy.confidential or not engine.reads_in_place or engine.in_transaction():
        return ()
    tables = [(policy.source, policy.attributes), *((table.source, table.attributes) for table in policy.related)]
    try:
        with engine.transaction(), TempTables(engine) as temp:
            names = [name for source, attributes in tables for name in _lacking(engine, source, attributes, temp)]
    except SqlanonError:
        return ()
    if not names:
        return ()
    verb, it = ("has", "it is") if len(names) == 1 else ("have", "each is")
    return (f"{', '.join(names)} {verb} no hierarchy: {it} kept or `*` where levels are published; write USING AUTO",)


def _lacking(engine: Engine, source: Source, attributes: Sequence[Attribute], temp: TempTables) -> Iterator[str]:
    plain = [a for a in attributes if a.role is Role.QUASI_IDENTIFIER and not a.hierarchy and not a.automatic]
    if not plain:
        return
    bound = bind_source(engine, source, temp, copy=False)
    columns = [source_column(attribute.name, bound.columns, source.called) for attribute in plain]
    ordered = [(name, kind) for name, kind in columns if not kind.endswith("]")]
    if not ordered:
        return
    first = select(*(column(name) for name, _ in ordered), of=relation(bound.relation), limit=_LOOKED_AT)
    counts = select(*(f.count_distinct(column(name)) for name, _ in ordered), of=subquery(first, "first_rows"))
    (numbers,) = engine.rows(counts)
    yield from (name for (name, _), number in zip(ordered, numbers, strict=True) if number > sizes().few_values)


class _Hierarchies:
    """Makes the hierarchies of one policy, and records the result for each column."""

    def __init__(self, engine: Engine, policy: str) -> None:
        self._engine, self._policy = engine, policy
        self._taken = {fold(name) for name in catalog.listing(engine)}
        self._made: list[str] = []
        self._none: list[str] = []

    def of(self, source: Source, attributes: Sequence[Attribute]) -> tuple[Attribute, ...]:
        """Returns the attributes of a source, with a hierarchy or none in place of each USING AUTO."""
        automatic = [attribute for attribute in attributes if attribute.automatic]
        if not automatic:
            return tuple(attributes)
        definitions = self._definitions(source, automatic)
        made: list[Attribute] = []
        for attribute in attributes:
            chosen = definitions.get(fold(attribute.name)) if attribute.automatic else None
            if chosen is not None:
                create_hierarchy(self._engine, chosen, _Making())
                catalog.mark_made_for(self._engine, chosen.name, self._policy)
            name = attribute.hierarchy if chosen is None else chosen.name
            made.append(replace(attribute, hierarchy=name, automatic=False))
        return tuple(made)

    def remarks(self) -> Iterator[str]:
        """Yields sentences on the hierarchies that USING AUTO has made, and on the columns without a hierarchy."""
        if self._made:
            yield f"USING AUTO: {'; '.join(self._made)}"
        if self._none:
            yield (
                f"USING AUTO has no hierarchy for {', '.join(self._none)}, whose values are not put in order: kept or "
                "`*` where levels are published"
            )

    def _definitions(self, source: Source, attributes: Sequence[Attribute]) -> dict[str, HierarchyDefinition]:
        """Proposes the hierarchies of these columns; returns them by the column's folded name."""
        definitions: dict[str, HierarchyDefinition] = {}
        with TempTables(self._engine) as temp:
            bound = bind_source(self._engine, source, temp)
            for attribute in attributes:
                with about("column", attribute.name):
                    known = source_column(attribute.name, bound.columns, source.called)
                rows = self._rows(bound.relation, known, temp)
                chosen = self._definition(source, rows, known)
                if chosen is None:
                    self._none += [known[0]] if self._has_several(rows, known[0]) else []
                    continue
                definitions[fold(attribute.name)] = chosen
                self._made.append(f"{known[0]} has {_in_words(chosen)}")
        return definitions

    def _rows(self, table: QualifiedName, known: Column, temp: TempTables) -> QualifiedName:
        """Returns the relation from which a column is read: on another engine, a copy of its values with their
        frequencies.
        """
        if self._engine.reads_in_place:
            return table
        name, _ = known
        return QualifiedName((counted_source(relation(table), [name], number_column([name]), temp).rows,))

    def _has_several(self, rows: QualifiedName, name: str) -> bool:
        """Whether a column has so many values that it needs a hierarchy."""
        ((number,),) = self._engine.rows(select(f.count_distinct(column(name)), of=relation(rows)))
        return bool(number > sizes().few_values)

    def _definition(self, source: Source, rows: QualifiedName, known: Column) -> HierarchyDefinition | None:
        """Returns the hierarchy that fits a column, under an unused name; None if no hierarchy is proposed."""
        column_name, kind = known
        try:
            proposal = propose(self._engine, rows, column_name, kind)
        except PolicyError:
            return None
        if proposal.groups and not self._engine.reads_in_place:
            return None
        name = numbered_name(f"{self._policy}_{column_name}{_SUFFIX}", self._taken)
        self._taken.add(fold(name))
        table = source.name or QualifiedName((_ROWS,))
        chosen = definition(name, proposal, table, column_name, kind)
        if source.query is None or chosen.query is None:
            return chosen
        return replace(chosen, query=over_rows(_ROWS, source.query, chosen.query))


def _in_words(made: HierarchyDefinition) -> str:
    """Describes the kind of a hierarchy with its arguments; for groups of values, only the name."""
    text = hierarchy_text(made).partition(" AS ")[2]
    return f"groups of values ({made.name})" if made.query else f"{text} ({made.name})"
