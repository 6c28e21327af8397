"""Counts whose condition is a conjunction in which each part is about one column: many of them can be asked at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.errors import PolicyError
from sqlanon.sqlgen.names import column
from sqlanon.workload.actual import is_plain
from sqlanon.workload.binding import Binding, fold, leaf_name
from sqlanon.workload.functions import constants_of, is_ordered
from sqlanon.workload.published import Published
from sqlanon.workload.queries import AggregateQuery

__all__ = ["VALUE", "Conjunction", "conjunction", "conjuncts"]

# The column of a relation of values that a part of a condition is asked of.
VALUE = "value"

_BOOLEAN = exp.DataType.build("BOOLEAN")


@dataclass(frozen=True)
class Conjunction:
    """COUNT(*) of the rows that satisfy a condition on each of some columns, by their folded names.

    A condition reads `VALUE` alone; `constants` are what the column's values are compared with.
    """

    conditions: Mapping[str, exp.Expr]
    constants: Mapping[str, tuple[exp.Expr, ...]]


def conjunction(query: AggregateQuery, release: Published) -> Conjunction | None:
    """The query as a conjunction; None for one that has to be asked by itself, or is refused."""
    counts = [one.function == "count" and one.argument is None for one in query.aggregates]
    if not is_plain(query) or counts != [True] or query.where is None or release.fragmented:
        return None
    if fold(query.source.name) not in map(fold, release.names):
        return None
    binding = Binding(query, release, ())
    conditions: dict[str, exp.Expr] = {}
    constants: dict[str, tuple[exp.Expr, ...]] = {}
    for part in conjuncts(query.where):
        names = {fold(one.name) for one in part.find_all(exp.Column)}
        if len(names) != 1 or binding.alone is not None:
            return None
        try:
            bound = binding.bound(part)
        except PolicyError:
            return None
        (name,) = names
        if name in release.generalized:
            leaf = leaf_name(binding.places[name])
            if not is_ordered(bound, leaf):
                return None
            constants[name] = (*constants.get(name, ()), *constants_of(bound, leaf))
        held = _of_value(bound)
        conditions[name] = exp.and_(conditions[name], held, copy=False) if name in conditions else held
    dealt = set(conditions) & set(release.dealt_places)
    return Conjunction(conditions, constants) if len(dealt) <= 1 else None


def conjuncts(tree: exp.Expr) -> Iterator[exp.Expr]:
    """What has to hold together for a condition to hold."""
    if isinstance(tree, exp.And):
        yield from conjuncts(tree.left)
        yield from conjuncts(tree.right)
    elif isinstance(tree, exp.Paren):
        yield from conjuncts(tree.this)
    else:
        yield tree


def _of_value(tree: exp.Expr) -> exp.Expr:
    """A bound condition, which nothing else has, over values."""
    value = tree.transform(lambda node: column(VALUE) if isinstance(node, exp.Column) else node, copy=False)
    return exp.Cast(this=exp.Paren(this=value), to=_BOOLEAN.copy())
