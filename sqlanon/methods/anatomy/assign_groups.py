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
    identical,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, subquery
from sqlanon.sql.build.sql_files import filled, filled_query, filled_select, query_file
from sqlanon.sql.cells.labels import published_value
from sqlanon.sql.classes.rows import Rows


def value_codes(bound: BoundAttribute, source: exp.Table) -> exp.Query:
    """SELECT of value, n, code: the values of a sensitive attribute, including NULL, with their numbers of rows and
    their codes from 1.
    """
    text = "SELECT $value AS value, count(*) AS n FROM source GROUP BY $value"
    counted = filled_query(text, tables={"source": source}, value=published_value(bound))
    return query_file("anatomy", "value_codes", tables={"counted": counted})


def sorted_rows(
    policy: BoundPolicy,
    sensitive: Sequence[BoundAttribute],
    codes: Sequence[str],
    regions: str | None,
    draw: str,
    words: Mapping[str, str],
) -> exp.Query:
    """SELECT of region, code_0, ..., column_0, ...: the source's rows by region and value, equal rows in random order.

    The arguments are those of `drawn_rows`. `words` maps columns to tables of `dictionary_encoding.word_table`: the
    rows then have the words of these columns in place of their texts.
    """
    tables = {"row": drawn_rows(policy, sensitive, codes, regions, draw, words)}
    columns = ["region", *map(code_name, range(len(codes))), *map(carried_name, range(len(carried(policy))))]
    # A shorter key is sorted faster.
    order = [*([] if regions is None else ["region"]), code_name(0), "draw"]
    text = "SELECT {columns} FROM row ORDER BY {order} ASC NULLS LAST"
    return filled_query(text, tables=tables, names={"columns": columns, "order": order})


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
    names = [code_name(index) for index in range(len(codes))]
    query = filled_select(
        """
        SELECT CAST($region AS BIGINT) AS region, CAST($codes AS INTEGER) AS "{codes}", $draw AS draw FROM source
        """,
        tables={"source": relation(policy.relation)},
        names={"codes": names},
        region=0 if regions is None else column("region", "row_region"),
        codes=[column("code", name) for name in names],
        draw=f.call(draw, 0),
    )

    def join_value(bound: BoundAttribute, table: str, name: str) -> None:
        on = identical(published_value(bound, "source"), column("value", name))
        extend(query, joins=[inner_join(relation(table, as_=name), on)])

    for bound, table, name in zip(sensitive, codes, names, strict=True):
        join_value(bound, table, name)
    for index, bound in enumerate(carried(policy)):
        value = column(bound.column, "source")
        if words and bound.column in words:
            join_value(bound, words[bound.column], f"word_{index}")
            value = column("word", f"word_{index}")
        extend(query, alias(value, carried_name(index)))
    if regions is not None:
        alike = [
            identical(published_value(bound, "source"), column(f"value_{index}", "row_region"))
            for index, bound in enumerate(policy.quasi_identifiers)
        ]
        extend(query, joins=[inner_join(relation(regions, as_="row_region"), and_(*alike))])
    return query


def value_counts(sorted_rows: str, draw: str) -> exp.Query:
    """SELECT of (region, code, n, draw): n rows of the region have this value of the first attribute; draw is a random
    number.
    """
    text = """
        SELECT region, code, n, $draw AS draw
        FROM (SELECT region, code_0 AS code, count(*) AS n FROM rows GROUP BY region, code_0) AS counted
    """
    return filled_query(text, tables={"rows": sorted_rows}, draw=f.call(draw, 0))


def value_counts_of_all(codes: str, draw: str) -> exp.Query:
    """SELECT of region, code, n, draw: the result of `value_counts` if all rows are region 0, computed from a table of
    `value_codes`.
    """
    text = "SELECT CAST(0 AS BIGINT) AS region, code, n, $draw AS draw FROM codes"
    return filled_query(text, tables={"codes": codes}, draw=f.call(draw, 0))


def groups(counts: str, least: int, different: int | None = None) -> exp.Query:
    """SELECT of region, rows, most, groups, base: one row for each region, with its numbers of rows and of groups.

    `most` is the number of rows of the region's most frequent value, and `base` the number of groups in earlier
    regions; sql/anatomy/groups.sql has the formula. `counts` is a table of `value_counts`. Groups get at least `least`
    rows if the region has them. With `different`, the l of distinct l-diversity, there are as many groups as can have l
    different values each.
    """
    # Without a minimum number of values there is no other bound.
    values = 1 if different is None else different
    return query_file("anatomy", "groups", tables={"counts": counts}, least=least, different=values)


