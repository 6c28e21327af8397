"""Small tables for the privacy models: drawn, and as the normal relations that the models' texts read.

What a model needs beyond classes and values follows from the relations that its header
reads. A model with a new relation adds to `EXTRAS` how a table gets what the relation
tells, and to `RELATIONS`, in the file of relations beside this one, its columns and rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import isfinite
from typing import Any

from hypothesis import strategies as st

from sqlanon.domain.policy import Requirement
from sqlanon.domain.values import QualifiedName, Value
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.questions.ask import BoundRequirement, bind_requirement
from sqlanon.sql.questions.load import Parameter, Question
from tests.oracles.models.support import Class, Table, Triple
from tests.support.models.relations import KNOWN, VALUES, literal, with_numbers

# No figure of a drawn table is as large: withholding rows does not mend the class.
BEYOND_MENDING = 9e15
_DECIMALS = tuple(map(Decimal, "0 0.1 0.2 0.25 0.3 0.375 0.5 0.75 1 1.25 1.5 2 2.5 3 4 5".split()))


@dataclass(frozen=True)
class Drawn:
    """A model with its arguments, a table, and the distribution of values that the classes are compared with."""

    requirement: BoundRequirement
    arguments: dict[str, int | Fraction | str]
    table: Table
    structs: bool

    @cached_property
    def baseline(self) -> Mapping[Hashable, int]:
        return self.table.baseline

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """Its statements, each normal relation under another name."""
        names = {name: f"{name}_7" for name in self.requirement.reads}
        return {name: to_sql(self.requirement.statement(name, names)) for name in ("achieved", "violations")}


# For each violating class its size and its excess.
Violations = dict[Class, tuple[int, float]]


@dataclass(frozen=True)
class Answer:
    """What the two statements of a model say."""

    achieved: float | None
    violations: Violations


# Tables.


@st.composite
def tables(draw: st.DrawFn, reads: Sequence[str]) -> Table:
    count = draw(st.sampled_from((1, 2, 3, 4, 5, 6, 8, 8, 10, 12)))
    spread = draw(st.integers(1, 4))
    labels = draw(st.lists(st.integers(1, spread), min_size=count, max_size=count))
    pool = draw(st.sampled_from((VALUES, VALUES, VALUES[:2], VALUES[:1], VALUES[-2:], (*"aaaaaaa", "b", None))))
    values = draw(st.lists(st.sampled_from(pool), min_size=count, max_size=count))
    people = st.lists(st.sampled_from((1, 2, 3, 4, None)), min_size=count, max_size=count)
    table = Table(classes_of(labels), values, draw(st.none() | people))
    for relation, extra in EXTRAS.items():
        if relation in reads:
            table = draw(extra(table))
    return table


def classes_of(labels: Sequence[int]) -> dict[Class, list[int]]:
    classes: dict[Class, list[int]] = defaultdict(list)
    for place, label in enumerate(labels):
        classes[label].append(place)
    return dict(classes)


def merged(table: Table, first: Class, second: Class) -> Table:
    """The table with two of its classes made one, in the public table too."""
    classes = {of: places for of, places in table.classes.items() if of != second}
    classes[first] = [*table.classes[first], *table.classes[second]]
    broader = table.broader
    if broader is not None:
        broader = {of: names for of, names in broader.items() if of != second}
        broader |= {first: {*broader[first], *(table.broader or {})[second]}}
    public = table.public
    if public is not None:
        public = {of: n for of, n in public.items() if of != second}
        together = sum((table.public or {}).get(of, 0) for of in (first, second))
        public |= {first: together} if together else {}
    return replace(table, classes=classes, public=public, broader=broader)


def without(table: Table, removed: Iterable[int]) -> Table:
    """The table with fewer rows; a class without rows is gone, and the public table stays."""
    gone = set(removed)
    left = {of: [place for place in places if place not in gone] for of, places in table.classes.items()}
    return replace(table, classes={of: places for of, places in left.items() if places})


def _with_taxonomy(table: Table) -> st.SearchStrategy[Table]:
    """A tree of height 1 to 3 in which every path is as long, labels differing from level to level."""

    def nested(drawn: tuple[int, list[int], list[int]]) -> Table:
        above, first, second = drawn
        paths = {value: [("low", one), ("high", second[one])] for value, one in zip(KNOWN, first, strict=True)}
        return replace(table, taxonomy={value: tuple(path[:above]) for value, path in paths.items()})

    some = st.lists(st.integers(0, 2), min_size=len(KNOWN), max_size=len(KNOWN))
    return st.tuples(st.integers(0, 2), some, some).map(nested)


def _with_guards(table: Table) -> st.SearchStrategy[Table]:
    def guarded(over: Table) -> st.SearchStrategy[Table]:
        assert over.taxonomy is not None
        labels = dict.fromkeys(label for path in over.taxonomy.values() for label in path)
        nodes = [None, *(value for value in KNOWN if value), *labels]
        guards = st.lists(st.sampled_from(nodes), min_size=len(over.values), max_size=len(over.values))
        return guards.map(lambda drawn: replace(over, guards=drawn))

    return (st.just(table) if table.taxonomy is not None else _with_taxonomy(table)).flatmap(guarded)


def _with_ranges(table: Table) -> st.SearchStrategy[Table]:
    ends = [None, *(Fraction(*parts) for parts in ((0, 1), (1, 4), (1, 3), (1, 2), (2, 3), (3, 4), (1, 1)))]

    def ordered(pair: tuple[Fraction | None, Fraction | None]) -> tuple[Fraction | None, Fraction | None]:
        low, high = pair
        return (high, low) if low is not None and high is not None and low > high else pair

    known: st.SearchStrategy[Hashable] = st.sampled_from(KNOWN)
    one = st.tuples(st.sampled_from(ends), st.sampled_from(ends)).map(ordered)
    return st.dictionaries(known, one).map(lambda drawn: replace(table, ranges=drawn))


def _with_public(table: Table) -> st.SearchStrategy[Table]:
    """Mostly as many rows as the release or more; a class may be missing, and one that the release lacks be there."""
    sizes = {of: len(places) for of, places in table.classes.items()} | {99: 0}

    def counted(more: list[int]) -> Table:
        counts = {of: size + extra for (of, size), extra in zip(sizes.items(), more, strict=True)}
        return replace(table, public={of: count for of, count in counts.items() if count > 0})

    extra = st.sampled_from((0, 0, 1, 2, 4, 8, -1, -20))
    return st.lists(extra, min_size=len(sizes), max_size=len(sizes)).map(counted)


def _with_broader(table: Table) -> st.SearchStrategy[Table]:
    """Each class by itself, some of them together, and all together."""

    def grouped(drawn: list[tuple[int, int]]) -> Table:
        names = {of: {f"own {of}", f"a{a}", f"b{b}", "z"} for of, (a, b) in zip(table.classes, drawn, strict=True)}
        return replace(table, broader=names)

    group = st.tuples(st.integers(0, 1), st.integers(0, 2))
    return st.lists(group, min_size=len(table.classes), max_size=len(table.classes)).map(grouped)


def _with_known(table: Table) -> st.SearchStrategy[Table]:
    """A few triples of which none is below another one."""

    def antichain(drawn: list[Triple]) -> Table:
        below = {one for one in drawn if any(_is_below(one, other) for other in drawn if other != one)}
        return replace(table, known=[one for one in dict.fromkeys(drawn) if one not in below])

    one = st.tuples(st.sampled_from(KNOWN), st.integers(0, 2), st.integers(0, 2), st.integers(0, 3))
    return st.lists(one, min_size=1, max_size=4).map(antichain)


def _is_below(lower: Triple, upper: Triple) -> bool:
    about_it = upper[0] is None or upper[0] == lower[0]
    return about_it and all(less <= more for less, more in zip(lower[1:], upper[1:], strict=True))


EXTRAS: Mapping[str, Callable[[Table], st.SearchStrategy[Table]]] = {
    "sensitive_ancestor": _with_taxonomy,
    "guarded": _with_guards,
    "value_range": _with_ranges,
    "known_triple": _with_known,
    "public_class": _with_public,
    "superset": _with_broader,
    "sensitive_number": lambda table: st.just(with_numbers(table)),
}


# Models with arguments.


@st.composite
def drawn_models(draw: st.DrawFn, question: Question, oracle: Any) -> Drawn:
    """A table and arguments inside their bounds, among them the very figure that the table reaches."""
    table = draw(tables(question.reads))
    given = {parameter.name: draw(_argument(parameter)) for parameter in question.parameters}
    tie = given.get(question.required)
    if draw(st.booleans()) and isinstance(tie, Decimal | int):
        reached = _written(oracle.achieved(table, **exact(given)), question)
        given[question.required] = tie if reached is None else reached
    return Drawn(bound(question, given), exact(given), table, draw(st.booleans()))


def bound(question: Question, given: Mapping[str, Value]) -> BoundRequirement:
    """The requirement as a policy with one sensitive attribute would bind it."""
    choice = ((question.when.argument, question.when.value),) if question.when else ()
    (requirement,) = bind_requirement(Requirement(question.model, (*given.items(), *choice)), ("disease",))
    assert requirement.question == question
    return requirement


def exact(given: Mapping[str, Value]) -> dict[str, int | Fraction | str]:
    """The arguments as an oracle takes them."""
    return {
        name: _exactly(value) if isinstance(value, Decimal) else value
        for name, value in given.items()
        if isinstance(value, Decimal | int | str)
    }


def _exactly(number: Decimal) -> Fraction | str:
    return "infinite" if number.is_infinite() else Fraction(number)


def _argument(parameter: Parameter) -> st.SearchStrategy[Value]:
    if parameter.type == "TEXT":
        return st.sampled_from(parameter.choices)
    if parameter.type in ("RELATION", "COLUMN"):
        return st.just(QualifiedName(("given",)))
    assert parameter.low is not None
    assert parameter.high is not None
    if parameter.type == "BIGINT":
        return st.integers(int(parameter.low), int(min(parameter.high, parameter.low + 4)))
    inside = {value for value in _DECIMALS if parameter.low <= value <= parameter.high}
    numbers: st.SearchStrategy[Value] = st.sampled_from(
        sorted({*inside, parameter.low, min(parameter.high, parameter.low + 3)})
    )
    return numbers | st.just("infinite") if parameter.infinite else numbers


def _written(figure: object, question: Question) -> int | Decimal | None:
    """A figure as an argument, if it has few digits and lies in bounds; ties need it exactly."""
    parameter = next(p for p in question.parameters if p.name == question.required)
    if not isinstance(figure, int | Fraction) or parameter.low is None or parameter.high is None:
        return None
    exactly = Decimal(figure.numerator) / Decimal(figure.denominator)
    if not parameter.low <= exactly <= parameter.high or Fraction(exactly) != figure:
        return None
    return exactly if parameter.type == "DECIMAL" else int(figure)


# Answers.


def answer(connection: Any, drawn: Drawn) -> Answer:
    """Both statements asked of the drawn table."""
    achieved = _rows(connection, drawn, drawn.table, "achieved")
    assert len(achieved) == 1
    assert len(achieved[0]) == 1
    figure = achieved[0][0]
    return Answer(None if figure is None else float(figure), violations(connection, drawn, drawn.table))


def violations(connection: Any, drawn: Drawn, table: Table) -> Violations:
    """The violations of any table, with the values of the drawn one as what classes are compared with."""
    rows = _rows(connection, drawn, table, "violations")
    found = {_class(of): (size, excess) for of, size, excess in rows}
    assert len(found) == len(rows), "a class is named twice"
    assert all(isinstance(size, int) and isinstance(excess, float) for size, excess in found.values())
    assert all(isfinite(excess) for _, excess in found.values())
    return found


def total_excess(found: Violations) -> Fraction:
    """The sum, exact: beside what is beyond mending a single row must not be lost to rounding."""
    return sum((Fraction(excess) for _, excess in found.values()), Fraction(0))


def _rows(connection: Any, drawn: Drawn, table: Table, statement: str) -> list[Any]:
    columns = "achieved" if statement == "achieved" else "class_id, size, excess"
    literals = ", ".join(
        f"{name}_7 AS ({literal(name, table, drawn.baseline, drawn.structs)})" for name in drawn.requirement.reads
    )
    asked = drawn.texts[statement]
    rows: list[Any] = connection.execute(f"WITH {literals} SELECT {columns} FROM ({asked}) AS answer").fetchall()
    return rows


def _class(of: object) -> Class:
    return of["of"] if isinstance(of, dict) else of
