"""MEASURE with a thousand counts on the source and on a release, against full scans that answer one count each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import sqlanon
from benchmarks import databases
from benchmarks.context import Context
from benchmarks.data import ADULT, DIAGNOSED, Dataset
from benchmarks.figure import Figure, ratio
from benchmarks.measure import Timings, paired, seconds

__all__ = ["METHODS", "Measured", "by", "figures", "run"]

_QUERIES, _DIMENSIONS = 1000, 4
# The most scans by the least number of rows, largest first; on a small table the fixed cost is more than the scans.
_MARKS = {10_000_000: 30.0, 1_000_000: 60.0}
_MARKS_OF = {"sliced": {10_000_000: 30.0, 1_000_000: 200.0}}
_BASELINE = "SELECT count(*) FROM t WHERE <the predicates of one query>"
# A single scan is short, and queries differ, so the baseline is the median of some of them.
_SCANNED = 9
_SIZES, _QUICK_SIZES = (100_000, 1_000_000), (20_000,)
# One query on a column of the rows and on a bucketed or linked column.
_ESTIMATE_MARK = 8.0


@dataclass(frozen=True)
class Measured:
    """A method, its table, and whether the sensitive column is separated from the others."""

    method: str
    dataset: Dataset
    hierarchies: bool = False
    apart: bool = False
    requires: str = "k_anonymity(k => 10)"


METHODS: Mapping[str, Measured] = {
    "generalization": Measured("generalization(suppression => 0.02)", ADULT, hierarchies=True),
    "local": Measured("generalization(suppression => 0.02, recoding => 'local')", ADULT, hierarchies=True),
    "mondrian": Measured("mondrian", ADULT, hierarchies=True),
    "unrecoded": Measured("mondrian(publish => 'none')", DIAGNOSED),
    "anatomy": Measured("anatomy(l => 3)", DIAGNOSED, requires="l_diversity(l => 3, variant => 'probabilistic')"),
    "sliced": Measured(
        "slicing(l => 3) COLUMNS (birth, zip, education, native_country, occupation), (sex, diagnosis)",
        DIAGNOSED,
        requires="l_diversity(l => 3, variant => 'probabilistic')",
    ),
    "fragments": Measured("fragments", DIAGNOSED, apart=True),
    "loose": Measured("loose(k => 4)", DIAGNOSED, apart=True),
}


def run(context: Context) -> Iterator[Figure]:
    """Measures generalization, at the sizes of all cases."""
    for rows in context.sizes:
        yield from figures(context, "generalization", rows)


def by(name: str) -> Callable[[Context], Iterator[Figure]]:
    """Returns the case of another method."""

    def case(context: Context) -> Iterator[Figure]:
        for rows in context.sizes_or(_SIZES, _QUICK_SIZES):
            yield from figures(context, name, rows)

    return case


def figures(context: Context, name: str, rows: int) -> Iterator[Figure]:
    """Measures a thousand counts, and for Anatomy also a single count."""
    context.note(f"measure, {name}, {rows:,} rows")
    one = METHODS[name]
    with databases.working_copy(one.dataset, context.file(one.dataset, rows)) as connection:
        _release(connection, one)
        connection.sql(
            f"CREATE OR REPLACE WORKLOAD asked ON POLICY benchmark (queries => {_QUERIES}, dimensions => {_DIMENSIONS})"
        )
        asked = f"{_QUERIES:,} counts on source and release"
        what = asked if name == "generalization" else f"{asked}, {name}"
        mark = next((mark for least, mark in _MARKS_OF.get(name, _MARKS).items() if rows >= least), None)
        yield _compared(context, connection, rows, what, "MEASURE measured WITH WORKLOAD asked", mark)
        if name == "anatomy":
            ((text,),) = connection.duckdb.execute(
                "SELECT sql FROM anon.workload WHERE workload = 'asked' AND contains(sql, 'diagnosis') "
                "ORDER BY query_id LIMIT 1"
            ).fetchall()
            statement = f"ESTIMATE {text} FROM RELEASE measured"
            yield _compared(context, connection, rows, "one ESTIMATE, anatomy", statement, _ESTIMATE_MARK)


def _release(connection: sqlanon.Connection, one: Measured) -> None:
    if one.apart:
        databases.keep_apart(connection, one.dataset)
    elif one.dataset.sensitive is not None:
        sensitive = [one.dataset.sensitive]
        columns = one.dataset.columns
        databases.declare(connection, one.dataset, columns, sensitive, one.requires, hierarchies=one.hierarchies)
    connection.sql(databases.published("table", "measured", one.method))


def _compared(
    context: Context,
    connection: sqlanon.Connection,
    rows: int,
    what: str,
    statement: str,
    mark: float | None,
) -> Figure:
    texts = connection.duckdb.execute(
        "SELECT sql FROM anon.workload WHERE workload = 'asked' ORDER BY query_id LIMIT ?", [_SCANNED]
    ).fetchall()

    def scan(text: str) -> float:
        return seconds(lambda: connection.duckdb.execute(text).fetchall())

    def baseline() -> float:
        scans = [scan(text) for (text,) in texts]
        return sorted(scans)[len(scans) // 2]

    def subject() -> Timings:
        return {"total": seconds(lambda: connection.sql(statement))}

    samples = paired(baseline, subject, context.runs_at(rows))
    return ratio("measure", what, rows, samples["total"], _BASELINE, mark)
