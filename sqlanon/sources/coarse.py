"""Replaces the values of sensitive columns by labels, before anything else reads the source.

Xiao and Tao, Personalized privacy preservation (2006), generalize sensitive values by the wish of each respondent. Here
the policy decides for all rows, because a label in only some rows would reveal the wishes of their respondents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.catalog import hierarchies as stored_hierarchies
from sqlanon.domain.bound import BoundAttribute, CoarseColumn
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import Attribute, Policy
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import DataError, InternalError, PolicyError, about
from sqlanon.sources.column_types import without_enums
from sqlanon.sources.fitting import require_fitting
from sqlanon.sources.source import BoundSource
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    as_text,
    by_bytes,
    case,
    entry,
    identical,
    is_not_null,
    is_null,
    try_cast,
    union_all,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, left_join, select, subquery
from sqlanon.sql.build.sql_files import filled, filled_query, filled_select, query_file
from sqlanon.sql.cells.labels import level_name, listed_twice, published_value, stored_labels
from sqlanon.sql.hierarchies.base import builder, functional
from sqlanon.syntax.texts import typed_name

_TYPE = "VARCHAR"
# The mean number of rows of a value from which a column that determines another does so by more than chance.
_REPEATS = 2


def with_labels(
    engine: Engine,
    policy: Policy,
    attributes: Sequence[Attribute],
    source: BoundSource,
    temp: TempTables,
    *,
    copy: bool,
) -> BoundSource:
    """Returns the source with labels in the columns of its coarse `attributes`; unchanged if there are none.

    Its rows are copied if `copy` is true; otherwise reading a value without a label is an error. Raises PolicyError for
    a level or a node that the hierarchy lacks, for labels that would be `*`, and for rows on another engine, and
    DataError, which does not name a value, if the hierarchy lacks values of the source.
    """
    kinds = {fold(name): (name, kind) for name, kind in source.columns}
    coarse = [a for a in attributes if a.is_coarse and fold(a.name) in kinds]
    if not coarse:
        return source
    if engine.distributed:
        raise PolicyError(
            f"{policy}: labels in place of {coarse[0].name} are made in DuckDB, and the rows are on another engine",
            hint=f"publish {coarse[0].name} as labels in a view that is the source, and leave MIN LEVEL and HIDE out",
            part=("column", coarse[0].name),
        )
    columns = tuple(_coarse_column(engine, policy, attribute, kinds[fold(attribute.name)]) for attribute in coarse)
    query = labelled_rows([name for name, _ in source.columns], relation(source.relation, as_="source"), columns)
    if copy:
        for each in columns:
            _require_listed(engine, each, source.relation)
        name = temp.rows("labels", query)
    else:
        name = temp.view("labels", query)
    of_labels = {each.bound.column for each in columns}
    return BoundSource(
        tuple((name, _TYPE if name in of_labels else kind) for name, kind in source.columns),
        QualifiedName(("temp", "main", name)),
        source.lasting,
        stable=False,
        coarse=columns,
        values_of=source,
    )


def require_labels(attributes: Sequence[Attribute], source: BoundSource) -> None:
    """Raises InternalError if a coarse attribute's own values would be read; nothing is published then."""
    known = {fold(each.bound.column) for each in source.coarse}
    named = {fold(name) for name, _ in source.columns}
    for attribute in attributes:
        if attribute.is_coarse and not source.of_release and fold(attribute.name) in named - known:
            raise InternalError(f"the values of {attribute.name} were to be read as labels; nothing was published")


def _coarse_column(engine: Engine, policy: Policy, attribute: Attribute, named: Column) -> CoarseColumn:
    assert attribute.hierarchy is not None
    with about("hierarchy", attribute.hierarchy):
        stored = stored_hierarchies.load(engine, attribute.hierarchy)
    name, kind = named
    is_stored, published = builder(stored.definition.kind).STORED, without_enums(kind)
    with about("column", attribute.name, "using"):
        require_fitting(str(policy), stored.definition, name, published)
    bound = BoundAttribute(attribute, name, kind, published, stored.definition, is_stored, stored.height)
    if attribute.hide:
        with about("column", attribute.name, "hide"):
            return CoarseColumn(bound, stored.digest, _parents(engine, policy, bound))
    level = attribute.min_level or 0
    if level >= stored.height:
        above = "would be * in each row" if level == stored.height else f"has no level {level}"
        raise PolicyError(
            f"{policy}: {name} {above}; the last labels of {stored.definition.name} below * are of level "
            f"{stored.height - 1}",
            hint=f"write a level below {stored.height}, or leave {name} out of the policy",
            part=("column", attribute.name, "min level"),
        )
    return CoarseColumn(bound, stored.digest)


