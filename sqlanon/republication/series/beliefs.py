"""Computes the beliefs of a reader who knows the respondent's classes in several releases: `sql/composition/`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from math import comb
from typing import Any

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import union_all
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import query_file, reading

# Counts the worlds of a few respondents: all ways to assign values to them that agree with every set they are in.


# For each set the number of its rows with each code, and the number of its people without a row so far.
_Left = tuple[tuple[tuple[int, ...], int], ...]
# The number of people for each code, the number of ways to choose them, and the rows that are left.
_Choice = tuple[tuple[int, ...], int, _Left]


class TooManyWorlds(Exception):
    """Raised if counting the worlds takes more steps than the limit."""


@dataclass(frozen=True)
class KnownSet:
    """A set of respondents, by index, and its number of rows with each code, by the code's index."""

    members: Sequence[int]
    rows: Mapping[int, int]


def shares_of_worlds(
    people: Sequence[int], sets: Sequence[KnownSet], codes: int, steps: int
) -> tuple[list[list[Fraction]] | None, int]:
    """Computes for each entry of `people` the share of worlds in which a person has each code, and counts the steps.

    An entry represents several people in the same sets. A world assigns each person one of the `codes`, so that in each
    set a code has as many members as rows. If a set has more rows than people, it has further, unknown members. All
    worlds count equally. The shares are None if no world exists. Raises TooManyWorlds if there are more than `steps`
    choices.
    """
    groups = _groups(people, sets, codes)
    if groups is None:
        return None, 0
    layers, taken = _layers(groups, steps)
    worlds = sum(layers[-1].ways.values())
    if not worlds:
        return None, taken
    shares = [[Fraction(0)] * codes for _ in groups.number]
    to_end: dict[_Left, int] = dict.fromkeys(layers[-1].ways, 1)
    for before, layer in zip(reversed(layers[:-1]), reversed(layers[1:]), strict=True):
        held_rows = [0] * codes
        from_here: dict[_Left, int] = {}
        for state, choices in layer.choices.items():
            from_here[state] = sum(chosen * to_end[then] for _, chosen, then in choices)
            for vector, chosen, then in choices:
                weight = before.ways[state] * chosen * to_end[then]
                for code, persons in enumerate(vector):
                    held_rows[code] += weight * persons
        shares[layer.group] = [Fraction(rows, worlds * groups.number[layer.group]) for rows in held_rows]
        to_end = from_here
    return shares[: len(people)], taken


@dataclass(frozen=True)
class _Groups:
    """People grouped by their sets, with the size of each group and the indexes of its sets, and the rows of each
    set.
    """

    number: Sequence[int]
    sets: Sequence[Sequence[int]]
    left: _Left


def _groups(people: Sequence[int], sets: Sequence[KnownSet], codes: int) -> _Groups | None:
    """Makes a group of each entry of `people`, its number of people, and of the unknown members of each set.

    A set has unknown members if it has more rows than known people. Returns None if a set has fewer.
    """
    number = [*people]
    inside: list[list[int]] = [[] for _ in people]
    left: list[tuple[tuple[int, ...], int]] = []
    for index, known in enumerate(sets):
        rows = sum(known.rows.values())
        nobody = rows - sum(people[member] for member in known.members)
        if nobody < 0:
            return None
        for member in known.members:
            inside[member].append(index)
        if nobody:
            number.append(nobody)
            inside.append([index])
        left.append((tuple(known.rows.get(code, 0) for code in range(codes)), rows))
    return _Groups(number, inside, tuple(left))


@dataclass(frozen=True)
class _Layer:
    """The choices of one group of people, by the rows left by earlier groups, and the number of ways that lead to each
    state of left rows.
    """

    group: int
    choices: Mapping[_Left, Sequence[_Choice]]
    ways: Mapping[_Left, int]


