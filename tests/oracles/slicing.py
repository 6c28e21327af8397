"""Slicing (Li, Li, Zhang and Molloy 2012) over rows, in fractions: which row matches which bucket, and the beliefs.

A table is a list of rows, an attribute its position in them. A column is a set of attributes, a bucket a set of rows:
the release shows each column's rows by bucket, in an uninformative order. None is a value.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

from tests.oracles.anatomy import diverse
from tests.oracles.mondrian import Domain

__all__ = [
    "Check",
    "Known",
    "Partition",
    "Sliced",
    "bucket_check",
    "diversity",
    "joined",
    "lower_half",
    "matching_check",
    "merge",
    "most_even",
    "partition",
]

Row = tuple[Hashable, ...]
Rows = Sequence[Row]
Columns = Sequence[Sequence[int]]
Bucket = tuple[int, ...]
Buckets = Sequence[Sequence[int]]
# Some attributes of a row, by their positions.
Known = Mapping[int, Hashable]
Distribution = Mapping[Hashable, Fraction]
# Whether a distribution of the sensitive attribute satisfies what is required.
Satisfied = Callable[[Distribution], bool]
# Whether the table that is cut into these buckets may be published.
Check = Callable[[Buckets], bool]


@dataclass(frozen=True)
class Sliced:
    """A table with its columns and buckets, and the position of its sensitive attribute, which is in one column.

    `unknown` are attributes that identify nobody; all others, except the sensitive one, identify.
    """

    rows: Rows
    columns: Columns
    buckets: Buckets
    sensitive: int
    unknown: frozenset[int] = frozenset()

    @property
    def sensitive_column(self) -> int:
        """The index of the column with the sensitive attribute."""
        [number] = [number for number, column in enumerate(self.columns) if self.sensitive in column]
        return number

    def part(self, column: int, row: Row) -> Row:
        """Returns the identifying values of a row in a column: attributes neither sensitive nor unknown."""
        return tuple(row[at] for at in self.columns[column] if at != self.sensitive and at not in self.unknown)

    def share(self, column: int, row: Row, bucket: int) -> Fraction:
        """Returns f_i(t,B): the share of the bucket's rows with the row's identifying values in a column; 1 if it has
        none.
        """
        members = self.buckets[bucket]
        alike = sum(self.part(column, self.rows[member]) == self.part(column, row) for member in members)
        return Fraction(alike, len(members))

    def match(self, row: Row, bucket: int) -> Fraction:
        """Returns f(t,B): the product of the shares of all columns."""
        return prod((self.share(column, row, bucket) for column in range(len(self.columns))), start=Fraction(1))

    def belonging(self, row: Row, sizes: bool = True) -> list[Fraction]:
        """Returns p(t,B) for each bucket: proportional to f(t,B), as in the paper, or to f(t,B) times the size of the
        bucket.
        """
        weights = [
            self.match(row, number) * (len(members) if sizes else 1) for number, members in enumerate(self.buckets)
        ]
        return [weight / sum(weights) for weight in weights]

    def values(self, row: Row, bucket: int) -> dict[Hashable, Fraction]:
        """Returns D(t,B): the shares of the sensitive values among the bucket's rows that equal the row in `part`."""
        column = self.sensitive_column
        members = (self.rows[member] for member in self.buckets[bucket])
        counts = Counter(one[self.sensitive] for one in members if self.part(column, one) == self.part(column, row))
        return {value: Fraction(count, counts.total()) for value, count in counts.items()}

    def likely(self, row: Row, sizes: bool = True) -> dict[Hashable, Fraction]:
        """Returns p(t,s) for each possible s."""
        found: dict[Hashable, Fraction] = defaultdict(Fraction)
        for bucket, weight in enumerate(self.belonging(row, sizes)):
            for value, share in self.values(row, bucket).items():
                found[value] += weight * share
        return {value: share for value, share in found.items() if share}

    def classes(self) -> dict[tuple[int, Row], list[int]]:
        """Returns the rows of each class: rows of a bucket with equal identifying values in the sensitive column."""
        column = self.sensitive_column
        found: dict[tuple[int, Row], list[int]] = defaultdict(list)
        for number, members in enumerate(self.buckets):
            for member in members:
                found[number, self.part(column, self.rows[member])].append(member)
        return dict(found)


