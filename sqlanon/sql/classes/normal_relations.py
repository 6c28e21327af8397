"""Builds the normal relations of rows in classes, which every check of any method reads.

A step is one CTE. The values of a subject - a sensitive attribute, or several jointly - are counted by class
(class_value_i) and numbered (sensitive_code_i), and the two are joined (class_sensitive_value_i).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sqlanon.errors import InternalError
from sqlanon.sql.build.expressions import (
    big,
    cast,
    row_alias,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, select, subquery
from sqlanon.sql.build.sql_files import filled, filled_query, filled_select
from sqlanon.sql.build.steps import Step
from sqlanon.sql.cells.cells import respondents
from sqlanon.sql.cells.taxonomy import Taxonomy, listed_relation, sensitive_ancestor, sensitive_path
from sqlanon.sql.classes.further_relations import guarding_steps, of_listed, sensitive_number
from sqlanon.sql.classes.itemsets import itemset_steps, itemset_value_steps
from sqlanon.sql.classes.rows import (
    RESPONDENTS,
    Rows,
    SqlRequirement,
    projected_classes,
    projection_steps,
    projections,
    relation_names,
    rows_of,
    subjects,
)
from sqlanon.sql.classes.supersets import SUPERSET, superset_steps, superset_within


@dataclass(frozen=True)
class Background:
    """The inputs of requirements besides the rows: hierarchies, tables of values, guarding nodes, the public table.

    `taxonomies` has the sensitive columns whose hierarchy or type is needed. `ranges` has, by a requirement's index,
    its table of values, with the columns of LISTED; `guards` has the column with its guarding nodes. `public_class` is
    the public table D counted by class: class_id, n. `coarser` has the ancestors of a quasi-identifier's labels, by its
    name, as `superset_steps` reads them.
    """

    taxonomies: Mapping[str, Taxonomy] = field(default_factory=dict)
    ranges: Mapping[int, exp.Query] = field(default_factory=dict)
    guards: Mapping[int, str] = field(default_factory=dict)
    public_class: exp.Query | None = None
    coarser: Mapping[str, exp.Query] = field(default_factory=dict)

    def at(self, indexes: Sequence[int]) -> Background:
        """Returns the ranges and guards of the requirements at these indexes, keyed by positions in `indexes`."""
        positions = list(enumerate(indexes))
        return replace(
            self,
            ranges={position: self.ranges[index] for position, index in positions if index in self.ranges},
            guards={position: self.guards[index] for position, index in positions if index in self.guards},
        )

    def taxonomy(self, subject: Sequence[str]) -> Taxonomy:
        """Returns the hierarchy of a subject. Raises InternalError if it has no hierarchy, as several columns jointly
        have none.
        """
        if len(subject) != 1 or subject[0] not in self.taxonomies:
            raise InternalError(f"a requirement asks about the hierarchy of {', '.join(subject)}, and there is none")
        return self.taxonomies[subject[0]]


def equivalence_class_of(
    source: exp.Table | exp.Subquery, columns: Sequence[str], entity: str | None = None
) -> exp.Select:
    """Returns equivalence_class(class_id, size, entities) of any relation.

    A class consists of the rows that agree on `columns`, where NULL is a value; class_id is a struct of these columns.
    `entities` is the number of distinct values of the column `entity` in the class, or its number of rows if `entity`
    is None.
    """
    return _counted(rows_of(source, columns, entity=entity))


def _counted(rows: Rows) -> exp.Select:
    size = rows.count()
    entities = respondents(rows.entity.copy()) if rows.entity else size.copy()
    query = extend(rows.grouped(), alias(size, "size"), alias(entities, "entities"))
    if not rows.keys:
        # A table without rows has no class.
        extend(query, having=size > 0)
    return query


def relations_of(
    rows: Rows, requirements: Sequence[SqlRequirement], background: Background | None = None
) -> list[Step]:
    """Returns steps to the normal relations that the requirements read, named by `relation_names`.

    They make all relations except sensitive_value, which is the sum over the classes of a check: see `sensitive_values`
    and the guard. Raises InternalError if the background lacks a relation that a requirement reads.
    """
    background = background or Background()
    about = subjects(requirements)
    steps: list[Step] = [*rows.steps]
    if not rows.counted:
        steps += [(f"class_value_{i}", _class_value(rows, subject)) for i, subject in enumerate(about)]
    # Reading rows is expensive: where a subject's values have been counted, sizes are sums of these counts.
    summed = bool(about) and rows.entity is None and rows.of_subject(about[0]) is rows
    classes = _summed(_values_of(rows, about[0], 0)) if summed else _counted(rows)
    steps += [("equivalence_class", classes), *projected_classes(requirements, rows.projected)]
    steps += _of_supersets(rows, requirements, background)
    for number, subject in enumerate(about):
        reads = {name for r in requirements if tuple(r.attributes) == subject for name in r.reads}
        steps += _of_subject(rows, number, subject, reads, background)
    for index, requirement in enumerate(requirements):
        steps += _of_requirement(index, requirement, rows, about, background)
    return [*steps, *_of_public_table(requirements, background), *_of_projections(rows, requirements)]


def _of_supersets(rows: Rows, requirements: Sequence[SqlRequirement], background: Background) -> list[Step]:
    """Returns steps that make the broader classes of each class, if a requirement reads them."""
    asking = [(index, requirement) for index, requirement in enumerate(requirements) if SUPERSET in requirement.reads]
    if not asking:
        return []
    if rows.labels is None:
        raise InternalError("a requirement asks about broader classes, and classes show no labels")
    within = [(index, requirement.within) for index, requirement in asking if requirement.within is not None]
    steps = superset_steps(rows.labels, background.coarser) if len(within) < len(asking) else []
    return [*steps, *((f"{SUPERSET}_{i}", superset_within(rows.labels, background.coarser, of)) for i, of in within)]


def _of_public_table(requirements: Sequence[SqlRequirement], background: Background) -> list[Step]:
    """Returns steps that make the classes of the public table, if a requirement reads them."""
    if not any("public_class" in requirement.reads for requirement in requirements):
        return []
    if background.public_class is None:
        raise InternalError("a requirement asks about a public table, and there is none")
    return [("public_class", background.public_class.copy())]


def _of_projections(rows: Rows, requirements: Sequence[SqlRequirement]) -> list[Step]:
    """Returns steps that make the relations of requirements on some of the quasi-identifiers, if there are such
    requirements.
    """
    if not projections(requirements):
        return []
    steps = projection_steps(requirements, entity=rows.entity is not None)
    if rows.entity is None:
        return [*steps]
    entity = rows.entity.copy()
    return [(RESPONDENTS, extend(rows.grouped(entity), alias(entity, "entity"))), *steps]


def _of_subject(rows: Rows, number: int, subject: Sequence[str], reads: set[str], background: Background) -> list[Step]:
    codes, paths = f"sensitive_code_{number}", f"sensitive_path_{number}"
    counted = _values_of(rows, subject, number, "counted")
    steps: list[Step] = [
        (codes, _sensitive_code(_values_of(rows, subject, number), len(subject))),
        (f"class_sensitive_value_{number}", _class_sensitive_value(counted, codes, len(subject))),
    ]
    if "sensitive_number" in reads:
        kind = background.taxonomy(subject).bound.published_type
        steps.append((f"sensitive_number_{number}", sensitive_number(codes, kind)))
    if reads & {"sensitive_ancestor", "guarding_node"}:
        taxonomy = background.taxonomy(subject)
        steps.append((paths, sensitive_path(codes, taxonomy)))
        if "sensitive_ancestor" in reads:
            steps.append((f"sensitive_ancestor_{number}", sensitive_ancestor(paths, taxonomy.bound.height)))
    return steps


def _of_requirement(
    index: int, requirement: SqlRequirement, rows: Rows, about: Sequence[tuple[str, ...]], background: Background
) -> list[Step]:
    """Returns steps that make the relations that depend on one requirement's arguments."""
    steps: list[Step] = []
    subject = tuple(requirement.attributes)
    if (kind := listed_relation(requirement.reads)) is not None:
        if index not in background.ranges:
            raise InternalError(f"{requirement.question_name} has no table of values")
        codes = f"sensitive_code_{about.index(subject)}"
        steps.append(
            (f"{kind}_{index}", of_listed(kind, background.ranges[index], codes, background.taxonomy(subject)))
        )
    if {"guarded", "guarding_node"} & set(requirement.reads):
        if index not in background.guards:
            raise InternalError(f"{requirement.question_name} has no column of guarding nodes")
        paths = f"sensitive_path_{about.index(subject)}"
        height = background.taxonomy(subject).bound.height
        steps += guarding_steps(index, rows, background.guards[index], paths, height)
    if "class_itemset" in requirement.reads:
        steps += itemset_steps(index, rows)
    if "class_itemset_value" in requirement.reads:
        steps += itemset_value_steps(index, rows)
    return steps


