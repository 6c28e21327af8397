"""Rows put in a random order with numbers in place of long texts: a row that is sorted is moved, and numbers are short.

A column of few different texts is numbered, the rows are sorted with the numbers, and what was sorted is spelled
out. The order is that of a table: however it is read, nothing of it is the source's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.sqlgen.generalized import published_value
from sqlanon.sqlgen.names import alias, column, relation
from sqlanon.sqlgen.terms import integer

__all__ = ["different_texts", "numbered", "spelled"]


def different_texts(texts: Sequence[BoundAttribute], source: exp.Table, rows: int) -> exp.Select:
    """About how many different values each column has among some `rows` of the source, a column each."""
    own = [alias(published_value(bound), f"text_{place}") for place, bound in enumerate(texts)]
    some = exp.select(*own).from_(source).limit(rows)
    counts = [exp.ApproxDistinct(this=column(f"text_{place}")) for place in range(len(texts))]
    return exp.select(*counts).from_(some.subquery("some"), copy=False)


def numbered(query: exp.Select, words: Mapping[str, str]) -> exp.Select:
    """The rows with numbers in the columns that `words` has a table for, of `buckets.value_codes`."""
    names = _names(query)
    places = {name: f"word_{place}" for place, name in enumerate(words)}
    shown = [
        alias(integer(column("code", places[name])), name) if name in places else column(name, "released")
        for name in names
    ]
    rows = exp.select(*shown).from_(query.subquery("released"))
    for name, table in words.items():
        same = exp.NullSafeEQ(this=column(name, "released"), expression=column("value", places[name]))
        rows.join(relation(table, as_=places[name]), on=same, copy=False)
    return rows


def spelled(query: exp.Select, coded: str, words: Mapping[str, str]) -> exp.Select:
    """The rows of `query` again, from the table `coded` of those that `numbered` gave."""
    places = {name: f"word_{place}" for place, name in enumerate(words)}
    shown = [
        alias(column("value", places[name]), name) if name in places else column(name, "coded")
        for name in _names(query)
    ]
    rows = exp.select(*shown).from_(relation(coded, as_="coded"))
    for name, table in words.items():
        same = exp.EQ(this=column(name, "coded"), expression=column("code", places[name]))
        rows.join(relation(table, as_=places[name]), on=same, copy=False)
    return rows


def _names(query: exp.Select) -> list[str]:
    return [each.alias_or_name for each in query.selects]
