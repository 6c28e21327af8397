"""Prepares the parts of cells that requirements read: codes of columns, and relations made of the codes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.numbers import counted
from sqlanon.domain.policy import Attribute, Role
from sqlanon.domain.values import QualifiedName
from sqlanon.engines.base import RAISE_BOUND, Engine, TooManyRows
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import DataError
from sqlanon.sources.column_types import is_list
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, cast, is_not_null, named
from sqlanon.sql.build.names import alias, column, identifier, literal, relation
from sqlanon.sql.build.queries import extend, inner_join, select, subquery
from sqlanon.sql.build.render import to_sql
from sqlanon.sql.build.sql_files import filled, filled_query
from sqlanon.sql.build.steps import Step
from sqlanon.sql.cells.cells import Codes, KeyLayout, carried_code, public_cells, rank_name, tree
from sqlanon.sql.cells.labels import (
    generalized,
    level_name,
    listed_twice,
    listed_values,
    published_value,
    stored_labels,
)
from sqlanon.sql.cells.taxonomy import LISTED, Taxonomy, listed_relation, sensitive_ancestor, sensitive_path
from sqlanon.sql.classes.further_relations import guarding_steps, of_listed, sensitive_number
from sqlanon.sql.classes.rows import Rows, subjects
from sqlanon.sql.questions.ask import BoundRequirement
from sqlanon.syntax.texts import typed_name

# Whether a hierarchy lists all values of its column, each once.


_MAX_VALUES_SHOWN_LISTED_VALUES = 10


def require_listed(
    engine: Engine, bound: BoundAttribute, tree_name: str, hierarchy_values: exp.Table, *, of_items: bool = False
) -> None:
    """Raises DataError unless the hierarchy lists each value of the source once; an unlisted NULL is a separate value.

    `of_items` is true if the values are the items of lists. The error then does not name them, because they may be
    anything.
    """
    assert bound.hierarchy is not None
    text = alias(as_text(column("value")), "value")
    has_value = is_not_null(column("value"))
    unlisted = select(text, of=relation(tree_name), where=[exp.not_(column("listed")), has_value])
    again = f"its query and run CREATE OR REPLACE HIERARCHY {typed_name(bound.hierarchy.name)} again"
    if of_items and (number := _count(engine, unlisted)):
        raise DataError(
            f"the hierarchy {bound.hierarchy.name} lacks {counted(number, 'item')} of the lists of {bound.column}",
            hint=spelled_otherwise(engine, bound, unlisted)
            or f"unnest({bound.column}) has the items of the source; add those that are missing to {again}",
        )
    if missing := _first_values(engine, unlisted):
        instead = "; labels of the items in lists need REQUIRE km_anonymity and METHOD itemsets"
        raise DataError(
            f"the hierarchy {bound.hierarchy.name} lacks values of the column {bound.column}: {missing}",
            hint=spelled_otherwise(engine, bound, unlisted)
            or f"add them to {again}{instead if is_list(bound.published_type) else ''}",
        )
    if bound.published_type != "VARCHAR" and (twice := _first_values(engine, listed_twice(bound, hierarchy_values))):
        raise DataError(
            f"the hierarchy {bound.hierarchy.name} lists values of the column {bound.column}, of type "
            f"{bound.published_type}, under several texts: {twice}",
            hint=f"keep one text of each in {again}",
        )


def spelled_otherwise(engine: Engine, bound: BoundAttribute, unlisted: exp.Select) -> str | None:
    """Returns a hint about unlisted values that differ from listed values only in case or in blanks at the ends; None
    otherwise.

    `unlisted` has one column, `value`, with the values as texts. The hint counts the values without naming any.
    """
    assert bound.hierarchy is not None
    hierarchy = bound.hierarchy.name
    text = """
        count_if(EXISTS(
          SELECT 1 FROM anon.hierarchy_value AS listed
          WHERE listed.hierarchy = $hierarchy AND listed.level = 0 AND spelled(listed.value) = spelled(unlisted.value)
        ))
    """

    def number(spelled: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
        return filled(text, calls={"spelled": spelled}, hierarchy=hierarchy)

    counts = select(number(_trimmed), number(_folded), f.count(), of=subquery(unlisted, "unlisted"))
    blanks, alike, missing = map(int, engine.rows(counts)[0])
    if not alike:
        return None
    name, only_blanks = to_sql(identifier(bound.column)), blanks == alike
    differ = "by blanks at the ends" if only_blanks else "by case or by blanks at the ends"
    spelled = f"trim({name})" if only_blanks else f"lower(trim({name}))"
    return (
        f"{alike} of {counted(missing, 'value')} differ from listed ones {differ} only: write both alike, "
        f"with {spelled} in a query as the source and with the same in that of the hierarchy"
    )


def _trimmed(text: exp.Expr) -> exp.Expr:
    return f.call("trim", text)


def _folded(text: exp.Expr) -> exp.Expr:
    return f.lower(_trimmed(text))


def _first_values(engine: Engine, values: exp.Select) -> str:
    """Returns the first few values and their number as text; the text is empty if there are no values."""
    count = _count(engine, values)
    examples = (
        [repr(row[0]) for row in engine.rows(values.order_by(literal(1)).limit(_MAX_VALUES_SHOWN_LISTED_VALUES))]
        if count
        else []
    )
    return ", ".join(examples) + (
        f" and {count - _MAX_VALUES_SHOWN_LISTED_VALUES} more ({count} in all)"
        if count > _MAX_VALUES_SHOWN_LISTED_VALUES
        else ""
    )


def _count(engine: Engine, values: exp.Select) -> int:
    return int(engine.rows(select(f.count(), of=subquery(values, "missing")))[0][0])


# Hierarchies of sensitive columns, for requirements that are not answered from the cells.


def listed_taxonomy(
    engine: Engine,
    policy: BoundPolicy,
    bound: BoundAttribute,
    requirements: Sequence[BoundRequirement],
    temp: TempTables,
) -> Taxonomy:
    """Returns the hierarchy of a sensitive column. Raises DataError if it lacks values that a requirement looks up."""
    if not bound.stored:
        return Taxonomy(bound)
    stored = relation(("anon", "hierarchy_value"))
    listed = listed_values(bound, stored.copy())
    if any(
        {"sensitive_ancestor", "guarding_node"} & set(r.reads) for r in requirements if bound.column in r.attributes
    ):
        occurring = select(alias(published_value(bound), "value"), distinct=True, of=relation(policy.relation))
        values = temp.table("values", generalized(bound, occurring, listed.copy(), counted=False))
        require_listed(engine, bound, values, stored)
    return Taxonomy(bound, listed)


_MAX_VALUES_SHOWN = 10


@dataclass(frozen=True)
class Carried:
    """A column whose codes are in the cells: `table` numbers its `count` values in order, with NULL last."""

    bound: BoundAttribute
    table: str
    count: int


def guards_of(requirements: Sequence[BoundRequirement]) -> dict[int, str]:
    """Returns the column with the guarding nodes of each requirement that has one, by the requirement's index."""
    columns: dict[int, str] = {}
    for index, requirement in enumerate(requirements):
        for parameter in requirement.question.parameters:
            value = requirement.argument(parameter.name)
            if parameter.type == "COLUMN" and isinstance(value, QualifiedName):
                columns[index] = value.name
    return columns


