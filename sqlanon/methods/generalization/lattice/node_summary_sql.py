"""Queries about nodes of the lattice: the classes that violate a requirement, and what such a class shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import as_text, huge, or_zero, union_all
from sqlanon.sqlgen.build.names import alias, column, identifier, literal, relation
from sqlanon.sqlgen.build.steps import Step, with_steps
from sqlanon.sqlgen.cells.cells import rank_name
from sqlanon.sqlgen.cells.key_layout import Field
from sqlanon.sqlgen.cells.labels import generalized, level_name, stored_labels

__all__ = ["Key", "class_label", "violated_classes"]

# A word of the key that a class_id is: (class_id, word) to an expression.
Key = Callable[[exp.Expr, int], exp.Expr]


def _total(part: exp.Expr) -> exp.Expr:
    return huge(or_zero(f.sum(part)))


def violated_classes(
    steps: Sequence[Step], violating: Sequence[exp.Query], index: Callable[[exp.Expr], exp.Expr], key: Key, words: int
) -> exp.Select:
    """For each requirement and node the classes that violate it; no row where there are none.

    The columns are the requirement's index in `violating`, which are statements `violations`; the node's
    index; the rows, the number and the excess of the classes; and of the smallest class its size
    and the words of its key. `steps` make what the statements read.
    """
    by_node = union_all([_by_node(query, number, index) for number, query in enumerate(violating)])
    smallest = [exp.Dot(this=column("smallest"), expression=identifier(name)) for name in ("size", "class_id")]
    names = [column(name) for name in ("requirement", "index", "rows", "classes", "excess")]
    query = exp.select(*names, smallest[0], *(key(smallest[1].copy(), word) for word in range(words)))
    return with_steps(query.from_(by_node.subquery("violated", copy=False), copy=False), steps)


def _by_node(violating: exp.Query, number: int, index: Callable[[exp.Expr], exp.Expr]) -> exp.Select:
    node = index(column("class_id"))
    # The smallest class, and of several the first in the order of values.
    pair = [exp.PropertyEQ(this=identifier(name), expression=column(name)) for name in ("size", "class_id")]
    return (
        exp.select(
            alias(literal(number), "requirement"),
            alias(node, "index"),
            alias(_total(column("size")), "rows"),
            alias(f.count(), "classes"),
            alias(f.sum(column("excess")), "excess"),
            alias(f.min(exp.Struct(expressions=pair)), "smallest"),
        )
        .from_(violating.subquery("violations", copy=False), copy=False)
        .group_by(node.copy(), copy=False)
    )


def class_label(
    bound: BoundAttribute, level: int, tree: str, fields: Sequence[Field], key: Sequence[int]
) -> exp.Select:
    """One row: what the attribute shows, at a level below `*`, of the class with these key words."""
    in_class = [
        column(rank_name(above)).eq((key[field.word] & field.mask) >> field.shift)
        for above, field in enumerate(fields)
        if above >= level
    ]
    # A stored hierarchy lists values of other nodes, too; those of the class have a number.
    values = exp.select(column("value"), alias(literal(1), "n")).from_(relation(tree)).where(*in_class)
    listed = stored_labels(bound)
    labels = generalized(bound, values, listed, counted=True).subquery("generalized")
    label = column(level_name(level) if level else "value")
    return exp.select(as_text(f.min(label))).from_(labels).where(column("n") > 0)
