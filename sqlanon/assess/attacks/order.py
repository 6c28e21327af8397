"""The attack by the order of rows: the r-th row of a class is taken for the r-th person of the source who is in it."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlanon.assess.attacks.composition import ComposedRelease
from sqlanon.assess.attacks.known_people import people_in_classes
from sqlanon.assess.attacks.same_source import require_same_rows
from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import Scratch
from sqlanon.errors import PolicyError
from sqlanon.sources.bind_policy import policy_source
from sqlanon.sources.source import BoundSource
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import ascending, cast, identical, if_, order_by, window
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.questions.statistics import BoundStatistic

# No column of the user's is called so.
_POSITION = "__sqlanon_position"


def ordered_class(engine: Engine, release: ComposedRelease, statistic: BoundStatistic, scratch: Scratch) -> str:
    """A table of ordered_class(class_id, size, hits): the rows of each class, and how many values the order names.

    Raises PolicyError for a release whose rows are in no classes, or of a source with several rows to a position, and
    where the source does not have the values any more that the classes show.
    """
    (attribute,) = statistic.attributes
    rows = release.rows(attribute)
    source = policy_source(engine, release.policy, scratch)
    spelled = {fold(name): name for name, _ in source.columns}
    if fold(attribute) not in spelled:
        raise PolicyError(
            f"the source of {release.called} has changed: its column {attribute} is gone",
            hint="make the release again",
            part=("attack", "order"),
        )
    numbered = _numbered(relation(source.relation), scratch)
    positioned = BoundSource(source.columns, QualifiedName((numbered,)), None, stable=False)
    people = people_in_classes(engine, release.called, rows, release.known(), positioned, scratch, _POSITION)
    person = scratch.table("person", people)
    placed = exp.select(
        column("class_id", "person"),
        _rank(column("class_id", "person"), column("respondent", "person")),
        alias(column(spelled[fold(attribute)], "numbered"), "value"),
    ).from_(relation(person, as_="person"))
    same = column(_POSITION, "numbered").eq(column("respondent", "person"))
    placed = placed.join(relation(numbered, as_="numbered"), on=same)
    released = replace(rows, relation=relation(_numbered(rows.relation.copy(), scratch)))
    released_row = exp.select(
        alias(released.class_id.copy(), "class_id"), alias(released.value(attribute), "value"), column(_POSITION)
    ).from_(released.relation.copy())
    ranked = exp.select(column("class_id"), column("value"), _rank(column("class_id"), column(_POSITION)))
    ranked = ranked.from_(released_row.subquery("released_row"))
    kind = dict(engine.columns(ranked))["value"]
    _require_once(engine, release, person)
    released_values = exp.select(column("class_id"), column("value")).from_(ranked.subquery("released"))
    typed = cast(column("value"), kind)
    require_same_rows(
        engine,
        released_values,
        exp.select(column("class_id"), typed).from_(placed.subquery("placed")),
        release.called,
        ("attack", "order"),
    )
    both = exp.and_(
        identical(column("class_id", "released"), column("class_id", "placed")),
        column("rank", "released").eq(column("rank", "placed")),
    )
    right = identical(column("value", "released"), cast(column("value", "placed"), kind))
    hit = if_(exp.and_(exp.not_(column("rank", "placed").is_(exp.null())), right), literal(1), literal(0))
    query = exp.select(column("class_id", "released"), alias(f.count(), "size"), alias(f.sum(hit), "hits")).from_(
        ranked.subquery("released")
    )
    query = query.join(placed.subquery("placed"), on=both, join_type="LEFT").group_by(column("class_id", "released"))
    return scratch.table("ordered", query)


def _numbered(rows: exp.Table | exp.Subquery, scratch: Scratch) -> str:
    """The rows with their position, in the order in which they are read."""
    position = alias(window(f.row_number()), _POSITION)
    return scratch.table("numbered", exp.select(exp.Star(), position).from_(rows))


def _rank(class_id: exp.Expr, position: exp.Expr) -> exp.Expr:
    return alias(window(f.row_number(), partition_by=[class_id], order=order_by(ascending(position))), "rank")


def _require_once(engine: Engine, release: ComposedRelease, person: str) -> None:
    counted = exp.select(f.count(), f.count_distinct(column("respondent"))).from_(relation(person))
    [(number, people)] = engine.rows(counted)
    if number != people:
        raise PolicyError(
            f"labels of {release.called} overlap, so that people fit several of its classes, and are the r-th of none",
            hint="a release of levels can be attacked by its order",
            part=("attack", "order"),
        )
