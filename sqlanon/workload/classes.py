"""Rows by what they show of the columns that queries ask about: each label as a number, and equal rows counted.

This is done once for many queries, of a release as of its source, whose labels are the values themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.sqlgen.names import alias, column, relation
from sqlanon.sqlgen.rows import class_label
from sqlanon.sqlgen.terms import integer
from sqlanon.workload.published import Dealt, dealt_name

__all__ = ["Classes", "Keep", "Shown", "bucket_of", "classes", "listed", "number_of", "numbered"]


class Keep(Protocol):
    """Makes a temporary table of a query's rows; returns its name."""

    def __call__(self, purpose: str, query: exp.Query, parameters: Sequence[object] = ()) -> str: ...


@dataclass(frozen=True)
class Shown:
    """What a row shows of a column: a `label`, with its `text` if it stands for values below it.

    Where values are dealt out in buckets the label is the bucket, and `dealt` has the values.
    """

    label: exp.Expr
    text: exp.Expr | None = None
    dealt: Dealt | None = None


@dataclass(frozen=True)
class Classes:
    """`table` has `number_of` each column, which stands for its label, and n, how many rows show this together.

    `labels` has a table for each column: number, label, and text where labels have one. Buckets that hold the
    same values equally often have the same number; which bucket it is is told by `bucket_of`.
    """

    table: str
    count: int
    labels: Sequence[str]


def number_of(place: int) -> str:
    """The column with the number of the label of the column at this place."""
    return f"number_{place}"


def bucket_of(place: int) -> str:
    """The column with the bucket, where the values of the column at this place are dealt out."""
    return f"bucket_{place}"


def classes(
    engine: Engine,
    rows: exp.Expr,
    shown: Sequence[Shown],
    keep: Keep,
    *,
    weight: exp.Expr | None = None,
    also: Sequence[exp.Alias] = (),
) -> Classes:
    """The rows of a relation by what they show.

    Where rows have a `weight` they are not counted: each is a class of its own that stands for so many, and has
    the columns `also`, too.
    """
    parts = [alias(one.label, f"label_{place}") for place, one in enumerate(shown)]
    parts += [alias(one.text, f"text_{place}") for place, one in enumerate(shown) if one.text is not None]
    every = exp.select(*parts, *also).from_(rows, copy=False)
    if weight is None:
        table: exp.Expr = relation(keep("shown", _counted(every, [part.alias for part in parts])), as_="shown")
    else:
        table = every.select(alias(weight, "n"), copy=False).subquery("shown")
    query = exp.select(column("n", "shown"), *(column(part.alias, "shown") for part in also))
    query.from_(table.copy(), copy=False)
    labels: list[str] = []
    for place, one in enumerate(shown):
        labels.append(keep("label", _labels(place, one, table.copy())))
        held = f"held_{place}"
        same = exp.NullSafeEQ(this=column(f"label_{place}", "shown"), expression=column("label", held))
        query.join(relation(labels[-1], as_=held), on=same, copy=False)
        query.select(alias(column("number", held), number_of(place)), copy=False)
        if one.dealt is not None:
            query.select(alias(column("bucket", held), bucket_of(place)), copy=False)
    made = keep("class", query)
    count = exp.select(exp.Count(this=exp.Star())).from_(relation(made))
    return Classes(made, int(engine.rows(count)[0][0]), labels)


def _counted(every: exp.Select, names: Sequence[str]) -> exp.Select:
    own = [column(name) for name in names]
    query = exp.select(*own, alias(exp.Count(this=exp.Star()), "n")).from_(every.subquery("every", copy=False))
    return query.group_by(*(part.copy() for part in own), copy=False)


def _labels(place: int, one: Shown, table: exp.Expr) -> exp.Select:
    """number and label of what occurs."""
    parts = [alias(column(f"label_{place}"), "label")]
    if one.text is not None:
        parts.append(alias(column(f"text_{place}"), "text"))
    rows = exp.select(*parts).distinct(copy=False).from_(table, copy=False)
    if one.dealt is not None:
        return _buckets(rows, one.dealt)
    return exp.select(alias(_number(), "number"), exp.Star()).from_(rows.subquery("every"))


def _number(order: exp.Expr | None = None) -> exp.Expr:
    """Rows numbered, or where there is an order those that are equal in it alike."""
    if order is None:
        return integer(exp.Window(this=exp.RowNumber()))
    ordered = exp.Order(expressions=[exp.Ordered(this=order, nulls_first=False)])
    return integer(exp.Window(this=exp.Anonymous(this="dense_rank"), order=ordered))


def _buckets(rows: exp.Select, dealt: Dealt) -> exp.Select:
    """The same of buckets: what is asked of the values of one is asked of all that hold the same."""
    names = [*map(dealt_name, range(len(dealt.columns))), "weight"]
    values = class_label({name: column(name) for name in names})
    held = exp.Anonymous(this="list_sort", expressions=[exp.ArrayAgg(this=values)])
    content = exp.select(column("bucket"), alias(held, "content")).from_(dealt.values.subquery("dealt"))
    content = content.group_by(column("bucket"), copy=False)
    same = exp.NullSafeEQ(this=column("label", "every"), expression=column("bucket", "held"))
    number = alias(_number(column("content", "held")), "number")
    query = exp.select(number, alias(_number(), "bucket"), column("label", "every")).from_(rows.subquery("every"))
    return query.join(content.subquery("held"), on=same, join_type="LEFT", copy=False)


def listed(names: Mapping[str, str]) -> exp.Select:
    """A SELECT of columns of these types whose values, a list each, are its parameters."""
    lists = (
        exp.Cast(this=exp.Placeholder(), to=exp.DataType.build(f"{kind}[]", dialect="duckdb"))
        for kind in names.values()
    )
    return exp.select(*(alias(exp.Explode(this=one), name) for one, name in zip(lists, names, strict=True)))


def numbered(asked: Sequence[tuple[int, int, str, str]]) -> tuple[exp.Select, list[object]]:
    """A SELECT of query, query_id, result and function of what is asked, and its parameters."""
    kinds = {"query": "INTEGER", "query_id": "BIGINT", "result": "VARCHAR", "function": "VARCHAR"}
    return listed(kinds), [list(part) for part in zip(*asked, strict=True)]
