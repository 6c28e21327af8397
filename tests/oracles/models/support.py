"""Shared code of the naive privacy models: a table in classes, and counting.

Each module beside this one is named after a file of `sql/models` and has two functions,
written from the paper and over rows, never over the normal relations:

    violating(table, **arguments) -> set of the classes that do not satisfy the model
    achieved(table, **arguments) -> the figure that the parameter is compared with, None for an empty table

A BIGINT comes as an int, a DECIMAL as a Fraction, a TEXT as a string; what a RELATION
or a COLUMN names lies in the table. Rational figures are exact Fractions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from math import isfinite

Class = Hashable
Label = Hashable

# Sums of logarithms that differ by less are equal: Decimal computes with 28 digits unless told otherwise.
TOLERANCE = Decimal("1e-22")

# An adversary's knowledge: a value (None for every value), and the numbers of values that the person lacks, of other
# known people, and of family members.
Triple = tuple[Hashable, int, int, int]
TRIPLES: Sequence[Triple] = (("a", 1, 0, 1), ("b", 0, 0, 2), (None, 0, 1, 0))


@dataclass(frozen=True)
class Table:
    """A release: the places of the rows of each class, and the contents of each row.

    None is a value like any other. Without `entities` each row is its own respondent. `taxonomy` has a value's labels
    from level 1 up to the last below the top; all have one length. `ranges` bounds the share of a value in a class.
    `guards` has each row's guarding node: a value, a label of the taxonomy, or None. `public` counts the rows of the
    public table in each class, including rows that the release lacks; a class that it does not name has none. `broader`
    names the broader classes of each class, including itself. `known` has the rows of a table of an adversary's
    knowledge.
    """

    classes: Mapping[Class, Sequence[int]]
    values: Sequence[Hashable] = ()
    entities: Sequence[Hashable] | None = None
    taxonomy: Mapping[Hashable, Sequence[Label]] | None = None
    ranges: Mapping[Hashable, tuple[Fraction | None, Fraction | None]] | None = None
    guards: Sequence[Label | None] | None = None
    public: Mapping[Class, int] | None = None
    broader: Mapping[Class, Collection[Hashable]] | None = None
    known: Sequence[Triple] = TRIPLES

    @property
    def rows(self) -> int:
        """The number of rows of the release: all rows in its classes."""
        return sum(map(len, self.classes.values()))

    def counts(self, of: Class) -> Counter[Hashable]:
        """Counts the rows of a class with each value."""
        return Counter(self.values[place] for place in self.classes[of])

    def respondents(self, of: Class) -> int:
        """Counts the respondents that a class has at least; a row of None belongs to somebody, perhaps to a counted
        one.
        """
        places = self.classes[of]
        if self.entities is None:
            return len(places)
        return max(1, len({self.entities[place] for place in places} - {None}))

    def numbers(self, of: Class) -> list[Fraction]:
        """Returns the numbers of the rows of a class as exact fractions; NULL, NaN and infinity are left out."""
        rows = [self.values[place] for place in self.classes[of]]
        return [Fraction(row) for row in rows if isinstance(row, int | float | Decimal | Fraction) and isfinite(row)]

    @property
    def baseline(self) -> Counter[Hashable]:
        """The number of rows of the whole release with each value."""
        return Counter(self.values[place] for places in self.classes.values() for place in places)


def beside_broader(table: Table, of: Class, n: int) -> Iterator[Table]:
    """Yields, for each broader class of n rows or more, a table of the classes in it."""
    assert table.broader is not None
    for name in table.broader[of]:
        inside = {other: places for other, places in table.classes.items() if name in table.broader[other]}
        if sum(map(len, inside.values())) >= n:
            yield replace(table, classes=inside)


def shares(counts: Mapping[Hashable, int]) -> dict[Hashable, Fraction]:
    """Returns the share of each value among all rows."""
    whole = sum(counts.values())
    return {value: Fraction(count, whole) for value, count in counts.items()}


def in_order(values: Sequence[Hashable] | set[Hashable] | Mapping[Hashable, object]) -> list[Hashable]:
    """Sorts the distinct values, None last."""
    known = sorted(value for value in set(values) if value is not None)  # type: ignore[type-var]
    return [*known, None] if None in values else list(known)


def ln(number: Fraction | int) -> Decimal:
    """Returns the natural logarithm with fifty digits."""
    exact = Fraction(number)
    with localcontext() as context:
        context.prec = 50
        return (Decimal(exact.numerator) / Decimal(exact.denominator)).ln()


def decimal(number: Fraction | int) -> Decimal:
    """Converts a fraction to a Decimal with fifty digits."""
    exact = Fraction(number)
    with localcontext() as context:
        context.prec = 50
        return Decimal(exact.numerator) / Decimal(exact.denominator)


def entropy(counts: Mapping[Hashable, int]) -> Decimal:
    """Returns Shannon's entropy of a class, in nats, with fifty digits."""
    with localcontext() as context:
        context.prec = 50
        return sum((-decimal(share) * ln(share) for share in shares(counts).values()), Decimal(0))