def table_of_values(temp: TempTables, purpose: str, column: str, query: exp.Query) -> tuple[str, int]:
    """Creates a temporary table with the values of a column of the source; returns its name and its number of rows.

    Raises TooManyRows, which names the column, if the rows are on another engine and there are too many values.
    """
    try:
        return temp.counted_table(purpose, query)
    except TooManyRows as error:
        raise TooManyRows(
            f"{column} has too many values to be numbered: {error.message}",
            hint=f"{RAISE_BOUND}, or give the column fewer values in a view that is the source",
        ) from None


def carry(
    policy: BoundPolicy,
    temp: TempTables,
    requirements: Sequence[BoundRequirement],
    others: Sequence[BoundAttribute] = (),
) -> list[Carried]:
    """Numbers the values of the columns that requirements read, which are sensitive or have guarding nodes, and the
    values of `others`.
    """
    source = relation(policy.relation)
    sensitive = {bound.column: bound for bound in policy.counted}
    names = dict.fromkeys(name for subject in subjects(requirements) for name in subject)
    plain = [replace(sensitive[name], hierarchy=None, stored=False, height=1) for name in names]
    for name in dict.fromkeys(guards_of(requirements).values()):
        # Guarding nodes are read as text, whatever the column's type.
        plain.append(BoundAttribute(Attribute(name, Role.INSENSITIVE), name, "", "VARCHAR"))
    known = {bound.column for bound in plain}
    plain += [replace(b, hierarchy=None, stored=False, height=1) for b in others if b.column not in known]
    carried: list[Carried] = []
    for bound in plain:
        carried.append(Carried(bound, *table_of_values(temp, "values", bound.column, tree(bound, source, source))))
    return carried


