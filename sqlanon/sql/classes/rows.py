"""Describes rows in classes, which are rows of a release or of any relation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sqlglot import exp

from sqlanon.errors import InternalError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import entry, total
from sqlanon.sql.build.names import alias, column, identifier, literal, relation
from sqlanon.sql.build.queries import select, subquery
from sqlanon.sql.build.sql_files import filled_query, query_file
from sqlanon.sql.build.steps import Step
from sqlanon.sql.cells.cells import respondents

# The interface of a requirement for queries: its statements, and the normal relations that they read.


# Relations about one sensitive attribute, or several jointly, and relations about one requirement's own arguments.
PER_SUBJECT = ("class_sensitive_value", "sensitive_value", "sensitive_ancestor", "sensitive_number")
_PER_SUBJECT = frozenset(PER_SUBJECT)
PER_REQUIREMENT = ("value_range", "known_triple", "guarded", "guarding_node", "class_itemset", "class_itemset_value")

# Relations with rows for each class.
PER_CLASS = ("equivalence_class", "class_sensitive_value", "guarded", "superset")
# The key, among the names of a requirement on some quasi-identifiers, of the relation that maps each class by all
# quasi-identifiers to its class by these.
WHOLE = "whole_class"

# An expression for the class by a set of quasi-identifiers that contains a class_id.
Projected = Callable[[exp.Expr, Sequence[str]], exp.Expr]

# A requirement that reads these judges a class by rows outside it.
_OF_OTHERS = ("sensitive_value", "public_class")


class SqlRequirement(Protocol):
    """A requirement that can be checked on normal relations."""

    @property
    def question_name(self) -> str: ...

    @property
    def reads(self) -> Sequence[str]:
        """The normal relations that the requirement's statements read."""
        ...

    @property
    def attributes(self) -> Sequence[str]:
        """The sensitive columns of the requirement, several if their values count jointly; empty if it is about
        none.
        """
        ...

    @property
    def on(self) -> Sequence[str]:
        """The quasi-identifiers by which the requirement's classes are formed; empty for all quasi-identifiers."""
        ...

    @property
    def within(self) -> Sequence[tuple[str, int]] | None:
        """The quasi-identifiers, each with its level, of the one broader class that a class is compared with.

        None if a class is compared with all broader classes, or with none.
        """
        ...

    @property
    def of_whole_release(self) -> bool:
        """Whether the requirement is about all classes of a release together."""
        ...

    def satisfied_by(self, rows: int) -> bool:
        """Whether a class of `rows` rows, each about another respondent, always satisfies the requirement."""
        ...

    def statement(self, name: str, relations: Mapping[str, str]) -> exp.Select:
        """Returns the statement `achieved` or `violations`; `relations` replaces normal relations by name."""
        ...


def subjects(requirements: Sequence[SqlRequirement]) -> list[tuple[str, ...]]:
    """Returns the distinct subjects of requirements: sensitive columns, each alone or several jointly."""
    return list(dict.fromkeys(tuple(r.attributes) for r in requirements if not _PER_SUBJECT.isdisjoint(r.reads)))


def by_attribute(requirements: Sequence[SqlRequirement], attributes: Sequence[str]) -> dict[str, list[int]]:
    """Returns, for each attribute, the indexes of the requirements about it.

    The first attribute also has the requirements about no attribute, such as those on the size of classes.
    """
    indexes: dict[str, list[int]] = {name: [] for name in attributes}
    for index, requirement in enumerate(requirements):
        indexes[requirement.attributes[0] if requirement.attributes else attributes[0]].append(index)
    return indexes


def projections(requirements: Sequence[SqlRequirement]) -> list[tuple[str, ...]]:
    """Returns the distinct sets of quasi-identifiers that requirements name in `on`, without the set of all
    quasi-identifiers.
    """
    return list(dict.fromkeys(tuple(r.on) for r in requirements if r.on))


def by_projection(requirements: Sequence[SqlRequirement]) -> dict[tuple[str, ...], list[int]]:
    """Returns the indexes of the requirements on each set of quasi-identifiers; the empty set means all of them."""
    indexes: dict[tuple[str, ...], list[int]] = {}
    for index, requirement in enumerate(requirements):
        indexes.setdefault(tuple(requirement.on), []).append(index)
    return indexes


def class_of_set(number: int) -> str:
    """Returns the name of the relation that maps each class to its class by set `number` of `projections`."""
    return f"class_of_set_{number}"


