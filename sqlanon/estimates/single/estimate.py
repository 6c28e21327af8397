"""Turns a query and a release into estimates, their spreads and hard bounds.

The release's rows are grouped by their labels, and the leaves of each label by the values of the query's parts.
Knowledge of several columns is combined as if the columns were independent, but bounds hold for every combination of
leaves. All counting is SQL: this module only builds the relations and their rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.estimates.axes import Number
from sqlanon.estimates.labels.leaves import ColumnUse, Leaves, leaves
from sqlanon.estimates.labels.pieces import LISTED, below_label, leaf_moments, moments_of, share, unlisted_rows
from sqlanon.estimates.labels.spans import MOMENTS
from sqlanon.estimates.query.bind import (
    ROW,
    Plan,
    arguments_on,
    bucket_name,
    find_unfailing,
    join_lookups,
    kinds_of_numbers,
    leaf_name,
    parts_on,
    plan_of,
    relations_of,
    require_joins,
    written_parts,
)
from sqlanon.estimates.query.functions import Part, constants_of, is_ordered, require_evaluable, tried
from sqlanon.estimates.query.parse import Aggregate, AggregateQuery
from sqlanon.estimates.release_model import BucketedColumns, Generalized, ReleaseModel
from sqlanon.estimates.single.alike_buckets import WEIGHT, one_bucket_a_kind
from sqlanon.estimates.single.bucket_sums import BucketSums, DealtColumn, added_values
from sqlanon.estimates.single.combination import (
    CLASS,
    BucketDraws,
    bucket_column,
    bucket_of_row,
    bucketed_leaves,
    combination,
    component,
    require_few,
    require_linked,
    require_whole,
)
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, exists, is_not_null, is_null, union_all
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.build.sql_files import Relation, filled, filled_query, filled_select
from sqlanon.sql.classes.rows import class_label

# The fields of a label that has bounds.
_PARTS = ("shown", "low", "high")


@dataclass(frozen=True)
class Combinations:
    """The classes of released rows, combined with the leaves below their labels."""

    # The tables `combination` that estimate.sql reads, by whether the numbers in them are exact.
    tables: Mapping[bool, str]
    # The aggregates, whose numbers in the tables begin at 1; 0 counts the rows where another figure needs them.
    aggregates: tuple[Aggregate, ...]
    # The kinds of numbers of the rows and of each aggregate.
    kinds: Sequence[Number]
    # The number of columns that rows are grouped by.
    groups: int
    # What is known of sums over rows of buckets; None where no values of buckets were combined.
    sums: BucketSums | None
    # Whether rows may be in groups that nobody can list.
    open_groups: bool
    # Of each column whose values below a label are taken to be equally likely, whether the figures depend on that.
    uniform: Mapping[str, exp.Exists]


def combined(
    engine: Engine,
    query: AggregateQuery,
    release: ReleaseModel,
    lookups: Sequence[tuple[exp.Table, Sequence[str]]],
    temp: TempTables,
) -> Combinations:
    """Creates the tables of released rows combined with the leaves below their labels.

    `lookups` are the joined tables with their columns. Raises PolicyError, which names the part, for a part of the
    query that the release cannot answer.
    """
    if release.separate_tables or release.counterfeits is not None:
        require_linked(engine, release)
    evaluation = _evaluation(engine, plan_of(query, release, lookups), release, temp)
    plan, kinds = evaluation.plan, evaluation.kinds
    classes, values, alike = _classes_and_values(evaluation)
    _require_evaluable(engine, plan, ROW, subquery(evaluation.released, ROW), classes)
    of_labels = [part.signature(evaluation, classes) for part in evaluation.labelled]
    of_buckets = [part.signature(evaluation, classes, values[part.name]) for part in evaluation.bucketed]
    signatures = [(part.name, part.key, part.table) for part in (*of_labels, *of_buckets)]
    draws = sums = None
    if of_buckets:
        require_few(engine, classes, [(key, table) for _, key, table in signatures], len(plan.arguments))
        draws = BucketDraws(component(release, CLASS), [(part.name, part.key) for part in of_buckets])
        sums = _sums_of_buckets(evaluation, of_buckets, values, alike)
    tables: dict[bool, str] = {}
    # The rows that satisfy WHERE are counted by themselves where groups or the figures of an argument need them.
    numbered = list(enumerate(kinds))[0 if plan.groups or any(plan.arguments) else 1 :]
    for exact in (True, False):
        if chosen := {index: kind for index, kind in numbered if (kind.unit is not None) is exact}:
            tables[exact] = temp.table("combination", combination(plan, classes, signatures, draws, chosen))
    return Combinations(
        tables,
        query.aggregates,
        kinds,
        len(plan.groups),
        sums,
        any(part.open_groups for part in of_labels),
        {part.uniform[0]: part.uniform[1] for part in of_labels if part.uniform},
    )


@dataclass(frozen=True)
class _Evaluation:
    """The evaluation of a query on a release, with the published form of each column that the query reads."""

    engine: Engine
    temp: TempTables
    plan: Plan
    release: ReleaseModel
    # The rows of which classes are made, and the column that holds the number of rows for which each row counts, if
    # there is one.
    released: exp.Query
    weight: str | None
    labelled: Sequence[_LabelledColumn]
    bucketed: Sequence[_BucketedSet]
    # The kinds of numbers of the rows and of each aggregate.
    kinds: Sequence[Number]


def _evaluation(engine: Engine, plan: Plan, release: ReleaseModel, temp: TempTables) -> _Evaluation:
    """Finds how a release publishes a query's columns; raises PolicyError if the joined tables cannot be read."""
    binding = plan.factors.binding
    base = None if binding.base is None else release.bucketed[binding.base]
    released, weight = (release.rows, release.counted) if base is None else (base.values, WEIGHT)
    columns = {index: release.generalized[name] for name, index in binding.leaf_indexes.items()}
    needed = {*plan.factors.parts, *(argument[0] for argument in plan.arguments if argument)}
    bucketed = {index: part for index, part in enumerate(release.bucketed) if bucket_name(index) in needed}
    relations = relations_of(released, bucketed, columns)
    kinds = kinds_of_numbers(engine, plan, relations)
    require_joins(engine, plan, relations)
    find_unfailing(engine, plan, relations)
    labelled = [_LabelledColumn(index, generalized) for index, generalized in columns.items()]
    sets = [_BucketedSet(index, part, bucket_column(release, index)) for index, part in bucketed.items()]
    return _Evaluation(engine, temp, plan, release, released, weight, labelled, sets, kinds)