def diversity(l: int, variant: str = "probabilistic", c: Fraction = Fraction(3)) -> Satisfied:  # noqa: E741
    """Returns a test whether a distribution is l-diverse."""
    # Shares compare as counts do.
    return lambda shares: diverse(shares, variant, l, c)  # type: ignore[arg-type]


def bucket_check(sliced: Sliced, satisfied: Satisfied) -> bool:
    """Whether D(v,B) satisfies for every bucket B and every v, identifying values of the sensitive column in B."""
    return all(
        satisfied(sliced.values(sliced.rows[members[0]], bucket)) for (bucket, _), members in sliced.classes().items()
    )


def matching_check(sliced: Sliced, satisfied: Satisfied, sizes: bool = True) -> bool:
    """Whether p(t,.) satisfies for every row t of the table."""
    return all(satisfied(sliced.likely(row, sizes)) for row in sliced.rows)


def joined(sliced: Sliced) -> set[Row]:
    """Returns all rows that match a bucket, sensitive value included; columns agree on shared attributes."""
    found: set[Row] = set()
    for members in sliced.buckets:
        shown = [{tuple(sliced.rows[member][at] for at in column) for member in members} for column in sliced.columns]
        for parts in product(*shown):
            merged = merge(sliced.columns, parts)
            if merged is not None:
                found.add(tuple(merged[at] for at in sorted(merged)))
    return found


def merge(columns: Columns, parts: Sequence[Row], known: Known | None = None) -> dict[int, Hashable] | None:
    """Joins one row of each column with the known values; None if they differ in a shared attribute."""
    merged = dict(known or {})
    for column, part in zip(columns, parts, strict=True):
        for at, value in zip(column, part, strict=True):
            if merged.setdefault(at, value) != value:
                return None
    return merged


@dataclass(frozen=True)
class Partition:
    """The buckets in the order of the queue, and the number of cuts that were checked."""

    buckets: list[Bucket]
    checks: int


Halves = Callable[[Sequence[int], Domain], tuple[Bucket, Bucket]]


def partition(
    rows: int, domains: Sequence[Domain], passes: Check, halves: Halves, *, first_only: bool = False
) -> Partition | None:
    """Computes the tuple partition of the paper's figure 1; None if the whole table as one bucket does not pass.

    The first bucket of the queue is cut at the attribute of the widest normalized span; if the cut does not pass, at
    the next attribute. Both halves go to the end of the queue; a bucket that no cut divides is final. With `first_only`
    no other attribute is tried.
    """
    queue: list[Bucket] = [tuple(range(rows))]
    final: list[Bucket] = []
    checks = 0
    if rows and not passes(queue):
        return None
    while rows and queue:
        bucket, *queue = queue
        for cut in list(_cuts(bucket, domains, halves))[: 1 if first_only else None]:
            checks += 1
            if passes([*final, *queue, *cut]):
                queue += cut
                break
        else:
            final.append(bucket)
    return Partition(final, checks)


def _cuts(bucket: Bucket, domains: Sequence[Domain], halves: Halves) -> Iterator[tuple[Bucket, Bucket]]:
    """Yields a cut for each attribute that is not constant, widest first; equally wide attributes keep their order."""
    wide = [domain for domain in domains if len({domain.rank[row] for row in bucket}) > 1]
    for domain in sorted(wide, key=lambda domain: -domain.width(list(bucket))):
        yield halves(bucket, domain)


def _parted(bucket: Sequence[int], domain: Domain, last: int) -> tuple[Bucket, Bucket]:
    low = tuple(row for row in bucket if domain.rank[row] <= last)
    return low, tuple(row for row in bucket if domain.rank[row] > last)


def lower_half(bucket: Sequence[int], domain: Domain) -> tuple[Bucket, Bucket]:
    """Cuts after the lower median, or before it if it is the greatest value."""
    ranks = sorted(domain.rank[row] for row in bucket)
    median = ranks[(len(ranks) - 1) // 2]
    return _parted(bucket, domain, median if median < ranks[-1] else max(rank for rank in ranks if rank < median))


def most_even(bucket: Sequence[int], domain: Domain) -> tuple[Bucket, Bucket]:
    """Cuts between two values where the halves differ least, and of equal cuts where the lower half is smaller."""
    cuts = [_parted(bucket, domain, last) for last in sorted({domain.rank[row] for row in bucket})[:-1]]
    return min(cuts, key=lambda cut: (abs(len(cut[0]) - len(cut[1])), len(cut[0])))
