"""Queries for the summary of a node: the classes that violate a requirement, and the labels of such a class."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, big, huge, or_zero, same, union_all
from sqlanon.sql.build.names import alias, column, identifier, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery
from sqlanon.sql.build.steps import Step, with_steps
from sqlanon.sql.cells.cells import Field, rank_name
from sqlanon.sql.cells.labels import generalized, level_name, stored_labels

# A function of (class_id, word) that returns the SQL of this word of the key.
Key = Callable[[exp.Expr, int], exp.Expr]

_SMALLEST = ("entities", "size", "class_id")


def _total(part: exp.Expr) -> exp.Expr:
    return huge(or_zero(f.sum(part)))


def violated_classes(
    steps: Sequence[Step],
    violating: Sequence[exp.Query],
    index: Callable[[exp.Expr], exp.Expr],
    key: Key,
    words: int,
    respondents: Mapping[int, str],
) -> exp.Select:
    """SELECT of one row for each requirement and node that has violating classes.

    The columns are the requirement's index in `violating`, which are queries of `violations`; the node's index; the
    rows, the number and the excess of the classes; and for the smallest class its respondents, its size and the words
    of its key. `steps` make the relations of the queries. `respondents` has the relation equivalence_class for the
    index of each requirement that counts respondents; for the other requirements, the number of respondents is 0.
    """
    by_node = union_all(
        [_by_node(_counted(query, respondents.get(number)), number, index) for number, query in enumerate(violating)]
    )
    *smallest, class_id = (exp.Dot(this=column("smallest"), expression=identifier(name)) for name in _SMALLEST)
    names = [column(name) for name in ("requirement", "index", "rows", "classes", "excess")]
    query = select(*names, *smallest, *(key(class_id.copy(), word) for word in range(words)))
    return with_steps(extend(query, of=subquery(by_node, "violated")), steps)


def _counted(violating: exp.Query, classes: str | None) -> exp.Subquery:
    """SELECT of the violating classes, with their respondents from the relation `classes`; 0 if `classes` is None."""
    violation = subquery(violating, "violation")
    entities = big(literal(0)) if classes is None else column("entities", "class")
    names = [column(name, "violation") for name in ("class_id", "size", "excess")]
    query = select(*names, alias(entities, "entities"), of=violation)
    if classes is not None:
        on = same("class_id", "violation", "class")
        extend(query, joins=[inner_join(relation(classes, as_="class"), on)])
    return subquery(query, "violations")


def _by_node(violating: exp.Subquery, number: int, index: Callable[[exp.Expr], exp.Expr]) -> exp.Select:
    node = index(column("class_id"))
    # The class with the fewest respondents or rows; among several, the first in the order of values.
    pair = [exp.PropertyEQ(this=identifier(name), expression=column(name)) for name in _SMALLEST]
    return select(
        alias(literal(number), "requirement"),
        alias(node, "index"),
        alias(_total(column("size")), "rows"),
        alias(f.count(), "classes"),
        alias(f.sum(column("excess")), "excess"),
        alias(f.min(exp.Struct(expressions=pair)), "smallest"),
        of=violating,
        group_by=[node],
    )


def class_label(
    bound: BoundAttribute, level: int, tree: str, fields: Sequence[Field], key: Sequence[int]
) -> exp.Select:
    """SELECT of one row: the attribute's label at a level below `*`, for the class with these words of the key."""
    in_class = [
        column(rank_name(above)).eq((key[field.word] & field.mask) >> field.shift)
        for above, field in enumerate(fields)
        if above >= level
    ]
    # A stored hierarchy lists values of other nodes, too; only values of the class have a count.
    values = select(column("value"), alias(literal(1), "n"), of=relation(tree), where=in_class)
    listed = stored_labels(bound)
    labels = subquery(generalized(bound, values, listed, counted=True), "generalized")
    label = column(level_name(level) if level else "value")
    return select(as_text(f.min(label)), of=labels, where=[column("n") > 0])
