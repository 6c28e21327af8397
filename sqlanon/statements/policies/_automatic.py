"""USING AUTO: the hierarchies that PROFILE would propose for columns of a policy, made under names of the policy's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.assess.profiling.automatic import definition, propose
from sqlanon.assess.profiling.sample import sizes
from sqlanon.catalog import hierarchies as catalog
from sqlanon.catalog import policies
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Attribute, HierarchyDefinition, Policy, Role
from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError, SqlanonError, about
from sqlanon.estimates.release_model import counted_source, number_column
from sqlanon.sources.source import bind_source, source_column
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.render import over_rows
from sqlanon.statements.hierarchies._definition import create_hierarchy
from sqlanon.statements.policies._proposal import numbered_name
from sqlanon.syntax.definitions import hierarchy_text

# What the name of a hierarchy ends in that a policy has made for itself.
_SUFFIX = "_auto"
# The rows of a source that is a query, in the query of a hierarchy.
_ROWS = "source_rows"
# Of more rows nobody looks whether a column without USING has many values.
_LOOKED_AT = 10_000
_NOT_PIVOTED = "the columns of a PIVOT are made of the values of its items"


@dataclass(frozen=True)
class _Making:
    """CREATE HIERARCHY of a name that is free."""

    or_replace: bool = False
    if_not_exists: bool = False


def with_hierarchies(engine: Engine, policy: Policy) -> tuple[Policy, tuple[str, ...]]:
    """The policy with a hierarchy, or none, in the place of each USING AUTO, and a remark that says which.

    Makes and stores the hierarchies: intervals, prefixes, units of a calendar, or groups of the values that the column
    has now. Runs in the caller's transaction. Raises PolicyError for a column that there is not, and with PIVOT.
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
    """The policy of this name; None where there is none, or none that can be read."""
    with suppress(PolicyError):
        return policies.load(engine, name) if policies.exists(engine, name) else None
    return None


def drop_hierarchies(engine: Engine, policy: Policy | None, successor: Policy | None = None) -> None:
    """Drops the hierarchies that USING AUTO has made for a policy, which has been deleted.

    Those that another policy uses stay, and those that its `successor` names, which is stored next: then they are of
    the successor. A hierarchy that somebody has made anew since is that user's own.
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
    """A remark on the quasi-identifiers without USING of which the first rows have more than a few values.

    Nothing is said of a source that cannot be read now, nor in a transaction of the user's, which it would abort.
    """
    if policy.pivot or policy.confidential or not engine.reads_in_place or engine.in_transaction():
        return ()
    tables = [(policy.source, policy.attributes), *((table.source, table.attributes) for table in policy.related)]
    try:
        with engine.transaction(), Scratch(engine) as scratch:
            names = [name for source, attributes in tables for name in _lacking(engine, source, attributes, scratch)]
    except SqlanonError:
        return ()
    if not names:
        return ()
    verb, it = ("has", "it is") if len(names) == 1 else ("have", "each is")
    return (f"{', '.join(names)} {verb} no hierarchy: {it} kept or `*` where levels are published; write USING AUTO",)


def _lacking(engine: Engine, source: Source, attributes: Sequence[Attribute], scratch: Scratch) -> Iterator[str]:
    plain = [a for a in attributes if a.role is Role.QUASI_IDENTIFIER and not a.hierarchy and not a.automatic]
    if not plain:
        return
    bound = bind_source(engine, source, scratch, copy=False)
    columns = [source_column(attribute.name, bound.columns, source.called) for attribute in plain]
    ordered = [(name, kind) for name, kind in columns if not kind.endswith("]")]
    if not ordered:
        return
    first = exp.select(*(column(name) for name, _ in ordered)).from_(relation(bound.relation)).limit(_LOOKED_AT)
    counts = exp.select(*(f.count_distinct(column(name)) for name, _ in ordered)).from_(first.subquery("first_rows"))
    (numbers,) = engine.rows(counts)
    yield from (name for (name, _), number in zip(ordered, numbers, strict=True) if number > sizes().few_values)


class _Hierarchies:
    """Makes the hierarchies of one policy, and notes what each column has become."""

    def __init__(self, engine: Engine, policy: str) -> None:
        self._engine, self._policy = engine, policy
        self._taken = {fold(name) for name in catalog.listing(engine)}
        self._made: list[str] = []
        self._none: list[str] = []

    def of(self, source: Source, attributes: Sequence[Attribute]) -> tuple[Attribute, ...]:
        """The attributes of a source, each with a hierarchy by its name, or none, in the place of USING AUTO."""
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
        """A sentence that says what USING AUTO has found."""
        if self._made:
            yield f"USING AUTO: {'; '.join(self._made)}"
        if self._none:
            yield (
                f"USING AUTO has no hierarchy for {', '.join(self._none)}, whose values are not put in order: kept or "
                "`*` where levels are published"
            )

    def _definitions(self, source: Source, attributes: Sequence[Attribute]) -> dict[str, HierarchyDefinition]:
        """The hierarchy of each column for which one is proposed, by the column's folded name."""
        definitions: dict[str, HierarchyDefinition] = {}
        with Scratch(self._engine) as scratch:
            bound = bind_source(self._engine, source, scratch)
            for attribute in attributes:
                with about("column", attribute.name):
                    known = source_column(attribute.name, bound.columns, source.called)
                rows = self._rows(bound.relation, known, scratch)
                chosen = self._definition(source, rows, known)
                if chosen is None:
                    self._none += [known[0]] if self._has_several(rows, known[0]) else []
                    continue
                definitions[fold(attribute.name)] = chosen
                self._made.append(f"{known[0]} has {_in_words(chosen)}")
        return definitions

    def _rows(self, table: QualifiedName, known: Column, scratch: Scratch) -> QualifiedName:
        """The relation that a column is read from: where rows are elsewhere, its values as often as they occur."""
        if self._engine.reads_in_place:
            return table
        name, _ = known
        return QualifiedName((counted_source(relation(table), [name], number_column([name]), scratch).rows,))

    def _has_several(self, rows: QualifiedName, name: str) -> bool:
        """Whether a column has more values than need no hierarchy."""
        ((number,),) = self._engine.rows(exp.select(f.count_distinct(column(name))).from_(relation(rows)))
        return bool(number > sizes().few_values)

    def _definition(self, source: Source, rows: QualifiedName, known: Column) -> HierarchyDefinition | None:
        """The hierarchy that fits a column, under a free name; None where none is proposed."""
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
    """The kind of a hierarchy with its arguments; of groups of values their number is left to DESCRIBE."""
    text = hierarchy_text(made).partition(" AS ")[2]
    return f"groups of values ({made.name})" if made.query else f"{text} ({made.name})"
