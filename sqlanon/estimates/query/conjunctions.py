"""Aggregates with a conjunction of conditions on one column each, of which many can be answered at once."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.errors import PolicyError
from sqlanon.estimates.numbers import number
from sqlanon.estimates.query.bind import Binding, leaf_name
from sqlanon.estimates.query.evaluable import tried
from sqlanon.estimates.query.functions import constants_of, is_ordered
from sqlanon.estimates.query.parse import Aggregate, AggregateQuery, is_plain
from sqlanon.estimates.query.templates import Slot, WorkloadQuery, conjuncts
from sqlanon.estimates.release_model import ReleaseModel
from sqlanon.sql.build.expressions import cast, is_not_null, paren
from sqlanon.sql.build.names import column

# The column of a relation of values that conditions read.
VALUE = "value"

_BOOLEAN = exp.DataType.build("BOOLEAN")
_WHOLE = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT|U?INTEGER")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")

# A condition on the values of one column: a tree that reads `VALUE` alone, or the constants that values are among.
Condition = exp.Expr | Slot


@dataclass(frozen=True)
class Conjunction:
    """A condition on each of one or more columns, by their folded names."""

    conditions: Mapping[str, Condition]
    # The constants that trees compare the values of generalized columns with.
    constants: Mapping[str, tuple[exp.Expr, ...]]

    @property
    def compared(self) -> bool:
        """Whether any of the conditions compares values with the constants of a slot."""
        return any(isinstance(condition, Slot) for condition in self.conditions.values())

    def with_value(self, name: str) -> Conjunction:
        """The conjunction of this condition and that a column is not NULL."""
        condition = self.conditions.get(name)
        if isinstance(condition, Slot):
            # NULL is none of its constants.
            return self
        has = is_not_null(column(VALUE))
        both = has if condition is None else exp.and_(condition, has)
        return Conjunction({**self.conditions, name: both}, self.constants)


@dataclass(frozen=True)
class ConjunctiveAggregate:
    """One aggregate of a query of a workload, with the query's condition."""

    # The number of the query in the workload.
    number: int
    # The name of the result's column.
    result: str
    function: str
    # The column whose values are added up or compared, by its folded name; None where rows are counted.
    argument: str | None
    condition: Conjunction
    # Whether the query reads nothing but one set of bucketed columns: these are known exactly.
    alone: bool = False

    @property
    def conditions(self) -> tuple[int, Mapping[str, Condition]]:
        """The query's number, and its conditions by the folded names of the columns."""
        return self.number, self.condition.conditions

    def at_once(self, release: ReleaseModel) -> bool:
        """Whether it counts rows of a release whose columns are exact or bucketed, so that no label has shares."""
        return self.argument is None and not release.generalized


def common_type(slot: Slot, kind: str) -> str | None:
    """The type in which values of type `kind` and a slot's constants compare as in the query; None if unknown."""
    if not slot.text:
        return "HUGEINT" if _WHOLE.fullmatch(kind) else None
    if kind == "VARCHAR":
        return "VARCHAR"
    return "DATE" if kind == "DATE" and all(map(_is_date, slot.values)) else None


def compared_columns(workload_query: WorkloadQuery, kinds: Mapping[str, str]) -> dict[str, Slot] | None:
    """The slot of each column in a query's condition, by folded names; None unless the condition only compares
    different columns with constants.

    `kinds` are the types of the columns, by their folded names.
    """
    slots = workload_query.conditions()
    if not slots or len(slots) < len(workload_query.slots):
        return None
    return slots if all(common_type(slot, kinds.get(name, "")) for name, slot in slots.items()) else None


def _is_date(text: str) -> bool:
    with suppress(ValueError):
        return _DATE.fullmatch(text) is not None and datetime.date.fromisoformat(text).year > 0
    return False


