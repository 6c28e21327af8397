"""The labels of a stored hierarchy at one level, as a script carries them.

A script has to hold them itself, so they are read, row by row, into its text.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.export.warehouses.listed_tables import ListedTable
from sqlanon.export.warehouses.sizes import sizes
from sqlanon.sql.build.expressions import as_text, ascending
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.cells.labels import level_name, listed_values
from sqlanon.sql.release.recode import Recoding


@dataclass(frozen=True)
class Mapping:
    """The values that a hierarchy lists, as texts, each with its label; the labels are None at level 0.

    A value that stands in none of them is withheld. NULL always stands in one.
    """

    hierarchy: str
    level: int
    rows: tuple[tuple[str | None, str | None], ...]


def mapping_name(index: int) -> str:
    """The table with the labels of the quasi-identifier at an index, where a hierarchy lists them."""
    return f"label_of_{index}"


def listed_labels(index: int, bound: BoundAttribute, mapping: Mapping) -> ListedTable:
    """The values, and their labels if the level has any, as a table of the script."""
    columns = (("value", bound.published_type), ("label", "VARCHAR"))
    # Labels of level 0 are the values.
    width = 2 if mapping.level else 1
    said = f"The labels of {bound.column} at level {mapping.level} of the hierarchy {mapping.hierarchy}."
    return ListedTable(mapping_name(index), said, columns[:width], tuple(row[:width] for row in mapping.rows))


def mapping_of(engine: Engine, recoding: Recoding) -> Mapping:
    """The labels of a quasi-identifier at its level.

    Raises PolicyError where they are more than a script may have.
    """
    bound, level = recoding.bound, recoding.level
    assert bound.hierarchy is not None
    listed = listed_values(bound, relation(("anon", "hierarchy_value"))).subquery("listed")
    label = column(level_name(level), "listed") if level else exp.Null()
    query = exp.select(alias(as_text(column("value", "listed")), "value"), alias(label, "label")).from_(listed)
    query = query.order_by(ascending(column("value"))).limit(sizes().mapped_values + 1)
    rows = tuple((value, label) for value, label in engine.rows(query))
    if len(rows) > sizes().mapped_values:
        raise PolicyError(
            f"the hierarchy {bound.hierarchy.name} lists more than {sizes().mapped_values:,} values, too many for a "
            "script",
            hint="use a kind of hierarchy that computes its labels, such as PREFIXES or INTERVALS",
        )
    if all(value is not None for value, _ in rows):
        # NULL stays a value of its own where the hierarchy does not list it.
        rows = (*rows, (None, None))
    return Mapping(bound.hierarchy.name, level, rows)
