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
from sqlanon.export.warehouses.translation import CANDIDATE, ScriptStep
from sqlanon.sql.build.expressions import union_all
from sqlanon.sql.build.names import column, literal, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.sql_files import filled_query, query_file

# Rows that two tables do not contain equally often.


def differing(keys: Sequence[str], counted: exp.Query, class_id: exp.Expr) -> exp.Query:
    """Returns a row for each combination of keys that two tables do not contain equally often.

    `counted` has the keys and n: 1 for a row of one table, and -1 for a row of the other.
    """
    return query_file("script", "differing", tables={"counted": counted}, names={"keys": keys}, class_id=class_id)


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
            filled_query(
                'SELECT {names} AS "{names}" FROM source', names={"names": [b.column for b in fragment.columns]}
            ),
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
        columns = [bound.column for bound in fragment.columns]
        comment = f"A row for each combination of columns of the table {fragment.name} that is not there as often."
        query = unlike_source(columns, fragment.step)
        differences.append(ScriptStep(f"check_{fragment.step}", query, comment))
    rows = filled_query("SELECT 0 AS class_id FROM candidate", tables={"candidate": CANDIDATE})
    differing_rows = union_all([select(column("class_id"), of=relation(step.name)) for step in differences])
    return [
        ScriptStep("check_row", rows, "The written rows of the first table."),
        *differences,
        ScriptStep("check_violation", differing_rows, "What is not as it is in the source."),
    ]


def unlike_source(columns: Sequence[str], written: str) -> exp.Query:
    """Returns a row for each combination of columns that a written table does not contain as often as the source."""
    names = {"columns": columns, "keys": [f"key_{index}" for index in range(len(columns))]}
    counted = query_file("script", "rows_of_both", tables={"written": written}, names=names)
    return differing(names["keys"], counted, literal(0))
