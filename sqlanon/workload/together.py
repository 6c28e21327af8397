"""Many counts of a release at once, with the figures that each of them has by itself.

The released rows are counted by what they show of the columns that are asked about. For
each column there is a table of every query and label: the share of the label's leaves
that satisfy. The masks of these labels tell which classes may satisfy which query; n, or n times the product of the
shares where that is not certain, is added up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.sqlgen.names import alias, column, literal, relation
from sqlanon.sqlgen.terms import big, integer, union_all
from sqlanon.workload.binding import ROW
from sqlanon.workload.classes import Keep, Shown, bucket_of, classes, listed, number_of
from sqlanon.workload.conjunctions import VALUE, Conjunction
from sqlanon.workload.dealt import require_whole
from sqlanon.workload.estimators import labels_of
from sqlanon.workload.leaves import Asked, leaves
from sqlanon.workload.masks import WORD, Column, bits, each, masked
from sqlanon.workload.published import Published, dealt_name
from sqlanon.workload.satisfying import constants, satisfying
from sqlanon.workload.spans import fixed
from sqlanon.workload.templates import Slot

__all__ = ["MOST_ROWS", "One", "Together", "kinds_of"]

# A statement has so many rows of masks at most, and asks so many queries.
MOST_ROWS = 20_000_000
_MOST_WORDS = 16

_DOUBLE = exp.DataType.build("DOUBLE")


@dataclass(frozen=True)
class One:
    """A query of a workload by its number, what its count is called, and its condition."""

    number: int
    result: str
    condition: Conjunction


def kinds_of(engine: Engine, release: Published) -> dict[str, str]:
    """The types of the values of each column that may be asked about, by its folded name."""
    kinds = {name: given.bound.type for name, given in release.generalized.items()}
    if release.exact:
        held = dict(engine.columns(release.rows.copy()))
        kinds |= {name: held[own] for name, own in release.exact.items()}
    for dealt in release.dealt:
        held = dict(engine.columns(dealt.values.copy()))
        kinds |= {name: held[dealt_name(place)] for place, name in enumerate(dealt.columns)}
    return kinds


class Together:
    """Asks counts of one release. Raises PolicyError or DataError as ESTIMATE would, for one of them."""

    def __init__(
        self, engine: Engine, release: Published, kinds: Mapping[str, str], asked: Sequence[One], keep: Keep
    ) -> None:
        self._engine, self._release, self._kinds, self._keep = engine, release, kinds, keep
        self._names = list(dict.fromkeys(name for one in asked for name in one.condition.conditions))
        self._asked = asked
        rows = release.rows.copy().subquery(ROW)
        self._classes = classes(engine, rows, [self._shown(name) for name in self._names], keep)
        self._bits = bits(keep)
        for place, name in enumerate(self._names):
            if name in release.dealt_places:
                self._require_whole(place, name)

    def figures(self) -> Iterator[tuple[int, exp.Query]]:
        """For some queries after the other how many they are, and a SELECT of their figures.

        It has query_id, result, estimate, stderr, low and high.
        """
        size = WORD * max(1, min(_MOST_WORDS, MOST_ROWS // max(1, self._classes.count)))
        kinds: dict[str | None, list[One]] = {}
        for one in self._asked:
            # A query asks of the buckets of one column: those that ask of the same stand together.
            dealt = next((name for name in self._release.dealt_places if name in one.condition.conditions), None)
            kinds.setdefault(dealt, []).append(one)
        for dealt, some in kinds.items():
            for first in range(0, len(some), size):
                batch = some[first : first + size]
                yield len(batch), self._batch(batch, None if dealt is None else self._names.index(dealt))

    def _shown(self, name: str) -> Shown:
        release = self._release
        if name in release.generalized:
            return Shown(*labels_of(release.generalized[name]))
        if name in release.dealt_places:
            return Shown(column(str(release.bucket), ROW), dealt=release.dealt[release.dealt_places[name][0]])
        return Shown(column(release.exact[name], ROW))

    def _require_whole(self, place: int, name: str) -> None:
        held = exp.EQ(this=column("bucket", "held"), expression=column(bucket_of(place), "class"))
        rows = exp.select(alias(column("label", "held"), "bucket"), column("n", "class"))
        rows.from_(relation(self._classes.table, as_="class"), copy=False)
        rows.join(relation(self._classes.labels[place], as_="held"), on=held, copy=False)
        dealt = self._release.dealt[self._release.dealt_places[name][0]]
        values = exp.select(alias(column("bucket"), "label"), column("weight")).from_(dealt.values.subquery("dealt"))
        require_whole(self._engine, self._release.name, self._keep("rows", rows), self._keep("values", values))

    def _batch(self, some: Sequence[One], dealt: int | None) -> exp.Query:
        """The figures of some queries, of which those that ask of buckets ask of those of the column `dealt`."""
        conditions = [
            {query: held for query, one in enumerate(some) if (held := one.condition.conditions.get(name)) is not None}
            for name in self._names
        ]
        compared = constants(conditions, self._keep)
        asked: list[Column] = []
        for place, own in enumerate(conditions):
            if own:
                name, labels = self._names[place], self._classes.labels[place]
                leaf = self._leaves(place, some)
                found = satisfying(self._engine, leaf, self._kinds[name], place, own, compared)
                exact = name in self._release.exact
                held = found.subquery(copy=False) if exact else relation(self._keep("share", _shares(leaf, found)))
                asked.append(Column(place, labels, held, own.keys(), exact))
        recoded = [one for one in asked if not one.exact]
        carried = ["n", *(number_of(one.place) for one in recoded)]
        carried += [bucket_of(dealt)] if dealt is not None else []
        rows = masked(self._classes.table, carried, asked, len(some), self._keep)
        # They are read twice where not everything is certain.
        masks = relation(self._keep("masked", rows), as_="masked") if recoded else rows.subquery("masked", copy=False)
        tables = {
            "asked": self._keep("asked", *_numbered(some)),
            "matched": self._keep("matched", self._matched(masks, recoded, dealt)),
        }
        return self._figures(tables)

    def _matched(self, masks: exp.Expr, recoded: Sequence[Column], dealt: int | None) -> exp.Query:
        """query, bucket, n, p and certain of the classes that may satisfy, and what the bucket has of values."""
        certain = column("certain" if recoded else "possible", "masked")
        found: exp.Query = _certain(masks.copy() if recoded else masks, self._bits, dealt, certain)
        if recoded:
            found = union_all([found, _open(masks, self._bits, recoded, dealt)])
        query = exp.select(*(column(name, "found") for name in ("query", "bucket", "n", "p", "certain")))
        query.from_(found.subquery("found", copy=False), copy=False)
        share = next((one.shares for one in recoded if one.place == dealt), None)
        if share is None:
            nothing = exp.Cast(this=exp.null(), to=_DOUBLE.copy())
            return query.select(alias(nothing, "satisfying"), alias(nothing.copy(), "total"), copy=False)
        same = [exp.EQ(this=column(name, "found"), expression=column(name, "share")) for name in ("query", "number")]
        query.select(column("satisfying", "share"), column("total", "share"), copy=False)
        return query.join(exp.alias_(share.copy(), "share", table=True, quoted=True), on=exp.and_(*same), copy=False)

    def _figures(self, tables: Mapping[str, str]) -> exp.Query:
        query = fixed("together")
        withheld = exp.select(alias(big(literal(self._release.withheld)), "rows")).subquery("withheld")
        for table in list(query.find_all(exp.Table)):
            if table.name in tables:
                table.replace(relation(tables[table.name], as_=table.alias_or_name))
            elif table.name == "withheld":
                table.replace(withheld.copy())
        return query

    def _leaves(self, place: int, some: Sequence[One]) -> exp.Expr:
        """number, value and weight of the leaves below every label of a column, as a relation `leaf`."""
        release, name, labels = self._release, self._names[place], self._classes.labels[place]
        held = relation(labels, as_="held")
        if name in release.exact:
            parts = (column("number"), alias(column("label"), VALUE), alias(_one(), "weight"))
            return exp.select(*parts).from_(held).subquery("leaf", copy=False)
        if name in release.dealt_places:
            which, at = release.dealt_places[name]
            # Any of the buckets with a number tells what all of them hold.
            first = alias(exp.AnyValue(this=column("label")), "label")
            several = exp.select(column("number"), first).from_(held).group_by(column("number"))
            values = alias(column(dealt_name(at), "leaf"), VALUE)
            rows = exp.select(column("number", "held"), values, column("weight", "leaf")).from_(several.subquery("held"))
            same = exp.NullSafeEQ(this=column("label", "held"), expression=column("bucket", "leaf"))
            rows.join(release.dealt[which].values.subquery("leaf"), on=same, copy=False)
        else:
            shown = exp.select(column("label"), alias(column("text"), "shown")).from_(relation(labels))
            asked = Asked(shown, _constants(name, some), (), False)
            table, _ = leaves(self._engine, release.generalized[name], asked, self._keep)
            rows = exp.select(column("number", "held"), column("value", "leaf"), column("weight", "leaf")).from_(held)
            same = exp.NullSafeEQ(this=column("label", "held"), expression=column("label", "leaf"))
            rows.join(relation(table, as_="leaf"), on=same, copy=False)
        return relation(self._keep("leaf", rows), as_="leaf")


def _constants(name: str, some: Sequence[One]) -> list[exp.Expr]:
    """What queries compare the values of a generalized column with, each once."""
    trees = dict.fromkeys(tree for one in some for tree in one.condition.constants.get(name, ()))
    slots = (held for one in some if isinstance(held := one.condition.conditions.get(name), Slot))
    values = dict.fromkeys((slot.text, value) for slot in slots for value in slot.values)
    return [*trees, *(exp.Literal(this=value, is_string=text) for text, value in values)]


def _one() -> exp.Expr:
    return exp.Cast(this=literal(1), to=_DOUBLE.copy())


def _shares(leaf: exp.Expr, found: exp.Query) -> exp.Query:
    """query, number, p, certain, satisfying and total: which share of a label's leaves satisfies, if any does."""
    query = fixed("share")
    for table in list(query.find_all(exp.Table)):
        if table.name == "leaf":
            table.replace(leaf.copy())
        elif table.name == "satisfying":
            table.replace(found.subquery("satisfying", copy=False))
    return query


