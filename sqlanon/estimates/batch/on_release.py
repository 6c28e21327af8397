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
from sqlanon.estimates.batch.class_counts import counts_of_classes, most_queries_on_classes
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
from sqlanon.estimates.fixed_sql import Tables, fixed, sizes, withheld_rows
from sqlanon.estimates.labels.leaves import ColumnUse, leaves
from sqlanon.estimates.labels.pieces import leaf_moments, moments_of, value_moments
from sqlanon.estimates.labels.spans import MOMENTS, unit_weight
from sqlanon.estimates.query.bind import ROW
from sqlanon.estimates.query.conjunctions import ConjunctiveAggregate, Slot
from sqlanon.estimates.release_model import ReleaseModel, bucketed_value
from sqlanon.estimates.single.bucket_sums import VARIANCES
from sqlanon.estimates.single.combination import require_whole
from sqlanon.estimates.single.estimate import label_of, text_of
from sqlanon.sql.build.expressions import case, cast, huge, same, union_all
from sqlanon.sql.build.names import alias, column, literal
from sqlanon.sql.build.queries import subquery
from sqlanon.sql.build.sql_files import Relation, filled, filled_query, filled_select, reading, relation_as

# The number of the argument in the names of its moments: there is but one argument.
ONE = 1
# The columns with the moments of the argument.
_MOMENTS = tuple(f"{moment}_{ONE}" for moment in MOMENTS)


