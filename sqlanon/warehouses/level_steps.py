"""The steps from the source to rows with the labels of their levels."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.hierarchies.base import functional
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import as_text, ascending, identical, order_by, same, window
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.release.recode import Recoding
from sqlanon.warehouses.mappings import mapping_name
from sqlanon.warehouses.plan import ReleasePlan
from sqlanon.warehouses.row_columns import ENTITY, candidate_entity, other_columns, passing
from sqlanon.warehouses.script_step import SOURCE, ScriptStep

__all__ = ["level_candidate", "level_steps"]

_RECODED, _CLASS = "recoded", "label_class"
# The step of the rows with their classes.
_CLASSIFIED = "classified"


def level_steps(plan: ReleasePlan) -> list[ScriptStep]:
    """From `source` to `classified`: each row with its labels and its class."""
    return [_recoded(plan), *_classes(plan.recodings)]


def _read(plan: ReleasePlan) -> list[tuple[int, Recoding]]:
    return [(i, recoding) for i, recoding in enumerate(plan.recodings) if recoding.is_read]


def _recoded(plan: ReleasePlan) -> ScriptStep:
    query = exp.select().from_(relation(SOURCE, as_="source"))
    about: list[str] = []
    for index, recoding in _read(plan):
        bound, value = recoding.bound, column(recoding.bound.column, "source")
        query.select(alias(_label(plan, query, index, recoding), f"label_{index}"), copy=False)
        said = f" of the hierarchy {bound.hierarchy.name}" if bound.hierarchy else ""
        about.append(f"label_{index}: {bound.column} at level {recoding.level} of {bound.height}{said}")
        if index in plan.mappings:
            on = identical(value, column("value", mapping_name(index)))
            query.join(relation(mapping_name(index)), on=on, copy=False)
    about += other_columns(plan, query)
    comment = "Each row with its labels."
    if plan.mappings:
        comment += " A row with a value that a hierarchy does not list has none, and is withheld."
    return ScriptStep(_RECODED, query, comment, tuple(about))


def _label(plan: ReleasePlan, query: exp.Select, index: int, recoding: Recoding) -> exp.Expr:
    bound, value = recoding.bound, column(recoding.bound.column, "source")
    if recoding.level == 0:
        return value
    if index in plan.mappings:
        return column("label", mapping_name(index))
    assert bound.hierarchy is not None
    return functional(bound.hierarchy.kind).labels(bound.hierarchy, value, bound.published_type)[recoding.level - 1]


def _classes(recodings: Sequence[Recoding]) -> list[ScriptStep]:
    """The classes, numbered, and each row with the number of its class."""
    labels = [f"label_{i}" for i, recoding in enumerate(recodings) if recoding.is_read]
    if not labels:
        single = exp.select(exp.Star(), alias(literal(1), "class_id")).from_(relation(_RECODED))
        return [ScriptStep(_CLASSIFIED, single, "Nothing tells the rows apart: they are one class.")]
    number = window(f.row_number(), order=order_by(*(ascending(column(name)) for name in labels)))
    classes = exp.select(*map(column, labels), alias(number, "class_id")).from_(relation(_RECODED))
    rows = exp.select(exp.Column(this=exp.Star(), table=exp.to_identifier("recoded", quoted=True)))
    rows = rows.select(column("class_id", "class")).from_(relation(_RECODED, as_="recoded"))
    on = exp.and_(*(identical(column(name, "recoded"), column(name, "class")) for name in labels))
    return [
        ScriptStep(
            _CLASS, classes.group_by(*map(column, labels)), "The classes: rows that agree in all labels, NULL included."
        ),
        ScriptStep(_CLASSIFIED, rows.join(relation(_CLASS, as_="class"), on=on), "Each row with its class."),
    ]


def level_candidate(plan: ReleasePlan) -> exp.Select:
    """The rows of the classes that are kept, with what is published of them."""
    outputs: list[exp.Expr] = []
    others = {bound.column: index for index, bound in passing(plan)}
    quasi = {r.bound.column: (i, r) for i, r in enumerate(plan.recodings)}
    for bound in plan.bound.published:
        if bound.column in others:
            value: exp.Expr = column(f"column_{others[bound.column]}", "classified")
        else:
            index, recoding = quasi[bound.column]
            value = column(f"label_{index}", "classified") if recoding.is_read else as_text(literal("*"))
        outputs.append(alias(value, bound.column))
    if entity := candidate_entity(plan):
        outputs.append(alias(column(ENTITY, "classified"), entity))
    query = exp.select(*outputs).from_(relation(_CLASSIFIED, as_="classified"))
    return query.join(relation("kept", as_="kept"), on=same("class_id", "classified", "kept"))
