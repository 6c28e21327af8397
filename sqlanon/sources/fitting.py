"""Decides whether a hierarchy has labels for the values of a column, by its type."""

from __future__ import annotations

from functools import lru_cache

from sqlglot import exp

from sqlanon.domain.policy import HierarchyDefinition
from sqlanon.errors import PolicyError
from sqlanon.plugins import names
from sqlanon.sql.build.names import column as column_of
from sqlanon.sql.hierarchies.base import builder, functional

# DuckDB cannot convert text to values of these types, but stored labels are matched by text.
_NO_TEXT = (exp.DataType.Type.UNION, exp.DataType.Type.VARIANT)


def require_fitting(whose: str, hierarchy: HierarchyDefinition, column: str, column_type: str) -> None:
    """Raises PolicyError, with the kinds of hierarchies that fit, for a hierarchy without labels for a column of this
    type.
    """
    refused = f"{whose}: the hierarchy {hierarchy.name} ({hierarchy.kind.upper()}) does not fit the column {column}"
    if not _fits(hierarchy.kind, column_type):
        fitting = [kind.upper() for kind in names("sqlanon.sql.hierarchies") if _fits(kind, column_type)]
        known = f"there {'is' if len(fitting) == 1 else 'are'} {', '.join(fitting)}" if fitting else "there is none"
        of_items = "; labels of the items in lists need REQUIRE km_anonymity(k => 5, m => 2) and METHOD itemsets"
        raise PolicyError(
            f"{refused} of type {column_type}",
            hint=f"of the kinds that fit {column_type} {known}; or cast the column in the policy's source, "
            f"ON (SELECT ...){of_items if column_type.endswith('[]') else ''}",
        )
    if builder(hierarchy.kind).STORED:
        return
    try:
        _require_labels(hierarchy, column_type)
    except PolicyError as error:
        raise PolicyError(f"{refused} of type {column_type}: {error.message}", hint=error.hint) from None


@lru_cache(maxsize=256)
def _require_labels(hierarchy: HierarchyDefinition, column_type: str) -> None:
    """Raises PolicyError if a hierarchy has no labels for a type; if there is no error, this result is cached."""
    functional(hierarchy.kind).labels(hierarchy, column_of("value"), column_type)


def _fits(kind: str, column_type: str) -> bool:
    if not builder(kind).STORED:
        return functional(kind).accepts(column_type)
    types = exp.DataType.build(column_type, dialect="duckdb").find_all(exp.DataType)
    return not any(part.this in _NO_TEXT for part in types)
