"""Queries that assign rows to groups, and merge groups to buckets.

The sensitive values of a region are numbered in a random order, and so are the rows of each value. Row i belongs to
group i mod g. So rows of one value with numbers next to each other are in different groups, and a value with at most g
rows is in no group twice.

One sort puts rows of equal values next to each other, with all their published columns; their numbers are the row
numbers of the sorted table. A table keeps the order in which it was made. If it did not, equal values would be in one
bucket, and the check would refuse the release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.methods.shared.bucket_tables import carried, carried_name, code_name
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    and_,
    ascending,
    big,
    identical,
    if_,
    infix,
    integer,
    is_null,
    or_zero,
    order_by,
    paren,
    same,
    window,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery
from sqlanon.sql.build.sql_files import query_file
from sqlanon.sql.cells.labels import published_value
from sqlanon.sql.classes.rows import Rows


def value_codes(bound: BoundAttribute, source: exp.Table) -> exp.Select:
    """SELECT of value, n, code: the values of a sensitive attribute, including NULL, with their numbers of rows and
    their codes from 1.
    """
    counted = select(alias(published_value(bound), "value"), alias(f.count(), "n"))
    counted = extend(counted, of=source, group_by=[published_value(bound)])
    order = [ascending(part) for part in (is_null(column("value")), column("value"))]
    code = window(f.row_number(), order=order_by(*order))
    return select(column("value"), column("n"), alias(code, "code"), of=subquery(counted, "counted"))


def sorted_rows(
    policy: BoundPolicy,
    sensitive: Sequence[BoundAttribute],
    codes: Sequence[str],
    regions: str | None,
    draw: str,
    words: Mapping[str, str],
) -> exp.Select:
    """SELECT of region, code_0, ..., column_0, ...: the source's rows by region and value, equal rows in random order.

    The arguments are those of `drawn_rows`. `words` maps columns to tables of `dictionary_encoding.word_table`: the
    rows then have the words of these columns in place of their texts.
    """
    query = drawn_rows(policy, sensitive, codes, regions, draw, words)
    columns = ["region", *map(code_name, range(len(codes))), *map(carried_name, range(len(carried(policy))))]
    # A shorter key is sorted faster.
    order = [*([] if regions is None else ["region"]), code_name(0), "draw"]
    return select(
        *map(column, columns), of=subquery(query, "row"), order_by=(ascending(column(name)) for name in order)
    )


def drawn_rows(
    policy: BoundPolicy,
    sensitive: Sequence[BoundAttribute],
    codes: Sequence[str],
    regions: str | None,
    draw: str,
    words: Mapping[str, str] | None = None,
) -> exp.Select:
    """SELECT of region, code_0, ..., draw, column_0, ...: the source's rows, each with a random number.

    `codes` are the tables of `value_codes`. `regions` is a table of `region_labels.region_map`; without it all rows are
    in region 0. `draw` names the function that returns random bits. `words` is as in `sorted_rows`.
    """
    words = words or {}
    region = literal(0) if regions is None else column("region", "row_region")
    query = select(
        alias(big(region), "region"),
        *(alias(integer(column("code", code_name(index))), code_name(index)) for index in range(len(codes))),
        alias(f.call(draw, 0), "draw"),
        of=relation(policy.relation, as_="source"),
    )
    for index, (bound, table) in enumerate(zip(sensitive, codes, strict=True)):
        name = code_name(index)
        on = identical(published_value(bound, "source"), column("value", name))
        extend(query, joins=[inner_join(relation(table, as_=name), on)])
    for index, bound in enumerate(carried(policy)):
        if bound.column not in words:
            extend(query, alias(column(bound.column, "source"), carried_name(index)))
            continue
        name = f"word_{index}"
        extend(query, alias(column("word", name), carried_name(index)))
        on = identical(published_value(bound, "source"), column("value", name))
        extend(query, joins=[inner_join(relation(words[bound.column], as_=name), on)])
    if regions is not None:
        alike = [
            identical(published_value(bound, "source"), column(f"value_{index}", "row_region"))
            for index, bound in enumerate(policy.quasi_identifiers)
        ]
        extend(query, joins=[inner_join(relation(regions, as_="row_region"), and_(*alike))])
    return query


def value_counts(sorted_rows: str, draw: str) -> exp.Select:
    """SELECT of (region, code, n, draw): n rows of the region have this value of the first attribute; draw is a random
    number.
    """
    names = [column("region"), column(code_name(0))]
    count = alias(f.count(), "n")
    query = select(names[0], alias(names[1], "code"), count, of=relation(sorted_rows))
    return _with_draws(extend(query, group_by=names), draw)


def value_counts_of_all(codes: str, draw: str) -> exp.Select:
    """SELECT of region, code, n, draw: the result of `value_counts` if all rows are region 0, computed from a table of
    `value_codes`.
    """
    query = select(alias(big(literal(0)), "region"), column("code"), column("n"), of=relation(codes))
    return _with_draws(query, draw)


def _with_draws(query: exp.Select, draw: str) -> exp.Select:
    bits = alias(f.call(draw, 0), "draw")
    return select(exp.Star(), bits, of=subquery(query, "counted"))


def groups(counts: str, least: int, different: int | None = None) -> exp.Query:
    """SELECT of region, rows, most, groups, base: a row for each region, with its number of groups, and that of the
    regions before it.

    `counts` is a table of `value_counts`. Groups get at least `least` rows if the region has them. `most` is the number
    of rows of the region's most frequent value. If `different` is given, the l of distinct l-diversity, there are as
    many groups as can have l different values each. A value with n rows is in min(n, g) groups, so g groups are
    possible iff these minima sum up to g l or more. That sum is the minimum, over all j, of j g plus the number of rows
    without the j most frequent values. So g is the greatest number with g (l - j) <= (rows without the j most frequent
    values), j < l.
    """
    # Without a minimum number of values there is no other bound.
    values = 1 if different is None else different
    return query_file("anatomy", "groups", tables={"counts": counts}, least=least, different=values)


def starts(counts: str, groups: str) -> exp.Query:
    """SELECT of region, code, before, spread, first, behind, groups, base: the numbers of the rows of each value.

    `before` is the number of rows sorted before the value's first one, in all regions. `spread` rows of each value,
    min(n, g), are numbered from `first`, value after value in random order; its other rows are numbered from `behind`,
    after the spread rows of all values. So each group has as many different values as possible, and chance decides
    which values make some groups larger by a row.
    """
    return query_file("anatomy", "starts", tables={"counts": counts, "groups": groups})


def numbers_of(sorted_rows: str) -> exp.Select:
    """SELECT of three numbers of a table: its first row number, the count of numbers from first to last, and the count
    of rows.
    """
    number = column("rowid", "row")
    first, last = f.min(number), f.max(number)
    count = infix(last - first, "+", 1)
    return select(or_zero(first), or_zero(count), f.count(), of=relation(sorted_rows, as_="row"))


def rows_in_slots(sorted_rows: str, starts: str, columns: Sequence[str], first: int) -> exp.Select:
    """SELECT of slot and the `columns` of `sorted_rows`: each row with its slot, the number of its region's group.

    `first` is the row number of the table's first row, as `numbers_of` returns it.
    """
    rank = column("rowid", "row") - literal(first) - column("before", "start")
    query = select(alias(slot_of(rank), "slot"), *(column(name, "row") for name in columns))
    extend(query, of=relation(sorted_rows, as_="row"))
    return extend(query, joins=[inner_join(relation(starts, as_="start"), is_of_value())])


def slot_of(rank: exp.Expr) -> exp.Expr:
    """The SQL of a row's slot. `rank` is the row's number, from 0, among the rows with its value; the row of `starts`
    is called `start`.
    """
    spread = column("first", "start") + paren(rank)
    surplus = infix(column("behind", "start") + paren(rank), "-", column("spread", "start"))
    index = paren(if_(rank < column("spread", "start"), spread, surplus))
    return column("base", "start") + index % column("groups", "start")


def is_of_value() -> exp.Expr:
    """Whether the row called `row` has the region and value of the row of `starts` called `start`."""
    same_value = column(code_name(0), "row").eq(column("code", "start"))
    return and_(same("region", "row", "start"), same_value)


# Slots, the groups of all regions, merged to buckets until each bucket meets every requirement.


def slots(groups: str) -> exp.Query:
    """SELECT of slot, base, chunk, chunks, first: each slot is a chunk and a bucket of its own; `first` is the first
    slot of the bucket.
    """
    return query_file("anatomy", "slots", tables={"groups": groups})


def tally(rows: str, index: int) -> exp.Select:
    """SELECT of (slot, code, n): n rows of the slot have this value of the attribute at this index."""
    code = column(code_name(index))
    query = select(column("slot"), alias(code, "code"), alias(f.count(), "n"))
    return extend(query, of=relation(rows), group_by=[column("slot"), code])


def class_rows(tally: str, slots: str, codes: str, attribute: str) -> Rows:
    """Rows with the values of one attribute, whose classes are the buckets: the slots with the same first slot."""
    counted = query_file("anatomy", "values_of_classes", tables={"tally": tally, "slots": slots, "codes": codes})
    class_id = column("class_id")
    return Rows(
        subquery(counted, "bucket"),
        (class_id,),
        class_id.copy(),
        {attribute: column("value")},
        weight=column("n"),
    )


def whole_rows(codes: str, attribute: str) -> Rows:
    """Rows with the values of one attribute, all in one class."""
    return Rows(relation(codes), (), literal(0), {attribute: column("value")}, weight=column("n"))


def merged(slots: str, violating: str) -> exp.Query:
    """SELECT of slot, base, chunk, chunks, first: slots with half as many chunks; chunks of violating buckets are
    merged.

    Chunk i of m is merged with chunk i + m/2. Neighbors are not merged: they have the same values, because rows are
    assigned in the order of their values. The merged chunks equal the groups that the rows would form if there were
    half as many groups.
    """
    return query_file("anatomy", "merged", tables={"slots": slots, "violating": violating})


def bucket_numbers(slots: str, draw: str) -> exp.Query:
    """SELECT of slot, bucket: the first slot of each bucket, and the bucket's number from 1, in random order."""
    return query_file("anatomy", "bucket_numbers", tables={"slots": slots}, draw=f.call(draw, 0))


