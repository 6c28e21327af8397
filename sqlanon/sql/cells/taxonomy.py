"""Hierarchies of sensitive attributes, which define the distances between values.

`sensitive_path` has a row for each value, with the value itself and its labels from the lowest level up;
`sensitive_ancestor` is the normal relation made from it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    as_text,
    by_bytes,
    identical,
    if_,
    is_not_null,
    is_null,
    or_,
    try_cast,
    union_all,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import left_join, select, subquery
from sqlanon.sql.cells.labels import generalized, level_name


@dataclass(frozen=True)
class Taxonomy:
    """A sensitive attribute with its hierarchy, if it has one.

    For a stored hierarchy, `listed` returns every listed value, in the column's type: value, level_1, ... and listed
    (true).
    """

    bound: BoundAttribute
    listed: exp.Query | None = None


def frozen_labels(bound: BoundAttribute, release_id: str) -> exp.Select:
    """Returns the labels in the catalog's copy for one release: value, level_1, ..., listed.

    A text that is not a value of the column's type is left out. A repeated value counts once, whether its labels agree
    or not.
    """
    value = try_cast(by_bytes(column("value")), bound.published_type)
    possible = is_not_null(value)
    return select(
        alias(value, "value"),
        *(alias(f.max(_at(level)), level_name(level)) for level in range(1, bound.height)),
        alias(literal(True), "listed"),
        of=relation(("anon", "release_taxonomy")),
        where=[
            column("release_id").eq(literal(release_id)),
            column("attribute").eq(literal(bound.column)),
            or_(is_null(column("value")), possible),
        ],
        group_by=[value],
    )


# The relations made from a requirement's table of values, with the columns of the table and of the catalog's copy.
KNOWN_TRIPLE = "known_triple"
LISTED = {"value_range": ("value", "low", "high"), KNOWN_TRIPLE: ("value", "l", "k", "m")}


def listed_relation(reads: Collection[str]) -> str | None:
    """Returns the relation of LISTED that a requirement reads; None if the requirement names no table of values."""
    return next((kind for kind in LISTED if kind in reads), None)


def frozen_values(kind: str, release_id: str, index: int) -> exp.Select:
    """Returns the table of values that the requirement at `index` reads, as the catalog copied it for this release."""
    return select(
        *map(column, LISTED[kind]),
        of=relation(("anon", f"release_{kind}")),
        where=[column("release_id").eq(literal(release_id)), column("requirement").eq(literal(index))],
    )


def _at(level: int) -> exp.Expr:
    same = column("level").eq(literal(level))
    return if_(same, by_bytes(column("label")))


def sensitive_path(codes: str, taxonomy: Taxonomy) -> exp.Select:
    """Returns a row for each value: code, branch, and the labels level_0 (the value as text) to level_{height - 1}.

    `codes` is a relation of the values of the source (value_0) and their numbers (code). A value that only the
    hierarchy lists has no code. A value that a stored hierarchy does not list is on a branch of its own; all other
    values are on branch 0.
    """
    bound = taxonomy.bound
    occurring = select(alias(column("value_0"), "value"), of=relation(codes))
    labels = generalized(bound, occurring, taxonomy.listed.copy() if taxonomy.listed else None, counted=False)
    branch: exp.Expr = literal(0)
    if bound.stored:
        next_code = column("code", "coded") + 1  # codes may begin with 0
        branch = if_(column("listed", "path"), branch, next_code)
    text = as_text(column("value", "path"))
    same = identical(column("value", "path"), column("value_0", "coded"))
    return select(
        column("code", "coded"),
        alias(branch, "branch"),
        alias(text, level_name(0)),
        *(column(level_name(level), "path") for level in range(1, bound.height)),
        of=subquery(labels, "path"),
        joins=[left_join(relation(codes, as_="coded"), same)],
    )


def sensitive_ancestor(paths: str, height: int) -> exp.Query:
    """Returns sensitive_ancestor(value, level, node) of the source's values, for the levels below `*`.

    `paths` is the name of a `sensitive_path`. A node is named by the least value below it. Because two nodes may have
    the same label, values share a node only if they share the whole path from that level up. A value on a branch of its
    own shares no node, so it is at the greatest distance from any other value.
    """
    occurs = is_not_null(column("code"))
    return union_all(
        [
            select(
                alias(column("code"), "value"), alias(literal(level), "level"), node, of=relation(paths), where=[occurs]
            )
            for level, node in enumerate(_nodes(height))
        ]
    )


def _nodes(height: int) -> list[exp.Alias]:
    nodes: list[exp.Expr] = [column("code")]
    for level in range(1, height):
        path = [column("branch"), *(column(level_name(i)) for i in range(level, height))]
        nodes.append(window(f.min(column("code")), partition_by=path))
    return [alias(node, "node") for node in nodes]


def level_labels(paths: str, height: int) -> exp.Query:
    """Returns code, level and label: each value's label at every level below `*`, for values in the hierarchy or in the
    source.
    """
    return union_all(
        [
            select(
                column("code"),
                alias(literal(level), "level"),
                alias(column(level_name(level)), "label"),
                of=relation(paths),
            )
            for level in range(height)
        ]
    )
