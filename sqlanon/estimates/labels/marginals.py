"""Weighs the leaves of a column by a marginal, the user's table of the frequencies of its values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError
from sqlanon.estimates.axes import number
from sqlanon.estimates.fixed_sql import fixed
from sqlanon.estimates.release_model import Generalized, ReleaseModel
from sqlanon.sources.catalog_entries import find_relation
from sqlanon.sources.column_types import require_binary_text
from sqlanon.sources.source import require_not_source
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    cast,
    try_cast,
)
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import filled, filled_query

# The columns of a marginal: a table of values and their frequencies.
MARGINAL, MARGINAL_WEIGHT = "value", "weight"


def weighed(table: str, marginal: str) -> exp.Query:
    """Returns the leaves with the weights of the marginal; a value that the marginal lacks is possible, with weight
    0.
    """
    return fixed("weighed_by_marginal", {"leaf": table, "marginal": marginal})


def also_marginal(table: str, marginal: str, starred: exp.Query) -> exp.Query:
    """Adds to the leaves of starred labels all values of the marginal and of other labels."""
    return fixed("also_marginal", {"leaf": table, "marginal": marginal, "starred": starred})


# Marginals: tables of the frequencies of a column's values, with which a user weighs the leaves of a release.


# Columns of the source, each with the table of its values.
Marginals = Sequence[tuple[str, QualifiedName]]


def with_marginals(
    engine: Engine, release: ReleaseModel, marginals: Marginals, policy: Policy, temp: TempTables
) -> ReleaseModel:
    """Returns the release with tables of the frequencies of values, by which the leaves of some columns are weighed.

    Raises PolicyError for a column that is not a quasi-identifier, for a table without exactly one frequency for each
    of its values, and for a table that reads the source of the release.
    """
    generalized = dict(release.generalized)
    quasi_identifiers = [attribute.name for attribute in policy.quasi_identifiers]
    weighed: set[str] = set()
    for name, table in marginals:
        if fold(name) not in map(fold, quasi_identifiers):
            raise PolicyError(
                f"MARGINALS: {name} is no quasi-identifier of {release.name}",
                hint=f"those are: {', '.join(quasi_identifiers)}",
            )
        if fold(name) in weighed:
            raise PolicyError(f"MARGINALS: {name} is given twice", hint=f"keep one {name} => ...")
        weighed.add(fold(name))
        # A column that is published as it is has no leaves to weigh.
        if recoded := generalized.get(fold(name)):
            generalized[fold(name)] = replace(recoded, marginal=_checked(engine, recoded, table, policy, temp))
    return replace(release, generalized=generalized)


def _checked(engine: Engine, generalized: Generalized, name: QualifiedName, policy: Policy, temp: TempTables) -> str:
    """Creates a table of a column's values and their frequencies from the user's table, which it validates."""
    found_table = find_relation(engine, name)
    if found_table is None:
        raise PolicyError(f"MARGINALS: there is no table or view {name}")
    rows = relation(found_table[1])
    require_not_source(engine, name, rows, policy)
    typed = engine.columns(select(exp.Star(), of=rows))
    require_binary_text(engine, found_table[1], typed, called=str(name))
    values = [column_name for column_name, _ in typed if fold(column_name) == fold(generalized.column)]
    weights = [
        column_name for column_name, kind in typed if fold(column_name) != fold(generalized.column) and number(kind)
    ]
    if len(typed) != 2 or len(values) != 1 or len(weights) != 1:
        raise PolicyError(
            f"MARGINALS: {name} does not have two columns, {generalized.column} and a number",
            hint=f"write a view of it: SELECT {generalized.column}, count(*) AS n ... GROUP BY {generalized.column}",
        )
    value = try_cast(column(values[0]), generalized.bound.type)
    weight = cast(column(weights[0]), "DOUBLE")
    query = select(column(values[0]), alias(value, MARGINAL), alias(weight, MARGINAL_WEIGHT), of=rows)
    listed = temp.table("listed", query)
    for wrong, why in _wrong(values[0]):
        if engine.rows(select(f.count(), of=relation(listed), where=[wrong]))[0][0]:
            raise PolicyError(f"MARGINALS: {name} has {why.format(type=generalized.bound.type)}")
    row_count, different = engine.rows(_numbers(listed))[0]
    if row_count != different:
        raise PolicyError(
            f"MARGINALS: {name} has several rows for one value", hint="add them up: sum(n) ... GROUP BY the value"
        )
    parts = (column(MARGINAL), column(MARGINAL_WEIGHT))
    return temp.table("marginal", select(*parts, of=relation(listed)))


def _wrong(value_column: str) -> list[tuple[exp.Expr, str]]:
    names = {"value": value_column, "read": MARGINAL, "weight": MARGINAL_WEIGHT}
    return [
        (filled("{read} IS NULL AND NOT {value} IS NULL", names=names), "values that are no {type}"),
        (
            filled("NOT coalesce(isfinite({weight}) AND {weight} >= 0, FALSE)", names=names),
            "a number that is NULL, below 0 or not finite",
        ),
    ]


def _numbers(listed: str) -> exp.Query:
    """Counts the rows and the distinct values, including NULL."""
    text = """
        SELECT count(*), (SELECT count(*) FROM (SELECT DISTINCT {read} FROM "{listed}") AS different) FROM "{listed}"
    """
    return filled_query(text, names={"read": MARGINAL, "listed": listed})