def _layers(groups: _Groups, steps: int) -> tuple[list[_Layer], int]:
    """Returns the layers of the enumeration of worlds: the start with all rows left, then one layer for each group of
    people; and the number of steps. Raises TooManyWorlds after `steps` steps.
    """
    # Large groups come last, when the sets leave them the fewest choices.
    order = sorted(range(len(groups.number)), key=lambda group: (groups.number[group], group))
    layers = [_Layer(-1, {}, {groups.left: 1})]
    taken = 0
    for group in order:
        choices: dict[_Left, list[_Choice]] = {}
        ways: dict[_Left, int] = defaultdict(int)
        for state, count in layers[-1].ways.items():
            choices[state] = list(_choices(state, groups.number[group], groups.sets[group], steps - taken))
            taken += len(choices[state]) + 1
            if taken > steps:
                raise TooManyWorlds
            for _, chosen, then in choices[state]:
                ways[then] += count * chosen
        layers.append(_Layer(group, choices, ways))
    return layers, taken


def _choices(state: _Left, people: int, inside: Sequence[int], most: int) -> Iterator[_Choice]:
    """Yields the ways in which people who are in the same sets can take rows of these sets, from the rows that are
    left.
    """
    codes = range(len(state[inside[0]][0]))
    high = [min(people, *(state[index][0][code] for index in inside)) for code in codes]
    # The other people of a set can take one row each.
    low = [max(0, *(state[index][0][code] - (state[index][1] - people) for index in inside)) for code in codes]
    for number_found, vector in enumerate(_vectors(low, high, people)):
        if number_found >= most:
            raise TooManyWorlds
        ways, rest = 1, people
        for persons in vector:
            ways *= comb(rest, persons)
            rest -= persons
        then = list(state)
        for index in inside:
            rows, others = state[index]
            then[index] = tuple(n - persons for n, persons in zip(rows, vector, strict=True)), others - people
        yield vector, ways, tuple(then)


def _vectors(low: Sequence[int], high: Sequence[int], total: int) -> Iterator[tuple[int, ...]]:
    """Yields the integer vectors between `low` and `high` whose entries add up to `total`."""
    if not low:
        if total == 0:
            yield ()
        return
    least, greatest = sum(low[1:]), sum(high[1:])
    for first in range(max(low[0], total - greatest), min(high[0], total - least) + 1):
        for rest in _vectors(low[1:], high[1:], total - first):
            yield (first, *rest)


# Sets of respondents whose rows the releases publish, and conclusions from the differences of these sets.
#
# At least n_D(v) - n_C(v) of the respondents in class D of one release, but not in class C of another, have v: as many
# rows of D with v do not belong to C's respondents. If there are as many such rows as respondents, all rows of the
# difference are known, and all rows of the respondents in both classes. Classes of one release share no respondent, so
# all of them are subtracted from D together. The rest and the intersection are two more sets whose rows are all known,
# and are compared with the others in turn.


# The most respondents of all sets made of differences, as a multiple of the respondents of all classes. The smallest
# sets come first.
_TIMES_AS_MANY = 2


@dataclass(frozen=True)
class KnownSets:
    """The sets of values that the releases of a series publish for sets of respondents.

    `classes` has the tables set_member and set_value of the classes, `sets` also those of differences whose rows are
    all known. `surer` is a query of respondent and confidence for a reader who compares the sets. `contradicted` is a
    query of the respondents in sets that agree with no world with constant rows.
    """

    classes: Mapping[str, str]
    sets: Mapping[str, str]
    surer: exp.Query
    contradicted: exp.Query


