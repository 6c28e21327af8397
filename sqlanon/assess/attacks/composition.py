"""The attack by two releases about the same respondents: which value both of a respondent's classes have.

Who was in which class is read off the source of each release, by the labels that it shows. A source that has changed
since does not have as many people in each class as the release has rows, and is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.again.series.beliefs import alike, by_counting, by_intersection
from sqlanon.again.series.known_sets import step
from sqlanon.again.series.row_columns import row_text
from sqlanon.assess.attacks.known_people import KnownColumns, people_in_classes
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError
from sqlanon.sources.bind_policy import policy_source
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, identical, union_all, window
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.sql_files import query_file, reading
from sqlanon.sql.classes.rows import Rows
from sqlanon.sql.questions.statistics import BoundStatistic


@dataclass(frozen=True)
class ComposedRelease:
    """A release with its policy, the rows by which an attribute is classed, and what they show of people."""

    called: str
    policy: Policy
    rows: Callable[[str], Rows]
    known: Callable[[], KnownColumns]
    # The columns beside the quasi-identifiers, and tokens under a key; each with its type.
    beside: tuple[tuple[str, str], ...] = ()
    tokens: tuple[tuple[str, str], ...] = ()


def composed_respondent(
    engine: Engine, releases: Sequence[ComposedRelease], statistic: BoundStatistic, scratch: Scratch
) -> str:
    """A table of composed_respondent(label, people, confidence, certain): respondents in the same classes.

    By intersection only those who are in all of them. Where the releases have several columns beside the
    quasi-identifiers in common, whole rows are compared as well as values. Raises PolicyError for a release without
    respondents, one whose rows cannot be told from its labels, and one whose source has changed since.
    """
    (attribute,) = statistic.attributes
    variant = str(dict(statistic.arguments)["variant"])
    compared = _compared(releases, attribute)
    parts = [_parts(engine, number, release, attribute, compared, scratch) for number, release in enumerate(releases)]
    member = scratch.table("member", union_all([members for members, _ in parts]))
    if variant == "intersection":
        number = exp.select(column("respondent")).from_(relation(member)).group_by(column("respondent"))
        both = number.having(f.count().eq(literal(len(releases))))
        rows = exp.select(exp.Star()).from_(relation(member))
        member = scratch.table("member", rows.where(column("respondent").isin(query=both)))
    member = alike(member, scratch)
    counted = scratch.table("counted", union_all([counted for _, counted in parts]))
    believed: list[exp.Query] = []
    for whole in range(len(compared)):
        shown_columns = [column(name) for name in ("release", "class", "value", "n")]
        rows = exp.select(*shown_columns, alias(column(f"whole_{whole}"), "whole")).from_(relation(counted))
        values = reading(query_file("composition", "value_of_row"), {"counted_row": rows})
        tables = {"member": member, "class_value": scratch.table("class_value", values)}
        intersects = variant == "intersection"
        belief_table = by_intersection(tables, scratch) if intersects else by_counting(engine, tables, scratch).believed
        believed.append(exp.select(exp.Star()).from_(relation(belief_table)))
    surest = scratch.table("believed", union_all(believed))
    return scratch.table("composed", step("composed", {"member": member, "believed": surest}))


def _compared(releases: Sequence[ComposedRelease], attribute: str) -> list[list[str]]:
    """The folded names of columns by which rows are compared, in turn: the attribute, what rows show, and tokens.

    The releases have these columns in common, of the same types. Whoever compares them all may find no row that has
    stayed the same, because one column has not.
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
    scratch: Scratch,
) -> tuple[exp.Select, exp.Select]:
    """The members of a release, (release, class, label, respondent), and its rows, (release, class, value, n) and more.

    `value` is that of the attribute, and whole_0, whole_1 ... what a row shows of the columns that are `compared`.
    """
    entity = release.policy.entity
    if entity is None:
        raise PolicyError(
            f"{release.called} was made of rows, and nothing says whose they are",
            hint="name the column of the respondents in its policy, ENTITY, and make it again",
            part=("attack", "composition"),
        )
    rows = release.rows(attribute)
    source = policy_source(engine, release.policy, scratch)
    people = people_in_classes(engine, release.called, rows, release.known(), source, scratch, entity.name)
    person = scratch.table("person", people)
    label = rows.class_id.copy()
    texts: list[exp.Expr] = []
    for key in rows.keys:
        texts += [literal(f"{key.name} "), f.coalesce(as_text(key.copy()), literal("NULL")), literal(", ")]
    text = f.call("concat", *texts[:-1]) if texts else literal("all rows")
    named = exp.select(alias(label, "class_id"), alias(text, "label"), alias(f.count(), "size"))
    grouped = named.from_(rows.relation.copy()).group_by(*(key.copy() for key in rows.keys))
    numbered = exp.select(exp.Star(), alias(window(f.row_number()), "class")).from_(grouped.subquery("shown"))
    classes = scratch.table("class", numbered)
    _require_same(engine, release, classes, person)
    same = identical(column("class_id", "class"), column("class_id", "person"))
    release_number = alias(literal(number), "release")
    members = (
        exp.select(release_number, column("class", "class"), column("label", "class"), column("respondent", "person"))
        .from_(relation(person, as_="person"))
        .join(relation(classes, as_="class"), on=same)
    )
    kinds = {fold(name): (name, kind) for name, kind in (*release.beside, *release.tokens)}
    # The first is the attribute alone, whose values need not have a text that is known again.
    wholes = [rows.value(attribute), *(row_text([kinds[name] for name in names]) for names in compared[1:])]
    compared_as = [alias(whole, f"whole_{index}") for index, whole in enumerate(wholes)]
    columns = [alias(rows.class_id.copy(), "class_id"), alias(rows.value(attribute), "value"), *compared_as]
    counted = exp.select(*columns, alias(f.count(), "n")).from_(rows.relation.copy())
    counted = counted.group_by(*(key.copy() for key in rows.keys), *(whole.copy() for whole in wholes))
    shown_columns = [column(name, "valued") for name in ("value", *(each.alias for each in compared_as), "n")]
    valued = (
        exp.select(release_number.copy(), column("class", "class"), *shown_columns)
        .from_(counted.subquery("valued"))
        .join(relation(classes, as_="class"), on=identical(column("class_id", "class"), column("class_id", "valued")))
    )
    return members, valued


