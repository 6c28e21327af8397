"""Random tables that METHOD slicing is to publish, and the tables that it has published, read back for the oracle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

from hypothesis import strategies as st

from sqlanon import Connection
from tests.oracles.slicing import Row, Sliced
from tests.support.database import new_database
from tests.support.names import quoted

__all__ = ["KINDS", "QUASI", "VARIANTS", "Case", "Shown", "buckets_of", "cases", "shown", "sliced"]

NAMES = ('a "b"', "it's", "select", "é中", "value", "n", "row", "a.b", " ", "class_id", "x", "_1")
TEXTS = (None, "", " ", "NULL", 'a "b"', "it's", "B", "b", "é", "\n")
NUMBERS = (None, -(2**63), -1, 0, 1, 2**53 + 1, 2**63 - 1)
VARIANTS = ("probabilistic", "distinct", "entropy", "recursive")
# Two quasi-identifiers, a third attribute that is one or is not, and one sensitive attribute or two.
KINDS = ("BIGINT", "VARCHAR", "INTEGER", "VARCHAR", "BIGINT")
QUASI, SENSITIVE = "QUASI IDENTIFIER", "SENSITIVE"
ROLES = (QUASI, QUASI, QUASI, SENSITIVE, SENSITIVE)

# Of each column the rows that are published, with their bucket.
Shown = list[list[tuple[int, Row]]]


@dataclass(frozen=True)
class Case:
    """A table, the columns that it is cut into, by the positions of their attributes, and what is required."""

    names: tuple[str, ...]
    roles: tuple[str, ...]
    rows: tuple[Row, ...]
    columns: tuple[tuple[int, ...], ...]
    l: int = 2  # noqa: E741 - the papers' name
    variant: str = "probabilistic"
    c: Decimal = Decimal(3)
    requires: str = "k_anonymity(k => 1)"
    further: str = ""

    @property
    def sensitive(self) -> list[int]:
        return [at for at, role in enumerate(self.roles) if role == SENSITIVE]

    @property
    def statement(self) -> str:
        c = f", c => {self.c}" if self.variant == "recursive" else ""
        each = all(len(column) == 1 for column in self.columns) and len(self.columns) == len(self.names)
        named = ", ".join(f"({', '.join(quoted(self.names[at]) for at in column)})" for column in self.columns)
        return (
            f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD slicing(l => {self.l}, variant => '{self.variant}'{c}"
            f"{self.further}) COLUMNS {'EACH' if each else named}"
        )

    def install(self) -> Connection:
        con = new_database()
        columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in zip(self.names, KINDS, strict=False))
        con.execute(f"CREATE TABLE t ({columns})")
        for row in self.rows:
            con.duckdb.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(row))})", list(row))
        policy = ", ".join(f"{quoted(name)} {role}" for name, role in zip(self.names, self.roles, strict=True))
        con.execute(f"CREATE POLICY p ON t ({policy}) REQUIRE {self.requires}")
        return con

    @property
    def diversity(self) -> tuple[int, str, Fraction]:
        return self.l, self.variant, Fraction(self.c)


@st.composite
def cases(draw: st.DrawFn, most: int = 24, shared: bool = True) -> Case:
    """Tables with NULL, ties and few values, of few rows or none; if `shared`, columns may share a quasi-identifier.

    The rows come from a seed: what Hypothesis draws first is so simple that no bucket is cut.
    """
    random = Random(draw(st.integers(0, 2**32)))
    sensitive = random.choice((1, 1, 1, 2))
    width = 3 + sensitive
    texts = random.sample(TEXTS, random.choice((2, 3, 4, 6, 6, 1)))
    numbers = random.sample(NUMBERS, random.randint(1, 5))
    thirds, skew = random.randint(1, 3), texts + texts[:1] * random.randint(0, 2)
    rows = [
        (
            random.choice(numbers),
            random.choice(("x", "y", None)),
            random.randrange(thirds),
            random.choice(skew),
            random.choice(NUMBERS),
        )[:width]
        for _ in range(random.choice((most, most, most // 2, 5, 1, 0)))
    ]
    l = random.choice((2, 2, 3))  # noqa: E741 - the papers' name
    if len(texts) >= l and sensitive == 1 and random.random() < 0.8:
        # Each row once with each of l values, so that all rows as one bucket are diverse.
        rows = [(*row[:3], value, *row[4:]) for row in rows[: most // l] for value in texts[:l]]
    return Case(
        names=tuple(random.sample(NAMES, width)),
        roles=(*ROLES[:2], random.choice((QUASI, QUASI, "INSENSITIVE")), *ROLES[3:width]),
        rows=tuple(rows),
        columns=_columns(random, width, shared),
        l=l,
        variant=random.choice(VARIANTS),
        c=random.choice((Decimal(3), Decimal("1.5"), Decimal(1), Decimal("0.5"))),
    )


def _columns(random: Random, width: int, shared: bool) -> tuple[tuple[int, ...], ...]:
    """Every attribute in a column, and sometimes a quasi-identifier in one more."""
    # The sensitive attribute is as often by itself as not.
    numbers = [random.randint(0, 3) for _ in range(3)] + [random.choice((0, 4)) for _ in range(width - 3)]
    sets = sorted([at for at in range(width) if numbers[at] == number] for number in {*numbers})
    if shared and len(sets) > 1 and random.random() < 0.3:
        again, into = random.randint(0, 1), random.choice(sets)
        into += [] if again in into else [again]
    return tuple(map(tuple, sets))


def shown(con: Connection, case: Case, release: str = "r") -> Shown:
    """The tables of a release, which have the bucket and the attributes of a column and nothing else."""
    tables: Shown = []
    for number, column in enumerate(case.columns, start=1):
        names = ["bucket", *(case.names[at] for at in column)]
        described = con.duckdb.execute(f"DESCRIBE {release}_{number}").fetchall()
        assert sorted(name for name, *_ in described) == sorted(names)
        rows = con.duckdb.execute(f"SELECT {', '.join(map(quoted, names))} FROM {release}_{number}").fetchall()
        tables.append([(row[0], tuple(row[1:])) for row in rows])
    return tables


def buckets_of(case: Case, tables: Shown) -> list[list[int]] | None:
    """The rows of the source that each bucket may have been made of, whichever comes first; None if there are none."""
    left = {
        bucket: [Counter(row for of, row in table if of == bucket) for table in tables]
        for bucket in sorted({bucket for table in tables for bucket, _ in table})
    }
    of: dict[int, int] = {}
    failed: set[Hashable] = set()
    parts = [[tuple(row[at] for at in column) for column in case.columns] for row in case.rows]

    def fitting(row: int) -> list[int]:
        return [
            bucket
            for bucket, counts in left.items()
            if all(rows[part] > 0 for rows, part in zip(counts, parts[row], strict=True))
        ]

    def take(bucket: int, row: int, count: int) -> None:
        for rows, part in zip(left[bucket], parts[row], strict=True):
            rows[part] -= count

    def placed() -> bool:
        choices = {row: fitting(row) for row in range(len(case.rows)) if row not in of}
        if not choices:
            return True
        state = tuple(map(_frozen, left.values()))
        if state in failed:
            return False
        # The row with the fewest buckets first.
        row = min(choices, key=lambda row: len(choices[row]))
        for bucket in choices[row]:
            take(bucket, row, 1)
            of[row] = bucket
            if placed():
                return True
            del of[row]
            take(bucket, row, -1)
        failed.add(state)
        return False

    if any(len(table) != len(case.rows) for table in tables) or not placed():
        return None
    return [[at for at in sorted(of) if of[at] == bucket] for bucket in left]


def _frozen(counts: Sequence[Counter[Any]]) -> Hashable:
    return tuple(frozenset((row, count) for row, count in rows.items() if count) for rows in counts)


def sliced(case: Case, buckets: Sequence[Sequence[int]], attribute: int) -> Sliced:
    """A table that is cut into these buckets, for one of its sensitive attributes: the others identify nobody."""
    others = frozenset(at for at in case.sensitive if at != attribute)
    return Sliced(case.rows, case.columns, buckets, attribute, others)