def given_relations(
    engine: Engine,
    policy: BoundPolicy,
    temp: TempTables,
    requirements: Sequence[BoundRequirement],
    carried: Sequence[Carried],
    layout: KeyLayout,
    cells: str,
) -> tuple[Step, ...]:
    """Returns the normal relations that are the same at every node, and keeps each as a temporary table under its name.

    sensitive_value counts the whole source. Raises DataError if the hierarchy of a sensitive attribute lacks values
    that a requirement looks up.
    """
    indexes = {c.bound.column: index for index, c in enumerate(carried)}
    relations = _KeptRelations(temp)
    wanted = {name for requirement in requirements for name in requirement.reads}
    for number, subject in enumerate(subjects(requirements)):
        code = carried_code(layout, [indexes[name] for name in subject])
        relations.add(f"sensitive_value_{number}", _rows_of_values(code, cells))
        if len(subject) > 1 or not wanted & {"sensitive_ancestor", "sensitive_number", "guarding_node", *LISTED}:
            continue
        values = carried[indexes[subject[0]]].table
        numbered = [alias(column("value"), "value_0"), alias(column(rank_name(0)), "code")]
        relations.add(f"sensitive_code_{number}", select(*numbered, of=relation(values)))
        reads = {n for r in requirements if tuple(r.attributes) == subject for n in r.reads}
        if "sensitive_number" in reads:
            kind = next(bound.published_type for bound in policy.counted if bound.column == subject[0])
            relations.add(f"sensitive_number_{number}", sensitive_number(f"sensitive_code_{number}", kind))
        if reads & {"sensitive_ancestor", "guarding_node"}:
            _add_ancestors(engine, _taxonomy(policy, subject[0]), number, relations)
    _own_relations(policy, requirements, carried, indexes, relations)
    # The guarding nodes of classes depend on the node of the lattice.
    of_guards = {f"guarded_{index}" for index in guards_of(requirements)}
    return tuple(
        (name, select(exp.Star(), of=relation(table)))
        for name, table in relations.tables.items()
        if name not in of_guards
    )


def _rows_of_values(code: exp.Expr, cells: str) -> exp.Query:
    """Returns (value, n): n rows have the subject's value with this code."""
    text = 'SELECT $code AS value, CAST(sum(n) AS BIGINT) AS n FROM "{cells}" GROUP BY $code'
    return filled_query(text, names={"cells": cells}, code=code)


def _add_ancestors(engine: Engine, taxonomy: Taxonomy, number: int, relations: _KeptRelations) -> None:
    """Adds the paths of a subject's values in their hierarchy, and the ancestors of the values, to the kept relations.

    `number` is the number of the subject.
    """
    path = f"sensitive_path_{number}"
    relations.add(path, sensitive_path(f"sensitive_code_{number}", taxonomy))
    _require_placed(engine, taxonomy.bound, relations.tables[path])
    relations.add(f"sensitive_ancestor_{number}", sensitive_ancestor(path, taxonomy.bound.height))


class _KeptRelations:
    """Relations kept as temporary tables, each under the name by which later relations read it."""

    def __init__(self, temp: TempTables) -> None:
        self._temp = temp
        self.tables: dict[str, str] = {}

    def add(self, name: str, query: exp.Query) -> None:
        """Keeps the rows of a query, which may read relations that were added before it."""
        for table in query.find_all(exp.Table):
            if table.name in self.tables:
                named(table, table.alias_or_name)
                table.set("this", identifier(self.tables[table.name]))
        self.tables[name] = self._temp.table(name, query)


