"""Small tables whose figures are measured, and their classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import duckdb
from hypothesis import strategies as st

from sqlanon.engines.duckdb import DuckDBEngine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.release.existing.statistics import statistics_of
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.classes.rows import rows_of
from sqlanon.sql.questions.statistics import bind_statistic, load_statistic, statistic_names
from tests.support.names import quoted

__all__ = ["FRACTION", "OF_MORE", "SUPPRESSED", "classes_of", "measured", "tables"]

KEYS = ('a "b"', "it's select")
VALUE = "é 中.value"
FRACTION = Decimal("0.125")
SUPPRESSED = 3
ARGUMENTS: Mapping[str, Mapping[str, Any]] = {
    "p_loss": {"above": Decimal("0.2")},
    "uniqueness": {"sampling_fraction": FRACTION},
    "class_sizes": {"suppressed": SUPPRESSED},
}
# What reads more than the classes of one table.
OF_MORE = {"journalist_risk"}

parts = st.sampled_from([None, "", "x", "y'"])
tables = st.lists(
    st.tuples(parts, st.sampled_from([None, -1, 2**40]), st.sampled_from([None, "", "flu", "it's"])), max_size=14
)


def measured(table: Sequence[tuple[Any, ...]], *, labelled: bool = False) -> dict[str, float | None]:
    with duckdb.connect(config={"threads": "1"}) as con:
        con.execute(f"CREATE TABLE t ({quoted(KEYS[0])} VARCHAR, {quoted(KEYS[1])} BIGINT, {quoted(VALUE)} VARCHAR)")
        for row in table:
            con.execute("INSERT INTO t VALUES (?, ?, ?)", list(row))
        engine = DuckDBEngine(con)
        names = [name for name in statistic_names("figures") if name not in OF_MORE]
        loaded = [load_statistic("figures", name) for name in names]
        bound = [
            bind_statistic(one, ARGUMENTS.get(one.model, {}), (VALUE,) if one.of_sensitive_values else ())
            for one in loaded
        ]
        with TempTables(engine) as temp:
            source = rows_of(relation("t"), KEYS, {VALUE: column(VALUE)})
            answers = statistics_of(engine, bound, source, None, temp, labelled=labelled)
    return {name: value for (row,) in answers for name, value in row.items()}


def classes_of(table: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
    by_key: dict[Any, list[Any]] = {}
    for *key, value in table:
        by_key.setdefault(tuple(key), []).append(value)
    return list(by_key.values())
