"""Sets of respondents of whom the releases tell how many have which row, and what the differences of these sets tell.

Of the respondents in class D of one release and not in class C of another, at least n_D(v) - n_C(v) have v: that many
rows of D with v are not rows of C's respondents. Where such rows are as many as these respondents, all rows of the
difference are known, and all rows of the respondents in both. Classes of one release have no respondent in common, so
what is known of D is taken away for all of them together. What is left, and what is shared, are two more sets of whom
all rows are known, and are compared with the others in turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import union_all
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.sql_files import query_file, reading

# How many respondents the sets that are made of differences may have together, each set counted: this many times those
# of all classes. The smallest sets come first.
_TIMES_AS_MANY = 2


@dataclass(frozen=True)
class KnownSets:
    """What the sets of the releases of a series tell.

    `classes` has the tables set_member and set_value of the sets that are classes, `sets` those of the differences
    whose rows are all known, too. `surer` is a query of respondent and confidence: how sure somebody is who compares
    the sets. `contradicted` is a query of the respondents of sets that no world agrees with in which everybody's row
    stays the same.
    """

    classes: Mapping[str, str]
    sets: Mapping[str, str]
    surer: exp.Query
    contradicted: exp.Query


def known_sets(engine: Engine, tables: Mapping[str, str], scratch: Scratch) -> KnownSets:
    """Compares the classes, and the differences whose rows are all known, until there is no new difference.

    `tables` has member(release, class, respondent, people), one entry for all respondents who are alike, and
    class_value(release, class, code, shown, n).
    """
    sets: dict[str, str] = {}
    for name in ("known_set", "set_member", "set_value"):
        sets[name] = scratch.table(name, step(name, {**tables, **sets}))
    classes = dict(sets)
    surer: list[exp.Query] = []
    contradicted: list[exp.Query] = []
    compared, number = 0, count(engine, sets["known_set"])
    room = _TIMES_AS_MANY * _people(engine, sets["known_set"])
    while not surer or compared < number:
        sets["set_belief"] = scratch.table("set_belief", step("set_belief", sets))
        sets["pair"] = scratch.table("pair", step("pair", sets), [compared])
        sets["difference"] = scratch.table("difference", step("difference", sets))
        for name, found_queries in (("surer", surer), ("contradicted", contradicted)):
            found_queries.append(exp.select(exp.Star()).from_(relation(scratch.table(name, step(name, sets)))))
        sets["exact"] = scratch.table("exact", step("exact", sets))
        sets["new_set"] = scratch.table("new_set", step("new_set", sets), [number, room])
        added = (("set_member", "new_member"), ("set_value", "new_value"), ("known_set", "new_known"))
        sets |= {name: scratch.table(name, step(file, sets)) for name, file in added}
        compared, number = number, count(engine, sets["known_set"])
        room -= _people(engine, sets["new_set"])
    sets["set_belief"] = scratch.table("set_belief", step("set_belief", sets))
    return KnownSets(classes, sets, union_all([step("set_told", sets), *surer]), union_all(contradicted))


def count(engine: Engine, table: str) -> int:
    """Returns the number of rows of a table."""
    return int(engine.rows(exp.select(f.count()).from_(relation(table)))[0][0])


def _people(engine: Engine, sets: str) -> int:
    """Returns the number of respondents of all sets together, each set counted."""
    total = f.coalesce(f.sum(column("people")), 0)
    return int(engine.rows(exp.select(total).from_(relation(sets)))[0][0])


def step(name: str, tables: Mapping[str, str]) -> exp.Query:
    """Returns the query of a file under `sql/composition/`, which reads these tables."""
    return reading(query_file("composition", name), tables)