def known_sets(engine: Engine, tables: Mapping[str, str], temp: TempTables) -> KnownSets:
    """Computes the differences of classes, and of differences whose rows are all known, until there are no new
    differences.

    `tables` has member(release, class, respondent, people), with one entry for all respondents in the same classes, and
    class_value(release, class, code, shown, n).
    """
    sets: dict[str, str] = {}
    for name in ("known_set", "set_member", "set_value"):
        sets[name] = temp.table(name, step(name, {**tables, **sets}))
    classes = dict(sets)
    surer: list[exp.Query] = []
    contradicted: list[exp.Query] = []
    compared, number = 0, count(engine, sets["known_set"])
    room = _TIMES_AS_MANY * _people(engine, sets["known_set"])
    while not surer or compared < number:
        sets["set_belief"] = temp.table("set_belief", step("set_belief", sets))
        sets["pair"] = temp.table("pair", step("pair", sets), [compared])
        sets["difference"] = temp.table("difference", step("difference", sets))
        for name, found_queries in (("surer", surer), ("contradicted", contradicted)):
            found_queries.append(select(exp.Star(), of=relation(temp.table(name, step(name, sets)))))
        sets["exact"] = temp.table("exact", step("exact", sets))
        sets["new_set"] = temp.table("new_set", step("new_set", sets), [number, room])
        added = (("set_member", "new_member"), ("set_value", "new_value"), ("known_set", "new_known"))
        sets |= {name: temp.table(name, step(file, sets)) for name, file in added}
        compared, number = number, count(engine, sets["known_set"])
        room -= _people(engine, sets["new_set"])
    sets["set_belief"] = temp.table("set_belief", step("set_belief", sets))
    return KnownSets(classes, sets, union_all([step("set_told", sets), *surer]), union_all(contradicted))


def count(engine: Engine, table: str) -> int:
    """Returns the number of rows of a table."""
    return int(engine.rows(select(f.count(), of=relation(table)))[0][0])


def _people(engine: Engine, sets: str) -> int:
    """Returns the sum of the numbers of respondents over all sets."""
    total = f.coalesce(f.sum(column("people")), 0)
    return int(engine.rows(select(total, of=relation(sets)))[0][0])


def step(name: str, tables: Mapping[str, str]) -> exp.Query:
    """Returns the query of a file under `sql/composition/`, over these tables."""
    return reading(query_file("composition", name), tables)


@dataclass(frozen=True)
class Beliefs:
    """The beliefs of a reader about each respondent.

    `believed` is a table of respondents, with the number of possible values and the highest confidence. `contradicted`
    is a table of respondents whose groups have a member with another value in another release.
    """

    believed: str
    contradicted: str


def merged_respondents(member: str, temp: TempTables) -> str:
    """Creates the table member(release, class, label, respondent, people): one row for all respondents in the same
    classes.

    `people` is their number. No release distinguishes them, so a belief about one respondent holds for all.
    """
    return temp.table("alike", step("alike", {"member": member}))


def by_intersection(tables: Mapping[str, str], temp: TempTables) -> str:
    """Creates the table `believed` of a reader who intersects the values of a respondent's classes; returns its name.

    The likelihood of a value is the product of its counts in the classes. `tables` has the table of
    `merged_respondents` as member, and class_value(release, class, n, code, shown); `shown` is the value that this code
    represents.
    """
    return _believed(temp.table("candidate", step("candidate", tables)), "intersection", temp)


def by_counting(engine: Engine, tables: Mapping[str, str], temp: TempTables) -> Beliefs:
    """Computes the beliefs of a reader who compares classes, the other possible owners of rows, and the possible
    worlds.

    Each conclusion holds in all worlds, but not every fact that holds in all worlds is concluded.
    """
    known = known_sets(engine, tables, temp)
    sets = {"member": "class_of_set", "class_value": "value_of_set"}
    as_classes = {name: temp.table(name, step(file, known.sets)) for name, file in sets.items()}
    candidate = temp.table("candidate", step("candidate", as_classes))
    number, former = count(engine, candidate), None
    while number != former:
        candidate = temp.table("candidate", step("round", {**as_classes, "candidate": candidate}))
        number, former = count(engine, candidate), number
    told_queries: dict[str, str | exp.Query] = {"by_sets": known.surer, "contradicted_set": known.contradicted}
    told_queries["by_worlds"] = world_beliefs(engine, known.classes, temp)
    told_queries["by_candidates"] = _believed(candidate, "counting", temp)
    tables_told = {
        name: each if isinstance(each, str) else temp.table(name, each) for name, each in told_queries.items()
    }
    counted = {name: temp.table(name, step(name, tables_told)) for name in ("counted", "contradiction")}
    return Beliefs(counted["counted"], counted["contradiction"])