def _numbered(some: Sequence[One]) -> tuple[exp.Query, list[object]]:
    """query, query_id and result of the queries, numbered from 0, with the parameters of the SELECT."""
    kinds = {"query": "INTEGER", "query_id": "BIGINT", "result": "VARCHAR"}
    numbers = [[*range(len(some))], [one.number for one in some], [one.result for one in some]]
    return listed(kinds), [*numbers]


def _certain(masks: exp.Expr, bit: str, dealt: int | None, which: exp.Expr) -> exp.Select:
    """The classes that satisfy for certain, those of a query and bucket together."""
    own = [] if dealt is None else [bucket_of(dealt), number_of(dealt)]
    rows = each(masks, bit, ["n", *own], which)
    bucket = [column("query"), *map(column, own)]
    query = exp.select(column("query"), *_of_bucket(own), alias(big(exp.Sum(this=column("n"))), "n"))
    query.select(alias(_one(), "p"), alias(exp.true(), "certain"), copy=False)
    return query.from_(rows.subquery("each", copy=False)).group_by(*bucket)


def _open(masks: exp.Expr, bit: str, recoded: Sequence[Column], dealt: int | None) -> exp.Select:
    """The classes that may satisfy and need not: the product of their labels' shares is how likely they do."""
    own = [] if dealt is None else [bucket_of(dealt), number_of(dealt)]
    which = exp.Anonymous(this="xor", expressions=[column(side, "masked") for side in ("possible", "certain")])
    numbers = [number_of(one.place) for one in recoded]
    rows = each(masks, bit, list(dict.fromkeys(["n", *numbers, *own])), which)
    p = _one()
    query = exp.select(column("query", "each"), *_of_bucket(own, "each"), column("n", "each"))
    query.from_(rows.subquery("each", copy=False), copy=False)
    for one in recoded:
        share = f"share_{one.place}"
        # A query that does not ask about a column has no shares of its labels.
        found = exp.Is(this=column("query", share), expression=exp.Null())
        p = exp.Mul(this=p, expression=exp.Case(ifs=[exp.If(this=found, true=_one())], default=column("p", share)))
        same = exp.and_(
            exp.EQ(this=column("query", "each"), expression=column("query", share)),
            exp.EQ(this=column(number_of(one.place), "each"), expression=column("number", share)),
        )
        query.join(exp.alias_(one.shares.copy(), share, table=True, quoted=True), on=same, join_type="LEFT", copy=False)
    return query.select(alias(p, "p"), alias(exp.false(), "certain"), copy=False)


def _of_bucket(own: Sequence[str], of: str | None = None) -> list[exp.Expr]:
    """The bucket and its number, where there is one."""
    if own:
        return [alias(column(name, of), called) for name, called in zip(own, ("bucket", "number"), strict=True)]
    return [alias(integer(literal(0)), "bucket"), alias(integer(literal(0)), "number")]
