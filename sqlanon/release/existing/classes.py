"""The classes of a release by any method. A class is a set of rows that a reader cannot distinguish."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.catalog.snapshot import hierarchies_of, policy_of
from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Attribute, Policy, Role
from sqlanon.domain.release import Reading, Release
from sqlanon.engines.base import Column, Engine
from sqlanon.errors import CatalogError, InternalError, PolicyError, PrivacyViolation
from sqlanon.sources.bind_policy import bind
from sqlanon.sources.column_types import list_column, most_items, sensitive_items
from sqlanon.sources.source import BoundSource, own_object
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.classes.buckets import BucketRows, BucketValues, bucket_rows, rows_of_buckets, values_of_table
from sqlanon.sql.classes.related import PeopleTable, rows_of_people
from sqlanon.sql.classes.rows import Lists, Rows, RowsOfRequirements, SqlRequirement, rows_of
from sqlanon.sql.questions.ask import BoundRequirement
from sqlanon.sql.questions.models import by_known

# People in a release of several tables: one table has the people, the other tables have rows about them.


def people_in_no_class(release: object) -> PolicyError:
    """Returns the error for a question about classes of rows of a release that shows people in several tables."""
    return PolicyError(
        f"{release} shows people in several tables, so one row does not determine a person's class",
        hint="CHECK recomputes its requirements",
    )


def shows_people(release: Release) -> bool:
    """Whether a release shows people, identified by numbers, in several tables."""
    return any(attribute.reading is Reading.RESPONDENT for attribute in release.attributes)


def tells_rows_apart(release: Release) -> bool:
    """Whether the classes are buckets of rows with unchanged quasi-identifiers, which only break the link between rows
    and sensitive values.
    """
    known = {fold(attribute.name) for attribute in policy_of(release).quasi_identifiers}
    readings = {a.reading for a in release.attributes if fold(a.source or a.name) in known}
    return readings == {Reading.EXACT} and any(a.reading is Reading.BUCKET for a in release.attributes)


@dataclass(frozen=True)
class PeopleColumns:
    """The columns of each published table with their readings, by the suffix of the table's name.

    `sensitive` has the columns of all tables that requirements may name.
    """

    policy: Policy
    columns: Mapping[str, Sequence[tuple[str, Reading]]]
    sensitive: tuple[str, ...]

    def rows(
        self,
        sources: Mapping[str, exp.Table | exp.Subquery],
        requirements: Sequence[SqlRequirement],
        indexes: Sequence[int],
    ) -> list[RowsOfRequirements]:
        """Returns the people in their classes for each kind of knowledge that a requirement assumes; the result is
        empty unless `sources` has all tables.
        """
        names = self.policy.tables_in_order(tuple(sources))
        if names is None:
            return []
        people, *related = (self._table(name, sources[name]) for name in names)
        bound = [requirement for requirement in requirements if isinstance(requirement, BoundRequirement)]
        if len(bound) < len(requirements):
            raise InternalError("something else than requirements is asked of people in several tables")
        parts: list[RowsOfRequirements] = []
        for known, of_known in by_known(bound).items():
            if at := tuple(index for index in of_known if index in indexes):
                parts.append(RowsOfRequirements(rows_of_people(people, related, known.knows, known.most), at))
        return parts

    def _table(self, name: str, rows: exp.Table | exp.Subquery) -> PeopleTable:
        """Returns a table with its columns. Raises CatalogError unless exactly one column has the numbers of people."""
        roles = {fold(attribute.name): attribute.role for attribute in self.policy.all_attributes}
        spelled = {fold(each): each for each in self.sensitive}
        columns = self.columns.get(name, ())
        numbers = [column for column, reading in columns if reading is Reading.RESPONDENT]
        if len(numbers) != 1:
            raise CatalogError(f"the table {name} has {len(numbers)} columns with numbers of people, and not one")
        others = [column for column, reading in columns if reading is not Reading.RESPONDENT]
        labels = tuple(column for column in others if roles.get(fold(column)) is Role.QUASI_IDENTIFIER)
        return PeopleTable(rows, numbers[0], labels, tuple(spelled[fold(c)] for c in others if fold(c) in spelled))


@dataclass(frozen=True)
class ReleaseClasses:
    """The classes of a release's rows.

    `bound` has the columns that determine classes as quasi-identifiers, and the sensitive attributes. For a release of
    several tables, `values` maps each sensitive attribute to its table, and `bucket_rows` gives the rows if some of
    them are counterfeits. `columns` are the published columns. `people` is set if people are in several tables.
    """

    bound: BoundPolicy
    values: Mapping[str, BucketValues]
    columns: tuple[Column, ...]
    bucket_rows: BucketRows | None = None
    people: PeopleColumns | None = None

    def rows(
        self,
        sources: Mapping[str | None, exp.Table | exp.Subquery],
        requirements: Sequence[SqlRequirement],
        indexes: Sequence[int] | None = None,
        guards: Mapping[str, str] | None = None,
    ) -> list[RowsOfRequirements]:
        """Returns the released rows in the tables `sources` (by fragment) as `RowsOfRequirements`: rows in classes,
        with the indexes of the requirements that they answer.

        `indexes` selects the requirements or statistics to answer, by default all; `guards` maps a column of guarding
        nodes to the released column that has them.
        """
        indexes = tuple(range(len(requirements)) if indexes is None else indexes)
        if not requirements:
            return []
        if self.people is not None:
            return self.people.rows({name or "": rows for name, rows in sources.items()}, requirements, indexes)
        if self.values:
            named = {name: source for name, source in sources.items() if name is not None}
            return list(rows_of_buckets(named, requirements, indexes, self.values, rows=self.bucket_rows))
        keys = [(b.column, b.published_type) for b in self.bound.quasi_identifiers]
        types = {b.column: b.published_type for b in self.bound.counted}
        return rows_of_each(
            requirements, indexes, keys, types, lambda names: rows_with_keys(self.bound, sources[None], names, guards)
        )


def rows_of_each(
    requirements: Sequence[SqlRequirement],
    indexes: Sequence[int],
    keys: Sequence[Column],
    types: Mapping[str, str],
    rows: Callable[[Sequence[str]], Rows],
) -> list[RowsOfRequirements]:
    """Returns rows in classes for the requirements at `indexes`; requirements with the same classes share a grouping.

    `rows` returns the rows in classes by some of the columns `keys`; `types` has the types of the sensitive columns.
    For requirements on sets of items, the classes are by all columns except the lists. Raises PolicyError unless
    exactly one column has lists.
    """
    of_items = {
        index: r for index in indexes if isinstance(r := requirements[index], BoundRequirement) and r.of_itemsets
    }
    of_classes = tuple(index for index in indexes if index not in of_items)
    parts = [RowsOfRequirements(rows([name for name, _ in keys]), of_classes)] if of_classes else []
    for index, requirement in of_items.items():
        listed = list_column(requirement, keys)
        others = rows([name for name, _ in keys if name != listed])
        sensitive = [sensitive_items(others.value(name), types[name]) for name in requirement.attributes]
        lists = Lists(column(listed), most_items(requirement), *sensitive)
        parts.append(RowsOfRequirements(replace(others, lists=lists), (index,)))
    return parts


def rows_with_keys(
    bound: BoundPolicy,
    source: exp.Table | exp.Subquery,
    keys: Sequence[str],
    guards: Mapping[str, str] | None = None,
    entity: str | None = None,
) -> Rows:
    """Returns the rows of `source` in classes by the columns `keys`; it must have the sensitive attributes under their
    names.

    `guards` maps a column of guarding nodes to the column of `source` that has them; `entity` is the column of the
    respondents.
    """
    columns = {b.column: b.column for b in bound.counted} | dict(guards or {})
    return rows_of(source, keys, {name: column(source_name) for name, source_name in columns.items()}, entity)


def classes_of(engine: Engine, release: Release) -> ReleaseClasses:
    """Returns the classes of a release, by the policy stored with it.

    Raises PolicyError for tables without buckets, because their rows are in no class, PrivacyViolation if the release
    lacks columns that its policy publishes, and EngineError if it cannot be read.
    """
    if shows_people(release):
        raise people_in_no_class(release.name)
    if release.has_noise:
        raise PolicyError(
            f"{release.name} is made of counts with noise: its rows represent no people and are in no classes",
            hint="CHECK shows its promise, which holds against any reader",
        )
    several = any(made.fragment is not None for made in release.published)
    if several and not any(a.reading is Reading.BUCKET for a in release.attributes):
        raise PolicyError(
            f"{release.name} shows its rows in several tables without buckets, so they are in no classes",
            hint="use MEASURE ... WITH FIGURES (membership), or ESTIMATE",
        )
    columns = tuple(_published_columns(engine, release))
    bound = _bound(engine, release, _policy_of_classes(policy_of(release), release), columns)
    tables = {made.fragment or "": _readings(release, made.fragment) for made in release.published}
    return ReleaseClasses(bound, _values(release, bound), columns, bucket_rows(tables))


def _readings(release: Release, fragment: str | None) -> list[tuple[str, Reading]]:
    return [(attribute.name, attribute.reading) for attribute in release.attributes_of(fragment)]


def classes_of_people(engine: Engine, release: Release) -> ReleaseClasses:
    """Returns a release of people in several tables, whose classes depend on the knowledge that a requirement assumes.

    Raises the errors of `classes_of`.
    """
    policy, columns = policy_of(release), tuple(_published_columns(engine, release))
    # The columns are bound without hierarchies, because labels have another type than the values that a hierarchy fits.
    roles = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
    attributes = tuple(Attribute(a.name, a.role) for a in policy.all_attributes if any(map(a.has, roles)))
    bound = _bound(engine, release, replace(policy, attributes=attributes, related=()), columns)
    tables = {made.fragment or "": _readings(release, made.fragment) for made in release.published}
    people = PeopleColumns(policy, tables, tuple(b.column for b in bound.sensitive))
    return ReleaseClasses(bound, {}, columns, people=people)


def no_classes(engine: Engine, release: Release) -> ReleaseClasses:
    """Returns a release whose rows are not in classes, as `ReleaseClasses` without quasi-identifiers.

    Raises the errors of `classes_of`.
    """
    columns = tuple(_published_columns(engine, release))
    return ReleaseClasses(_bound(engine, release, replace(policy_of(release), attributes=()), columns), {}, columns)


def not_released(release: Release, error: PolicyError) -> PrivacyViolation:
    """Returns the error for a release that does not fit the policy stored with it."""
    return PrivacyViolation(
        f"{release.name} was changed after it was released: {error.message}", hint="create it again"
    )


def _bound(engine: Engine, release: Release, policy: Policy, columns: tuple[Column, ...]) -> BoundPolicy:
    hierarchies = {fold(stored.definition.name): stored for stored in hierarchies_of(release)}
    source = BoundSource(columns, own_object(engine, release.published[0].name), None, stable=False, of_release=True)
    try:
        return bind(policy, source, hierarchies, fingerprint="")
    except PolicyError as error:
        raise not_released(release, error) from None


def _published_columns(engine: Engine, release: Release) -> Iterator[Column]:
    """Yields the published columns with their types, without repetition.

    In a release of several tables, columns have the names of the source's columns. So a sensitive attribute has its own
    name, not the name of the column of values.
    """
    known: set[str] = set()
    for made in release.published:
        columns = engine.columns(select(exp.Star(), of=relation(own_object(engine, made.name))))
        behind = {fold(a.name): a.source for a in release.attributes_of(made.fragment)}
        for name, kind in columns:
            named = behind.get(fold(name)) or name
            if fold(named) not in known:
                known.add(fold(named))
                yield named, kind


def _policy_of_classes(policy: Policy, release: Release) -> Policy:
    """Returns the policy by which a release is checked: the columns that determine its classes, and the sensitive
    columns.

    A method may add columns to the policy's quasi-identifiers, or replace them by one.
    """
    buckets = any(a.reading is Reading.BUCKET for a in release.attributes)
    keys = dict.fromkeys(() if buckets else (a.name for a in policy.quasi_identifiers))
    known = {fold(name) for name in keys}
    keys |= dict.fromkeys(
        a.name for a in release.attributes if a.role is Role.QUASI_IDENTIFIER and fold(a.name) not in known
    )
    quasi = [Attribute(name, Role.QUASI_IDENTIFIER) for name in keys]
    # Weights are published unchanged or not at all.
    published_as_is = {fold(a.name) for a in release.attributes if a.reading is Reading.EXACT}
    weights = [a for a in policy.attributes if a.sampling_weight and fold(a.name) in published_as_is]
    return replace(policy, attributes=(*quasi, *policy.having(Role.SENSITIVE), *weights))


def _values(release: Release, bound: BoundPolicy) -> dict[str, BucketValues]:
    """Finds the table of values of each sensitive attribute; empty for a release of one table or view."""
    names = {made.fragment for made in release.published}
    if names == {None}:
        return {}
    sensitive = [b.column for b in bound.sensitive]
    values: dict[str, BucketValues] = {}
    for name in names:
        columns = [(a.name, a.source, a.reading) for a in release.attributes_of(name)]
        values |= values_of_table(name or "", columns, sensitive)
    bucketed = {a.fragment for a in release.attributes if a.reading is Reading.BUCKET}
    if set(values) != set(sensitive) or bucketed != names:
        raise CatalogError(
            f"release {release.name}: its rows in the catalog do not say which of its tables has which values",
            hint="they were changed by hand: create the release again",
        )
    return {name: values[name] for name in sensitive}
