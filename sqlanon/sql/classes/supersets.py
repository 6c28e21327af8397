"""superset(class_id, superset_id): the broader classes that contain a class, for models that compare it with them.

A broader class has the rows below a vector of labels, each at least as general as the label of the class (Li, Li and
Venkatasubramanian 2010). The class itself is one of them, and so is the class of all rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.sql.build.expressions import and_, big, by_bytes, cast, entry, identical, if_, same, union_all
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery
from sqlanon.sql.build.steps import Step

SUPERSET = "superset"

# The level of a class's own label, and of the label of all rows.
_OWN, _TOP = 0, -1
# The most vectors of labels above one class: each costs as much as a requirement of its own.
MOST_VECTORS = 10_000


def vectors_above(heights: Sequence[int]) -> int:
    """Returns the number of vectors of levels, in which each column has a level from 0 to its height."""
    return prod(height + 1 for height in heights)


def superset_steps(labels: Mapping[str, exp.Expr], coarser: Mapping[str, exp.Query]) -> list[Step]:
    """Returns steps that make the relation `superset` from the relation equivalence_class.

    `labels` has, as an expression over class_id, a class's label in each column that tells classes apart. `coarser`
    has, for columns with a hierarchy, the ancestors of labels: value, the text of a label; level; and node, the number
    of its ancestor at that level. A label that is not in `coarser` has only one ancestor, the label of all rows.
    """
    steps: list[Step] = []
    query = select(column("class_id", "class"), of=relation("equivalence_class", as_="class"))
    parts: list[exp.Expr] = []
    for number, (name, label) in enumerate(labels.items()):
        step = f"coarser_{number}"
        steps.append((step, _coarser(label, coarser.get(name))))
        extend(query, joins=[inner_join(relation(step), same("class_id", "class", step))])
        parts += [entry(f"{part}_{number}", column(part, step)) for part in ("level", "label", "node")]
    named = exp.Struct(expressions=parts) if parts else literal(0)
    return [*steps, (SUPERSET, extend(query, alias(named, "superset_id")))]


def _coarser(label: exp.Expr, above: exp.Query | None) -> exp.Select:
    """Returns class_id, level, label, node: the labels of each class in one column, from its own label to the top."""
    classes, nowhere = relation("equivalence_class"), cast(exp.null(), "BIGINT")
    class_id = column("class_id")
    nothing = if_(exp.false(), label)
    each = [
        select(class_id, alias(big(literal(_OWN)), "level"), alias(label, "label"), alias(nowhere, "node")),
        select(class_id, alias(big(literal(_TOP)), "level"), alias(nothing, "label"), alias(nowhere, "node")),
    ]
    each = [query.from_(classes.copy()) for query in each]
    if above is not None:
        node = [column("level", "above"), alias(nothing, "label"), column("node", "above")]
        on = identical(by_bytes(label), column("value", "above"))
        each.append(select(class_id, *node, of=classes, joins=[inner_join(subquery(above, "above"), on)]))
    return select(exp.Star(), of=subquery(union_all(each), "coarser"))


def superset_within(
    labels: Mapping[str, exp.Expr], coarser: Mapping[str, exp.Query], within: Sequence[tuple[str, int]]
) -> exp.Select:
    """Returns the relation of one broader class for each class: by its ancestors in some columns, each at a level.

    `labels` and `coarser` are as in `superset_steps`; `coarser` also has the classes' own labels. A class without an
    ancestor at such a level is in no broader class. A column without `coarser` has only level 0.
    """
    own_labels = {fold(name): label for name, label in labels.items()}
    above = {fold(name): query for name, query in coarser.items()}
    query = select(column("class_id", "class"), of=relation("equivalence_class", as_="class"))
    parts: list[exp.Expr] = []
    for number, (name, level) in enumerate(within):
        label, labels_above = own_labels[fold(name)].copy(), above.get(fold(name))
        if labels_above is None:
            extend(query, where=[exp.convert(level == 0)])
            parts.append(entry(f"label_{number}", label))
            continue
        alias_of = f"above_{number}"
        at_level = column("level", alias_of).eq(literal(level))
        same_label = identical(by_bytes(label), column("value", alias_of))
        extend(query, joins=[inner_join(subquery(labels_above, alias_of), and_(same_label, at_level))])
        parts.append(entry(f"node_{number}", column("node", alias_of)))
    return extend(query, alias(exp.Struct(expressions=parts), "superset_id"))


def frozen_coarser(attribute: str, release_id: str) -> exp.Select:
    """Returns the catalog's copy, for one release, of the ancestors of a column's labels: value, level, node."""
    return select(
        alias(by_bytes(column("value")), "value"),
        column("level"),
        alias(big(column("label")), "node"),
        of=relation(("anon", "release_taxonomy")),
        where=[column("release_id").eq(literal(release_id)), column("attribute").eq(literal(attribute))],
    )
