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
from sqlanon.methods.shared.tree_figures import figures_of
from sqlanon.pipeline.sizes import sizes
from sqlanon.questions.ask import BoundRequirement
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.names import column, relation
from sqlanon.sqlgen.cells.cells import Codes, cells, codes, tree
from sqlanon.sqlgen.cells.key_layout import Field, KeyLayout
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
    counts: list[int] = []
    for index, bound in enumerate(policy.quasi_identifiers):
        values_of = tree(bound, source, hierarchy_values, public_values(policy, index))
        name, count = table_of_values(scratch, "tree", bound.column, values_of)
        if bound.stored:
            require_listed(engine, bound, name, hierarchy_values)
        trees.append(name)
        counts.append(count)
    figures = figures_of(engine, policy, trees)
    named = zip(policy.quasi_identifiers, trees, strict=True)
    tables = [scratch.table("ranked", ranked(bound, name)) for bound, name in named if flat]
    siblings: list[Sequence[int]] = [[count] for count in counts] if flat else [each.siblings for each in figures]
    carried = carry(policy, scratch, requirements, besides)
    layout = KeyLayout.pack(siblings, [values.count for values in carried])

    def coded(table: str, fields: Sequence[Field], count: int) -> Codes | None:
        """The codes of a column's values: where they are many, a table, whose size the engine knows."""
        query = codes(relation(table), fields)
        if query is None:
            return None
        small = count < sizes().coded_from and not engine.distributed
        return query.subquery(copy=False) if small else relation(scratch.table("code", query))

    code_relations = tuple(map(coded, tables or trees, layout.fields, counts))
    extra = [(c.bound, coded(c.table, (field,), c.count)) for c, field in zip(carried, layout.carried, strict=True)]
    by_entity = policy.entity is not None and (flat or by_row or by_respondent or not _one_row_each(engine, policy))
    query = cells(policy, source, code_relations, layout, extra, by_row=by_row, by_entity=by_entity)
    number: int | None
    try:
        table, number = scratch.bounded("cells", query) if unbounded else scratch.counted_table("cells", query)
    except TooManyRows as error:
        raise TooManyRows(f"too many different combinations of values: {error.message}", hint=fewer) from None
    return Cells(
        table=table,
        trees=tuple(trees),
        layout=layout,
        rows=figures[-1].rows if figures else 0,
        values=tuple(each.leaves for each in figures),
        spread=tuple(each.spread for each in figures),
        most=tuple(each.most for each in figures),
        entity=by_entity,
        carried=tuple(c.bound.column for c in carried),
        carried_values=tuple(c.table for c in carried),
        fixed_relations=given_relations(engine, policy, scratch, requirements, carried, layout, table),
        public=public_cells_of(policy, scratch, code_relations, layout),
        codes=code_relations,
        ranked=tuple(tables),
        elsewhere=number is None,
        count=number,
    )


def _one_row_each(engine: Engine, policy: BoundPolicy) -> bool:
    """Whether each row is of another respondent, so that they are as many as the rows of any class."""
    assert policy.entity is not None
    people = f.count_distinct(column(policy.entity.column))
    return bool(engine.rows(exp.select(people.eq(f.count())).from_(relation(policy.relation)))[0][0])
