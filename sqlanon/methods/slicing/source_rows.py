"""The rows of the source themselves in their buckets, where they lie on another engine than the cells.

In DuckDB what is published is read off the cells, or found by the numbers of rows. Rows in many parts have no numbers,
and as many as those of a source are not to be made of cells: they keep their values, and are joined with the regions.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import big, identical, infix, paren, same
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.cells.labels import published_value


def value_name(index: int) -> str:
    """The column with a row's value of the published attribute at this index."""
    return f"value_{index}"


def _names(policy: BoundPolicy) -> list[str]:
    return [value_name(index) for index in range(len(policy.published))]


def _values(policy: BoundPolicy) -> list[exp.Alias]:
    named = zip(_names(policy), policy.published, strict=True)
    return [alias(published_value(bound, "source"), name) for name, bound in named]


def rows_in_regions(policy: BoundPolicy, regions: str) -> exp.Select:
    """region, value_0, ...: the rows of the source by region; `regions` is a table of `region_labels.region_map`."""
    query = exp.select(column("region", "row_region"), *_values(policy))
    query.from_(relation(policy.relation, as_="source"), copy=False)
    alike = [
        identical(published_value(bound, "source"), column(value_name(index), "row_region"))
        for index, bound in enumerate(policy.quasi_identifiers)
    ]
    on, kind = (exp.and_(*alike), "") if alike else (None, "CROSS")
    return query.join(relation(regions, as_="row_region"), on=on, join_type=kind, copy=False)


def drawn_rows(policy: BoundPolicy, draw: str) -> exp.Select:
    """draw, value_0, ...: the rows of the source, each with a draw."""
    query = exp.select(alias(f.call(draw, 0), "draw"), *_values(policy))
    return query.from_(relation(policy.relation, as_="source"), copy=False)


def rows_in_slots(policy: BoundPolicy, numbered: exp.Select, slots: int) -> exp.Select:
    """slot, value_0, ...: the rows dealt out to so many slots by their `number`, which begins with 1."""
    slot = paren(infix(column("number"), "-", 1)) % literal(slots)
    query = exp.select(alias(big(slot), "slot"), *map(column, _names(policy)))
    return query.from_(numbered.subquery("numbered", copy=False), copy=False)


def rows_of_slots(policy: BoundPolicy, rows: str, slots: str) -> exp.Select:
    """region, value_0, ...: the rows of `rows_in_slots` by the regions of their slots."""
    query = exp.select(column("region", "slot"), *(column(name, "row") for name in _names(policy)))
    query.from_(relation(rows, as_="row"), copy=False)
    return query.join(relation(slots, as_="slot"), on=same("slot", "row", "slot"), copy=False)


def drawn_regions(points: str, draw: str) -> exp.Select:
    """region, rows, draw: the regions of the rows, each with a draw."""
    counted = exp.select(column("region"), alias(f.count(), "rows")).from_(relation(points))
    counted.group_by(column("region"), copy=False)
    query = exp.select(column("region"), column("rows"), alias(f.call(draw, 0), "draw"))
    return query.from_(counted.subquery("counted", copy=False), copy=False)