def relation_names(requirements: Sequence[SqlRequirement], *, whole: bool = False) -> list[dict[str, str]]:
    """Returns, for each requirement, the names of the relations that replace the normal relations.

    `class_sensitive_value_0` belongs to the first subject, and `value_range_2` to the third requirement; a relation
    that all share keeps its name. `equivalence_class_on_0` has the classes by the first set of `projections`. If
    `whole` is true, the relation from which it is made is returned instead: class_of_set_0, or a relation of the
    classes by all quasi-identifiers.
    """
    numbers = {subject: number for number, subject in enumerate(subjects(requirements))}
    sets = projections(requirements)
    named = []
    for index, requirement in enumerate(requirements):
        subject = numbers.get(tuple(requirement.attributes))
        names = {
            relation: f"{relation}_{subject}"
            if relation in PER_SUBJECT
            else f"{relation}_{index}"
            if relation in PER_REQUIREMENT or (relation == "superset" and requirement.within is not None)
            else relation
            for relation in requirement.reads
        }
        if requirement.on:
            number = sets.index(tuple(requirement.on))
            if not whole:
                names = {kind: f"{name}_on_{number}" if kind in PER_CLASS else name for kind, name in names.items()}
            elif "equivalence_class" in names:
                names["equivalence_class"] = class_of_set(number)
            names[WHOLE] = class_of_set(number)
        named.append(names)
    return named


def depends_on_others(requirement: SqlRequirement) -> bool:
    """Whether the verdict about a class depends on the rows of other classes."""
    return requirement.of_whole_release or any(relation in _OF_OTHERS for relation in requirement.reads)


def report_row(index: int, requirement: SqlRequirement, names: Mapping[str, str]) -> exp.Query:
    """Returns place, achieved and violating: the value reached, and the number of violating classes."""
    return filled_query(
        "SELECT $index AS place, CAST($achieved AS DOUBLE) AS achieved, (SELECT count(*) FROM violations) AS violating",
        tables={"violations": requirement.statement("violations", names)},
        index=index,
        achieved=subquery(requirement.statement("achieved", names)),
    )


@dataclass(frozen=True)
class Lists:
    """A column of lists, and the largest size of the sets of items that are counted.

    `sensitive` is an expression for a row's list of sensitive items, None if no requirement is about sensitive items.
    """

    items: exp.Expr
    most: int
    sensitive: exp.Expr | None = None


@dataclass(frozen=True)
class Rows:
    """Rows that fall into classes.

    Rows that agree on `keys`, where NULL is a value, are a class, which `class_id` names: a column of that name, or an
    expression over the keys. `columns` has the expression of each column that a requirement reads, and `entity` the
    expression of the respondent. `weight` is the number of rows that a row represents. All expressions are over
    `relation`. If `counted` is true, no two rows agree on both their class and their value. `projected` names the class
    by some quasi-identifiers that contains a class_id; it is empty if all requirements are on all quasi-identifiers.
    `lists` is set if sets of items are counted. `labels` has, as an expression over class_id, a class's label in each
    column that tells classes apart; None if classes show no labels. `steps` make the relations that `relation` reads.
    `apart` has the rows of each column in which a respondent may have several values: one for each respondent, class
    and value. `whole` has each respondent once, in a single class; it is set if classes share respondents.
    """

    relation: exp.Table | exp.Subquery
    keys: tuple[exp.Expr, ...]
    class_id: exp.Expr
    columns: Mapping[str, exp.Expr] = field(default_factory=dict)
    entity: exp.Expr | None = None
    weight: exp.Expr | None = None
    counted: bool = False
    projected: Projected | None = None
    lists: Lists | None = None
    steps: tuple[Step, ...] = ()
    apart: Mapping[str, Rows] = field(default_factory=dict)
    whole: Rows | None = None
    labels: Mapping[str, exp.Expr] | None = None

    def of_subject(self, subject: Sequence[str]) -> Rows:
        """Returns the rows in which a subject's values are counted."""
        return self.apart.get(subject[0], self) if len(subject) == 1 else self

    def count(self) -> exp.Expr:
        """Returns the expression that counts rows, weighted if rows have weights."""
        if self.weight is None:
            return f.count()
        return total(self.weight)

    def value(self, name: str) -> exp.Expr:
        if name not in self.columns:
            raise InternalError(f"a requirement asks about {name}, which the rows do not have")
        return self.columns[name].copy()

    def grouped(self, *others: exp.Expr) -> exp.Select:
        """Returns the distinct class_ids, or the distinct combinations of class_id and other expressions."""
        named = self.class_id.copy()
        if not isinstance(named, exp.Column):
            named = alias(named, "class_id")
        return select(named, of=self.relation, group_by=(*self.keys, *others))


def rows_of(
    source: exp.Table | exp.Subquery,
    quasi_identifiers: Sequence[str],
    columns: Mapping[str, exp.Expr] | None = None,
    entity: str | None = None,
) -> Rows:
    """Returns the rows of any relation; rows that agree on the quasi-identifiers are a class."""
    keys = tuple(column(name) for name in quasi_identifiers)
    label = class_label({name: column(name) for name in quasi_identifiers})
    labels = {name: exp.Dot(this=column("class_id"), expression=identifier(name)) for name in quasi_identifiers}
    respondent = column(entity) if entity else None
    return Rows(source, keys, label, columns or {}, respondent, projected=_fields, labels=labels)


