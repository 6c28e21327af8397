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
from sqlanon.sqlgen.build.expressions import big, integer, or_zero, up_to_here
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


def code_name(place: int) -> str:
    """The column with the code of a row's value of the sensitive attribute at this place."""
    return f"code_{place}"


def carried(policy: BoundPolicy) -> tuple[BoundAttribute, ...]:
    """The published columns that are not sensitive, which rows take along when they are dealt out."""
    return tuple(bound for bound in policy.published if bound.role is not Role.SENSITIVE)


def carried_name(place: int) -> str:
    """The column that rows take along, by its place in `carried`."""
    return f"column_{place}"


def value_codes(bound: BoundAttribute, source: exp.Table) -> exp.Select:
    """value, n, code: the values of a sensitive attribute, NULL among them, with their rows, numbered from 1."""
    counted = exp.select(alias(published_value(bound), "value"), alias(exp.Count(this=exp.Star()), "n"))
    counted = counted.from_(source).group_by(published_value(bound))
    order = [
        exp.Ordered(this=part, nulls_first=False)
        for part in (exp.Is(this=column("value"), expression=exp.Null()), column("value"))
    ]
    code = exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=order))
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
        *(alias(integer(column("code", code_name(place))), code_name(place)) for place in range(len(codes))),
        alias(exp.Anonymous(this=draw, expressions=[literal(0)]), "draw"),
    ).from_(relation(policy.relation, as_="source"))
    for place, (bound, table) in enumerate(zip(sensitive, codes, strict=True)):
        name = code_name(place)
        same = exp.NullSafeEQ(this=published_value(bound, "source"), expression=column("value", name))
        query.join(relation(table, as_=name), on=same, copy=False)
    own = carried(policy)
    for place, bound in enumerate(own):
        if bound.column not in words:
            query.select(alias(column(bound.column, "source"), carried_name(place)), copy=False)
            continue
        name = f"word_{place}"
        query.select(alias(column("word", name), carried_name(place)), copy=False)
        same = exp.NullSafeEQ(this=published_value(bound, "source"), expression=column("value", name))
        query.join(relation(words[bound.column], as_=name), on=same, copy=False)
    if regions is not None:
        alike = [
            exp.NullSafeEQ(this=published_value(bound, "source"), expression=column(f"value_{place}", "placed"))
            for place, bound in enumerate(policy.quasi_identifiers)
        ]
        query.join(relation(regions, as_="placed"), on=exp.and_(*alike), copy=False)
    shown = ["region", *map(code_name, range(len(codes))), *map(carried_name, range(len(own)))]
    # A shorter key is sorted faster.
    order = [*([] if regions is None else ["region"]), code_name(0), "draw"]
    return (
        exp.select(*map(column, shown))
        .from_(query.subquery("drawn"), copy=False)
        .order_by(*(exp.Ordered(this=column(name), nulls_first=False) for name in order), copy=False)
    )


def held(drawn: str, draw: str) -> exp.Select:
    """region, code, n, draw: how many rows of each region have each value of the first attribute, each with a draw."""
    names = [column("region"), column(code_name(0))]
    count = alias(exp.Count(this=exp.Star()), "n")
    query = exp.select(names[0], alias(names[1], "code"), count).from_(relation(drawn))
    return _with_draws(query.group_by(*(name.copy() for name in names)), draw)


def held_by_all(codes: str, draw: str) -> exp.Select:
    """region, code, n, draw of all rows as one region, from how many rows have each value of the first attribute."""
    query = exp.select(alias(big(literal(0)), "region"), column("code"), column("n")).from_(relation(codes))
    return _with_draws(query, draw)


def _with_draws(query: exp.Select, draw: str) -> exp.Select:
    drawn = alias(exp.Anonymous(this=draw, expressions=[literal(0)]), "draw")
    return exp.select(exp.Star(), drawn).from_(query.subquery("counted"), copy=False)


