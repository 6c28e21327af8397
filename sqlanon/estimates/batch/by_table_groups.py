"""Counts of a release whose columns are published in separate tables, many at once, from the groups of each table.

A query has a condition on one or more of the tables. For each of these tables the rows of every group that satisfy the
query are counted; the counts are joined through the release's rows, which say which groups belong together. The figures
are those that each query would have by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError
from sqlanon.estimates.fixed_sql import Tables, fixed, withheld_rows
from sqlanon.estimates.query.bind import Binding
from sqlanon.estimates.query.evaluable import tried
from sqlanon.estimates.query.parse import AggregateQuery, is_plain
from sqlanon.estimates.query.templates import conjuncts
from sqlanon.estimates.release_model import ReleaseModel
from sqlanon.estimates.single.bucket_values import bucket_of_row, require_linked
from sqlanon.estimates.sizes import sizes
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, identical, if_, infix, paren, real, same, total, union_all
from sqlanon.sql.build.names import alias, column, literal, relation

# The most queries that one statement answers.
_MOST_QUERIES = 500

_BOOLEAN = exp.DataType.build("BOOLEAN")


Figures = tuple[int, float | None, float | None, int, int | None]


@dataclass(frozen=True)
class ConditionsByTable:
    """A query that counts the rows which satisfy a condition on each of one or more tables of the release."""

    # By the index of a table among `ReleaseModel.bucketed`, the condition that reads its columns.
    conditions: Mapping[int, exp.Expr]
    # Where nothing links the tables, the index of the one whose rows stand for the release's.
    base: int | None

    @property
    def indexes(self) -> tuple[int, ...]:
        """The indexes of the tables that have a condition, in ascending order."""
        return tuple(sorted(self.conditions))


def figures_by_tables(
    engine: Engine, release: ReleaseModel, queries: Mapping[int, AggregateQuery], scratch: Scratch
) -> Iterator[Figures]:
    """The number, estimate, spread and bounds of each query that can be answered together with others.

    Raises DataError where the release's tables do not belong together.
    """
    by_query = {
        n: by_table for n, query in queries.items() if (by_table := _conditions_by_table(query, release)) is not None
    }
    if by_query:
        require_linked(engine, release)
    # Queries about the same tables read the same rows.
    alike: dict[tuple[tuple[int, ...], int | None], dict[int, ConditionsByTable]] = {}
    for number, conditions in by_query.items():
        alike.setdefault((conditions.indexes, conditions.base), {})[number] = conditions
    for (indexes, base), alike_counts in alike.items():
        linked = scratch.table("linked", _linked(release, indexes))
        count = engine.rows(exp.select(f.count()).from_(relation(linked)))[0][0]
        size = max(1, min(_MOST_QUERIES, sizes().max_rows // max(1, int(count))))
        numbers = list(alike_counts)
        for first in range(0, len(numbers), size):
            batch = {number: alike_counts[number].conditions for number in numbers[first : first + size]}
            satisfying = {index: scratch.table("satisfying", _satisfying(release, index, batch)) for index in indexes}
            yield from figures_of(engine, release, list(batch), linked, satisfying, base, scratch)


def _conditions_by_table(query: AggregateQuery, release: ReleaseModel) -> ConditionsByTable | None:
    """The conditions of a query; None if it has to be answered by itself, or is refused."""
    counts = [item.function == "count" and item.argument is None for item in query.aggregates]
    if not is_plain(query) or counts != [True] or query.where is None:
        return None
    if fold(query.source.name) not in map(fold, release.names):
        return None
    binding = Binding(query, release, ())
    conditions: dict[int, list[exp.Expr]] = {}
    for part in conjuncts(query.where):
        index = _table_of(part, binding)
        try:
            bound = binding.bound(part)
        except PolicyError:
            return None
        if index is None:
            return None
        conditions.setdefault(index, []).append(_plain(bound))
    return ConditionsByTable({index: exp.and_(*parts, copy=False) for index, parts in conditions.items()}, binding.base)


def _table_of(condition: exp.Expr, binding: Binding) -> int | None:
    """The index of the only table that a condition reads; None where it reads none or several."""
    names = [fold(item.name) for item in condition.find_all(exp.Column)]
    indexes = {binding.positions[name][0] if name in binding.positions else None for name in names}
    return indexes.pop() if len(indexes) == 1 else None


def _plain(tree: exp.Expr) -> exp.Expr:
    """A bound condition as one that reads nothing but the rows of its table."""
    plain = tree.transform(lambda node: column(node.name) if isinstance(node, exp.Column) else node, copy=False)
    return tried(cast(paren(plain), "BOOLEAN"))


def _linked(release: ReleaseModel, indexes: Sequence[int]) -> exp.Select:
    """bucket_i for each of the tables, and n: how many rows of the release are in these groups together."""
    rows = exp.select(*(alias(bucket_of_row(release.bucketed[index]), group_column(index)) for index in indexes))
    names = [column(group_column(index)) for index in indexes]
    counted = exp.select(*names, alias(f.count(), "n"))
    counted = counted.from_(rows.from_(release.rows.copy().subquery("released")).subquery("row"))
    return counted.group_by(*(name.copy() for name in names))


def _satisfying(release: ReleaseModel, index: int, batch: Mapping[int, Mapping[int, exp.Expr]]) -> exp.Select:
    """query, bucket, satisfying and total: how many of the rows of each group satisfy each query, where any do."""
    values = release.bucketed[index].values
    parts: list[exp.Query] = []
    for number, conditions in batch.items():
        rows = exp.select(alias(literal(number), "query"), column("bucket"), column("weight")).from_(relation("value"))
        parts.append(rows.where(conditions[index].copy(), copy=False))
    # A weight is the number of rows that have the same values.
    weights = total(column("weight"))
    satisfying = exp.select(column("query"), column("bucket"), alias(weights, "satisfying"))
    satisfying = satisfying.from_(union_all(parts).subquery("all_rows", copy=False)).group_by(
        column("query"), column("bucket")
    )
    totals = exp.select(column("bucket"), alias(weights.copy(), "total")).from_(relation("value"))
    names = [column(name, "satisfied") for name in ("query", "bucket", "satisfying")]
    query = exp.select(*names, column("total", "all_rows")).from_(satisfying.subquery("satisfied", copy=False))
    alike = identical(column("bucket", "satisfied"), column("bucket", "all_rows"))
    query = query.join(totals.group_by(column("bucket")).subquery("all_rows"), on=alike, copy=False)
    return query.with_(exp.to_identifier("value", quoted=True), as_=values.copy(), materialized=True, copy=False)


def figures_of(
    engine: Engine,
    release: ReleaseModel,
    numbers: Sequence[int],
    linked: str,
    satisfying: Mapping[int, str],
    base: int | None,
    scratch: Scratch,
) -> Sequence[Figures]:
    """The figures of queries that have conditions on the same tables of the release.

    `linked` is the table of the release's rows by their groups. For the index of each table, `satisfying` is the table
    of how many rows of each group satisfy each query (query, bucket, satisfying and total).
    """
    matched = scratch.table("matched", _matched(linked, satisfying, base))
    indexes = list(satisfying)
    groups = scratch.table("group", union_all([_groups(release, matched, index, indexes) for index in indexes]))
    listed = f.unnest(exp.Array(expressions=[literal(number) for number in numbers]))
    tables: Tables = {
        "asked": exp.select(alias(listed, "query")),
        "matched": matched,
        "grouped": groups,
        "withheld": withheld_rows(release.withheld),
    }
    rows = engine.rows(fixed("by_table_groups", tables))
    return [(query, value, spread, low, high) for query, value, spread, low, high in rows]


def _matched(linked: str, satisfying: Mapping[int, str], base: int | None) -> exp.Select:
    """Combinations of groups with rows that may satisfy: query, n, known, p, certain, and counts of each group.

    Of the n rows `known` satisfy the condition that can be decided exactly, or n if there is none; each of these
    satisfies all conditions with the probability p.
    """
    query = exp.select(column("query", _satisfying_name(next(iter(satisfying)))), column("n", "linked"))
    query.from_(relation(linked, as_="linked"), copy=False)
    shares: dict[int, exp.Expr] = {}
    full: list[exp.Expr] = []
    first = ""
    for index, table in satisfying.items():
        name_of_table = _satisfying_name(index)
        on = identical(column(group_column(index), "linked"), column("bucket", name_of_table))
        query.join(
            relation(table, as_=name_of_table),
            on=exp.and_(on, same("query", first, name_of_table)) if first else on,
            copy=False,
        )
        first = first or name_of_table
        count_satisfying, count_total = column("satisfying", name_of_table), column("total", name_of_table)
        whole = count_satisfying.eq(count_total)
        names: dict[str, exp.Expr] = {group_column(index): column("bucket", name_of_table), f"full_{index}": whole}
        names |= {f"satisfying_{index}": count_satisfying, f"total_{index}": count_total}
        query.select(*(alias(tree.copy(), name) for name, tree in names.items()), copy=False)
        full.append(whole)
        shares[index] = infix(real(1.0) * count_satisfying, "/", count_total.copy())
    # The condition is exact if there is but one, and so is that on the table whose rows stand for the release's.
    sure = next(iter(shares)) if len(shares) == 1 else base
    known = shares.pop(sure) if sure in shares else real(1.0)
    p = real(1.0)
    for share in shares.values():
        p = infix(p, "*", share)
    count = infix(column("n", "linked"), "*", known)
    return query.select(alias(count, "known"), alias(p, "p"), alias(exp.and_(*full), "certain"), copy=False)


def _groups(release: ReleaseModel, matched: str, index: int, indexes: Sequence[int]) -> exp.Select:
    """query, place, component, satisfying, total, possible, open and always of each group of a table.

    `satisfying` of the `total` rows of the group satisfy the condition on this table. Of the release's rows in the
    group `possible` may satisfy the query, `open` may and need not, and `always` satisfy the conditions on all other
    tables. A component is bounded by itself: a bucket that all tables share, or all rows where tables have groups of
    their own.
    """
    none, n = literal(0), column("n")
    others = [column(f"full_{other}") for other in indexes if other != index]
    always = exp.and_(*others) if others else exp.true()
    counts = {
        "possible": n,
        "open": if_(column("certain"), none, n.copy()),
        "always": if_(always, n.copy(), none.copy()),
    }
    names = [column("query"), column(group_column(index)), column(f"satisfying_{index}"), column(f"total_{index}")]
    component = literal(0) if release.linked else names[1].copy()
    query = exp.select(names[0], alias(literal(index), "place"), alias(component, "component"))
    query.select(alias(names[2], "satisfying"), alias(names[3], "total"), copy=False)
    query.select(*(alias(total(tree), name) for name, tree in counts.items()), copy=False)
    return query.from_(relation(matched)).group_by(*(name.copy() for name in names))


def group_column(index: int) -> str:
    """The column with a row's group in the table at this index."""
    return f"bucket_{index}"


def _satisfying_name(index: int) -> str:
    """The alias of the table that says how many rows of each group satisfy the condition at this index."""
    return f"satisfying_of_{index}"
