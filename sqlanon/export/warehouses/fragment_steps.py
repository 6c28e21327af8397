"""The tables of METHOD fragments. No table has columns that may not be seen together.

De Capitani di Vimercati, Foresti, Jajodia, Paraboschi and Samarati, Fragments and loose associations: respecting
privacy in data publishing (2010).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy
from sqlanon.domain.release import Release
from sqlanon.errors import CatalogError
from sqlanon.export.warehouses.translation import CANDIDATE, SOURCE, ScriptStep
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import big, union_all
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, select, subquery

# Rows that two tables do not contain equally often.


def row_count(number: int = 1) -> exp.Alias:
    """Builds the column n of `differing`: 1 for an added row, -1 for a row that is taken away."""
    return alias(big(literal(number)), "n")


def differing(keys: Sequence[str], added: exp.Select, taken: exp.Select, class_id: exp.Expr) -> exp.Select:
    """Builds a query with a row for each combination of keys that the two tables do not contain equally often."""
    either = subquery(union_all([added, taken]), "either")
    query = select(alias(class_id, "class_id"), of=either, group_by=map(column, keys))
    return extend(query, having=f.sum(column("n")).neq(literal(0)))


@dataclass(frozen=True)
class Fragment:
    """A table of a release: the step with its rows, its name after the release's name, and its columns."""

    step: str
    name: str
    columns: tuple[BoundAttribute, ...]


def fragments_of(release: Release, policy: BoundPolicy) -> tuple[Fragment, ...]:
    """Returns the tables of a release of fragments.

    Raises CatalogError if a table has all columns of a CONFIDENTIAL set.
    """
    bounds = {fold(bound.column): bound for bound in policy.attributes}
    fragments: list[Fragment] = []
    for number, made in enumerate(release.published):
        columns = tuple(bounds[fold(a.source or a.name)] for a in release.attributes_of(made.fragment))
        step = f"{CANDIDATE}_{number + 1}" if number else CANDIDATE
        fragments.append(Fragment(step, str(made.fragment), columns))
    for together in _broken(policy.policy, fragments):
        raise CatalogError(f"release {release.name}: {', '.join(together)} are in one table, and are CONFIDENTIAL")
    return tuple(fragments)


def _broken(policy: Policy, fragments: Sequence[Fragment]) -> Iterator[tuple[str, ...]]:
    for fragment in fragments:
        names = {fold(bound.column) for bound in fragment.columns}
        yield from (together for together in policy.confidential if names.issuperset(map(fold, together)))


def fragment_steps(fragments: Sequence[Fragment]) -> list[ScriptStep]:
    """Returns the steps from `source` to the rows of each table."""
    return [
        ScriptStep(
            fragment.step,
            select(*(alias(column(b.column), b.column) for b in fragment.columns), of=relation(SOURCE)),
            f"The rows of the table {fragment.name}: what may be published.",
        )
        for fragment in fragments
    ]


def fragment_checks(fragments: Sequence[Fragment]) -> list[ScriptStep]:
    """Returns the steps from the written rows and `source` to `check_violation`.

    Its rows are the combinations of columns that the two do not contain equally often.
    """
    differences: list[ScriptStep] = []
    for fragment in fragments:
        keys = [f"key_{index}" for index in range(len(fragment.columns))]
        read = [alias(column(b.column), key) for b, key in zip(fragment.columns, keys, strict=True)]
        of_source = select(*read, row_count(), of=relation(SOURCE))
        written = select(*read, row_count(-1), of=relation(fragment.step))
        said = f"A row for each combination of columns of the table {fragment.name} that is not there as often."
        differences.append(ScriptStep(f"check_{fragment.step}", differing(keys, of_source, written, literal(0)), said))
    rows = select(alias(literal(0), "class_id"), of=relation(CANDIDATE))
    differing_rows = union_all([select(column("class_id"), of=relation(step.name)) for step in differences])
    return [
        ScriptStep("check_row", rows, "The written rows of the first table."),
        *differences,
        ScriptStep("check_violation", differing_rows, "What is not as it is in the source."),
    ]
