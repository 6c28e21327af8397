"""The tables of a script whose rows are in the script's text: labels of stored hierarchies, and regions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.catalog.releases import require_own_rows
from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.context import Adjustable
from sqlanon.domain.release import Release
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.portable import INFINITE
from sqlanon.errors import PolicyError, UserError
from sqlanon.export.warehouses.translation import Dialect
from sqlanon.methods.registry import options_of
from sqlanon.release.existing.frozen_inputs import kept_names
from sqlanon.sql.build.expressions import as_text, ascending, cast, data_type, insert, row_alias
from sqlanon.sql.build.names import alias, column, identifier, literal, relation
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.cells.cells import rank_name
from sqlanon.sql.cells.labels import level_name, listed_values
from sqlanon.sql.cells.value_ranks import by_value
from sqlanon.sql.release.recode import ENDS, Placed, Recoding, box_name, high_name, label_name, low_name

# The limits of a script.


@dataclass(frozen=True)
class Sizes:
    """A script has at most `mapped_values` values of a hierarchy, and inserts `rows_together` values at once.

    It tries `bucket_sizes` sizes of buckets before a single bucket of all rows.
    """

    mapped_values: int = 50_000
    rows_together: int = 500
    bucket_sizes: int = 6


sizes = Adjustable(Sizes())


_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
_DAYS = ("DATE", "TIMESTAMP")


@dataclass(frozen=True)
class ListedTable:
    """A table of a script, and the sentence above it. The table has its columns with their types, and its rows as
    texts.

    If `of_values` is true, each row describes the value of the source in its first column. In a warehouse without
    infinite dates, the source cannot have such a value, and its row is left out.
    """

    name: str
    comment: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str | None, ...], ...]
    of_values: bool = True

    @property
    def listed_name(self) -> str:
        """The name of the table of the same rows with texts, before the texts are made comparable by their bytes."""
        return f"{self.name}_listed"


def filled(table: exp.Table, listed: ListedTable, dialect: Dialect) -> Iterator[exp.Expr]:
    """Yields statements that create a temporary table and insert the rows.

    Raises UserError for a value that the dialect does not have.
    """
    columns = [exp.ColumnDef(this=identifier(name), kind=data_type(kind)) for name, kind in listed.columns]
    temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
    schema = exp.Schema(this=table.copy(), expressions=columns)
    yield exp.Create(kind="TABLE", this=schema, properties=temporary, replace=dialect.replaces)
    rows, together = list(_tuples(listed, dialect)), sizes().rows_together
    for start in range(0, len(rows), together):
        yield insert(table, exp.Values(expressions=rows[start : start + together]))


def listed_rows(listed: ListedTable, dialect: Dialect) -> exp.Select:
    """Builds a query of the rows. Raises UserError for a value that the dialect does not have."""
    names = [name for name, _ in listed.columns]
    rows = list(_tuples(listed, dialect))
    none = exp.Tuple(expressions=[cast(exp.Null(), kind) for _, kind in listed.columns])
    values = exp.Values(expressions=rows or [none], alias=row_alias("listed", names))
    query = select(*map(column, names), of=values)
    return query if rows else query.where(literal(1).eq(literal(0)))


def typed_rows(table: exp.Table, listed: ListedTable, dialect: Dialect) -> exp.Select:
    """Builds a query of the rows in their types; texts are compared by their bytes."""
    parts = []
    for name, kind in listed.columns:
        value = dialect.by_bytes(column(name)) if kind == "VARCHAR" else cast(column(name), kind)
        parts.append(alias(value, name))
    return select(*parts, of=table)


def _tuples(listed: ListedTable, dialect: Dialect) -> Iterator[exp.Tuple]:
    for row in listed.rows:
        infinite = [
            value for value, (_, kind) in zip(row, listed.columns, strict=True) if kind in _DAYS and value in INFINITE
        ]
        if infinite and not dialect.has_infinite:
            if listed.of_values:
                continue
            raise UserError(
                f"{dialect.title} cannot make this release: a region ends at {infinite[0]}, which is not a date there"
            )
        values = [_literal(value, kind) for value, (_, kind) in zip(row, listed.columns, strict=True)]
        yield exp.Tuple(expressions=values)


def _literal(value: str | None, kind: str) -> exp.Expr:
    if value is None:
        return exp.Null()
    if kind in _WHOLE:
        return literal(int(value))
    if kind == "BOOLEAN":
        return literal(value == "true")
    return literal(value) if kind == "VARCHAR" else cast(literal(value), kind)


# The regions of a live view of METHOD mondrian, as a script has them.
#
# They are in tables beside the view. A script has their ranges and labels and, for columns in the order of a hierarchy,
# the rank of each value. It does not have the source's combinations of values: regions do not overlap, so their ranges
# are enough to place rows.


@dataclass(frozen=True)
class RegionMap:
    """Regions, and the tables of a script that contain them.

    `placed` has the names of the script's tables. `regions` is the table of the regions' labels and ranges, and `ranks`
    are the tables of the ranks of values, by the index of the quasi-identifier.
    """

    placed: Placed
    regions: ListedTable
    ranks: Mapping[int, ListedTable]

    @property
    def tables(self) -> tuple[ListedTable, ...]:
        return (self.regions, *self.ranks.values())


def unmade_regions(release: Release) -> tuple[str, str] | None:
    """Returns the reason why a script cannot place rows in a release's regions, and the alternative; None if it can."""
    if release.kind == "view":
        return None
    return (
        "a snapshot keeps no regions by which other rows could be placed",
        "compile a live view: CREATE ANONYMIZED VIEW of the same policy and method keeps them beside it",
    )


