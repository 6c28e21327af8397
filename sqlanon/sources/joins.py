"""Joins of a policy's releases with another release, about which the policy has requirements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from sqlglot import exp

from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.identifiers import fold, listed, nearest
from sqlanon.domain.policy import Policy, Requirement
from sqlanon.domain.release import Measurement, Reading, ReleaseAttribute
from sqlanon.domain.values import QualifiedName, Value, written
from sqlanon.engines.base import Engine
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import PolicyError, UserError, about
from sqlanon.sources.bind_policy import bind, hierarchies_of, policy_source
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, union_all
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import select, subquery
from sqlanon.sql.build.sql_files import filled_select
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.cells.labels import generalized, level_name, occurring_values, stored_labels
from sqlanon.sql.classes.related import counted_columns, joined
from sqlanon.sql.hierarchies.base import builder
from sqlanon.sql.questions.arguments import with_names
from sqlanon.sql.questions.statistics import (
    BoundStatistic,
    bind_statistic,
    load_statistic,
    named_arguments,
    statistic_names,
)

# Requirements of the join of two releases: the files under `sql/joined/` (Wang and Fung 2006).


_KIND = "joined"


@dataclass(frozen=True)
class JoinedRequirement:
    """A requirement of a join with every parameter checked; it is about the values of Y that occur with values of X."""

    statistic: BoundStatistic
    x: tuple[str, ...]
    y: str

    @property
    def question_name(self) -> str:
        return self.statistic.question_name

    @property
    def required(self) -> float:
        """The number with which `achieved` is compared."""
        return float(str(self.statistic.arguments[0][1]))

    def __str__(self) -> str:
        numbers = ", ".join(f"{name} => {written(value)}" for name, value in self.statistic.arguments)
        return f"{self.question_name}(x => {listed(self.x)}, y => {listed((self.y,))[1:-1]}, {numbers})"


def is_of_join(requirement: Requirement) -> bool:
    """Whether a requirement is about the join of two releases, instead of classes."""
    return fold(requirement.model) in statistic_names(_KIND)


def with_argument_names(requirement: Requirement) -> Requirement:
    """Names all arguments of a requirement, about classes or a join. Raises the errors of `with_names`."""
    if not is_of_join(requirement):
        return with_names(requirement)
    arguments = named_arguments(load_statistic(_KIND, fold(requirement.model)), requirement.arguments)
    return replace(requirement, arguments=tuple(arguments.items()))


def of_join(policy: Policy) -> tuple[Requirement, ...]:
    """The requirements of a policy about the join with its other release.

    Raises PolicyError for requirements without such a release and for a release without such a requirement.
    """
    required = tuple(filter(is_of_join, policy.requirements))
    if required and policy.joined is None:
        raise PolicyError(
            f"{policy}: {required[0].model} is about the join with another release, but the policy names none",
            hint="name it before REQUIRE: JOINED WITH RELEASE other ON (column, ...)",
            part=("requirement", required[0].model),
        )
    if policy.joined is not None and not required:
        raise PolicyError(
            f"{policy}: no requirement is about the join with {policy.joined.release}",
            hint=f"require {' or '.join(statistic_names(_KIND))}, or make the policy again without JOINED",
            part=("other",),
        )
    if required and len(required) == len(policy.requirements) and not policy.confidential:
        raise PolicyError(
            f"{policy}: no requirement is about the classes of a release alone",
            hint="add k_anonymity(k => 5): not all readers have the other release",
            part=("requirement", required[0].model),
        )
    return required


def of_classes(requirements: Sequence[Requirement]) -> tuple[Requirement, ...]:
    """Returns the requirements that are about classes of rows."""
    return tuple(requirement for requirement in requirements if not is_of_join(requirement))


def bind_joined(requirements: Sequence[Requirement]) -> tuple[JoinedRequirement, ...]:
    """Checks the arguments of requirements of a join, and binds them.

    Raises UserError for an unknown requirement, and PolicyError for an argument that it does not take.
    """
    return tuple(map(_bound, requirements))


def _bound(requirement: Requirement) -> JoinedRequirement:
    name, names = fold(requirement.model), statistic_names(_KIND)
    if name not in names:
        raise UserError(
            f"{requirement.model!r} cannot be required of two releases",
            hint=nearest(name, names) or f"there are: {', '.join(names)}",
            part=("requirement", requirement.model),
        )
    statistic = load_statistic(_KIND, name)
    arguments = named_arguments(statistic, requirement.arguments)
    with about("requirement", requirement.model):
        x = _names(arguments.pop("x", None), "x", name)
        (y, *others) = _names(arguments.pop("y", None), "y", name)
        if others:
            raise PolicyError(f"{name}: y is one column", hint="write y => disease")
    return JoinedRequirement(bind_statistic(statistic, arguments, (y,)), tuple(x), y)


def _names(value: Value | None, argument: str, model: str) -> list[str]:
    """Reads one name or a list of names."""
    values = value if isinstance(value, tuple) else (value,)
    names = [part.parts[0] for part in values if isinstance(part, QualifiedName) and len(part.parts) == 1]
    if not names or len(names) != len(values):
        raise PolicyError(f"{model} needs {argument}, the name of a column", hint=f"write {argument} => name")
    return names


# The values that the join of two releases reaches in its requirements.


# Counts the rows of a side by the shared columns, and by its own columns of these names.
Counted = Callable[[Sequence[str]], exp.Query]
# The side (0 or 1) of each column of X, and then of Y.
Owners = tuple[int, ...]
_Columns = Mapping[str, ReleaseAttribute] | Mapping[str, str]


def owners(requirement: JoinedRequirement, names: Sequence[QualifiedName], columns: Sequence[_Columns]) -> Owners:
    """Finds which of two releases has each column that a requirement names.

    `names` are the releases, and `columns` their columns by folded names. Raises UserError for a column that neither
    release has, and PolicyError for a column that both have, and if one release has all columns.
    """
    with about("requirement", requirement.question_name):
        found_in: list[int] = []
        for name in (*requirement.x, requirement.y):
            holders = [i for i, known in enumerate(columns) if fold(name) in known]
            if len(holders) > 1:
                raise PolicyError(
                    f"both {names[0]} and {names[1]} have a column {name}, and each may show another label of it",
                    hint="name columns that only one of them has: a query, ON (SELECT ... AS ...), gives another name",
                )
            if not holders:
                every_name = [other for known in columns for other in known]
                raise UserError(f"neither release has a column {name}", hint=nearest(name, every_name))
            found_in.append(holders[0])
        if len(set(found_in)) == 1:
            raise PolicyError(
                f"x and y are columns of {names[found_in[0]]} alone, which its own requirements are about",
                hint="let one of them be a column that only the other release has",
            )
    return tuple(found_in)


def measured(
    engine: Engine,
    requirements: Sequence[JoinedRequirement],
    owner_lists: Sequence[Owners],
    sides: Sequence[Counted],
    keys: int,
) -> tuple[Measurement, ...]:
    """Measures each requirement by two sides with `keys` shared columns; `owner_lists` says which side has each column.

    Requirements with the same X and Y read one join.
    """
    together: dict[tuple[tuple[str, ...], str], list[int]] = {}
    for index, requirement in enumerate(requirements):
        together.setdefault((tuple(map(fold, requirement.x)), fold(requirement.y)), []).append(index)
    measurements: dict[int, Measurement] = {}
    for indexes in together.values():
        join = _join(requirements[indexes[0]], owner_lists[indexes[0]], sides, keys)
        figures = [
            select(
                alias(literal(index), "place"),
                column("achieved"),
                column("satisfied"),
                of=subquery(requirements[index].statistic.statement("figures", {"joined": "joined"}), "figures"),
            )
            for index in indexes
        ]
        query = select(exp.Star(), of=subquery(union_all(figures), "reached"))
        for index, achieved, satisfied in engine.rows(with_steps(query, [("joined", join)])):
            of = requirements[int(index)]
            reached = None if achieved is None else float(achieved)
            measurements[int(index)] = Measurement(of.question_name, of.y, of.required, reached, bool(satisfied))
    return tuple(measurements[index] for index in range(len(requirements)))


def _join(requirement: JoinedRequirement, of_columns: Owners, sides: Sequence[Counted], keys: int) -> exp.Query:
    """Returns joined(x, y, n), the join that a requirement measures."""
    names: list[list[str]] = [[], []]
    columns: list[tuple[int, int]] = []
    for name, side in zip((*requirement.x, requirement.y), of_columns, strict=True):
        columns.append((side, len(names[side])))
        names[side].append(fold(name))
    counted = [side(of_side) for side, of_side in zip(sides, names, strict=True)]
    return joined(counted, keys, columns[:-1], columns[-1])


# A side of a join: a release's rows, counted by the shared columns at its own levels or coarser ones.


@dataclass
class Side:
    """A release of one table or view, or a candidate for one, as a side of a join.

    `columns` are its columns by folded names, and `hierarchies` are the hierarchies with which it was made. `recoded`
    are columns that show labels of several levels. `coarser` has, by column and level, the name of a table of its
    labels and their ancestors.
    """

    engine: Engine
    temp: TempTables
    name: QualifiedName
    rows: exp.Table
    policy: Policy
    hierarchies: Sequence[StoredHierarchy]
    columns: Mapping[str, ReleaseAttribute]
    recoded: frozenset[str] = frozenset()
    coarser: dict[tuple[str, int], str] = field(default_factory=dict)

    def require_comparable(self, name: str) -> None:
        """Raises PolicyError for a shared column that the release lacks, or that does not show labels of a single
        level.
        """
        if name not in self.columns:
            with about("column", name):
                raise PolicyError(
                    f"{self.name} has no column {name}: without a column that both releases show, everything "
                    "matches everything",
                    hint=nearest(name, list(self.columns)),
                )
        attribute = self.columns[name]
        if attribute.level is None and attribute.reading is not Reading.EXACT:
            raise incomparable(name, f"{self.name} shows it by no level of a hierarchy")
        if name in self.recoded:
            raise incomparable(name, f"{self.name} shows it by several levels of a hierarchy")

    def level(self, name: str) -> int:
        return self.columns[name].level or 0

    def is_hidden(self, name: str) -> bool:
        """Whether a column shows `*` in all rows, which matches every value."""
        return 0 < self.level(name) == self.columns[name].height

    def hierarchy(self, name: str) -> StoredHierarchy | None:
        """The hierarchy of a column as it was when the release was made."""
        called = self.columns[name].hierarchy
        known = {fold(stored.definition.name): stored for stored in self.hierarchies}
        return known.get(fold(called)) if called else None

    def counted(self, levels: Mapping[str, int], names: Sequence[str]) -> exp.Select:
        """Returns the rows, counted by the shared columns, at their own levels or above, and by the columns `names`."""
        lifted = {name: self._coarser(name, level) for name, level in levels.items() if level != self.level(name)}
        own_labels = {name: column(self.columns[name].name, "side") for name in (*levels, *names)}
        keys = [column("label", f"coarser_{name}") if name in lifted else as_text(own_labels[name]) for name in levels]
        columns, groups = counted_columns(keys, [own_labels[name] for name in names], f.count())
        return filled_select(
            'SELECT $columns FROM side JOIN "{tables}" AS "{of}"'
            ' ON CAST($labels AS VARCHAR) IS NOT DISTINCT FROM "{of}".shown GROUP BY $groups',
            tables={"side": self.rows},
            names={"tables": [*lifted.values()], "of": [f"coarser_{name}" for name in lifted]},
            columns=columns,
            labels=[own_labels[name] for name in lifted],
            groups=groups,
        )

    def _coarser(self, name: str, level: int) -> str:
        """Returns the name of a table of shown and label: each label of a column, and its ancestor at a level."""
        if (name, level) not in self.coarser:
            self.coarser[name, level] = self._lifted(name, level)
        return self.coarser[name, level]

    def _lifted(self, name: str, level: int) -> str:
        attribute, here = self.columns[name], self.level(name)
        b, occurring = self._values(name)
        tree = subquery(generalized(b, occurring, stored_labels(b), counted=False), "tree")
        shown_label = column(level_name(here)) if here else as_text(column("value"))
        pairs = select(alias(shown_label, "shown"), alias(column(level_name(level)), "label"), distinct=True, of=tree)
        table = self.temp.table("coarser", pairs)
        known = select(column("shown"), of=relation(table))
        labels = select(as_text(column(attribute.name)), of=self.rows)
        missing = subquery(exp.except_(labels, known, distinct=True), "missing")
        if self.engine.rows(select(literal(1), of=missing, limit=1)):
            raise incomparable(name, f"the source of {self.name} has changed")
        several = known.group_by(column("shown")).having(f.count() > 1).limit(1)
        if self.engine.rows(several):
            raise incomparable(name, f"a label of {self.name} lies below several others")
        return table

    def _values(self, name: str) -> tuple[BoundAttribute, exp.Select]:
        """Returns a column as an attribute with labels, and its values: the values of the release, or the values of its
        source.
        """
        attribute, stored = self.columns[name], self.hierarchy(name)
        if stored is not None and self.level(name) == 0:
            kinds = dict(self.engine.columns(select(exp.Star(), of=self.rows)))
            known = next(a for a in self.policy.attributes if fold(a.name) == fold(attribute.source or attribute.name))
            kind, definition = kinds[attribute.name], stored.definition
            is_stored = builder(definition.kind).STORED
            b = BoundAttribute(known, attribute.name, kind, kind, definition, is_stored, stored.height)
            return b, _occurring(b, self.rows)
        source = policy_source(self.engine, self.policy, self.temp)
        bound = bind(self.policy, source, hierarchies_of(self.engine, self.policy), fingerprint="")
        column_name = fold(attribute.source or attribute.name)
        b = next(b for b in bound.quasi_identifiers if fold(b.column) == column_name)
        return b, occurring_values(b, bound.relation)


def _occurring(b: BoundAttribute, rows: exp.Table) -> exp.Select:
    text = 'SELECT {value} AS value, count(*) AS n FROM "{rows}" GROUP BY {value}'
    return filled_select(text, names={"value": b.column, "rows": rows})


def require_same_hierarchy(engine: Engine, sides: Sequence[Side], name: str) -> None:
    """Raises PolicyError unless a column has the same hierarchy in both releases and in the catalog."""
    known = [side.hierarchy(name) for side in sides]
    now = {h.digest for h in hierarchies_of(engine, sides[0].policy).values()}
    if None in known or len({h.digest for h in known if h}) > 1 or any(h and h.digest not in now for h in known):
        raise incomparable(name, "its hierarchy differs between the releases, or has changed")


def incomparable(name: str, why: str) -> PolicyError:
    return PolicyError(
        f"labels of {name} cannot be compared: {why}",
        hint="join releases by generalization on columns of one hierarchy, whose sources are as they were",
        part=("column", name),
    )


# Counts the rows of the policy's release by the shared columns at these levels, and by further columns.
OwnRows = Callable[[Mapping[str, int], Sequence[str]], exp.Query]


@dataclass
class Join:
    """A join with an existing release, `other`, by which any rows of the new release can be measured.

    `shared` has the columns that both show, by folded names, each with the number of its top level. `owners` says for
    each column of a requirement whether it is the new release's (0) or the other's (1). The other's rows are counted
    once for each combination of levels; `counted` has the tables.
    """

    other: Side
    shared: Mapping[str, int]
    requirements: tuple[JoinedRequirement, ...]
    owners: tuple[Owners, ...]
    counted: dict[object, str] = field(default_factory=dict)

    @property
    def name(self) -> QualifiedName:
        return self.other.name

    @property
    def own_columns(self) -> tuple[str, ...]:
        """The folded names of the new release's columns that requirements name."""
        named = (
            fold(name)
            for requirement, of_columns in zip(self.requirements, self.owners, strict=True)
            for name, side in zip((*requirement.x, requirement.y), of_columns, strict=True)
            if side == 0
        )
        return tuple(dict.fromkeys(named))

    def levels(self, own_levels: Mapping[str, int]) -> dict[str, int]:
        """Returns the level at which each shared column is compared: the coarser of the two releases' levels.

        A column that shows only `*` in one of the releases is left out, because it matches everything.
        """
        return {
            name: max(own_levels[name], self.other.level(name))
            for name, top in self.shared.items()
            if own_levels[name] < top and not self.other.is_hidden(name)
        }

    def measured(self, own_levels: Mapping[str, int], rows: OwnRows) -> tuple[Measurement, ...]:
        """Measures each requirement by rows that show the shared columns at these levels."""
        levels = self.levels(own_levels)
        sides: list[Counted] = [partial(rows, levels), partial(self._of_other, levels)]
        return measured(self.other.engine, self.requirements, self.owners, sides, len(levels))

    def _of_other(self, levels: Mapping[str, int], names: Sequence[str]) -> exp.Select:
        known = (tuple(levels.items()), tuple(names))
        if known not in self.counted:
            self.counted[known] = self.other.temp.table("other_side", self.other.counted(levels, names))
        return select(exp.Star(), of=relation(self.counted[known]))
