"""Which values satisfy what each of many queries asks of a column: asked of every value once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.estimates.batch.distinct_rows import Keep, listed
from sqlanon.estimates.query.conjunctions import VALUE, Condition, common_type
from sqlanon.estimates.query.templates import Slot, WorkloadQuery
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import integer, is_null, same, union_all
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.classes.rows import class_label

__all__ = ["Constants", "among", "constants", "satisfying"]

# A list of conditions is evaluated on each leaf; of more leaves only those that satisfy are written down.
_MANY_LEAVES = 5_000


@dataclass(frozen=True)
class Constants:
    """What the queries of a workload compare values with, for all columns by their folded names.

    `table` has query_id, place (that of a column), low and, of a range, high.
    """

    table: str
    places: Mapping[str, int]

    def of(self, name: str, queries: str) -> exp.Select | None:
        """query, low and high of one column, for the queries in a table of `among`."""
        if name not in self.places:
            return None
        here = column("place", "constant").eq(literal(self.places[name]))
        rows = exp.select(column("query", "asked"), column("low", "constant"), column("high", "constant"))
        rows.from_(relation(self.table, as_="constant"), copy=False)
        rows.join(relation(queries, as_="asked"), on=same("query_id", "constant", "asked"), copy=False)
        return rows.where(here, copy=False)


def constants(asked: Sequence[WorkloadQuery], keep: Keep) -> Constants:
    """The constants of all queries."""
    rows: list[tuple[int, int, str, str | None]] = []
    places: dict[str, int] = {}
    for one in asked:
        for name, slot in zip(one.columns, one.slots, strict=True):
            place = places.setdefault(name, len(places))
            if slot.between:
                rows.append((one.number, place, slot.values[0], slot.values[1]))
            else:
                rows += [(one.number, place, value, None) for value in slot.values]
    columns = list(map(list, zip(*rows, strict=True))) if rows else [[], [], [], []]
    kinds = {"query_id": "BIGINT", "place": "INTEGER", "low": "VARCHAR", "high": "VARCHAR"}
    return Constants(keep("constant", listed(kinds), columns), places)


def among(numbers: Mapping[int, int], keep: Keep) -> str:
    """The table of query and query_id of those queries that are compared with constants."""
    return keep("among", listed({"query": "INTEGER", "query_id": "BIGINT"}), [[*numbers], [*numbers.values()]])


def satisfying(
    engine: Engine,
    leaf: exp.Expr,
    kind: str,
    asked: Mapping[int, Condition],
    compared: exp.Select | None,
    also: Sequence[str] = (),
) -> exp.Query:
    """query, number, weight and the columns `also` of the leaves that satisfy what queries ask of them.

    `leaf` is a relation of that name with number, value and weight. `kind` is the type of the column's values, and
    `compared` has the constants of those conditions that are slots: query, low and high.
    """
    carried = ("number", "weight", *also)
    slots = [one for one in asked.values() if isinstance(one, Slot)]
    found: list[exp.Query] = []
    for between in (False, True):
        some = [one for one in slots if one.between is between]
        if some and compared is not None and (common := common_type(some[0], kind)):
            found.append(_compared(leaf, common, between, compared, carried))
    trees: dict[exp.Expr, list[int]] = {}
    for query, condition in asked.items():
        if not isinstance(condition, Slot):
            trees.setdefault(condition, []).append(query)
    if trees:
        found.append(_of_trees(engine, leaf, trees, carried))
    return union_all(found)


def _compared(leaf: exp.Expr, common: str, between: bool, compared: exp.Select, carried: Sequence[str]) -> exp.Select:
    """The leaves that one of a query's constants is, or that lie between them."""
    kind = exp.DataType.build(common, dialect="duckdb")
    ends = ("low", "high") if between else ("low",)
    rows = exp.select(column("query"), *(alias(exp.TryCast(this=column(e), to=kind.copy()), e) for e in ends))
    no_end = is_null(column("high"))
    rows = rows.distinct(copy=False).from_(compared.subquery("compared"))
    rows.where(exp.not_(no_end) if between else no_end, copy=False)
    value = exp.Cast(this=column(VALUE, "leaf"), to=kind.copy())
    held: exp.Expr = value.eq(column("low", "asked"))
    if between:
        held = value.between(column("low", "asked"), column("high", "asked"))
    query = exp.select(column("query", "asked"), *(column(name, "leaf") for name in carried))
    return query.from_(leaf.copy()).join(rows.subquery("asked"), on=held, copy=False)


def _of_trees(
    engine: Engine, leaf: exp.Expr, trees: Mapping[exp.Expr, Sequence[int]], carried: Sequence[str]
) -> exp.Query:
    """What several queries ask is asked once: of few leaves in one scan, of many in one for each condition."""
    count = exp.select(f.count()).from_(leaf.copy())
    if int(engine.rows(count)[0][0]) > _MANY_LEAVES:
        held = union_all([_where(leaf.copy(), place, tree, carried) for place, tree in enumerate(trees)])
    else:
        asked = [class_label({"tree": literal(place), "holds": tree}) for place, tree in enumerate(trees)]
        every = _listed(asked).select(*map(column, carried), copy=False).from_(leaf.copy(), copy=False)
        names = (column(name) for name in ("tree", *carried))
        held = exp.select(*names).from_(every.subquery("every", copy=False)).where(column("holds"))
    pairs = [(place, query) for place, queries in enumerate(trees.values()) for query in queries]
    numbers = _listed([class_label({"tree": literal(place), "query": literal(query)}) for place, query in pairs])
    rows = exp.select(column("query", "asked"), *(column(name, "held") for name in carried))
    rows.from_(held.subquery("held", copy=False), copy=False)
    return rows.join(numbers.subquery("asked"), on=same("tree", "held", "asked"), copy=False)


def _where(leaf: exp.Expr, place: int, condition: exp.Expr, carried: Sequence[str]) -> exp.Select:
    """The leaves that satisfy one condition."""
    rows = exp.select(alias(integer(literal(place)), "tree"), *map(column, carried)).from_(leaf)
    return rows.where(condition.copy(), copy=False)


def _listed(structs: Sequence[exp.Expr]) -> exp.Select:
    """A row for each of some structs, a column for each of their fields."""
    unnested = f.call(
        "unnest",
        exp.Array(expressions=list(structs)),
        exp.PropertyEQ(this=exp.to_identifier("recursive"), expression=exp.true()),
    )
    return exp.Select(expressions=[unnested])
