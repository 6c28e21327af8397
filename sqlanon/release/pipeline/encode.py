"""Stages 4 and 5: makes cells of the source, if the method needs them, and asks the method for its choice.

The source is read once, after one pass for the values of each column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.context import Adjustable
from sqlanon.domain.policy import Role
from sqlanon.engines.base import Engine, TooManyRows
from sqlanon.engines.temp_tables import TempTables
from sqlanon.methods.base import Encoding
from sqlanon.methods.shared.task import Cells, rows_of_source
from sqlanon.methods.shared.wording import TreeFigures, figures_of
from sqlanon.release.pipeline.stages import Bound, Chosen, Compared, Encoded, ValuesOfColumns
from sqlanon.sources.requirement_columns import (
    carry,
    given_relations,
    public_cells_of,
    public_values,
    require_listed,
    table_of_values,
)
from sqlanon.sources.source import source_identity
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import select, subquery
from sqlanon.sql.cells.cells import Codes, Field, KeyLayout, cells, codes, rekeyed, tree
from sqlanon.sql.cells.value_ranks import ranked
from sqlanon.sql.questions.ask import BoundRequirement


@dataclass(frozen=True)
class Sizes:
    """Sizes that decide how encoding works: a column with `coded_from` or more values has a table of their codes.

    A snapshot of `joined_from` or more rows is joined with tables of its labels and classes; for a smaller snapshot the
    guard reads the rows.
    """

    coded_from: int = 1_000
    joined_from: int = 200_000


sizes = Adjustable(Sizes())


def encode_stage(bound: Bound, beside: Encoded | None = None) -> Encoded:
    """Makes the cells that the method needs. Raises PolicyError for a task that the method cannot do.

    `beside` is the result for another method of the same statement. Its cells are reused as far as possible.
    """
    encoding, policy = _encoding(bound), bound.policy
    if encoding is None:
        return Encoded(bound, None)
    if policy.related:
        return Encoded(bound, _cells_of_tables(bound))
    if kept_cells := _kept_cells(bound, encoding):
        return Encoded(bound, kept_cells)
    if not encoding.quasi_identifiers:
        others = tuple(each for each in policy.attributes if each.role is not Role.QUASI_IDENTIFIER)
        policy = replace(policy, attributes=others)
    values = _values(bound.engine, policy, bound.temp, bound.requirements, encoding, beside)
    made = _encoded(bound.engine, policy, bound.temp, bound.requirements, encoding, values, beside=beside)
    return Encoded(bound, made, values)


def encode_compared(compared: Compared) -> Encoded:
    """Returns the cells that the comparison of methods has made, or makes the cells that the method needs. Raises the
    errors of `encode_stage`.
    """
    return compared.encoded or encode_stage(compared.bound)


def solve_stage(encoded: Encoded) -> Chosen:
    """Asks the method for its choice. Raises PrivacyViolation if there is no valid choice."""
    if encoded.choice is not None:
        return Chosen(encoded, encoded.choice)
    return Chosen(encoded, encoded.bound.method.choose(encoded.task, encoded.bound.resolved.options))


def _encoding(bound: Bound) -> Encoding | None:
    return bound.method.encoding(bound.task(), bound.resolved.options)


# ---- cells that are kept


def keep_cells(encoded: Encoded) -> None:
    """Stores the cells of a release for other releases, unless they depend on tables besides the source.

    The tables of the cells must exist as long as the other releases are made.
    """
    bound = encoded.bound
    shared_cells, encoding = bound.resolved.requested.shared_cells, _encoding(bound)
    if shared_cells is not None and encoding and encoded.cells and (key := _key(bound, encoding)):
        shared_cells[key] = (_identity(bound), encoded.cells)


def _kept_cells(bound: Bound, encoding: Encoding) -> Cells | None:
    """Returns stored cells that equal the cells that encoding would make now; None if there are none or the source has
    changed.
    """
    shared_cells = bound.resolved.requested.shared_cells
    if not shared_cells or (key := _key(bound, encoding)) not in shared_cells:
        return None
    identity, kept_cells = shared_cells[key]
    return kept_cells if identity == _identity(bound) else None


def _key(bound: Bound, encoding: Encoding) -> object:
    """Returns the inputs of cells besides the rows; None if these inputs include public tables, ranges or guarding
    nodes.

    Cells depend on a requirement's question and attributes, but not on its numbers.
    """
    policy = bound.policy
    if policy.public or policy.ranges or policy.guarding or policy.long_table:
        return None
    return policy.attributes, encoding, tuple((r.question_name, r.attributes) for r in bound.requirements)


def _identity(bound: Bound) -> Sequence[Any]:
    return source_identity(bound.engine, bound.policy, bound.policy.attributes, bound.resolved.hierarchies)


# ---- cells that are made


def _cells_of_tables(bound: Bound) -> Cells:
    """Makes the cells of the source, and of each related table."""
    of_source = {attribute.column for attribute in bound.policy.sensitive}
    requirements = [requirement for requirement in bound.requirements if of_source.issuperset(requirement.attributes)]
    related = tuple(_cells_of_table(bound, bound.policy.of_related(table)) for table in bound.policy.related)
    return replace(_cells_of_table(bound, bound.policy, requirements), related=related)


def _cells_of_table(bound: Bound, policy: BoundPolicy, requirements: Sequence[BoundRequirement] = ()) -> Cells:
    """Makes the cells of one table; the rows of a table without quasi-identifiers are counted in the source."""
    encoding, engine, temp = Encoding(), bound.engine, bound.temp
    values = _values(engine, policy, temp, requirements, encoding)
    made = _encoded(engine, policy, temp, requirements, encoding, values, by_respondent=True)
    return made if policy.quasi_identifiers else replace(made, rows=rows_of_source(bound.engine, policy))


def _values(
    engine: Engine,
    policy: BoundPolicy,
    temp: TempTables,
    requirements: Sequence[BoundRequirement],
    encoding: Encoding,
    beside: Encoded | None = None,
) -> ValuesOfColumns:
    """Makes the tables of the values, or returns the tables of `beside`.

    Raises DataError, which names the values, if a stored hierarchy lacks values of its column, and TooManyRows if there
    are too many.
    """
    others, quasi = encoding.besides, policy.quasi_identifiers
    former = None if beside is None else beside.values
    if former is not None and former.of == (quasi, requirements, others):
        return former
    if former is not None and former.of[0] == quasi:
        return replace(
            former, of=(quasi, requirements, others), carried=carry(policy, temp, requirements, encoding.besides)
        )
    trees, counts = _trees(engine, policy, temp)
    figures = figures_of(engine, policy, trees)
    _require_listed(engine, policy, trees, figures)
    carried = carry(policy, temp, requirements, encoding.besides)
    return ValuesOfColumns((quasi, requirements, others), trees, counts, figures, carried)


def _encoded(
    engine: Engine,
    policy: BoundPolicy,
    temp: TempTables,
    requirements: Sequence[BoundRequirement],
    encoding: Encoding,
    values: ValuesOfColumns,
    *,
    by_respondent: bool = False,
    beside: Encoded | None = None,
) -> Cells:
    """Numbers every quasi-identifier's values along its hierarchy, and groups the source by the keys.

    Cells have respondents if some respondents have several rows, and always if `by_respondent` is true. If the cells
    `beside` have the same rows, their keys are replaced and the source is not read. Raises TooManyRows if there are too
    many rows.
    """
    numbered = _numbered(engine, policy, temp, encoding, values)
    carried, layout, figures = values.carried, numbered.layout, values.figures
    by_entity = policy.entity is not None and (by_respondent or _tells_respondents_apart(engine, policy, encoding))
    if beside is not None and (former := _of_same_rows(beside, values, encoding, by_entity)):
        query = rekeyed(former.table, former.layout, former.codes, layout, numbered.codes, entity=by_entity)
    else:
        of_carried = zip(carried, layout.carried, strict=True)
        extra = [(c.bound, _codes(engine, temp, c.table, (field,), c.count)) for c, field in of_carried]
        source = relation(policy.relation)
        query = cells(policy, source, numbered.codes, layout, extra, by_row=encoding.by_row, by_entity=by_entity)
    table, number = _grouped(temp, query, encoding)
    return Cells(
        table=table,
        trees=tuple(values.trees),
        layout=layout,
        rows=figures[-1].rows if figures else 0,
        values=tuple(each.leaves for each in figures),
        spread=tuple(each.spread for each in figures),
        most=tuple(each.most for each in figures),
        entity=by_entity,
        carried=tuple(c.bound.column for c in carried),
        carried_values=tuple(c.table for c in carried),
        fixed_relations=given_relations(engine, policy, temp, requirements, carried, layout, table),
        public=public_cells_of(policy, temp, numbered.codes, layout),
        codes=numbered.codes,
        ranked=tuple(numbered.ranks),
        elsewhere=number is None,
        count=number,
    )


def _of_same_rows(beside: Encoded, values: ValuesOfColumns, encoding: Encoding, by_entity: bool) -> Cells | None:
    """Returns the cells of `beside` if cells with the new encoding would distinguish the same rows, so that only their
    keys differ; otherwise None.
    """
    former, former_encoding = beside.cells, _encoding(beside.bound)
    if former is None or former_encoding is None or values is not beside.values:
        return None
    if encoding.by_row or former_encoding.by_row or former.elsewhere or former.entity != by_entity:
        return None
    return former


@dataclass(frozen=True)
class _Numbered:
    """The values of each quasi-identifier, and of the carried columns, as numbers that make up a key.

    `ranks` are tables, empty unless values are numbered by rank. `codes` are the relations of the quasi-identifiers'
    numbers.
    """

    ranks: Sequence[str]
    layout: KeyLayout
    codes: tuple[Codes | None, ...]


def _numbered(
    engine: Engine, policy: BoundPolicy, temp: TempTables, encoding: Encoding, values: ValuesOfColumns
) -> _Numbered:
    trees, counts = values.trees, values.counts
    ranks: list[str] = []
    siblings: list[Sequence[int]] = [each.siblings for each in values.figures]
    if encoding.flat:
        named = zip(policy.quasi_identifiers, trees, strict=True)
        ranks = [temp.table("ranked", ranked(attribute, name)) for attribute, name in named]
        siblings = [[count] for count in counts]
    layout = KeyLayout.pack(siblings, [each.count for each in values.carried])
    of_values = zip(ranks or trees, layout.fields, counts, strict=True)
    return _Numbered(ranks, layout, tuple(_codes(engine, temp, *each) for each in of_values))


def _trees(engine: Engine, policy: BoundPolicy, temp: TempTables) -> tuple[list[str], list[int]]:
    """Returns the table of each quasi-identifier's tree, and the number of its values."""
    source, hierarchy_values = relation(policy.relation), relation(("anon", "hierarchy_value"))
    trees: list[str] = []
    counts: list[int] = []
    for index, attribute in enumerate(policy.quasi_identifiers):
        values_of = tree(attribute, source, hierarchy_values, public_values(policy, index))
        name, count = table_of_values(temp, "tree", attribute.column, values_of)
        trees.append(name)
        counts.append(count)
    return trees, counts


