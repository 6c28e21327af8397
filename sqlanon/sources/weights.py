"""Sampling weights: the number of people that each row of a source represents, including itself."""

from __future__ import annotations

import re

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.numbers import counted
from sqlanon.engines.base import Engine
from sqlanon.errors import DataError, PolicyError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import and_, case, cast
from sqlanon.sql.build.names import column, literal, relation
from sqlanon.sql.build.queries import select

_NUMBERS = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|DECIMAL\(.*\)|FLOAT|DOUBLE")
HINT = "the weight of a row is the number of people that it represents, itself included"


def is_weight_type(kind: str) -> bool:
    """Whether values of a type can be weights: numbers."""
    return _NUMBERS.fullmatch(kind) is not None


def wrong_weight(weight: exp.Expr) -> exp.Expr:
    """Returns an expression: 1 for a weight that is NULL, below 1 or not finite, and 0 for any other weight."""
    number = cast(weight, "DOUBLE")
    is_weight = and_(number >= 1, number < cast(literal("Infinity"), "DOUBLE"))
    return case((is_weight, 0), otherwise=1)


def require_weights(engine: Engine, policy: BoundPolicy) -> None:
    """Raises PolicyError for a SAMPLING WEIGHT that is not a number, and DataError, with a count, for wrong weights."""
    bound = next((each for each in policy.attributes if each.attribute.sampling_weight), None)
    if bound is None:
        return
    part = ("column", bound.attribute.name, "sampling weight")
    if not is_weight_type(bound.type):
        raise PolicyError(
            f"{policy.policy}: {bound.column} is {bound.type}, and weights are numbers",
            hint=f"cast it in a query, ON (SELECT CAST({bound.column} AS DOUBLE) AS {bound.column}, ...)",
            part=part,
        )
    query = select(f.sum(wrong_weight(column(bound.column))), of=relation(policy.relation))
    ((wrong,),) = engine.rows(query)
    if wrong:
        raise DataError(
            f"{policy.policy}: {counted(int(wrong), 'weight')} in {bound.column} {'is' if wrong == 1 else 'are'} NULL, "
            "below 1 or not finite",
            hint=HINT,
            part=part,
        )
