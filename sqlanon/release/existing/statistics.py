"""What statistics of classes come to: figures and attacks, over the normal relations of any rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import identical, window
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.sql_files import reading
from sqlanon.sql.classes.normal_relations import Background, relations_of, sensitive_values
from sqlanon.sql.classes.requirement import relation_names
from sqlanon.sql.classes.rows import Rows
from sqlanon.sql.questions.statistics import BoundStatistic


def statistics_of(
    engine: Engine,
    statistics: Sequence[BoundStatistic],
    rows: Rows,
    background: Background | None,
    scratch: Scratch,
    *,
    labelled: bool = True,
) -> list[list[Mapping[str, Any]]]:
    """The rows of each statistic, by the names of its columns: most have one row.

    Unless `labelled`, class_id is a number that says nothing, and what reads large classes or many is faster.
    The normal relations are computed once, into temporary tables, whatever reads them. Raises InternalError where a
    statistic reads what the background lacks.
    """
    answers: list[list[Mapping[str, Any]]] = []
    if not labelled and len(rows.keys) > 1:
        rows = _numbered(rows, scratch)
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


def _numbered(rows: Rows, scratch: Scratch) -> Rows:
    """The same rows with a number for each class: joining and grouping by structs takes several times as long."""
    keys = [alias(key.copy(), f"key_{index}") for index, key in enumerate(rows.keys)]
    values = {name: f"value_{index}" for index, name in enumerate(rows.columns)}
    outputs = [*keys, *(alias(rows.value(name), named) for name, named in values.items())]
    if rows.entity is not None:
        outputs.append(alias(rows.entity.copy(), "entity"))
    if rows.weight is not None:
        outputs.append(alias(rows.weight.copy(), "weight"))
    named_rows = exp.select(*outputs).from_(rows.relation.copy())
    names = [key.alias for key in keys]
    numbers = exp.select(*map(column, names), alias(window(f.row_number()), "class_id"))
    numbers = numbers.from_(named_rows.copy().subquery("released")).group_by(*map(column, names))
    table = scratch.table("class_number", numbers)
    same = exp.and_(*(identical(column(name, "released"), column(name, "class_number")) for name in names))
    others = [column(part.alias, "released") for part in outputs[len(keys) :]]
    joined = exp.select(column("class_id", "class_number"), *others).from_(named_rows.subquery("released"))
    joined = joined.join(relation(table, as_="class_number"), on=same)
    class_id = column("class_id")
    return Rows(
        joined.subquery("numbered"),
        (class_id,),
        class_id.copy(),
        {name: column(named) for name, named in values.items()},
        None if rows.entity is None else column("entity"),
        None if rows.weight is None else column("weight"),
        rows.counted,
    )
