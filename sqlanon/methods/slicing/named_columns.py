"""The columns that a user names after COLUMNS: whether they take all attributes, and the sensitive ones once."""

from __future__ import annotations

from collections.abc import Sequence

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.policy import Role
from sqlanon.errors import PolicyError

Columns = tuple[tuple[str, ...], ...]


def each_apart(policy: BoundPolicy) -> Columns:
    """A column for each attribute, the sensitive ones last: multiset generalization (Slicing, section 2.2)."""
    last = [bound for bound in policy.published if bound.role is Role.SENSITIVE]
    return tuple((bound.column,) for bound in [b for b in policy.published if b not in last] + last)


def named_columns(policy: BoundPolicy, sets: Sequence[Sequence[str]]) -> Columns:
    """The sets of attributes after COLUMNS, in the source's names.

    Raises PolicyError for a name that the policy does not publish, for an attribute in none of them, for a sensitive
    one in several, and for the same set twice.
    """
    bounds = {fold(bound.column): bound for bound in policy.published}
    columns = tuple(
        tuple(_bound_name(policy, name, {k: b.column for k, b in bounds.items()}) for name in names) for names in sets
    )
    taken = [name for names in columns for name in names]
    for bound in policy.published:
        if bound.column not in taken:
            raise PolicyError(
                f"COLUMNS leaves {bound.column} out, which {policy.policy} publishes",
                hint=f"write it into one of them, or add a column of its own: COLUMNS ..., ({bound.column})",
                part=("method", "slicing"),
            )
        if bound.role is Role.SENSITIVE and taken.count(bound.column) > 1:
            raise PolicyError(
                f"the sensitive attribute {bound.column} is in {taken.count(bound.column)} columns: each of them by "
                "itself would keep its promise, and joined on it they tell more than that",
                hint="leave it in one; quasi-identifiers may be in several",
                part=("set", bound.column),
            )
    _require_once(columns)
    return columns


def _require_once(columns: Columns) -> None:
    """Raises PolicyError for two columns of the same attributes: one of them would tell nothing."""
    sets = [frozenset(names) for names in columns]
    for index, names in enumerate(columns):
        if sets[index] in sets[:index]:
            raise PolicyError(
                f"COLUMNS has ({', '.join(names)}) twice", hint="leave one of them out", part=("set", names[0])
            )


def require_apart(columns: Columns, argument: str, hint: str) -> None:
    """Raises PolicyError where an attribute is in several columns, which can be joined on it."""
    names = [name for attributes in columns for name in attributes]
    if several := [name for index, name in enumerate(names) if name in names[:index]]:
        raise PolicyError(
            f"slicing: {argument} takes each attribute in one column, and {several[0]} is in several",
            hint=hint,
            part=("set", several[0]),
        )


def _bound_name(policy: BoundPolicy, name: str, known: dict[str, str]) -> str:
    if fold(name) in known:
        return known[fold(name)]
    each = "write COLUMNS EACH, without parentheses" if fold(name) == "each" else None
    raise PolicyError(
        f"COLUMNS names {name}, which {policy.policy} does not publish",
        hint=each or nearest(name, list(known.values())) or f"it publishes {', '.join(known.values())}",
        part=("set", name),
    )