class Conjunctions:
    """Finds the queries of a workload that can be answered on a release at once.

    `kinds` are the types of its columns' values, by the folded names of the columns.
    """

    def __init__(self, release: ReleaseModel, kinds: Mapping[str, str]) -> None:
        self._release, self._kinds = release, kinds
        self._known: dict[str, bool] = {}

    def of(self, workload_query: WorkloadQuery) -> list[ConjunctiveAggregate]:
        """The aggregates of a query; none where it has to be answered by itself, or is refused."""
        if not is_plain(workload_query.query) or workload_query.query.where is None:
            return []
        if fold(workload_query.query.source.name) not in map(fold, self._release.names):
            return []
        if not all(map(self._is_known, workload_query.query.aggregates)):
            return []
        condition = self._condition(workload_query)
        # Which of several sets a column is read from depends on the whole query.
        if condition is None or self._release.in_several(condition.conditions):
            return []
        alone = self._is_alone(workload_query, condition)
        parts = [self._part(workload_query.number, part, condition, alone) for part in workload_query.query.aggregates]
        return parts if all(map(self._is_at_once, parts)) else []

    def _is_alone(self, workload_query: WorkloadQuery, condition: Conjunction) -> bool:
        arguments = {fold(part.argument.name) for part in workload_query.query.aggregates if part.argument is not None}
        positions = self._release.bucketed_positions
        return {*condition.conditions, *arguments} <= set(positions) and len(self._bucketed_sets(condition)) == 1

    def _bucketed_sets(self, condition: Conjunction) -> set[int]:
        """The indexes of the sets of bucketed columns that it has conditions on."""
        positions = self._release.bucketed_positions
        return {positions[name][0] for name in condition.conditions if name in positions}

    def _is_at_once(self, part: ConjunctiveAggregate) -> bool:
        if part.at_once(self._release):
            return len(self._bucketed_sets(part.condition)) <= 1 or self._release.separate_tables
        bucketed = set(part.condition.conditions) & set(self._release.bucketed_positions)
        return len(bucketed) <= 1 and not part.alone

    def _is_known(self, aggregate: Aggregate) -> bool:
        """Whether an aggregate is of rows, or of the values of an exact or a generalized column."""
        if aggregate.argument is None:
            return aggregate.function == "count"
        if not isinstance(aggregate.argument, exp.Column):
            return False
        name = fold(aggregate.argument.name)
        if name not in self._release.exact and name not in self._release.generalized:
            return False
        return aggregate.function == "count" or number(self._kinds[name]) is not None

    def _part(self, number: int, aggregate: Aggregate, condition: Conjunction, alone: bool) -> ConjunctiveAggregate:
        argument = None if aggregate.argument is None else fold(aggregate.argument.name)
        if argument is not None and (aggregate.function == "count" or argument in self._release.generalized):
            condition = condition.with_value(argument)
        return ConjunctiveAggregate(
            number,
            aggregate.name,
            aggregate.function,
            None if aggregate.function == "count" else argument,
            condition,
            alone,
        )

    def _condition(self, workload_query: WorkloadQuery) -> Conjunction | None:
        if workload_query.slots:
            if workload_query.template not in self._known:
                self._known[workload_query.template] = _of_trees(workload_query.query, self._release) is not None
            if self._known[workload_query.template] and (compared := compared_columns(workload_query, self._kinds)):
                return Conjunction(compared, {})
        return _of_trees(workload_query.whole(), self._release)


def _of_trees(query: AggregateQuery, release: ReleaseModel) -> Conjunction | None:
    binding = Binding(query, release, ())
    try:
        for aggregate in query.aggregates:
            if aggregate.argument is not None:
                binding.bound(aggregate.argument)
    except PolicyError:
        return None
    conditions: dict[str, exp.Expr] = {}
    constants: dict[str, tuple[exp.Expr, ...]] = {}
    assert query.where is not None
    for part in conjuncts(query.where):
        names = {fold(node.name) for node in part.find_all(exp.Column)}
        if len(names) != 1:
            return None
        try:
            bound = binding.bound(part)
        except PolicyError:
            return None
        (name,) = names
        if name in release.generalized:
            leaf = leaf_name(binding.leaf_indexes[name])
            if not is_ordered(bound, leaf):
                return None
            constants[name] = (*constants.get(name, ()), *constants_of(bound, leaf))
        condition = _of_value(bound)
        conditions[name] = exp.and_(conditions[name], condition, copy=False) if name in conditions else condition
    return Conjunction(conditions, constants)


def _of_value(tree: exp.Expr) -> exp.Expr:
    """A bound condition as a condition on `VALUE`, changed in place."""
    value = tree.transform(lambda node: column(VALUE) if isinstance(node, exp.Column) else node, copy=False)
    return tried(cast(paren(value), "BOOLEAN"))
