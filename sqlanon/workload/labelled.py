"""Rows by the numbers of their labels, in the order of the values, and the masks of these numbers.

The functions under udfs/ read a row as a number for each column that queries ask about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.sqlgen.names import alias, column, literal, relation
from sqlanon.sqlgen.terms import integer, union_all
from sqlanon.workload.binding import ROW
from sqlanon.workload.classes import Keep
from sqlanon.workload.conjunctions import VALUE, Condition, Part, common_type
from sqlanon.workload.published import Dealt, Published, dealt_name
from sqlanon.workload.satisfying import Constants, among, satisfying
from sqlanon.workload.templates import Slot

if TYPE_CHECKING:
    from sqlanon.workload.answering import Masks

__all__ = ["DEALT", "LOCAL_BITS", "Labelled", "called", "labels", "lists", "masks", "number_name", "numbered_rows"]


# The relation of the values that are dealt out.
DEALT = "dealt"
# Buckets of a block agree but for so many bits of their numbers.
LOCAL_BITS = 16


def number_name(place: int) -> str:
    return f"number_{place}"


class Labelled:
    """The columns of a release with numbers for their values, and what some queries ask of these."""

    def __init__(
        self, engine: Engine, release: Published, kinds: Mapping[str, str], constants: Constants, keep: Keep
    ) -> None:
        self.engine, self.release, self.keep = engine, release, keep
        self._kinds, self._constants = kinds, constants
        self._labels: dict[str, str] = {}

    def labels_of(self, name: str) -> str:
        """The table of a column's labels."""
        if name not in self._labels:
            rows, value = self._value(name)
            self._labels[name] = labels(rows, value, self.keep)
        return self._labels[name]

    def masks(self, names: Iterable[str], some: Sequence[Part]) -> dict[str, Masks]:
        """The masks of the labels of some columns for these queries, numbered from 0."""
        compared = among({query: one.number for query, one in enumerate(some) if one.condition.compared}, self.keep)
        found: dict[str, Masks] = {}
        for name in names:
            parts = ((query, one.condition.conditions.get(name)) for query, one in enumerate(some))
            asked = {query: part for query, part in parts if part is not None}
            given, kind = self._constants.of(name, compared), self._kinds[name]
            found[name] = masks(self.engine, self.labels_of(name), kind, asked, given, len(some))
        return found

    def numbered(self, names: Sequence[str], also: Sequence[exp.Alias], dealt: Dealt | None = None) -> exp.Select:
        """The rows of the release, or the values that are dealt out, with the number of each label."""
        rows = self.release.rows.subquery(ROW) if dealt is None else dealt.values.subquery(DEALT)
        values = [self._value(name)[1] for name in names]
        return numbered_rows(rows, values, [self.labels_of(name) for name in names], also)

    def _value(self, name: str) -> tuple[exp.Expr, exp.Expr]:
        if name in self.release.exact:
            return self.release.rows.subquery(ROW), column(self.release.exact[name], ROW)
        which, at = self.release.dealt_places[name]
        return self.release.dealt[which].values.subquery(DEALT), column(dealt_name(at), DEALT)


def labels(rows: exp.Expr, value: exp.Expr, keep: Keep) -> str:
    """The table of number, from 0, and value of what occurs, NULL at the end."""
    different = exp.select(alias(value, VALUE)).distinct(copy=False).from_(rows.copy(), copy=False)
    order = exp.Order(expressions=[exp.Ordered(this=column(VALUE), desc=False, nulls_first=False)])
    number = exp.Sub(this=exp.Window(this=exp.RowNumber(), order=order), expression=literal(1))
    return keep(
        "label",
        exp.select(alias(integer(exp.Paren(this=number)), "number"), column(VALUE)).from_(
            different.subquery("different")
        ),
    )


def numbered_rows(
    rows: exp.Expr, values: Sequence[exp.Expr], tables: Sequence[str], also: Sequence[exp.Alias] = ()
) -> exp.Select:
    """The columns `also` of all rows, and the number of each of their values."""
    named = [alias(value, f"value_{place}") for place, value in enumerate(values)]
    shown = exp.select(*named, *also).from_(rows.copy(), copy=False)
    query = exp.select(*(column(part.alias, "shown") for part in also)).from_(shown.subquery("shown"), copy=False)
    for place, table in enumerate(tables):
        held = f"held_{place}"
        # What compares NULL with NULL is a third slower: NULL, which equals nothing, has the last number.
        same = exp.EQ(this=column(f"value_{place}", "shown"), expression=column(VALUE, held))
        query.join(relation(table, as_=held), on=same, join_type="LEFT", copy=False)
        last = exp.select(exp.Max(this=column("number"))).from_(relation(table)).subquery()
        number = exp.Coalesce(this=column("number", held), expressions=[last])
        query.select(alias(number, number_name(place)), copy=False)
    return query


