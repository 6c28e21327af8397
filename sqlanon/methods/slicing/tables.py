"""The tables of a sliced release: one for each column, with the bucket of each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import fold, same_name
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import Requirement, Role
from sqlanon.domain.release import Reading
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError, PrivacyViolation
from sqlanon.methods.shared.partition.points import other_name, rank_of
from sqlanon.methods.shared.partition.region_labels import region_labels
from sqlanon.methods.shared.partition.solve import Options as Cutting
from sqlanon.methods.shared.partition.solve import solve
from sqlanon.methods.shared.task import Task
from sqlanon.methods.slicing.feasibility import beside, value_name
from sqlanon.methods.slicing.options import each_apart, named_columns
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import and_, same, union_all
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery
from sqlanon.sql.build.sql_files import Relation, filled, filled_query, filled_select, query_file
from sqlanon.sql.cells.cells import rank_name
from sqlanon.sql.cells.labels import published_value
from sqlanon.sql.classes.buckets import BUCKET
from sqlanon.sql.questions.ask import bind_requirement
from sqlanon.sql.release.multi_table_query import PublishedColumn, PublishedTable, TablesQuery
from sqlanon.sql.release.recode import label_name

# Ranges for the quasi-identifiers of each column, with which each combination occurs at least k times in its table.
#
# Li, Li, Zhang and Molloy, Slicing: a new approach for privacy preserving data publishing (2012), section 4.2: Mondrian
# on each column alone, against attackers who ask whether somebody is in the source at all.


@dataclass(frozen=True)
class ColumnRegions:
    """The regions of one column: `table` has a row for each combination of ranks of its quasi-identifiers.

    For each attribute, by its index in `attributes`, it has the rank among all values (`rank_of`), or the value itself
    (`value_name`) if rows are on another engine, and the published range (`label_name`). There are `count` regions, of
    `smallest` to `largest` rows.
    """

    attributes: tuple[str, ...]
    table: str
    count: int
    smallest: int
    largest: int

    def __str__(self) -> str:
        sizes = f"{self.smallest:,}" if self.smallest == self.largest else f"{self.smallest:,} to {self.largest:,}"
        names = ", ".join(self.attributes)
        return f"({names}): {counted(self.count, 'combination')} of ranges, of {sizes} rows each"


def column_regions(
    task: Task, columns: Sequence[Sequence[str]], k: int, *, by_value: bool = False
) -> dict[int, ColumnRegions]:
    """Makes the regions of each column with a quasi-identifier, by the column's index; if `by_value`, they have values
    instead of ranks.

    The quasi-identifiers of a column are cut by Mondrian while both halves have k rows, independently of buckets.
    Raises PrivacyViolation if the source has rows, but fewer than k.
    """
    if 0 < task.encoded.rows < k:
        raise PrivacyViolation(
            f"column_k => {k} cannot be met: the source has {counted(task.encoded.rows, 'row')}; nothing was published",
            hint="ask for less",
        )
    quasi = {bound.column for bound in task.policy.quasi_identifiers}
    each = {index: tuple(name for name in names if name in quasi) for index, names in enumerate(columns)}
    return {index: _regions(task, names, k, by_value) for index, names in each.items() if names}


def _regions(task: Task, names: Sequence[str], k: int, by_value: bool) -> ColumnRegions:
    """The regions of these quasi-identifiers alone."""
    alone = _alone(task, names, k)
    partition = solve(alone, Cutting())
    labels = task.temp.table("labels", region_labels(alone.policy, partition, [None] * len(names)))
    ranks = [rank_of(index) for index in range(len(names))]
    combinations = select(column("region"), *map(column, ranks), of=relation(partition.points), distinct=True)
    query = select(of=subquery(combinations, "point"))
    for index, ranked in enumerate(alone.encoded.ranked):
        if not by_value:
            extend(query, column(ranks[index], "point"))
            continue
        of = f"of_{index}"
        extend(query, alias(column("value", of), value_name(index)))
        on = column(rank_name(0), of).eq(column(ranks[index], "point"))
        extend(query, joins=[inner_join(relation(ranked, as_=of), on)])
    extend(query, *(column(label_name(index), "label") for index in range(len(names))))
    extend(query, joins=[inner_join(relation(labels, as_="label"), same("region", "point", "label"))])
    table = task.temp.table("column_ranges", query)
    return ColumnRegions(tuple(names), table, partition.count, partition.smallest, partition.largest)


def _alone(task: Task, names: Sequence[str], k: int) -> Task:
    """Returns the task of cutting only these quasi-identifiers, in this order; its only requirement is k-anonymity."""
    indexes = {bound.column: index for index, bound in enumerate(task.policy.quasi_identifiers)}
    bounds = {bound.column: bound for bound in task.policy.quasi_identifiers}
    chosen = [indexes[name] for name in names]
    cells = task.encoded
    layout = replace(cells.layout, fields=tuple(cells.layout.fields[index] for index in chosen))
    return replace(
        task,
        policy=replace(task.policy, attributes=tuple(bounds[name] for name in names)),
        requirements=bind_requirement(Requirement("k_anonymity", (("k", k),))),
        cells=replace(cells, layout=layout, ranked=tuple(cells.ranked[index] for index in chosen)),
        watching=None,
    )


def least_repeated(
    engine: Engine, tables: Mapping[str, exp.Table | exp.Subquery], names: Mapping[str, Sequence[str]]
) -> int | None:
    """Counts the rows of the rarest combination in any of the tables. Returns None if there are no rows, or if no table
    has such a column.

    `names` has the columns of each table whose values are combined.
    """
    least: list[int] = []
    for name, table in tables.items():
        if not names[name]:
            continue
        keys = [column(part) for part in names[name]]
        rows = select(alias(f.count(), "n"), of=table, group_by=keys)
        ((smallest,),) = engine.rows(select(f.min(column("n")), of=subquery(rows, "combination")))
        least += [] if smallest is None else [int(smallest)]
    return min(least, default=None)


# The choice of slicing: columns of attributes, and a bucket for every row.


@dataclass(frozen=True)
class Sliced:
    """Slicing (Li, Li, Zhang and Molloy 2012): columns of attributes, and buckets of rows.

    `columns` are the sets of attributes that are published together; the last has the sensitive ones unless the user
    named them in another order. `points` is a temporary table of `partition.Points.carried` with the region of each row
    of the source, and `numbers` a temporary table of the regions' random bucket numbers (region, bucket). A point is
    one row if `single`, else `n` rows. If `by_number`, a point has only the number of its row; if `by_value`, it has
    the row's published values, named by `feasibility.value_name`. `ranges` has, by the index of a column, the ranges
    that replace its quasi-identifiers. There are `count` buckets of `smallest` to `largest` rows; `likeliest` is the
    greatest p(t,s), if it is measured. No row is suppressed. The loss does not count ranges; it is 0 if there are no
    ranges.
    """

    columns: tuple[tuple[str, ...], ...]
    points: str
    numbers: str
    count: int
    smallest: int
    largest: int
    rows: int
    single: bool
    by_number: bool = False
    by_value: bool = False
    likeliest: float | None = None
    reasons: tuple[tuple[str, str], ...] = ()
    ranges: Mapping[int, ColumnRegions] = field(default_factory=dict)
    loss: Fraction = Fraction(0)
    suppressed: int = 0
    loss_name: str = "granularity_loss"

    @property
    def searched(self) -> None:
        """Returns None, because the method does not search."""
        return


_BUCKET_COLUMN = PublishedColumn(BUCKET, Role.QUASI_IDENTIFIER, Reading.BUCKET)


def table_names(columns: Sequence[Sequence[str]]) -> list[str]:
    """Returns the suffixes of the release's table names, which are numbers from 1."""
    return [str(number) for number in range(1, len(columns) + 1)]


