"""What statistics of classes come to: figures and attacks, over the normal relations of any rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.questions.statistics import BoundStatistic
from sqlanon.sqlgen.build.sql_files import reading
from sqlanon.sqlgen.classes.normal_relations import Background, relations_of, sensitive_values
from sqlanon.sqlgen.classes.requirement import relation_names
from sqlanon.sqlgen.classes.rows import Rows

__all__ = ["statistic_queries", "statistics_of"]


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
    answers: list[list[Mapping[str, Any]]] = []
    for query in statistic_queries(engine, statistics, rows, background, scratch):
        columns = query.named_selects
        answers.append([dict(zip(columns, row, strict=True)) for row in engine.rows(query)])
    return answers


def statistic_queries(
    engine: Engine,
    statistics: Sequence[BoundStatistic],
    rows: Rows,
    background: Background | None,
    scratch: Scratch,
    made: Sequence[Mapping[str, str]] | None = None,
) -> list[exp.Select]:
    """The query of each statistic, over normal relations that are computed once; raises as `statistics_of` does.

    `made` has tables that statistics read beside them.
    """
    steps = [*relations_of(rows, statistics, background), *sensitive_values(statistics)]
    tables: dict[str, str] = {}
    for name, query in steps:
        tables[name] = scratch.table(name, reading(query, tables))
    others = made or [{} for _ in statistics]
    return [
        statistic.statement(
            "figures", {name: table for name, step in names.items() if (table := {**tables, **beside}.get(step))}
        )
        for statistic, names, beside in zip(statistics, relation_names(statistics), others, strict=True)
    ]
