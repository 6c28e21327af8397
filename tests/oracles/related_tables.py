"""MultiR k-anonymity (Nergiz, Clifton and Nergiz 2007), and the loss over several tables, from the definition.

Everything that an adversary could know of a person is enumerated and compared with everybody. The code shares no
grouping with sqlanon.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import floor

Labels = tuple[Hashable, ...]
Row = tuple[int, Labels]
Knowledge = Hashable
KNOWS = ("one_row", "m_rows", "rows", "values", "history")


@dataclass(frozen=True)
class People:
    """The labels of each person, and of the rows about them in each related table."""

    persons: Mapping[int, Labels]
    tables: Sequence[Sequence[Row]]

    def rows(self, person: int, table: int) -> list[Labels]:
        return [labels for whose, labels in self.tables[table] if whose == person]

    def without(self, gone: set[int]) -> People:
        """Returns the people who are left, with their rows, after these people are removed."""
        persons = {person: labels for person, labels in self.persons.items() if person not in gone}
        return People(persons, [[row for row in rows if row[0] not in gone] for rows in self.tables])


def known_of(people: People, person: int, knows: str, m: int) -> Iterator[Knowledge]:
    """Yields everything that an adversary with this kind of knowledge could know of a person."""
    own, tables = people.persons[person], range(len(people.tables))
    if knows == "history":
        yield own, tuple(frozenset(Counter(people.rows(person, table)).items()) for table in tables)
        return
    if knows == "values":
        yield own, tuple(frozenset(people.rows(person, table)) for table in tables)
        return
    yield own, None, frozenset()
    for table in tables:
        different = set(people.rows(person, table))
        most = {"one_row": 1, "m_rows": m, "rows": len(different)}[knows]
        for size in range(1, min(most, len(different)) + 1):
            for rows in combinations(different, size):
                yield own, table, frozenset(rows)


def agrees(people: People, person: int, knows: str, known: Knowledge) -> bool:
    """Whether the known facts may be about this person."""
    assert isinstance(known, tuple)
    if known[0] != people.persons[person]:
        return False
    if knows in ("values", "history"):
        return known in known_of(people, person, knows, 1)
    _, table, rows = known
    return table is None or rows <= set(people.rows(person, table))


def classes(people: People, knows: str, m: int = 1) -> dict[Knowledge, set[int]]:
    """Returns for each set of facts, out of everything that can be known of anybody, the people who agree with it."""
    known = {each for person in people.persons for each in known_of(people, person, knows, m)}
    return {each: {person for person in people.persons if agrees(people, person, knows, each)} for each in known}


def k(people: People, knows: str, m: int = 1) -> int | None:
    """Returns the number of people in the smallest class; None without people."""
    return min((len(of_class) for of_class in classes(people, knows, m).values()), default=None)


# The sensitive values of each person: any number of them.
Values = Mapping[int, set[Hashable]]
Violates = Callable[[set[int], Values], bool]


def too_small(least: int) -> Violates:
    """Returns a test for classes that violate k-anonymity."""
    return lambda of_class, _: len(of_class) < least


def few_values(least: int) -> Violates:
    """Returns a test for classes that violate distinct l-diversity; a class without any value satisfies it."""
    return lambda of_class, values: 0 < len(set().union(*(values[person] for person in of_class))) < least


def frequent_value(most: Fraction) -> Violates:
    """Returns a test for classes that violate probabilistic l-diversity: more than this share of the people have one
    value.
    """

    def violates(of_class: set[int], values: Values) -> bool:
        having = Counter(value for person in of_class for value in values[person])
        return any(Fraction(number, len(of_class)) > most for number in having.values())

    return violates


def violating(people: People, values: Values, knows: str, m: int, violates: Violates) -> list[set[int]]:
    """Returns the classes that violate."""
    return [of_class for of_class in classes(people, knows, m).values() if violates(of_class, values)]


@dataclass(frozen=True)
class Attribute:
    """A quasi-identifier: the label of a value at each level; all values share the label of the last level."""

    levels: Sequence[Callable[[Hashable], Hashable]]
    weight: Fraction = Fraction(1)

    @property
    def height(self) -> int:
        return len(self.levels) - 1

    def cost(self, value: Hashable, level: int, values: set[Hashable]) -> Fraction:
        """Returns the granularity loss of a cell: the share of other occurring values that its label may represent."""
        if len(values) < 2:
            return Fraction(0)
        label = self.levels[level](value)
        alike = sum(self.levels[level](other) == label for other in values)
        return Fraction(alike - 1, len(values) - 1)


Node = tuple[int, ...]


@dataclass(frozen=True)
class Source:
    """The source's tables with the attributes of each, the people's table first."""

    people: People
    attributes: Sequence[Sequence[Attribute]]

    def at(self, node: Node) -> People:
        """Returns the tables with the labels of a node."""
        first, *others = self._levels(node)
        persons = {person: _shown(values, self.attributes[0], first) for person, values in self.people.persons.items()}
        tables = [
            [(person, _shown(values, attributes, levels)) for person, values in rows]
            for rows, attributes, levels in zip(self.people.tables, self.attributes[1:], others, strict=True)
        ]
        return People(persons, tables)

    def _levels(self, node: Node) -> list[Node]:
        levels, parts = iter(node), []
        for attributes in self.attributes:
            parts.append(tuple(next(levels) for _ in attributes))
        return parts

    @property
    def nodes(self) -> Iterator[Node]:
        heights = [attribute.height for attributes in self.attributes for attribute in attributes]
        return product(*(range(height + 1) for height in heights))

    def loss(self, node: Node, gone: set[int]) -> Fraction:
        """Returns the loss: the weighted mean, over attributes, of the mean loss over the rows of the attribute's
        table.
        """
        tables = [list(self.people.persons.items()), *self.people.tables]
        lost, weights = Fraction(0), Fraction(0)
        for rows, attributes, levels in zip(tables, self.attributes, self._levels(node), strict=True):
            for place, (attribute, level) in enumerate(zip(attributes, levels, strict=True)):
                values = {labels[place] for _, labels in rows}
                cells = [
                    Fraction(1) if person in gone else attribute.cost(labels[place], level, values)
                    for person, labels in rows
                ]
                lost += attribute.weight * (sum(cells, Fraction(0)) / len(cells) if cells else Fraction(0))
                weights += attribute.weight
        return lost / weights if weights else Fraction(0)

    def best(
        self, demands: Sequence[tuple[str, int, Violates, Values]], suppression: Fraction
    ) -> tuple[Fraction, int, Node, set[int]] | None:
        """Returns loss, height, levels and left-out people of the best node; None if no node is feasible.

        A node may leave out at most a share `suppression` of the people. Every node is tried.
        """
        limit = floor(suppression * len(self.people.persons))
        ranks = []
        for node in self.nodes:
            people = self.at(node)
            gone = {
                person
                for knows, m, violates, values in demands
                for of_class in violating(people, values, knows, m, violates)
                for person in of_class
            }
            if len(gone) <= limit:
                ranks.append((self.loss(node, gone), sum(node), node, gone))
        return min(ranks, key=lambda rank: rank[:3], default=None)


def _shown(values: Labels, attributes: Sequence[Attribute], levels: Node) -> Labels:
    return tuple(
        attribute.levels[level](value) for value, attribute, level in zip(values, attributes, levels, strict=True)
    )
