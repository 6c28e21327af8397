"""Beliefs of an adversary over every world that agrees with a release, by enumeration, for tables of a few rows.

A world assigns each person of a class one of the values that the class's rows have. All worlds are equally likely.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from math import prod
from typing import Any

Value = Hashable
# The value of each person: class by class, in the order of the classes.
World = tuple[Value, ...]
Classes = Sequence[Sequence[Value]]


def worlds(classes: Classes) -> list[World]:
    """Every world, each as often as any other."""
    each = [sorted(set(permutations(values)), key=repr) for values in classes]
    return [tuple(value for part in parts for value in part) for parts in product(*each)]


def belief(among: Sequence[World], claim: Callable[[World], bool], known: Callable[[World], bool]) -> Fraction | None:
    """Returns the share of the worlds with the known facts in which the claim holds; None without such a world."""
    possible = [world for world in among if known(world)]
    return Fraction(sum(map(claim, possible)), len(possible)) if possible else None


# epsilon-privacy (Machanavajjhala, Gehrke and Goetz 2009).


def beliefs_of_row(
    values: Sequence[Value], value: Value, prior: Mapping[Value, Fraction], stubbornness: Fraction, known: int
) -> tuple[Fraction, Fraction]:
    """Returns p_in and p_out of a person with the value, who is the first of a class; `known` others lack the value.

    p_in is counted over the worlds of the class. p_out is a quotient of two probabilities of a Dirichlet prior: of the
    other rows and the value in turn, by the other rows alone.
    """
    others = list(values)
    others.remove(value)
    lacking = [1 + place for place, other in enumerate(others) if other != value][:known]
    inside = belief(
        worlds([[value, *others]]),
        lambda world: world[0] == value,
        lambda world: all(world[place] != value for place in lacking),
    )
    assert inside is not None
    weights = {name: stubbornness * share for name, share in prior.items()}
    return inside, _likelihood([*others, value], weights) / _likelihood(others, weights)


def _likelihood(sequence: Sequence[Value], weights: Mapping[Value, Fraction]) -> Fraction:
    """Returns the probability of a sequence under a Dirichlet prior with these weights, as a quotient of rising
    factorials.
    """
    rising = prod((_rising(weight, sequence.count(name)) for name, weight in weights.items()), start=Fraction(1))
    return rising / _rising(sum(weights.values(), Fraction(0)), len(sequence))


def _rising(start: Fraction, times: int) -> Fraction:
    return prod((start + step for step in range(times)), start=Fraction(1))


# (c,k)-safety (Martin, Kifer, Machanavajjhala, Gehrke and Halpern 2007).


def surest(classes: Classes, k: int) -> Fraction:
    """Returns the highest belief that a person has a value, given any k implications that exclude not every world.

    An atom assigns a value to a person. An implication says: if all atoms of one set hold, one atom of another set
    holds. Knowledge is a set of worlds, one bit for each.
    """
    among = worlds(classes)
    values = {value for world in among for value in world}
    atoms = {
        sum(1 << number for number, world in enumerate(among) if world[person] == value)
        for person in range(len(among[0]))
        for value in values
    }
    every = (1 << len(among)) - 1
    premises, conclusions = {every}, {0}
    for atom in atoms:
        premises |= {atom & premise for premise in premises}
        conclusions |= {atom | conclusion for conclusion in conclusions}
    implications = {(every & ~premise) | conclusion for premise in premises for conclusion in conclusions}
    known = {every}
    for _ in range(k):
        known |= {before & implication for before in known for implication in implications}
    return max(Fraction((atom & those).bit_count(), those.bit_count()) for those in known - {0} for atom in atoms)


# Privacy skyline (Chen, LeFevre and Ramakrishnan 2007).


def surest_of_skyline(
    classes: Classes, lacks: int, others: int, family: int, values: Sequence[Value] | None = None
) -> Fraction:
    """Returns the highest belief that a person has one of the values, over all facts of at most these numbers.

    The facts are: the person lacks a value (`lacks`), another person has a value (`others`), a family member has the
    value only if the person does (`family`).
    """
    among = worlds(classes)
    people = range(len(among[0]))
    every = sorted({value for world in among for value in world}, key=repr)
    best = Fraction(0)
    for target, value in product(people, every if values is None else values):
        rest = [person for person in people if person != target]
        absent = [other for other in every if other != value]
        for lacking, known in product(_some(absent, lacks), _some(rest, others)):
            possible = [world for world in among if world[target] not in lacking]
            for members, given in product(_some(rest, family), product(every, repeat=len(known))):
                told = [
                    world
                    for world in possible
                    if all(world[person] == its for person, its in zip(known, given, strict=True))
                    and (world[target] == value or all(world[member] != value for member in members))
                ]
                if told:
                    best = max(best, Fraction(sum(world[target] == value for world in told), len(told)))
    return best


def _some(items: Sequence[Any], most: int) -> list[tuple[Any, ...]]:
    return [chosen for number in range(most + 1) for chosen in combinations(items, number)]