def _sums_of_buckets(
    evaluation: _Evaluation, signatures: Sequence[_Signature], values: Mapping[str, exp.Query], alike: str | None
) -> BucketSums:
    plan, kinds = evaluation.plan, evaluation.kinds
    sets = [DealtColumn(part.name, position, values[part.name], part.table) for position, part in enumerate(signatures)]
    positions = {part.name: part.position for part in sets}
    return BucketSums(
        {number: positions[part[0]] for number, part in enumerate(plan.arguments) if part and part[0] in positions},
        {exact: added_values(plan, sets, kinds, exact) for exact in (True, False)},
        alike,
        evaluation.release.linked,
        bool(evaluation.labelled),
        len(sets),
    )


def _classes_and_values(evaluation: _Evaluation) -> tuple[str, Mapping[str, exp.Query], str | None]:
    """Creates the table of the classes, and evaluates the values of each set of bucketed columns.

    The third part is the table with one bucket of each kind of equal buckets, None if each bucket is kept.
    """
    columns = {part.index: part.generalized for part in evaluation.labelled}
    buckets = {part.bucket: bucket_of_row(part.columns, ROW) for part in evaluation.bucketed}
    labelled = _labelled_rows(evaluation.plan, buckets, columns, evaluation.released, evaluation.weight)
    rows: exp.Query = labelled
    alike = None
    values = {part.name: part.evaluated(evaluation) for part in evaluation.bucketed}
    if values and not evaluation.release.separate_tables:
        bucket = evaluation.bucketed[0].bucket
        rows, values, alike = one_bucket_a_kind(evaluation.engine, bucket, labelled, values, evaluation.temp)
    return evaluation.temp.table(CLASS, _classes(rows, labelled.named_selects, columns)), values, alike