def all_numbers(slots: str, numbers: str) -> exp.Select:
    """SELECT of slot, bucket: each slot with the number of its bucket; `numbers` is a table of `bucket_numbers`."""
    query = select(column("slot", "slot"), column("bucket", "number"), of=relation(slots, as_="slot"))
    of_first = column("first", "slot").eq(column("slot", "number"))
    return extend(query, joins=[inner_join(relation(numbers, as_="number"), of_first)])


def rows_in_buckets(rows: str, numbers: str, columns: Sequence[str]) -> exp.Select:
    """SELECT of bucket and the `columns` of `rows`; `numbers` is a table with the bucket of each slot."""
    query = select(column("bucket", "number"), *(column(name, "row") for name in columns), of=relation(rows, as_="row"))
    return extend(query, joins=[inner_join(relation(numbers, as_="number"), same("slot", "row", "number"))])


def sizes_of_groups(groups: str) -> exp.Query:
    """SELECT of four numbers: the number of groups, the rows of the smallest and of the largest group, and the number
    of all rows.

    Row i of a region is in group i mod g, so if a region has r rows, each group has r // g rows, and the first r mod g
    groups have one more.
    """
    return query_file("anatomy", "sizes_of_groups", tables={"groups": groups})


def sizes(rows_in_buckets: str) -> exp.Query:
    """SELECT of four numbers: the number of buckets, the rows of the smallest and of the largest bucket, and the number
    of all rows.
    """
    return query_file("anatomy", "sizes", tables={"rows_in_buckets": rows_in_buckets})
