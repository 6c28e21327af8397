"""Many aggregates of a release at once, with the figures that each of them has by itself.

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
from sqlanon.estimates.batch.bitmasks import WORD, MaskedColumn, bits, masked
from sqlanon.estimates.batch.candidate_rows import matched
from sqlanon.estimates.batch.distinct_rows import Keep, ShownColumn, bucket_of, classes, number_of, numbered
from sqlanon.estimates.batch.satisfying_values import Constants, among, satisfying
from sqlanon.estimates.batch.sums import ONE, as_stored, label_moments, satisfying_moments, sums
from sqlanon.estimates.fixed_sql import fixed
from sqlanon.estimates.labels.leaves import ColumnUse, leaves
from sqlanon.estimates.labels.listed_leaves import MOMENTS, unit_weight
from sqlanon.estimates.labels.moments import leaf_moments
from sqlanon.estimates.numbers import Number, number
from sqlanon.estimates.query.bind import ROW
from sqlanon.estimates.query.conjunctions import VALUE, ConjunctiveAggregate
from sqlanon.estimates.query.templates import Slot
from sqlanon.estimates.release_model import ReleaseModel, bucketed_value
from sqlanon.estimates.single.bucket_values import require_whole
from sqlanon.estimates.single.estimate import label_of, text_of
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import big, cast, identical, same
from sqlanon.sqlgen.build.names import alias, column, literal, relation

__all__ = ["MOST_ROWS", "ReleaseAggregates", "kinds_of"]

# A statement has so many rows of masks at most, asks so many queries, and of buckets so many of so many classes.
MOST_ROWS = 20_000_000
_MOST_WORDS = 16
_MOST_PAIRS = 100_000_000

_DOUBLE = exp.DataType.build("DOUBLE")
_MATCHED = ("query", "n", "p", "certain")
# The columns with the moments of the one argument there is.
_MOMENTS = tuple(f"{moment}_{ONE}" for moment in MOMENTS)


@dataclass(frozen=True)
class _ReleaseColumn(MaskedColumn):
    """With the moments of the leaves that satisfy: query, number, mean, square, least and greatest."""

    moments: exp.Select | None


def kinds_of(engine: Engine, release: ReleaseModel) -> dict[str, str]:
    """The types of the values of each column that may be asked about, by its folded name."""
    kinds = {name: given.bound.type for name, given in release.generalized.items()}
    if release.exact:
        held = dict(engine.columns(release.rows.copy()))
        kinds |= {name: held[own] for name, own in release.exact.items()}
    for bucketed in release.bucketed:
        held = dict(engine.columns(bucketed.values.copy()))
        kinds |= {name: held[bucketed_value(place)] for place, name in enumerate(bucketed.columns)}
    return kinds


class ReleaseAggregates:
    """Asks aggregates of one release, of which `dictionaries` says what it says of `classes`.

    Raises PolicyError or DataError as ESTIMATE would, for one of them.
    """

    def __init__(
        self,
        engine: Engine,
        release: ReleaseModel,
        kinds: Mapping[str, str],
        asked: Sequence[ConjunctiveAggregate],
        constants: Constants,
        keep: Keep,
        *,
        dictionaries: bool,
    ) -> None:
        self._engine, self._release, self._kinds, self._keep = engine, release, kinds, keep
        self._constants = constants
        names = [name for one in asked for name in one.condition.conditions]
        self._names = list(dict.fromkeys([*names, *(one.argument for one in asked if one.argument is not None)]))
        self._asked = asked
        self._shown_by: dict[int, str] = {}
        rows = release.rows.copy().subquery(ROW)
        shown = [self._shown(name) for name in self._names]
        self._classes = classes(engine, rows, shown, keep, dictionaries=dictionaries)
        for place, name in enumerate(self._names):
            if name in release.bucketed_positions:
                self._require_whole(place, name)

    def figures(self) -> Iterator[tuple[int, exp.Query]]:
        """For some queries after the other how many they are, and a SELECT of their figures.

        It has query_id, groups, result, estimate, stderr, low and high.
        """
        count = max(1, self._classes.count)
        sizes = {
            False: WORD * max(1, min(_MOST_WORDS, MOST_ROWS // count)),
            # The rows of a bucket are added up for each query.
            True: max(1, min(WORD * _MOST_WORDS, _MOST_PAIRS // count)),
        }
        kinds: dict[tuple[str | None, str | None], list[ConjunctiveAggregate]] = {}
        for one in self._asked:
            # Counts of buckets ask of those of one column: those that ask of the same stand together.
            bucketed = next(
                (name for name in self._release.bucketed_positions if name in one.condition.conditions), None
            )
            kinds.setdefault((None if one.argument else bucketed, one.argument), []).append(one)
        for (name, argument), some in kinds.items():
            size = sizes[name is not None]
            for first in range(0, len(some), size):
                batch = some[first : first + size]
                yield len(batch), self._sums(batch, argument) if argument else self._counts(batch, name)

    def _shown(self, name: str) -> ShownColumn:
        release = self._release
        if name in release.generalized:
            given = release.generalized[name]
            return ShownColumn(label_of(given), text_of(given, column("label")))
        if name in release.bucketed_positions:
            return ShownColumn(
                column(str(release.bucket), ROW), bucketed=release.bucketed[release.bucketed_positions[name][0]]
            )
        return ShownColumn(column(release.exact[name], ROW))

    def _require_whole(self, place: int, name: str) -> None:
        held = column("bucket", "held").eq(column(bucket_of(place), "class"))
        rows = exp.select(alias(column("label", "held"), "bucket"), column("n", "class"))
        rows.from_(relation(self._classes.table, as_="class"), copy=False)
        rows.join(relation(self._classes.labels[place], as_="held"), on=held, copy=False)
        bucketed = self._release.bucketed[self._release.bucketed_positions[name][0]]
        values = exp.select(alias(column("bucket"), "label"), column("weight")).from_(bucketed.values.subquery("dealt"))
        require_whole(self._engine, self._release.name, self._keep("rows", rows), self._keep("values", values))

    def _counts(self, some: Sequence[ConjunctiveAggregate], bucketed: str | None) -> exp.Query:
        """The figures of some counts, which ask of the buckets of one column, or of none."""
        place = None if bucketed is None else self._names.index(bucketed)
        own = [] if place is None else [bucket_of(place), number_of(place)]
        asked = self._asked_of(some, None)
        found = self._matched(some, asked, own)
        query = exp.select(*(column(name, "found") for name in _MATCHED))
        query.from_(found.subquery("found", copy=False), copy=False)
        if place is None:
            nothing = cast(exp.null(), "DOUBLE")
            parts = {"bucket": literal(0), "satisfying": nothing, "total": nothing.copy()}
            query.select(*(alias(tree, name) for name, tree in parts.items()), copy=False)
        else:
            shares = next(one.shares for one in asked if one.place == place)
            number = column(number_of(place), "found").eq(column("number", "share"))
            query.select(alias(column(bucket_of(place), "found"), "bucket"), copy=False)
            query.select(column("satisfying", "share"), column("total", "share"), copy=False)
            share = exp.alias_(shares.copy(), "share", table=True, quoted=True)
            query.join(share, on=exp.and_(same("query", "found", "share"), number), copy=False)
            # They have nearly as many groups as rows: DuckDB adds them up faster from a table.
            query = exp.select(exp.Star()).from_(relation(self._keep("matched", query)))
        return self._figures(fixed("counts"), query, some)

    def _sums(self, some: Sequence[ConjunctiveAggregate], argument: str) -> exp.Query:
        """The figures of some sums, averages and ends of one column."""
        place = self._names.index(argument)
        asked = self._asked_of(some, place)
        found = self._matched(some, asked, [number_of(place)])
        query = exp.select(*(column(name, "found") for name in _MATCHED), *(column(name, "value") for name in MOMENTS))
        query.from_(found.subquery("found", copy=False), copy=False)
        on: exp.Expr = column(number_of(place), "found").eq(column("number", "value"))
        kind = self._number(argument)
        values = next((one.moments for one in asked if one.place == place), None)
        if values is None:
            values = label_moments(self._classes.labels[place], kind)
        else:
            on = exp.and_(on, same("query", "found", "value"))
        query.join(values.subquery("value"), on=on, copy=False)
        return as_stored(self._figures(sums(kind), query, some), kind)

    def _number(self, argument: str) -> Number:
        found = number(self._kinds[argument])
        assert found is not None
        return found

    def _asked_of(self, some: Sequence[ConjunctiveAggregate], argument: int | None) -> list[_ReleaseColumn]:
        """What the queries, numbered from 0, ask of each column; `argument` is the place of the one that they count."""
        compared = among({query: one.number for query, one in enumerate(some) if one.condition.compared}, self._keep)
        columns: list[_ReleaseColumn] = []
        for place, name in enumerate(self._names):
            conditions = {query: one.condition.conditions.get(name) for query, one in enumerate(some)}
            asked = {query: held for query, held in conditions.items() if held is not None}
            if asked:
                exact, counted = name in self._release.exact, place == argument
                leaf = self._leaves(place, some, counted)
                given = self._constants.of(name, compared)
                also = _MOMENTS if counted and not exact else ()
                found: exp.Query = satisfying(self._engine, leaf, self._kinds[name], asked, given, also)
                moments = None
                if also:
                    found = exp.select(exp.Star()).from_(relation(self._keep("satisfying", found)))
                    moments = satisfying_moments(found, self._number(name))
                held = found.subquery() if exact else relation(self._keep("share", _shares(leaf, found)))
                columns.append(_ReleaseColumn(place, self._classes.labels[place], held, asked.keys(), exact, moments))
        return columns

    def _matched(
        self, some: Sequence[ConjunctiveAggregate], asked: Sequence[MaskedColumn], own: Sequence[str]
    ) -> exp.Query:
        """The classes that may satisfy the queries, with the columns `own`."""
        recoded = [one for one in asked if not one.exact]
        carried = list(dict.fromkeys(["n", *(number_of(one.place) for one in recoded), *own]))
        masks = masked(self._classes.table, carried, asked, len(some), self._keep)
        return matched(masks, bits(len(some), self._keep), recoded, own)

    def _figures(self, query: exp.Query, found: exp.Query, some: Sequence[ConjunctiveAggregate]) -> exp.Query:
        numbers = [(query, one.number, one.result, one.function) for query, one in enumerate(some)]
        asked = self._keep("asked", *numbered(numbers))
        withheld = exp.select(alias(big(literal(self._release.withheld)), "rows")).subquery("withheld")
        for table in list(query.find_all(exp.Table)):
            if table.name == "asked":
                table.replace(relation(asked, as_="asked"))
            elif table.name == "matched":
                table.replace(found.subquery("matched", copy=False))
            elif table.name == "withheld":
                table.replace(withheld.copy())
        return query

    def _with_counts(self, place: int) -> exp.Select:
        """label, shown and n of every label of a column: how many rows show it, where that tells of others."""
        given, held = self._release.generalized[self._names[place]], relation(self._classes.labels[place], as_="held")
        labels = exp.select(column("label"), alias(column("text"), "shown")).from_(held)
        if "star" not in given.forms:
            return labels.select(alias(literal(1), "n"))
        if place not in self._shown_by:
            n = exp.select(alias(column(number_of(place)), "number"), alias(f.sum(column("n")), "n"))
            n = n.from_(relation(self._classes.table)).group_by(column(number_of(place)))
            self._shown_by[place] = self._keep("counts", n)
        on = same("number", "held", "counts")
        return labels.select(column("n", "counts")).join(
            relation(self._shown_by[place], as_="counts"), on=on, copy=False
        )

    def _leaves(self, place: int, some: Sequence[ConjunctiveAggregate], counted: bool) -> exp.Expr:
        """number, value and weight of the leaves below every label of a column, as a relation `leaf`.

        With their moments, where the values of a generalized column are counted.
        """
        release, name, labels = self._release, self._names[place], self._classes.labels[place]
        held = relation(labels, as_="held")
        if name in release.exact:
            parts = (column("number"), alias(column("label"), VALUE), alias(unit_weight(), "weight"))
            return exp.select(*parts).from_(held).subquery("leaf", copy=False)
        if name in release.bucketed_positions:
            which, at = release.bucketed_positions[name]
            # Any of the buckets with a number tells what all of them hold.
            first = alias(f.any_value(column("label")), "label")
            several = exp.select(column("number"), first).from_(held).group_by(column("number"))
            values = alias(column(bucketed_value(at), "leaf"), VALUE)
            rows = exp.select(column("number", "held"), values, column("weight", "leaf")).from_(
                several.subquery("held")
            )
            on = identical(column("label", "held"), column("bucket", "leaf"))
            rows.join(release.bucketed[which].values.subquery("leaf"), on=on, copy=False)
        else:
            shown = self._with_counts(place)
            asked = ColumnUse(shown, _constants(name, some), (), False)
            made = leaves(self._engine, release.generalized[name], asked, self._keep)
            rows = exp.select(column("number", "held"), column("value", "leaf"), column("weight", "leaf")).from_(held)
            if counted:
                kind = self._number(name)
                rows.select(*leaf_moments(column("value", "leaf"), ONE, "leaf", not made.each, kind), copy=False)
            on = identical(column("label", "held"), column("label", "leaf"))
            rows.join(relation(made.table, as_="leaf"), on=on, copy=False)
        return relation(self._keep("leaf", rows), as_="leaf")


def _constants(name: str, some: Sequence[ConjunctiveAggregate]) -> list[exp.Expr]:
    """What queries compare the values of a generalized column with, each once."""
    trees = dict.fromkeys(tree for one in some for tree in one.condition.constants.get(name, ()))
    slots = (held for one in some if isinstance(held := one.condition.conditions.get(name), Slot))
    values = dict.fromkeys((slot.text, value) for slot in slots for value in slot.values)
    return [*trees, *(exp.Literal(this=value, is_string=text) for text, value in values)]


def _shares(leaf: exp.Expr, found: exp.Query) -> exp.Query:
    """query, number, p, certain, satisfying and total: which share of a label's leaves satisfies, if any does."""
    query = fixed("share")
    for table in list(query.find_all(exp.Table)):
        if table.name == "leaf":
            table.replace(leaf.copy())
        elif table.name == "satisfying":
            table.replace(found.subquery("satisfying", copy=False))
    return query
