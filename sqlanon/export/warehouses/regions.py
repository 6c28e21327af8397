"""The regions of a live view of METHOD mondrian, as a script carries them.

They lie in tables beside the view. A script has their ranges and what they show, and, of columns whose order is that of
a hierarchy, the rank of each value. It does not have the combinations of values that the source had: regions do not
overlap, so that their ranges say the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.catalog.digests import require_own_rows
from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.release import Release
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.export.warehouses.listed_tables import ListedTable
from sqlanon.export.warehouses.sizes import sizes
from sqlanon.methods.registry import options_of
from sqlanon.release.existing.kept_regions import kept_names
from sqlanon.sql.build.expressions import as_text, ascending
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.cells.cells import rank_name
from sqlanon.sql.cells.value_ranks import by_value
from sqlanon.sql.release.region_rows import ENDS, Placed, box_name, high_name, label_name, low_name


@dataclass(frozen=True)
class RegionMap:
    """Regions, with what a script brings of them.

    `placed` has the names of the script's own tables. `regions` is the one of what each region shows and of its ranges,
    `ranks` those of the ranks of values, by the index of the quasi-identifier.
    """

    placed: Placed
    regions: ListedTable
    ranks: Mapping[int, ListedTable]

    @property
    def tables(self) -> tuple[ListedTable, ...]:
        return (self.regions, *self.ranks.values())


def unmade_regions(release: Release) -> tuple[str, str] | None:
    """Why no script can place rows in the regions of a release, and what to do instead; None where one can."""
    if release.kind == "view":
        return None
    return (
        "a snapshot keeps no regions by which other rows could be placed",
        "compile a live view: CREATE ANONYMIZED VIEW of the same policy and method keeps them beside it",
    )


def regions_of(engine: Engine, release: Release, policy: BoundPolicy) -> RegionMap:
    """The regions that lie beside a live view.

    Raises CatalogError where they are not those that were written with it, and PolicyError where they are more than a
    script may have.
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
    said = "The regions: what each shows of the quasi-identifiers, the ends of its ranges, and whether NULL is in them."
    rows = _read(engine, release, beside_view.regions, columns, "regions")
    regions = ListedTable("region", said, columns, rows, of_values=False)
    ranks: dict[int, ListedTable] = {}
    for index, bound in enumerate(policy.quasi_identifiers):
        table = beside_view.ranks[index]
        if table is None:
            continue
        ranks_columns = (("value", bound.published_type), (rank_name(0), "BIGINT"))
        values = _read(engine, release, table, ranks_columns, f"values of {bound.column}")
        said = f"The values of {bound.column} in the order by which regions were cut."
        ranks[index] = ListedTable(f"rank_{index}", said, ranks_columns, values)
    return RegionMap(placed, regions, ranks)


def _region_columns(policy: BoundPolicy, placed: Placed) -> tuple[tuple[str, str], ...]:
    """What is read of regions: numbers, classes, labels, and ends as values or, along a hierarchy, as ranks."""
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
    """The rows of a table as texts, in the order of its numbers."""
    most = sizes().mapped_values
    by = columns[0][0] if columns[0][0] == "region" else columns[1][0]
    query = exp.select(*(alias(as_text(column(name)), name) for name, _ in columns)).from_(relation(table))
    rows = tuple(map(tuple, engine.rows(query.order_by(ascending(column(by, table.name))).limit(most + 1))))
    if len(rows) > most:
        raise PolicyError(f"{release.name} has more than {most:,} {what}, too many for a script")
    return rows
