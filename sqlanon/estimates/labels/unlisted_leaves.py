"""Values below a label that nobody can list, where a query has to tell every value apart.

Below `*` there may be any value of the type. A condition on such a value may be anything, so each is taken to be true,
false and NULL in turn; nobody knows the group of the value.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import product

from sqlglot import exp

from sqlanon.errors import PolicyError
from sqlanon.estimates.labels.listed_leaves import MOMENTS
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.classes.rows import class_label

# Whether a signature is one of values that are known.
LISTED = "listed"
# The most conditions on one column, each of which may be true, false or NULL for such a value.
_MOST_CONDITIONS = 6


def unlisted_rows(table: str, parts: Sequence[str], groups: Collection[str], numbers: Sequence[int]) -> exp.Select:
    """label, weight, `listed`, the parts and the moments of the arguments, of the labels in a table (label, weight).

    All parts but `groups` are conditions.
    """
    conditions = [name for name in parts if name not in groups]
    if len(conditions) > _MOST_CONDITIONS:
        raise PolicyError(
            f"the query asks {len(conditions)} conditions of a column of which not every value is known",
            hint=f"ask at most {_MOST_CONDITIONS} of them",
        )
    truths = [exp.true(), exp.false(), cast(exp.null(), "BOOLEAN")]
    ways = [
        class_label({"way": literal(0)} | {name: truth.copy() for name, truth in zip(conditions, chosen, strict=True)})
        for chosen in product(truths, repeat=len(conditions))
    ]
    combinations = exp.select(alias(f.unnest(exp.Array(expressions=ways)), "way"))
    rows = exp.select(column("label", "unlisted"), column("weight", "unlisted"), alias(exp.false(), LISTED))
    for name in parts:
        truth = f.call("struct_extract", column("way", "way"), literal(name))
        rows.select(alias(exp.null() if name in groups else truth, name), copy=False)
    rows.select(*(alias(exp.null(), f"{moment}_{number}") for number in numbers for moment in MOMENTS), copy=False)
    rows.from_(relation(table, as_="unlisted"), copy=False)
    return rows.join(combinations.subquery("way"), join_type="CROSS", copy=False)
