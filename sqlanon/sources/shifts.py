"""Moves the dates of each respondent by a number of days, which a key computes from the text of the ENTITY.

Sun et al., Shift and truncate (2018), and MIMIC publish such dates: a respondent's dates keep their order and
distances.
"""

from __future__ import annotations

import hmac

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import Policy, Shift
from sqlanon.engines.base import Engine
from sqlanon.engines.udfs import masks
from sqlanon.errors import DataError, PolicyError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import is_not_null, is_null
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import extend, inner_join, select
from sqlanon.sql.cells.labels import moved_date, same_token, text_of_token

_TYPES = ("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS")


def require_shiftable(policy: Policy, column_name: str, column_type: str) -> None:
    """Raises PolicyError for a type whose values are not dates, or whose day depends on the session's time zone."""
    if column_type not in _TYPES:
        zoned = " AT TIME ZONE 'UTC'" if column_type.endswith("WITH TIME ZONE") else "::TIMESTAMP"
        raise PolicyError(
            f"{policy}: {column_name} is of type {column_type}, and SHIFT moves {', '.join(_TYPES)}",
            hint=f"cast it in a query, ON (SELECT {column_name}{zoned} AS {column_name}, ...)",
        )


def draw_days(
    engine: Engine, policy: BoundPolicy, table: BoundPolicy, bound: BoundAttribute, target: str, key: bytes
) -> None:
    """Creates the temporary table `target` of value and token: each respondent's text and number of days.

    `table` is the policy or one of its related tables, whichever has the dates. Raises DataError, with a count, for
    rows without a respondent, and for dates that would leave the range of their type.
    """
    entity, shift = policy.entity, bound.attribute.pseudonym
    assert entity is not None and table.entity is not None and isinstance(shift, Shift)
    part = ("column", bound.attribute.name, "shift")
    people = relation(policy.relation, as_="person")
    nobody = select(f.count(), of=people, where=[is_null(column(entity.column, "person"))])
    if number := int(engine.rows(nobody)[0][0]):
        raise DataError(
            f"{policy.policy}: {counted(number, 'row')} of {policy.policy.source.called} have no {entity.column}, by "
            f"which the dates of {bound.column} move",
            hint=f"leave these rows out in a query, ON (SELECT ... WHERE {entity.column} IS NOT NULL)",
            part=part,
        )
    values = select(alias(text_of_token(entity), "value"), of=relation(policy.relation))
    masks(engine, values, target, "mask", masked=lambda text: str(days_of(key, shift, text)))
    beyond = select(f.count(), of=relation(table.relation, as_="source"))
    of = "source"
    if table is not policy:
        # A key that equals the ENTITY may have another text: -0.0, or other letters under a collation.
        of = "person"
        extend(beyond, joins=[inner_join(people, column(entity.column, of).eq(column(table.entity.column, "source")))])
    made = relation(("temp", "main", target), as_="token")
    extend(beyond, joins=[inner_join(made, same_token(entity, "token", of))])
    extend(beyond, where=[is_not_null(column(bound.column, "source")), is_null(moved_date(bound, "token"))])
    if number := int(engine.rows(beyond)[0][0]):
        raise DataError(
            f"{policy.policy}: {counted(number, 'date')} of {bound.column} would be moved beyond what {bound.type} has",
            hint=f"set such dates to NULL or to infinity in a query, ON (SELECT ... AS {bound.column}, ...)",
            part=part,
        )


def days_of(key: bytes, shift: Shift, respondent: str) -> int:
    """Returns the number of days by which the dates of a respondent move."""
    digest = hmac.digest(key, b"sqlanon shift days:" + respondent.encode(), "sha256")
    steps = int.from_bytes(digest[:16], "big") % (2 * shift.width + 1) - shift.width
    return steps * shift.unit