def _values(width: int, of: str | None = None) -> list[exp.Expr]:
    return [column(f"value_{index}", of) for index in range(width)]


def _class_value(rows: Rows, subject: Sequence[str]) -> exp.Select:
    """Returns class_value_i(class_id, value_0, ..., n): n rows of the class have these values."""
    rows = rows.of_subject(subject)
    values = [rows.value(name) for name in subject]
    named = [alias(value, f"value_{index}") for index, value in enumerate(values)]
    if rows.counted:
        weight = literal(1) if rows.weight is None else rows.weight.copy()
        columns = [alias(rows.class_id, "class_id"), *named, alias(big(weight), "n")]
        return select(*columns, of=rows.relation)
    count = alias(rows.count(), "n")
    return extend(rows.grouped(*values), *named, count)


def _values_of(rows: Rows, subject: Sequence[str], number: int, as_: str | None = None) -> exp.Table | exp.Subquery:
    """Returns class_value_i: the step of this name if rows have to be counted, else the rows themselves."""
    name = f"class_value_{number}"
    return subquery(_class_value(rows, subject), as_ or name) if rows.counted else relation(name, as_=as_)


def _summed(counted: exp.Table | exp.Subquery) -> exp.Select:
    text = """
        SELECT class_id, CAST(sum(n) AS BIGINT) AS size, CAST(sum(n) AS BIGINT) AS entities
        FROM "{counted}" GROUP BY class_id
    """
    return filled_select(text, names={"counted": counted})


