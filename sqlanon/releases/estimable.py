"""How each column of a release is to be read: from what the catalog, or an export's certificate, records of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.catalog.names import fold
from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.hierarchy import HierarchyDefinition
from sqlanon.domain.policy import Attribute, Policy, Role
from sqlanon.errors import PolicyError
from sqlanon.estimates.axes import axis_of
from sqlanon.estimates.release_model import BucketedColumns, Generalized, ReleaseModel, bucketed_value
from sqlanon.hierarchies.base import builder, functional
from sqlanon.inputs.column_types import ENUM
from sqlanon.methods.anatomy.tables import COUNT, VALUE
from sqlanon.sqlgen.build.names import alias, column, literal
from sqlanon.sqlgen.cells.value_ranks import by_value
from sqlanon.sqlgen.release.region_rows import BUCKET, ENDS

__all__ = ["Recorded", "RecordedFragment", "published"]

_METHODS = ("generalization", "mondrian", "anatomy", "fragments", "loose")
_WHY = {
    Role.IDENTIFIER: "identifiers are not published",
    Role.ENTITY: "respondents are not published",
}


@dataclass(frozen=True)
class RecordedFragment:
    """A table of columns of the source. Of a loose association it has the group of each row in the column `group`.

    `linked_by` is the column of the association with the groups of this fragment.
    """

    columns: Sequence[str]
    rows: exp.Query
    group: str | None = None
    linked_by: str | None = None


@dataclass(frozen=True)
class Recorded:
    """What is recorded of a release.

    `columns` are its own, `types` those of the source by their folded names. `levels` are
    the levels that a column's labels may be at, by folded names, None where any may occur.
    `stored` are the hierarchies whose labels are at hand, by folded names; those that are
    stored and are not among them say nothing of what is below a label. `buckets` are the tables
    (bucket, value, count) of columns whose values stand apart from the rows, by folded names.
    `fragments` are the tables of a release that keeps columns apart.
    """

    name: str
    policy: Policy
    method: str
    arguments: Mapping[str, object]
    columns: Sequence[str]
    types: Mapping[str, str]
    levels: Mapping[str, tuple[int, ...] | None]
    hierarchies: Mapping[str, tuple[HierarchyDefinition, int]]
    stored: frozenset[str]
    withheld: int | None
    buckets: Mapping[str, exp.Query] = field(default_factory=dict)
    fragments: Sequence[RecordedFragment] = ()


def published(recorded: Recorded, rows: exp.Query, names: Sequence[str]) -> ReleaseModel:
    """The release as an estimate reads it; `names` are those by which a query may call its source.

    Raises PolicyError for a method whose releases it does not know how to read.
    """
    if recorded.method not in _METHODS:
        raise PolicyError(
            f"{recorded.name} was made by METHOD {recorded.method}, whose releases cannot be estimated from",
            hint=f"there are: {', '.join(_METHODS)}",
        )
    if recorded.fragments:
        return _fragmented(recorded, rows, names)
    own = {fold(name): name for name in recorded.columns}
    exact: dict[str, str] = {}
    generalized: dict[str, Generalized] = {}
    hidden: dict[str, str] = {}
    together: dict[str, str] = {}
    apart: list[BucketedColumns] = []
    buckets = bool(recorded.buckets) or recorded.arguments.get("publish") == "none"
    for attribute in recorded.policy.attributes:
        name = fold(attribute.name)
        if name in recorded.buckets:
            apart.append(BucketedColumns((name,), _counted(recorded.buckets[name]), BUCKET))
        elif attribute.pseudonym or attribute.role in _WHY or name not in own:
            hidden[name] = _why_hidden(attribute)
        elif attribute.role is not Role.QUASI_IDENTIFIER:
            (together if buckets and attribute.role is Role.SENSITIVE else exact)[name] = own[name]
        elif buckets or recorded.levels.get(name) == (0,):
            exact[name] = own[name]
        else:
            generalized[name] = _generalized(recorded, attribute, own[name])
    return ReleaseModel(
        name=recorded.name,
        rows=rows,
        names=tuple(names),
        exact=exact,
        generalized=generalized,
        hidden=hidden,
        bucketed=(*apart, *([BucketedColumns(tuple(together), _buckets(rows, together), BUCKET)] if together else [])),
        withheld=recorded.withheld,
        enums=_enums(recorded),
    )


def _fragmented(recorded: Recorded, rows: exp.Query, names: Sequence[str]) -> ReleaseModel:
    """A release of fragments: nothing of a row is exact, and each fragment has the values of its groups.

    De Capitani di Vimercati et al., Fragments and loose associations, 2010: a row of the association is a row of
    the source, and has in each fragment the values of one row of its group there, none of which two rows have.
    Without an association every row may have any.
    """
    shown = {fold(name) for fragment in recorded.fragments for name in fragment.columns}
    hidden = {fold(a.name): a for a in recorded.policy.attributes if fold(a.name) not in shown}
    return ReleaseModel(
        name=recorded.name,
        rows=rows,
        names=tuple(names),
        exact={},
        generalized={},
        hidden={name: _why_hidden(attribute, "no fragment has it") for name, attribute in hidden.items()},
        bucketed=tuple(map(_dealt, recorded.fragments)),
        separate_tables=True,
        withheld=recorded.withheld,
        enums=_enums(recorded),
    )


def _dealt(fragment: RecordedFragment) -> BucketedColumns:
    """The rows of a fragment as the values of its groups: each row is one of a row of the source."""
    bucket = column(fragment.group) if fragment.group else literal(0)
    values = [alias(column(name), bucketed_value(place)) for place, name in enumerate(fragment.columns)]
    weight = exp.Cast(this=literal(1), to=exp.DataType.build("DOUBLE"))
    rows = exp.select(alias(bucket, "bucket"), *values, alias(weight, "weight"))
    own = tuple(fold(name) for name in fragment.columns)
    return BucketedColumns(own, rows.from_(fragment.rows.copy().subquery("fragment")), fragment.linked_by)


def _why_hidden(attribute: Attribute, why: str = "it is not published") -> str:
    return "tokens stand for its values" if attribute.pseudonym else _WHY.get(attribute.role, why)


def _enums(recorded: Recorded) -> frozenset[str]:
    return frozenset(name for name, kind in recorded.types.items() if kind == ENUM)


def _buckets(rows: exp.Query, bucketed: Mapping[str, str]) -> exp.Select:
    """The values that were dealt out in each bucket, and how many of its rows have them."""
    own = [column(name) for name in (BUCKET, *bucketed.values())]
    values = [alias(part.copy(), bucketed_value(place)) for place, part in enumerate(own[1:])]
    weight = exp.Cast(this=exp.Count(this=exp.Star()), to=exp.DataType.build("DOUBLE"))
    counted = exp.select(alias(own[0].copy(), "bucket"), *values, alias(weight, "weight"))
    return counted.from_(rows.copy().subquery("released")).group_by(*own)


def _counted(table: exp.Query) -> exp.Select:
    """The values dealt out in each bucket, from a table that has counted them (Xiao and Tao, Anatomy, definition 3)."""
    weight = exp.Cast(this=column(COUNT), to=exp.DataType.build("DOUBLE"))
    parts = (alias(column(BUCKET), "bucket"), alias(column(VALUE), bucketed_value(0)), alias(weight, "weight"))
    return exp.select(*parts).from_(table.copy().subquery("counted"))


def _generalized(recorded: Recorded, attribute: Attribute, name: str) -> Generalized:
    bound = _bound(recorded, attribute, name)
    if recorded.method == "mondrian":
        return _of_regions(recorded, bound)
    levels = recorded.levels.get(fold(name))
    levels = tuple(range(bound.height + 1)) if levels is None else levels
    if bound.stored:
        return Generalized(bound, (name,), ("listed", "star"), levels=levels)
    return Generalized(bound, (name,), _forms(bound, levels))


def _bound(recorded: Recorded, attribute: Attribute, name: str) -> BoundAttribute:
    """The column as it was bound. A stored hierarchy that is not at hand is none here: its labels say nothing."""
    kind = recorded.types.get(fold(name), "")
    kind = "VARCHAR" if kind == ENUM else kind
    if attribute.hierarchy is None:
        return BoundAttribute(attribute, name, kind, kind)
    definition, height = recorded.hierarchies[fold(attribute.hierarchy)]
    stored = fold(attribute.hierarchy) in recorded.stored
    return BoundAttribute(attribute, name, kind, kind, definition, stored=stored, height=height)


def _forms(bound: BoundAttribute, levels: Sequence[int]) -> tuple[str, ...]:
    """How to read the labels of these levels."""
    forms: list[str] = []
    if 0 in levels:
        forms.append("value")
    if any(0 < level < bound.height for level in levels) and bound.hierarchy is not None:
        kind = bound.hierarchy.kind
        reading = "any" if builder(kind).STORED else functional(kind).READ_AS
        if reading == "any":
            return ("any",)
        forms.append(reading)
    if bound.height in levels:
        forms.append("star")
    # A mask without stars is the text itself.
    return tuple(form for form in forms if not (form == "value" and "mask" in forms))


def _of_regions(recorded: Recorded, bound: BoundAttribute) -> Generalized:
    """A column that is recoded by regions."""
    publish = str(recorded.arguments.get("publish", "range"))
    hierarchy = bound.hierarchy
    missing = hierarchy is not None and builder(hierarchy.kind).STORED and not bound.stored
    if publish == "ancestor" and hierarchy is None:
        publish = "range"
    if missing:
        return Generalized(bound, (bound.column,), ("any",))
    if bound.stored:
        forms = {"range": ("listed_range",), "ancestor": ("listed", "star"), "centroid": ("listed", "any")}[publish]
        levels = tuple(range(bound.height + 1)) if publish == "ancestor" else ()
        return Generalized(bound, (bound.column,), forms, levels=levels)
    if recorded.arguments.get("bounds") is True and by_value(bound) and axis_of(bound.type):
        keys = (bound.column, *(f"{bound.column}_{end}" for end in ENDS))
        nulls = {"range": "range", "ancestor": "star", "centroid": "any"}[publish]
        return Generalized(bound, keys, ("bounds",), (nulls,))
    if publish == "range":
        return Generalized(bound, (bound.column,), ("range" if by_value(bound) else "tree_range",))
    if publish == "centroid":
        return Generalized(bound, (bound.column,), ("any",))
    every = tuple(range(bound.height + 1))
    return Generalized(bound, (bound.column,), _forms(bound, every))
