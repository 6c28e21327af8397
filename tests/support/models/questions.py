"""A model's file that uses all that a header can say, and requirements bound by name."""

from __future__ import annotations

from sqlanon.domain.policy import Requirement
from sqlanon.domain.values import QualifiedName, Value
from sqlanon.sql.questions.ask import BoundRequirement, bind_requirement

FILE = """\
-- model: closeness
-- when: distance = tree
-- title: Close: -- or nearly so.
-- paper: Somebody (2001)
-- parameter: t DECIMAL 0 1 DEFAULT 0.5 -- how close
-- parameter: least BIGINT 1 10 -- how many
-- parameter: absent TEXT violates|ignored DEFAULT violates -- of a value
-- parameter: ranges RELATION -- the ranges
-- parameter: guarding COLUMN -- the guards
-- required: at most t
-- monotone: yes -- because
-- monotone under suppression: no -- because
-- excess: the positive part
-- excess maximum: 1 - t
-- joint: no -- a tree is of one attribute
-- reads: class_sensitive_value, sensitive_value
-- A remark: it is no header.

-- statement: achieved
SELECT max(n) AS achieved FROM class_sensitive_value

-- statement: violations
-- the classes that are far
SELECT c.class_id, sensitive_value.n, $other_side AS side FROM class_sensitive_value AS c
INNER JOIN sensitive_value ON sensitive_value.value = c.value AND '$t' <> $absent
INNER JOIN elsewhere ON elsewhere.class_sensitive_value = c.n
WHERE c.n * $t_denominator > $t_numerator AND c.n > $t AND c.n >= $least
"""
WHOLE = FILE.replace("$other_side", "0").replace("'$t'", "'t'")
GIVEN: dict[str, Value] = {
    "least": 3,
    "ranges": QualifiedName(("main", "r s")),
    "guarding": "a guard",
}


def bind(model: str, sensitive: tuple[str, ...] = (), **arguments: Value) -> tuple[BoundRequirement, ...]:
    return bind_requirement(Requirement(model, tuple(arguments.items())), sensitive)
