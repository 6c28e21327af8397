"""How sure somebody is of respondents' values who knows their classes in several releases: `sql/composition/`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.series.known_sets import count, known_sets, step
from sqlanon.series.small_groups import world_beliefs
from sqlanon.sqlgen.build.names import literal

__all__ = ["Beliefs", "alike", "by_counting", "by_intersection"]


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
