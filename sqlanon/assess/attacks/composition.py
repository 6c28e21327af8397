"""Attacks with knowledge besides a release: a second release, or the order of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sqlglot import exp

from sqlanon.assess.attacks.attacked import require_same_rows
from sqlanon.assess.attacks.known_people import KnownColumns, people_in_classes
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError
from sqlanon.republication.series.beliefs import by_counting, by_intersection, merged_respondents, step
from sqlanon.republication.series.respondents import row_text
from sqlanon.sources.bind_policy import policy_source
from sqlanon.sources.source import BoundSource
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import cast, union_all, window
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, select
from sqlanon.sql.build.sql_files import Relation, filled, filled_query, filled_select, query_file, reading
from sqlanon.sql.classes.rows import Rows
from sqlanon.sql.questions.statistics import BoundStatistic

# The attack by two releases about the same respondents: the value that both of a respondent's classes have.
#
# The classes of respondents are found in the source of each release, by its labels. A source that has changed
# since does not have as many people in each class as the release has rows, and is refused.


@dataclass(frozen=True)
class ComposedRelease:
    """A release with its policy, a function that returns the rows in classes with an attribute, and the columns that
    identify people.
    """

    called: str
    policy: Policy
    rows: Callable[[str], Rows]
    known: Callable[[], KnownColumns]
    # The columns other than quasi-identifiers, and tokens under a key; each with its type.
    beside: tuple[tuple[str, str], ...] = ()
    tokens: tuple[tuple[str, str], ...] = ()


def composed_respondent(
    engine: Engine, releases: Sequence[ComposedRelease], statistic: BoundStatistic, temp: TempTables
) -> str:
    """Makes the table composed_respondent(label, people, confidence, certain): respondents in the same classes.

    For the variant 'intersection', it has only respondents in all releases. If the releases have several columns other
    than quasi-identifiers in common, whole rows are compared as well as values. Raises PolicyError for a release
    without respondents, for a release whose labels do not identify its rows, and for a source that has changed.
    """
    (attribute,) = statistic.attributes
    variant = str(dict(statistic.arguments)["variant"])
    compared = _compared(releases, attribute)
    parts = [_parts(engine, number, release, attribute, compared, temp) for number, release in enumerate(releases)]
    member = temp.table("member", union_all([members for members, _ in parts]))
    if variant == "intersection":
        number = select(column("respondent"), of=relation(member), group_by=[column("respondent")])
        both = number.having(f.count().eq(literal(len(releases))))
        rows = select(exp.Star(), of=relation(member))
        member = temp.table("member", rows.where(column("respondent").isin(query=both)))
    member = merged_respondents(member, temp)
    counted = temp.table("counted", union_all([counted for _, counted in parts]))
    believed: list[exp.Query] = []
    for whole in range(len(compared)):
        shown_columns = [column(name) for name in ("release", "class", "value", "n")]
        rows = select(*shown_columns, alias(column(f"whole_{whole}"), "whole"), of=relation(counted))
        values = reading(query_file("composition", "value_of_row"), {"counted_row": rows})
        tables = {"member": member, "class_value": temp.table("class_value", values)}
        intersects = variant == "intersection"
        belief_table = by_intersection(tables, temp) if intersects else by_counting(engine, tables, temp).believed
        believed.append(select(exp.Star(), of=relation(belief_table)))
    surest = temp.table("believed", union_all(believed))
    return temp.table("composed", step("composed", {"member": member, "believed": surest}))


def _compared(releases: Sequence[ComposedRelease], attribute: str) -> list[list[str]]:
    """Returns the lists of folded names by which rows are compared: the attribute, all common columns, and all common
    columns with the tokens.

    Common columns have the same name and type in all releases. A change in one column may leave no row unchanged, so
    shorter lists are tried, too.
    """
    compared = [[fold(attribute)]]
    for columns in (lambda release: release.beside, lambda release: (*release.beside, *release.tokens)):
        common = set.intersection(*({(fold(name), kind) for name, kind in columns(release)} for release in releases))
        names = sorted(name for name, _ in common)
        if fold(attribute) in names and names not in compared:
            compared.append(names)
    return compared


def _parts(
    engine: Engine,
    number: int,
    release: ComposedRelease,
    attribute: str,
    compared: Sequence[Sequence[str]],
    temp: TempTables,
) -> tuple[exp.Query, exp.Query]:
    """SELECTs of a release's members (release, class, label, respondent), and of its rows (release, class, value, n,
    ...).

    `value` is the attribute's value, and whole_0, whole_1 ... are the row's texts of the columns in `compared`.
    """
    entity = release.policy.entity
    if entity is None:
        raise PolicyError(
            f"{release.called} was made of rows, and nothing says whose they are",
            hint="name the column of the respondents in its policy, ENTITY, and make it again",
            part=("attack", "composition"),
        )
    rows = release.rows(attribute)
    source = policy_source(engine, release.policy, temp)
    people = people_in_classes(engine, release.called, rows, release.known(), source, temp, entity.name)
    person = temp.table("person", people)
    texts: list[exp.Expr] = []
    for key in rows.keys:
        texts += [literal(f"{key.name} "), filled("coalesce(CAST($key AS VARCHAR), 'NULL')", key=key), literal(", ")]
    text = f.call("concat", *texts[:-1]) if texts else literal("all rows")
    named = select(alias(rows.class_id, "class_id"), alias(text, "label"), alias(f.count(), "size"))
    grouped = extend(named, of=rows.relation, group_by=rows.keys)
    numbered = filled_query("SELECT *, row_number() OVER () AS class FROM shown", tables={"shown": grouped})
    classes = temp.table("class", numbered)
    _require_same(engine, release, classes, person)
    tables: dict[str, Relation] = {"classes": classes, "person": person}
    members = query_file("composition", "release_member", tables=tables, release=number)
    kinds = {fold(name): (name, kind) for name, kind in (*release.beside, *release.tokens)}
    # The first is the attribute alone, whose values need not have a text that is known again.
    wholes = [rows.value(attribute), *(row_text([kinds[name] for name in names]) for names in compared[1:])]
    compared_as = [alias(whole, f"whole_{index}") for index, whole in enumerate(wholes)]
    columns = [alias(rows.class_id, "class_id"), alias(rows.value(attribute), "value"), *compared_as]
    counted = select(*columns, alias(f.count(), "n"), of=rows.relation, group_by=[*rows.keys, *wholes])
    tables = {"classes": classes, "counted": counted}
    names = {"columns": ["value", *(each.alias for each in compared_as), "n"]}
    valued = query_file("composition", "release_value", tables=tables, names=names, release=number)
    return members, valued


def _require_same(engine: Engine, release: ComposedRelease, classes: str, person: str) -> None:
    """Raises PolicyError unless each class has as many respondents in the source, with one row each, as the release has
    rows.
    """
    query = query_file("composition", "matching_classes", tables={"classes": classes, "person": person})
    [(matching,)] = engine.rows(query)
    everybody = select(f.count(), f.count_distinct(column("respondent")), of=relation(person))
    [(number, distinct_people)] = engine.rows(everybody)
    if matching != _number(engine, classes) or number != distinct_people:
        raise PolicyError(
            f"the source of {release.called} does not have one row of each respondent in the classes that it shows",
            hint="its source has changed, a respondent has several rows, or labels overlap: releases of levels, of a "
            "source that is as it was, can be attacked together",
            part=("attack", "composition"),
        )


def _number(engine: Engine, table: str) -> int:
    return int(engine.rows(select(f.count(), of=relation(table)))[0][0])


# The attack by the order of rows: the r-th row of a class is assumed to be that of its r-th person in the source.


# A name that no column of the user has.
_POSITION = "__sqlanon_position"


def ordered_class(engine: Engine, release: ComposedRelease, statistic: BoundStatistic, temp: TempTables) -> str:
    """Makes the table ordered_class(class_id, size, hits): the rows of each class, and the values that the order
    guesses correctly.

    Raises PolicyError for a release whose rows are in no classes or whose people are in several, and if the source no
    longer has the values of the classes.
    """
    (attribute,) = statistic.attributes
    rows = release.rows(attribute)
    source = policy_source(engine, release.policy, temp)
    spelled = {fold(name): name for name, _ in source.columns}
    if fold(attribute) not in spelled:
        raise PolicyError(
            f"the source of {release.called} has changed: its column {attribute} is gone",
            hint="make the release again",
            part=("attack", "order"),
        )
    numbered = _numbered(relation(source.relation), temp)
    positioned = BoundSource(source.columns, QualifiedName((numbered,)), None, stable=False)
    people = people_in_classes(engine, release.called, rows, release.known(), positioned, temp, _POSITION)
    person = temp.table("person", people)
    released = replace(rows, relation=relation(_numbered(rows.relation.copy(), temp)))
    released_row = select(
        alias(released.class_id, "class_id"),
        alias(released.value(attribute), "value"),
        column(_POSITION),
        of=released.relation,
    )
    kind = dict(engine.columns(released_row))["value"]
    _require_once(engine, release, person)
    tables: dict[str, Relation] = {"released": released_row, "person": person, "source": numbered}
    names = {"position": _POSITION, "value": spelled[fold(attribute)]}
    calls = {"typed": partial(cast, kind=kind)}
    require_same_rows(
        engine,
        filled_select("SELECT class_id, value FROM released", tables=tables),
        filled_select(
            "SELECT person.class_id, typed({source.value}) FROM person "
            "JOIN source ON {source.position} = person.respondent",
            tables=tables,
            names=names,
            calls=calls,
        ),
        release.called,
        ("attack", "order"),
    )
    return temp.table("ordered", query_file("composition", "ordered", tables=tables, names=names, calls=calls))


def _numbered(rows: exp.Table | exp.Subquery, temp: TempTables) -> str:
    """Makes a table of the rows with their position, in the order in which they are read."""
    position = [alias(window(f.row_number()), _POSITION)]
    query = filled_query(
        "SELECT *, {position} FROM unnumbered", tables={"unnumbered": rows}, names={"position": position}
    )
    return temp.table("numbered", query)


def _require_once(engine: Engine, release: ComposedRelease, person: str) -> None:
    counted = select(f.count(), f.count_distinct(column("respondent")), of=relation(person))
    [(number, people)] = engine.rows(counted)
    if number != people:
        raise PolicyError(
            f"labels of {release.called} overlap, so that people fit several of its classes, and are the r-th of none",
            hint="a release of levels can be attacked by its order",
            part=("attack", "order"),
        )
