"""A loose association seen from its published tables alone: the heterogeneities, and the k they come to.

De Capitani di Vimercati, Foresti, Jajodia, Paraboschi and Samarati, Loose associations to
increase utility in data publishing (2015). Each statement returns the offending groups.
NULL is a value, of attributes and of groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import identical
from sqlanon.sql.build.names import alias, column, literal


@dataclass(frozen=True)
class PublishedFragment:
    """A fragment's table: its attributes, and the column with the number of each row's group."""

    relation: exp.Table | exp.Subquery
    attributes: tuple[str, ...]
    group: str


@dataclass(frozen=True)
class PublishedAssociation:
    """The table of group numbers: a column for each fragment, in their order."""

    relation: exp.Table | exp.Subquery
    groups: tuple[str, ...]
    fragments: tuple[PublishedFragment, ...]


def alike_in_group(fragment: PublishedFragment, attributes: Sequence[str]) -> exp.Select:
    """group_id: the groups with two rows that have the same values in these attributes (group heterogeneity)."""
    rows = _rows(fragment, attributes)
    alike = _repeated(exp.select(column("group_id")).from_(rows.subquery("part")), _parts(attributes))
    return exp.select(column("group_id")).distinct(copy=False).from_(alike.subquery("alike"))


def repeated_pairs(published: PublishedAssociation, fragment: int, other: int) -> exp.Select:
    """group_id, other_id: the pairs that the association has more than once (association heterogeneity)."""
    pairs = _pairs(published, fragment, other)
    return _repeated(exp.select(column("group_id"), column("other_id")).from_(pairs.subquery("pair")), ["other_id"])


def alike_in_linked(
    published: PublishedAssociation, fragment: int, other: int, attributes: Sequence[str]
) -> exp.Select:
    """group_id: the groups of a fragment linked to rows of the other that are alike in these attributes
    (deep heterogeneity).
    """
    rows = _linked(published, fragment, other, attributes)
    alike = _repeated(exp.select(column("group_id")).from_(rows.subquery("part")), _parts(attributes))
    return exp.select(column("group_id")).distinct(copy=False).from_(alike.subquery("alike"))


def linked_values(published: PublishedAssociation, fragment: int, other: int, attributes: Sequence[str]) -> exp.Select:
    """group_id, tuples: for each group of a fragment the different tuples of these attributes in the groups of the
    other that it is linked to; 0 where it is linked to none.
    """
    values = exp.select(exp.Star()).distinct(copy=False)
    values.from_(_linked(published, fragment, other, attributes).subquery("part"), copy=False)
    groups = _rows(published.fragments[fragment], []).distinct(copy=False)
    query = exp.select(column("group_id", "groups"), alias(f.count(column("linked", "values")), "tuples"))
    query.from_(groups.subquery("groups"), copy=False)
    query.join(values.subquery("values"), on=_same("group_id", "groups", "values"), join_type="LEFT", copy=False)
    return query.group_by(column("group_id", "groups"), copy=False)


def unmatched(published: PublishedAssociation, number: int) -> exp.Select:
    """group_id: the groups with other numbers of rows in a fragment than in the association, none included."""
    count = alias(f.count(), "n")
    rows = _rows(published.fragments[number], []).select(count).group_by(literal(1))
    links = exp.select(alias(column(published.groups[number]), "group_id"), count.copy())
    links = links.from_(published.relation.copy()).group_by(literal(1))
    query = exp.select(alias(f.coalesce(column("group_id", "rows"), column("group_id", "links")), "group_id"))
    query.from_(rows.subquery("rows"), copy=False)
    query.join(links.subquery("links"), on=_same("group_id", "rows", "links"), join_type="FULL", copy=False)
    differ = exp.NullSafeNEQ(this=column("n", "rows"), expression=column("n", "links"))
    return query.where(differ, copy=False)


def smallest_group(fragment: PublishedFragment) -> exp.Select:
    """How many rows the smallest group has; NULL where there is none."""
    count = alias(f.count(), "n")
    groups = _rows(fragment, []).select(count).group_by(literal(1))
    return exp.select(f.min(column("n"))).from_(groups.subquery("part"))


def _rows(fragment: PublishedFragment, attributes: Sequence[str]) -> exp.Select:
    """group_id, part_0, ...: a fragment's rows."""
    query = exp.select(alias(column(fragment.group), "group_id"))
    for index, name in enumerate(attributes):
        query.select(alias(column(name), f"part_{index}"), copy=False)
    return query.from_(fragment.relation.copy(), copy=False)


def _parts(attributes: Sequence[str]) -> list[str]:
    return [f"part_{index}" for index in range(len(attributes))]


def _pairs(published: PublishedAssociation, fragment: int, other: int) -> exp.Select:
    """group_id, other_id: a row for each row of the association."""
    columns = [
        alias(column(published.groups[number]), name) for number, name in ((fragment, "group_id"), (other, "other_id"))
    ]
    return exp.select(*columns).from_(published.relation.copy())


def _linked(published: PublishedAssociation, fragment: int, other: int, attributes: Sequence[str]) -> exp.Select:
    """group_id, linked (true), part_0, ...: for each group of a fragment the rows of the other that it is linked to."""
    pairs = _pairs(published, fragment, other).distinct(copy=False)
    query = exp.select(column("group_id", "pair"), alias(exp.true(), "linked"))
    query.select(*(column(name, "other") for name in _parts(attributes)), copy=False)
    query.from_(pairs.subquery("pair"), copy=False)
    on = identical(column("other_id", "pair"), column("group_id", "other"))
    return query.join(_rows(published.fragments[other], attributes).subquery("other"), on=on, copy=False)


def _repeated(query: exp.Select, besides: Sequence[str]) -> exp.Select:
    """The query's rows that occur more than once, each once."""
    return query.group_by(column("group_id"), *map(column, besides)).having(f.count() > 1, copy=False)


def _same(name: str, first: str, second: str) -> exp.Expr:
    return identical(column(name, first), column(name, second))
