"""Determines the reading of each column of a release, from the catalog or from an export's certificate."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.catalog import hierarchies as stored_hierarchies
from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.catalog.snapshot import hierarchies_of, policy_of, types_of
from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Attribute, HierarchyDefinition, Policy, Role
from sqlanon.domain.release import WITH_NOISE, Reading, Release, ReleaseObject
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.estimates.axes import axis_of
from sqlanon.estimates.release_model import BucketedColumns, Generalized, ReleaseModel, bucketed_value
from sqlanon.sources.column_types import ENUM
from sqlanon.sources.source import own_object
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import select, subquery
from sqlanon.sql.build.sql_files import Names, filled_query
from sqlanon.sql.cells.value_ranks import by_value
from sqlanon.sql.classes.buckets import people_of_buckets
from sqlanon.sql.hierarchies.base import builder, functional, values_at
from sqlanon.sql.release.recode import ENDS

_WHY = {
    Role.IDENTIFIER: "identifiers are not published",
    Role.ENTITY: "respondents are not published",
}
_BY_RANGE = "it is published as ranges by bucket"
_BY_ITEM = "it is published as labels of the items in lists"
# The readings of a column that shows a value or label of a source column in each row.
_RECODED = (Reading.LABEL, Reading.RANGE, Reading.CENTROID)
_OF_A_ROW = (Reading.EXACT, *_RECODED)


@dataclass(frozen=True)
class RecordedColumn:
    """A published column, its reading, and the source's column that it shows.

    `levels` are the levels that its labels may have; None means any level.
    """

    name: str
    reading: Reading
    source: str
    levels: tuple[int, ...] | None = None


@dataclass(frozen=True)
class RecordedTable:
    """A published table: its columns, and a query of its rows."""

    columns: Sequence[RecordedColumn]
    rows: exp.Query

    def having(self, *readings: Reading) -> list[RecordedColumn]:
        """Returns the columns with one of these readings."""
        return [part for part in self.columns if part.reading in readings]


@dataclass(frozen=True)
class Recorded:
    """The recorded description of a release.

    `types` has the types of the source's columns, by folded name. `stored` has the folded names of the hierarchies
    whose labels are available; for other stored hierarchies the values below a label are unknown.
    """

    name: str
    policy: Policy
    tables: Sequence[RecordedTable]
    types: Mapping[str, str]
    hierarchies: Mapping[str, tuple[HierarchyDefinition, int]]
    stored: frozenset[str]
    withheld: int | None

    def having(self, *readings: Reading) -> list[RecordedColumn]:
        """Returns the columns, in all tables, that have one of these readings."""
        return [part for table in self.tables for part in table.having(*readings)]


def published(recorded: Recorded, names: Sequence[str]) -> ReleaseModel:
    """Returns the model of a release for estimates; `names` are the names by which a query may call its source.

    The rows are the rows of the table that links the others, or else of the first table. In other tables, and in rows
    with buckets, values are known only by bucket, and each value belongs to one row of the source (Xiao and Tao,
    Anatomy, definition 3; De Capitani di Vimercati et al., Fragments and loose associations, 2010). A table without
    buckets or groups counts as one bucket of all rows.

    Raises PolicyError if the columns do not tell how the tables belong together.
    """
    if recorded.having(*WITH_NOISE):
        raise PolicyError(
            f"{recorded.name} is made of counts with noise, so nothing about its source is certain",
            hint="query the release in SQL; ESTIMATE SELECT ... UNDER BUDGET answers from the source, with noise",
        )
    rows = _with_stars(_rows(recorded))
    exact = {fold(part.source): part.name for part in rows.having(Reading.EXACT)}
    of_labels = {fold(attribute.name) for attribute in recorded.policy.attributes if attribute.is_coarse}
    recoded = [part for part in rows.having(*_RECODED) if fold(part.source) not in of_labels]
    generalized = {fold(part.source): _generalized(recorded, rows, part) for part in recoded}
    bucketed = tuple(_bucketed(recorded, rows))
    # If no column is known by row, all values are in the separate tables.
    separate = not rows.having(Reading.BUCKET) and (len(recorded.tables) > 1 or bool(bucketed))
    if separate and (exact or generalized):
        raise _do_not_fit(recorded)
    known = {*exact, *generalized, *(name for item in bucketed for name in item.columns)} - of_labels
    of_policy = {fold(attribute.name) for attribute in recorded.policy.attributes}
    counterfeits = _counterfeits(recorded)
    return ReleaseModel(
        name=recorded.name,
        rows=rows.rows if counterfeits is None else _people(rows, counterfeits),
        names=tuple(names),
        exact={name: column for name, column in exact.items() if name in of_policy},
        generalized=generalized,
        hidden=_reasons(recorded, known, "no fragment has it" if separate else "it is not published"),
        bucketed=bucketed,
        counterfeits=counterfeits,
        separate_tables=separate,
        withheld=recorded.withheld,
        enums=_enums(recorded),
    )


def _rows(recorded: Recorded) -> RecordedTable:
    """Returns the table that has the rows. Raises PolicyError if several tables show people."""
    if recorded.having(Reading.RESPONDENT):
        raise PolicyError(
            f"{recorded.name} shows people in several tables, and an estimate is of the rows of one",
            hint="query its tables in SQL, joined by the numbers of the people",
        )
    linking = [table for table in recorded.tables if table.having(Reading.LINK)]
    return (linking or recorded.tables)[0]


def _with_stars(table: RecordedTable) -> RecordedTable:
    """Returns the table in which `*` replaces the NULL of suppressed cells, because both may represent any value."""
    if not table.having(Reading.LABEL_OR_NULL):
        return table
    columns: list[exp.Expr] = []
    for part in table.columns:
        label = f.coalesce(as_text(column(part.name)), "*")
        is_label = part.reading is Reading.LABEL_OR_NULL
        columns.append(alias(label, part.name) if is_label else column(part.name))
    labels = (
        replace(part, reading=Reading.LABEL) if part.reading is Reading.LABEL_OR_NULL else part
        for part in table.columns
    )
    return RecordedTable(tuple(labels), select(*columns, of=subquery(table.rows, "published")))


def _bucketed(recorded: Recorded, rows: RecordedTable) -> Iterator[BucketedColumns]:
    """Yields the values of each table that are known only by bucket, with the numbers of rows that have them.

    A table's buckets correspond to the rows' column of buckets, and its groups to the rows' next link.
    """
    links = iter(rows.having(Reading.LINK))
    buckets = rows.having(Reading.BUCKET)
    if len(rows.having(Reading.LINK)) != len([table for table in recorded.tables if table.having(Reading.GROUP)]):
        raise _do_not_fit(recorded)
    for table in recorded.tables:
        values, groups, buckets_of_table = (
            table.having(reading) for reading in (Reading.BUCKET_VALUE, Reading.GROUP, Reading.BUCKET)
        )
        if not values:
            continue
        if buckets_of_table and (groups or not buckets):
            raise _do_not_fit(recorded)
        names = tuple(fold(part.source) for part in values)
        if not buckets_of_table:
            key, link = (groups[0].name, next(links).name) if groups else (None, None)
            yield BucketedColumns(names, _weighted(table, key, values), link)
        elif table is rows:
            bucket = buckets_of_table[0]
            yield BucketedColumns(names, _values_of_rows(table, bucket, values), bucket.name)
        else:
            yield BucketedColumns(names, _weighted(table, buckets_of_table[0].name, values), buckets[0].name)


def _counterfeits(recorded: Recorded) -> exp.Query | None:
    """Returns a query of the number of counterfeits of each bucket; None if the release has no table of
    counterfeits.
    """
    for table in recorded.tables:
        for part in table.having(Reading.COUNTERFEITS):
            [bucket] = table.having(Reading.BUCKET)
            # A file may have numbers as texts.
            text = "SELECT {bucket} AS bucket, CAST({number} AS BIGINT) AS n FROM published"
            names = {"bucket": bucket.name, "number": part.name}
            return filled_query(text, tables={"published": table.rows}, names=names)
    return None


def _people(table: RecordedTable, counterfeits: exp.Query) -> exp.Query:
    """Returns the rows of a release without its counterfeits.

    From each bucket, as many rows are removed as it has counterfeits. The query leaves out the values, so all rows of a
    bucket are equal, and no reader can identify the counterfeits.
    """
    if not table.having(Reading.BUCKET_VALUE):
        return table.rows
    [bucket] = table.having(Reading.BUCKET)
    columns = [part.name for part in table.having(*_OF_A_ROW)]
    return people_of_buckets(subquery(table.rows, "published"), bucket.name, counterfeits.copy(), columns)


def _do_not_fit(recorded: Recorded) -> PolicyError:
    return PolicyError(f"{recorded.name}: its columns do not determine how its tables are joined")


def _weighted(table: RecordedTable, key: str | None, values: Sequence[RecordedColumn]) -> exp.Query:
    """SELECT of the values of each bucket, and the number of rows that have them: the table's count, or 1 if the table
    has no count.
    """
    counts = table.having(Reading.COUNT)
    return filled_query(
        'SELECT $bucket AS bucket, {values} AS "{names}", CAST($count AS DOUBLE) AS weight FROM published',
        tables={"published": table.rows},
        names={
            "values": [part.name for part in values],
            "names": [bucketed_value(index) for index in range(len(values))],
        },
        bucket=column(key) if key else 0,
        count=column(counts[0].name) if counts else 1,
    )


def _values_of_rows(table: RecordedTable, bucket: RecordedColumn, values: Sequence[RecordedColumn]) -> exp.Query:
    """SELECT of the values of each row with its bucket. Equal values stay apart, because grouping takes longer than
    reading them.
    """
    text = 'SELECT {bucket} AS bucket, {values} AS "{names}", CAST(1 AS DOUBLE) AS weight FROM released'
    names = [bucketed_value(index) for index in range(len(values))]
    columns: Names = {"bucket": bucket.name, "values": [part.name for part in values], "names": names}
    return filled_query(text, tables={"released": table.rows}, names=columns)


def _reasons(recorded: Recorded, known: Collection[str], why: str) -> dict[str, str]:
    """Returns, for each column of the policy that is not in `known`, the reason why the release does not publish it.

    `why` is the reason for columns without a reason of their own.
    """
    reasons = {fold(part.source): _BY_RANGE for part in recorded.having(Reading.BUCKET_RANGE)}
    reasons |= {fold(part.source): _BY_ITEM for part in recorded.having(Reading.ITEM_LABELS)}
    hidden = {fold(attribute.name): attribute for attribute in recorded.policy.attributes}
    return {name: _why_hidden(item, reasons.get(name, why)) for name, item in hidden.items() if name not in known}


def _why_hidden(attribute: Attribute, why: str) -> str:
    if attribute.is_shifted:
        return "its dates are shifted"
    if attribute.is_coarse:
        return f"labels of {attribute.hierarchy} replace its values; count them in SQL"
    return "tokens replace its values" if attribute.pseudonym else _WHY.get(attribute.role, why)


def _enums(recorded: Recorded) -> frozenset[str]:
    return frozenset(name for name, kind in recorded.types.items() if kind == ENUM)


def _generalized(recorded: Recorded, table: RecordedTable, part: RecordedColumn) -> Generalized:
    """Returns a column whose labels represent several of the source's values, with the forms of its labels."""
    bound = _bound(recorded, _attribute(recorded, part), part.name)
    levels = tuple(range(bound.height + 1)) if part.levels is None else part.levels
    ends = _ends(table, part)
    missing = bound.hierarchy is not None and builder(bound.hierarchy.kind).STORED and not bound.stored
    if missing and (ends or part.reading is not Reading.LABEL):
        return Generalized(bound, (part.name,), ("any",))
    if bound.stored:
        forms, listed_levels = {
            Reading.LABEL: (("listed", "star"), levels),
            Reading.RANGE: (("listed_range",), ()),
            Reading.CENTROID: (("listed", "any"), ()),
        }[part.reading]
        return Generalized(bound, (part.name,), forms, levels=listed_levels)
    if ends and by_value(bound) and axis_of(bound.type):
        nulls = {Reading.RANGE: "range", Reading.LABEL: "star", Reading.CENTROID: "any"}[part.reading]
        return Generalized(bound, (part.name, *ends), ("bounds",), (nulls,))
    if part.reading is Reading.RANGE:
        return Generalized(bound, (part.name,), ("range" if by_value(bound) else "tree_range",))
    if part.reading is Reading.CENTROID:
        return Generalized(bound, (part.name,), ("any",))
    return Generalized(bound, (part.name,), _forms(bound, levels))