def lists(columns: int) -> exp.Expr:
    """The numbers of a group of rows, a list for each column."""
    parts = [called("list", column(number_name(place))) for place in range(columns)]
    kind = exp.DataType.build("INTEGER[][]", dialect="duckdb")
    return exp.Cast(this=exp.Array(expressions=parts), to=kind)


def called(function: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=function, expressions=list(arguments))


def masks(
    engine: Engine, table: str, kind: str, asked: Mapping[int, Condition], compared: exp.Select | None, queries: int
) -> Masks:
    """The masks of the labels in a table, of which some of so many queries ask."""
    from sqlanon.workload.answering import masks_of

    ((count,),) = engine.rows(exp.select(exp.Count(this=exp.Star())).from_(relation(table)))
    found = engine.rows(_intervals(engine, table, kind, asked, compared))
    return masks_of(int(count), queries, list(asked), found)


def _intervals(
    engine: Engine, table: str, kind: str, asked: Mapping[int, Condition], compared: exp.Select | None
) -> exp.Query:
    """query, low and high: the numbers of labels that satisfy what queries ask of them, runs of them as one row."""
    between = {query: one for query, one in asked.items() if isinstance(one, Slot) and one.between}
    others = {query: one for query, one in asked.items() if query not in between}
    found: list[exp.Query] = []
    if between and compared is not None and (common := common_type(next(iter(between.values())), kind)):
        found.append(_between(table, common, compared))
    if others:
        value = exp.select(column("number"), column(VALUE), alias(literal(1), "weight")).from_(relation(table))
        held = satisfying(engine, value.subquery("leaf", copy=False), kind, others, compared)
        found.append(_runs(exp.select(column("query"), column("number")).from_(held.subquery("held", copy=False))))
    return union_all(found)


def _between(table: str, common: str, compared: exp.Select) -> exp.Select:
    """The labels between two constants: the first that is not below one, the last that is not above the other."""
    kind = exp.DataType.build(common, dialect="duckdb")
    ends = [alias(exp.TryCast(this=column(end), to=kind.copy()), end) for end in ("low", "high")]
    has = exp.Not(this=exp.Is(this=column("high"), expression=exp.Null()))
    asked = exp.select(column("query"), *ends).distinct(copy=False).from_(compared.subquery("compared")).where(has)
    value = alias(exp.Cast(this=column(VALUE), to=kind.copy()), VALUE)
    known = exp.Not(this=exp.Is(this=column(VALUE), expression=exp.Null()))
    held = exp.select(column("number"), value).from_(relation(table)).where(known)
    query = exp.select(column("query", "asked"), alias(column("number", "first"), "low")).from_(asked.subquery("asked"))
    query.select(alias(column("number", "last"), "high"), copy=False)
    for name, end, compares in (("first", "low", exp.LTE), ("last", "high", exp.GTE)):
        on = compares(this=column(end, "asked"), expression=column(VALUE, name))
        query.append("joins", exp.Join(this=held.copy().subquery(name), method="ASOF", on=on))
    return query.where(exp.LTE(this=column("number", "first"), expression=column("number", "last")), copy=False)


def _runs(held: exp.Select) -> exp.Select:
    """Numbers behind each other as the first and the last of them."""
    order = exp.Order(expressions=[exp.Ordered(this=column("number"), desc=False, nulls_first=False)])
    place = exp.Window(this=exp.RowNumber(), partition_by=[column("query")], order=order)
    run = exp.Sub(this=column("number"), expression=place)
    every = exp.select(column("query"), column("number"), alias(run, "run")).from_(held.subquery("held"))
    query = exp.select(column("query"), alias(exp.Min(this=column("number")), "low"))
    query.select(alias(exp.Max(this=column("number")), "high"), copy=False)
    return query.from_(every.subquery("every")).group_by(column("query"), column("run"))
