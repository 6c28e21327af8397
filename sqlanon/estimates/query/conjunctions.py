"""Finds aggregates whose condition is a conjunction of conditions on single columns, because many of these can be
answered at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.domain.identifiers import fold
from sqlanon.errors import PolicyError, UserError
from sqlanon.estimates.axes import number
from sqlanon.estimates.query.bind import Binding, leaf_name
from sqlanon.estimates.query.functions import constants_of, is_date, is_ordered, tried
from sqlanon.estimates.query.parse import Aggregate, AggregateQuery, is_plain, parsed
from sqlanon.estimates.release_model import ReleaseModel
from sqlanon.sql.build.expressions import and_, cast, is_not_null, paren
from sqlanon.sql.build.names import column
from sqlanon.syntax.query_text import query_text

# Reads queries that differ only in constants. Their common text is a template, which is parsed once.
#
# A workload's queries name thousands of constants, and parsing each takes longer than answering the queries. So the
# constants of `IN (...)` and `BETWEEN ... AND ...` are taken out of the text, and the rest is parsed.


# Texts, and whole numbers that no comparison rounds.
_TEXT = r"'[^']*+(?:''[^']*+)*+'"
_CONSTANT = rf"(?:{_TEXT}|-?[0-9]{{1,18}}+(?![\w.]))"
# Names and other texts are matched, too, so that their contents are not taken for lists.
_TOKEN = re.compile(
    rf"""
    (?P<name>"[^"]*+(?:""[^"]*+)*+")
    | \bIN\s*+\(\s*+(?P<listed>{_CONSTANT}(?:\s*+,\s*+{_CONSTANT})*+)\s*+\)
    | \bBETWEEN\s++(?P<low>{_CONSTANT})\s++AND\s++(?P<high>{_CONSTANT})
    | (?P<text>{_TEXT})
    | (?P<other>--|/\*|\$|;)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CONSTANTS = re.compile(_CONSTANT)
# The constant in a template that replaces the texts or numbers of the query.
_LEFT = {True: exp.Literal.string(""), False: exp.Literal.number("0")}


@dataclass(frozen=True, slots=True)
class Slot:
    """Constants of one comparison by `IN` or `BETWEEN`."""

    # The texts, or the whole numbers as they were written.
    values: tuple[str, ...]
    # Whether they are texts.
    text: bool
    # Whether they are the two of BETWEEN.
    between: bool


@dataclass(frozen=True, slots=True)
class WorkloadQuery:
    """A query of a workload. With slots, `query` is a template that several queries share."""

    number: int
    text: str
    query: AggregateQuery
    template: str = ""
    # The constants of each conjunct of the template's condition, in their order.
    slots: tuple[Slot, ...] = ()
    # The columns that the conjuncts compare, by their folded names.
    columns: tuple[str, ...] = ()

    def conditions(self) -> dict[str, Slot]:
        """The slot of each column that the template compares, by the folded name of the column."""
        return dict(zip(self.columns, self.slots, strict=True))

    def whole(self) -> AggregateQuery:
        """Returns the parsed query, with the constants put back into its slots."""
        return parsed(self.text) if self.slots else self.query


class Templates:
    """Reads queries, and parses each template once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[AggregateQuery, tuple[str, ...]] | None] = {}
        self._texts: set[str] = set()
        self._taken: dict[str, tuple[str, tuple[Slot, ...]]] = {}

    def one_query(self, text: str) -> str:
        """The text of a single query, as `query_text` returns it. No constant leaves a quote or a bracket open."""
        # Only spaces can surround the query.
        text = text.strip()
        taken = _taken_out(text)
        if taken is None:
            return query_text(text)
        if taken[0] not in self._texts:
            query_text(taken[0])
            self._texts.add(taken[0])
        self._taken[text] = taken
        return text

    def query_of(self, number: int, text: str) -> WorkloadQuery:
        """Returns the query of a text that `one_query` returned. Raises the errors of `parsed`."""
        if taken := self._taken.get(text) or _taken_out(text):
            template, slots = taken
            if template not in self._known:
                self._known[template] = _template(template, slots)
            if known := self._known[template]:
                query, columns = known
                return WorkloadQuery(number, text, query, template, slots, columns)
        return WorkloadQuery(number, text, parsed(text))


def conjuncts(tree: exp.Expr) -> Iterator[exp.Expr]:
    """Yields the conjuncts of a condition."""
    if isinstance(tree, exp.And):
        yield from conjuncts(tree.left)
        yield from conjuncts(tree.right)
    elif isinstance(tree, exp.Paren):
        yield from conjuncts(tree.this)
    else:
        yield tree


def _taken_out(text: str) -> tuple[str, tuple[Slot, ...]] | None:
    """Replaces the constants in a query's text by slots; returns the text and the slots, or None if the text needs a
    parser.
    """
    slots: list[Slot] = []
    known = True

    def replaced(match: re.Match[str]) -> str:
        nonlocal known
        _, listed, low, high, _, other = match.groups()
        known = known and other is None
        between = low is not None
        if not between and listed is None:
            return match[0]
        values, is_text = _values(f"{low},{high}" if between else listed)
        if is_text is None:
            return match[0]
        slots.append(Slot(tuple(values if between else dict.fromkeys(values)), is_text, between))
        left = "''" if is_text else "0"
        return f"BETWEEN {left} AND {left}" if between else f"IN ({left})"

    template = _TOKEN.sub(replaced, text)
    return (template, tuple(slots)) if known and slots else None


def _values(listed: str) -> tuple[list[str], bool | None]:
    """Returns the values of a list of constants, and whether they are texts; None if some are and others are not."""
    if "'" not in listed:
        return list(map(str.strip, listed.split(","))), False
    between, values = (pieces := listed.split("'"))[::2], pieces[1::2]
    if "''" not in listed and not "".join(between).replace(",", "").strip():
        return values, True
    constants = _CONSTANTS.findall(listed)
    if not all(constant.startswith("'") for constant in constants):
        return [], None
    return [constant[1:-1].replace("''", "'") for constant in constants], True


def _template(text: str, slots: tuple[Slot, ...]) -> tuple[AggregateQuery, tuple[str, ...]] | None:
    """Parses a template; returns it and the columns that its conjuncts compare.

    None unless each conjunct has exactly one slot, and no other part of the query has a slot.
    """
    try:
        query = parsed(text)
    except UserError:
        return None
    if query.groups or query.lookups or query.having is not None or query.where is None:
        return None
    if any(
        aggregate.argument is not None and aggregate.argument.find(exp.In, exp.Between)
        for aggregate in query.aggregates
    ):
        return None
    parts = list(conjuncts(query.where))
    if len(parts) != len(slots) or not all(map(_has, parts, slots)):
        return None
    return query, tuple(fold(part.this.name) for part in parts)


def _has(part: exp.Expr, slot: Slot) -> bool:
    """Whether a conjunct is a comparison of a column with a slot's constants, and nothing else."""
    if not isinstance(part.this, exp.Column):
        return False
    left = _LEFT[slot.text]
    if slot.between:
        return isinstance(part, exp.Between) and _only(part, {"this": None, "low": left, "high": left})
    return isinstance(part, exp.In) and part.expressions == [left] and _only(part, {"this": None, "expressions": None})


def _only(part: exp.Expr, expected: dict[str, exp.Expr | None]) -> bool:
    """Whether a node has exactly the expected arguments; None accepts any value of an argument."""
    present = {name: value for name, value in part.args.items() if value}
    return present.keys() == expected.keys() and all(
        value is None or present[name] == value for name, value in expected.items()
    )


# The column of a relation of values that conditions read.
VALUE = "value"

_BOOLEAN = exp.DataType.build("BOOLEAN")
_WHOLE = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT|U?INTEGER")

# A condition on the values of one column: a tree that reads `VALUE` alone, or the constants that values are among.
Condition = exp.Expr | Slot


@dataclass(frozen=True, slots=True)
class Conjunction:
    """Conditions on single columns, all of which must hold, by the folded names of the columns."""

    conditions: Mapping[str, Condition]
    # The constants that trees compare the values of generalized columns with.
    constants: Mapping[str, tuple[exp.Expr, ...]]

    @property
    def compared(self) -> bool:
        """Whether any of the conditions compares values with the constants of a slot."""
        return any(isinstance(condition, Slot) for condition in self.conditions.values())

    def with_value(self, name: str) -> Conjunction:
        """Returns this condition with the further condition that a column is not NULL."""
        condition = self.conditions.get(name)
        if isinstance(condition, Slot):
            # NULL is not one of the slot's constants.
            return self
        has = is_not_null(column(VALUE))
        both = has if condition is None else and_(condition, has)
        return Conjunction({**self.conditions, name: both}, self.constants)


@dataclass(frozen=True, slots=True)
class ConjunctiveAggregate:
    """One aggregate of a workload's query, with the query's condition."""

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
        """Returns the query's number, and its conditions by folded column name."""
        return self.number, self.condition.conditions

    def at_once(self, release: ReleaseModel) -> bool:
        """Whether the aggregate counts rows, and reads only exact or bucketed columns of the release."""
        return self.argument is None and not release.generalized


def common_type(slot: Slot, kind: str) -> str | None:
    """Returns the type in which values of type `kind` are compared with a slot's constants; None if it is unknown."""
    if not slot.text:
        return "HUGEINT" if _WHOLE.fullmatch(kind) else None
    if kind == "VARCHAR":
        return "VARCHAR"
    return "DATE" if kind == "DATE" and all(map(is_date, slot.values)) else None


def compared_columns(workload_query: WorkloadQuery, kinds: Mapping[str, str]) -> dict[str, Slot] | None:
    """The slot of each column in a query's condition, by folded names; None unless the condition only compares
    different columns with constants.

    `kinds` are the types of the columns, by their folded names.
    """
    slots = workload_query.conditions()
    if not slots or len(slots) < len(workload_query.slots):
        return None
    return slots if all(common_type(slot, kinds.get(name, "")) for name, slot in slots.items()) else None


class Conjunctions:
    """Finds the queries of a workload that can be answered on a release at once.

    `kinds` are the types of its columns' values, by the folded names of the columns. If equal rows are `counted`
    together, a query that reads nothing but buckets, or several bucketed columns, is answered alone.
    """

    def __init__(self, release: ReleaseModel, kinds: Mapping[str, str], *, counted: bool = False) -> None:
        self._release, self._kinds, self._counted = release, kinds, counted
        self._known: dict[str, bool] = {}
        # By the source and its alias, the column and the kind of comparison of a conjunct.
        self._conjuncts: dict[tuple[object, ...], bool] = {}

    def of(self, workload_query: WorkloadQuery) -> list[ConjunctiveAggregate]:
        """Returns the aggregates of a query; none for a query that is answered alone, or refused."""
        if not is_plain(workload_query.query) or workload_query.query.where is None:
            return []
        if fold(workload_query.query.source.name) not in map(fold, self._release.names):
            return []
        if not all(map(self._is_known, workload_query.query.aggregates)):
            return []
        condition = self._condition(workload_query)
        # A column may be in several sets; the set that it is read from depends on the whole query.
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
        """Returns the indexes of the sets of bucketed columns that a condition reads."""
        positions = self._release.bucketed_positions
        return {positions[name][0] for name in condition.conditions if name in positions}

    def _is_at_once(self, part: ConjunctiveAggregate) -> bool:
        if part.at_once(self._release) and not self._counted:
            return True
        bucketed = set(part.condition.conditions) & set(self._release.bucketed_positions)
        if part.function != "count" and bucketed:
            # The sums of rows are bounded by all rows of their bucket together.
            return False
        # The values of several columns of a bucket are known together, so their shares must not be multiplied.
        return len(bucketed) <= 1 and not part.alone

    def _is_known(self, aggregate: Aggregate) -> bool:
        """Whether an aggregate counts rows, or reads an exact or a generalized column."""
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
                self._known[workload_query.template] = self._is_conjunction(workload_query.query)
            if self._known[workload_query.template] and (compared := compared_columns(workload_query, self._kinds)):
                return Conjunction(compared, {})
        return _of_trees(workload_query.whole(), self._release)

    def _is_conjunction(self, template: AggregateQuery) -> bool:
        """Whether each conjunct of a template is a condition on a single column that the release can answer."""
        assert template.where is not None
        if self._release.bucketed_positions or any(part.argument is not None for part in template.aggregates):
            return _of_trees(template, self._release) is not None
        # Without buckets and arguments, no conjunct depends on the rest of the query; templates share conjuncts.
        for part in conjuncts(template.where):
            names = (name.name for name in part.this.parts)
            key = (str(template.source), template.alias, *names, type(part))
            if key not in self._conjuncts:
                self._conjuncts[key] = _of_trees(replace(template, where=part), self._release) is not None
            if not self._conjuncts[key]:
                return False
        return True


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
        conditions[name] = and_(conditions[name], condition) if name in conditions else condition
    return Conjunction(conditions, constants)


def _of_value(tree: exp.Expr) -> exp.Expr:
    """Rewrites a bound condition, in place, as a condition on `VALUE`."""
    value = tree.transform(lambda node: column(VALUE) if isinstance(node, exp.Column) else node, copy=False)
    return tried(cast(paren(value), "BOOLEAN"))
