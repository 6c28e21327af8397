"""Rows by what they show of the columns that queries ask about: each label as a number, and equal rows counted.

This is done once for many queries, of a release as of its source, whose labels are the values themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.estimates.release_model import BucketedColumns, bucketed_value
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import ascending, cast, digest, identical, integer, order_by, window
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.classes.rows import class_label

__all__ = ["DistinctRows", "Keep", "ShownColumn", "bucket_of", "classes", "listed", "number_of", "numbered"]


class Keep(Protocol):
    """Makes a temporary table of a query's rows; returns its name."""

    def __call__(self, purpose: str, query: exp.Query, parameters: Sequence[object] = ()) -> str: ...


@dataclass(frozen=True)
class ShownColumn:
    """What a row shows of a column: a `label`, with its `text`, over the column `label`, if values are below it.

    Where values are dealt out in buckets the label is the bucket, and `bucketed` has the values.
    """

    label: exp.Expr
    text: exp.Expr | None = None
    bucketed: BucketedColumns | None = None


@dataclass(frozen=True)
class DistinctRows:
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
    shown: Sequence[ShownColumn],
    keep: Keep,
    *,
    also: Sequence[exp.Alias] = (),
    counted: bool = True,
    dictionaries: bool = False,
) -> DistinctRows:
    """The rows of a relation by what they show, and by the columns `also`, which the table then has, too.

    Unless rows are `counted` each is a class of its own. `dictionaries` says that the relation is a table that keeps
    texts as numbers where they repeat.
    """
    every = exp.select(*(alias(one.label, _label(place)) for place, one in enumerate(shown)), *also)
    every.from_(rows, copy=False)
    digests = _digests(engine, every, len(shown), keep) if counted and dictionaries else {}
    table = _counted(every, digests, keep) if counted else every.select(alias(literal(1), "n")).subquery("shown")
    query = exp.select(column("n", "shown"), *(column(part.alias, "shown") for part in also))
    query.from_(table.copy(), copy=False)
    labels: list[str] = []
    for place, one in enumerate(shown):
        held, found = f"held_{place}", digests.get(place)
        own = exp.select(alias(column(_label(place)), "label")).distinct(copy=False).from_(table.copy(), copy=False)
        labels.append(keep("label", _labels(one, exp.select(exp.Star()).from_(relation(found)) if found else own)))
        same = column("digest" if found else "label", held)
        on = identical(column(_label(place), "shown"), same)
        query.join(relation(labels[-1], as_=held), on=on, copy=False)
        query.select(alias(column("number", held), number_of(place)), copy=False)
        if one.bucketed is not None:
            query.select(alias(column("bucket", held), bucket_of(place)), copy=False)
    made = keep("class", query)
    count = exp.select(f.count()).from_(relation(made))
    return DistinctRows(made, int(engine.rows(count)[0][0]), labels)


def _label(place: int) -> str:
    return f"label_{place}"


def _digests(engine: Engine, every: exp.Select, places: int, keep: Keep) -> dict[int, str]:
    """The tables of label and digest of every column of texts of which no two have the same digest, by its place.

    DuckDB computes the digest of a text that it keeps in a dictionary once, and groups by numbers in a third of the
    time. Texts are equal if their bytes are, so equal ones have equal digests.
    """
    kinds = [kind for _, kind in engine.columns(every)]
    found: dict[int, str] = {}
    for place in (place for place in range(places) if kinds[place] == "VARCHAR"):
        label = alias(column(_label(place)), "label")
        rows = exp.select(label).distinct(copy=False).from_(every.subquery("every"))
        own = exp.select(column("label"), alias(digest([column("label")]), "digest")).from_(rows.subquery("every"))
        table = keep("digest", own)
        different = f.count_distinct(column("digest"))
        alone = f.count().eq(different)
        if engine.rows(exp.select(alone).from_(relation(table)))[0][0]:
            found[place] = table
    return found


def _counted(every: exp.Select, digests: Mapping[int, str], keep: Keep) -> exp.Expr:
    """The table of the different rows, with n, in which digests stand for labels that have them."""
    own = [
        alias(digest([part.this]), part.alias) if place in digests else part
        for place, part in enumerate(every.expressions)
    ]
    rows = every.copy().select(*own, append=False, copy=False)
    names = [column(part.alias) for part in own]
    query = exp.select(*names, alias(f.count(), "n")).from_(rows.subquery("every", copy=False))
    return relation(keep("shown", query.group_by(*(name.copy() for name in names), copy=False)), as_="shown")


def _labels(one: ShownColumn, rows: exp.Select) -> exp.Select:
    """number and label of what occurs, whose rows have a `label`."""
    if one.bucketed is not None:
        return _buckets(rows, one.bucketed)
    query = exp.select(alias(_number(), "number"), exp.Star()).from_(rows.subquery("every"))
    return query if one.text is None else query.select(alias(one.text, "text"), copy=False)


def _number(order: exp.Expr | None = None) -> exp.Expr:
    """Rows numbered, or where there is an order those that are equal in it alike."""
    if order is None:
        return integer(window(f.row_number()))
    ordered = order_by(ascending(order))
    return integer(window(f.call("dense_rank"), order=ordered))


def _buckets(rows: exp.Select, bucketed: BucketedColumns) -> exp.Select:
    """Buckets numbered, those alike that hold the same values: what is asked of the values of one is asked of all."""
    names = [*map(bucketed_value, range(len(bucketed.columns))), "weight"]
    values = class_label({name: column(name) for name in names})
    held = f.call("list_sort", exp.ArrayAgg(this=values))
    content = exp.select(column("bucket"), alias(held, "content")).from_(bucketed.values.subquery("dealt"))
    content = content.group_by(column("bucket"), copy=False)
    same = identical(column("label", "every"), column("bucket", "held"))
    number = alias(_number(column("content", "held")), "number")
    query = exp.select(number, alias(_number(), "bucket"), column("label", "every")).from_(rows.subquery("every"))
    return query.join(content.subquery("held"), on=same, join_type="LEFT", copy=False)


def listed(names: Mapping[str, str]) -> exp.Select:
    """A SELECT of columns of these types whose values, a list each, are its parameters."""
    lists = (cast(exp.Placeholder(), f"{kind}[]") for kind in names.values())
    return exp.select(*(alias(f.unnest(one), name) for one, name in zip(lists, names, strict=True)))


def numbered(asked: Sequence[tuple[int, int, str, str]]) -> tuple[exp.Select, list[object]]:
    """A SELECT of query, query_id, result and function of what is asked, and its parameters."""
    kinds = {"query": "INTEGER", "query_id": "BIGINT", "result": "VARCHAR", "function": "VARCHAR"}
    return listed(kinds), [list(part) for part in zip(*asked, strict=True)]
