"""What statistics of classes come to: figures and attacks, over the normal relations of any rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.questions.statistics import BoundStatistic
from sqlanon.sqlgen.build.sql_files import reading
from sqlanon.sqlgen.classes.normal_relations import Background, relations_of, sensitive_values
from sqlanon.sqlgen.classes.requirement import relation_names
from sqlanon.sqlgen.classes.rows import Rows

__all__ = ["statistics_of"]


def statistics_of(
    engine: Engine,
    statistics: Sequence[BoundStatistic],
    rows: Rows,
    background: Background | None,
    scratch: Scratch,
) -> list[list[Mapping[str, Any]]]:
    """The rows of each statistic, by the names of its columns: most have one row.

    The normal relations are computed once, into temporary tables, whatever reads them. Raises InternalError where a
    statistic reads what the background lacks.
    """
    steps = [*relations_of(rows, statistics, background), *sensitive_values(statistics)]
    tables: dict[str, str] = {}
    for name, query in steps:
        tables[name] = scratch.table(name, reading(query, tables))
    answers: list[list[Mapping[str, Any]]] = []
    for statistic, names in zip(statistics, relation_names(statistics), strict=True):
        query = statistic.statement("figures", {name: tables[step] for name, step in names.items()})
        columns = query.named_selects
        answers.append([dict(zip(columns, row, strict=True)) for row in engine.rows(query)])
    return answers