def regions_of(engine: Engine, release: Release, policy: BoundPolicy) -> RegionMap:
    """Returns the regions beside a live view.

    Raises CatalogError if they have changed since the view was made, and PolicyError if they are too many for a script.
    """
    require_own_rows(engine, release)
    options = options_of(release.method, release.method_arguments)
    ranked = [
        None if by_value(bound) else QualifiedName((f"rank_{i}",)) for i, bound in enumerate(policy.quasi_identifiers)
    ]
    nowhere = QualifiedName(("placement",))
    placed = Placed(
        QualifiedName(("region",)), nowhere, tuple(ranked), str(options["publish"]), bool(options["bounds"]), boxes=True
    )
    beside_view = kept_names(placed, release.release_id)
    columns = _region_columns(policy, placed)
    comment = (
        "The regions: what each shows of the quasi-identifiers, the ends of its ranges, and whether NULL is in them."
    )
    rows = _read(engine, release, beside_view.regions, columns, "regions")
    regions = ListedTable("region", comment, columns, rows, of_values=False)
    ranks: dict[int, ListedTable] = {}
    for index, bound in enumerate(policy.quasi_identifiers):
        table = beside_view.ranks[index]
        if table is None:
            continue
        ranks_columns = (("value", bound.published_type), (rank_name(0), "BIGINT"))
        values = _read(engine, release, table, ranks_columns, f"values of {bound.column}")
        comment = f"The values of {bound.column} in the order by which regions were cut."
        ranks[index] = ListedTable(f"rank_{index}", comment, ranks_columns, values)
    return RegionMap(placed, regions, ranks)


def _region_columns(policy: BoundPolicy, placed: Placed) -> tuple[tuple[str, str], ...]:
    """Returns the columns of the regions' table, with their types.

    The columns are numbers, classes, labels, and ends, which are values or, along a hierarchy, ranks.
    """
    columns = [("region", "BIGINT"), ("class", "BIGINT")]
    for index, bound in enumerate(policy.quasi_identifiers):
        columns.append((label_name(index), "VARCHAR"))
        if placed.bounds or placed.ranks[index] is None:
            columns += [(box_name(index, end), bound.published_type) for end in ENDS]
        if placed.ranks[index] is not None:
            columns += [(low_name(index), "BIGINT"), (high_name(index), "BIGINT")]
        columns.append((f"with_null_{index}", "BOOLEAN"))
    return tuple(columns)


def _read(
    engine: Engine, release: Release, table: QualifiedName, columns: tuple[tuple[str, str], ...], what: str
) -> tuple[tuple[str | None, ...], ...]:
    """Reads the rows of a table as texts, in the order of its column of numbers."""
    most = sizes().mapped_values
    by = columns[0][0] if columns[0][0] == "region" else columns[1][0]
    query = select(*(alias(as_text(column(name)), name) for name, _ in columns), of=relation(table))
    rows = tuple(map(tuple, engine.rows(extend(query, order_by=[ascending(column(by, table.name))], limit=most + 1))))
    if len(rows) > most:
        raise PolicyError(f"{release.name} has more than {most:,} {what}, too many for a script")
    return rows


# The labels of a stored hierarchy at one level, as a script has them.
#
# They are read, row by row, into the script's text.


@dataclass(frozen=True)
class LabelMapping:
    """The values that a hierarchy lists, as texts, each with its label; at level 0, the labels are None.

    Rows with an unlisted value are withheld. NULL always has a row.
    """

    hierarchy: str
    level: int
    rows: tuple[tuple[str | None, str | None], ...]


def mapping_name(index: int) -> str:
    """Returns the name of the table that lists the labels of the quasi-identifier at an index."""
    return f"label_of_{index}"


def listed_labels(index: int, bound: BoundAttribute, mapping: LabelMapping) -> ListedTable:
    """Returns a table of the script with the values, and with their labels unless the level is 0."""
    columns = (("value", bound.published_type), ("label", "VARCHAR"))
    # At level 0 the labels are the values.
    width = 2 if mapping.level else 1
    comment = f"The labels of {bound.column} at level {mapping.level} of the hierarchy {mapping.hierarchy}."
    return ListedTable(mapping_name(index), comment, columns[:width], tuple(row[:width] for row in mapping.rows))


def mapping_of(engine: Engine, recoding: Recoding) -> LabelMapping:
    """Returns the labels of a quasi-identifier at its level.

    Raises PolicyError if they are too many for a script.
    """
    bound, level = recoding.bound, recoding.level
    assert bound.hierarchy is not None
    listed = subquery(listed_values(bound, relation(("anon", "hierarchy_value"))), "listed")
    label = column(level_name(level), "listed") if level else exp.Null()
    query = select(alias(as_text(column("value", "listed")), "value"), alias(label, "label"), of=listed)
    query = extend(query, order_by=[ascending(column("value"))], limit=sizes().mapped_values + 1)
    rows = tuple((value, label) for value, label in engine.rows(query))
    if len(rows) > sizes().mapped_values:
        raise PolicyError(
            f"the hierarchy {bound.hierarchy.name} lists more than {sizes().mapped_values:,} values, too many for a "
            "script",
            hint="use a kind of hierarchy that computes its labels, such as PREFIXES or INTERVALS",
        )
    if all(value is not None for value, _ in rows):
        # NULL stays a value of its own if the hierarchy does not list it.
        rows = (*rows, (None, None))
    return LabelMapping(bound.hierarchy.name, level, rows)
