"""Values that were dealt out in buckets: what each bucket has, and what a query takes of it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.errors import DataError
from sqlanon.sqlgen.names import alias, column, literal, relation
from sqlanon.sqlgen.rows import class_label
from sqlanon.workload.published import Dealt, dealt_name

__all__ = ["dealt_leaves", "drawn", "require_whole"]


def dealt_leaves(dealt: Dealt) -> exp.Select:
    """The values of each bucket: any row of it has any of them, each as likely as it is frequent."""
    parts = (column(name) for name in (*map(dealt_name, range(len(dealt.columns))), "weight"))
    return exp.select(alias(column("bucket"), "label"), *parts).from_(dealt.values.subquery("bucket"))


def require_whole(engine: Engine, release: str, classes: str, values: str) -> None:
    """Raises DataError unless every bucket of the rows has as many values as rows."""
    rows = exp.select(column("bucket"), alias(exp.Sum(this=column("n")), "n")).from_(relation(classes))
    held = exp.select(column("label"), alias(exp.Sum(this=column("weight")), "n")).from_(relation(values))
    same = exp.NullSafeEQ(this=column("bucket", "rows"), expression=column("label", "held"))
    other = exp.Not(this=exp.NullSafeEQ(this=column("n", "rows"), expression=column("n", "held")))
    query = exp.select(exp.Count(this=exp.Star())).from_(rows.group_by(column("bucket")).subquery("rows"))
    query = query.join(held.group_by(column("label")).subquery("held"), on=same, join_type="LEFT", copy=False)
    if engine.rows(query.where(other))[0][0]:
        raise DataError(
            f"buckets of {release} do not have as many values as rows", hint="it was changed: create it again"
        )


def drawn(relations: Sequence[str]) -> exp.Expr:
    """What a combination takes of each relation of values: place, signature and weight, how many rows have it."""

    def one(place: int, name: str) -> exp.Expr:
        parts = (literal(place), column("signature", name), column("weight", name))
        return class_label(dict(zip(("place", "signature", "weight"), parts, strict=True)))

    return exp.Array(expressions=[one(place, name) for place, name in enumerate(relations)])
