"""The attack by two releases about the same respondents: which value both of a respondent's classes have.

Who was in which class is read off the source of each release, by the labels that it shows. A source that has changed
since does not have as many people in each class as the release has rows, and is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.attacks.known_people import KnownColumns, people_in_classes
from sqlanon.domain.policy import Policy
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError
from sqlanon.inputs.bind_policy import policy_source
from sqlanon.questions.statistics import BoundStatistic
from sqlanon.series.together import alike, believed, candidates_of
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.expressions import as_text, identical, numbered, union_all, window
from sqlanon.sqlgen.build.names import alias, column, literal, relation
from sqlanon.sqlgen.build.sql_files import query_file, reading
from sqlanon.sqlgen.classes.rows import Rows

__all__ = ["ComposedRelease", "composed_respondent"]


@dataclass(frozen=True)
class ComposedRelease:
    """A release with its policy, the rows by which an attribute is classed, and what they show of people."""

    called: str
    policy: Policy
    rows: Callable[[str], Rows]
    known: Callable[[], KnownColumns]


def composed_respondent(
    engine: Engine, releases: Sequence[ComposedRelease], statistic: BoundStatistic, scratch: Scratch
) -> str:
    """A table of composed_respondent(label, people, confidence, certain): respondents in the same classes.

    By intersection only those who are in all of them. Raises PolicyError for a release without respondents, one whose
    rows cannot be told from its labels, and one whose source is not any more what it was made of.
    """
    (attribute,) = statistic.attributes
    variant = str(dict(statistic.arguments)["variant"])
    parts = [_parts(engine, number, release, attribute, scratch) for number, release in enumerate(releases)]
    member = scratch.table("member", union_all([members for members, _ in parts]))
    if variant == "intersection":
        number = exp.select(column("respondent")).from_(relation(member)).group_by(column("respondent"))
        both = number.having(f.count().eq(literal(len(releases))))
        rows = exp.select(exp.Star()).from_(relation(member))
        member = scratch.table("member", rows.where(column("respondent").isin(query=both)))
    member = alike(member, scratch)
    values = union_all([counted for _, counted in parts]).subquery("counted")
    code = alias(numbered([column("value")]), "code")
    tables = {"member": member, "class_value": scratch.table("class_value", exp.select(exp.Star(), code).from_(values))}
    candidate = candidates_of(engine, tables, variant, scratch)
    composed = _step("composed", {"member": member, "believed": believed(candidate, variant, scratch)})
    return scratch.table("composed", composed)


def _parts(
    engine: Engine, number: int, release: ComposedRelease, attribute: str, scratch: Scratch
) -> tuple[exp.Select, exp.Select]:
    """The members of a release, (release, class, label, respondent), and its values, (release, class, value, n)."""
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
    columns = [alias(rows.class_id.copy(), "class_id"), alias(rows.value(attribute), "value"), alias(f.count(), "n")]
    counted = exp.select(*columns)
    counted = counted.from_(rows.relation.copy()).group_by(*(key.copy() for key in rows.keys), rows.value(attribute))
    valued = (
        exp.select(release_number.copy(), column("class", "class"), column("value", "valued"), column("n", "valued"))
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


def _step(name: str, tables: dict[str, str]) -> exp.Query:
    return reading(query_file("composition", name), tables)
