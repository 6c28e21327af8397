"""MEASURE release WITH TASK (kind => 'ratings'): measures the prediction of ratings that is learned from a release.

Li, Li, Zhang and Molloy, Slicing: a new approach for privacy preserving data publishing (2012), section 7. A missing
rating is padded with the mean of its item, the table is centered by these means, and its greatest singular vectors are
learned: from the release, whose columns are linked at random within the buckets, and from the source. Each respondent's
padded row is projected onto these vectors, and the error is measured over the known ratings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from sqlanon.assess.tasks.arguments import TaskArguments
from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.identifiers import fold
from sqlanon.domain.release import Release
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError, UserError
from sqlanon.sources.bind_policy import source_rows
from sqlanon.sources.source import own_object
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, window
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.render import to_sql

if TYPE_CHECKING:
    from numpy.typing import NDArray

Matrix = Any

_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
# A table of at most this many cells is decomposed directly, without an iteration.
_DENSE_CELLS = 250_000


class Ratings:
    """Ratings by the numbers of respondent and item, both from 0 on, as three arrays of equal length."""

    def __init__(self, rows: Sequence[tuple[int, int, float]], respondents: int, items: int) -> None:
        table = np.array(rows, dtype=float).reshape(-1, 3)
        self.shape = (respondents, items)
        self.respondents: NDArray[Any] = table[:, 0].astype(int)
        self.items: NDArray[Any] = table[:, 1].astype(int)
        self.values: NDArray[Any] = table[:, 2]

    def means(self) -> NDArray[Any]:
        """Returns the mean rating of each item; 0 for an item without ratings."""
        counts = np.bincount(self.items, minlength=self.shape[1])
        sums = np.bincount(self.items, weights=self.values, minlength=self.shape[1])
        means: NDArray[Any] = sums / np.maximum(counts, 1)
        return means

    def centred(self, means: NDArray[Any]) -> Matrix:
        """Returns the table minus the means, as a sparse matrix. A missing rating is 0, because it is padded with the
        mean.
        """
        from scipy.sparse import csr_array

        return csr_array((self.values - means[self.items], (self.respondents, self.items)), shape=self.shape)


def ratings_task(engine: Engine, release: Release, arguments: TaskArguments) -> list[tuple[str, float | None]]:
    """Measures the number of ratings, the rank, and the root mean squared errors of the item means, the source and the
    release.

    Raises PolicyError for a release that was not made of ratings, or whose ratings are not numbers. Raises UserError
    for a rank that is not below the numbers of items and of respondents, and if SciPy is not installed.
    """
    _require_scipy()
    rank, seed = arguments.whole("rank", 10, 1), arguments.seed()
    arguments.require_no_others()
    policy = policy_of(release)
    if policy.pivot is None:
        raise PolicyError(
            f"{release.name} was not made of ratings: its policy has no PIVOT",
            hint="ratings are a table with a row for each respondent and item: CREATE POLICY p ON ratings PIVOT item "
            "VALUES rating (...)",
        )
    items = [attribute.name for attribute in policy.items]
    with engine.transaction(), TempTables(engine) as temp:
        source = source_rows(engine, policy, temp)
        kinds = {fold(name): kind for name, kind in source.columns}
        if not _is_number(kinds[fold(items[0])]):
            raise PolicyError(
                f"{release.name}: its ratings are {kinds[fold(items[0])]}, and only numbers have an error",
                hint="make the policy over numbers, ON (SELECT ..., CAST(rating AS DOUBLE) AS rating ...)",
            )
        known = _ratings(engine, relation(source.relation), items, temp)
        learned = _ratings(engine, _joined(engine, release, seed), items, temp)
    if not rank < min(known.shape):
        raise UserError(
            f"rank is {rank}, and there are {known.shape[0]:,} respondents and {known.shape[1]:,} items",
            hint="the rank is below both numbers",
        )
    return [
        ("ratings", float(len(known.values))),
        ("rank", float(rank)),
        ("rmse_baseline", error_of(known, None, rank, seed)),
        ("rmse_source", error_of(known, known, rank, seed)),
        ("rmse_release", error_of(known, learned, rank, seed)),
    ]


def error_of(known: Ratings, learned: Ratings | None, rank: int, seed: int) -> float | None:
    """Returns the root mean squared error over the known ratings; None if there are no known ratings.

    The prediction is the mean of the item, plus, if `learned` is given, the respondent's padded row projected onto the
    `rank` greatest singular vectors of `learned`. The `seed` starts the iteration that finds these vectors.
    """
    if not len(known.values):
        return None
    means = known.means()
    predicted = means[known.items]
    if learned is not None:
        vectors = _singular_vectors(learned.centred(learned.means()), rank, seed)
        weights = known.centred(means) @ vectors
        predicted = predicted + np.einsum("ij,ij->i", weights[known.respondents], vectors[known.items])
    return float(np.sqrt(np.mean((known.values - predicted) ** 2)))


def _singular_vectors(table: Matrix, rank: int, seed: int) -> NDArray[Any]:
    """Returns the right singular vectors of the greatest singular values, one in each column."""
    from scipy.sparse.linalg import svds

    rank = min(rank, *table.shape)
    if table.shape[0] * table.shape[1] <= _DENSE_CELLS or rank >= min(table.shape):
        vectors: NDArray[Any] = np.linalg.svd(table.toarray(), full_matrices=False)[2][:rank].T
        return vectors
    start = np.random.default_rng(seed).standard_normal(min(table.shape))
    greatest: NDArray[Any] = svds(table, k=rank, v0=start)[2].T
    return greatest


def _ratings(engine: Engine, wide: exp.Expr, items: Sequence[str], temp: TempTables) -> Ratings:
    """Reads the ratings of a table with a row for each respondent and a column for each item."""
    numbers = [str(number) for number in range(len(items))]
    named = [alias(column(name), number) for name, number in zip(items, numbers, strict=True)]
    respondent = alias(window(f.row_number()) - literal(1), "respondent")
    numbered = temp.table("numbered", select(respondent, *named, of=wide))
    ((respondents,),) = engine.rows(select(f.count(), of=relation(numbered)))
    # UNPIVOT skips NULLs, and takes a tenth of the time of a list of each row's cells.
    rated = exp.In(this=column("item"), expressions=[column(number) for number in numbers])
    cells = relation(numbered)
    cells.set("pivots", [exp.Pivot(expressions=[column("rating")], fields=[rated], unpivot=True)])
    rating = cast(column("rating"), "DOUBLE")
    rows = select(column("respondent"), cast(column("item"), "INTEGER"), rating, of=cells)
    return Ratings(engine.rows(rows), int(respondents), len(items))


def _joined(engine: Engine, release: Release, seed: int) -> exp.Expr:
    """Returns the release's tables as one table, linked at random within the buckets by
    `sql/macros/joined_buckets.sql`.
    """
    tables = [relation(own_object(engine, made.name)) for made in release.published]
    if len(tables) == 1:
        return tables[0]
    texts = [literal("(" + to_sql(select(exp.Star(), of=table)) + ")") for table in tables]
    joined = f.call(
        "joined_buckets", exp.Array(expressions=texts), exp.PropertyEQ(this=column("seed"), expression=literal(seed))
    )
    return exp.Table(this=joined, db=exp.to_identifier("anon"))


def _is_number(kind: str) -> bool:
    return kind in (*_NUMBERS, "FLOAT", "DOUBLE") or kind.startswith("DECIMAL")


def _require_scipy() -> None:
    try:
        import scipy.sparse.linalg  # noqa: F401
    except ModuleNotFoundError:
        raise UserError(
            "SciPy is missing, with which ratings are learned", hint="pip install 'sqlanon[tasks]'"
        ) from None
