"""The error of drawn counts: random queries, answered from the labels of a release that is not made yet.

A query counts the rows whose values are among some values of up to four quasi-identifiers: a range of a column with
many values, a list of one with few, about 5 % of the rows together if columns were independent, as CREATE WORKLOAD
draws them. A reader takes the values below a label for equally frequent. The queries ask about no sensitive attribute:
the choice of a method then depends on nothing of these but what the labels do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlglot import exp

from sqlanon.domain.workload import FEW, WorkloadOptions
from sqlanon.engines.base import Engine
from sqlanon.methods.shared.spans import high_name, low_name, null_name
from sqlanon.sql.build.expressions import ascending, if_, is_null
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.cells.cells import rank_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The ranks that a query names of each quasi-identifier that it asks about, by its index, ascending.
Predicates: TypeAlias = "Mapping[int, NDArray[Any]]"

# Predicates on a column with more values are ranges, as those of a workload.
_LISTED = 100
# Queries that count fewer rows are not compared: their relative error is that of a single row.
FEWEST = 5
# Of fewer rows most queries would count so few.
LEAST_ROWS = 100
# The same queries for the same source: nothing secret depends on them.
SEED = 1


@dataclass(frozen=True)
class Axis:
    """The values of a quasi-identifier in their order.

    `known[r]` is the number of values but NULL with a rank below r, `size` that of all values, `occurring` has the
    ranks of those that rows of the source have.
    """

    known: NDArray[Any]
    size: int
    occurring: NDArray[Any]


def axes_of(engine: Engine, ranks: Sequence[str]) -> list[Axis]:
    """The axis of each table of `value_ranks.ranked`."""
    import numpy as np

    axes: list[Axis] = []
    for table in ranks:
        is_known = alias(if_(is_null(column("value")), 0, column("leaf")), "known")
        query = exp.select(is_known, column("leaf"), column("n")).from_(relation(table))
        arrays = engine.arrays(query.order_by(ascending(column(rank_name(0))), copy=False))
        known, leaves, rows = (np.asarray(arrays[name], dtype=np.int64) for name in ("known", "leaf", "n"))
        below = np.concatenate(([0], np.cumsum(known)))
        axes.append(Axis(below, int(leaves.sum()), np.flatnonzero((known > 0) & (rows > 0))))
    return axes


def drawn_queries(axes: Sequence[Axis], count: int, seed: int = SEED) -> list[Predicates]:
    """The predicates of `count` queries; none where no quasi-identifier has a value."""
    options, draw = WorkloadOptions(), Random(seed)
    indexes = [index for index, axis in enumerate(axes) if len(axis.occurring)]
    if not indexes:
        return []
    width = min(len(indexes), FEW)
    queries: list[Predicates] = []
    for _ in range(count):
        of_query = sorted(draw.sample(indexes, width))
        queries.append({index: _named(axes[index].occurring, options, width, draw) for index in of_query})
    return queries


def _named(values: NDArray[Any], options: WorkloadOptions, width: int, draw: Random) -> NDArray[Any]:
    """Some of the values: neighbors where there are many, and any where there are few."""
    named = options.values(len(values), width)
    if len(values) > _LISTED:
        first = draw.randrange(len(values) - named + 1)
        return values[first : first + named]
    return values[sorted(draw.sample(range(len(values)), named))]


def counts(
    engine: Engine, spans: exp.Query, axes: Sequence[Axis], queries: Sequence[Predicates], suppressed: int = 0
) -> NDArray[Any]:
    """The answer of each query, estimated from spans; `suppressed` rows may have any values."""
    import numpy as np

    arrays = {name: np.asarray(values, dtype=np.int64) for name, values in engine.arrays(spans).items()}
    rows = arrays["n"].astype(np.float64)
    answers: list[float] = []
    sizes = {index: _below(axis.known, arrays, index) + arrays[null_name(index)] for index, axis in enumerate(axes)}
    for predicates in queries:
        share = rows.copy()
        anywhere = float(suppressed)
        for index, named in predicates.items():
            axis = axes[index]
            is_named = np.zeros(len(axis.known), dtype=np.int64)
            is_named[named + 1] = 1
            share *= _below(np.cumsum(is_named), arrays, index) / np.maximum(sizes[index], 1)
            anywhere *= len(named) / axis.size
        answers.append(float(share.sum()) + anywhere)
    return np.array(answers)


def _below(cumulated: NDArray[Any], arrays: Mapping[str, NDArray[Any]], index: int) -> NDArray[Any]:
    """How many of some values lie below each label; `cumulated[r]` is their number with a rank below r."""
    below: NDArray[Any] = cumulated[arrays[high_name(index)] + 1] - cumulated[arrays[low_name(index)]]
    return below.clip(min=0)


def mean_error(actual: NDArray[Any], estimated: NDArray[Any]) -> float | None:
    """The mean of |estimate - actual| / actual over the queries that count enough rows; None where none does."""
    import numpy as np

    counted = actual >= FEWEST
    if not counted.any():
        return None
    error = np.abs(estimated[counted] - actual[counted]) / actual[counted]
    # Sums of floating-point numbers depend on the order of the rows in their last digits.
    return round(float(error.mean()), 9)
