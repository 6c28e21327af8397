"""The tables of a release of fragments: the fragments, and the association of their groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Reading
from sqlanon.methods.fragmentation.association.associate import numbered
from sqlanon.methods.fragmentation.association.block_grids import (
    ROW_NUMBER,
    association_rows,
    fragment_rows,
    own_rows,
    value_name,
)
from sqlanon.methods.shared.task import Task
from sqlanon.sources.source import qualified
from sqlanon.sources.target_names import require_free
from sqlanon.sql.build.names import alias, column, relation
from sqlanon.sql.build.queries import select
from sqlanon.sql.cells.labels import published_value
from sqlanon.sql.release.multi_table_query import PublishedColumn, PublishedTable, TablesQuery

# The choice of fragmentation: the sets of columns that are published apart, and the groups of their rows.


@dataclass(frozen=True)
class Fragmented:
    """Fragments (De Capitani di Vimercati et al. 2010): sets of columns that are published apart, no value changed.

    `of_statement` is true if the user named them; otherwise no correct fragmentation has fewer than `least` fragments,
    and if `proven` is true no fragmentation is better. For a loose association, `sizes` has the least rows of each
    fragment's groups, `k` is its looseness (None if no constraint lies across fragments), and `groups` is the temporary
    table of each row's groups (row, group_0, ...). `row` is the row number in the source or in `copied`, a temporary
    copy with the columns value_0, ... in the order of the fragments; if `has_values` is true, `groups` has these
    columns itself. At most `limit` rows may be in no group; they are suppressed, and at most `alike` of them share the
    values of a constraint in a fragment. `loss` measures the values that are not published; no value is recoded.
    """

    fragments: tuple[tuple[str, ...], ...]
    of_statement: bool
    least: int
    proven: bool
    rows: int
    suppressed: int = 0
    limit: int = 0
    alike: int = 0
    sizes: tuple[int, ...] = ()
    k: int | None = None
    groups: str = ""
    copied: str = ""
    has_values: bool = False
    loss: Fraction = Fraction(0)
    loss_name: str = "granularity_loss"

    @property
    def searched(self) -> None:
        """Returns None, because the method does not search."""
        return


# The names of the column and of the table that a loose association adds.
GROUP = "group_id"
ASSOCIATION = "association"


def group_column(fragment: str) -> str:
    """The name of the association's column that holds the number of a row's group in this fragment."""
    return f"group_{fragment}"


def association_columns(fragments: int) -> list[str]:
    """The names of the association's columns, each with the row's group in one fragment."""
    return [group_column(str(number)) for number in range(1, fragments + 1)]


def published_names(choice: Fragmented) -> list[str]:
    """The suffixes of the tables' names: a number for each fragment, and "association" if rows are in groups."""
    numbers = [str(number) for number in range(1, len(choice.fragments) + 1)]
    return [*numbers, ASSOCIATION] if choice.groups else numbers


def source_rows(policy: BoundPolicy, columns: Sequence[str]) -> exp.Select:
    """SELECT of these columns of the source's rows, in the types in which they are published."""
    values = [alias(value, name) for value, name in zip(values_of(policy, columns), columns, strict=True)]
    return select(*values, of=relation(policy.relation, as_="source"))


def values_of(policy: BoundPolicy, columns: Sequence[str]) -> list[exp.Expr]:
    """The expressions of these columns of `source`, in the types in which they are published."""
    bound = {attribute.column: attribute for attribute in policy.attributes}
    return [published_value(bound[name], "source") for name in columns]


def numbered_rows(policy: BoundPolicy, columns: Sequence[str], near: Sequence[str], copied: str) -> exp.Query:
    """SELECT of row, value_0, ..., near_0, ...: the rows of the source, or of its copy if `copied` names one."""
    if not copied:
        table = relation(policy.relation, as_="source")
        return numbered(table, values_of(policy, columns), values_of(policy, near))
    values = [column(value_name(index), "source") for index in range(len(columns))]
    close = [values[columns.index(name)].copy() for name in near]
    return numbered(relation(copied, as_="source"), values, close)


def hides_numbers(policy: BoundPolicy) -> bool:
    """Whether a column of the source hides the row numbers of DuckDB's tables, because it has their name."""
    names = [*(bound.column for bound in policy.attributes), *policy.unpublished]
    return any(fold(name) == ROW_NUMBER for name in names)


def apart(policy: BoundPolicy, choice: Fragmented, release_id: str) -> TablesQuery:
    """The SELECTs of a table for each fragment, and of the association if rows are in groups."""
    bound = {attribute.column: attribute for attribute in policy.attributes}
    names = published_names(choice)
    columns = [name for fragment in choice.fragments for name in fragment]
    tables: list[PublishedTable] = []
    for index, fragment in enumerate(choice.fragments):
        published = [PublishedColumn(name, bound[name].role, Reading.BUCKET_VALUE, bound[name]) for name in fragment]
        if not choice.groups:
            tables.append(PublishedTable(names[index], tuple(published), source_rows(policy, fragment)))
            continue
        query = _grouped(policy, choice, columns, index)
        group = PublishedColumn(GROUP, Role.INSENSITIVE, Reading.GROUP)
        tables.append(PublishedTable(names[index], (*published, group), query))
    if choice.groups:
        groups = association_columns(len(choice.fragments))
        query = association_rows(choice.groups, groups)
        links = tuple(PublishedColumn(name, Role.INSENSITIVE, Reading.LINK) for name in groups)
        tables.append(PublishedTable(ASSOCIATION, links, query))
    return TablesQuery(policy, release_id, tuple(tables))


def _grouped(policy: BoundPolicy, choice: Fragmented, columns: Sequence[str], index: int) -> exp.Select:
    """SELECT of one fragment's rows and their groups; `columns` has the columns of all fragments."""
    named = [(columns.index(name), name) for name in choice.fragments[index]]
    if choice.has_values:
        return own_rows(choice.groups, named, index, GROUP)
    return fragment_rows(numbered_rows(policy, columns, [], choice.copied), choice.groups, named, index, GROUP)


def require_free_tables(task: Task, choice: Fragmented) -> None:
    """Raises PolicyError if a table of the release would have the name of an existing table; a dry run is not
    checked.
    """
    if not task.dry:
        require_free(task.engine, qualified(task.engine, task.name), published_names(choice))


# EXPLAIN's words for the columns that are kept apart.


def kept_apart(choice: Fragmented) -> Iterator[tuple[str, str]]:
    """Rows of (item, detail): the columns published together, the groups with their looseness, and the suppressed
    rows.
    """
    yield "fragments", f"{len(choice.fragments)}: {_minimal(choice)}"
    for number, fragment in enumerate(choice.fragments, start=1):
        yield f"fragment {number}", ", ".join(fragment)
    if choice.sizes:
        loose = "no constraint lies across fragments" if choice.k is None else f"{choice.k}-loose"
        yield "groups", f"of at least {', '.join(map(str, choice.sizes))} rows: {loose}"
    allowed = f", at most {choice.limit} allowed" if choice.sizes else ""
    yield "suppressed rows", f"{choice.suppressed} of {choice.rows}{allowed}"
    if choice.alike:
        share = f"1 in {choice.suppressed / choice.alike:.4g}"
        yield "of which", f"not more than {choice.alike} have the same CONFIDENTIAL values, {share}"


def _minimal(choice: Fragmented) -> str:
    if choice.of_statement:
        return "those of the statement"
    if choice.proven or choice.least == len(choice.fragments):
        return "proven minimal"
    return f"not proven to be minimal: there are at least {choice.least}"