def _parents(engine: Engine, policy: Policy, bound: BoundAttribute) -> tuple[tuple[int, str], ...]:
    """Returns the level and the label of the parent of each hidden node; a text of HIDE may name several nodes.

    If a node has the same text at several levels, its parent is the node above the highest of these levels. Raises
    PolicyError for a text that is not a node, and if a parent is the top.
    """
    hierarchy, nodes = bound.hierarchy, bound.attribute.hide
    assert hierarchy is not None
    part = ("column", bound.attribute.name, "hide")
    if not bound.stored:
        raise PolicyError(
            f"{policy}: {bound.column} hides nodes of {hierarchy.name}, which computes its labels and lists no values",
            hint="write MIN LEVEL, or name a hierarchy that lists them: CREATE HIERARCHY ... AS LEVELS or PARENTS",
            part=part,
        )
    paths = _paths(bound)
    all_nodes = _nodes(paths, bound.height)
    named = all_nodes.where(column("label").isin(*map(literal, nodes)))
    known = {str(label) for (label,) in engine.rows(named)}
    if missing := [node for node in nodes if node not in known]:
        labels_query = "SELECT DISTINCT label FROM anon.hierarchy_value"
        raise PolicyError(
            f"{policy}: {hierarchy.name} has no node {missing[0]!r}, which {bound.column} is to hide",
            hint=nearest(missing[0], sorted(str(label) for (label,) in engine.rows(all_nodes)))
            or f"{labels_query} has the nodes that there are",
            part=part,
        )
    found_nodes: set[tuple[int, str]] = set()
    for level in range(bound.height):
        for (parent,) in engine.rows(_parents_at(bound, paths, level)):
            if level + 1 == bound.height:
                raise PolicyError(
                    f"{policy}: above a node that {bound.column} is to hide {hierarchy.name} has nothing but *",
                    hint=f"leave {bound.column} out of the policy, or add a level of labels to {hierarchy.name}",
                    part=part,
                )
            found_nodes.add((level + 1, str(parent)))
    return tuple(sorted(found_nodes))


def _paths(bound: BoundAttribute) -> exp.Select:
    """Returns value, level_0 (its text), level_1, ...: a row for each value that a stored hierarchy lists."""
    listed = stored_labels(bound)
    assert listed is not None
    labels = [level_name(level) for level in range(1, bound.height)]
    text = "SELECT value, CAST(value AS VARCHAR) AS level_0, {labels} FROM listed"
    return filled_select(text, tables={"listed": listed}, names={"labels": labels})


def _nodes(paths: exp.Select, height: int) -> exp.Select:
    """Returns the column label, which has each node below the top once."""
    query = "SELECT {label} AS label FROM path"
    of_levels = [
        filled_query(query, tables={"path": paths}, names={"label": level_name(level)}) for level in range(height)
    ]
    distinct = "SELECT DISTINCT label FROM nodes AS node WHERE NOT label IS NULL"
    return filled_select(distinct, tables={"nodes": union_all(of_levels)})


def _parents_at(bound: BoundAttribute, paths: exp.Select, level: int) -> exp.Select:
    """Returns the parents of a level's hidden nodes, without nodes whose text recurs at a higher level above them."""
    above = [level_name(other) for other in range(level + 1, bound.height)]
    text = """
        SELECT DISTINCT $parent AS parent FROM path
        WHERE {label} IN ($hidden) AND {above} IS DISTINCT FROM {label}
    """
    return filled_select(
        text,
        tables={"path": paths},
        names={"label": level_name(level), "above": above},
        parent=column(above[0]) if above else "*",
        hidden=bound.attribute.hide,
    )


def labels_listed(each: CoarseColumn) -> exp.Select:
    """SELECT of value and label: a row for each value that the column's stored hierarchy lists."""
    text = "SELECT value, $label AS label FROM path"
    return filled_select(text, tables={"path": _paths(each.bound)}, label=_label_of_path(each))


def _label_of_path(each: CoarseColumn) -> exp.Expr:
    """Returns the label in the columns level_0, level_1, ...: the label at MIN LEVEL, or the highest of the `nodes`."""
    if not each.nodes:
        return column(level_name(each.bound.attribute.min_level or 0))
    branches = []
    for level in sorted({level for level, _ in each.nodes}, reverse=True):
        labels = [literal(label) for other, label in each.nodes if other == level]
        branches.append((column(level_name(level)).isin(*labels), column(level_name(level))))
    return case(*branches, otherwise=column(level_name(0)))


def labelled_rows(
    names: Sequence[str], rows: exp.Expr, coarse: Sequence[CoarseColumn], release_id: str | None = None
) -> exp.Select:
    """Returns the columns `names` of the relation `source`, with labels in the coarse columns.

    A value without a label is an error. Stored labels are read from the hierarchy; if `release_id` is given, they are
    read from the catalog's copy for this live view, with an explicit collation.
    """
    by_name = {each.bound.column: (f"label_{index}", each) for index, each in enumerate(coarse)}
    query = select(of=rows)
    for name in names:
        if name not in by_name:
            extend(query, column(name, "source"))
            continue
        table, each = by_name[name]
        label = _label(each, table)
        extend(query, alias(label if release_id is None else by_bytes(label), name))
        if each.bound.stored:
            listed: exp.Query = labels_listed(each) if release_id is None else _frozen(each.bound, release_id)
            extend(listed, alias(literal(True), "listed"))
            same = identical(published_value(each.bound, "source"), column("value", table))
            extend(query, joins=[left_join(subquery(listed, table), same)])
    return query


