"""ATTACK by definetti and minimality, which weigh assignments of values, against one GROUP BY of the release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import sqlanon
from benchmarks import databases
from benchmarks.context import Context
from benchmarks.data import DIAGNOSED
from benchmarks.figure import Figure, ratio
from benchmarks.measure import Timings, paired, seconds

__all__ = ["run"]

_SIZES, _QUICK_SIZES = (10_000, 30_000, 100_000), (4_000,)
# They take long, and their runs differ little.
_RUNS = 3
_BASELINE = "SELECT <all columns>, count(*) FROM release GROUP BY ALL"


@dataclass(frozen=True)
class _Dealt:
    """An attack with the release that it attacks: the columns and requirements of its policy, and its method.

    `table` is the release's table that has its rows.
    """

    attack: str
    columns: tuple[str, ...]
    requires: str
    method: str
    table: str


_ATTACKS = (
    _Dealt(
        "definetti(rounds => 5)",
        DIAGNOSED.columns,
        "l_diversity(l => 3, variant => 'probabilistic')",
        "anatomy(l => 3)",
        "attacked_qi",
    ),
    # With more columns more releases would be less general, and the attack tries each of them in all worlds.
    _Dealt(
        "minimality(worlds => 200)",
        ("birth", "sex", "education"),
        "l_diversity(l => 3)",
        "generalization(suppression => 0)",
        "attacked",
    ),
)


def run(context: Context) -> Iterator[Figure]:
    """Measures the attacks with few rounds and worlds: the time of each round or world grows with the rows."""
    for rows in context.sizes_or(_SIZES, _QUICK_SIZES):
        with databases.working_copy(DIAGNOSED, context.file(DIAGNOSED, rows)) as connection:
            for dealt in _ATTACKS:
                context.note(f"attack_dealt, {dealt.attack}, {rows:,} rows")
                yield _attacked(connection, dealt, rows, context.runs or _RUNS)


def _attacked(connection: sqlanon.Connection, dealt: _Dealt, rows: int, runs: int) -> Figure:
    databases.declare(connection, DIAGNOSED, dealt.columns, [str(DIAGNOSED.sensitive)], dealt.requires)
    connection.sql("DROP ANONYMIZED TABLE IF EXISTS attacked")
    connection.sql(databases.published("table", "attacked", dealt.method))
    grouped = f"SELECT count(*) FROM (SELECT *, count(*) FROM {dealt.table} GROUP BY ALL)"

    def baseline() -> float:
        return seconds(lambda: connection.duckdb.execute(grouped).fetchall())

    def subject() -> Timings:
        return {"total": seconds(lambda: connection.sql(f"ATTACK attacked WITH {dealt.attack}").fetchall())}

    return ratio("attack_dealt", dealt.attack, rows, paired(baseline, subject, runs)["total"], _BASELINE)
