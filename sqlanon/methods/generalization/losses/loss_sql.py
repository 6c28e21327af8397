"""Queries that several losses share: the rows that nodes withhold, and the classes that they publish."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import cast, huge, if_, or_zero
from sqlanon.sqlgen.build.names import alias, column, parameter, relation
from sqlanon.sqlgen.cells.cells import rank_name

__all__ = ["huge_total", "node_rows", "occurring", "published_of", "rank_path", "same_place", "withheld_of"]

_BIGINTS = exp.DataType.build("BIGINT[]", dialect="duckdb")


def withheld_of(first: int) -> exp.Select:
    """A row a node: its place and its withheld rows. The parameter `first` is the list of places."""
    return (
        exp.select(column("place", "node"), alias(huge_total(column("size", "withheld")), "rows"))
        .from_(node_rows(["place"], first), copy=False)
        .join(relation("withheld"), on=same_place("withheld"), join_type="LEFT", copy=False)
        .group_by(column("place", "node"), copy=False)
    )


def published_of(index: Callable[[exp.Expr], exp.Expr], first: int) -> exp.Select:
    """A row a node: its place and withheld rows, then of the published classes the number and the sum of squared sizes.

    It reads equivalence_class(class_id, size, entities) and withheld(place, class_id,
    size); `index` gives the node of a class_id. The parameter `first` is the list of places.
    """
    every = _counted(alias(index(column("class_id")), "place"), "equivalence_class")
    held = _counted(column("place"), "withheld")
    published = [
        alias(or_zero(column(name, "every")) - or_zero(column(name, "held")), name) for name in ("classes", "squares")
    ]
    return (
        exp.select(column("place", "node"), alias(or_zero(column("rows", "held")), "rows"), *published)
        .from_(node_rows(["place"], first), copy=False)
        .join(every.subquery("every"), on=same_place("every"), join_type="LEFT", copy=False)
        .join(held.subquery("held"), on=same_place("held"), join_type="LEFT", copy=False)
    )


def _counted(index: exp.Expr, classes: str) -> exp.Select:
    """The rows of each node's classes, those that have any, and the sum of their squared sizes."""
    size = huge(column("size"))
    # A requirement may find fault with a class of the public table that has no row here.
    held = if_(column("size") > 0, 1)
    figures = {
        "rows": huge_total(column("size")),
        "classes": f.count(held),
        "squares": huge_total(size * size),
    }
    query = exp.select(index, *(alias(figure, name) for name, figure in figures.items()))
    return query.from_(relation(classes), copy=False).group_by(index.unalias().copy(), copy=False)


def node_rows(names: Sequence[str], first: int) -> exp.Subquery:
    """The nodes of a batch, one a row, as `node`; the parameters from `first` on are its columns, as lists."""
    lists = [cast(parameter(first + i), "BIGINT[]") for i in range(len(names))]
    rows = [alias(f.unnest(each), name) for each, name in zip(lists, names, strict=True)]
    return exp.select(*rows).subquery("node")


def same_place(of: str) -> exp.Expr:
    """Whether a row of a relation belongs to the node of `node_rows`."""
    return column("place", of).eq(column("place", "node"))


def rank_path(bound: BoundAttribute, level: int) -> list[exp.Expr]:
    """The ranks that name a node of the tree at a level: its own and those of its ancestors."""
    return [column(rank_name(i)) for i in range(level, bound.height)]


def occurring() -> exp.Expr:
    """Whether rows of the source have the value of a tree's row: a hierarchy may list others."""
    return column("n") > 0


def huge_total(part: exp.Expr) -> exp.Expr:
    """The sum over a group, as HUGEINT; 0 where there is nothing."""
    return huge(or_zero(f.sum(part)))
