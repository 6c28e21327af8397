"""MEASURE release WITH FIGURES (membership): how well a release hides which tuples its source has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.context import Adjustable
from sqlanon.domain.identifiers import fold
from sqlanon.domain.release import Release
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError
from sqlanon.release.existing.estimable import recorded
from sqlanon.release.existing.loaded import require_unchanged
from sqlanon.release.existing.membership import JoinedTuples, Matching, matching_of
from sqlanon.release.existing.objects import require_own_columns
from sqlanon.sources.pivot import source_rows
from sqlanon.sql.build.expressions import cast
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.sql_files import query_file
from sqlanon.sql.build.steps import with_steps


@dataclass(frozen=True)
class Sizes:
    """Tables that could be joined to more than `max_joined_tuples` tuples, counted by bucket, are not joined."""

    max_joined_tuples: int = 20_000_000


sizes = Adjustable(Sizes())


# How many buckets tuples match: the mean, and the share of those that match so many.
_OF_BUCKETS = ("", "_at_most_10", "_11_to_20", "_above_20")


def membership(engine: Engine, release: Release, scratch: Scratch) -> list[tuple[str, float | None]]:
    """The figures of a snapshot: how many tuples its tables can be joined to, and how many buckets these match.

    In a transaction that is open already. Raises PolicyError for a live view, for a release whose values are not its
    source's, where its tables could be joined to too many tuples, and where the source has not the columns that it had.
    """
    if release.kind == "view":
        raise PolicyError(
            f"{release.name} is a live view, whose rows change with its source: membership is measured of snapshots",
            hint="make one with CREATE ANONYMIZED TABLE",
        )
    require_own_columns(engine, release)
    matching = matching_of(str(release.name), recorded(engine, release).tables)
    source = _source(engine, release, matching, scratch)
    return membership_figures(engine, matching, str(release.name), source, scratch)


def membership_figures(
    engine: Engine, matching: Matching, name: str, source: exp.Table | exp.Subquery, scratch: Scratch
) -> list[tuple[str, float | None]]:
    """The figures of a release by its matching and its source, in a transaction that is open already.

    Raises PolicyError, with the release's name, where its tables could be joined to too many tuples.
    """
    values = [scratch.table("values", part.values) for part in matching.columns]
    buckets = None if matching.buckets is None else scratch.table("buckets", matching.buckets)
    tuples = JoinedTuples(matching, values, buckets)
    ((most,),) = engine.rows(tuples.most())
    if tuples.is_product:
        matched = tuples.of_one_bucket(source, most)
    elif most <= sizes().max_joined_tuples:
        matched = tuples.matched(source)
    else:
        raise PolicyError(
            f"{name}: its tables can be joined to {most:,.0f} tuples, counted in each bucket; more than "
            f"{sizes().max_joined_tuples:,} are not counted",
            hint="there are fewer with smaller buckets, and where more columns are published together",
        )
    query = query_file("statements", "membership")
    assert isinstance(query, exp.Select)
    return list(_figures(engine.rows(with_steps(query, [("matched_tuples", matched)]))))


def _figures(rows: Sequence[tuple[Any, ...]]) -> Iterator[tuple[str, float | None]]:
    """The figures, from what `sql/statements/membership.sql` says of original and of fake tuples."""
    measured = {is_original: (tuples, buckets) for is_original, tuples, *buckets in rows}
    (original, of_originals), (fake, of_fakes) = (
        measured.get(is_original, (0.0, [None] * len(_OF_BUCKETS))) for is_original in (True, False)
    )
    yield "original", original
    yield "fake", fake
    yield "fake_original_ratio", fake / original if original else None
    for kind, of_buckets in (("original", of_originals), ("fake", of_fakes)):
        yield from zip((f"matching_buckets_{kind}{which}" for which in _OF_BUCKETS), of_buckets, strict=True)


def _source(engine: Engine, release: Release, matching: Matching, scratch: Scratch) -> exp.Subquery:
    """The attributes of what the release was made of, in the types in which they are published.

    Raises PolicyError where a column is gone or has another type.
    """
    source = source_rows(engine, policy_of(release), scratch, copy=False)
    kinds = {fold(name): kind for name, kind in source.columns}
    published = require_unchanged(release, source, matching.attributes)
    outputs: list[exp.Expr] = []
    for attribute in matching.attributes:
        value, kind = column(attribute), published[fold(attribute)]
        outputs.append(alias(value if kinds[fold(attribute)] == kind else cast(value, kind), attribute))
    return exp.select(*outputs).from_(relation(source.relation)).subquery("source")