def starts(counts: str, groups: str) -> exp.Query:
    """SELECT of region, code, before, spread, first, behind, groups, base: the numbers of the rows of each value.

    Each group has as many different values as possible, and chance decides which values make some groups larger by a
    row; see sql/anatomy/starts.sql.
    """
    return query_file("anatomy", "starts", tables={"counts": counts, "groups": groups})


def numbers_of(sorted_rows: str) -> exp.Query:
    """SELECT of three numbers of a table: its first row number, the count of numbers from first to last, and the count
    of rows.
    """
    text = """
        SELECT coalesce(min(row.rowid), 0), coalesce(max(row.rowid) - min(row.rowid) + 1, 0), count(*) FROM rows AS row
    """
    return filled_query(text, tables={"rows": sorted_rows})


def rows_in_slots(sorted_rows: str, starts: str, columns: Sequence[str], first: int) -> exp.Query:
    """SELECT of slot and the `columns` of `sorted_rows`: each row of the source with its slot.

    A slot is the number of a group among the groups of all regions. `first` is the row number of the table's first row,
    as `numbers_of` returns it.
    """
    rank = filled("row.rowid - $first - start.before", first=first)
    tables, names = {"rows": sorted_rows, "starts": starts}, {"columns": columns}
    return query_file("anatomy", "rows_in_slots", tables=tables, names=names, rank=rank)


# Slots, the groups of all regions, merged to buckets until each bucket meets every requirement.


def slots(groups: str) -> exp.Query:
    """SELECT of slot, base, chunk, chunks, first: one row for each group, before any groups are merged.

    A slot is the number of a group. Each slot is a chunk and a bucket of its own; `first` is the first slot of the
    bucket.
    """
    return query_file("anatomy", "slots", tables={"groups": groups})


def tally(rows: str, index: int) -> exp.Query:
    """SELECT of (slot, code, n): n rows of the slot have this value of the attribute at this index."""
    text = "SELECT slot, {code} AS code, count(*) AS n FROM rows GROUP BY slot, {code}"
    return filled_query(text, tables={"rows": rows}, names={"code": code_name(index)})


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
    """SELECT of slot, base, chunk, chunks, first: the table `slots` after one round of merging.

    Each region has half as many chunks. Two chunks become one bucket if a bucket in one of them is in the table
    `violating`; see sql/anatomy/merged.sql.
    """
    return query_file("anatomy", "merged", tables={"slots": slots, "violating": violating})


def bucket_numbers(slots: str, draw: str) -> exp.Query:
    """SELECT of slot, bucket: the first slot of each bucket, and the bucket's number from 1, in random order."""
    return query_file("anatomy", "bucket_numbers", tables={"slots": slots}, draw=f.call(draw, 0))


def all_numbers(slots: str, numbers: str) -> exp.Query:
    """SELECT of slot, bucket: each slot with the number of its bucket; `numbers` is a table of `bucket_numbers`."""
    text = "SELECT slot.slot, number.bucket FROM slots AS slot JOIN numbers AS number ON slot.first = number.slot"
    return filled_query(text, tables={"slots": slots, "numbers": numbers})


def rows_in_buckets(rows: str, numbers: str, columns: Sequence[str]) -> exp.Query:
    """SELECT of bucket and the `columns` of `rows`; `numbers` is a table with the bucket of each slot."""
    text = "SELECT number.bucket, {row.columns} FROM rows AS row JOIN numbers AS number ON row.slot = number.slot"
    return filled_query(text, tables={"rows": rows, "numbers": numbers}, names={"columns": columns})


def sizes_of_groups(groups: str) -> exp.Query:
    """SELECT of four numbers: the groups, the rows of the smallest and of the largest group, and all rows."""
    return query_file("anatomy", "sizes_of_groups", tables={"groups": groups})


def sizes(rows_in_buckets: str) -> exp.Query:
    """SELECT of four numbers: the number of buckets, the rows of the smallest and of the largest bucket, and the number
    of all rows.
    """
    return query_file("anatomy", "sizes", tables={"rows_in_buckets": rows_in_buckets})
