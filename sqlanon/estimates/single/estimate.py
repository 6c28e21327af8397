"""From a query and a release to estimates, their spreads and hard bounds.

The release's rows are grouped by the labels that they show, the leaves of each label by the values of the query's
parts. What is known of several columns is combined as if the columns were independent; a bound holds for every
combination of leaves. All counting is SQL: this module says which relations there are and which rows they have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.estimates.labels.leaves import ColumnUse, Leaves, leaves
from sqlanon.estimates.labels.unlisted_leaves import unlisted_rows
from sqlanon.estimates.numbers import Number
from sqlanon.estimates.query.bind import ROW, bucket_name, leaf_name
from sqlanon.estimates.query.evaluable import Part, require_evaluable, tried
from sqlanon.estimates.query.functions import constants_of, is_ordered
from sqlanon.estimates.query.parse import Aggregate, AggregateQuery
from sqlanon.estimates.query.plan import Plan, plan_of
from sqlanon.estimates.query.relations import (
    arguments_on,
    join_lookups,
    kinds_of_numbers,
    parts_on,
    relations_of,
    require_joins,
    said_parts,
)
from sqlanon.estimates.release_model import Generalized, ReleaseModel
from sqlanon.estimates.single.alike_buckets import BucketTable, alike_buckets, copied
from sqlanon.estimates.single.bucket_values import (
    bucket_column,
    bucket_of_row,
    bucketed_leaves,
    component,
    require_few,
    require_linked,
    require_whole,
)
from sqlanon.estimates.single.combination import CLASS, BucketDraws, combination
from sqlanon.estimates.single.signatures import WEIGHT, divided, evaluated, grouped, shares
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import as_text, is_not_null, is_null, total, union_all, window
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.classes.rows import class_label

__all__ = ["Combinations", "combined", "label_of", "text_of"]


# The fields of a label that has bounds.
_PARTS = ("shown", "low", "high")


@dataclass(frozen=True)
class Combinations:
    """The classes of released rows, each combined with the leaves below its labels."""

    # The tables `combination` that estimate.sql reads, by whether the numbers in them are exact.
    tables: Mapping[bool, str]
    # The aggregates, whose numbers in the tables begin at 1; 0 counts the rows.
    aggregates: tuple[Aggregate, ...]
    # The kinds of numbers of the rows and of each aggregate.
    kinds: Sequence[Number]
    # The number of columns that rows are grouped by.
    groups: int
    # Whether values of buckets were combined, and whether with leaves below labels.
    bucketed: bool
    labelled: bool
    # Whether rows may be in groups that nobody can list.
    open_groups: bool
    # Of each column whose values below a label are taken to be equally likely, whether the figures depend on that.
    uniform: Mapping[str, exp.Exists]


def combined(
    engine: Engine,
    query: AggregateQuery,
    release: ReleaseModel,
    lookups: Sequence[tuple[exp.Table, Sequence[str]]],
    scratch: Scratch,
) -> Combinations:
    """The tables of the released rows combined with the leaves below their labels.

    `lookups` are the joined tables with their columns. Raises PolicyError, naming it, for
    whatever of the query the release cannot answer.
    """
    plan = plan_of(query, release, lookups)
    binding = plan.factors.binding
    columns = {index: release.generalized[name] for name, index in binding.leaf_indexes.items()}
    if release.separate_tables or release.counterfeits is not None:
        require_linked(engine, release)
    base = None if binding.base is None else release.bucketed[binding.base]
    released = release.rows if base is None else base.values
    needed = {*plan.factors.parts, *(argument[0] for argument in plan.arguments if argument)}
    bucketed = {
        index: bucketed_columns
        for index, bucketed_columns in enumerate(release.bucketed)
        if bucket_name(index) in needed
    }
    relations = relations_of(released, bucketed, columns)
    kinds = kinds_of_numbers(engine, plan, relations)
    require_joins(engine, plan, relations)
    buckets = {
        bucket_column(release, index): bucket_of_row(bucketed_columns, ROW)
        for index, bucketed_columns in bucketed.items()
    }
    labelled = _labelled_rows(plan, buckets, columns, released, release.counted if base is None else WEIGHT)
    rows: exp.Query = labelled
    bucket_values: dict[str, exp.Query] = {
        bucket_name(index): evaluated(
            plan, bucket_name(index), bucketed_leaves(bucketed_columns).subquery(bucket_name(index)), kinds
        )
        for index, bucketed_columns in bucketed.items()
    }
    if bucketed and not release.separate_tables:
        rows, bucket_values = _alike(
            engine, bucket_column(release, next(iter(bucketed))), labelled, bucket_values, scratch
        )
    classes = scratch.table(CLASS, _classes(rows, labelled.named_selects, columns))
    _require_evaluable(engine, plan, ROW, released.subquery(ROW), classes)
    signatures: list[tuple[str, exp.Expr, str]] = []
    open_groups = False
    uniform: dict[str, exp.Exists] = {}
    for index, generalized in columns.items():
        name = leaf_name(index)
        column_leaves = leaves(scratch, generalized, _column_use(plan, index, generalized, classes))
        values = relation(column_leaves.table, as_=name)
        # A piece stands for many values: what fails for one of them may hold for others.
        require_evaluable(
            engine, _of_values(plan, name, values), said_parts(plan, name), only_if_all=column_leaves.each
        )
        signature = scratch.table("signature", _signature(plan, name, column_leaves, kinds))
        signatures.append((name, column(f"label_{index}", CLASS), signature))
        if generalized.marginal is None:
            uniform[generalized.column] = divided(plan, name, signature)
        open_groups |= column_leaves.unlisted is not None and any(group.table == name for group in plan.groups)
    draws: list[tuple[str, exp.Expr]] = []
    for index, bucketed_columns in bucketed.items():
        name, bucket = bucket_name(index), bucket_column(release, index)
        bucket_leaves = scratch.table("leaf", grouped(plan, name, bucket_values[name], kinds))
        if not release.separate_tables and release.counterfeits is None:
            require_whole(engine, release.name, classes, bucket_leaves)
        signature = scratch.table("signature", shares(plan, name, relation(bucket_leaves)))
        _require_evaluable(engine, plan, name, bucketed_leaves(bucketed_columns).subquery(name), signature)
        draws.append((name, column(bucket, CLASS)))
        signatures.append((*draws[-1], signature))
    if bucketed:
        require_few(engine, classes, [(label, table) for _, label, table in signatures], len(plan.arguments))
    taken = BucketDraws(component(release, CLASS), draws) if bucketed else None
    tables: dict[bool, str] = {}
    for exact in (True, False):
        if chosen := {index: kind for index, kind in enumerate(kinds) if (kind.unit is not None) is exact}:
            tables[exact] = scratch.table("combination", combination(plan, classes, signatures, taken, chosen))
    return Combinations(
        tables, query.aggregates, kinds, len(plan.groups), bool(bucketed), bool(columns), open_groups, uniform
    )


def _require_evaluable(engine: Engine, plan: Plan, name: str, rows: exp.Expr, table: str) -> None:
    """Raises PolicyError for a part that fails for values that occur. Such a part is NULL in the table."""
    parts: list[tuple[str, Part]] = list(zip(plan.factors.parts.get(name, {}), said_parts(plan, name), strict=True))
    if not parts:
        return
    nulls = [f.bool_or(is_null(column(part_name))) for part_name, _ in parts]
    has_nulls = engine.rows(exp.select(*nulls).from_(relation(table)))[0]
    doubtful = [part for (_, part), null in zip(parts, has_nulls, strict=True) if null]
    require_evaluable(engine, join_lookups(exp.select().from_(rows), plan, name), doubtful)


def _of_values(plan: Plan, name: str, values: exp.Expr) -> exp.Select:
    """A SELECT without columns FROM the leaves that are values."""
    known = is_not_null(column("value", name))
    return join_lookups(exp.select().from_(values), plan, name).where(known)


def _labelled_rows(
    plan: Plan,
    buckets: Mapping[str, exp.Expr],
    columns: dict[int, Generalized],
    released: exp.Query,
    weight: str | None,
) -> exp.Select:
    """label_i, parts, arguments and the weight of each released row, if a column says it."""
    rows = join_lookups(exp.select().from_(released.subquery(ROW)), plan, ROW)
    for index, generalized in columns.items():
        rows.select(alias(label_of(generalized), f"label_{index}"), copy=False)
    rows.select(*(alias(bucket, name) for name, bucket in buckets.items()), copy=False)
    rows.select(*parts_on(plan, ROW), copy=False)
    rows.select(*(alias(tried(value), f"value_{index}") for index, _, value in arguments_on(plan, ROW)), copy=False)
    if not rows.selects:
        rows.select(alias(literal(0), "nothing"), copy=False)
    return rows if weight is None else rows.select(alias(column(weight, ROW), WEIGHT), copy=False)


def _alike(
    engine: Engine, bucket: str, labelled: exp.Select, values_of: Mapping[str, exp.Query], scratch: Scratch
) -> tuple[exp.Query, dict[str, exp.Query]]:
    """The rows and the values of buckets: of buckets that are alike to the query, those of one stand for all."""
    rows = BucketTable(
        scratch.table("labelled", labelled),
        bucket,
        WEIGHT if WEIGHT in labelled.named_selects else None,
        [name for name in labelled.named_selects if name not in (bucket, WEIGHT)],
    )
    values: dict[str, BucketTable] = {}
    for name, query in values_of.items():
        others = [part for part, _ in engine.columns(query) if part not in ("label", WEIGHT)]
        values[name] = BucketTable(scratch.table("value", query), "label", WEIGHT, others)
    alike = alike_buckets(engine, [rows, *values.values()], scratch)
    return copied(rows, alike), {name: copied(side, alike) for name, side in values.items()}


def _classes(rows: exp.Query, names: Sequence[str], columns: dict[int, Generalized]) -> exp.Select:
    """The distinct rows with id, label_i, parts, arguments and n, how many released rows are equal.

    A row with a weight counts as that number of rows.
    """
    count = total(column(WEIGHT)) if WEIGHT in rows.named_selects else f.count()
    names = [name for name in names if name != WEIGHT]
    counted = exp.select(*(column(name) for name in names), alias(count, "n"))
    counted.from_(rows.subquery("labelled", copy=False), copy=False).group_by(*map(column, names), copy=False)
    texts = [alias(text_of(generalized, column(f"label_{i}")), f"text_{i}") for i, generalized in columns.items()]
    row_id = alias(window(f.row_number()), "id")
    return exp.select(row_id, exp.Star(), *texts).from_(counted.subquery("counted", copy=False), copy=False)


def label_of(generalized: Generalized) -> exp.Expr:
    """The expression over the released rows that identifies the label of a column."""
    keys = [column(key, ROW) for key in generalized.keys]
    return keys[0] if len(keys) == 1 else class_label(dict(zip(_PARTS, keys, strict=True)))


def text_of(generalized: Generalized, label: exp.Expr) -> exp.Expr:
    """A label as `label_of` returns it, as a text."""
    if len(generalized.keys) > 1:
        label = f.call("struct_extract", label, literal(_PARTS[0]))
    return as_text(label)


def _column_use(plan: Plan, index: int, generalized: Generalized, classes: str) -> ColumnUse:
    name = leaf_name(index)
    groups = {group.name for group in plan.groups if group.table == name}
    constants: list[exp.Expr] = []
    why: exp.Expr | None = None
    for part_name, part in plan.factors.parts.get(name, {}).items():
        if part_name not in groups and is_ordered(part, name):
            constants += constants_of(part, name)
        elif _reads(part, name):
            why = part
    for argument in plan.arguments:
        if argument and argument[0] == name and _reads(argument[1], name) and not isinstance(argument[1], exp.Column):
            why = argument[1]
    binding = plan.factors.binding
    keys = [
        (plan.lookups[p], lookup.key)
        for p, lookup in enumerate(binding.query.lookups)
        if binding.owners[p] == name and _reads(binding.bound(lookup.on), name)
    ]
    label_text, label = column(f"text_{index}"), column(f"label_{index}")
    n = alias(f.sum(column("n")), "n")
    labels = exp.select(alias(label, "label"), alias(label_text, "shown"), n).from_(relation(classes))
    labels = labels.group_by(label.copy(), label_text.copy())
    return ColumnUse(labels, constants, keys, why is not None, _query_text(why, generalized) if why is not None else "")


def _reads(tree: exp.Expr, name: str) -> bool:
    return any(part.table == name for part in tree.find_all(exp.Column))


def _query_text(tree: exp.Expr, generalized: Generalized) -> str:
    """The text of a part of the query, with the user's names of columns."""

    def renamed(node: exp.Expr) -> exp.Expr:
        return column(generalized.column) if isinstance(node, exp.Column) and node.name == "value" else node

    plain = tree.copy().transform(renamed)
    while isinstance(plain, exp.Cast | exp.Paren):
        plain = plain.this
    return plain.sql(dialect="duckdb")


def _signature(plan: Plan, name: str, column_leaves: Leaves, kinds: Sequence[Number]) -> exp.Select:
    """The signatures of the leaves below each label, with their shares and the moments of their values."""
    evaluated_leaves: exp.Query = evaluated(
        plan, name, relation(column_leaves.table, as_=name), kinds, pieces=not column_leaves.each
    )
    if column_leaves.unlisted is not None:
        groups = {group.name for group in plan.groups if group.table == name}
        numbers = [index for index, *_ in arguments_on(plan, name)]
        names = list(plan.factors.parts.get(name, {}))
        evaluated_leaves = union_all([evaluated_leaves, unlisted_rows(column_leaves.unlisted, names, groups, numbers)])
    return shares(plan, name, grouped(plan, name, evaluated_leaves, kinds).subquery("grouped", copy=False))
