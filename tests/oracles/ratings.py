"""Errors of predicted ratings, naively: padded tables of floats, all singular vectors, a loop over known ratings.

Li, Li, Zhang and Molloy, Slicing: a new approach for privacy preserving data publishing (2012), section 7.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["Table", "rmse"]

Table = Sequence[Sequence[float | None]]


def rmse(known: Table, learned: Table | None, rank: int) -> float:
    means = item_means(known)
    squares = []
    projection = np.zeros((len(means), len(means)))
    if learned is not None:
        _, _, vectors = np.linalg.svd(padded(learned, item_means(learned)))
        projection = sum(np.outer(vector, vector) for vector in vectors[:rank])
    for row in known:
        filled = [0 if value is None else value - mean for value, mean in zip(row, means, strict=True)]
        predicted = np.array(filled) @ projection + np.array(means)
        squares += [(value - guess) ** 2 for value, guess in zip(row, predicted, strict=True) if value is not None]
    return float(np.sqrt(sum(squares) / len(squares)))


def item_means(table: Table) -> list[float]:
    columns = [[row[item] for row in table if row[item] is not None] for item in range(len(table[0]))]
    return [sum(column) / len(column) if column else 0.0 for column in columns]


def padded(table: Table, means: Sequence[float]) -> np.ndarray:
    return np.array(
        [[0 if value is None else value - mean for value, mean in zip(row, means, strict=True)] for row in table]
    )
