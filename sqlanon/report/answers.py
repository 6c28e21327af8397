"""How far the answers to workloads are off, by the number of conditions and by how many rows match."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.catalog import workloads
from sqlanon.domain.release import Release
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import SqlanonError
from sqlanon.estimates.query.parse import Aggregate, parsed
from sqlanon.sqlgen.build.expressions import ascending
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.build.sql_files import query_file, reading
from sqlanon.statements.measure_results import Results

__all__ = ["AnswerErrors", "errors_of_workloads"]

_SHAPE = ("query_id", "result", "counts", "dimensions")


@dataclass(frozen=True)
class AnswerErrors:
    """The errors of results of the same kind.

    `dimensions` is how many columns their conditions are about, None where the query is gone or cannot be estimated;
    `share` is 1 for counts of under 0.1 % of the source's rows, 2 under 1 %, 3 under 10 %, 4 for others, and None for
    what counts no rows. `mean`, `median` and `high` (which 95 % do not exceed) are of the relative errors of those that
    are `compared`, None where there are none: results that are 0 in the source have no error.
    """

    dimensions: int | None
    share: int | None
    results: int
    compared: int
    mean: float | None
    median: float | None
    high: float | None
    not_estimated: int


def errors_of_workloads(engine: Engine, release: Release) -> dict[str, Sequence[AnswerErrors]]:
    """The errors of each workload that the release was measured with, as of the last time."""
    of_release = exp.select(exp.Star()).from_(relation(("anon", "query_error")))
    of_release = of_release.where(column("release_id").eq(literal(release.release_id)))
    names = exp.select(column("workload")).distinct().from_(of_release.subquery("query_error"))
    return {
        str(name): _errors(engine, release, str(name), of_release)
        for (name,) in engine.rows(names.order_by(ascending(column("workload"))))
    }


def _errors(engine: Engine, release: Release, workload: str, of_release: exp.Select) -> list[AnswerErrors]:
    with Scratch(engine) as scratch:
        shape = Results(engine, scratch, "shape", _SHAPE)
        shape.add_rows(_shapes(engine, workload))
        size = exp.select(alias(literal(release.source_rows), "row_count"))
        tables: Mapping[str, str | exp.Query] = {
            "query_error": of_release.where(column("workload").eq(literal(workload))),
            "shape": shape.table,
            "source_size": size,
        }
        rows = engine.rows(reading(query_file("statements", "workload_errors"), tables))
    return [AnswerErrors(*row) for row in rows]


def _shapes(engine: Engine, workload: str) -> Iterator[tuple[object, ...]]:
    """query_id, result, whether it counts rows, and of how many columns there are conditions."""
    try:
        queries = workloads.load(engine, workload)
    except SqlanonError:
        # Its rows were changed after it was measured.
        return
    for number, text in queries:
        try:
            query = parsed(text)
        except SqlanonError:
            continue
        columns = {node.name.lower() for node in query.where.find_all(exp.Column)} if query.where else set()
        for item in query.items:
            if isinstance(item, Aggregate):
                yield number, item.name, item.function == "count" and item.argument is None, len(columns)
