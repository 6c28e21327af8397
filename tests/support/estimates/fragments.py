"""Random tables published as fragments, with a loose association or sliced, and what their tables show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from sqlanon import Connection
from tests.oracles.associations import Fragment
from tests.support.database import new_database
from tests.support.estimates.queries import CODES, COLUMNS, LISTED, NUMBERS, Row, quoted

__all__ = ["METHODS", "Apart", "shown", "sources"]

TWO = (("number", "kind"), ("value", "other", "code"))
THREE = (("number", "code"), ("kind",), ("value", "other"))
# Whether the values of a class are diverse depends on what stands beside them: next to nothing.
SLICED = (("number", "code"), ("kind", "other"), ("value",))
BESIDE = (("number", "kind", "code"), ("other", "value"))
METHODS = {
    "fragments_2": ("fragments", TWO),
    "fragments_3": ("fragments", THREE),
    "loose_2": ("loose(groups => (2, 2), suppression => 1)", TWO),
    "loose_3": ("loose(groups => (2, 2, 2), suppression => 1)", THREE),
    "sliced_2": ("slicing(l => 2, variant => 'distinct')", BESIDE),
    "sliced_3": ("slicing(l => 2)", SLICED),
    "sliced_random": ("slicing(l => 2, grouping => 'random', bucket_size => 3)", SLICED),
    "uneven": ("loose(groups => (3, 1), near => true, suppression => 1)", TWO),
}
# So few rows that all their assignments can be listed. With a loose association they make up whole blocks, or leave
# over as many as it takes to be a class, of different values.
SIZES = {"fragments_2": (5, 4, 2, 1, 0), "fragments_3": (4, 3, 1, 0), "sliced_2": (8, 6, 5, 0), "uneven": (9, 6, 0)}
LINKED_SIZES = (9, 8, 0)


@dataclass(frozen=True)
class Apart:
    """A table and how it is published."""

    rows: tuple[Row, ...]
    release: str

    @property
    def fragments(self) -> tuple[tuple[str, ...], ...]:
        return METHODS[self.release][1]

    @property
    def sliced(self) -> bool:
        return self.release.startswith("sliced")

    def install(self) -> Connection:
        con = new_database()
        kinds = {"number": "INTEGER", "value": "INTEGER"}
        columns = ", ".join(f"{quoted(name)} {kinds.get(name, 'VARCHAR')}" for name in COLUMNS)
        con.execute(f"CREATE TABLE t ({columns})")
        for row in self.rows:
            con.duckdb.execute("INSERT INTO t VALUES (?, ?, ?, ?, ?)", [row[name] for name in COLUMNS])
        quasi = ", ".join(f"{quoted(name)} QUASI IDENTIFIER" for name in ("number", "kind", "code"))
        asked = f"CONFIDENTIAL ({quoted('number')}, {quoted('value')})"
        con.execute(
            f"CREATE POLICY p ON t ({quasi}, {quoted('value')} SENSITIVE, {quoted('other')} INSENSITIVE) "
            f"{'REQUIRE k_anonymity(k => 1)' if self.sliced else asked}"
        )
        named = ", ".join(f"({', '.join(map(quoted, fragment))})" for fragment in self.fragments)
        sets = f"{'COLUMNS' if self.sliced else 'FRAGMENTS'} {named}"
        con.execute(f"CREATE ANONYMIZED TABLE r AS POLICY p METHOD {METHODS[self.release][0]} {sets}")
        return con


@st.composite
def sources(draw: st.DrawFn, release: str) -> Apart:
    size = draw(st.sampled_from(SIZES.get(release, LINKED_SIZES)))
    # Rows of a block differ in what is confidential: few of them are equal.
    numbers = draw(st.permutations(NUMBERS))
    values = draw(st.permutations([None, -7, 0, 3, 8] * 2))
    return Apart(
        tuple(
            {
                "number": numbers[place],
                "kind": draw(st.sampled_from([*LISTED, None])),
                "code": draw(st.sampled_from(CODES)),
                "value": values[place],
                "other": draw(st.sampled_from(["x", "y", None])),
            }
            for place in range(size)
        ),
        release,
    )


def shown(con: Connection, task: Apart) -> tuple[list[Fragment], Sequence[Sequence[Any]]]:
    """The fragments and the association as the release's tables have them; without one all rows have one group.

    A bucket is a group of every column of a slicing, linked to no other.
    """
    loose = METHODS[task.release][0].startswith("loose")
    fragments: list[Fragment] = []
    for number, names in enumerate(task.fragments, start=1):
        own = ", ".join([*map(quoted, names), "group_id" if loose else "bucket" if task.sliced else "0"])
        rows = con.duckdb.execute(f"SELECT {own} FROM r_{number}").fetchall()
        fragments.append([(dict(zip(names, row[:-1], strict=True)), row[-1]) for row in rows])
    if loose:
        return fragments, con.duckdb.execute("FROM r_association").fetchall()
    return fragments, [(group,) * len(fragments) for _, group in fragments[0]]