def _believed(candidate: str, variant: str, temp: TempTables) -> str:
    query = query_file("composition", "believed", tables={"candidate": candidate}, variant=variant)
    return temp.table("believed", query)


# The most people of a group and of all groups, and the most choices that are tried for a group and for all groups.
_PEOPLE, _PEOPLE_TOGETHER = 60, 100_000
_STEPS, _STEPS_TOGETHER = 20_000, 300_000


def world_beliefs(engine: Engine, classes: Mapping[str, str], temp: TempTables) -> str:
    """Creates a table of respondent and confidence, the share of worlds in which the respondent has the likeliest
    value.

    The confidence is NULL in a group without a world. Small groups are computed first; a group with too many worlds is
    left out. `classes` has the tables set_member and set_value.
    """
    tables = {**classes, "component": _components(engine, classes, temp)}
    tables["small_group"] = temp.table("small_group", step("small_group", tables), [_PEOPLE, _PEOPLE_TOGETHER])
    members = engine.rows(step("group_member", tables))
    values: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for component, *row in engine.rows(step("group_value", tables)):
        values[component].append(tuple(row))
    respondents: list[int] = []
    confidences: list[float | None] = []
    steps = _STEPS_TOGETHER
    for component, rows in groupby(members, key=lambda row: row[0]):
        try:
            beliefs, taken = _beliefs([row[1:] for row in rows], values[component], min(steps, _STEPS))
        except TooManyWorlds:
            beliefs, taken = {}, min(steps, _STEPS)
        steps -= taken
        respondents += beliefs.keys()
        confidences += beliefs.values()
    return temp.table("world_belief", query_file("composition", "world_belief"), [respondents, confidences])


def _components(engine: Engine, classes: Mapping[str, str], temp: TempTables) -> str:
    """Creates a table of set_no and component: sets linked by shared respondents share a component."""
    component, former = temp.table("component", step("own_component", classes)), None
    number = _total(engine, component)
    while number != former:
        component = temp.table("component", step("component", {**classes, "component": component}))
        former, number = number, _total(engine, component)
    return component


def _total(engine: Engine, component: str) -> int:
    return int(engine.rows(select(f.coalesce(f.sum(column("component")), 0), of=relation(component)))[0][0])


def _beliefs(
    members: Sequence[tuple[Any, ...]], values: Sequence[tuple[Any, ...]], steps: int
) -> tuple[dict[int, float | None], int]:
    """Returns the confidence about each respondent of a group, by respondent, and the number of steps.

    `members` has set, respondent and people, `values` has set, code, shown and n.
    """
    people = {respondent: int(number) for _, respondent, number in members}
    index = {respondent: position for position, respondent in enumerate(people)}
    shown_values = {code: value for _, code, value, _ in values}
    code_places = {code: position for position, code in enumerate(shown_values)}
    inside: dict[int, list[int]] = defaultdict(list)
    rows: dict[int, dict[int, int]] = defaultdict(dict)
    for number, respondent, _ in members:
        inside[number].append(index[respondent])
    for number, code, _, n in values:
        rows[number][code_places[code]] = int(n)
    sets = [KnownSet(inside[number], rows[number]) for number in inside]
    shares, taken = shares_of_worlds([*people.values()], sets, len(code_places), steps)
    if shares is None:
        return dict.fromkeys(people), taken
    return {who: _highest(share, [*shown_values.values()]) for who, share in zip(people, shares, strict=True)}, taken


def _highest(shares: Sequence[Fraction], shown_values: Sequence[int]) -> float:
    """Returns the share of the likeliest value; the shares of codes that show the same value are added."""
    of_value: dict[int, Fraction] = defaultdict(Fraction)
    for share, value in zip(shares, shown_values, strict=True):
        of_value[value] += share
    return round(float(max(of_value.values())), 12)
