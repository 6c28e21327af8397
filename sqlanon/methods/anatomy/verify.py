"""What has to hold of Anatomy's tables: their names are free, and their buckets fit together."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.inputs.target_names import fragment_name, require_free
from sqlanon.methods.anatomy.tables import (
    QUASI_IDENTIFIERS,
    differing,
    misplaced,
    out_of_place,
    sensitive_names,
    unequal,
)
from sqlanon.methods.anatomy.tables import (
    out_of_order as not_ascending,
)
from sqlanon.sqlgen.classes.buckets import BUCKET, BucketValues

__all__ = ["out_of_order", "require_names", "unequal_buckets"]

# The tables of a release by the part of their names that follows the release's.
Sources = Mapping[str, exp.Table | exp.Subquery]


def require_names(engine: Engine, policy: BoundPolicy, release: QualifiedName, *, free: bool) -> None:
    """Raises PolicyError where the columns or the tables of buckets have the names of others.

    If `free`, none of the tables may exist: raises UserError for one that does.
    """
    if any(fold(bound.column) == BUCKET for bound in policy.published):
        raise PolicyError(
            f"anatomy adds a column {BUCKET}, and {policy.policy} has one of that name already",
            hint="rename it in a query, ON (SELECT bucket AS pail, ...)",
        )
    fragments = [QUASI_IDENTIFIERS, *sensitive_names([bound.column for bound in policy.sensitive]).values()]
    names = [fragment_name(release, fragment) for fragment in fragments]
    if twice := [name for index, name in enumerate(names) if fold(name.name) in [fold(n.name) for n in names[:index]]]:
        raise PolicyError(
            f"two tables of the release {release} would be called {twice[0].name}",
            hint="rename the column in a query, ON (SELECT ...)",
        )
    if free:
        require_free(engine, release, fragments)


def unequal_buckets(
    engine: Engine, sources: Sources, values: Mapping[str, BucketValues], *, as_stored: bool = False
) -> int:
    """How many buckets have another number of rows in one table than in that of an attribute's values, or lack there.

    With `as_stored`, for DuckDB only, the order in which rows are read saves groupings: values that are in order
    need none to see that each occurs once, and rows in the order of values that count once none to see that there are
    as many.
    """
    exact = sources[QUASI_IDENTIFIERS]
    count = 0
    for where in values.values():
        sensitive = sources[where.table]
        in_order = as_stored and _none(engine, not_ascending(sensitive.copy()))
        if in_order and _none(engine, misplaced(exact.copy(), sensitive.copy())):
            continue
        count += _number(engine, (differing if in_order else unequal)(exact.copy(), sensitive.copy()))
    return count


def out_of_order(engine: Engine, sources: Sources) -> int:
    """How many rows of the quasi-identifiers, as they are read, have a lesser bucket than the row before."""
    return _number(engine, out_of_place(sources[QUASI_IDENTIFIERS].copy()))


def _none(engine: Engine, query: exp.Select) -> bool:
    return _number(engine, query) == 0


def _number(engine: Engine, query: exp.Select) -> int:
    return int(engine.rows(query)[0][0])
