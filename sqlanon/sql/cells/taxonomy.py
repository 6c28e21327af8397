"""Hierarchies of sensitive attributes, which define the distances between values.

`sensitive_path` has a row for each value, with the value itself and its labels from the lowest level up;
`sensitive_ancestor` is the normal relation made from it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.sql.build.expressions import (
    by_bytes,
    if_,
    try_cast,
    union_all,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import Names, filled, filled_query, query_file
from sqlanon.sql.cells.labels import generalized, level_name


@dataclass(frozen=True)
class Taxonomy:
    """A sensitive attribute with its hierarchy, if it has one.

    For a stored hierarchy, `listed` returns every listed value, in the column's type: value, level_1, ... and listed
    (true).
    """

    bound: BoundAttribute
    listed: exp.Query | None = None


def frozen_labels(bound: BoundAttribute, release_id: str) -> exp.Query:
    """Returns the labels in the catalog's copy for one release: value, level_1, ..., listed.

    A text that is not a value of the column's type is left out. A repeated value counts once, whether its labels agree
    or not.
    """
    value = try_cast(by_bytes(column("value")), bound.published_type)
    levels = list(range(1, bound.height))
    names = {"levels": [level_name(level) for level in levels]}
    path = ("hierarchies", "frozen_labels")
    return query_file(*path, names=names, release_id=release_id, column=bound.column, value=value, level=levels)


# The relations made from a requirement's table of values, with the columns of the table and of the catalog's copy.
KNOWN_TRIPLE = "known_triple"
LISTED = {"value_range": ("value", "low", "high"), KNOWN_TRIPLE: ("value", "l", "k", "m")}


def listed_relation(reads: Collection[str]) -> str | None:
    """Returns the relation of LISTED that a requirement reads; None if the requirement names no table of values."""
    return next((kind for kind in LISTED if kind in reads), None)


def frozen_values(kind: str, release_id: str, index: int) -> exp.Query:
    """Returns the table of values that the requirement at `index` reads, as the catalog copied it for this release."""
    text = 'SELECT {columns} FROM "{copied}" WHERE release_id = $release_id AND requirement = $index'
    names: Names = {"columns": LISTED[kind], "copied": relation(("anon", f"release_{kind}"))}
    return filled_query(text, names=names, release_id=release_id, index=index)


def sensitive_path(codes: str, taxonomy: Taxonomy) -> exp.Query:
    """Returns a row for each value: code, branch, and the labels level_0 (the value as text) to level_{height - 1}.

    `codes` is a relation of the values of the source (value_0) and their numbers (code). A value that only the
    hierarchy lists has no code. `branch` is 0 for a value that the hierarchy covers; each value that a stored hierarchy
    does not list has a branch of its own.
    """
    bound = taxonomy.bound
    occurring = select(alias(column("value_0"), "value"), of=relation(codes))
    labels = generalized(bound, occurring, taxonomy.listed.copy() if taxonomy.listed else None, counted=False)
    branch: exp.Expr = literal(0)
    if bound.stored:
        next_code = column("code", "coded") + 1  # codes may begin with 0
        branch = if_(column("listed", "path"), branch, next_code)
    levels = [level_name(level) for level in range(1, bound.height)]
    tables: dict[str, str | exp.Query] = {"labels": labels, "codes": codes}
    return query_file("hierarchies", "sensitive_path", tables=tables, names={"levels": levels}, branch=branch)


def sensitive_ancestor(paths: str, height: int) -> exp.Query:
    """SELECT of sensitive_ancestor(value, level, node): the ancestors of the source's values, at the levels below `*`.

    `paths` is the name of a `sensitive_path`. A node is named by the least value below it. Because two nodes may have
    the same label, values share a node only if they share the whole path from that level up. A value on a branch of its
    own shares no node, so it is at the greatest distance from any other value.
    """
    text = 'SELECT code AS value, $level AS level, $node AS node FROM "{paths}" WHERE NOT code IS NULL'
    node = "min(code) OVER (PARTITION BY branch, {path})"
    nodes: list[exp.Expr] = [column("code")]
    for level in range(1, height):
        nodes.append(filled(node, names={"path": [level_name(i) for i in range(level, height)]}))
    names = {"paths": paths}
    return union_all(filled_query(text, names=names, level=level, node=node) for level, node in enumerate(nodes))


def level_labels(paths: str, height: int) -> exp.Query:
    """Returns code, level and label: each value's label at every level below `*`, for values in the hierarchy or in the
    source.
    """
    query = "SELECT code, $level AS level, {label} AS label FROM paths"
    return union_all(
        filled_query(query, tables={"paths": paths}, names={"label": level_name(level)}, level=level)
        for level in range(height)
    )
