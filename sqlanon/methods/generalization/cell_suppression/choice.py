"""Chooses the levels and the suppressed cells of a release, and describes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Protocol

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.numbers import count_of, counted
from sqlanon.domain.release import Reading
from sqlanon.errors import DataError, PolicyError, PrivacyViolation
from sqlanon.methods.base import Recoded
from sqlanon.methods.generalization.cell_suppression.patterns import MOST_COLUMNS, Placed, placed
from sqlanon.methods.generalization.cell_suppression.published import loss_of_cells, marked, regions
from sqlanon.methods.generalization.local_recoding.rounds import Descent
from sqlanon.methods.shared.lattice.node_evaluator import Nodes
from sqlanon.methods.shared.lattice.nodes import Found, Settle
from sqlanon.methods.shared.lattice.search import Count
from sqlanon.methods.shared.task import Task
from sqlanon.methods.shared.wording import loss_text
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import is_null, total
from sqlanon.sql.build.names import column, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.release.recode import Recoding

WITH_NULL = (
    "NULL in a column that is read as label_or_null is a suppressed cell: it stands for any value of the column, as "
    "its highest level does. A class is of rows with the same cells, where NULL equals NULL alone. A reader who "
    "knows how cells are chosen learns that the value of a suppressed cell was rare among rows like it."
)


class Searches(Protocol):
    """The searches of a statement, which share its time limit."""

    def search(self, nodes: Nodes, limit: int, count: Count, settle: Settle) -> Found | None:
        """Returns the best of the nodes that suppress at most `limit` rows; None if there is none."""
        ...

    def expired(self) -> bool:
        """Whether the time limit of the statement is over."""
        ...


@dataclass(frozen=True)
class CellSuppression:
    """The choice of METHOD generalization with suppressed cells: the levels of all rows, and the suppressed cells of
    some rows.

    `marked` is the table of the source's cells with their classes. `rows` counts the source's rows, at most `limit` of
    which may be left out.
    """

    placed: Placed
    marked: str
    loss: Fraction
    rows: int
    limit: int
    loss_name: str
    searched: None = None

    @property
    def suppressed(self) -> int:
        """The number of source rows that the release leaves out."""
        return self.placed.suppressed


def require_able(policy: BoundPolicy) -> None:
    """Raises PolicyError for too many quasi-identifiers, because every set of them may be tried."""
    quasi = policy.quasi_identifiers
    if len(quasi) > MOST_COLUMNS:
        raise PolicyError(
            f"{policy.policy}: cells => 'suppress' tries every set of quasi-identifiers, and there are {len(quasi)}, "
            f"more than {MOST_COLUMNS}",
            hint="leave cells out, or use recoding => 'local'",
        )


def suppress_cells(task: Task, loss: str, suppression: Decimal, searches: Searches) -> CellSuppression:
    """Returns levels and suppressed cells that lose no more than the best levels for all rows.

    A descent finds the levels. In the descent, a row that a node leaves counts as much as under the best levels for all
    rows, and at least as much as one cell. If the result loses more than the best levels for all rows, cells are
    suppressed at these levels, too.

    Raises DataError for a quasi-identifier with NULL, and PrivacyViolation if more rows than `suppression` allows would
    be left out, whatever cells are suppressed.
    """
    _require_known(task)
    cells = task.encoded
    limit = int(Fraction(suppression) * cells.rows)
    low = tuple(bound.min_level for bound in task.policy.quasi_identifiers)
    nodes = Nodes(task, cells, low, limit, loss, lasting=True)
    optimum = searches.search(nodes, limit, nodes.count, nodes.settle)
    weights = [Fraction(bound.attribute.weight) for bound in task.policy.quasi_identifiers]
    # A row that a node leaves loses at least one cell.
    least = min(weights) / sum(weights) if weights else Fraction(0)
    descended, _ = Descent(nodes, cells.rows, optimum, least).end(searches.expired)
    chosen: list[CellSuppression] = []
    left: list[int] = []
    for levels in dict.fromkeys([descended, *([] if optimum is None else [optimum.node])]):
        way = placed(task, levels)
        if way is None:
            continue
        left.append(way.suppressed)
        if way.suppressed > limit:
            continue
        table = marked(task, way)
        lost = loss_of_cells(task, loss, way, table)
        chosen.append(CellSuppression(way, table, nodes.loss.value(lost), cells.rows, limit, loss))
        if optimum is not None and lost <= optimum.loss:
            break
    if not chosen:
        raise _infeasible(task, left, limit)
    return min(chosen, key=lambda each: (each.loss, each.suppressed))


def _require_known(task: Task) -> None:
    """Raises DataError, with the number of rows, if a quasi-identifier is NULL in a row of the source."""
    for bound, tree in zip(task.policy.quasi_identifiers, task.encoded.trees, strict=True):
        query = select(f.coalesce(total(column("n")), 0), of=relation(tree), where=[is_null(column("value"))])
        ((rows,),) = task.engine.rows(query)
        if rows:
            raise DataError(
                f"{bound.column} is NULL in {counted(int(rows), 'row')}, and cells => 'suppress' makes cells NULL: "
                "nobody could tell them apart",
                hint=f"give NULL a value in a query, ON (SELECT coalesce({bound.column}, ...) AS {bound.column}, ...), "
                "or leave cells out",
            )


def _infeasible(task: Task, left: Sequence[int], limit: int) -> PrivacyViolation:
    """The error if too few rows can be published; `left` has the number of suppressed rows of each attempt."""
    required = ", ".join(map(str, task.requirements))
    if not left:
        return PrivacyViolation(
            f"{required} cannot be met: whatever rows and cells are suppressed, the rest violates; nothing was "
            "published"
        )
    rows = task.encoded.rows
    fewest = count_of(min(left), rows, "row")
    return PrivacyViolation(
        f"{required} cannot be met with at most {count_of(limit, rows, 'row')} suppressed: {fewest} would be, whatever "
        "cells are suppressed; nothing was published",
        hint="allow more suppression, raise MAX LEVEL where there is one, or ask for less",
    )


def suppressed_in_words(choice: CellSuppression, quasi: Sequence[BoundAttribute]) -> Iterator[tuple[str, str]]:
    """Rows of (item, detail): each column's level and suppressed cells, the rows left out, and the loss."""
    way, published = choice.placed, choice.rows - choice.suppressed
    for index, (bound, level) in enumerate(zip(quasi, way.levels, strict=True)):
        becomes = "kept" if level == 0 else "suppressed ('*')" if level == bound.height else "generalized"
        name = f" of {bound.hierarchy.name}" if bound.hierarchy else ""
        blanked = f", NULL in {count_of(way.blanked(index), published, 'row')}" if way.blanked(index) else ""
        yield bound.column, f"level {level} of {bound.height}{name}: {becomes}{blanked}"
    blanked_cells = sum(map(way.blanked, range(len(quasi))))
    touched = sum(rows for pattern, rows in way.counts.items() if pattern)
    yield (
        "suppressed cells",
        f"{count_of(blanked_cells, published * len(quasi), 'cell')}, in {count_of(touched, published, 'row')}",
    )
    yield "suppressed rows", f"{choice.suppressed} of {choice.rows}, at most {choice.limit} allowed"
    yield choice.loss_name.replace("_", " "), f"{loss_text(choice.loss)}, not proven to be the least"


def recoded_cells(task: Task, choice: CellSuppression) -> Recoded:
    """Returns the recoding of rows by their classes, or by the levels alone if no cell is suppressed."""
    way, quasi = choice.placed, task.policy.quasi_identifiers
    blanked = [bool(way.blanked(index)) for index in range(len(quasi))]
    readings = {
        bound.column: Reading.LABEL_OR_NULL if has_null else Reading.LABEL if level else Reading.EXACT
        for bound, level, has_null in zip(quasi, way.levels, blanked, strict=True)
    }
    if not any(blanked):
        return Recoded(readings, tuple(Recoding(b, level) for b, level in zip(quasi, way.levels, strict=True)))
    rounds = tuple(
        (
            tuple(
                bound.height if pattern >> index & 1 else level
                for index, (bound, level) in enumerate(zip(quasi, way.levels, strict=True))
            ),
            rows,
        )
        for pattern, rows in sorted(way.counts.items(), key=lambda item: (item[0].bit_count(), item[0]))
    )
    return Recoded(readings, placed=regions(task, way, choice.marked), rounds=rounds)
