"""Estimates many aggregates on a release at once, with the same figures as ESTIMATE of each alone.

The released rows are counted by their labels in the columns that have conditions. For each column there is a table of
the share of each label's leaves that satisfy each query. Bitmasks of the labels tell which classes of rows may satisfy
which query. Estimates add up n for classes that certainly satisfy, and n times the product of the shares for other
classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.estimates.axes import Number, number
from sqlanon.estimates.batch.bitmasks import WORD, MaskedColumn, bits, each, masked
from sqlanon.estimates.batch.distinct_rows import (
    BatchContext,
    ColumnLabel,
    among,
    bucket_of,
    classes,
    number_of,
    numbered,
    satisfying,
)
from sqlanon.estimates.fixed_sql import fixed, sizes, withheld_rows
from sqlanon.estimates.labels.leaves import ColumnUse, leaves
from sqlanon.estimates.labels.pieces import leaf_moments, moments_of, value_moments
from sqlanon.estimates.labels.spans import MOMENTS, unit_weight
from sqlanon.estimates.query.bind import ROW
from sqlanon.estimates.query.conjunctions import VALUE, ConjunctiveAggregate, Slot
from sqlanon.estimates.release_model import ReleaseModel, bucketed_value
from sqlanon.estimates.single.bucket_sums import VARIANCES
from sqlanon.estimates.single.combination import require_whole
from sqlanon.estimates.single.estimate import label_of, text_of
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    and_,
    big,
    case,
    cast,
    huge,
    identical,
    if_,
    infix,
    integer,
    is_not_null,
    is_null,
    same,
    union_all,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, left_join, select, subquery
from sqlanon.sql.build.sql_files import reading

_DOUBLE = exp.DataType.build("DOUBLE")
_MATCHED = ("query", "n", "p", "certain")
# The number of the argument in the names of its moments. There is only one argument.
ONE = 1
# The columns with the moments of the argument.
_MOMENTS = tuple(f"{moment}_{ONE}" for moment in MOMENTS)


@dataclass(frozen=True)
class _ReleaseColumn(MaskedColumn):
    """A column of the release, and the numbers of the queries with a condition on it."""

    # For the argument, the moments of the leaves that satisfy: query, number, mean, square, least and greatest.
    moments: exp.Select | None


def kinds_of(engine: Engine, release: ReleaseModel) -> dict[str, str]:
    """Returns the value type of each column that a query may read, by its folded name."""
    kinds = {name: generalized.bound.type for name, generalized in release.generalized.items()}
    if release.exact:
        types = dict(engine.columns(release.rows.copy()))
        kinds |= {name: types[released_name] for name, released_name in release.exact.items()}
    for bucketed in release.bucketed:
        types = dict(engine.columns(bucketed.values.copy()))
        kinds |= {name: types[bucketed_value(index)] for index, name in enumerate(bucketed.columns)}
    return kinds


class ReleaseAggregates:
    """Answers aggregates on one release; `dictionaries` tells whether its texts are stored in dictionaries.

    Raises what ESTIMATE raises for one of the queries, PolicyError or DataError.
    """

    def __init__(
        self,
        context: BatchContext,
        release: ReleaseModel,
        aggregates: Sequence[ConjunctiveAggregate],
        *,
        dictionaries: bool,
    ) -> None:
        self._engine, self._temp = context.engine, context.temp
        self._kinds, self._constants = context.kinds, context.constants
        self._release = release
        names = [name for aggregate in aggregates for name in aggregate.condition.conditions]
        self._names = list(
            dict.fromkeys([*names, *(aggregate.argument for aggregate in aggregates if aggregate.argument is not None)])
        )
        self._aggregates = aggregates
        self._row_counts: dict[int, str] = {}
        rows = subquery(release.rows, ROW)
        columns = [self._column_label(name) for name in self._names]
        number = release.counted
        self._classes = classes(self._engine, rows, columns, self._temp, dictionaries=dictionaries, number=number)
        for index, name in enumerate(self._names):
            if name in release.bucketed_positions:
                self._require_whole(index, name)

    def figures(self) -> Iterator[tuple[int, exp.Query]]:
        """Yields for each batch the number of its aggregates, and a SELECT of their figures.

        The SELECT has query_id, groups, result, estimate, spread, low and high.
        """
        count = max(1, self._classes.count)
        limits = sizes()
        batch_sizes = {
            False: WORD * max(1, min(limits.max_words, limits.max_rows // count)),
            # The rows of a bucket are added up for each query.
            True: max(1, min(WORD * limits.max_words, limits.max_pairs // count)),
        }
        kinds: dict[tuple[str | None, str | None], list[ConjunctiveAggregate]] = {}
        for aggregate in self._aggregates:
            # A count has conditions on one set of bucketed columns at most; counts on the same set go together.
            bucketed = next(
                (name for name in self._release.bucketed_positions if name in aggregate.condition.conditions), None
            )
            kinds.setdefault((None if aggregate.argument else bucketed, aggregate.argument), []).append(aggregate)
        for (name, argument), alike in kinds.items():
            size = batch_sizes[name is not None]
            for first in range(0, len(alike), size):
                batch = alike[first : first + size]
                yield len(batch), self._sums(batch, argument) if argument else self._counts(batch, name)

    def _column_label(self, name: str) -> ColumnLabel:
        release = self._release
        if name in release.generalized:
            generalized = release.generalized[name]
            return ColumnLabel(label_of(generalized), text_of(generalized, column("label")))
        if name in release.bucketed_positions:
            return ColumnLabel(
                column(str(release.bucket), ROW), bucketed=release.bucketed[release.bucketed_positions[name][0]]
            )
        return ColumnLabel(column(release.exact[name], ROW))

    def _require_whole(self, index: int, name: str) -> None:
        same_label = column("bucket", "labels").eq(column(bucket_of(index), "class"))
        rows = select(alias(column("label", "labels"), "bucket"), column("n", "class"))
        extend(rows, of=relation(self._classes.table, as_="class"))
        extend(rows, joins=[inner_join(relation(self._classes.labels[index], as_="labels"), same_label)])
        bucketed = self._release.bucketed[self._release.bucketed_positions[name][0]]
        values = select(alias(column("bucket"), "label"), column("weight"), of=subquery(bucketed.values, "value"))
        require_whole(
            self._engine, self._release.name, self._temp.table("rows", rows), self._temp.table("values", values)
        )

    def _counts(self, batch: Sequence[ConjunctiveAggregate], bucketed: str | None) -> exp.Query:
        """Returns the figures of counts whose conditions are on one bucketed column, or on none."""
        index = None if bucketed is None else self._names.index(bucketed)
        extra = [] if index is None else [bucket_of(index), number_of(index)]
        columns = self._masked_columns(batch, None)
        candidates = self._matched(batch, columns, extra)
        query = select(*(column(name, "candidate") for name in _MATCHED), of=subquery(candidates, "candidate"))
        if index is None:
            nothing = cast(exp.null(), "DOUBLE")
            parts = {"bucket": literal(0), "satisfying": nothing, "total": nothing.copy()}
            extend(query, *(alias(tree, name) for name, tree in parts.items()))
        else:
            shares = next(col.shares for col in columns if col.index == index)
            number = column(number_of(index), "candidate").eq(column("number", "share"))
            extend(query, alias(column(bucket_of(index), "candidate"), "bucket"))
            extend(query, column("satisfying", "share"), column("total", "share"))
            share = exp.alias_(shares, "share", table=True, quoted=True)
            extend(query, joins=[inner_join(share, and_(same("query", "candidate", "share"), number))])
            # They have nearly as many groups as rows: DuckDB adds them up faster from a table.
            query = select(exp.Star(), of=relation(self._temp.table("matched", query)))
        return self._figures(fixed("counts"), query, batch)

    def _sums(self, batch: Sequence[ConjunctiveAggregate], argument: str) -> exp.Query:
        """Returns the figures of the sums, averages, minima and maxima of one column."""
        index = self._names.index(argument)
        columns = self._masked_columns(batch, index)
        candidates = self._matched(batch, columns, [number_of(index)])
        query = select(*(column(name, "candidate") for name in _MATCHED), *(column(name, "value") for name in MOMENTS))
        extend(query, of=subquery(candidates, "candidate"))
        on: exp.Expr = column(number_of(index), "candidate").eq(column("number", "value"))
        kind = self._number(argument)
        values = next((col.moments for col in columns if col.index == index), None)
        if values is None:
            values = label_moments(self._classes.labels[index], kind)
        else:
            on = and_(on, same("query", "candidate", "value"))
        extend(query, joins=[inner_join(subquery(values, "value"), on)])
        return as_stored(self._figures(sums(kind), query, batch), kind)

    def _number(self, argument: str) -> Number:
        kind = number(self._kinds[argument])
        assert kind is not None
        return kind

    def _masked_columns(self, batch: Sequence[ConjunctiveAggregate], argument: int | None) -> list[_ReleaseColumn]:
        """Returns the columns with conditions of the queries, numbered from 0; `argument` is the index of the
        aggregated one.
        """
        compared = among(
            {query: aggregate.number for query, aggregate in enumerate(batch) if aggregate.condition.compared},
            self._temp,
        )
        columns: list[_ReleaseColumn] = []
        for index, name in enumerate(self._names):
            conditions = {query: aggregate.condition.conditions.get(name) for query, aggregate in enumerate(batch)}
            known = {query: condition for query, condition in conditions.items() if condition is not None}
            if known:
                exact, counted = name in self._release.exact, index == argument
                leaf = self._leaves(index, batch, counted)
                constants = self._constants.of(name, compared)
                also = _MOMENTS if counted and not exact else ()
                satisfied: exp.Query = satisfying(self._engine, leaf, self._kinds[name], known, constants, also)
                moments = None
                if also:
                    satisfied = select(exp.Star(), of=relation(self._temp.table("satisfying", satisfied)))
                    moments = satisfying_moments(satisfied, self._number(name))
                if exact:
                    shares: exp.Expr = subquery(satisfied)
                else:
                    share = fixed("share", {"leaf": leaf.name, "satisfying": satisfied})
                    shares = relation(self._temp.table("share", share))
                columns.append(_ReleaseColumn(index, self._classes.labels[index], shares, known.keys(), exact, moments))
        return columns

    def _matched(
        self, batch: Sequence[ConjunctiveAggregate], columns: Sequence[MaskedColumn], extra: Sequence[str]
    ) -> exp.Query:
        """Returns query, n, p, certain and the columns `extra`: the classes that may satisfy each query."""
        recoded = [col for col in columns if not col.exact]
        carried = list(dict.fromkeys(["n", *(number_of(col.index) for col in recoded), *extra]))
        masks = masked(self._classes.table, carried, columns, len(batch), self._temp)
        return matched(masks, bits(len(batch), self._temp), recoded, extra)

    def _figures(self, query: exp.Query, candidates: exp.Query, batch: Sequence[ConjunctiveAggregate]) -> exp.Query:
        numbers = [
            (query, aggregate.number, aggregate.result, aggregate.function) for query, aggregate in enumerate(batch)
        ]
        queries = self._temp.table("asked", *numbered(numbers))
        return reading(
            query, {"asked": queries, "matched": candidates, "withheld": withheld_rows(self._release.withheld)}
        )

    def _with_counts(self, index: int) -> exp.Select:
        """Returns label, shown and n for each label of a column: n counts the label's rows, or is 1 if no label is
        `*`.
        """
        generalized, label_table = (
            self._release.generalized[self._names[index]],
            relation(self._classes.labels[index], as_="labels"),
        )
        labels = select(column("label"), alias(column("text"), "shown"), of=label_table)
        if "star" not in generalized.forms:
            return extend(labels, alias(literal(1), "n"))
        if index not in self._row_counts:
            n = select(alias(column(number_of(index)), "number"), alias(f.sum(column("n")), "n"))
            n = extend(n, of=relation(self._classes.table), group_by=[column(number_of(index))])
            self._row_counts[index] = self._temp.table("counts", n)
        on = same("number", "labels", "counts")
        return extend(
            labels, column("n", "counts"), joins=[inner_join(relation(self._row_counts[index], as_="counts"), on)]
        )

    def _leaves(self, index: int, batch: Sequence[ConjunctiveAggregate], counted: bool) -> exp.Expr:
        """Returns the relation `leaf`: number, value and weight of the leaves below each label of a column.

        If the values of a generalized column are `counted`, the relation has their moments, too.
        """
        release, name, labels = self._release, self._names[index], self._classes.labels[index]
        label_table = relation(labels, as_="labels")
        if name in release.exact:
            parts = (column("number"), alias(column("label"), VALUE), alias(unit_weight(), "weight"))
            return subquery(select(*parts, of=label_table), "leaf")
        if name in release.bucketed_positions:
            set_index, index_in_set = release.bucketed_positions[name]
            # All buckets with the same number have the same values.
            first = alias(f.any_value(column("label")), "label")
            several = select(column("number"), first, of=label_table, group_by=[column("number")])
            values = alias(column(bucketed_value(index_in_set), "leaf"), VALUE)
            rows = select(column("number", "labels"), values, column("weight", "leaf"), of=subquery(several, "labels"))
            on = identical(column("label", "labels"), column("bucket", "leaf"))
            extend(rows, joins=[inner_join(subquery(release.bucketed[set_index].values, "leaf"), on)])
        else:
            labels_with_counts = self._with_counts(index)
            use = ColumnUse(labels_with_counts, _constants(name, batch), (), False)
            made = leaves(self._temp, release.generalized[name], use)
            rows = select(column("number", "labels"), column("value", "leaf"), column("weight", "leaf"), of=label_table)
            if counted:
                kind = self._number(name)
                extend(rows, *leaf_moments(column("value", "leaf"), ONE, "leaf", not made.each, kind))
            on = identical(column("label", "labels"), column("label", "leaf"))
            extend(rows, joins=[inner_join(relation(made.table, as_="leaf"), on)])
        return relation(self._temp.table("leaf", rows), as_="leaf")


def _constants(name: str, batch: Sequence[ConjunctiveAggregate]) -> list[exp.Expr]:
    """Returns the distinct constants with which queries compare a generalized column."""
    trees = dict.fromkeys(tree for aggregate in batch for tree in aggregate.condition.constants.get(name, ()))
    slots = (
        condition for aggregate in batch if isinstance(condition := aggregate.condition.conditions.get(name), Slot)
    )
    values = dict.fromkeys((slot.text, value) for slot in slots for value in slot.values)
    return [*trees, *(exp.Literal(this=value, is_string=text) for text, value in values)]


def label_moments(labels: str, kind: Number) -> exp.Select:
    """Returns number and moments of each label of an exact column, where each label is a value."""
    moments = zip(MOMENTS, value_moments(column("label"), kind), strict=True)
    query = select(column("number"), *(alias(moment, name) for name, moment in moments))
    return extend(query, of=relation(labels), where=[is_not_null(column("label"))])


def satisfying_moments(satisfying: exp.Query, kind: Number) -> exp.Select:
    """Returns query, number and moments: the moments of the leaves below each label that satisfy the query."""
    keys = [column("query"), column("number")]
    moments = (alias(moment.this, name) for moment, name in zip(moments_of(ONE, kind), MOMENTS, strict=True))
    return select(*keys, *moments, of=subquery(satisfying, "leaf"), group_by=keys)


def sums(kind: Number) -> exp.Query:
    """Returns the query of sums.sql over `matched`, `asked` and `withheld`, typed for one kind of numbers."""
    nothing = [alias(integer(exp.null()), name) for name in ("key", "number", "low", "high")]
    unvaried = [alias(integer(exp.null()), name) for name in ("key", "number", *VARIANCES)]
    tables = {"bound": select(*nothing), "variance": select(*unvaried)}
    figures = fixed("figures", {name: query.where(exp.false()) for name, query in tables.items()})
    query = fixed("sums")
    unit = huge(literal(kind.unit))
    for name in list(query.find_all(exp.Column)):
        if name.name == "unit" and not name.table:
            name.replace(alias(unit, "unit"))
    return reading(query, {"figure": figures})


def as_stored(figures: exp.Query, kind: Number) -> exp.Query:
    """Returns figures whose bounds are DOUBLE, cast through the result type that DuckDB gives the aggregate."""
    bounds: list[exp.Expr] = []
    for end in ("low", "high"):
        stored = {
            function: kind.real(kind.bound(column(f"{function}_{end}"), function))
            for function in ("sum", "avg", "min", "max")
        }
        bounds.append(alias(case(*((column("function").eq(name), bound) for name, bound in stored.items())), end))
    names = ("query_id", "groups", "result", "estimate", "spread")
    return select(*map(column, names), *bounds, of=subquery(figures, "figures"))


_DOUBLE = exp.DataType.build("DOUBLE")


def matched(masks: str, bit: str, recoded: Sequence[MaskedColumn], columns: Sequence[str]) -> exp.Query:
    """Returns query, `columns`, n, p and certain. The rows are the classes that may satisfy each query.

    p is the probability that a row satisfies it, NULL if unknown. `masks` is the table of `masked`; `recoded` are the
    columns with labels that may or may not satisfy. Classes that certainly satisfy and agree in `columns` are one row.
    """
    if not recoded:
        return _certain(masks, bit, columns, column("possible", "masked"))
    certain = _certain(masks, bit, columns, column("certain", "masked"))
    return union_all([certain, _open(masks, bit, recoded, columns)])


def _certain(masks: str, bit: str, columns: Sequence[str], which: exp.Expr) -> exp.Select:
    """Returns the classes that satisfy a query for certain; classes with equal `columns` are one row."""
    keys = [column(name) for name in ("query", *columns)]
    query = select(*keys, alias(big(f.sum(column("n"))), "n"), alias(unit_weight(), "p"), alias(exp.true(), "certain"))
    rows = each(masks, bit, ["n", *columns], which)
    return extend(query, of=subquery(rows, "each"), group_by=keys)


def _open(masks: str, bit: str, recoded: Sequence[MaskedColumn], columns: Sequence[str]) -> exp.Select:
    """Returns the classes that may or may not satisfy a query; p is the product of their labels' shares."""
    which = f.call("xor", *(column(side, "masked") for side in ("possible", "certain")))
    numbers = [number_of(col.index) for col in recoded]
    rows = each(masks, bit, list(dict.fromkeys(["n", *numbers, *columns])), which)
    p = unit_weight()
    query = select(*(column(name, "each") for name in ("query", *columns, "n")), of=subquery(rows, "each"))
    for col in recoded:
        share = f"share_{col.index}"
        # Labels have no share for a query without a condition on their column.
        not_asked = is_null(column("query", share))
        p = infix(p, "*", if_(not_asked, unit_weight(), column("p", share)))
        same = and_(
            column("query", "each").eq(column("query", share)),
            column(number_of(col.index), "each").eq(column("number", share)),
        )
        shares = exp.alias_(col.shares, share, table=True, quoted=True)
        extend(query, joins=[left_join(shares, same)])
    return extend(query, alias(p, "p"), alias(exp.false(), "certain"))
