"""How alike respondents rate items (Slicing 2012, section 7): those who rated both alike, among who rated either.

Sim(a, b) = respondents with both ratings, which are equal / respondents with one of the two. It is made of the long
table by one join with itself: the wide one has mostly NULLs.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, LongTable
from sqlanon.domain.identifiers import fold
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.methods.slicing.correlation import Correlations
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    as_text,
    ascending,
    entry,
    filtered,
    infix,
    is_not_null,
    order_by,
    same,
    window,
)
from sqlanon.sql.build.names import alias, column, relation


def equal_ratings(
    engine: Engine, scratch: Scratch, long_table: LongTable, bounds: Sequence[BoundAttribute]
) -> Correlations:
    """Sim of every two of the attributes, which are items of the long table; 0 where nobody rated either.

    A rating that is NULL is none. A long table has one rating of an item by a respondent.
    """
    coded = scratch.table("coded_ratings", _coded(long_table))
    index = {fold(bound.column): number for number, bound in enumerate(bounds)}
    at: dict[int, int] = {}
    ratings: dict[int, int] = {}
    for code, name, rated in engine.rows(_items(coded)):
        if fold(str(name)) in index:
            at[int(code)] = index[fold(str(name))]
            ratings[int(code)] = int(rated)
    pairs = {(a, b): 0.0 for a in range(len(bounds)) for b in range(a + 1, len(bounds))}
    for first, second, equal, both in engine.rows(_pairs(coded)):
        if first in at and second in at:
            low, high = sorted((at[first], at[second]))
            pairs[low, high] = int(equal) / (ratings[first] + ratings[second] - int(both))
    names = tuple(bound.column for bound in bounds)
    return Correlations(names, tuple(len(names) * [0]), pairs, measure="the share of equal ratings")


def _coded(long_table: LongTable) -> exp.Select:
    """respondent, item, name, rating: the ratings, with numbers for the respondents and the items."""
    name = as_text(column(long_table.item))
    who = [column(name) for name in long_table.respondents]
    person: exp.Expr = who[0]
    if len(who) > 1:
        person = exp.Struct(expressions=[entry(f"part_{number}", part) for number, part in enumerate(who)])
    numbered = [
        alias(window(f.dense_rank(), order=order_by(ascending(key))), to)
        for key, to in ((person, "respondent"), (name, "item"))
    ]
    query = exp.select(*numbered, alias(name.copy(), "name"), alias(column(long_table.rating), "rating"))
    query.from_(relation(long_table.relation), copy=False)
    return query.where(is_not_null(column(long_table.rating)), copy=False)


def _items(coded: str) -> exp.Select:
    """item, name, rated: by how many respondents each item is rated."""
    keys = [column("item"), column("name")]
    query = exp.select(*keys, alias(f.count(), "rated")).from_(relation(coded), copy=False)
    return query.group_by(*(key.copy() for key in keys), copy=False)


def _pairs(coded: str) -> exp.Select:
    """first, second, equal, both: how many respondents rated two items alike, and how many both, where any did both."""
    keys = [column("item", "first"), column("item", "second")]
    alike = column("rating", "first").eq(column("rating", "second"))
    counts = [alias(filtered(f.count(), alike), "equal"), alias(f.count(), "both")]
    query = exp.select(alias(keys[0], "first"), alias(keys[1], "second"), *counts)
    query.from_(relation(coded, as_="first"), copy=False)
    ordered = infix(keys[0].copy(), "<", keys[1].copy())
    on = exp.and_(same("respondent", "first", "second"), ordered)
    query.join(relation(coded, as_="second"), on=on, copy=False)
    return query.group_by(*(key.copy() for key in keys), copy=False)