def groups(held: str, least: int, different: int | None = None) -> exp.Select:
    """region, rows, most, groups, base: how many groups each region is dealt out to, and how many are before it.

    Groups get `least` rows or more, as long as the region has them. `most` is how many rows the most frequent value
    has. If `different` is given, it is the l of distinct l-diversity, and there are as many groups as can have l
    different values each. Of a value with n rows min(n, g) are in different groups, so g groups are possible iff
    these minima sum up to g l or more. That sum is the least, over all j, of j g and the rows without the j most
    frequent values. So g is the greatest number with g (l - j) <= (rows without the j most frequent values), j < l.
    """
    order = exp.Order(
        expressions=[
            exp.Ordered(this=column("n"), desc=True, nulls_first=False),
            exp.Ordered(this=column("code"), nulls_first=False),
        ]
    )
    own = [column("region")]
    place = exp.Window(this=exp.RowNumber(), partition_by=own, order=order)
    top = exp.Window(this=exp.Sum(this=column("n")), partition_by=_copies(own), order=order.copy(), spec=up_to_here())
    every = exp.Window(this=exp.Sum(this=column("n")), partition_by=_copies(own))
    ranked = exp.select(
        column("region"), column("n"), alias(place, "place"), alias(big(top), "top"), alias(big(every), "rows")
    ).from_(relation(held))
    limits: list[exp.Expr] = [exp.IntDiv(this=exp.Max(this=column("rows")), expression=literal(least))]
    if different is not None:
        rest = exp.Paren(this=exp.Sub(this=column("rows"), expression=column("top")))
        still = exp.Paren(this=exp.Sub(this=literal(different), expression=column("place")))
        before = exp.LT(this=column("place"), expression=literal(different))
        each = exp.Case(ifs=[exp.If(this=before, true=exp.IntDiv(this=rest, expression=still))])
        limits += [
            exp.IntDiv(this=exp.Max(this=column("rows")), expression=literal(different)),
            exp.Min(this=each),
        ]
    fewest = exp.Least(this=limits[0], expressions=limits[1:]) if len(limits) > 1 else limits[0]
    number = exp.Greatest(this=literal(1), expressions=[fewest])
    by_region = exp.select(
        column("region"),
        alias(exp.Max(this=column("rows")), "rows"),
        alias(exp.Max(this=column("n")), "most"),
        alias(big(number), "groups"),
    )
    by_region = by_region.from_(ranked.subquery("ranked"), copy=False).group_by(column("region"))
    reached = exp.Window(
        this=exp.Sum(this=column("groups")),
        order=exp.Order(expressions=[exp.Ordered(this=column("region"), nulls_first=False)]),
        spec=up_to_here(),
    )
    base = exp.Sub(this=big(reached), expression=column("groups"))
    return exp.select(exp.Star(), alias(base, "base")).from_(by_region.subquery("by_region"), copy=False)


def starts(held: str, groups: str) -> exp.Select:
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
        alias(exp.Least(this=column("n", "held"), expressions=[column("groups", "region")]), "kept"),
    ).from_(relation(held, as_="held"))
    same = exp.EQ(this=column("region", "held"), expression=column("region", "region"))
    joined.join(relation(groups, as_="region"), on=same, copy=False)
    order = exp.Order(expressions=[exp.Ordered(this=column(name), nulls_first=False) for name in ("region", "code")])
    reached = exp.Window(this=exp.Sum(this=column("n")), order=order, spec=up_to_here())
    before = exp.Sub(this=big(reached), expression=column("n"))
    more = exp.Sub(this=column("n"), expression=column("kept"))
    first = exp.Sub(this=_running(column("kept")), expression=column("kept"))
    all_kept = big(exp.Window(this=exp.Sum(this=column("kept")), partition_by=[column("region")]))
    behind = exp.Sub(this=exp.Add(this=all_kept, expression=_running(more)), expression=exp.Paren(this=more.copy()))
    names = [column(name) for name in ("region", "code", "kept", "groups", "base")]
    return exp.select(*names, alias(before, "before"), alias(first, "first"), alias(behind, "behind")).from_(
        joined.subquery("joined"), copy=False
    )


def _running(part: exp.Expr) -> exp.Expr:
    order = exp.Order(expressions=[exp.Ordered(this=column(name), nulls_first=False) for name in ("draw", "code")])
    return big(exp.Window(this=exp.Sum(this=part), partition_by=[column("region")], order=order, spec=up_to_here()))


def numbers_of(drawn: str) -> exp.Select:
    """The number of the first row as they stand, how many numbers there are from it to the last, and all rows."""
    number = column("rowid", "drawn")
    first, last = exp.Min(this=number), exp.Max(this=number.copy())
    every = exp.Add(this=exp.Sub(this=last, expression=first.copy()), expression=literal(1))
    return exp.select(*map(or_zero, (first, every)), exp.Count(this=exp.Star())).from_(relation(drawn, as_="drawn"))


def dealt(drawn: str, starts: str, columns: Sequence[str], first: int) -> exp.Select:
    """slot, and these columns of `drawn`: every row in its slot, a number for each region and group.

    `first` is the number of the first row as they stand, see `numbers_of`.
    """
    rank = exp.Sub(
        this=exp.Sub(this=column("rowid", "standing"), expression=literal(first)),
        expression=column("before", "start"),
    )
    among = exp.LT(this=exp.Paren(this=rank), expression=column("kept", "start"))
    kept = exp.Add(this=column("first", "start"), expression=exp.Paren(this=rank.copy()))
    after = exp.Sub(
        this=exp.Add(this=column("behind", "start"), expression=exp.Paren(this=rank.copy())),
        expression=column("kept", "start"),
    )
    place = exp.Paren(this=exp.Case(ifs=[exp.If(this=among, true=kept)], default=after))
    group = exp.Paren(this=exp.Mod(this=place, expression=column("groups", "start")))
    slot = exp.Add(this=column("base", "start"), expression=group)
    query = exp.select(alias(slot, "slot"), *(column(name, "standing") for name in columns))
    query.from_(relation(drawn, as_="standing"), copy=False)
    same = [
        exp.EQ(this=column("region", "standing"), expression=column("region", "start")),
        exp.EQ(this=column(code_name(0), "standing"), expression=column("code", "start")),
    ]
    return query.join(relation(starts, as_="start"), on=exp.and_(*same), copy=False)


def _copies(parts: Sequence[exp.Expr]) -> list[exp.Expr]:
    return [part.copy() for part in parts]
