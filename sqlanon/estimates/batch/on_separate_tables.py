"""Answers many counts at once on a release that publishes its columns in separate tables.

If no links tell which rows of the tables belong together, all rows are one bucket, and it is enough to count the
satisfying rows of each table. The same holds for conditions on one table. Other counts are sums over the links: a
function under `udfs/` adds up over groups and their links.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.engines.udfs import registered
from sqlanon.errors import PolicyError
from sqlanon.estimates.batch.bitmasks import BUCKETED, ReleaseLabels, code_name, in_block
from sqlanon.estimates.batch.code_layout import CODE_BITS, LINK_BITS
from sqlanon.estimates.batch.distinct_rows import BatchContext
from sqlanon.estimates.batch.on_buckets import counts_of_rows, in_blocks, most_queries, part, sums_over_blocks
from sqlanon.estimates.fixed_sql import Tables, fixed, sizes, withheld_rows
from sqlanon.estimates.query.bind import Binding
from sqlanon.estimates.query.conjunctions import ConjunctiveAggregate, conjuncts
from sqlanon.estimates.query.functions import tried
from sqlanon.estimates.query.parse import AggregateQuery, is_plain
from sqlanon.estimates.release_model import ReleaseModel
from sqlanon.estimates.single.combination import bucket_of_row, require_linked
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    and_,
    cast,
    infix,
    is_null,
    paren,
    real,
    union_all,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, select
from sqlanon.sql.build.sql_files import filled, filled_query, filled_select, query_file

if TYPE_CHECKING:
    from sqlanon.estimates.batch.label_masks import Codes, Masks


# Counts of a release whose columns are published in separate tables, many at once, from the groups of each table.
#
# A query has a condition on one or more of the tables. For each of these tables the rows of every group that satisfy
# the
# query are counted; the counts are joined through the release's rows, which say which groups belong together. The
# figures
# are those that each query would have by itself.


# The most queries that one statement answers.
_MOST_QUERIES = 500

_BOOLEAN = exp.DataType.build("BOOLEAN")


Figures = tuple[int, float | None, float | None, int, int | None]


@dataclass(frozen=True)
class ConditionsByTable:
    """A count of the rows that satisfy one condition on each of some tables of the release."""

    # By the index of a table among `ReleaseModel.bucketed`, the condition that reads its columns.
    conditions: Mapping[int, exp.Expr]
    # The index of the table whose rows represent the rows of the release, if nothing links the tables.
    base: int | None

    @property
    def indexes(self) -> tuple[int, ...]:
        """The indexes of the tables that have a condition, in ascending order."""
        return tuple(sorted(self.conditions))


def figures_by_tables(
    engine: Engine, release: ReleaseModel, queries: Mapping[int, AggregateQuery], temp: TempTables
) -> Iterator[Figures]:
    """Yields number, estimate, spread and bounds of each query that can be answered in a batch.

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
        linked = temp.table("linked", _linked(release, indexes))
        count = engine.rows(select(f.count(), of=relation(linked)))[0][0]
        size = max(1, min(_MOST_QUERIES, sizes().max_rows // max(1, int(count))))
        numbers = list(alike_counts)
        for first in range(0, len(numbers), size):
            batch = {number: alike_counts[number].conditions for number in numbers[first : first + size]}
            satisfying = {
                index: temp.table("satisfying", _satisfying_by_table_groups(release, index, batch)) for index in indexes
            }
            yield from figures_of(engine, release, list(batch), linked, satisfying, base, temp)


def _conditions_by_table(query: AggregateQuery, release: ReleaseModel) -> ConditionsByTable | None:
    """Returns the conditions of a query by table; None for a query that is answered alone, or refused."""
    counts = [item.function == "count" and item.argument is None for item in query.aggregates]
    if not is_plain(query) or counts != [True] or query.where is None:
        return None
    if fold(query.source.name) not in map(fold, release.names):
        return None
    binding = Binding(query, release, ())
    conditions: dict[int, list[exp.Expr]] = {}
    for condition in conjuncts(query.where):
        index = _table_of(condition, binding)
        try:
            bound = binding.bound(condition)
        except PolicyError:
            return None
        if index is None:
            return None
        conditions.setdefault(index, []).append(_plain(bound))
    return ConditionsByTable({index: and_(*parts) for index, parts in conditions.items()}, binding.base)


def _table_of(condition: exp.Expr, binding: Binding) -> int | None:
    """Returns the index of the single table that a condition reads; None if it reads no table or several."""
    names = [fold(item.name) for item in condition.find_all(exp.Column)]
    indexes = {binding.positions[name][0] if name in binding.positions else None for name in names}
    return indexes.pop() if len(indexes) == 1 else None


def _plain(tree: exp.Expr) -> exp.Expr:
    """Returns a condition without the qualifiers of its columns, as BOOLEAN; it is NULL for a row for which
    it fails.
    """
    plain = tree.transform(lambda node: column(node.name) if isinstance(node, exp.Column) else node, copy=False)
    return tried(cast(paren(plain), "BOOLEAN"))


def _linked(release: ReleaseModel, indexes: Sequence[int]) -> exp.Query:
    """Returns bucket_i for each table, and n: the number of released rows in each combination of groups."""
    return filled_query(
        "SELECT {groups}, count(*) AS n FROM (SELECT {buckets} FROM released) AS row GROUP BY {groups}",
        tables={"released": release.rows},
        names={
            "groups": [group_column(index) for index in indexes],
            "buckets": [alias(bucket_of_row(release.bucketed[index]), group_column(index)) for index in indexes],
        },
    )


def _satisfying_by_table_groups(
    release: ReleaseModel, index: int, batch: Mapping[int, Mapping[int, exp.Expr]]
) -> exp.Query:
    """Returns query, bucket, satisfying and total: the rows of each group that satisfy a query, and all its rows."""
    text = "SELECT $number AS query, bucket, weight FROM value WHERE $condition"
    satisfied = union_all(
        [filled_query(text, number=number, condition=conditions[index]) for number, conditions in batch.items()]
    )
    return fixed("satisfying_groups", {"satisfied": satisfied, "table_values": release.bucketed[index].values})


def figures_of(
    engine: Engine,
    release: ReleaseModel,
    numbers: Sequence[int],
    linked: str,
    satisfying: Mapping[int, str],
    base: int | None,
    temp: TempTables,
) -> Sequence[Figures]:
    """Returns the figures of queries whose conditions are on the same tables of the release.

    `linked` is the table of the release's rows by their groups. `satisfying` has, by the index of each table, a table
    (query, bucket, satisfying, total): of the `total` rows of the group, `satisfying` rows satisfy the query.
    """
    matched = temp.table("matched", _matched(linked, satisfying, base))
    indexes = list(satisfying)
    groups = temp.table("group", union_all([_groups(release, matched, index, indexes) for index in indexes]))
    listed = [literal(number) for number in numbers]
    tables: Tables = {
        "asked": filled_query("SELECT unnest([{numbers}]) AS query", names={"numbers": listed}),
        "matched": matched,
        "grouped": groups,
        "withheld": withheld_rows(release.withheld),
    }
    rows = engine.rows(fixed("by_table_groups", tables))
    return [(query, value, spread, low, high) for query, value, spread, low, high in rows]


def _matched(linked: str, satisfying: Mapping[int, str], base: int | None) -> exp.Query:
    """SELECT of query, n, known, p, certain and each group's counts: the combinations of groups that may satisfy a
    query.

    `known` of the n rows satisfy the condition that can be decided exactly; it is n if there is no such condition. Each
    of these rows satisfies all conditions with the probability p.
    """
    of = {index: _satisfying_name(index) for index in satisfying}
    first = next(iter(of.values()))
    counts: dict[str, exp.Expr] = {}
    for index, name in of.items():
        full = filled('"{of}".satisfying = "{of}".total', names={"of": name})
        counts |= {group_column(index): column("bucket", name), f"full_{index}": full}
        counts |= {f"satisfying_{index}": column("satisfying", name), f"total_{index}": column("total", name)}
    text = '$one * "{of}".satisfying / "{of}".total'
    shares = {index: filled(text, names={"of": name}, one=real(1.0)) for index, name in of.items()}
    # A single condition is exact. The condition on the table whose rows represent the rows of the release is exact,
    # too.
    sure = next(iter(shares)) if len(shares) == 1 else base
    known = shares.pop(sure) if sure in shares else real(1.0)
    p = real(1.0)
    for share in shares.values():
        p = infix(p, "*", share)
    return query_file(
        "estimates",
        "matched_groups",
        tables={"linked": linked},
        names={"first": first, "names": [*counts], "tables": [*satisfying.values()], "of": [*of.values()]},
        counts=[*counts.values()],
        # Without parentheses around the share, because its quotient may not be exact.
        known=infix(column("n", "linked"), "*", known),
        p=p,
        all_full=and_(*(counts[f"full_{index}"] for index in of)),
        same=[
            filled(
                '{linked.group} IS NOT DISTINCT FROM "{of}".bucket AND "{others}".query = "{of}".query',
                names={"group": group_column(index), "of": name, "others": [first] if name != first else []},
            )
            for index, name in of.items()
        ],
    )


def _groups(release: ReleaseModel, matched: str, index: int, indexes: Sequence[int]) -> exp.Query:
    """Returns query, place, component, satisfying, total, possible, open and always: a row for each group of a table.

    `satisfying` of the `total` rows of the group satisfy the condition on this table. Of the release's rows in the
    group, `possible` rows may satisfy the query, `open` rows may or may not satisfy it, and `always` rows satisfy the
    conditions on all other tables. Bounds are computed for each component: a bucket that all tables share, or all rows
    if tables have groups of their own.
    """
    others = [column(f"full_{other}") for other in indexes if other != index]
    names = {"group": group_column(index), "satisfying": f"satisfying_{index}", "total": f"total_{index}"}
    return query_file(
        "estimates",
        "group_counts",
        tables={"matched": matched},
        names=names,
        place=index,
        component=0 if release.linked else column(group_column(index)),
        others_hold=exp.and_(*others) if others else exp.true(),
    )


def group_column(index: int) -> str:
    """Returns the name of the column that holds a row's group in table `index`."""
    return f"bucket_{index}"


def _satisfying_name(index: int) -> str:
    """Returns the alias of the relation that counts the satisfying rows in each group of table `index`."""
    return f"satisfying_of_{index}"


# The most linked tables that one query may have conditions on.
_MOST_LINKED = 2

# The indexes of the tables that have a condition, and of the table whose rows represent the rows of the release.
_Kind = tuple[tuple[int, ...], int | None]


class SeparateTableCounts:
    """Estimates counts on one release, as ESTIMATE does. Raises DataError if its tables do not match each other."""

    def __init__(self, context: BatchContext, release: ReleaseModel) -> None:
        self._engine, self._release, self._temp = context.engine, release, context.temp
        self._labelled = ReleaseLabels(context, release)
        self._bases: dict[int, int | None] = {}
        self._is_linked = False

    def answers(self, part: ConjunctiveAggregate) -> bool:
        """Whether this object can answer a count together with others."""
        most = _MOST_LINKED if self._release.linked else len(self._release.bucketed)
        return part.at_once(self._release) and len(self._table_indexes(part)) <= most

    def figures(
        self, counts: Sequence[tuple[ConjunctiveAggregate, AggregateQuery]]
    ) -> Iterator[tuple[ConjunctiveAggregate, Figures]]:
        """Yields each count with its figures, in batches of counts on the same tables."""
        alike: dict[_Kind, list[ConjunctiveAggregate]] = {}
        for count, query in counts:
            alike.setdefault((self._table_indexes(count), self._base(query)), []).append(count)
        for (indexes, base), alike_counts in alike.items():
            names = dict.fromkeys(name for count in alike_counts for name in count.condition.conditions)
            size = most_queries(self._engine, [self._labelled.labels_of(name) for name in names])
            for first in range(0, len(alike_counts), size):
                batch = alike_counts[first : first + size]
                for figures in self._batch(batch, indexes, base):
                    yield batch[figures[0]], figures

    def _require_linked(self) -> None:
        if not self._is_linked:
            require_linked(self._engine, self._release)
            self._is_linked = True

    def _table_indexes(self, part: ConjunctiveAggregate) -> tuple[int, ...]:
        positions = self._release.bucketed_positions
        return tuple(sorted({positions[name][0] for name in part.condition.conditions}))

    def _base(self, query: AggregateQuery) -> int | None:
        # Queries of one template share an object, and its base.
        if id(query) not in self._bases:
            self._bases[id(query)] = Binding(query, self._release, ()).base
        return self._bases[id(query)]

    def _batch(
        self, batch: Sequence[ConjunctiveAggregate], indexes: Sequence[int], base: int | None
    ) -> Sequence[Figures]:
        names = dict.fromkeys(name for count in batch for name in count.condition.conditions)
        masks = self._labelled.masks(names, [count.conditions for count in batch])
        names_by_table = {
            index: [name for name in names if name in self._release.bucketed[index].columns] for index in indexes
        }
        if self._release.linked and len(indexes) > 1:
            sides = [
                (index, {name: masks[name] for name in some_names}) for index, some_names in names_by_table.items()
            ]
            return figures_of_links(self._labelled, sides, len(batch))
        # Sums over links check this themselves.
        self._require_linked()
        satisfying: dict[int, str] = {}
        rows = 0
        for index in indexes:
            bucketed = self._release.bucketed[index]
            by = self._labelled.encoded(names_by_table[index], masks, len(batch))
            counts = counts_of_rows(
                self._engine, self._labelled.rows(names_by_table[index], by, bucketed=bucketed), by, self._temp
            )
            ((rows,),) = self._engine.rows(
                filled_query("SELECT count(*) FROM value", tables={"value": bucketed.values})
            )
            satisfying[index] = self._temp.table("satisfying", _satisfying(counts, int(rows)))
        count = select(alias(literal(int(rows)), "n"), *(alias(literal(0), group_column(index)) for index in indexes))
        linked = self._temp.table("linked", count)
        return figures_of(self._engine, self._release, range(len(batch)), linked, satisfying, base, self._temp)


def _satisfying(counts: str, rows: int) -> exp.Query:
    """SELECT of query, bucket, satisfying and total for a table whose `rows` rows are one bucket.

    It returns no row for a query that no row satisfies.
    """
    text = "SELECT query, 0 AS bucket, rows AS satisfying, $rows AS total FROM counts WHERE rows > 0"
    return filled_query(text, tables={"counts": counts}, rows=rows)


# The index of a table, and the masks of its columns that have conditions.
Side = tuple[int, Mapping[str, "Masks"]]

_OF_LINKS = ("hits", "squares")
_OF_GROUPS = ("possible", "open", "satisfying", "failing", "apart")


@dataclass(frozen=True)
class _EncodedTable:
    """The rows of table `index` of a release: the table `rows` has their bucket and codes, laid out by `codes`."""

    index: int
    rows: str
    codes: Codes


def _encoded_table(labelled: ReleaseLabels, side: Side, queries: int) -> _EncodedTable:
    """Encodes the rows of a table once: its groups are summed, and the links of the other table lead to them."""
    index, masks = side
    by = labelled.encoded(list(masks), masks, queries)
    bucket = [alias(column("bucket", BUCKETED), "bucket")]
    rows = labelled.rows(list(masks), by, bucket, labelled.release.bucketed[index])
    return _EncodedTable(index, labelled.temp.table("encoded", rows), by.codes)


def figures_of_links(labelled: ReleaseLabels, sides: Sequence[Side], queries: int) -> Sequence[Figures]:
    """Returns the figures of queries, numbered from 0, whose conditions are on both tables."""
    first, second = (_encoded_table(labelled, side, queries) for side in sides)
    tables = [_summed(labelled, first, second, queries, links=True)]
    tables.append(_summed(labelled, second, first, queries, links=False))
    summed = union_all([filled_query("SELECT * FROM summed", tables={"summed": table}) for table in tables])
    relations: Tables = {
        "asked": filled_query("SELECT unnest(range($queries)) AS query", queries=queries),
        "summed": summed,
        "withheld": withheld_rows(labelled.release.withheld),
    }
    rows = labelled.engine.rows(fixed("by_links", relations))
    return [(number, value, spread, low, high) for number, value, spread, low, high in rows]


def _summed(labelled: ReleaseLabels, side: _EncodedTable, other: _EncodedTable, queries: int, *, links: bool) -> str:
    """Creates a table of place, total, query and sums: over the groups of one table, and with `links` over all links.

    Raises DataError if a group has not as many rows as links, or if a link leads to a group without rows.
    """
    blocks = _blocks(labelled.release, side, other)
    codes = {"own_codes": side.codes, "other_codes": other.codes}
    message = f"the tables of {labelled.release.name} do not have the same rows"
    with registered(labelled.engine, "link_sums", **codes, links=links) as function:
        table = sums_over_blocks(labelled.engine, function, blocks, labelled.temp, message)
    query = select(alias(literal(side.index), "place"), alias(part("total"), "total"))
    extend(query, alias(f.unnest(f.call("range", literal(queries))), "query"))
    for name in (*_OF_LINKS, *_OF_GROUPS):
        extend(query, alias(f.unnest(part(name)), name))
    of_sums = is_null(part("wrong"))
    return labelled.temp.table("summed", extend(query, of=relation(table), where=[of_sums]))


def _blocks(release: ReleaseModel, side: _EncodedTable, other: _EncodedTable) -> exp.Query:
    """Returns one row for each block of groups, with the arguments of the UDF `link_sums`: lists of the groups' rows
    and links.
    """
    own_block, own_local = in_block(column("bucket"))
    # The bits above a row's first code name its group.
    first, *further = map(code_name, range(side.codes.count))
    grouped = filled(
        "CAST(($local << $bits) + {code} AS BIGINT)", names={"code": first}, local=own_local, bits=CODE_BITS
    )
    rows = filled_query(
        "SELECT $block AS block, {codes} FROM encoded",
        tables={"encoded": side.rows},
        names={"codes": [alias(grouped, first), *further]},
        block=own_block,
    )
    block, local = in_block(bucket_of_row(release.bucketed[side.index]))
    # One number for a group and its link is sorted several times as fast as two.
    link = filled_query(
        "SELECT $block AS block, ($local << $bits) + row_number() OVER () AS link, $other AS bucket FROM released",
        tables={"released": release.rows},
        block=block,
        local=local,
        bits=LINK_BITS,
        other=bucket_of_row(release.bucketed[other.index]),
    )
    # No row has the code -1: the link leads to no row.
    codes = [
        alias(filled("coalesce({code}, -1)", names={"code": [column(name, "linked_row")]}), name)
        for name in map(code_name, range(other.codes.count))
    ]
    led = filled_select(
        "SELECT linked.block, linked.link, {codes} FROM linked "
        "LEFT JOIN linked_row ON linked.bucket IS NOT DISTINCT FROM linked_row.bucket",
        tables={"linked": link, "linked_row": other.rows},
        names={"codes": codes},
    )
    return filled_query(
        "SELECT struct_pack(own := grouped.own, other := linked.other, link := linked.link) AS block "
        "FROM grouped FULL JOIN linked ON grouped.block IS NOT DISTINCT FROM linked.block",
        tables={
            "grouped": in_blocks(rows, "own", side.codes.count),
            "linked": in_blocks(led, "other", other.codes.count, ["link"]),
        },
    )
