"""Whether the tables of a release belong together: people once, and each row that of one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from sqlanon.domain.counts import counted
from sqlanon.domain.identifiers import same_name
from sqlanon.errors import InternalError
from sqlanon.methods.base import PublishedTables, Structure
from sqlanon.methods.multirelational.choice import RelatedLevels
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import named
from sqlanon.sql.build.names import column
from sqlanon.sql.build.queries import anti_join, select


def structure_of(published: PublishedTables) -> Structure:
    """How the tables do not fit together, if they do not; their rows are counted while they are made."""
    policy = published.policy
    if policy.entity is None:
        raise InternalError("a policy on several tables has no ENTITY")
    names = policy.tables_in_order(tuple(published.tables))
    if names is None:
        return Structure(misfit=f"its tables are {', '.join(published.tables)}")
    called = _number_of(published, names[0], policy.entity.name)
    people = published.tables[names[0]]
    rows, numbers, unknown = published.engine.rows(
        select(
            f.count(),
            f.count_distinct(column(called)),
            f.count() - f.count(column(called)),
            of=people.copy(),
        )
    )[0]
    if unknown or rows != numbers:
        return Structure(
            misfit=f"{counted(int(rows - numbers), 'row')} of {names[0]} are of nobody, or of somebody twice"
        )
    for name in names[1:]:
        same = column(called, "about").eq(column(called, "of_person"))
        joins = [anti_join(named(people.copy(), "of_person"), same)]
        nobody = select(f.count(), of=named(published.tables[name].copy(), "about"), joins=joins)
        ((number,),) = published.engine.rows(nobody)
        if number:
            return Structure(misfit=f"{counted(int(number), 'row')} of {name} are about nobody in {names[0]}")
    return Structure(misfit=_miscounted(published, names))


def _number_of(published: PublishedTables, table: str, called: str) -> str:
    """The column with the numbers, as the tables spell it."""
    columns = published.engine.columns(exp.select(exp.Star()).from_(published.tables[table].copy()))
    return next((name for name, _ in columns if same_name(name, called)), called)


def _miscounted(published: PublishedTables, names: Sequence[str]) -> str | None:
    """Which table has not the rows that were chosen, while the tables are made."""
    if not isinstance(published.choice, RelatedLevels):
        return None
    released: Mapping[str, int] = published.choice.released
    for name in names:
        ((rows,),) = published.engine.rows(select(f.count(), of=published.tables[name].copy()))
        if rows != released[name]:
            return f"{name} has {counted(int(rows), 'row')}, and {released[name]} were chosen"
    return None
