"""How sure somebody is of respondents' values who knows their classes in several releases: `sql/composition/`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any

from sqlglot import exp

from sqlanon.again.series.known_sets import count, known_sets, step
from sqlanon.again.series.worlds import KnownSet, TooManyWorlds, shares_of_worlds
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import column, literal, relation
from sqlanon.sql.build.sql_files import query_file


@dataclass(frozen=True)
class Beliefs:
    """`believed` is a table of respondent, number of values left, and confidence in the likeliest.

    `contradicted` is a table of the respondents among whom a row must have changed from one release to another.
    """

    believed: str
    contradicted: str


def alike(member: str, scratch: Scratch) -> str:
    """The table of member(release, class, label, respondent), one respondent for all who are in the same classes.

    How many they are is in its column `people`. Nothing tells them apart, so that what is known of one is known of all.
    """
    return scratch.table("alike", step("alike", {"member": member}))


def by_intersection(tables: Mapping[str, str], scratch: Scratch) -> str:
    """Makes the table `believed` of who looks for the rows that all classes of a respondent have.

    Each is as likely as the product of how many of them the classes have.

    `tables` has the table of `alike` as member, and class_value(release, class, n, code, shown), where `shown` is the
    value in which a row of this code is looked at.
    """
    return _believed(scratch.table("candidate", step("candidate", tables)), "intersection", scratch)


def by_counting(engine: Engine, tables: Mapping[str, str], scratch: Scratch) -> Beliefs:
    """The beliefs of who counts: by the differences of classes, by who else can have a row, and by worlds.

    What is concluded is so in all worlds; not all that is so is concluded.
    """
    known = known_sets(engine, tables, scratch)
    sets = {"member": "class_of_set", "class_value": "value_of_set"}
    as_classes = {name: scratch.table(name, step(file, known.sets)) for name, file in sets.items()}
    candidate = scratch.table("candidate", step("candidate", as_classes))
    number, former = count(engine, candidate), None
    while number != former:
        candidate = scratch.table("candidate", step("round", {**as_classes, "candidate": candidate}))
        number, former = count(engine, candidate), number
    told_queries: dict[str, str | exp.Query] = {"by_sets": known.surer, "contradicted_set": known.contradicted}
    told_queries["by_worlds"] = world_beliefs(engine, known.classes, scratch)
    told_queries["by_candidates"] = _believed(candidate, "counting", scratch)
    tables_told = {
        name: each if isinstance(each, str) else scratch.table(name, each) for name, each in told_queries.items()
    }
    counted = {name: scratch.table(name, step(name, tables_told)) for name in ("counted", "contradiction")}
    return Beliefs(counted["counted"], counted["contradiction"])


def _believed(candidate: str, variant: str, scratch: Scratch) -> str:
    query = step("believed", {"candidate": candidate})
    for parameter in list(query.find_all(exp.Placeholder)):
        parameter.replace(literal(variant))
    return scratch.table("believed", query)


# How many people a group may have and all groups together, and how many choices are looked at for a group and for all.
_PEOPLE, _PEOPLE_TOGETHER = 60, 100_000
_STEPS, _STEPS_TOGETHER = 20_000, 300_000


def world_beliefs(engine: Engine, classes: Mapping[str, str], scratch: Scratch) -> str:
    """Makes a table of respondent and confidence: the share of worlds with the respondent's likeliest value.

    The confidence is NULL in a group without a world. The smallest groups come first; a group that has too many worlds
    to be counted is left out. `classes` has the tables set_member and set_value.
    """
    tables = {**classes, "component": _components(engine, classes, scratch)}
    tables["small_group"] = scratch.table("small_group", step("small_group", tables), [_PEOPLE, _PEOPLE_TOGETHER])
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
    return scratch.table("world_belief", query_file("composition", "world_belief"), [respondents, confidences])


def _components(engine: Engine, classes: Mapping[str, str], scratch: Scratch) -> str:
    """Makes a table of set_no and component: sets that are connected by respondents have one component."""
    component, former = scratch.table("component", step("own_component", classes)), None
    number = _total(engine, component)
    while number != former:
        component = scratch.table("component", step("component", {**classes, "component": component}))
        former, number = number, _total(engine, component)
    return component


def _total(engine: Engine, component: str) -> int:
    return int(engine.rows(exp.select(f.coalesce(f.sum(column("component")), 0)).from_(relation(component)))[0][0])


def _beliefs(
    members: Sequence[tuple[Any, ...]], values: Sequence[tuple[Any, ...]], steps: int
) -> tuple[dict[int, float | None], int]:
    """Returns how sure somebody is of each respondent of a group, and the steps that it took.

    `members` are set, respondent and people, `values` set, code, shown and n.
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
    """Returns the share of the likeliest value; codes that show one value are one value."""
    of_value: dict[int, Fraction] = defaultdict(Fraction)
    for share, value in zip(shares, shown_values, strict=True):
        of_value[value] += share
    return round(float(max(of_value.values())), 12)