def _attribute(recorded: Recorded, part: RecordedColumn) -> Attribute:
    named = [attribute for attribute in recorded.policy.attributes if fold(attribute.name) == fold(part.source)]
    if not named:
        raise PolicyError(f"{recorded.name}: its policy has no column {part.source}")
    return named[0]


def _ends(table: RecordedTable, part: RecordedColumn) -> tuple[str, ...]:
    """Returns the names of the two columns with the ends of a column's range; empty unless both exist."""
    readings = (Reading.LOWER_BOUND, Reading.UPPER_BOUND)
    names = [
        bound.name
        for end, reading in zip(ENDS, readings, strict=True)
        for bound in table.having(reading)
        if fold(bound.name) == fold(f"{part.name}_{end}")
    ]
    return tuple(names) if len(names) == len(ENDS) else ()


def _bound(recorded: Recorded, attribute: Attribute, name: str) -> BoundAttribute:
    """Returns the bound column, without its stored hierarchy if the labels of this hierarchy are not available."""
    kind = recorded.types.get(fold(name), "")
    kind = "VARCHAR" if kind == ENUM else kind
    if attribute.hierarchy is None:
        return BoundAttribute(attribute, name, kind, kind)
    definition, height = recorded.hierarchies[fold(attribute.hierarchy)]
    stored = fold(attribute.hierarchy) in recorded.stored
    return BoundAttribute(attribute, name, kind, kind, definition, stored=stored, height=height)