def _fields(class_id: exp.Expr, columns: Sequence[str]) -> exp.Expr:
    """Returns the class_id by some columns, made from a class_id that is a struct of all labels."""
    return class_label({name: exp.Dot(this=class_id.copy(), expression=identifier(name)) for name in columns})


def class_label(labels: Mapping[str, exp.Expr]) -> exp.Expr:
    """Returns a class_id: a struct of the labels of a class."""
    parts = [entry(name, label) for name, label in labels.items()]
    return exp.Struct(expressions=parts) if parts else literal(0)


@dataclass(frozen=True)
class RowsOfRequirements:
    """Rows, and the indexes of the requirements that they answer."""

    rows: Rows
    indexes: tuple[int, ...]


# Classes by some of the quasi-identifiers, for requirements with `on => (columns)`.
#
# A class by all quasi-identifiers is in one class by each set of them. The relation class_of_set_i maps it to its class
# by set i, and the relations of the set's classes are sums over this relation. Each set has a relation of its own: an
# engine that inlines a common relation wherever it is read would compute all sets each time. Rows are withheld by the
# classes by all quasi-identifiers: all of those within a violating class by a set.


# class_respondent(class_id, entity): the respondents with rows in each class; missing where rows are counted.
RESPONDENTS = "class_respondent"

# The column of a class_of_set_i that names the class of the set.
_SET_CLASS = "set_class"


def projected_classes(requirements: Sequence[SqlRequirement], projected: Projected | None) -> list[Step]:
    """Returns class_of_set_i(class_id, size, entities, set_class) for each set: each class with its class by the set.

    Raises InternalError if a requirement is on some columns, and `projected` has no class by them.
    """
    sets = projections(requirements)
    if sets and projected is None:
        raise InternalError("a requirement asks about some quasi-identifiers, and classes are of all of them only")
    steps: list[Step] = []
    for number, columns in enumerate(sets):
        assert projected is not None
        of_set = alias(projected(column("class_id"), columns), _SET_CLASS)
        named = [column(name) for name in ("class_id", "size", "entities")]
        query = select(*named, of_set, of=relation("equivalence_class"))
        steps.append((class_of_set(number), query))
    return steps


def projection_steps(requirements: Sequence[SqlRequirement], *, entity: bool, prefix: str = "") -> list[Step]:
    """Returns, for each set of quasi-identifiers that a requirement names in `on`, the relations of its classes, under
    the names that the requirement reads.

    They are computed from the relations of the classes by all quasi-identifiers; the names of both begin with `prefix`.
    If `entity` is true, respondents are counted, from the relation `RESPONDENTS`.
    """
    steps: dict[str, exp.Query] = {}
    whole = relation_names(requirements, whole=True)
    for requirement, names, base in zip(requirements, relation_names(requirements), whole, strict=True):
        for kind, name in names.items():
            if requirement.on and kind != WHOLE and name != base[kind] and prefix + name not in steps:
                steps[prefix + name] = _of_set(kind, prefix + base[kind], prefix + base[WHOLE], prefix, entity)
    return list(steps.items())


def _of_set(kind: str, whole: str, classes: str, prefix: str, entity: bool) -> exp.Query:
    """Returns one normal relation of the classes by a set of quasi-identifiers, computed from the relation `whole`.

    `whole` has the classes by all quasi-identifiers, and `classes` is class_of_set_i, which maps these to the set's
    classes.
    """
    names = {"set": _SET_CLASS, "whole": whole, "classes": classes, "respondents": prefix + RESPONDENTS}
    if kind != "equivalence_class":
        text = _NODES_OF_SET if kind == "guarded" else _VALUES_OF_SET
        return filled_query(text, names=names)
    if entity:
        # Respondents are counted again, because classes may share them.
        return query_file("classified", "of_set", names=names, entities=respondents(column("entity", "part")))
    return filled_query(
        "SELECT {set} AS class_id, CAST(sum(size) AS BIGINT) AS size, CAST(sum(entities) AS BIGINT) AS entities"
        ' FROM "{classes}" GROUP BY {set}',
        names=names,
    )


_NODES_OF_SET = """
    SELECT DISTINCT {class.set} AS class_id, part.node
    FROM "{whole}" AS part JOIN "{classes}" AS class ON part.class_id = class.class_id
"""
_VALUES_OF_SET = """
    SELECT {class.set} AS class_id, part.value, CAST(sum(part.n) AS BIGINT) AS n
    FROM "{whole}" AS part JOIN "{classes}" AS class ON part.class_id = class.class_id
    GROUP BY {class.set}, part.value
"""


def whole_classes(violating: exp.Query, classes: str) -> exp.Query:
    """Returns class_id, size and excess of the classes by all quasi-identifiers that are in the set's violating
    classes.

    `violating` has the violating classes by the set, and `classes` is the set's class_of_set_i. The excess of a class
    is the excess of the set's class in which it is, but at most its own size.
    """
    names = {"set": _SET_CLASS, "classes": classes}
    return query_file("classified", "whole_classes", tables={"violation": violating}, names=names)
