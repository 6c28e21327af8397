"""The source as cells: the table is read once, after one pass for each column's values."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.engines.base import Engine, TooManyRows
from sqlanon.engines.temp_tables import Scratch
from sqlanon.inputs.listed_values import require_listed
from sqlanon.inputs.requirement_columns import carry, given_relations, public_cells_of, public_values, table_of_values
from sqlanon.methods.shared.cells import Cells
from sqlanon.questions.ask import BoundRequirement
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.names import column, relation
from sqlanon.sqlgen.cells.cells import cells, codes, tree, tree_summary
from sqlanon.sqlgen.cells.key_layout import KeyLayout
from sqlanon.sqlgen.cells.value_ranks import ranked

__all__ = ["encode"]


def encode(
    engine: Engine,
    policy: BoundPolicy,
    scratch: Scratch,
    requirements: Sequence[BoundRequirement] = (),
    *,
    flat: bool = False,
    by_row: bool = False,
    by_respondent: bool = False,
    besides: Sequence[BoundAttribute] = (),
    unbounded: bool = False,
    fewer: str | None = None,
) -> Cells:
    """Numbers every quasi-identifier's values along its hierarchy and groups the source by the keys.

    If `flat`, a value's code is its rank among all, and `ranked` are the tables of `points.ranked`. `besides` are
    columns that the cells carry besides those that requirements read; if `by_row`, each row is a cell. Cells tell
    respondents apart where some have several rows, and always if `by_respondent`. If `unbounded`, cells that are too
    many to go from the engine of the rows to that of tables stay there; `fewer` says what can be done about them else.

    Raises DataError, naming the values, where a stored hierarchy lacks values of its column, and TooManyRows.
    """
    source = relation(policy.relation)
    hierarchy_values = relation(("anon", "hierarchy_value"))
    trees: list[str] = []
    tables: list[str] = []
    siblings: list[Sequence[int]] = []
    values: list[int] = []
    spread: list[tuple[int, ...]] = []
    most: list[tuple[int, ...]] = []
    rows = 0
    for index, bound in enumerate(policy.quasi_identifiers):
        values_of = tree(bound, source, hierarchy_values, public_values(policy, index))
        name = table_of_values(scratch, "tree", bound.column, values_of)
        if bound.stored:
            require_listed(engine, bound, name, hierarchy_values)
        leaves, rows, *rest = (int(figure or 0) for figure in engine.rows(tree_summary(bound, relation(name)))[0])
        trees.append(name)
        values.append(leaves)
        if flat:
            tables.append(scratch.table("ranked", ranked(bound, name)))
            siblings.append([_row_count(engine, name)])
        else:
            siblings.append(rest[: bound.height])
        others, top = rest[bound.height :], max(leaves - 1, 0)
        spread.append((0, *others[: bound.height - 1], rows * top))
        most.append((0, *others[bound.height - 1 :], top))
    carried = carry(engine, policy, scratch, requirements, besides)
    layout = KeyLayout.pack(siblings, [values.count for values in carried])
    # Tables rather than subqueries: the engine then knows how many codes there are, and the largest of them.
    coded = [codes(relation(name), fields) for name, fields in zip(tables or trees, layout.fields, strict=True)]
    code_tables = tuple(scratch.table("code", query) if query else None for query in coded)
    carried_codes = [codes(relation(c.table), (field,)) for c, field in zip(carried, layout.carried, strict=True)]
    extra = [
        (c.bound, scratch.table("code", query) if query else None)
        for c, query in zip(carried, carried_codes, strict=True)
    ]
    by_entity = policy.entity is not None and (flat or by_row or by_respondent or not _one_row_each(engine, policy))
    query = cells(policy, source, code_tables, layout, extra, by_row=by_row, by_entity=by_entity)
    try:
        table, elsewhere = scratch.bounded("cells", query) if unbounded else (scratch.table("cells", query), False)
    except TooManyRows as error:
        raise TooManyRows(f"too many different combinations of values: {error.message}", hint=fewer) from None
    return Cells(
        table=table,
        trees=tuple(trees),
        layout=layout,
        rows=rows,
        values=tuple(values),
        spread=tuple(spread),
        most=tuple(most),
        entity=by_entity,
        carried=tuple(c.bound.column for c in carried),
        carried_values=tuple(c.table for c in carried),
        fixed_relations=given_relations(engine, policy, scratch, requirements, carried, layout, table),
        public=public_cells_of(policy, scratch, code_tables, layout),
        codes=code_tables,
        ranked=tuple(tables),
        elsewhere=elsewhere,
    )


def _row_count(engine: Engine, table: str) -> int:
    return int(engine.rows(exp.select(f.count()).from_(relation(table)))[0][0])


def _one_row_each(engine: Engine, policy: BoundPolicy) -> bool:
    """Whether each row is of another respondent, so that they are as many as the rows of any class."""
    assert policy.entity is not None
    people = f.count_distinct(column(policy.entity.column))
    return bool(engine.rows(exp.select(people.eq(f.count())).from_(relation(policy.relation)))[0][0])
