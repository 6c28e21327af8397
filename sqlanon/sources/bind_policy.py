"""Stage 3 of a release: binds a policy to its source, with typed columns, heights of hierarchies and levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from sqlanon.catalog import hierarchies as stored_hierarchies
from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.domain.bound import BoundAttribute, BoundPolicy, BoundRelatedTable, PublicTable
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.policy import Attribute, Mask, Policy, RelatedTable, Role, Shift
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError, about
from sqlanon.sources.coarse import require_labels, with_labels
from sqlanon.sources.column_types import asks_of_items, is_list, item_type, without_enums
from sqlanon.sources.fitting import require_fitting
from sqlanon.sources.masks import require_maskable
from sqlanon.sources.pivot import own_rows, pivoted
from sqlanon.sources.related_tables import require_one_table
from sqlanon.sources.shifts import require_shiftable
from sqlanon.sources.source import BoundSource, bind_source
from sqlanon.sql.build.names import identifier
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.hierarchies.base import builder


def hierarchies_of(engine: Engine, policy: Policy) -> dict[str, StoredHierarchy]:
    """Loads and validates the hierarchies that a policy names; returns them by folded name."""
    names = dict.fromkeys(fold(a.hierarchy) for a in policy.all_attributes if a.hierarchy)
    hierarchies: dict[str, StoredHierarchy] = {}
    rows_by_name = stored_hierarchies.rows_of(engine, names) if names else {}
    summaries = stored_hierarchies.summaries_of(engine, chain(*rows_by_name.values()))
    for name, rows in rows_by_name.items():
        with about("hierarchy", name):
            hierarchies[name] = stored_hierarchies.load(engine, name, rows=rows, summaries=summaries)
    return hierarchies


def policy_source(engine: Engine, policy: Policy, temp: TempTables, *, copy: bool = True) -> BoundSource:
    """Returns a policy's source, copied unless it is a table; with PIVOT, it is the wide table that is made of the
    source.

    Raises PolicyError, which names the policy, and DataError for rows that cannot be pivoted.
    """
    try:
        source = bind_source(engine, policy.source, temp, copy=copy)
    except PolicyError as error:
        error.message = f"{policy}: {error.message}"
        raise
    if policy.pivot:
        return pivoted(engine, policy, source, temp, copy=copy)
    return with_labels(engine, policy, policy.attributes, source, temp, copy=copy)


def source_rows(engine: Engine, policy: Policy, temp: TempTables, *, copy: bool = True) -> BoundSource:
    """Returns a policy's source, with labels in its coarse columns; with PIVOT, it is the wide table that is made of
    the source.

    If `copy` is true, it is copied unless it is a table. Raises the errors of `bind_source`, `pivoted` and
    `with_labels`.
    """
    source = own_rows(engine, policy, temp, copy=copy)
    return with_labels(engine, policy, policy.attributes, source, temp, copy=copy)


def public_source(engine: Engine, policy: Policy, temp: TempTables, *, copy: bool = True) -> BoundSource | None:
    """Finds the policy's public table and copies it, like `policy_source`; None if the policy has no public table."""
    if policy.against is None:
        return None
    try:
        return bind_source(engine, policy.against, temp, copy=copy)
    except PolicyError as error:
        raise PolicyError(
            f"{policy}: AGAINST: {error.message}", hint=error.hint, quoted=error.quoted, part=("public table",)
        ) from None


def bind(
    policy: Policy,
    source: BoundSource,
    hierarchies: Mapping[str, StoredHierarchy],
    fingerprint: str,
    public: BoundSource | None = None,
    related: Sequence[BoundSource] = (),
) -> BoundPolicy:
    """Finds each attribute's column, and checks its hierarchy against the column's type.

    `related` are the policy's related tables, in its order.

    Raises PolicyError for a column that the source lacks, a hierarchy that does not fit a column, a level above the
    top, two columns that differ only in case, or a quasi-identifier that is missing in the public table or has another
    type there.
    """
    if policy.related and not related:
        require_one_table(policy, "this", "rows of one table are read")
    columns = _by_name(source.columns)
    require_labels(policy.attributes, source)
    for related_table, rows in zip(policy.related, related, strict=False):
        require_labels(related_table.attributes, rows)
    called = f"the source {policy.source.called}"
    attributes = tuple(_bound(policy, a, called, columns, hierarchies) for a in policy.attributes)
    unpublished = _unnamed(source, attributes)
    with about("public table"):
        table = _public_table(policy, attributes, public) if public else None
    bound = BoundPolicy(policy, source.relation, source.stable, attributes, unpublished, fingerprint, table)
    pairs = zip(policy.related, related, strict=True)
    tables = tuple(_related(bound, each, rows, hierarchies) for each, rows in pairs)
    return replace(bound, long_table=source.long_table, related=tables)


def _unnamed(source: BoundSource, attributes: Sequence[BoundAttribute]) -> tuple[str, ...]:
    named = {bound.column for bound in attributes}
    return tuple(name for name, _ in source.columns if name not in named)


