"""The classes that may be published, and the label of each value, found from the cells rather than from the rows.

The guard of a snapshot does not read the rows: the cells are a summary of all that it asks about, and the methods work
on them. The rows are then joined with what has been found, so that a row whose class is not among those that may be
published is withheld.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.identifiers import free_name
from sqlanon.domain.policy import Role
from sqlanon.engines.base import RAISE_BOUND, TooManyRows
from sqlanon.engines.temp_tables import Scratch
from sqlanon.methods.shared.task import Cells
from sqlanon.release.pipeline.encode import sizes
from sqlanon.release.pipeline.stages import Compiled
from sqlanon.sql.build.names import literal, relation
from sqlanon.sql.cells.cells import CodedColumn, codes, decoded_cells, rolled_up
from sqlanon.sql.classes.guard import needs_rounds
from sqlanon.sql.release.release_query import Precomputed, ReleaseQuery

_WEIGHT = "__sqlanon_rows"


def with_classes_of_cells(compiled: Compiled, query: ReleaseQuery) -> ReleaseQuery:
    """The SELECT of a release that joins its rows with temporary tables of labels, and of classes to be published.

    The query is returned as it is where the cells do not tell which rows have the same class, and for few rows.
    """
    cells = compiled.chosen.encoded.cells
    if cells is None or not _is_answered_by(cells, query):
        return query
    if cells.rows < sizes().joined_from and compiled.bound.engine.reads_in_place:
        # The tables would take longer to make than the rows to be read twice.
        return query
    return _joined(query, compiled.bound.policy, cells, compiled.bound.scratch)


def _is_answered_by(cells: Cells, query: ReleaseQuery) -> bool:
    """Whether the cells tell which rows have the same class.

    They do not where a row's class depends on more than its values: on its number, on the round in which it was
    published, or on rows of other tables. Where rows lie on another engine, such a release is refused before.
    """
    if cells.related or query.tokens:
        return False
    by_values = query.placed is None or not (query.placed.by_row or query.placed.exact)
    return by_values and not any(recoding.later for recoding in query.recodings)


def _joined(query: ReleaseQuery, policy: BoundPolicy, cells: Cells, scratch: Scratch) -> ReleaseQuery:
    """The SELECT with tables that are made by the guard of every release, of the cells in place of the source."""
    columns, complete = _columns(policy, cells), not cells.elsewhere
    if not complete:
        cells = _rolled_up(scratch, query, cells)
        if cells.elsewhere:
            _require_one_round(query)
    weight = free_name(_WEIGHT, (*columns, *((policy.entity.column,) if policy.entity else ())))
    # Who is named as a guarding node, too, is among the columns.
    entity = policy.entity.column if policy.entity and cells.entity and policy.entity.column not in columns else None
    rows = decoded_cells(cells.table, columns, entity, weight)
    decoded = scratch.rows("decoded", rows) if cells.elsewhere else scratch.table("decoded", rows)
    public = None
    if cells.public is not None:
        quasi = {bound.column: columns[bound.column] for bound in policy.quasi_identifiers}
        public = _all_of(relation(scratch.table("decoded", decoded_cells(cells.public, quasi, None, weight))))
    source = _all_of(relation(decoded))
    of_cells = replace(query, policy=_carried(policy, cells), source=source, stable=True, weight=weight, public=public)
    # Cells that are rolled up lack values that rows have.
    labelled = of_cells if complete else query
    labels = {index: scratch.table("labels", labels) for index, labels in labelled.labels().items()}
    if complete:
        of_cells = replace(of_cells, precomputed=Precomputed(labels))
    classes, _ = scratch.bounded("classes", of_cells.publishable_classes())
    return replace(query, precomputed=Precomputed(labels, classes))


def _rolled_up(scratch: Scratch, query: ReleaseQuery, cells: Cells) -> Cells:
    """The cells with one value for each label, the first below it: they have the same labels, and are fewer."""
    masks = cells.layout.masks([recoding.level for recoding in query.recodings])
    words = (literal(mask | carried) for mask, carried in zip(masks, cells.layout.carried_masks, strict=True))
    table, count = scratch.bounded("rolled_up", rolled_up(cells.table, list(words), cells.entity))
    return replace(cells, table=table, count=count, elsewhere=count is None)


def _require_one_round(query: ReleaseQuery) -> None:
    """Raises TooManyRows where classes that stay on another engine would have to be judged in rounds."""
    if needs_rounds(query.requirements):
        raise TooManyRows(
            "the classes that would be published have too many rows to be judged in memory, where it is settled in "
            f"rounds which of them may be: {', '.join(map(str, query.requirements))}",
            hint=RAISE_BOUND,
        )


def _all_of(rows: exp.Expr) -> exp.Select:
    return exp.select(exp.Star()).from_(rows, copy=False)


def _columns(policy: BoundPolicy, cells: Cells) -> dict[str, CodedColumn]:
    """The columns of the source whose values the keys of its cells have."""
    columns: dict[str, CodedColumn] = {}
    for bound, fields, coded, values in zip(
        policy.quasi_identifiers, cells.layout.fields, cells.codes, cells.trees, strict=True
    ):
        columns[bound.column] = CodedColumn(fields, _all_of(coded.copy()) if coded else None, values)
    for name, field, values in zip(cells.carried, cells.layout.carried, cells.carried_values, strict=True):
        # A column may be carried twice: as text, too, where it names guarding nodes.
        columns.setdefault(name, CodedColumn((field,), codes(relation(values), (field,)), values))
    return columns


def _carried(policy: BoundPolicy, cells: Cells) -> BoundPolicy:
    """The policy without the attributes that cells do not have: those that the guard does not ask about."""
    attributes = (
        bound
        for bound in policy.attributes
        if bound.role is Role.QUASI_IDENTIFIER
        or bound.column in cells.carried
        # Where each respondent has one row, cells count rows.
        or (bound.role is Role.ENTITY and cells.entity)
    )
    return replace(policy, attributes=tuple(attributes))
