"""Measures the loss of a partition of rows into classes, by the rows' original values."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import duckdb

__all__ = ["Quality", "quality"]


@dataclass(frozen=True)
class Quality:
    """The loss of a partition: `loss_metric` is the mean penalty over rows and attributes.

    It is from Iyengar, Transforming data to satisfy privacy constraints (2002). `discernibility` is the sum of the
    squares of the class sizes.
    """

    classes: int
    smallest: int
    largest: int
    rows: int
    loss_metric: float
    discernibility: int

    def __str__(self) -> str:
        sizes = f"{self.smallest:,} to {self.largest:,} rows"
        losses = f"loss metric {self.loss_metric:.5f}, discernibility {self.discernibility:,}"
        return f"{self.classes:,} classes of {sizes}, {losses}"


def quality(
    connection: duckdb.DuckDBPyConnection,
    rows: str,
    class_column: str,
    columns: Sequence[str],
    numeric: Collection[str],
) -> Quality:
    """Measures the quality of `rows`, a relation with the class of each row and its original values.

    A class's penalty in a numeric column is its range / the range of all rows; in another column it is (its number of
    values - 1) / (the number of all values - 1).
    """
    spans = [f"max({name}) - min({name})" if name in numeric else f"count(DISTINCT {name}) - 1" for name in columns]
    made = ", ".join(f"{span} AS span_{place}" for place, span in enumerate(spans))
    penalties = [
        f"coalesce(class.span_{place} / nullif(every.span_{place}, 0)::DOUBLE, 0)" for place in range(len(columns))
    ]
    query = f"""
        WITH every AS (SELECT {made} FROM {rows}),
             class AS (SELECT count(*) AS held, {made} FROM {rows} GROUP BY {class_column})
        SELECT count(*), min(held), max(held), sum(held), sum(held * ({" + ".join(penalties)})), sum(held * held)
        FROM class CROSS JOIN every
    """
    classes, smallest, largest, held, penalty, squares = connection.execute(query).fetchall()[0]
    return Quality(classes, smallest, largest, int(held), penalty / (int(held) * len(columns)), int(squares))
