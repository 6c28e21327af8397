"""Rows sorted with short words in place of long texts: sorting moves rows, and texts are expensive to move.

While its rows are sorted, a column of few different texts has a type of its own, an ENUM of just these texts. In the
sorted rows the texts take the place of the words again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, identical
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.cells.labels import published_value


def different_texts(texts: Sequence[BoundAttribute], source: exp.Table, rows: int) -> exp.Select:
    """About how many different values each column has among some `rows` of the source, in a column for each."""
    values = [alias(published_value(bound), f"text_{index}") for index, bound in enumerate(texts)]
    sample = exp.select(*values).from_(source).limit(rows)
    counts = [f.approx_count_distinct(column(f"text_{index}")) for index in range(len(texts))]
    return exp.select(*counts).from_(sample.subquery("some"), copy=False)


def texts_of(bound: BoundAttribute, source: exp.Table) -> exp.Select:
    """value: the texts of a column, NULL among them."""
    occurring = exp.select(alias(published_value(bound), "value")).distinct(copy=False)
    return occurring.from_(source, copy=False)


def word_table(texts: str, kind: str) -> exp.Select:
    """value, word: the texts of a table of `texts_of`, and each in the type that is called `kind`."""
    word = cast(column("value"), exp.DataType(this=exp.DType.USERDEFINED, kind=kind))
    return exp.select(column("value"), alias(word, "word")).from_(relation(texts))


def coded(query: exp.Select, words: Mapping[str, str]) -> exp.Select:
    """The rows with words in the columns that `words` has a table for, of `word_table`."""
    names = _names(query)
    indexes = {name: f"word_{index}" for index, name in enumerate(words)}
    outputs = [
        alias(column("word", indexes[name]), name) if name in indexes else column(name, "released") for name in names
    ]
    rows = exp.select(*outputs).from_(query.subquery("released"))
    for name, table in words.items():
        same = identical(column(name, "released"), column("value", indexes[name]))
        rows.join(relation(table, as_=indexes[name]), on=same, copy=False)
    return rows


def spelled(query: exp.Select, rows: exp.Select, words: Collection[str]) -> exp.Select:
    """`rows`, which have the columns of `query`, with texts again in those that are words."""
    text = exp.DataType.build("VARCHAR")
    outputs = [
        alias(cast(column(name, "coded"), text), name) if name in words else column(name, "coded")
        for name in _names(query)
    ]
    return exp.select(*outputs).from_(rows.subquery("coded"), copy=False)


def _names(query: exp.Select) -> list[str]:
    return [each.alias_or_name for each in query.selects]
