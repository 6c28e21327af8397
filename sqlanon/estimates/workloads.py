"""Random aggregate queries over a policy's source, and the errors of their estimates."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.numbers import counted
from sqlanon.domain.workload import WorkloadOptions
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError
from sqlanon.estimates.fixed_sql import fixed
from sqlanon.sources.column_types import ENUM
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    as_text,
    ascending,
    big,
    cast,
    if_,
    infix,
    integer,
    joined,
    order_by,
    paren,
    try_cast,
    union_all,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import cross_join, extend, inner_join, select, subquery
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.cells.value_ranks import is_number

# Random aggregate queries over a policy's source, all in one SELECT (Xiao and Tao 2006, Anatomy, section 6).
#
# Each query has predicates on some quasi-identifiers and on one sensitive attribute. A
# predicate names values that occur: for an attribute with few values a list of them, for
# one with many values a range.


# Predicates on an attribute with more values than this are ranges.
LISTED = 100

_VARCHAR = exp.DataType.build("VARCHAR")
# Types whose values hold others.
_NESTED = re.compile(r"\]$|^(STRUCT|MAP|UNION|VARIANT|GEOMETRY)\b")


@dataclass(frozen=True)
class Queried:
    """An attribute on which queries may have predicates.

    `column` is its name as SQL, and `table` has its `known` values, the rows of `values_of`. A predicate names `named`
    of them, as a range if `ranges` is true, and otherwise as a list.
    """

    column: str
    sensitive: bool
    table: str
    known: int
    named: int
    ranges: bool


def values_of(source: exp.Table, name: str, kind: str, bare: bool) -> exp.Select:
    """Returns rank and text: a column's values except NULL, numbered from 0 in order, as SQL literals.

    `bare` literals have no quotes. Values of the type `kind` whose text is read as another value are left out.
    """
    value = column("value")
    distinct = select(alias(column(name), "value"), distinct=True, of=source)
    order = order_by(ascending(value))
    rank = window(f.row_number(), order=order) - 1
    text: exp.Expr = as_text(value)
    quoted = joined(_text("'"), _called("replace", text, _text("'"), _text("''")), _text("'"))
    if bare:
        # inf and nan are not literals.
        finite = _called("isfinite", cast(value, "DOUBLE"))
        quoted = if_(finite, text, quoted)
    value_of_text = try_cast(text, kind)
    known = select(exp.Star(), of=subquery(distinct, "value"), where=[value.eq(value_of_text)])
    return select(alias(big(rank), "rank"), alias(quoted, "text"), of=subquery(known, "known"))


def queried_columns(engine: Engine, bound: BoundPolicy, options: WorkloadOptions, temp: TempTables) -> list[Queried]:
    """Returns the attributes for predicates: the quasi-identifiers, or the other published ones if there are none.

    Raises PolicyError if a query would need more attributes than there are attributes with values.
    """
    hidden = {id(attribute) for attribute in (*bound.quasi_identifiers, *bound.sensitive)}
    others = [
        attribute for attribute in bound.published if id(attribute) not in hidden and not attribute.attribute.pseudonym
    ]
    quasi = _with_values(engine, bound, bound.quasi_identifiers or others, temp)
    # No estimate reads the labels that stand for the values of a coarse column.
    own_values = [attribute for attribute in bound.sensitive if not attribute.attribute.is_coarse]
    sensitive = _with_values(engine, bound, own_values, temp)
    dimensions = options.predicates(len(quasi))
    if dimensions > len(quasi):
        raise PolicyError(
            f"{bound.policy} has {counted(len(quasi), 'quasi-identifier')} with a value to ask about, and a query "
            f"would ask about {dimensions}",
            hint=f"write dimensions => {len(quasi)}" if quasi else "leave dimensions out",
        )
    predicates = dimensions + bool(sensitive)
    if not predicates:
        raise PolicyError(
            f"{bound.policy} has no column with a value to ask about",
            hint="queries ask about numbers, texts, dates and the like: fill the source, or publish such a column",
        )
    return [
        Queried(
            to_sql(column(attribute.column)),
            attribute in bound.sensitive,
            table,
            known,
            options.values(known, predicates),
            ranges,
        )
        for attribute, table, known, ranges in (*quasi, *sensitive)
    ]


def _with_values(
    engine: Engine, bound: BoundPolicy, attributes: Sequence[BoundAttribute], temp: TempTables
) -> list[tuple[BoundAttribute, str, int, bool]]:
    """Returns the attributes with values that a query can name, each with the table of its values, their number, and
    whether queries name ranges of them.
    """
    attributes_with_values: list[tuple[BoundAttribute, str, int, bool]] = []
    for attribute in attributes:
        if _NESTED.search(attribute.type) is None:
            rows = relation(bound.relation)
            if not engine.reads_in_place:
                # Where the rows are, nobody writes values as SQL.
                different = select(column(attribute.column), distinct=True, of=rows)
                rows = relation(temp.table("distinct", different))
            values = values_of(rows, attribute.column, attribute.type, is_number(attribute))
            table = temp.table("values", values)
            known = int(engine.rows(select(f.count(), of=relation(table)))[0][0])
            # No release shows the order of an ENUM.
            ranges = known > LISTED and not attribute.type.startswith(ENUM)
            attributes_with_values += [(attribute, table, known, ranges)] if known else []
    return attributes_with_values


def drawn_queries(name: str, head: str, queried: Sequence[Queried], options: WorkloadOptions) -> exp.Select:
    """Returns workload, query_id and sql of each query; `head` is the text before the predicates."""
    numbers = f.call("range", 1, literal(options.queries + 1))
    query_id = alias(f.unnest(numbers), "query_id")
    indexes = [i for i, attribute in enumerate(queried) if not attribute.sensitive]
    others = [i for i, attribute in enumerate(queried) if attribute.sensitive]
    counts = ((indexes, options.predicates(len(indexes))), (others, 1))
    choices = [_picked(candidates, count, options.seed) for candidates, count in counts if candidates]
    predicates = [_predicates(index, attribute, options.seed) for index, attribute in enumerate(queried)]
    condition = f.string_agg(column("predicate"), _text(" AND "), order_by(_ascending("attribute")))
    query = select(alias(literal(name), "workload"), column("query_id"), alias(joined(_text(head), condition), "sql"))
    extend(query, of=relation("predicate"), group_by=[column("query_id")])
    query.with_("query", as_=select(query_id), copy=False)
    query.with_("choice", as_=union_all(choices), copy=False)
    return query.with_("predicate", as_=union_all(predicates), copy=False)


def _picked(indexes: Sequence[int], count: int, seed: int) -> exp.Select:
    """Returns query_id and attribute: for each query, `count` of the `indexes`, chosen at random without
    replacement.
    """
    rows = exp.Array(expressions=[literal(index) for index in indexes])
    each = select(column("query_id"), alias(f.unnest(rows), "attribute"), of=relation("query"))
    order = order_by(_draw(seed, "attribute", column("query_id"), column("attribute")))
    number = window(f.row_number(), partition_by=[column("query_id")], order=order)
    numbered = select(exp.Star(), alias(number, "number"), of=subquery(each, "each"))
    is_chosen = column("number") <= literal(count)
    return select(
        column("query_id"),
        alias(integer(column("attribute")), "attribute"),
        of=subquery(numbered, "n"),
        where=[is_chosen],
    )


def _predicates(index: int, attribute: Queried, seed: int) -> exp.Select:
    """Returns query_id, attribute and predicate of the queries with a predicate on attribute `index`."""
    on_attribute = column("attribute", "choice").eq(literal(index))
    if attribute.ranges:
        return extend(_ranges(index, attribute, seed), where=[on_attribute])
    draw = _draw(seed, f"value {index}", column("query_id", "choice"), column("rank", "known"))
    number = window(f.row_number(), partition_by=[column("query_id", "choice")], order=order_by(draw))
    each = select(
        column("query_id", "choice"), column("rank", "known"), column("text", "known"), alias(number, "number")
    )
    extend(each, of=relation("choice"), joins=[cross_join(relation(attribute.table, as_="known"))])
    extend(each, where=[on_attribute])
    is_named = column("number") <= literal(attribute.named)
    texts = f.string_agg(column("text"), _text(", "), order_by(_ascending("rank")))
    predicate = joined(_text(f"{attribute.column} IN ("), texts, _text(")"))
    query = select(column("query_id"), alias(integer(literal(index)), "attribute"), alias(predicate, "predicate"))
    return extend(query, of=subquery(each, "each"), where=[is_named], group_by=[column("query_id")])


def _ranges(index: int, attribute: Queried, seed: int) -> exp.Select:
    """Returns query_id, attribute and a range predicate, whose first value is random."""
    draw = _draw(seed, f"value {index}", column("query_id", "choice"), literal(0))
    first = big(infix(draw, "%", literal(attribute.known - attribute.named + 1)))
    last = infix(first, "+", literal(attribute.named - 1))
    ends = [column("text", "low"), column("text", "high")]
    predicate = joined(_text(f"{attribute.column} BETWEEN "), ends[0], _text(" AND "), ends[1])
    query = select(
        column("query_id", "choice"), alias(integer(literal(index)), "attribute"), alias(predicate, "predicate")
    )
    extend(query, of=relation("choice"))
    for end, rank in (("low", first), ("high", last)):
        on = infix(column("rank", end), "=", paren(rank))
        extend(query, joins=[inner_join(relation(attribute.table, as_=end), on)])
    return query


def _draw(seed: int, what: str, query_id: exp.Expr, number: exp.Expr) -> exp.Expr:
    """Returns 64 random bits that depend only on the arguments, on any machine and version of DuckDB."""
    parts = [
        _text(f"{seed} {what}"),
        as_text(query_id),
        as_text(number),
    ]
    return _called("md5_number_lower", _called("concat_ws", _text("/"), *parts))


def _called(name: str, *arguments: exp.Expr) -> exp.Expr:
    return f.call(name, *arguments)


def _text(text: str) -> exp.Expr:
    return exp.Literal.string(text)


def _ascending(name: str) -> exp.Ordered:
    return ascending(column(name))


# The errors of estimates against the actual results, and a summary of all queries of a workload.
#
# `actual` has query_id, groups (the texts of the group's columns), result (the name of an
# aggregate) and value; `estimated` the same with estimate, spread, low and high, and whether HAVING keeps the group.
# `room` has for the results of queries with groups how many rows may be in groups that are not
# estimated, NULL where nobody knows, and whether the result counts rows; `refused` has the queries that
# the release cannot answer. The relative error of an estimate is |estimate - actual| / |actual| (Xiao and
# Tao 2006, section 6). Where the actual value is 0 there is none; such results are counted apart, as the
# papers leave them out.


ACTUAL = ("query_id", "groups", "result", "value")
ESTIMATED = ("query_id", "groups", "result", "estimate", "spread", "low", "high", "kept")
REFUSED = ("query_id",)
ROOM = ("query_id", "result", "counts", "room")


def errors(tables: Mapping[str, str], release_id: str, workload: str) -> exp.Select:
    """Returns rows of anon.query_error, in the order of its columns, computed from the named tables."""
    rows = fixed("error", tables)
    names = (
        "query_id",
        "groups",
        "result",
        "actual",
        "estimated",
        "spread",
        "low",
        "high",
        "relative_error",
        "within",
        "outcome",
    )
    head = [alias(literal(release_id), "release_id"), alias(literal(workload), "workload")]
    return select(*head, *(column(name) for name in names), of=subquery(rows, "error"))


def stored_errors(release_id: str, workload: str) -> exp.Select:
    """Returns the rows of anon.query_error of a workload on a release."""
    return select(
        exp.Star(),
        of=relation(("anon", "query_error")),
        where=[column("release_id").eq(literal(release_id)), column("workload").eq(literal(workload))],
    )


def summary(errors: exp.Select, queries: int) -> exp.Query:
    """Returns (figure, value): a summary of `errors`; `queries` is the number of queries."""
    workload_row = select(alias(literal(queries), "queries"))
    return fixed("summary", {"query_error": errors, "workload": workload_row})
