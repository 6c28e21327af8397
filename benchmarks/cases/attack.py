"""ATTACK on single classes, against one GROUP BY of the release's columns, the least work that an attack can do."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import databases
from benchmarks.cases.measure import METHODS
from benchmarks.context import Context
from benchmarks.data import ADULT
from benchmarks.figure import Figure, ratio
from benchmarks.measure import Timings, paired, seconds

__all__ = ["ATTACKS", "run"]

ATTACKS = ("homogeneity", "background(values => 2)", "skewness(ratio => 4)", "similarity(within => 2)")
# A number, so that ranges of it can be looked for.
_SENSITIVE = "age"
_MARK = 5.0
_SIZES, _QUICK_SIZES = (1_000_000,), (20_000,)


def run(context: Context) -> Iterator[Figure]:
    for rows in context.sizes_or(_SIZES, _QUICK_SIZES):
        context.note(f"attack, {rows:,} rows")
        with databases.working_copy(ADULT, context.file(ADULT, rows)) as connection:
            measured = METHODS["generalization"]
            quasi = [name for name in ADULT.columns if name != _SENSITIVE]
            databases.declare(connection, ADULT, quasi, [_SENSITIVE], measured.requires, hierarchies=True)
            connection.sql(databases.published("table", "attacked", measured.method))
            columns = ", ".join(f'"{name}"' for name, *_ in connection.duckdb.execute("DESCRIBE attacked").fetchall())
            grouped = f"SELECT {columns}, count(*) FROM attacked GROUP BY ALL"

            def baseline(grouped: str = grouped) -> float:
                return seconds(lambda: connection.duckdb.execute(f"SELECT count(*) FROM ({grouped})").fetchall())

            for attack in ATTACKS:

                def subject(attack: str = attack) -> Timings:
                    return {"total": seconds(lambda: connection.sql(f"ATTACK attacked WITH {attack}").fetchall())}

                samples = paired(baseline, subject, context.runs_at(rows))
                yield ratio(
                    "attack", attack, rows, samples["total"], "SELECT <all columns>, count(*) GROUP BY ALL", _MARK
                )