def _forms(bound: BoundAttribute, levels: Sequence[int]) -> tuple[str, ...]:
    """Returns the forms of the labels at these levels."""
    forms: list[str] = []
    if 0 in levels:
        forms.append("value")
    if any(0 < level < bound.height for level in levels) and bound.hierarchy is not None:
        kind = bound.hierarchy.kind
        reading = "any" if builder(kind).STORED else functional(kind).READ_AS
        if reading == "any":
            return ("any",)
        if values_at(bound.hierarchy) in levels and "value" not in forms:
            forms.append("value")
        forms.append(reading)
    if bound.height in levels:
        forms.append("star")
    # A mask without stars is the text itself.
    return tuple(form for form in forms if not (form == "value" and "mask" in forms))


# The catalog's description of a release, for estimates, figures and attacks.


# The levels that the labels of a quasi-identifier may have, by its folded name; None for any.
Levels = Mapping[str, tuple[int, ...] | None]


def recorded(engine: Engine, release: Release, columns: Collection[str] = ()) -> Recorded:
    """Reads the catalog's description of a release.

    Raises PolicyError if one of `columns` (folded names) has labels of a stored hierarchy that has changed since the
    release was made.
    """
    policy, hierarchies = policy_of(release), hierarchies_of(release)
    stored = [h for h in hierarchies if builder(h.definition.kind).STORED]
    levels: Levels = {fold(a.name): a.levels or None for a in release.attributes if a.role is Role.QUASI_IDENTIFIER}
    used = {fold(a.hierarchy) for a in policy.quasi_identifiers if a.hierarchy and fold(a.name) in columns}
    of_labels = [h for h in stored if fold(h.definition.name) in used and _shows_labels(policy, h, levels)]
    require_same_hierarchies(engine, release, of_labels)
    return _recorded(engine, release, policy, hierarchies, levels)


