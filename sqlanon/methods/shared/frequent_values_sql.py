"""How often the most frequent value of a column occurs in a table."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, ascending, descending, window
from sqlanon.sql.build.names import alias, column
from sqlanon.sql.cells.labels import published_value


def most_frequent(bounds: Sequence[BoundAttribute], source: exp.Table) -> exp.Select:
    """n, rows, text_0, ...: the rows of the most frequent value, or of several columns' together, and of all; its text.

    Of equally frequent ones the first by its text, NULL last.
    """
    names = [f"value_{index}" for index in range(len(bounds))]
    counted = exp.select(
        *(alias(published_value(bound), name) for bound, name in zip(bounds, names, strict=True)),
        alias(f.count(), "n"),
    ).from_(source)
    counted.group_by(*map(published_value, bounds), copy=False)
    rows = window(f.sum(column("n")))
    texts = [alias(as_text(column(name)), f"text_{index}") for index, name in enumerate(names)]
    query = exp.select(column("n"), alias(rows, "rows"), *texts).from_(counted.subquery("counted"), copy=False)
    order = [descending(column("n"))]
    order += [ascending(column(text.alias)) for text in texts]
    return query.order_by(*order, copy=False).limit(1, copy=False)