@dataclass(frozen=True)
class _Signature:
    """The signatures of a relation: leaves of a column, or values of buckets, that are equal for the query have one
    signature.

    `name` is the relation, `table` the table of the signatures, and `key` the column of the classes by which it is
    joined.
    """

    name: str
    key: exp.Column
    table: str
    # Whether rows may be in groups that nobody can list.
    open_groups: bool = False
    # The column whose values below a label are taken to be equally likely, and whether the figures depend on that.
    uniform: tuple[str, exp.Exists] | None = None


@dataclass(frozen=True)
class _LabelledColumn:
    """A column that the release shows by labels, whose leaves are values or pieces of an axis."""

    index: int
    generalized: Generalized

    @property
    def name(self) -> str:
        return leaf_name(self.index)

    def signature(self, evaluation: _Evaluation, classes: str) -> _Signature:
        """Creates the signatures of the leaves; raises PolicyError for a part of the query that fails for a value."""
        temp, plan, name = evaluation.temp, evaluation.plan, self.name
        below = leaves(temp, self.generalized, _column_use(plan, self.index, self.generalized, classes))
        values = _of_values(plan, name, relation(below.table, as_=name))
        # A piece stands for many values: what fails for one of them may hold for others.
        require_evaluable(evaluation.engine, values, written_parts(plan, name), only_if_all=below.each)
        table = temp.table("signature", _signature(plan, name, below, evaluation.kinds))
        is_open = below.unlisted is not None and any(group.table == name for group in plan.groups)
        is_uniform = self.generalized.marginal is None
        uniform = (self.generalized.column, divided(plan, name, table)) if is_uniform else None
        return _Signature(name, column(f"label_{self.index}", CLASS), table, is_open, uniform)


@dataclass(frozen=True)
class _BucketedSet:
    """A set of bucketed columns that the query reads; `bucket` is the column of the classes that holds the bucket."""

    index: int
    columns: BucketedColumns
    bucket: str

    @property
    def name(self) -> str:
        return bucket_name(self.index)

    def evaluated(self, evaluation: _Evaluation) -> exp.Query:
        """Returns the values of each bucket with the query's parts that read them."""
        return evaluated(evaluation.plan, self.name, self._leaves(), evaluation.kinds)

    def signature(self, evaluation: _Evaluation, classes: str, values: exp.Query) -> _Signature:
        """Creates the signatures of the evaluated values; raises PolicyError if buckets and rows do not match."""
        engine, plan, release = evaluation.engine, evaluation.plan, evaluation.release
        below = evaluation.temp.table("leaf", grouped(plan, self.name, values, evaluation.kinds))
        if not release.separate_tables and release.counterfeits is None:
            require_whole(engine, release.name, classes, below)
        table = evaluation.temp.table("signature", shares(plan, self.name, below))
        _require_evaluable(engine, plan, self.name, self._leaves(), table)
        return _Signature(self.name, column(self.bucket, CLASS), table)

    def _leaves(self) -> exp.Subquery:
        return subquery(bucketed_leaves(self.columns), self.name)


def _require_evaluable(engine: Engine, plan: Plan, name: str, rows: exp.Expr, table: str) -> None:
    """Raises PolicyError for a part that fails for values that occur. Such a part is NULL in the table."""
    parts: list[tuple[str, Part]] = list(zip(plan.factors.parts.get(name, {}), written_parts(plan, name), strict=True))
    if not parts:
        return
    nulls = [f.bool_or(is_null(column(part_name))) for part_name, _ in parts]
    text = "SELECT {nulls} FROM part"
    has_nulls = engine.rows(filled_query(text, tables={"part": table}, names={"nulls": nulls}))[0]
    doubtful = [part for (_, part), null in zip(parts, has_nulls, strict=True) if null]
    require_evaluable(engine, join_lookups(select(of=rows), plan, name), doubtful)


