"""Queries that several losses share: the rows that nodes withhold, and the classes that they publish."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, huge, if_, or_zero
from sqlanon.sql.build.names import alias, column, parameter, relation
from sqlanon.sql.cells.cells import rank_name

_NODE = "node"


def withheld_of(first: int) -> exp.Select:
    """A row for each node: its index and its withheld rows. The parameter `first` is the list of indexes."""
    return (
        exp.select(column("index", "node"), alias(huge_total(column("size", "withheld")), "rows"))
        .from_(node_rows(["index"], first), copy=False)
        .join(relation("withheld"), on=same_node("withheld"), join_type="LEFT", copy=False)
        .group_by(column("index", "node"), copy=False)
    )


def published_of(index: Callable[[exp.Expr], exp.Expr], first: int) -> exp.Select:
    """A row for each node: its index and withheld rows, then the number and summed squared sizes of published classes.

    It reads equivalence_class(class_id, size, entities) and withheld(index, class_id,
    size); `index` gives the node of a class_id. The parameter `first` is the list of indexes.
    """
    all_classes = _counted(alias(index(column("class_id")), "index"), "equivalence_class")
    withheld = _counted(column("index"), "withheld")
    published = [
        alias(or_zero(column(name, "all_classes")) - or_zero(column(name, "withheld_classes")), name)
        for name in ("classes", "squares")
    ]
    return (
        exp.select(column("index", "node"), alias(or_zero(column("rows", "withheld_classes")), "rows"), *published)
        .from_(node_rows(["index"], first), copy=False)
        .join(all_classes.subquery("all_classes"), on=same_node("all_classes"), join_type="LEFT", copy=False)
        .join(withheld.subquery("withheld_classes"), on=same_node("withheld_classes"), join_type="LEFT", copy=False)
    )


def _counted(index: exp.Expr, classes: str) -> exp.Select:
    """The rows of each node's classes, the number of classes with any, and the sum of their squared sizes."""
    # A requirement may find fault with a class of the public table that has no row here.
    has_rows = if_(column("size") > 0, 1)
    figures = {
        "rows": huge_total(column("size")),
        "classes": f.count(has_rows),
        "squares": huge_total(column("size") * column("size")),
    }
    query = exp.select(index, *(alias(figure, name) for name, figure in figures.items()))
    return query.from_(relation(classes), copy=False).group_by(index.unalias().copy(), copy=False)


def node_rows(names: Sequence[str], first: int) -> exp.Subquery:
    """The nodes of a batch, a row for each, as `node`; the parameters from `first` on are its columns, as lists."""
    lists = [cast(parameter(first + i), "BIGINT[]") for i in range(len(names))]
    rows = [alias(f.unnest(each), name) for each, name in zip(lists, names, strict=True)]
    return exp.select(*rows).subquery(_NODE)


def with_node_tables(query: exp.Select, table: Callable[[exp.Query], str]) -> exp.Select:
    """The query with its `node_rows` in tables that `table` makes, so that it runs where a parameter is no list."""
    for rows in list(query.find_all(exp.Subquery)):
        if rows.alias == _NODE:
            rows.replace(relation(table(rows.this), as_=_NODE))
    return query


def same_node(of: str) -> exp.Expr:
    """Whether a row of a relation belongs to the node of `node_rows`."""
    return column("index", of).eq(column("index", "node"))


def rank_path(bound: BoundAttribute, level: int) -> list[exp.Expr]:
    """The ranks that name a node of the tree at a level: that of the node and those of its ancestors."""
    return [column(rank_name(i)) for i in range(level, bound.height)]


def occurring() -> exp.Expr:
    """Whether rows of the source have the value of a tree's row: a hierarchy may list others."""
    return column("n") > 0


def huge_total(part: exp.Expr) -> exp.Expr:
    """The sum over a group, as HUGEINT; 0 where there is nothing."""
    return huge(or_zero(f.sum(part)))
