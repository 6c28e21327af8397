"""What conjunctions come to on the source: all of them at once, as bits of its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.sqlgen.names import alias, column, literal, relation
from sqlanon.workload.actual import is_plain
from sqlanon.workload.binding import fold
from sqlanon.workload.classes import Keep, Shown, classes, numbered
from sqlanon.workload.conjunctions import VALUE, common_type
from sqlanon.workload.masks import WORD, Column, bits, each, masked
from sqlanon.workload.queries import Aggregate
from sqlanon.workload.satisfying import constants, satisfying
from sqlanon.workload.spans import fixed
from sqlanon.workload.templates import Asked, Slot, conjuncts

__all__ = ["Counted", "compared_columns"]

# A statement has so many rows of masks at most, and asks so many queries.
MOST_ROWS = 20_000_000
_MOST_WORDS = 16

_DOUBLE = exp.DataType.build("DOUBLE")


def compared_columns(one: Asked, kinds: Mapping[str, str]) -> dict[str, Slot] | None:
    """What a query's condition asks of each column of its source, by folded names; None unless all of it is comparisons
    of different columns with constants, and its aggregates are of plain columns.

    `kinds` are the types of the source's columns, by their folded names.
    """
    if not one.slots or not is_plain(one.query) or one.query.where is None:
        return None
    names = [fold(part.this.name) for part in conjuncts(one.query.where)]
    arguments = [part.argument for part in one.query.aggregates if part.argument is not None]
    if len(set(names)) < len(names) or not all(isinstance(part, exp.Column) for part in arguments):
        return None
    found = dict(zip(names, one.slots, strict=True))
    return found if all(common_type(slot, kinds.get(name, "")) for name, slot in found.items()) else None


@dataclass(frozen=True)
class _Part:
    """The aggregates of a query that are of one column, or of the rows, and the query's condition."""

    one: Asked
    slots: Mapping[str, Slot]
    argument: str | None
    aggregates: tuple[Aggregate, ...]


class Counted:
    """Asks queries of `rows`, each of which stands for `weight` rows of the source."""

    def __init__(
        self,
        engine: Engine,
        rows: exp.Table,
        weight: exp.Expr,
        kinds: Mapping[str, str],
        asked: Sequence[Asked],
        keep: Keep,
    ) -> None:
        self._engine, self._kinds, self._keep = engine, kinds, keep
        self._parts = [part for one in asked for part in _parts(one, kinds)]
        self._names = list(dict.fromkeys(name for part in self._parts for name in part.slots))
        arguments = dict.fromkeys(part.argument for part in self._parts if part.argument is not None)
        self._arguments = {name: f"argument_{place}" for place, name in enumerate(arguments)}
        also = [alias(column(name), own) for name, own in self._arguments.items()]
        shown = [Shown(column(name)) for name in self._names]
        self._classes = classes(engine, rows, shown, keep, weight=weight, also=also)

    def figures(self) -> Iterator[tuple[int, exp.Query]]:
        """For some queries after the other how many they are, and a SELECT of query_id, groups, result and value."""
        size = WORD * max(1, min(_MOST_WORDS, MOST_ROWS // max(1, self._classes.count)))
        kinds: dict[str | None, list[_Part]] = {}
        for part in self._parts:
            kinds.setdefault(part.argument, []).append(part)
        for argument, some in kinds.items():
            for first in range(0, len(some), size):
                batch = some[first : first + size]
                yield len(batch), self._batch(batch, argument)

    def _batch(self, some: Sequence[_Part], argument: str | None) -> exp.Query:
        conditions = [
            {query: part.slots[name] for query, part in enumerate(some) if name in part.slots} for name in self._names
        ]
        compared = constants(conditions, self._keep)
        columns: list[Column] = []
        for place, own in enumerate(conditions):
            if own:
                labels = self._classes.labels[place]
                value = exp.select(column("number"), alias(column("label"), VALUE), alias(literal(1), "weight"))
                leaf = value.from_(relation(labels)).subquery("leaf", copy=False)
                held = satisfying(self._engine, leaf, self._kinds[self._names[place]], place, own, compared)
                columns.append(Column(place, labels, held.subquery(copy=False), own.keys(), exact=True))
        carried = ["n"] if argument is None else ["n", self._arguments[argument]]
        masks = masked(self._classes.table, carried, columns, len(some), self._keep)
        return self._figures(masks, carried, some)

    def _figures(self, masks: str, carried: Sequence[str], some: Sequence[_Part]) -> exp.Query:
        rows = each(masks, bits(len(some), self._keep), carried, column("possible", "masked"))
        functions = {one.function for part in some for one in part.aggregates}
        found = exp.select(column("query"), *_figures(functions, carried[1] if len(carried) > 1 else None))
        found = found.from_(rows.subquery("each", copy=False)).group_by(column("query"))
        asked = [
            (query, part.one.number, one.name, one.function)
            for query, part in enumerate(some)
            for one in part.aggregates
        ]
        tables = {"asked": self._keep("asked", *numbered(asked)), "counted": self._keep("counted", found)}
        query = fixed("actual")
        for table in list(query.find_all(exp.Table)):
            table.replace(relation(tables[table.name], as_=table.name))
        return query


def _parts(one: Asked, kinds: Mapping[str, str]) -> Iterator[_Part]:
    slots = compared_columns(one, kinds)
    assert slots is not None
    own: dict[str | None, list[Aggregate]] = {}
    for aggregate in one.query.aggregates:
        own.setdefault(None if aggregate.argument is None else fold(aggregate.argument.name), []).append(aggregate)
    for argument, aggregates in own.items():
        yield _Part(one, slots, argument, tuple(aggregates))


def _figures(functions: set[str], argument: str | None) -> list[exp.Expr]:
    """What the functions, and those that they need, come to over rows that stand for n each."""
    n, nothing = column("n"), exp.Cast(this=exp.null(), to=_DOUBLE.copy())
    value = literal(1) if argument is None else column(argument)
    known = exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null()))
    rows = exp.Sum(this=n if argument is None else exp.Case(ifs=[exp.If(this=known, true=n)]))
    found: dict[str, exp.Expr] = {
        "rows": rows,
        "total": exp.Sum(this=exp.Mul(this=value.copy(), expression=n.copy())),
        "least": exp.Min(this=value.copy()),
        "greatest": exp.Max(this=value.copy()),
    }
    needed = {"rows": {"count", "avg"}, "total": {"sum", "avg"}, "least": {"min"}, "greatest": {"max"}}
    return [
        alias(exp.Cast(this=tree, to=_DOUBLE.copy()) if needed[name] & functions else nothing.copy(), name)
        for name, tree in found.items()
    ]
