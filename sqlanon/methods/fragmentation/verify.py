"""Checks from the tables of a release of fragments that CONFIDENTIAL sets are kept apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from sqlanon.domain.policy import Policy
from sqlanon.domain.release import Measurement
from sqlanon.engines.base import Engine
from sqlanon.methods.base import Figure, PublishedTables, Structure
from sqlanon.methods.fragmentation.association.block_grids import grid
from sqlanon.methods.fragmentation.association.grid_proof import (
    GridProof,
    PublishedAssociation,
    PublishedFragment,
    are_grids,
)
from sqlanon.methods.fragmentation.association.looseness import looseness
from sqlanon.methods.fragmentation.minimal_fragmentation import Sets, broken, constraints_of, publishable
from sqlanon.methods.fragmentation.tables import ASSOCIATION, GROUP, Fragmented
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.queries import select

FRAGMENTATION = "fragmentation"
K_LOOSENESS = "k_looseness"
LEFT_OUT = "left_out"

# The explanations of the figures in a certificate.
FIGURES: Mapping[str, Figure] = {
    FRAGMENTATION: Figure(
        "No table has all columns of a CONFIDENTIAL set, and one has all of each VISIBLE set.",
        "De Capitani di Vimercati, Foresti, Jajodia, Paraboschi and Samarati 2010",
    ),
    K_LOOSENESS: Figure(
        "Each group of rows of a table is linked to at least this many different rows of another table, for "
        "each CONFIDENTIAL set whose columns are all in the two tables.",
        "De Capitani di Vimercati, Foresti, Jajodia, Livraga, Paraboschi and Samarati 2015",
        parameter="k",
    ),
    LEFT_OUT: Figure(
        "Of the source's rows that are in no table, at most one in this number has the same values in the "
        "columns that a table shows of a CONFIDENTIAL set. So no value of a missing person is known with a "
        "greater share, even to a reader who knows all values of the source.",
        "Xiao and Tao 2006, eligibility",
        # No file has the rows left out.
        "snapshot with its rows left out, when it was made",
        parameter="k",
    ),
}

# A function that returns the sizes of a release's groups and the required looseness, from its fragments and
# the constraints.
Promise = Callable[[Sets, Sets], tuple[Sequence[int], int | None]]


def kept_apart(published: PublishedTables) -> Structure:
    """Measures how many of the policy's CONFIDENTIAL and VISIBLE sets the tables keep."""
    columns = [_columns(published.engine, table) for table in published.tables.values()]
    return Structure((_fragmentation(published.policy, columns),), _misfit(published))


def loosely_associated(published: PublishedTables, promise: Promise, proven: GridProof | None = are_grids) -> Structure:
    """Measures the sets that the tables keep, the looseness of the association, and the rows left out.

    If `proven` shows that the tables are as the method lays them out, each table is read once; otherwise pairs of
    groups are compared. A release without rows has no association.
    """
    if ASSOCIATION not in published.tables:
        return kept_apart(published)
    columns = {name: _columns(published.engine, table) for name, table in published.tables.items()}
    groups = columns.pop(ASSOCIATION)
    fragments = tuple(
        PublishedFragment(published.tables[table], tuple(name for name in names if name != GROUP), GROUP)
        for table, names in columns.items()
    )
    association = PublishedAssociation(published.tables[ASSOCIATION], tuple(groups), fragments)
    sets, constraints = [fragment.attributes for fragment in fragments], constraints_of(published.policy)
    sizes, k = promise(sets, constraints)
    if proven is None:
        measured = looseness(published.engine, association, constraints)
    else:
        measured = looseness(published.engine, association, constraints, grid(sizes), proven)
    loose = Measurement(
        question=K_LOOSENESS,
        attribute=None,
        required=None if k is None else float(k),
        achieved=None if measured.k is None else float(measured.k),
        # If there are no rows, no group is linked to too few tuples.
        satisfied=measured.heterogeneous and (k is None or measured.k is None or measured.k >= k),
    )
    left_out = _left_out(published, loose.required)
    return Structure((_fragmentation(published.policy, sets), loose, left_out), _misfit(published))


def _misfit(published: PublishedTables) -> str | None:
    """Returns a sentence if the tables differ in their numbers of rows, None otherwise."""
    count = f.count()
    tables = published.tables.values()
    rows = {int(published.engine.rows(select(count, of=table))[0][0]) for table in tables}
    return "they have other numbers of rows" if len(rows) > 1 else None


def _left_out(published: PublishedTables, required: float | None) -> Measurement:
    """The k reached by the rows left out of every table: no combination of a CONFIDENTIAL set's values belongs to more
    than one in k of them.

    It was measured and recorded when the release was made, because no table has these rows. It is not satisfied if rows
    were left out and no measurement with this k is recorded.
    """
    rows, choice = published.suppressed, published.choice
    if isinstance(choice, Fragmented):
        achieved = rows / choice.alike if choice.alike else None
    else:
        known = [m.achieved for m in published.recorded if m.question == LEFT_OUT and m.required == required]
        achieved = known[0] if known else None
    met = not rows or required is None or (achieved is not None and achieved >= required)
    return Measurement(LEFT_OUT, None, required, achieved, met)


def _columns(engine: Engine, table: exp.Table | exp.Subquery) -> list[str]:
    return [name for name, _ in engine.columns(select(exp.Star(), of=table))]


def _fragmentation(policy: Policy, fragments: Sets) -> Measurement:
    """Measures how many of the policy's CONFIDENTIAL and VISIBLE sets the fragments keep."""
    names = publishable(policy)
    keeps = [not broken(fragments, names, [columns]) for columns in policy.confidential]
    keeps += [not broken(fragments, names, [], [columns]) for columns in policy.visible]
    return Measurement(FRAGMENTATION, None, float(len(keeps)), float(sum(keeps)), bool(keeps) and all(keeps))