def carried_columns(policy: BoundPolicy) -> tuple[BoundAttribute, ...]:
    """The published attributes other than quasi-identifiers, whose values have codes in the cells."""
    return tuple(bound for bound in policy.published if bound.role is not Role.QUASI_IDENTIFIER)


def coded_columns(task: Task, *, matched: bool) -> tuple[BoundAttribute, ...]:
    """Returns the `carried_columns` whose codes are needed for rows that keep their values.

    These are all columns if columns must be found or rows are `matched`, otherwise the columns that share a published
    column with a sensitive attribute.
    """
    policy = task.policy
    if matched or not (task.columns or task.each_apart):
        return carried_columns(policy)
    columns = each_apart(policy) if task.each_apart else named_columns(policy, task.columns)
    read = {name for names in beside(policy, columns).values() for name in names}
    return tuple(b for b in carried_columns(policy) if b.role is Role.SENSITIVE or b.column in read)


def require_names(policy: BoundPolicy, *, by_number: bool) -> None:
    """Raises PolicyError if an attribute is named like the bucket's column.

    If rows are found `by_number`, it also raises PolicyError if a column of the source is named like the row number.
    """
    names = [*(bound.column for bound in policy.attributes), *policy.unpublished]
    if by_number and any(same_name(name, "rowid") for name in names):
        source = policy.policy.source.called
        raise PolicyError(
            f"slicing numbers rows where there are so many columns, and {source} has a column rowid of its own",
            hint="rename it in a query, ON (SELECT rowid AS number, ...)",
        )
    if any(fold(bound.column) == BUCKET for bound in policy.published):
        raise PolicyError(
            f"slicing adds a column {BUCKET}, and {policy.policy} has one of that name already",
            hint="rename it in a query, ON (SELECT bucket AS pail, ...)",
        )


