"""MEASURE release WITH FIGURES (missing): counts suppressed cells, and the rows that are alike under three readings of
NULL.

By `own`, two rows are alike if they have the same cells, where NULL equals only NULL. By `agrees`, a row is like a
person if each of its cells is NULL or the person's true label, so that a linker cannot exclude it. By `matches`, two
rows are alike if their cells are equal wherever neither is NULL (Templ, Kowarik and Meindl, Statistical disclosure
control for micro-data using the R package sdcMicro, 2015). For each row own <= agrees <= matches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlanon.assess.figures.class_figures import ClassFigure
from sqlanon.catalog.snapshot import hierarchies_of, policy_of
from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Reading, Release, ReleaseAttribute
from sqlanon.domain.values import Value
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError, UserError, about
from sqlanon.release.existing.loaded import require_unchanged
from sqlanon.release.existing.objects import require_own_columns
from sqlanon.sources.bind_policy import bind, source_rows
from sqlanon.sources.source import own_object
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, identical, is_null
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, select
from sqlanon.sql.build.sql_files import Names, filled_query
from sqlanon.sql.cells.labels import generalized, level_name, occurring_values, published_value, stored_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NAME = "missing"
# The most pairs of rows, each distinct, that are compared.
_MOST_PAIRS = 2_000_000_000
_TOGETHER = 256


def missing(engine: Engine, release: Release, arguments: Mapping[str, Value], temp: TempTables) -> list[ClassFigure]:
    """Counts the suppressed cells of each quasi-identifier, and the minimum number of rows that are alike under each
    reading.

    Reads the source, in a transaction that is already open. `least_agrees` is the minimum over the people of the source
    who fit a row. Raises UserError for any argument, and PolicyError for a release without suppressed cells and for too
    many rows.
    """
    if arguments:
        with about("figures", _NAME):
            raise UserError(f"{_NAME} takes no arguments", hint=f"write {_NAME}")
    quasi = _quasi_identifiers(engine, release)
    policy = policy_of(release)
    source = source_rows(engine, policy, temp)
    hierarchies = {fold(h.definition.name): h for h in hierarchies_of(release)}
    bound = bind(policy, source, hierarchies, fingerprint="")
    require_unchanged(release, source, [b.column for b in bound.quasi_identifiers])
    published = relation(own_object(engine, release.name))
    released = temp.table("released", _released_rows(published, quasi))
    true = temp.table("true", _true(temp, bound, quasi))
    arrays = engine.arrays(_coded(released, true, quasi))
    least = _least(release, arrays, len(quasi))
    suppressed = _suppressed(engine, published, quasi)
    cells = [ClassFigure("suppressed_cells", name, float(number)) for name, number in suppressed.items()]
    cells.append(ClassFigure("suppressed_cells", None, float(sum(suppressed.values()))))
    return [*cells, *(ClassFigure(f"least_{name}", None, number) for name, number in least.items())]


def _quasi_identifiers(engine: Engine, release: Release) -> list[ReleaseAttribute]:
    """Returns the quasi-identifiers of a release with suppressed cells. Raises PolicyError for any other release."""
    require_own_columns(engine, release)
    called = f"{_NAME} of {release.name} cannot be measured"
    quasi = [attribute for attribute in release.attributes if attribute.role is Role.QUASI_IDENTIFIER]
    if not any(attribute.reading is Reading.LABEL_OR_NULL for attribute in quasi):
        raise PolicyError(f"{called}: no cell is suppressed", hint="class_sizes counts the rows that are alike")
    if entity := policy_of(release).entity:
        raise PolicyError(f"{called}: rows of one {entity.name} count as one, and which they are is not published")
    return quasi


def _suppressed(engine: Engine, published: exp.Table, quasi: Sequence[ReleaseAttribute]) -> dict[str, int]:
    """Returns the number of NULLs in each column that may have suppressed cells."""
    names = [attribute.name for attribute in quasi if attribute.reading is Reading.LABEL_OR_NULL]
    counts = [f.call("count_if", is_null(column(name))) for name in names]
    (numbers,) = engine.rows(select(*counts, of=published))
    return dict(zip(names, map(int, numbers), strict=True))


def _cell(index: int) -> str:
    """Returns the name of the column with the label or the code of the quasi-identifier at this index."""
    return f"cell_{index}"


def _released_rows(published: exp.Table, quasi: Sequence[ReleaseAttribute]) -> exp.Query:
    """SELECT of the distinct published rows as texts, and n, the number of rows."""
    text = """
        SELECT count(*) AS n, CAST({columns} AS VARCHAR) AS "{cells}" FROM "{published}"
        GROUP BY CAST({columns} AS VARCHAR)
    """
    cells = [_cell(index) for index in range(len(quasi))]
    names: Names = {"columns": [attribute.name for attribute in quasi], "cells": cells, "published": published}
    return filled_query(text, names=names)


def _true(temp: TempTables, policy: BoundPolicy, quasi: Sequence[ReleaseAttribute]) -> exp.Select:
    """SELECT of the distinct rows of the source, as texts of the labels at the release's levels."""
    query = select(of=relation(policy.relation, as_="source"), distinct=True)
    known = {fold(bound.column): bound for bound in policy.quasi_identifiers}
    for index, attribute in enumerate(quasi):
        bound, level = known[fold(attribute.source or attribute.name)], attribute.level or 0
        extend(query, alias(_label(temp, policy, query, bound, level, index), _cell(index)))
    return query


