"""FRONTIER of forty candidates on Adult, from the statement to the figures."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from benchmarks.context import Context
from benchmarks.figure import Figure
from benchmarks.measure import seconds
from benchmarks.papers.adult import OCC_7, connected, declare, take

__all__ = ["run"]

# Six bounds make 42 candidates, besides three for comparison. No occupation has more than a seventh of the rows, so
# each bound can be satisfied.
_METHODS = (
    "generalization",
    "generalization(suppression => 0.02)",
    "generalization(suppression => 0.05)",
    "mondrian",
    "anatomy",
    "slicing",
    "slicing(columns => 3)",
)
_BOUNDS, _QUICK_BOUNDS = (2, 3, 4, 5, 6, 7), (2,)
_MARK = 60.0
_QUICK_ROWS = 1_000


def run(context: Context) -> Iterator[Figure]:
    """Measures the privacy and utility losses of releases with six quasi-identifiers and the occupation."""
    bounds = _QUICK_BOUNDS if context.quick else _BOUNDS
    count = len(_METHODS) * len(bounds)
    context.note(f"frontier, {count} candidates")
    with connected(_QUICK_ROWS if context.quick else None, seed=1) as connection:
        take(connection, OCC_7)
        policy = declare(connection, OCC_7, "l_diversity(l => 2)")
        ((rows,),) = connection.duckdb.execute("SELECT count(*) FROM source_rows").fetchall()
        swept = ", ".join(map(str, bounds))
        statement = (
            f"FRONTIER measured ON POLICY {policy} METHODS ({', '.join(_METHODS)}) SWEEP l IN ({swept}) "
            "MEASURE p_loss, u_loss"
        )
        taken = [seconds(lambda: connection.sql(statement).fetchall()) for _ in range(context.runs or 1)]
        not_made = connection.sql(
            "SELECT count(DISTINCT number) FROM anon.candidate WHERE reason IS NOT NULL"
        ).fetchall()
    yield Figure(
        "frontier",
        f"{count} candidates",
        median(taken),
        "s",
        min(taken),
        max(taken),
        rows=rows,
        runs=len(taken),
        mark=None if context.quick else _MARK,
        note=f"{not_made[0][0]} of them not made",
    )