def _recorded(
    engine: Engine, release: Release, policy: Policy, hierarchies: Sequence[StoredHierarchy], levels: Levels
) -> Recorded:
    return Recorded(
        name=str(release.name),
        policy=policy,
        tables=[_table(engine, release, made, levels) for made in release.published],
        types={fold(name): kind for name, kind in types_of(release).items()},
        hierarchies={fold(h.definition.name): (h.definition, h.height) for h in hierarchies},
        stored=frozenset(fold(h.definition.name) for h in hierarchies if builder(h.definition.kind).STORED),
        # The rows that a live view withholds change with its source, and their number is not visible.
        withheld=release.suppressed_rows if release.kind == "table" else None,
    )


def _table(engine: Engine, release: Release, made: ReleaseObject, levels: Levels) -> RecordedTable:
    """Returns a published table with the readings of its columns."""
    columns = [
        RecordedColumn(
            attribute.name, attribute.reading, attribute.source or attribute.name, levels.get(fold(attribute.name))
        )
        for attribute in release.attributes_of(made.fragment)
    ]
    return RecordedTable(columns, select(exp.Star(), of=relation(own_object(engine, made.name))))


def _shows_labels(policy: Policy, hierarchy: StoredHierarchy, levels: Levels) -> bool:
    """Whether a column with this hierarchy is shown at a level other than its values."""
    named = [
        a for a in policy.quasi_identifiers if a.hierarchy and fold(a.hierarchy) == fold(hierarchy.definition.name)
    ]
    return any(levels.get(fold(attribute.name)) != (0,) for attribute in named)


def require_same_hierarchies(engine: Engine, release: Release, hierarchies: Sequence[StoredHierarchy]) -> None:
    """Raises PolicyError if a hierarchy in the catalog has changed since the release was made."""
    if not hierarchies:
        return
    rows = stored_hierarchies.rows_of(engine, [hierarchy.definition.name for hierarchy in hierarchies])
    summaries = stored_hierarchies.summaries_of(engine, [row for named in rows.values() for row in named])
    again = f"create {release.name} again, or the hierarchy as it was"
    for hierarchy in hierarchies:
        name = hierarchy.definition.name
        try:
            now = stored_hierarchies.load(engine, name, hierarchy.digest, rows[fold(name)], summaries)
        except PolicyError:
            raise PolicyError(
                f"the hierarchy {name} of the release {release.name} no longer exists", hint=again
            ) from None
        if now.digest != hierarchy.digest:
            raise PolicyError(f"the hierarchy {name} was changed after {release.name} was made", hint=again)
