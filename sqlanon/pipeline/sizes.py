"""When a dry run tries other options and methods, and which tables few rows or values do without."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.adjustable import Adjustable

__all__ = ["Sizes", "sizes"]


@dataclass(frozen=True)
class Sizes:
    """A dry run makes other choices too, of at most `rows` rows and `nodes` nodes: each takes as long as the first.

    What loses less by a share of `less` or more is worth a row; where the loss is below `loss`, little is left to be
    gained, and nothing is tried. From `coded_from` values of a column on their codes are a table. A snapshot of
    `joined_from` rows or more is joined with tables of its labels and classes; of fewer rows the guard reads the rows.
    """

    rows: int = 200_000
    nodes: int = 20_000
    less: float = 0.1
    loss: float = 0.05
    coded_from: int = 1_000
    joined_from: int = 1_000


sizes = Adjustable(Sizes())
