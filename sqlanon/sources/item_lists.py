"""Columns of lists, whose items a requirement asks about: which one it is, what its items are, what counting costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import comb

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy
from sqlanon.engines.base import Column, Engine
from sqlanon.errors import PolicyError
from sqlanon.sources.sizes import sizes
from sqlanon.sql.build.names import alias, column
from sqlanon.sql.build.sql_files import query_file, reading
from sqlanon.sql.questions.ask import BoundRequirement
from sqlanon.sql.questions.load import model_names

_LIST = "[]"
# How many of the longest lists an error names.
_LONGEST = 3


def asks_of_items(policy: Policy) -> bool:
    """Whether a policy requires something of the items in lists, so that a hierarchy is one of the items."""
    models = model_names("itemsets")
    return any(fold(requirement.model) in models for requirement in policy.requirements)


def is_list(column_type: str) -> bool:
    """Whether the values of a type are lists of any length."""
    return column_type.endswith(_LIST)


def item_type(column_type: str) -> str:
    """The type of the items of lists."""
    return column_type.removesuffix(_LIST)


def item_of(bound: BoundAttribute) -> BoundAttribute:
    """The column of lists as one of its items, which its hierarchy is of."""
    kind = item_type(bound.published_type)
    return replace(bound, type=kind, published_type=kind)


def list_column(requirement: object, columns: Sequence[Column]) -> str:
    """The one column of lists among quasi-identifiers. Raises PolicyError for none, and for several."""
    lists = [name for name, kind in columns if is_list(kind)]
    if len(lists) == 1:
        return lists[0]
    if not lists:
        raise PolicyError(
            f"{requirement} is about the items in lists, and no quasi-identifier has lists",
            hint="name a column of a LIST type, such as VARCHAR[]; texts, as those of a CSV file, are cast in a query, "
            "(SELECT items::VARCHAR[] AS items, ... FROM ...), and rows of single items are collected in one, "
            "(SELECT customer, list(item) AS items FROM ... GROUP BY customer)",
        )
    raise PolicyError(
        f"{requirement} is about the items in lists of one column, and there are {', '.join(lists)}",
        hint="collect the items in one list, ON (SELECT ..., list_concat(bought, returned) AS items ...)",
    )


def most_items(requirement: BoundRequirement) -> int:
    """The greatest number of items of the sets that a requirement is about."""
    most = requirement.argument("m")
    assert isinstance(most, int)
    return most


def require_countable(
    engine: Engine, lists: exp.Table | exp.Subquery, name: str, most: int, called: str | None = None
) -> None:
    """Raises PolicyError where the lists of a column have too many sets of up to `most` items to be counted.

    `called` is what the user calls the column, where it is not its name.
    """
    listed = exp.select(alias(column(name), "list")).from_(lists.copy())
    lengths = reading(query_file("lists", "lengths"), {"listed": listed})
    by_length = [(int(length), int(number)) for length, number in engine.rows(lengths)]
    sets = sum(number * max(comb(length, items) for items in range(1, most + 1)) for length, number in by_length)
    if sets > sizes().most_itemsets:
        longest = [str(length) for length, number in by_length for _ in range(number)[:_LONGEST]][:_LONGEST]
        raise PolicyError(
            f"the lists of {called or name} have {sets:,} sets of up to {most} items, and no more than "
            f"{sizes().most_itemsets:,} are counted; the longest lists have {', '.join(longest)} items",
            hint="require a smaller m, or leave out the longest lists, ON (SELECT ... WHERE len(items) <= 100)",
        )