def _label(each: CoarseColumn, table: str) -> exp.Expr:
    """Returns the label of a row of `source`; it is an error for an unlisted value, and NULL for an unlisted NULL."""
    bound = each.bound
    value = published_value(bound, "source")
    assert bound.hierarchy is not None
    if not bound.stored:
        level = bound.attribute.min_level or 0
        return functional(bound.hierarchy.kind).labels(bound.hierarchy, value, bound.published_type)[level - 1]
    says = f"sqlanon: the hierarchy {bound.hierarchy.name} lacks values of the column {bound.column}"
    text = """
        CASE WHEN NOT "{table}".listed IS NULL THEN "{table}".label
          WHEN $value IS NULL THEN NULL ELSE CAST(error($says) AS VARCHAR) END
    """
    says += "; run CREATE OR REPLACE HIERARCHY, and make the release again"
    return filled(text, names={"table": table}, value=value, says=says)


def _frozen(bound: BoundAttribute, release_id: str) -> exp.Query:
    """SELECT of value and label from the catalog's copy of a hierarchy for a live view.

    It has one row for each value, even if the hierarchy lists the value several times.
    """
    value = try_cast(by_bytes(column("value")), bound.published_type)
    path = ("hierarchies", "frozen_coarse_labels")
    return query_file(*path, release_id=release_id, column=bound.column, value=value)


def _require_listed(engine: Engine, each: CoarseColumn, rows: QualifiedName) -> None:
    """Raises DataError, with the number of values, for values that the hierarchy does not list."""
    bound = each.bound
    if not bound.stored:
        return
    assert bound.hierarchy is not None
    occurring = select(alias(published_value(bound), "value"), distinct=True, of=relation(rows))
    same = identical(column("value", "occurring"), column("value", "listed"))
    listed = extend(labels_listed(each), alias(literal(True), "is_listed"))
    query = select(f.count(), of=subquery(occurring, "occurring"), joins=[left_join(subquery(listed, "listed"), same)])
    extend(query, where=[is_null(column("is_listed", "listed")), is_not_null(column("value", "occurring"))])
    again = f"its query and run CREATE OR REPLACE HIERARCHY {typed_name(bound.hierarchy.name)} again"
    twice = listed_twice(bound, relation(("anon", "hierarchy_value")))
    if bound.published_type != _TYPE and engine.rows(twice.limit(1)):
        raise DataError(
            f"the hierarchy {bound.hierarchy.name} lists values of the column {bound.column}, of type "
            f"{bound.published_type}, under several texts",
            hint=f"keep one text of each in {again}",
            part=("column", bound.attribute.name, "using"),
        )
    if number := int(engine.rows(query)[0][0]):
        raise DataError(
            f"the hierarchy {bound.hierarchy.name} lacks {counted(number, 'value')} of the column {bound.column}, "
            "which is published as labels",
            hint=f"add them to {again}",
            part=("column", bound.attribute.name, "using"),
        )


# Other columns of a release that would reveal the values below labels.


@dataclass(frozen=True)
class Telling:
    """A published column that tells apart the values below one label.

    Each of its values occurs with only one value of the coarse column or, if `is_copy` is true, equals it.
    """

    coarse: str
    other: str
    is_copy: bool


def telling_columns(engine: Engine, source: BoundSource, attributes: Sequence[BoundAttribute]) -> Iterator[Telling]:
    """Yields the published `attributes` that tell apart the values below labels of the source's coarse columns.

    A column with a single value, or whose values are nearly all different, is left out, because it does not reveal the
    values of other rows.
    """
    values_source = source.values_of
    coarse = {each.bound.column for each in source.coarse}
    others = [b for b in attributes if b.column not in coarse and not b.attribute.pseudonym]
    if values_source is None or not others:
        return
    for each in source.coarse:
        value = column(each.bound.column)
        has_value = is_not_null(value)
        figures: list[exp.Expr] = [f.count_distinct(value), f.count()]
        for other in others:
            pair = f.call("struct_pack", entry("a", column(other.column)), entry("b", value))
            copies = f.call("bool_and", identical(as_text(column(other.column)), as_text(value)))
            figures += [f.count_distinct(column(other.column)), f.count_distinct(pair), copies]
        query = select(*figures, of=relation(values_source.relation), where=[has_value])
        ((values, rows, *numbers),) = engine.rows(query)
        for index, other in enumerate(others):
            different_values, pairs, is_copy = numbers[3 * index : 3 * index + 3]
            repeats = 1 < different_values == pairs and rows >= _REPEATS * different_values
            if values > 1 and (is_copy or repeats):
                yield Telling(each.bound.column, other.column, bool(is_copy))


def require_no_copies(policy: Policy, columns: Sequence[Telling]) -> None:
    """Raises PolicyError for a published column that equals the values of a column that is published as labels."""
    for each in columns:
        if each.is_copy:
            raise PolicyError(
                f"{policy}: {each.other} has the values of {each.coarse}, which is published as labels",
                hint=f"leave {each.other} out of the policy",
                part=("column", each.other),
            )
