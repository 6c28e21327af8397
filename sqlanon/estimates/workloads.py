"""Random aggregate queries over a policy's source, and the errors of their estimates."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

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
    try_cast,
    union_all,
)
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.build.sql_files import filled_query, query_file
from sqlanon.sql.cells.value_ranks import is_number

# Random aggregate queries over a policy's source, all in one SELECT (Xiao and Tao 2006, Anatomy, section 6).
#
# Each query has predicates on some quasi-identifiers and on one sensitive attribute. A
# predicate names values that occur: for an attribute with few values a list of them, for
# one with many values a range.


# Predicates on an attribute with more values than this are ranges.
LISTED = 100

# Types whose values hold others.
_NESTED = re.compile(r"\]$|^(STRUCT|MAP|UNION|VARIANT|GEOMETRY)\b")


@dataclass(frozen=True)
class Queried:
    """An attribute on which the queries of a workload may have predicates.

    `column` is its name as SQL, and `table` has its `known` values, as `values_of` returns them. A predicate names
    `named` of them, as a range if `ranges` is true, and otherwise as a list.
    """

    column: str
    sensitive: bool
    table: str
    known: int
    named: int
    ranges: bool


def values_of(source: exp.Table, name: str, kind: str, bare: bool) -> exp.Query:
    """Returns rank and text: a column's values except NULL, numbered from 0 in order, as SQL literals.

    `bare` literals have no quotes. Values of the type `kind` whose text is read as another value are left out.
    """
    names, calls = {"column": name}, {"typed": partial(try_cast, kind=kind)}
    return query_file("workloads", "values", tables={"source": source}, names=names, calls=calls, bare=bare)


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


def drawn_queries(name: str, head: str, queried: Sequence[Queried], options: WorkloadOptions) -> exp.Query:
    """Returns workload, query_id and sql of each query; `head` is the text before the predicates."""
    indexes = [i for i, attribute in enumerate(queried) if not attribute.sensitive]
    others = [i for i, attribute in enumerate(queried) if attribute.sensitive]
    counts = ((indexes, options.predicates(len(indexes))), (others, 1))
    seed = str(options.seed)
    choices = [
        query_file("workloads", "picked", seed=seed, indexes=candidates, count=count)
        for candidates, count in counts
        if candidates
    ]
    predicates = [_predicates(index, attribute, seed) for index, attribute in enumerate(queried)]
    tables = {"choices": union_all(choices), "predicates": union_all(predicates)}
    return query_file("workloads", "drawn_queries", tables=tables, name=name, head=head, queries=options.queries)


def _predicates(index: int, attribute: Queried, seed: str) -> exp.Query:
    """Returns query_id, attribute and predicate of the queries with a predicate on attribute `index`."""
    return query_file(
        "workloads",
        "range_predicates" if attribute.ranges else "listed_predicates",
        tables={"known": attribute.table},
        attribute=index,
        column=attribute.column,
        draw=f"{seed} value {index}",
        known=attribute.known,
        named=attribute.named,
    )


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


def errors(tables: Mapping[str, str], release_id: str, workload: str) -> exp.Query:
    """Returns rows of anon.query_error, in the order of its columns, computed from the named tables."""
    return filled_query(
        "SELECT $release AS release_id, $workload AS workload, query_id, groups, result, actual, estimated, spread, "
        "low, high, relative_error, within, outcome FROM error",
        tables={"error": fixed("error", tables)},
        release=release_id,
        workload=workload,
    )


def stored_errors(release_id: str, workload: str) -> exp.Query:
    """Returns the rows of anon.query_error of a workload on a release."""
    text = "SELECT * FROM anon.query_error WHERE release_id = $release AND workload = $workload"
    return filled_query(text, release=release_id, workload=workload)


def summary(errors: exp.Query, queries: int) -> exp.Query:
    """Returns (figure, value): a summary of `errors`; `queries` is the number of queries."""
    workload = filled_query("SELECT $queries AS queries", queries=queries)
    return fixed("summary", {"query_error": errors, "workload": workload})
