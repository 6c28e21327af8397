"""Rows dealt out to buckets, each as relations that can be read alone.

The sensitive values of a region are numbered in an order that was drawn, and so are rows that have the same one.
Row i belongs to group i mod g: at most g rows of a value come one after the other, so no two of them meet.

One sort puts equal values side by side, with all of the rows that is published, and the rows of a value have numbers
as they then stand. A table keeps the order in which it was made; should it ever not, values would meet in a bucket, and
the check of the release would stop it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.policy import Role
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import (
    ascending,
    big,
    descending,
    identical,
    if_,
    infix,
    integer,
    is_null,
    or_zero,
    order_by,
    paren,
    up_to_here,
    window,
)
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.cells.labels import published_value

__all__ = [
    "carried",
    "carried_name",
    "code_name",
    "dealt",
    "drawn",
    "groups",
    "held",
    "held_by_all",
    "numbers_of",
    "starts",
    "value_codes",
]


def code_name(index: int) -> str:
    """The column with the code of a row's value of the sensitive attribute at this index."""
    return f"code_{index}"


def carried(policy: BoundPolicy) -> tuple[BoundAttribute, ...]:
    """The published columns that are not sensitive, which rows take along when they are dealt out."""
    return tuple(bound for bound in policy.published if bound.role is not Role.SENSITIVE)


def carried_name(index: int) -> str:
    """The column that rows take along, by its index in `carried`."""
    return f"column_{index}"


def value_codes(bound: BoundAttribute, source: exp.Table) -> exp.Select:
    """value, n, code: the values of a sensitive attribute, NULL among them, with their rows, numbered from 1."""
    counted = exp.select(alias(published_value(bound), "value"), alias(f.count(), "n"))
    counted = counted.from_(source).group_by(published_value(bound))
    order = [ascending(part) for part in (is_null(column("value")), column("value"))]
    code = window(f.row_number(), order=order_by(*order))
    return exp.select(column("value"), column("n"), alias(code, "code")).from_(counted.subquery("counted"))


def drawn(
    policy: BoundPolicy,
    sensitive: Sequence[BoundAttribute],
    codes: Sequence[str],
    regions: str | None,
    draw: str,
    words: Mapping[str, str],
) -> exp.Select:
    """region, code_0, ..., column_0, ...: the source's rows by region and value, and equal ones in a drawn order.

    `regions` is a table of `region_labels.region_map`; without one there is one region. `draw` gives the random bits.
    Of the columns in `words`, tables of `dictionary_encoding.word_table`, the words are taken along.
    """
    region = literal(0) if regions is None else column("region", "placed")
    query = exp.select(
        alias(big(region), "region"),
        *(alias(integer(column("code", code_name(index))), code_name(index)) for index in range(len(codes))),
        alias(f.call(draw, 0), "draw"),
    ).from_(relation(policy.relation, as_="source"))
    for index, (bound, table) in enumerate(zip(sensitive, codes, strict=True)):
        name = code_name(index)
        same = identical(published_value(bound, "source"), column("value", name))
        query.join(relation(table, as_=name), on=same, copy=False)
    carried_columns = carried(policy)
    for index, bound in enumerate(carried_columns):
        if bound.column not in words:
            query.select(alias(column(bound.column, "source"), carried_name(index)), copy=False)
            continue
        name = f"word_{index}"
        query.select(alias(column("word", name), carried_name(index)), copy=False)
        same = identical(published_value(bound, "source"), column("value", name))
        query.join(relation(words[bound.column], as_=name), on=same, copy=False)
    if regions is not None:
        alike = [
            identical(published_value(bound, "source"), column(f"value_{index}", "placed"))
            for index, bound in enumerate(policy.quasi_identifiers)
        ]
        query.join(relation(regions, as_="placed"), on=exp.and_(*alike), copy=False)
    shown = ["region", *map(code_name, range(len(codes))), *map(carried_name, range(len(carried_columns)))]
    # A shorter key is sorted faster.
    order = [*([] if regions is None else ["region"]), code_name(0), "draw"]
    return (
        exp.select(*map(column, shown))
        .from_(query.subquery("drawn"), copy=False)
        .order_by(*(ascending(column(name)) for name in order), copy=False)
    )


def held(drawn: str, draw: str) -> exp.Select:
    """region, code, n, draw: how many rows of each region have each value of the first attribute, each with a draw."""
    names = [column("region"), column(code_name(0))]
    count = alias(f.count(), "n")
    query = exp.select(names[0], alias(names[1], "code"), count).from_(relation(drawn))
    return _with_draws(query.group_by(*(name.copy() for name in names)), draw)


def held_by_all(codes: str, draw: str) -> exp.Select:
    """region, code, n, draw of all rows as one region, from how many rows have each value of the first attribute."""
    query = exp.select(alias(big(literal(0)), "region"), column("code"), column("n")).from_(relation(codes))
    return _with_draws(query, draw)


def _with_draws(query: exp.Select, draw: str) -> exp.Select:
    drawn = alias(f.call(draw, 0), "draw")
    return exp.select(exp.Star(), drawn).from_(query.subquery("counted"), copy=False)