def sliced(task: Task, choice: Sliced, release_id: str) -> TablesQuery:
    """The SELECT of a table for each column (Slicing, section 2): the number of the bucket, and the column's
    attributes.
    """
    tables = tuple(
        _table(task, choice, name, attributes)
        for name, attributes in zip(table_names(choice.columns), choice.columns, strict=True)
    )
    return TablesQuery(task.policy, release_id, tables)


def _table(task: Task, choice: Sliced, name: str, attributes: Sequence[str]) -> PublishedTable:
    """The table of one column, sorted by bucket, whose numbers are random; the order within a bucket is random, too."""
    policy = task.policy
    bounds = {bound.column: bound for bound in policy.published}
    if choice.by_value:
        query = _by_value(policy, choice, attributes)
    elif choice.by_number:
        query = _by_number(policy, choice, attributes)
    else:
        query = _by_code(task, choice, attributes)
    columns = [_BUCKET_COLUMN]
    for bound in map(bounds.__getitem__, attributes):
        # Only the bucket shows which rows belong together; the quasi-identifiers are values like others.
        is_quasi = bound.role is Role.QUASI_IDENTIFIER
        reading = Reading.BUCKET_RANGE if choice.ranges and is_quasi else Reading.BUCKET_VALUE
        columns.append(PublishedColumn(bound.column, Role.INSENSITIVE if is_quasi else bound.role, reading, bound))
    return PublishedTable(name, tuple(columns), query, by=BUCKET)


def _by_number(policy: BoundPolicy, choice: Sliced, attributes: Sequence[str]) -> exp.Select:
    """SELECT of the bucket and the attributes of each row of the source, found by its number."""
    bounds = {bound.column: bound for bound in policy.published}
    text = """
        SELECT number.bucket AS bucket, $values AS "{names}" FROM source
        JOIN points AS point ON source.rowid = point.row
        JOIN numbers AS number ON point.region = number.region
    """
    tables: dict[str, Relation] = {"source": relation(policy.relation)}
    tables |= {"points": choice.points, "numbers": choice.numbers}
    values = [published_value(bounds[name], "source") for name in attributes]
    return filled_select(text, tables=tables, names={"names": attributes}, values=values)


