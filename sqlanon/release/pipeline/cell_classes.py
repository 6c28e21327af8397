"""The classes of a release, computed from the cells rather than from the rows of the source."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.identifiers import free_name
from sqlanon.domain.policy import Role
from sqlanon.engines.base import RAISE_BOUND, TooManyRows
from sqlanon.engines.temp_tables import TempTables
from sqlanon.methods.shared.task import Cells
from sqlanon.release.pipeline.encode import sizes
from sqlanon.release.pipeline.stages import Compiled
from sqlanon.sql.build.names import column, literal, relation
from sqlanon.sql.build.queries import extend, select
from sqlanon.sql.cells.cells import CodedColumn, codes, decoded_cells, rolled_up
from sqlanon.sql.classes.guard import needs_rounds
from sqlanon.sql.release.release_query import Precomputed, ReleaseQuery

# The classes that may be published, and the label of each value, computed from the cells rather than from the rows.
#
# The guard of a snapshot does not read the rows, because the cells contain everything that it needs. The rows are then
# joined with the result, and a row whose class may not be published is withheld.


_WEIGHT = "__sqlanon_rows"


def with_classes_of_cells(compiled: Compiled, query: ReleaseQuery) -> ReleaseQuery:
    """Returns the SELECT of a release joined with temporary tables of labels, and of the classes to be published.

    The query is returned unchanged if the cells do not determine the classes of rows, and for few rows.
    """
    cells = _cells_of_classes(compiled, query)
    return query if cells is None else _joined(query, compiled.bound.policy, cells, compiled.bound.temp)


def released_cells(compiled: Compiled, query: ReleaseQuery) -> tuple[exp.Select, ReleaseQuery, str] | None:
    """Returns the rows that a snapshot would publish, with equal rows counted together: their SELECT, the query that
    made it, and the column of the SELECT with the number of equal rows.

    Only the columns that the cells have are in it. Returns None if the cells do not determine the classes of rows, for
    few rows, and for a live view.
    """
    bound, cells = compiled.bound, _cells_of_classes(compiled, query)
    if cells is None or cells.elsewhere or bound.is_live:
        return None
    if query.placed is None:
        # All values below a label are alike here.
        cells = _rolled_up(bound.temp, query, cells)
    of_cells, weight = _of_cells(query, bound.policy, cells, bound.temp)
    return extend(of_cells.select(), column(weight, "recoded")), of_cells, weight


def _cells_of_classes(compiled: Compiled, query: ReleaseQuery) -> Cells | None:
    """Returns the cells of a release if they determine the classes of rows; None otherwise, and for few rows, because
    making the tables would take longer than reading the rows twice.
    """
    cells = compiled.chosen.encoded.cells
    if cells is None or not _is_answered_by(cells, query):
        return None
    return None if cells.rows < sizes().joined_from and compiled.bound.engine.reads_in_place else cells


def _is_answered_by(cells: Cells, query: ReleaseQuery) -> bool:
    """Whether the class of a row is determined by its cell.

    It is not if the class also depends on the row's number, on the round in which the row was published, or on rows of
    other tables. On another engine, such a release was refused earlier.
    """
    if cells.related or query.tokens:
        return False
    by_values = query.placed is None or not (query.placed.by_row or query.placed.exact)
    return by_values and not any(recoding.later for recoding in query.recodings)


def _joined(query: ReleaseQuery, policy: BoundPolicy, cells: Cells, temp: TempTables) -> ReleaseQuery:
    """Returns the SELECT of a release that joins rows with tables of labels and of classes to publish.

    The guard computes the classes from the cells, not from the source.
    """
    complete = not cells.elsewhere
    if not complete:
        cells = _rolled_up(temp, query, cells)
        if cells.elsewhere:
            _require_one_round(query)
    of_cells, _ = _of_cells(query, policy, cells, temp)
    # Cells that are rolled up lack values that rows have.
    labelled = of_cells if complete else query
    labels = {index: temp.table("labels", labels) for index, labels in labelled.labels().items()}
    if complete:
        of_cells = replace(of_cells, precomputed=Precomputed(labels))
    classes, _ = temp.bounded("classes", of_cells.publishable_classes())
    return replace(query, precomputed=Precomputed(labels, classes))


def _of_cells(query: ReleaseQuery, policy: BoundPolicy, cells: Cells, temp: TempTables) -> tuple[ReleaseQuery, str]:
    """Returns the query of a release whose source is the decoded cells, and the name of their column with the number of
    rows.
    """
    columns = _columns(policy, cells)
    weight = free_name(_WEIGHT, (*columns, *((policy.entity.column,) if policy.entity else ())))
    # An entity that is also a guarding column is already among the columns.
    entity = policy.entity.column if policy.entity and cells.entity and policy.entity.column not in columns else None
    rows = decoded_cells(cells.table, columns, entity, weight)
    decoded = temp.rows("decoded", rows) if cells.elsewhere else temp.table("decoded", rows)
    public = None
    if cells.public is not None:
        quasi = {bound.column: columns[bound.column] for bound in policy.quasi_identifiers}
        public = _all_of(relation(temp.table("decoded", decoded_cells(cells.public, quasi, None, weight))))
    source = _all_of(relation(decoded))
    of_cells = replace(query, policy=_carried(policy, cells), source=source, stable=True, weight=weight, public=public)
    return of_cells, weight


def _rolled_up(temp: TempTables, query: ReleaseQuery, cells: Cells) -> Cells:
    """Returns fewer cells with the same labels. Each value is replaced by the first value below its label."""
    masks = cells.layout.masks([recoding.level for recoding in query.recodings])
    words = (literal(mask | carried) for mask, carried in zip(masks, cells.layout.carried_masks, strict=True))
    table, count = temp.bounded("rolled_up", rolled_up(cells.table, list(words), cells.entity))
    return replace(cells, table=table, count=count, elsewhere=count is None)


def _require_one_round(query: ReleaseQuery) -> None:
    """Raises TooManyRows if classes that stay on another engine would have to be checked in rounds."""
    if needs_rounds(query.requirements):
        raise TooManyRows(
            "the classes that would be published have too many rows to be judged in memory, where it is settled in "
            f"rounds which of them may be: {', '.join(map(str, query.requirements))}",
            hint=RAISE_BOUND,
        )


def _all_of(rows: exp.Expr) -> exp.Select:
    return select(exp.Star(), of=rows)


def _columns(policy: BoundPolicy, cells: Cells) -> dict[str, CodedColumn]:
    """Returns the source's columns whose values are in the keys of its cells, with their fields and codes, by name."""
    columns: dict[str, CodedColumn] = {}
    for bound, fields, codes_of_rows, values in zip(
        policy.quasi_identifiers, cells.layout.fields, cells.codes, cells.trees, strict=True
    ):
        columns[bound.column] = CodedColumn(fields, _all_of(codes_of_rows.copy()) if codes_of_rows else None, values)
    for name, field, values in zip(cells.carried, cells.layout.carried, cells.carried_values, strict=True):
        # A column may be carried twice: also as text if it has guarding nodes.
        columns.setdefault(name, CodedColumn((field,), codes(relation(values), (field,)), values))
    return columns


def _carried(policy: BoundPolicy, cells: Cells) -> BoundPolicy:
    """Returns the policy without the attributes that cells lack, because the guard does not need them."""
    attributes = (
        bound
        for bound in policy.attributes
        if bound.role is Role.QUASI_IDENTIFIER
        or bound.column in cells.carried
        # If each respondent has one row, cells count rows.
        or (bound.role is Role.ENTITY and cells.entity)
    )
    return replace(policy, attributes=tuple(attributes))
