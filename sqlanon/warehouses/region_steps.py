"""The steps from the source to rows with the labels of their regions."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.sqlgen.build.expressions import same
from sqlanon.sqlgen.build.names import alias, column, relation
from sqlanon.sqlgen.release.region_rows import boxed, placed_rows
from sqlanon.sqlgen.release.release_columns import ReleaseColumns
from sqlanon.warehouses.plan import ReleasePlan
from sqlanon.warehouses.regions import RegionMap
from sqlanon.warehouses.row_columns import ENTITY, candidate_entity, other_columns
from sqlanon.warehouses.script_step import ScriptStep

__all__ = ["region_candidate", "region_steps"]

# The step of the rows with their classes.
_RECODED = "recoded"


def region_steps(plan: ReleasePlan, regions: RegionMap) -> list[ScriptStep]:
    """From `source` to `recoded`: each row that lies in a region, with its class and what the region shows."""
    quasi = plan.bound.quasi_identifiers
    values = [alias(column(bound.column), f"value_{index}") for index, bound in enumerate(quasi)]
    combinations = exp.select(*values).distinct().from_(relation("source"))
    about = [f"value_{index}: {bound.column}" for index, bound in enumerate(quasi)]
    placement = boxed(relation("combination", as_="unseen"), len(quasi), regions.placed)
    rows = placed_rows(plan.bound, regions.placed)
    said = [f"label_{index}: {bound.column}, as the row's region shows it" for index, bound in enumerate(quasi)]
    said += other_columns(plan, rows)
    return [
        ScriptStep("combination", combinations, "The combinations of quasi-identifiers, each once.", tuple(about)),
        ScriptStep("placement", placement, "Those that lie in the ranges of a region: the others are withheld."),
        ScriptStep(_RECODED, rows, "Each row of these with its class, by what its region shows.", tuple(said)),
    ]


def region_candidate(plan: ReleasePlan, regions: RegionMap) -> exp.Select:
    """The rows of the classes that are kept, with what is published of them."""
    query = exp.select(*ReleaseColumns(plan.bound, (), regions.placed, collated=False).outputs())
    if entity := candidate_entity(plan):
        query.select(alias(column(ENTITY, _RECODED), entity), copy=False)
    return query.from_(relation(_RECODED, as_=_RECODED)).join(
        relation("kept", as_="kept"), on=same("class_id", _RECODED, "kept")
    )