def _sensitive_code(counted: exp.Table | exp.Subquery, width: int) -> exp.Query:
    """Returns sensitive_code_i(value_0, ..., code): the values of the rows, numbered in order, with NULL last."""
    values = _values(width)
    # The order states where NULL comes, because a session may have another default.
    order = [part for value in values for part in (filled("$value IS NULL", value=value), value)]
    text = """
        SELECT {values}, row_number() OVER (ORDER BY {order} ASC NULLS LAST) AS code
        FROM (SELECT DISTINCT {values} FROM "{counted}") AS occurring
    """
    return filled_query(text, names={"values": values, "order": order, "counted": counted})


def _class_sensitive_value(counted: exp.Table | exp.Subquery, codes: str, width: int) -> exp.Query:
    """Returns class_sensitive_value_i: the rows of class_value_i, `counted`, with the code of their values."""
    text = """
        SELECT counted.class_id, coded.code AS value, counted.n
        FROM "{counted}" JOIN "{codes}" AS coded ON $values IS NOT DISTINCT FROM $coded
    """
    values, coded = _values(width, "counted"), _values(width, "coded")
    return filled_query(text, names={"counted": counted, "codes": codes}, values=values, coded=coded)


def sensitive_value(class_values: str) -> exp.Query:
    """Returns sensitive_value(value, n): the sum of a relation class_sensitive_value over its classes."""
    text = 'SELECT value, CAST(sum(n) AS BIGINT) AS n FROM "{values}" GROUP BY value'
    return filled_query(text, names={"values": class_values})


def sensitive_values(requirements: Sequence[SqlRequirement], rows: Rows | None = None) -> list[Step]:
    """Returns steps to sensitive_value_i over all classes, for the subjects whose requirements read it.

    It is the sum over the classes, unless `rows` have respondents in several classes, because each respondent counts
    only once.
    """
    whole = rows.whole if rows is not None else None
    names = (names.get("sensitive_value") for names in relation_names(requirements))
    about = {f"sensitive_value_{number}": subject for number, subject in enumerate(subjects(requirements))}
    return [
        (name, sensitive_value("class_" + name) if whole is None else _whole_value(whole, about[name], name))
        for name in dict.fromkeys(names)
        if name
    ]


def _whole_value(whole: Rows, subject: Sequence[str], name: str) -> exp.Query:
    """Returns sensitive_value_i of rows in which each respondent occurs once."""
    counted = subquery(_class_value(whole, subject), "counted")
    values = _class_sensitive_value(counted, name.replace("value", "code"), len(subject))
    return filled_query("SELECT value, n FROM whole", tables={"whole": values})


def literal_rows(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[object]]) -> exp.Select:
    """Returns a query of constant rows, with these column names and types."""
    tuples = [exp.Tuple(expressions=[*map(literal, row)]) for row in rows or [[None] * len(columns)]]
    names = [name for name, _ in columns]
    values = exp.Values(expressions=tuples, alias=row_alias("answer", names))
    text = 'SELECT $casts AS "{names}" FROM "{rows}" WHERE $none'
    casts = [cast(column(name), kind) for name, kind in columns]
    return filled_select(text, names={"names": names, "rows": values}, casts=casts, none=[] if rows else [exp.false()])