def _require_same(engine: Engine, release: ComposedRelease, classes: str, person: str) -> None:
    """Raises PolicyError unless each class has as many respondents, one row each, as the release has rows."""
    distinct = f.count_distinct(column("respondent"))
    people = exp.select(column("class_id"), alias(f.count(), "people"), alias(distinct, "respondents"))
    counted = people.from_(relation(person)).group_by(column("class_id")).subquery("person")
    same = identical(column("class_id", "class"), column("class_id", "person"))
    sizes = [column("people", "person"), column("respondents", "person")]
    right = exp.and_(*(size.eq(column("size", "class")) for size in sizes))
    query = exp.select(f.count()).from_(relation(classes, as_="class")).join(counted, on=exp.and_(same, right))
    [(matching,)] = engine.rows(query)
    everybody = exp.select(f.count(), distinct.copy()).from_(relation(person))
    [(number, distinct_people)] = engine.rows(everybody)
    if matching != _number(engine, classes) or number != distinct_people:
        raise PolicyError(
            f"the source of {release.called} does not have one row of each respondent in the classes that it shows",
            hint="its source has changed, a respondent has several rows, or labels overlap: releases of levels, of a "
            "source that is as it was, can be attacked together",
            part=("attack", "composition"),
        )


def _number(engine: Engine, table: str) -> int:
    return int(engine.rows(exp.select(f.count()).from_(relation(table)))[0][0])