def _of_values(plan: Plan, name: str, values: exp.Expr) -> exp.Select:
    """Returns a SELECT without columns FROM leaves, named `name`, joined with the lookup tables.

    A leaf that represents several values has NULL in place of a value, and is left out.
    """
    known = is_not_null(column("value", name))
    return join_lookups(select(of=values), plan, name).where(known)


def _labelled_rows(
    plan: Plan,
    buckets: Mapping[str, exp.Expr],
    columns: dict[int, Generalized],
    released: exp.Query,
    weight: str | None,
) -> exp.Select:
    """SELECT of a row for each released row: the label of each column, and the value of each part and argument of the
    query.

    The weight of the row is added if `weight` names a column.
    """
    rows = join_lookups(select(of=subquery(released, ROW)), plan, ROW)
    for index, generalized in columns.items():
        extend(rows, alias(label_of(generalized), f"label_{index}"))
    extend(rows, *(alias(bucket, name) for name, bucket in buckets.items()), *parts_on(plan, ROW))
    extend(rows, *(alias(tried(value), f"value_{index}") for index, _, value in arguments_on(plan, ROW)))
    if not rows.selects:
        extend(rows, alias(literal(0), "nothing"))
    return rows if weight is None else extend(rows, alias(column(weight, ROW), WEIGHT))


def _classes(rows: exp.Query, names: Sequence[str], columns: dict[int, Generalized]) -> exp.Query:
    """Returns the distinct rows: id, label_i, parts, arguments and n, the number of equal released rows.

    A row counts as many times as its weight.
    """
    count = filled("CAST(sum(weight) AS BIGINT)" if WEIGHT in rows.named_selects else "count(*)")
    texts = [alias(text_of(generalized, column(f"label_{i}")), f"text_{i}") for i, generalized in columns.items()]
    return filled_query(
        "SELECT row_number() OVER () AS id, *, {texts} "
        "FROM (SELECT {names}, $count AS n FROM labelled GROUP BY {names}) AS counted",
        tables={"labelled": rows},
        names={"texts": texts, "names": [name for name in names if name != WEIGHT]},
        count=count,
    )


def label_of(generalized: Generalized) -> exp.Expr:
    """Returns the expression over the released rows that identifies a column's label."""
    keys = [column(key, ROW) for key in generalized.keys]
    return keys[0] if len(keys) == 1 else class_label(dict(zip(_PARTS, keys, strict=True)))


def text_of(generalized: Generalized, label: exp.Expr) -> exp.Expr:
    """Converts a label of `label_of` to a text."""
    if len(generalized.keys) > 1:
        label = f.call("struct_extract", label, literal(_PARTS[0]))
    return as_text(label)


def _column_use(plan: Plan, index: int, generalized: Generalized, classes: str) -> ColumnUse:
    name = leaf_name(index)
    constants, why = _constants(plan, name)
    binding = plan.factors.binding
    keys = [
        (plan.lookups[p], lookup.key)
        for p, lookup in enumerate(binding.query.lookups)
        if binding.owners[p] == name and _reads(binding.bound(lookup.on), name)
    ]
    labels = filled_query(
        "SELECT {label} AS label, {text} AS shown, sum(n) AS n FROM class GROUP BY {label}, {text}",
        tables={"class": classes},
        names={"label": f"label_{index}", "text": f"text_{index}"},
    )
    return ColumnUse(labels, constants, keys, why is not None, _query_text(why, generalized) if why is not None else "")


def _constants(plan: Plan, name: str) -> tuple[list[exp.Expr], exp.Expr | None]:
    """Returns the constants with which a relation's leaves are compared, and a part that needs each value, if there is
    one.

    Groups need each value, and so do conditions that change between constants and calculated arguments.
    """
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
    return constants, why


def _reads(tree: exp.Expr, name: str) -> bool:
    return any(part.table == name for part in tree.find_all(exp.Column))


