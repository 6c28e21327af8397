"""Stage 4: the source as cells. Reads the table once, after one pass for each column's values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.engines.base import Engine
from sqlanon.errors import DataError
from sqlanon.pipeline.scratch import Scratch
from sqlanon.sqlgen.cells import cells, codes, tree, tree_summary
from sqlanon.sqlgen.keys import KeyLayout
from sqlanon.sqlgen.names import column, relation

__all__ = ["Cells", "encode"]

_SHOWN = 10


@dataclass(frozen=True)
class Cells:
    """The cells relation and the trees that its keys are made of.

    `values[i]` is the number of leaves of attribute i, `spread[i][level]` the sum over
    all rows of (leaves below the row's ancestor at that level - 1).
    """

    table: str
    trees: tuple[str, ...]
    layout: KeyLayout
    rows: int
    values: tuple[int, ...]
    spread: tuple[tuple[int, ...], ...]


def encode(engine: Engine, policy: BoundPolicy, scratch: Scratch) -> Cells:
    """Numbers every quasi-identifier's values along its hierarchy and groups the source by the keys.

    Raises DataError, naming the values, where a stored hierarchy lacks values of its column.
    """
    source = relation(policy.relation)
    hierarchy_values = relation(("anon", "hierarchy_value"))
    trees: list[str] = []
    siblings: list[Sequence[int]] = []
    values: list[int] = []
    spread: list[tuple[int, ...]] = []
    rows = 0
    for bound in policy.quasi_identifiers:
        name = scratch.table("tree", tree(bound, source, hierarchy_values))
        if bound.stored:
            _require_listed(engine, bound, name)
        leaves, rows, *rest = engine.rows(tree_summary(bound, relation(name)))[0]
        trees.append(name)
        values.append(leaves)
        siblings.append([int(count) for count in rest[: bound.height]])
        spread.append((0, *map(int, rest[bound.height :]), int(rows) * max(leaves - 1, 0)))
    layout = KeyLayout.pack(siblings)
    # Tables rather than subqueries: the engine then knows how many codes there are and how large they get.
    coded = [codes(relation(name), fields) for name, fields in zip(trees, layout.fields, strict=True)]
    code_tables = [scratch.table("code", query) if query else None for query in coded]
    table = scratch.table("cells", cells(policy, source, code_tables, layout))
    return Cells(table, tuple(trees), layout, int(rows), tuple(values), tuple(spread))


def _require_listed(engine: Engine, bound: BoundAttribute, name: str) -> None:
    """Every value that occurs is listed by the hierarchy; NULL need not be, it stays a value of its own."""
    assert bound.hierarchy is not None
    text = exp.Cast(this=column("value"), to=exp.DataType.build("VARCHAR"))
    unlisted = (
        exp.select(text)
        .from_(relation(name))
        .where(exp.Not(this=column("listed")), exp.Not(this=exp.Is(this=column("value"), expression=exp.Null())))
    )
    count = engine.rows(exp.select(exp.Count(this=exp.Star())).from_(unlisted.subquery("unlisted")))[0][0]
    if count:
        shown = [row[0] for row in engine.rows(unlisted.copy().order_by(text.copy()).limit(_SHOWN))]
        more = f" and {count - _SHOWN} more" if count > _SHOWN else ""
        raise DataError(
            f"the hierarchy {bound.hierarchy.name} lacks {count} value{'s' if count > 1 else ''} of the column "
            f"{bound.column}: {', '.join(map(repr, shown))}{more}",
            hint=f"add them to the query of {bound.hierarchy.name} and run CREATE OR REPLACE HIERARCHY again",
        )