def _require_listed(engine: Engine, policy: BoundPolicy, trees: Sequence[str], figures: Sequence[TreeFigures]) -> None:
    """Raises DataError for the first column whose stored hierarchy does not list each of its values once.

    A hierarchy has each text once, so a query is needed only for unlisted values and for columns of other types.
    """
    for bound, tree_name, of_tree in zip(policy.quasi_identifiers, trees, figures, strict=True):
        if bound.stored and (of_tree.unlisted or bound.published_type != "VARCHAR"):
            require_listed(engine, bound, tree_name, relation(("anon", "hierarchy_value")))


def _codes(engine: Engine, temp: TempTables, table: str, fields: Sequence[Field], count: int) -> Codes | None:
    """Returns the codes of a column's values, in a table if there are at least `coded_from`; None for a column without
    bits.
    """
    query = codes(relation(table), fields)
    if query is None:
        return None
    small = count < sizes().coded_from and engine.reads_in_place
    return subquery(query) if small else relation(temp.table("code", query))


def _tells_respondents_apart(engine: Engine, policy: BoundPolicy, encoding: Encoding) -> bool:
    """Whether cells need a column of respondents; they do not if each row has its own respondent."""
    if encoding.flat or encoding.by_row:
        return True
    assert policy.entity is not None
    people = f.count_distinct(column(policy.entity.column))
    one_row_each = select(people.eq(f.count()), of=relation(policy.relation))
    return not engine.rows(one_row_each)[0][0]


def _grouped(temp: TempTables, query: exp.Query, encoding: Encoding) -> tuple[str, int | None]:
    """Returns the table of the cells and the number of cells.

    The number is None if the cells stay, uncounted, on the engine of the rows.
    """
    try:
        return temp.bounded("cells", query) if encoding.unbounded else temp.counted_table("cells", query)
    except TooManyRows as error:
        raise TooManyRows(f"too many different combinations of values: {error.message}", hint=encoding.fewer) from None
