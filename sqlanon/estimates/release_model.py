"""A release as estimates read it: what it says of each column of its source."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from sqlanon.domain.bound import BoundAttribute


def bucketed_value(index: int) -> str:
    """The column with the values of a bucket, of the bucketed column at this index."""
    return f"bucketed_{index}"


@dataclass(frozen=True)
class BucketedColumns:
    """Columns of which a row shows its bucket, and the bucket has the values of its rows in no order.

    Columns that are published in a table of their own are bucketed, too: by the group that links a row of this table
    to rows of others.
    """

    # The columns of the source, by their folded names, whose values are known together.
    columns: tuple[str, ...]
    # bucket, `bucketed_value` of each column, and weight: how many rows of the bucket have these values together.
    values: exp.Query
    # The column of the release's rows with the bucket; None where all rows are one bucket.
    bucket: str | None


@dataclass(frozen=True)
class Generalized:
    """A column of the source that a release shows by labels.

    A label is read as `value`, the value itself; as `interval`, `period` or `mask`, labels
    of INTERVALS, CALENDAR and PREFIXES; as `range`, the ends of a region in the order of the
    values, or `tree_range`, in that of a hierarchy whose order is not known; by `bounds`, the
    columns with these ends; as `listed`, a label of a stored hierarchy, or `listed_range`, a
    range of its values. A `star` may stand for any value, and a label read by `any` tells nothing.
    """

    # The column with the source's type, and its hierarchy if that is a stored one whose labels are at hand.
    bound: BoundAttribute
    # The release's columns that tell labels apart: the column itself, and those of its bounds.
    keys: tuple[str, ...]
    # How to read a label.
    forms: tuple[str, ...]
    # How to read whether a label may stand for NULL, if not by `forms`.
    nulls: tuple[str, ...] = ()
    # The levels of the stored hierarchy that a label may be at.
    levels: tuple[int, ...] = ()
    # The table of how frequent values are elsewhere (`marginals.MARGINAL`, `marginals.MARGINAL_WEIGHT`); without one
    # all values below a label are equally likely.
    marginal: str | None = None

    @property
    def column(self) -> str:
        """The name of the column in the source."""
        return self.bound.column


@dataclass(frozen=True)
class ReleaseModel:
    """A release as an estimate reads it; nothing else of the release is needed."""

    name: str
    # The rows of the release; for separate tables, the rows that say which of their buckets belong together.
    rows: exp.Query
    # The names by which a query may call the source.
    names: tuple[str, ...]
    # The columns that are published as they are, by their folded names, with their names in the release.
    exact: Mapping[str, str]
    generalized: Mapping[str, Generalized]
    # The columns that are not published, with the reason.
    hidden: Mapping[str, str] = field(default_factory=dict)
    # The sets of columns of which a row shows a bucket.
    bucketed: tuple[BucketedColumns, ...] = ()
    # bucket and n: how many values of a bucket no row has (counterfeits, Xiao and Tao 2007); None where rows have all.
    counterfeits: exp.Query | None = None
    # Whether the release is several tables: all its columns are bucketed then, each set in its own table.
    separate_tables: bool = False
    # The number of rows of the source that the release leaves out; None where nobody knows.
    withheld: int | None = 0
    # The folded names of columns that are ENUMs in the source.
    enums: frozenset[str] = frozenset()
    # The column of `rows` with how many rows of the release each stands for; None where each is one.
    counted: str | None = None

    @property
    def bucket(self) -> str | None:
        """The column of `rows` with the bucket of all bucketed columns; None where there is no common one."""
        buckets = {columns.bucket for columns in self.bucketed}
        return buckets.pop() if len(buckets) == 1 else None

    @property
    def linked(self) -> bool:
        """Whether sets of bucketed columns have different buckets, so that rows link a bucket of each."""
        return len({columns.bucket for columns in self.bucketed}) > 1

    @property
    def bucketed_positions(self) -> dict[str, tuple[int, int]]:
        """For each bucketed column the index of its set in `bucketed`, and its own index in the set."""
        return self.positions_for(())

    def positions_for(self, named: Collection[str]) -> dict[str, tuple[int, int]]:
        """The same for a query that names these columns: of the sets that have a column, the one with most of them.

        What is in one set is known exactly. Of sets with equally many the first is taken.
        """
        order = sorted(range(len(self.bucketed)), key=lambda i: -len({*named} & {*self.bucketed[i].columns}))
        return {name: (i, j) for i in reversed(order) for j, name in enumerate(self.bucketed[i].columns)}

    def in_several(self, named: Collection[str]) -> bool:
        """Whether one of these columns is in several sets."""
        return any(sum(name in bucketed.columns for bucketed in self.bucketed) > 1 for name in named)