@dataclass(frozen=True)
class _ReleaseColumn(MaskedColumn):
    """A column of the release with the numbers of the queries that have a condition on it, and the moments of its
    labels.
    """

    # For the argument, the moments of the leaves that satisfy: query, number, mean, square, least and greatest.
    moments: exp.Query | None = None


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
            if name is None and argument is None:
                size = most_queries_on_classes(self._engine, self._classes)
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
        rows = filled_query(
            "SELECT labels.label AS bucket, class.n FROM class JOIN labels ON labels.bucket = {class.bucket}",
            tables={"class": self._classes.table, "labels": self._classes.labels[index]},
            names={"bucket": bucket_of(index)},
        )
        bucketed = self._release.bucketed[self._release.bucketed_positions[name][0]]
        values = filled_query("SELECT bucket AS label, weight FROM value", tables={"value": bucketed.values})
        require_whole(
            self._engine, self._release.name, self._temp.table("rows", rows), self._temp.table("values", values)
        )

    def _counts(self, batch: Sequence[ConjunctiveAggregate], bucketed: str | None) -> exp.Query:
        """SELECT of the figures of counts whose conditions on bucketed columns are on the column `bucketed`, or on none
        if it is None.
        """
        columns = self._masked_columns(batch, None, in_arrays=bucketed is None)
        if bucketed is None:
            counts = counts_of_classes(self._engine, self._classes, columns, len(batch))
            tables: Tables = {
                "asked": self._results_table(batch),
                "summed": counts.table(self._temp),
                "withheld": self._withheld(),
            }
            return fixed("by_classes", tables)
        index = self._names.index(bucketed)
        candidates = self._matched(batch, columns, [bucket_of(index), number_of(index)])
        query = filled_query(
            "SELECT candidate.query, candidate.n, candidate.p, candidate.certain, {candidate.bucket} AS bucket, "
            "share.satisfying, share.total FROM candidate "
            "JOIN share ON candidate.query = share.query AND {candidate.number} = share.number",
            tables={"candidate": candidates, "share": next(col.shares for col in columns if col.index == index)},
            names={"bucket": bucket_of(index), "number": number_of(index)},
        )
        # They have nearly as many groups as rows: DuckDB adds them up faster from a table.
        table = self._temp.table("matched", query)
        query = filled_query("SELECT * FROM matched", tables={"matched": table})
        return self._figures(fixed("counts"), query, batch)

    def _sums(self, batch: Sequence[ConjunctiveAggregate], argument: str) -> exp.Query:
        """Returns the figures of the sums, averages, minima and maxima of one column."""
        index = self._names.index(argument)
        columns = self._masked_columns(batch, index)
        candidates = self._matched(batch, columns, [number_of(index)])
        kind = self._number(argument)
        moments = next((col.moments for col in columns if col.index == index), None)
        query = filled_query(
            "SELECT candidate.query, candidate.n, candidate.p, candidate.certain, "
            "value.mean, value.square, value.least, value.greatest "
            "FROM candidate JOIN value ON {candidate.number} = value.number AND $of_query",
            tables={
                "candidate": candidates,
                "value": label_moments(self._classes.labels[index], kind) if moments is None else moments,
            },
            names={"number": number_of(index)},
            of_query=exp.true() if moments is None else same("query", "candidate", "value"),
        )
        return as_stored(self._figures(sums(kind), query, batch), kind)

    def _number(self, argument: str) -> Number:
        kind = number(self._kinds[argument])
        assert kind is not None
        return kind

    def _masked_columns(
        self, batch: Sequence[ConjunctiveAggregate], argument: int | None, *, in_arrays: bool = False
    ) -> list[_ReleaseColumn]:
        """Returns the columns on which these aggregates have conditions; queries are numbered from 0.

        `argument` is the index of the aggregated column, None for counts. The shares of labels are not added up if they
        will be `in_arrays`.
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
                    table = self._temp.table("satisfying", satisfied)
                    satisfied = filled_query("SELECT * FROM satisfying", tables={"satisfying": table})
                    moments = satisfying_moments(satisfied, self._number(name))
                shares: Relation = satisfied
                if not (exact or in_arrays):
                    shares = self._temp.table("share", fixed("share", {"leaf": leaf, "satisfying": satisfied}))
                labels, leaves = self._classes.labels[index], None if exact or not in_arrays else leaf
                columns.append(_ReleaseColumn(index, labels, shares, known.keys(), exact, leaves, moments))
        return columns

    def _matched(
        self, batch: Sequence[ConjunctiveAggregate], columns: Sequence[MaskedColumn], extra: Sequence[str]
    ) -> exp.Query:
        """SELECT of query, n, p, certain and the columns `extra`: the classes of rows that may satisfy each query.

        p is the probability that a row of the class satisfies it.
        """
        recoded = [col for col in columns if not col.exact]
        carried = list(dict.fromkeys(["n", *(number_of(col.index) for col in recoded), *extra]))
        masks = masked(self._classes.table, carried, columns, len(batch), self._temp)
        return matched(masks, bits(len(batch), self._temp), recoded, extra)

    def _figures(self, query: exp.Query, candidates: exp.Query, batch: Sequence[ConjunctiveAggregate]) -> exp.Query:
        tables: Tables = {"asked": self._results_table(batch), "matched": candidates, "withheld": self._withheld()}
        return reading(query, tables)

    def _results_table(self, batch: Sequence[ConjunctiveAggregate]) -> str:
        """Creates the table of the results of a batch."""
        numbers = [
            (query, aggregate.number, aggregate.result, aggregate.function) for query, aggregate in enumerate(batch)
        ]
        return self._temp.table("asked", *numbered(numbers))

    def _withheld(self) -> exp.Select:
        return withheld_rows(self._release.withheld)

    def _with_counts(self, index: int) -> exp.Query:
        """Returns label, shown and n for each label of a column.

        n is the number of the label's rows; if no label is `*`, the numbers are not needed, and n is 1.
        """
        labels, names = self._classes.labels[index], {"number": number_of(index)}
        if "star" not in self._release.generalized[self._names[index]].forms:
            return filled_query("SELECT label, text AS shown, 1 AS n FROM labels", tables={"labels": labels})
        if index not in self._row_counts:
            count = "SELECT {number} AS number, sum(n) AS n FROM class GROUP BY {number}"
            query = filled_query(count, tables={"class": self._classes.table}, names=names)
            self._row_counts[index] = self._temp.table("counts", query)
        return filled_query(
            "SELECT label, text AS shown, counts.n FROM labels JOIN counts ON labels.number = counts.number",
            tables={"labels": labels, "counts": self._row_counts[index]},
        )

    def _leaves(self, index: int, batch: Sequence[ConjunctiveAggregate], counted: bool) -> Relation:
        """Returns the relation of the leaves below each label of a column: number, value and weight.

        If the values of a generalized column are `counted`, they have their moments, too.
        """
        release, name, labels = self._release, self._names[index], self._classes.labels[index]
        if name in release.exact:
            text = "SELECT number, label AS value, 1.0::DOUBLE AS weight FROM labels"
            return filled_query(text, tables={"labels": labels})
        if name in release.bucketed_positions:
            set_index, index_in_set = release.bucketed_positions[name]
            # All buckets with the same number have the same values.
            rows = filled_query(
                "SELECT several.number, {leaf.value} AS value, leaf.weight "
                "FROM (SELECT number, any_value(label) AS label FROM labels GROUP BY number) AS several "
                "JOIN leaf ON several.label IS NOT DISTINCT FROM leaf.bucket",
                tables={"labels": labels, "leaf": release.bucketed[set_index].values},
                names={"value": bucketed_value(index_in_set)},
            )
        else:
            use = ColumnUse(self._with_counts(index), _constants(name, batch), (), False)
            made = leaves(self._temp, release.generalized[name], use)
            value = column("value", "leaf")
            moments = leaf_moments(value, ONE, "leaf", not made.each, self._number(name)) if counted else []
            rows = filled_query(
                "SELECT labels.number, leaf.value, leaf.weight, {moments} "
                "FROM labels JOIN leaf ON labels.label IS NOT DISTINCT FROM leaf.label",
                tables={"labels": labels, "leaf": made.table},
                names={"moments": moments},
            )
        return self._temp.table("leaf", rows)


def _constants(name: str, batch: Sequence[ConjunctiveAggregate]) -> list[exp.Expr]:
    """Returns the distinct constants with which queries compare a generalized column."""
    trees = dict.fromkeys(tree for aggregate in batch for tree in aggregate.condition.constants.get(name, ()))
    slots = (
        condition for aggregate in batch if isinstance(condition := aggregate.condition.conditions.get(name), Slot)
    )
    values = dict.fromkeys((slot.text, value) for slot in slots for value in slot.values)
    return [*trees, *(exp.Literal(this=value, is_string=text) for text, value in values)]


def label_moments(labels: str, kind: Number) -> exp.Query:
    """Returns number and moments of each label of an exact column, where each label is a value."""
    moments = zip(MOMENTS, value_moments(column("label"), kind), strict=True)
    return filled_query(
        "SELECT number, {moments} FROM labels WHERE label IS NOT NULL",
        tables={"labels": labels},
        names={"moments": [alias(moment, name) for name, moment in moments]},
    )


def satisfying_moments(satisfying: exp.Query, kind: Number) -> exp.Query:
    """SELECT of query, number of a label, and the moments of the numbers of all leaves below the label that satisfy the
    query.

    `satisfying` has a row for each such leaf, and `kind` is the type of the numbers.
    """
    moments = zip(MOMENTS, moments_of(ONE, kind), strict=True)
    return filled_query(
        "SELECT query, number, {moments} FROM leaf GROUP BY query, number",
        tables={"leaf": satisfying},
        names={"moments": [alias(moment.this, name) for name, moment in moments]},
    )


def sums(kind: Number) -> exp.Query:
    """Returns the query of sums.sql over `matched`, `asked` and `withheld`, typed for one kind of numbers."""
    nothing = [alias(cast(exp.null(), "INTEGER"), name) for name in ("key", "number", "low", "high", *VARIANCES)]
    none = "SELECT {columns} WHERE false"
    figures = fixed(
        "figures",
        {
            "bound": filled_query(none, names={"columns": nothing[:4]}),
            "variance": filled_query(none, names={"columns": [*nothing[:2], *nothing[4:]]}),
        },
    )
    return fixed("sums", {"figure": figures}, unit=huge(literal(kind.unit)))


def as_stored(figures: exp.Query, kind: Number) -> exp.Query:
    """Returns figures whose bounds are DOUBLE, cast through the result type that DuckDB gives the aggregate."""
    bounds: list[exp.Expr] = []
    for end in ("low", "high"):
        stored = {
            function: kind.real(kind.bound(column(f"{function}_{end}"), function))
            for function in ("sum", "avg", "min", "max")
        }
        bounds.append(alias(case(*((column("function").eq(name), bound) for name, bound in stored.items())), end))
    text = "SELECT query_id, groups, result, estimate, spread, {bounds} FROM figures"
    return filled_query(text, tables={"figures": figures}, names={"bounds": bounds})


def matched(masks: str, bit: str, recoded: Sequence[MaskedColumn], columns: Sequence[str]) -> exp.Query:
    """Returns query, `columns`, n, p and certain. The rows are the classes that may satisfy each query.

    p is the probability that a row satisfies it, NULL if unknown. `masks` is the table of `masked`; `recoded` are the
    columns with labels that may or may not satisfy. Classes that certainly satisfy and agree in `columns` are one row.
    """
    if not recoded:
        return _certain(masks, bit, columns, column("possible", "masked"))
    certain = _certain(masks, bit, columns, column("certain", "masked"))
    return union_all([certain, _open(masks, bit, recoded, columns)])


def _certain(masks: str, bit: str, columns: Sequence[str], which: exp.Expr) -> exp.Query:
    """Returns the classes that certainly satisfy a query; classes with equal values in `columns` are one row."""
    return filled_query(
        "SELECT query, {columns}, CAST(sum(n) AS BIGINT) AS n, 1.0::DOUBLE AS p, true AS certain "
        "FROM each GROUP BY query, {columns}",
        tables={"each": each(masks, bit, ["n", *columns], which)},
        names={"columns": columns},
    )


def _open(masks: str, bit: str, recoded: Sequence[MaskedColumn], columns: Sequence[str]) -> exp.Select:
    """SELECT of the classes that may or may not satisfy a query, with p, the product of their labels' shares."""
    which = filled("xor(masked.possible, masked.certain)")
    numbers = [number_of(col.index) for col in recoded]
    query = filled_select(
        "SELECT each.query, {each.columns}, each.n FROM each",
        tables={"each": each(masks, bit, list(dict.fromkeys(["n", *numbers, *columns])), which)},
        names={"columns": columns},
    )
    p = unit_weight()
    for col in recoded:
        share = f"share_{col.index}"
        of_share = {name: [column(name, share)] for name in ("query", "number", "p")}
        same = "each.query = {query} AND {each.of_class} = {number}"
        on = filled(same, names=of_share | {"of_class": number_of(col.index)})
        query.join(relation_as(col.shares, share), on=on, join_type="LEFT", copy=False)
        # Labels have no share for a query without a condition on their column.
        p = filled("$p * CASE WHEN {query} IS NULL THEN 1.0::DOUBLE ELSE {p} END", names=of_share, p=p)
    return query.select(alias(p, "p"), alias(exp.false(), "certain"), copy=False)