def _query_text(tree: exp.Expr, generalized: Generalized) -> str:
    """Returns a part of the query as text, with the column names that the user wrote."""

    def renamed(node: exp.Expr) -> exp.Expr:
        return column(generalized.column) if isinstance(node, exp.Column) and node.name == "value" else node

    plain = tree.copy().transform(renamed)
    while isinstance(plain, exp.Cast | exp.Paren):
        plain = plain.this
    return plain.sql(dialect="duckdb")


def _signature(plan: Plan, name: str, column_leaves: Leaves, kinds: Sequence[Number]) -> exp.Query:
    """Returns the signatures of the leaves below each label, with their shares and the moments of their values."""
    evaluated_leaves: exp.Query = evaluated(
        plan, name, relation(column_leaves.table, as_=name), kinds, pieces=not column_leaves.each
    )
    if column_leaves.unlisted is not None:
        groups = {group.name for group in plan.groups if group.table == name}
        numbers = [index for index, *_ in arguments_on(plan, name)]
        names = list(plan.factors.parts.get(name, {}))
        evaluated_leaves = union_all([evaluated_leaves, unlisted_rows(column_leaves.unlisted, names, groups, numbers)])
    return shares(plan, name, grouped(plan, name, evaluated_leaves, kinds))


# Signatures: the leaves below a label, or the values of a bucket, for which all parts of a query are equal.


def evaluated(plan: Plan, name: str, leaf: exp.Expr, kinds: Sequence[Number], *, pieces: bool = False) -> exp.Select:
    """Returns label, weight, parts and moments of each leaf of a relation; leaves may be `pieces` of an axis."""
    rows = join_lookups(select(of=leaf), plan, name)
    extend(rows, column("label", name), column(WEIGHT, name), alias(exp.true(), LISTED), *parts_on(plan, name))
    for index, _, argument in arguments_on(plan, name):
        is_piece = pieces and isinstance(argument, exp.Column) and argument.table == name
        extend(rows, *leaf_moments(tried(argument), index, name, is_piece, kinds[index]))
    return rows


def grouped(plan: Plan, name: str, leaves: exp.Query, kinds: Sequence[Number]) -> exp.Select:
    """Groups leaves by label and the query's parts; returns label, parts, weight and moments of each group."""
    moments = [moment for index, *_ in arguments_on(plan, name) for moment in moments_of(index, kinds[index])]
    return filled_select(
        "SELECT label, listed, {parts}, CASE WHEN count(*) = count(weight) THEN sum(weight) END AS weight, {moments} "
        "FROM leaf GROUP BY label, listed, {parts}",
        tables={"leaf": leaves},
        names={"parts": list(plan.factors.parts.get(name, {})), "moments": moments},
    )


def shares(plan: Plan, name: str, grouped: Relation) -> exp.Query:
    """Numbers the rows of `grouped` as signatures, with their shares of the leaves below the label."""
    moments = [f"{moment}_{index}" for index, *_ in arguments_on(plan, name) for moment in MOMENTS]
    return filled_query(
        "SELECT label, listed, {parts}, weight, $share AS share, row_number() OVER () AS signature, {below}, {moments} "
        "FROM grouped",
        tables={"grouped": grouped},
        names={"parts": list(plan.factors.parts.get(name, {})), "below": below_label(), "moments": moments},
        share=share(),
    )


def divided(plan: Plan, name: str, signature: str) -> exp.Exists:
    """The SQL condition that figures depend on the likelihood of the leaves below one label.

    They do if only some of the leaves satisfy the query, or if their values differ. `signature` is the table of a
    column's signatures. A share of 0 counts, too: a single value within a range of real numbers has no width, so
    whether rows have it depends on the assumption.
    """
    differ = [
        filled("{least} <> {greatest}", names={end: f"{end}_{index}" for end in ("least", "greatest")})
        for index, *_ in arguments_on(plan, name)
    ]
    text = "SELECT 1 FROM signature WHERE $differ"
    return exists(filled_query(text, tables={"signature": signature}, differ=exp.or_(filled("share < 1"), *differ)))
