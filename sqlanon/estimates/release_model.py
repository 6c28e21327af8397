"""What a release says of each column of its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute

__all__ = ["BucketedColumns", "Generalized", "ReleaseModel", "bucketed_value"]


def bucketed_value(index: int) -> str:
    """The column with the values of a bucket that were dealt out, of the dealt column at this place."""
    return f"dealt_{index}"


@dataclass(frozen=True)
class BucketedColumns:
    """Columns of the source, by their folded names, of which a row shows no values but its bucket's.

    `values` has the columns bucket, `bucketed_value` for each of `columns` and weight, how many
    rows of the bucket have these values together. `bucket` is the column of the release's rows
    with the bucket; None where all rows are one.
    """

    columns: tuple[str, ...]
    values: exp.Query
    bucket: str | None


@dataclass(frozen=True)
class Generalized:
    """A column of the source that a release shows by labels.

    `bound` has the column with the source's type, and its hierarchy if that is a stored
    one whose labels are at hand. `keys` are the release's columns that tell the labels
    apart: the column itself, and those of its bounds. `forms` says how to read a label,
    `nulls`, where that is not the same, how to read whether NULL is among the values,
    and `levels` which levels of the stored hierarchy it may be at.

    A label is read as `value`, the value itself; as `interval`, `period` or `mask`, labels
    of INTERVALS, CALENDAR and PREFIXES; as `range`, the ends of a region in the order of the
    values, or `tree_range`, in that of a hierarchy whose order is not known; by `bounds`, the
    columns with these ends; as `listed`, a label of a stored hierarchy, or `listed_range`, a
    range of its values. Below a `star` may be any value, and `any` label says nothing at all.

    `marginal` is a table of `leaves.MARGINAL` and `leaves.MARGINAL_WEIGHT`, how frequent
    values are elsewhere; without one those below a label are equally likely.
    """

    bound: BoundAttribute
    keys: tuple[str, ...]
    forms: tuple[str, ...]
    nulls: tuple[str, ...] = ()
    levels: tuple[int, ...] = ()
    marginal: str | None = None

    @property
    def column(self) -> str:
        return self.bound.column


@dataclass(frozen=True)
class ReleaseModel:
    """A release as an estimate reads it: `rows` has its rows and nothing else is needed of it.

    `exact` are the columns that are published as they are, by their folded names,
    `generalized` those that are recoded, `hidden` those that are not published with the
    reason. `bucketed` are columns of which a row shows no value but its bucket's, those together
    whose values are known together. If `separate_tables`, these are all columns that are published, each
    set of them in a table of its own, and `rows` say no more than which buckets belong together.
    `withheld` is the number of rows of the source that the release leaves out; None where
    that is not known. `enums` are the folded names of columns that are ENUMs in the
    source. `names` are the names by which a query may call the source.
    """

    name: str
    rows: exp.Query
    names: tuple[str, ...]
    exact: Mapping[str, str]
    generalized: Mapping[str, Generalized]
    hidden: Mapping[str, str] = field(default_factory=dict)
    bucketed: tuple[BucketedColumns, ...] = ()
    separate_tables: bool = False
    withheld: int | None = 0
    enums: frozenset[str] = frozenset()

    @property
    def bucket(self) -> str | None:
        """The column of `rows` with the bucket of all dealt columns; None where they have none, or no common one."""
        found = {columns.bucket for columns in self.bucketed}
        return found.pop() if len(found) == 1 else None

    @property
    def linked(self) -> bool:
        """Whether dealt columns have buckets of their own, as in a loose association."""
        return len({columns.bucket for columns in self.bucketed}) > 1

    @property
    def bucketed_positions(self) -> dict[str, tuple[int, int]]:
        """Where each dealt column stands: which of `bucketed` has it, and at which place."""
        return {name: (i, j) for i, bucketed in enumerate(self.bucketed) for j, name in enumerate(bucketed.columns)}