def _label(
    temp: TempTables, policy: BoundPolicy, query: exp.Select, bound: BoundAttribute, level: int, index: int
) -> exp.Expr:
    """Returns the SQL expression of the label of a row's value, after joining the query with the table of labels."""
    value = published_value(bound, "source")
    if level == 0:
        return as_text(value)
    if level == bound.height:
        return literal("*")
    values = occurring_values(bound, policy.relation)
    table = temp.table("labels", generalized(bound, values, stored_labels(bound), counted=True))
    name = f"labels_{index}"
    extend(query, joins=[inner_join(relation(table, as_=name), identical(value, column("value", name)))])
    return as_text(column(level_name(level), name))


def _coded(released: str, true: str, quasi: Sequence[ReleaseAttribute]) -> exp.Query:
    """SELECT of is_released, n, and a number for each cell: numbers are equal for equal labels, and 0 for a suppressed
    cell.
    """
    names = {"cells": [_cell(index) for index in range(len(quasi))], "released": released, "true": true}
    text = """
        SELECT is_released, n,
          CASE WHEN {cells} IS NULL THEN 0 ELSE dense_rank() OVER (ORDER BY {cells} ASC NULLS LAST) END AS "{cells}"
        FROM (
          SELECT TRUE AS is_released, n, {cells} FROM "{released}"
          UNION ALL
          SELECT FALSE AS is_released, 1 AS n, {cells} FROM "{true}"
        ) AS rows
    """
    return filled_query(text, names=names)


def _least(release: Release, arrays: Mapping[str, NDArray[Any]], columns: int) -> dict[str, float | None]:
    """Returns the minimum number of rows that are alike under each reading; None if there are no rows."""
    import numpy as np

    is_released = np.asarray(arrays["is_released"], dtype=bool)
    cells = np.array([np.asarray(arrays[_cell(index)], dtype=np.int64) for index in range(columns)])
    released, true = cells[:, is_released], cells[:, ~is_released]
    rows = np.asarray(arrays["n"], dtype=np.int64)[is_released]
    others = len(rows) + true.shape[1]
    if len(rows) * others > _MOST_PAIRS:
        raise PolicyError(
            f"{_NAME} of {release.name} cannot be measured: {counted(len(rows), 'distinct row')} would be compared "
            f"with {others}",
            hint="class_sizes counts the rows with the same cells",
        )
    agrees, matches = _alike(released, rows, true), _alike(released, rows, released)
    least = {"own": rows, "agrees": agrees[agrees > 0], "matches": matches}
    return {name: float(numbers.min()) if len(numbers) else None for name, numbers in least.items()}


def _alike(released: NDArray[Any], rows: NDArray[Any], others: NDArray[Any]) -> NDArray[Any]:
    """Returns, for each of `others`, the number of published rows with equal cells wherever neither is suppressed."""
    import numpy as np

    parts: list[NDArray[Any]] = []
    for first in range(0, others.shape[1], _TOGETHER):
        part = others[:, first : first + _TOGETHER]
        alike = np.ones((part.shape[1], released.shape[1]), dtype=bool)
        for cells, numbers in zip(released, part, strict=True):
            alike &= (cells == 0) | (cells == numbers[:, None]) | (numbers == 0)[:, None]
        parts.append(alike @ rows)
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
