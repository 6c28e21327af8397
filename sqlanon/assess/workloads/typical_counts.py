"""The error of a typical count: counts over two columns, drawn as a workload is, on a release and on its source."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from sqlanon.assess.workloads.measure import measure_unrecorded
from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.release import Release
from sqlanon.domain.workload import WorkloadOptions
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError
from sqlanon.estimates.workloads import drawn_queries, queried_columns
from sqlanon.sources.bind_policy import bind, hierarchies_of, policy_source
from sqlanon.sources.related_tables import require_one_table
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.render import to_sql

# The name by which an error of a query calls them.
_NAME = "typical_counts"
# The number of counts, and the share of the rows that a count is of if columns are uniform and independent.
_QUERIES, _SELECTIVITY = 100, Decimal("0.05")
# The number of columns that a count has conditions on.
_COLUMNS = 2


@dataclass(frozen=True)
class TypicalCounts:
    """The relative errors of counts over `columns` columns each; `median` and `mean` are of the `compared` ones.

    Counts that are 0 in the source are not compared. `reason` is the reason why nothing is compared, None otherwise.
    """

    columns: int = 0
    compared: int = 0
    median: float | None = None
    mean: float | None = None
    reason: str | None = None


def typical_counts(engine: Engine, release: Release, queries: int = _QUERIES) -> TypicalCounts:
    """Draws counts on the source of a release, asks both, and compares; the same counts each time, and none recorded.

    A count has conditions on two columns: a quasi-identifier and a sensitive attribute, or two quasi-identifiers where
    nothing is sensitive. A source that is gone, or a release without estimates,
    is a reason. Raises UserError as `measure` does.
    """
    try:
        with engine.transaction(), Scratch(engine) as scratch:
            columns, texts = _drawn(engine, release, queries, scratch)
            figures = measure_unrecorded(engine, release, _NAME, texts)
    except PolicyError as error:
        return TypicalCounts(reason=error.message)
    without = int(figures["not_estimated"] or 0)
    compared = int(figures["results"] or 0) - int(figures["zero_actual"] or 0)
    if without:
        return TypicalCounts(reason=f"the release does not answer {without} of {queries} counts")
    if not compared:
        return TypicalCounts(reason="each count is 0 in the source")
    return TypicalCounts(columns, compared, figures["median_relative_error"], figures["mean_relative_error"])


def _drawn(engine: Engine, release: Release, queries: int, scratch: Scratch) -> tuple[int, list[tuple[int, str]]]:
    """The number of columns that each count has conditions on, and the texts of the counts by their numbers."""
    policy = policy_of(release)
    require_one_table(policy, "a count", "it counts rows of the source")
    source = policy_source(engine, policy, scratch, copy=engine.reads_in_place)
    bound = bind(policy, source, hierarchies_of(engine, policy), fingerprint="")
    quasi = len(bound.quasi_identifiers) or _COLUMNS
    dimensions = min(quasi, _COLUMNS - bool(bound.sensitive))
    options = WorkloadOptions(queries, dimensions, _SELECTIVITY)
    queried = queried_columns(engine, bound, options, scratch)
    # In a query, a source that is no table has the policy's name.
    table = relation(policy.source.name or policy.name)
    head = " ".join(["SELECT count(*) AS n FROM", to_sql(table), "WHERE "])
    drawn = drawn_queries(_NAME, head, queried, options)
    rows = engine.rows(drawn.order_by(column("query_id")))
    return dimensions + bool(bound.sensitive), [(int(number), str(text)) for _, number, text in rows]
