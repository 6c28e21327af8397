"""Batches in which a class that satisfies goes on doing so: one row of it is all that the classes above it need.

With respondents or sensitive values a general node has many rows a class, and nearly all of its classes satisfy.
"""

from __future__ import annotations

from sqlglot import exp

from sqlanon.methods.shared.lattice.batch_sql import Batch
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import infix, is_null, paren, same, union_all
from sqlanon.sql.build.names import alias, column, parameter, relation
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.cells.cells import key_name
from sqlanon.sql.classes.guard import violations


def all_rows(table: str) -> exp.Select:
    """The rows of a table."""
    return exp.select(exp.Star()).from_(relation(table))


def judged_classes(batch: Batch, rows: exp.Query) -> exp.Query:
    """class_id, size, excess, satisfied: each class of a `lasting` batch; the excess of one that satisfies is NULL."""
    satisfied = is_null(column("class_id", "violation"))
    named = [column(name, "class") for name in ("class_id", "size")]
    query = exp.select(*named, column("excess", "violation"), alias(satisfied, "satisfied"))
    query.from_(relation("equivalence_class", as_="class"), copy=False)
    violating = violations(batch.requirements, batch.names(lasting=True)).subquery("violation", copy=False)
    query.join(violating, on=same("class_id", "class", "violation"), join_type="LEFT", copy=False)
    return with_steps(query, batch.relations(rows, lasting=True))


def class_counts(batch: Batch, classes: str) -> exp.Select:
    """What `counts` says of each node, from a table of `judged_classes`; 0 in place of the rows in the rollup."""
    index = batch.index(column("class_id"))
    violates = exp.not_(column("satisfied"))

    def of_violating(figure: exp.Expr) -> exp.Expr:
        return f.coalesce(exp.Filter(this=figure, expression=exp.Where(this=violates.copy())), 0)

    figures = [
        f.count(),
        f.sum(column("size") * column("size")),
        of_violating(f.sum(column("size"))),
        of_violating(f.sum(column("excess"))),
        exp.Literal.number(0),
        of_violating(f.count()),
    ]
    return exp.select(index, *figures).from_(relation(classes)).group_by(index.copy())


def kept_rows(batch: Batch, fresh: str, classes: str) -> exp.Query:
    """What the rollup keeps of the rows `fresh` of a `lasting` batch, whose tags are indexes, from the tag $1 on.

    The rows of the `classes` that violate, and one row, marked as satisfied, for each of the others.
    """
    layout = batch.layout
    entity = ["entity"] if batch.entity else []
    names = [*map(key_name, range(layout.words)), *entity, "n"]
    violating = exp.select(column("class_id")).from_(relation(classes)).where(exp.not_(column("satisfied")))
    open_rows = exp.select(
        alias(column("tag") + parameter(1), "tag"),
        *(column(name) for name in names),
        alias(exp.false(), "satisfied"),
    )
    open_rows = open_rows.from_(relation(fresh)).where(batch.class_id().isin(query=violating), copy=False)
    masks = layout.masks([0] * len(layout.fields))
    keys = [
        alias(infix(paren(batch.key(column("class_id"), word)), "&", mask), key_name(word))
        for word, mask in enumerate(masks)
    ]
    ones = exp.select(
        alias(paren(batch.index(column("class_id"))) + parameter(1), "tag"),
        *keys,
        *(alias(exp.null(), name) for name in entity),
        alias(column("size"), "n"),
        alias(exp.true(), "satisfied"),
    )
    return union_all([open_rows, ones.from_(relation(classes)).where(column("satisfied"), copy=False)])
