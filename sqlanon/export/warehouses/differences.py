"""What two tables have not as often as each other."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import big, union_all
from sqlanon.sql.build.names import alias, column, literal


def row_count(number: int = 1) -> exp.Alias:
    """A row, added or taken away, as `differing` adds rows up."""
    return alias(big(literal(number)), "n")


def differing(keys: Sequence[str], added: exp.Select, taken: exp.Select, class_id: exp.Expr) -> exp.Select:
    """A row for each combination of keys whose numbers do not come to nothing."""
    either = union_all([added, taken]).subquery("either")
    query = exp.select(alias(class_id, "class_id")).from_(either).group_by(*map(column, keys))
    return query.having(f.sum(column("n")).neq(literal(0)))
