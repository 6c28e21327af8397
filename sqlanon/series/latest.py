"""Whether the last release of a series keeps what those before kept: for some promises the latest classes tell it."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.domain.series import Series
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.questions.statistics import bind_statistic, load_statistic
from sqlanon.sqlgen.build.sql_files import query_file, reading

__all__ = ["coded", "kept_by_latest"]


def kept_by_latest(engine: Engine, series: Series, position: int, scratch: Scratch) -> set[str]:
    """The models that a series requires and that its last release, at `position`, keeps if those before keep them.

    What is not among them may be kept, too: of some models the latest classes of respondents do not tell it.
    """
    required = {each.model: dict(each.arguments) for each in series.requirements}
    promises = [load_statistic("series", name) for name in required]
    kept = {promise.name for promise in promises if promise.latest}
    if not kept:
        return kept
    last = (series.series_id, position)
    pair = scratch.table("pair", query_file("ledger", "pair"), last)
    returner = reading(query_file("ledger", "returner_pair"), {"pair": pair})
    pairs = {"pair": pair, "returner_pair": scratch.table("returner_pair", returner, last)}
    for attribute, _ in series.attributes:
        values = reading(query_file("ledger", "latest_value"), pairs)
        table = scratch.table("latest_value", values, (*last, fold(attribute)))
        tables = {"class_value": coded(table), "class_pair": reading(query_file("ledger", "class_pair"), pairs)}
        for promise in promises:
            if promise.name in kept:
                bound = bind_statistic(promise, required[promise.name], (attribute,))
                if engine.rows(bound.latest(tables)) != [(True,)]:
                    kept.discard(promise.name)
    return kept


def coded(values: str) -> exp.Query:
    """release, class, value, n and code, a number of the value, of a table with the first four of these columns."""
    return reading(query_file("ledger", "coded_value"), {"value_of_class": values})