def groups(counts: str, least: int, different: int | None = None) -> exp.Select:
    """region, rows, most, groups, base: how many groups each region is dealt out to, and how many are before it.

    Groups get `least` rows or more, as long as the region has them. `most` is how many rows the most frequent value
    has. If `different` is given, it is the l of distinct l-diversity, and there are as many groups as can have l
    different values each. Of a value with n rows min(n, g) are in different groups, so g groups are possible iff
    these minima sum up to g l or more. That sum is the least, over all j, of j g and the rows without the j most
    frequent values. So g is the greatest number with g (l - j) <= (rows without the j most frequent values), j < l.
    """
    order = order_by(descending(column("n")), ascending(column("code")))
    of_region = [column("region")]
    index = window(f.row_number(), partition_by=of_region, order=order)
    top = window(f.sum(column("n")), partition_by=_copies(of_region), order=order.copy(), frame=up_to_here())
    region_rows = window(f.sum(column("n")), partition_by=_copies(of_region))
    ranked = exp.select(
        column("region"), column("n"), alias(index, "place"), alias(big(top), "top"), alias(big(region_rows), "rows")
    ).from_(relation(counts))
    limits: list[exp.Expr] = [f.max(column("rows")) // literal(least)]
    if different is not None:
        rest = paren(column("rows") - column("top"))
        still = paren(literal(different) - column("place"))
        before = column("place") < literal(different)
        each = if_(before, rest // still)
        limits += [
            f.max(column("rows")) // literal(different),
            f.min(each),
        ]
    fewest = f.least(limits[0], *limits[1:]) if len(limits) > 1 else limits[0]
    number = f.greatest(literal(1), fewest)
    by_region = exp.select(
        column("region"),
        alias(f.max(column("rows")), "rows"),
        alias(f.max(column("n")), "most"),
        alias(big(number), "groups"),
    )
    by_region = by_region.from_(ranked.subquery("ranked"), copy=False).group_by(column("region"))
    reached = window(f.sum(column("groups")), order=order_by(ascending(column("region"))), frame=up_to_here())
    base = big(reached) - column("groups")
    return exp.select(exp.Star(), alias(base, "base")).from_(by_region.subquery("by_region"), copy=False)


def starts(counts: str, groups: str) -> exp.Select:
    """region, code, before, kept, first, behind, groups, base: the numbers of the rows with a value.

    `before` is how many rows of this and other regions come before the first of them. Of each value min(n, g) rows are
    `kept` and numbered from `first`, value after value in the order of their draws; what a value has too much is
    numbered from `behind`, after all that are kept. So each group has as many different values as there can be, and
    which values make some groups larger by a row is drawn.
    """
    joined = exp.select(
        column("region", "held"),
        column("code", "held"),
        column("n", "held"),
        column("draw", "held"),
        column("groups", "region"),
        column("base", "region"),
        alias(f.least(column("n", "held"), column("groups", "region")), "kept"),
    ).from_(relation(counts, as_="held"))
    same = column("region", "held").eq(column("region", "region"))
    joined.join(relation(groups, as_="region"), on=same, copy=False)
    order = order_by(*(ascending(column(name)) for name in ("region", "code")))
    reached = window(f.sum(column("n")), order=order, frame=up_to_here())
    before = big(reached) - column("n")
    more = column("n") - column("kept")
    first = _running(column("kept")) - column("kept")
    all_kept = big(window(f.sum(column("kept")), partition_by=[column("region")]))
    behind = infix(all_kept + _running(more), "-", paren(more.copy()))
    names = [column(name) for name in ("region", "code", "kept", "groups", "base")]
    return exp.select(*names, alias(before, "before"), alias(first, "first"), alias(behind, "behind")).from_(
        joined.subquery("joined"), copy=False
    )


def _running(part: exp.Expr) -> exp.Expr:
    order = order_by(*(ascending(column(name)) for name in ("draw", "code")))
    return big(window(f.sum(part), partition_by=[column("region")], order=order, frame=up_to_here()))


def numbers_of(drawn: str) -> exp.Select:
    """The number of the first row as they stand, how many numbers there are from it to the last, and all rows."""
    number = column("rowid", "drawn")
    first, last = f.min(number), f.max(number.copy())
    every = infix(last - first, "+", 1)
    return exp.select(*map(or_zero, (first, every)), f.count()).from_(relation(drawn, as_="drawn"))


def dealt(drawn: str, starts: str, columns: Sequence[str], first: int) -> exp.Select:
    """slot, and these columns of `drawn`: every row in its slot, a number for each region and group.

    `first` is the number of the first row as they stand, see `numbers_of`.
    """
    rank = column("rowid", "standing") - literal(first) - column("before", "start")
    among = paren(rank) < column("kept", "start")
    kept = column("first", "start") + paren(rank.copy())
    after = infix(column("behind", "start") + paren(rank.copy()), "-", column("kept", "start"))
    index = paren(if_(among, kept, after))
    group = paren(index % column("groups", "start"))
    slot = column("base", "start") + group
    query = exp.select(alias(slot, "slot"), *(column(name, "standing") for name in columns))
    query.from_(relation(drawn, as_="standing"), copy=False)
    same = [
        column("region", "standing").eq(column("region", "start")),
        column(code_name(0), "standing").eq(column("code", "start")),
    ]
    return query.join(relation(starts, as_="start"), on=exp.and_(*same), copy=False)


def _copies(parts: Sequence[exp.Expr]) -> list[exp.Expr]:
    return [part.copy() for part in parts]