def _in_buckets(choice: Sliced, points: exp.Table | exp.Subquery) -> exp.Select:
    """SELECT of the bucket number of each of the points, which replaces the number of their region."""
    text = """
        SELECT number.bucket AS bucket FROM point JOIN numbers AS number ON point.region = number.region
    """
    return filled_select(text, tables={"point": points, "numbers": choice.numbers})


def _by_value(policy: BoundPolicy, choice: Sliced, attributes: Sequence[str]) -> exp.Select:
    """SELECT of the bucket and the attributes, or their ranges, of each row that keeps its values."""
    indexes = {bound.column: index for index, bound in enumerate(policy.published)}
    ranges = choice.ranges.get(choice.columns.index(tuple(attributes)))
    ranged = ranges.attributes if ranges else ()
    published = [
        column(label_name(ranged.index(name)), "range")
        if name in ranged
        else column(value_name(indexes[name]), "point")
        for name in attributes
    ]
    text = """
        SELECT number.bucket AS bucket, {published} AS "{names}" FROM points AS point
        JOIN numbers AS number ON point.region = number.region
        JOIN "{ranges}" AS "{range}" ON $same
    """
    same = filled(
        "{point.values} IS NOT DISTINCT FROM {range.ranged}",
        names={
            "values": [value_name(indexes[name]) for name in ranged],
            "ranged": [value_name(index) for index in range(len(ranged))],
        },
    )
    return filled_select(
        text,
        tables={"points": choice.points, "numbers": choice.numbers},
        names={
            **{"published": published, "names": attributes},
            **{"ranges": [ranges.table] if ranges else [], "range": ["range"] if ranges else []},
        },
        same=[same] if ranges else [],
    )


def _by_code(task: Task, choice: Sliced, attributes: Sequence[str]) -> exp.Select:
    """SELECT of the bucket and the attributes of each row, from the ranks and codes that points have."""
    policy, cells = task.policy, task.encoded
    quasi = {bound.column: index for index, bound in enumerate(policy.quasi_identifiers)}
    others = {bound.column: index for index, bound in enumerate(carried_columns(policy))}
    query = _in_buckets(choice, _rows(choice))
    ranges = choice.ranges.get(choice.columns.index(tuple(attributes)))
    if ranges:
        ranked = enumerate(ranges.attributes)
        on = [column(rank_of(index), "range").eq(column(rank_of(quasi[name]), "point")) for index, name in ranked]
        extend(query, joins=[inner_join(relation(ranges.table, as_="range"), and_(*on))])
    for index, attribute in enumerate(attributes):
        of = f"value_{index}"
        if ranges and attribute in quasi:
            extend(query, alias(column(label_name(ranges.attributes.index(attribute)), "range"), attribute))
            continue
        if attribute in quasi:
            table, code = cells.ranked[quasi[attribute]], rank_of(quasi[attribute])
        else:
            table, code = cells.carried_values[cells.carried.index(attribute)], other_name(others[attribute])
        extend(query, alias(column("value", of), attribute))
        extend(query, joins=[inner_join(relation(table, as_=of), column(rank_name(0), of).eq(column(code, "point")))])
    return query


def _rows(choice: Sliced) -> exp.Table | exp.Subquery:
    """Returns the relation with a row for each row of the source: its region, its ranks and its codes."""
    if choice.single:
        return relation(choice.points, as_="point")
    copies = filled_query("SELECT *, unnest(range(n)) AS copy FROM points", tables={"points": relation(choice.points)})
    return subquery(copies, "point")


def unequal(tables: Sequence[exp.Table | exp.Subquery]) -> exp.Query:
    """SELECT of one number: the buckets whose number of rows in some table differs from their number of rows in the
    first table.

    A bucket NULL always counts.
    """
    rows = "SELECT bucket, $index AS table_index, count(*) AS n FROM table_rows GROUP BY bucket"
    each = [filled_query(rows, tables={"table_rows": table}, index=index) for index, table in enumerate(tables)]
    return query_file("slicing", "unequal", tables={"counted": union_all(each)}, count=len(tables))