def _related(
    bound: BoundPolicy, table: RelatedTable, rows: BoundSource, hierarchies: Mapping[str, StoredHierarchy]
) -> BoundRelatedTable:
    """Returns a related table with the columns of its attributes and its key, the column with the values of the ENTITY.

    Raises PolicyError if it lacks such a column, or if the types of the key and the ENTITY differ.
    """
    policy, entity, columns = bound.policy, bound.entity, _by_name(rows.columns)
    assert entity is not None
    called = f"the table {table.name}"
    with about("table", table.name, "key"):
        key, kind = _column(policy, called, table.key, columns)
        if without_enums(kind) != entity.published_type:
            raise PolicyError(
                f"{policy}: {key} of {table.name} is of type {without_enums(kind)}, and {entity.column} of the source "
                f"of type {entity.published_type}",
                hint=f"cast it in a query, WITH TABLE (SELECT CAST(... AS {entity.published_type}) AS ..., ...) "
                f"AS {to_sql(identifier(table.name))}",
            )
    attributes = tuple(_bound(policy, a, called, columns, hierarchies) for a in table.attributes)
    return BoundRelatedTable(table.name, rows.relation, key, attributes, _unnamed(rows, attributes))


def _column(policy: Policy, called: str, name: str, columns: dict[str, Column]) -> Column:
    """Returns a column's name as the relation spells it, and its type. Raises PolicyError for an unknown column."""
    if fold(name) not in columns:
        raise PolicyError(
            f"{policy}: {called} has no column {name}",
            hint=nearest(name, [name for name, _ in columns.values()])
            or f"it has {', '.join(name for name, _ in columns.values())}",
        )
    return columns[fold(name)]


def _public_table(policy: Policy, attributes: Sequence[BoundAttribute], public: BoundSource) -> PublicTable:
    """Returns the public table with its column for each quasi-identifier, found by name."""
    known = _by_name(public.columns)
    called = policy.against.called if policy.against else ""
    columns: list[str] = []
    for bound in attributes:
        if bound.role is not Role.QUASI_IDENTIFIER:
            continue
        if fold(bound.column) not in known:
            raise PolicyError(
                f"{policy}: the public table {called} has no column {bound.column}, by which the two are compared",
                hint=f"it has {', '.join(name for name, _ in known.values())}; name them alike in a query, "
                "AGAINST (SELECT postcode AS zip, ...)",
            )
        column, kind = known[fold(bound.column)]
        if without_enums(kind) != bound.published_type:
            raise PolicyError(
                f"{policy}: {bound.column} is of type {bound.published_type}, and {column} of the public table "
                f"{called} of type {without_enums(kind)}",
                hint=f"cast it in a query, AGAINST (SELECT CAST(... AS {bound.published_type}) AS ..., ...)",
            )
        columns.append(column)
    return PublicTable(public.relation, tuple(columns), public.lasting, public.stable)


def _by_name(columns: Sequence[Column]) -> dict[str, Column]:
    return {fold(name): (name, kind) for name, kind in columns}


def _bound(
    policy: Policy,
    attribute: Attribute,
    called: str,
    columns: dict[str, Column],
    hierarchies: Mapping[str, StoredHierarchy],
) -> BoundAttribute:
    with about("column", attribute.name):
        return _attribute(policy, attribute, _column(policy, called, attribute.name, columns), hierarchies)


def _attribute(
    policy: Policy, attribute: Attribute, column_and_type: Column, hierarchies: Mapping[str, StoredHierarchy]
) -> BoundAttribute:
    column, kind = column_and_type
    if isinstance(attribute.pseudonym, Mask):
        with about("column", attribute.name, "mask"):
            require_maskable(policy, column, kind)
    if isinstance(attribute.pseudonym, Shift):
        with about("column", attribute.name, "shift"):
            require_shiftable(policy, column, kind)
    published = without_enums(kind)
    if not attribute.distances:
        # A column without a hierarchy has two levels, the value and '*', also if it has labels in place of its values.
        top, hierarchy, is_stored = 1, None, False
    else:
        stored = hierarchies[fold(attribute.distances)]
        hierarchy, top, is_stored = stored.definition, stored.height, builder(stored.definition.kind).STORED
        with about("column", attribute.name, "using"):
            of_items = is_list(published) and attribute.role is Role.QUASI_IDENTIFIER and asks_of_items(policy)
            require_fitting(str(policy), hierarchy, column, item_type(published) if of_items else published)
    low = 0 if attribute.is_coarse else attribute.min_level or 0
    high = top if attribute.max_level is None else attribute.max_level
    if max(low, high) > top:
        raise PolicyError(
            f"{policy}: {column} has no level {max(low, high)}; its levels are 0 to {top}"
            + (f" ({hierarchy.name} and '*')" if hierarchy else ", the value and '*'"),
            part=("column", attribute.name, "min level" if low > high else "max level"),
        )
    return BoundAttribute(attribute, column, kind, published, hierarchy, is_stored, top, low, high)