def _own_relations(
    policy: BoundPolicy,
    requirements: Sequence[BoundRequirement],
    carried: Sequence[Carried],
    indexes: Mapping[str, int],
    relations: _KeptRelations,
) -> None:
    """Adds the relations that depend on one requirement's own arguments."""
    numbers = {subject: number for number, subject in enumerate(subjects(requirements))}
    ranges = dict(policy.ranges)
    for index, guard in guards_of(requirements).items():
        subject = tuple(requirements[index].attributes)
        rows = _guards(carried[indexes[guard]])
        height = _taxonomy(policy, subject[0]).bound.height
        for name, query in guarding_steps(index, rows, "guard", f"sensitive_path_{numbers[subject]}", height):
            relations.add(name, query)
        # The cells carry the code of the guarding node's text.
        pairs = select(
            alias(column("class_id", "text"), "node"),
            column("value", "below"),
            of=relation(f"guarded_{index}", as_="text"),
        )
        same = column("node", "text").eq(column("node", "below"))
        relations.add(
            f"guarding_node_{index}",
            extend(pairs, joins=[inner_join(relation(f"guarding_node_{index}", as_="below"), same)]),
        )
    for index, table in ranges.items():
        subject = tuple(requirements[index].attributes)
        listed = select(exp.Star(), of=relation(table))
        kind = listed_relation(requirements[index].reads)
        assert kind is not None
        made = of_listed(kind, listed, f"sensitive_code_{numbers[subject]}", _taxonomy(policy, subject[0]))
        relations.add(f"{kind}_{index}", made)


def _guards(carried: Carried) -> Rows:
    """Returns the values of a column of guarding nodes, in which each value is its own class under its code."""
    code = alias(column(rank_name(0)), "class_id")
    coded = subquery(select(code, column("value"), of=relation(carried.table)), "coded")
    return Rows(coded, (column("class_id"),), column("class_id"), {"guard": column("value")})


def _taxonomy(policy: BoundPolicy, name: str) -> Taxonomy:
    bound = next(bound for bound in policy.counted if bound.column == name)
    return Taxonomy(bound, stored_labels(bound))


def _require_placed(engine: Engine, bound: BoundAttribute, paths: str) -> None:
    """Raises DataError unless a stored hierarchy lists every value except NULL.

    An unlisted value would have no distance from other values.
    """
    if not bound.stored:
        return
    has_value = is_not_null(column(level_name(0)))
    outside = select(column(level_name(0)), of=relation(paths))
    outside = extend(outside, where=[column("branch").neq(exp.Literal.number(0)), has_value])
    missing = [str(row[0]) for row in engine.rows(outside.order_by(column(level_name(0))))]
    if missing:
        assert bound.hierarchy is not None
        texts = select(alias(as_text(column(level_name(0))), "value"), of=subquery(outside, "outside"))
        examples = ", ".join(map(repr, missing[:_MAX_VALUES_SHOWN]))
        rest = (
            f" and {len(missing) - _MAX_VALUES_SHOWN} more ({len(missing)} in all)"
            if len(missing) > _MAX_VALUES_SHOWN
            else ""
        )
        raise DataError(
            f"the hierarchy {bound.hierarchy.name} lacks values of the column {bound.column}: {examples}{rest}",
            hint=spelled_otherwise(engine, bound, texts)
            or f"add them to its query and run CREATE OR REPLACE HIERARCHY {bound.hierarchy.name} again",
        )


def public_values(policy: BoundPolicy, index: int) -> exp.Select | None:
    """Returns the public table's values of the quasi-identifier at this index; None if there is no public table."""
    if policy.public is None:
        return None
    return select(alias(_public_value(policy, index, None), "value"), of=relation(policy.public.relation))


def _public_value(policy: BoundPolicy, index: int, of: str | None) -> exp.Expr:
    assert policy.public is not None
    kind = policy.quasi_identifiers[index].published_type
    value = column(policy.public.columns[index], of)
    return cast(value, kind)


def public_cells_of(
    policy: BoundPolicy, temp: TempTables, codes: Sequence[Codes | None], layout: KeyLayout
) -> str | None:
    """Creates a table of the public table's cells, with the same keys as the source's cells; returns its name, or None
    if there is no public table.
    """
    if policy.public is None:
        return None
    public_rows = select(exp.Star(), of=relation(policy.public.relation))
    values = [_public_value(policy, index, "public") for index in range(len(policy.quasi_identifiers))]
    return temp.table("public", public_cells(public_rows, codes, layout, values))
