"""What Anatomy's tables must be: their names, their buckets, and which requirement is asked of which of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from sqlanon.catalog.names import fold
from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.inputs.target_names import fragment_name, require_free
from sqlanon.methods.anatomy.tables import (
    COUNT,
    QUASI_IDENTIFIERS,
    VALUE,
    differing,
    misplaced,
    out_of_order,
    sensitive_names,
    unequal,
)
from sqlanon.questions.ask import BoundRequirement
from sqlanon.sqlgen.build.names import alias, column
from sqlanon.sqlgen.classes.requirement import by_attribute
from sqlanon.sqlgen.classes.rows import Asked, Rows
from sqlanon.sqlgen.release.region_rows import BUCKET

__all__ = ["asked_of_buckets", "require_names", "unequal_buckets"]


def require_names(engine: Engine, policy: BoundPolicy, release: QualifiedName, *, free: bool) -> None:
    """Raises PolicyError where the columns or the tables of buckets have the names of others.

    If `free`, none of the tables may be there: raises UserError for one that is.
    """
    if any(fold(bound.column) == BUCKET for bound in policy.published):
        raise PolicyError(
            f"anatomy adds a column {BUCKET}, and {policy.policy} has one of that name already",
            hint="rename it in a query, ON (SELECT bucket AS pail, ...)",
        )
    fragments = [QUASI_IDENTIFIERS, *sensitive_names([bound.column for bound in policy.sensitive]).values()]
    names = [fragment_name(release, fragment) for fragment in fragments]
    if twice := [name for place, name in enumerate(names) if fold(name.name) in [fold(n.name) for n in names[:place]]]:
        raise PolicyError(
            f"two tables of the release {release} would be called {twice[0].name}",
            hint="rename the column in a query, ON (SELECT ...)",
        )
    if free:
        require_free(engine, release, fragments)


def asked_of_buckets(
    sources: Mapping[str, exp.Table | exp.Subquery],
    requirements: Sequence[BoundRequirement],
    places: Sequence[int],
    values: Mapping[str, str],
    *,
    once: bool = False,
) -> Iterator[Asked]:
    """What is asked of each attribute's table of buckets (bucket, value, count).

    `sources` has the tables by fragment, as many as can be read; `values` says which has the values of an attribute.
    `places` are those of `requirements` that can be asked. `once` says that no bucket has a value twice, as is known
    where `unequal_buckets` has found none.
    """
    for attribute, asked in by_attribute(requirements, list(values)).items():
        name = values[attribute]
        own = tuple(place for place in asked if place in places)
        if own and name in sources:
            yield Asked(_of_buckets(sources[name], attribute, once), own)


def _of_buckets(source: exp.Table | exp.Subquery, attribute: str, once: bool) -> Rows:
    """Rows that stand for as many as their count says; a class is a bucket."""
    query = exp.select(alias(column(BUCKET), "class_id"), column(VALUE), column(COUNT)).from_(source)
    columns = {attribute: column(VALUE)}
    class_id = column("class_id")
    held = query.subquery("held")
    return Rows(held, (class_id,), class_id.copy(), columns, weight=column(COUNT), counted=once)


def unequal_buckets(
    engine: Engine, sources: Mapping[str, exp.Table], values: Mapping[str, str], *, as_they_stand: bool = False
) -> int:
    """How many buckets differ between the rows and an attribute's values: in number, or in being there at all.

    With `as_they_stand`, for DuckDB only, values that are read in their order are not grouped to see that each is
    there once, nor rows that are read in the same order as values that count once to see that there are as many.
    """
    exact = sources[QUASI_IDENTIFIERS]
    found = 0
    for name in values.values():
        held = sources[name]
        in_order = as_they_stand and _none(engine, out_of_order(held.copy()))
        if in_order and _none(engine, misplaced(exact.copy(), held.copy())):
            continue
        found += _number(engine, (differing if in_order else unequal)(exact.copy(), held.copy()))
    return found


def _none(engine: Engine, query: exp.Select) -> bool:
    return _number(engine, query) == 0


def _number(engine: Engine, query: exp.Select) -> int:
    return int(engine.rows(query)[0][0])
