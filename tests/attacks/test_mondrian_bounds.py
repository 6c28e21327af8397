"""Attacks on the values between the bounds of a region: what a centroid beside them gives away.

The adversary knows how many rows a region has and may run the program on whatever they like. So every table that a
region could have come from is released, and those that look alike are what the adversary cannot tell apart.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pytest

import sqlanon
from sqlanon import Connection

Values = tuple[Any, ...]

# A kind of column: its type, how it is declared, and values of it in their order.
KINDS: dict[str, tuple[str, str, Values]] = {
    "integers": ("BIGINT", "", (0, 1, 2, 3, 5)),
    "decimals": ("DECIMAL(9, 2)", "", ("0.10", "0.20", "0.45", "7.00")),
    "doubles": ("DOUBLE", "", (-1.5, 0.0, 0.25, 1e308)),
    "with null": ("BIGINT", "", (0, 1, 2, 4, None)),
    "dates": ("DATE", "", ("2020-01-01", "2020-01-02", "2020-01-04", "2020-03-01")),
    "words": ("VARCHAR", "", ("ant", "bee", "cat", "dog")),
    "words of a hierarchy": ("VARCHAR", "USING codes", ("11", "12", "21", "22")),
}
# Far heavier than any other, so that no cut divides the rows of one number.
ROLES = "number QUASI IDENTIFIER WEIGHT 1000000, {} REQUIRE k_anonymity(k => {})"


def released(con: Connection, kind: str, regions: Sequence[Sequence[Values]], publish: str, made: str) -> list[Values]:
    """What each region shows, where a region is some rows of one attribute or several."""
    of_type, declared, _ = KINDS[kind]
    names = [f"x{place}" for place in range(len(regions[0][0]))]
    con.execute(f"CREATE OR REPLACE TABLE t (number BIGINT, {', '.join(f'{name} {of_type}' for name in names)})")
    rows = [(number, *row) for number, region in enumerate(regions) for row in region]
    con.duckdb.executemany(f"INSERT INTO t VALUES ({', '.join('?' * (1 + len(names)))})", rows)
    quasi = ", ".join(f"{name} QUASI IDENTIFIER {declared}" for name in names)
    con.execute("CREATE OR REPLACE HIERARCHY codes AS PREFIXES (1)")
    con.execute(f"CREATE OR REPLACE POLICY p ON t ({ROLES.format(quasi + ')', len(regions[0]))}")
    con.execute(f"CREATE ANONYMIZED {made} r AS POLICY p METHOD mondrian(publish => '{publish}', bounds => true)")
    shown = ", ".join(f"{name}, {name}_low, {name}_high" for name in names)
    found = con.duckdb.execute(f"SELECT number_low, count(*), {shown} FROM r GROUP BY ALL ORDER BY ALL").fetchall()
    con.execute(f"DROP ANONYMIZED {made} r")
    assert [(number, rows) for number, rows, *_ in found] == [(n, len(rows)) for n, rows in enumerate(regions)]
    return [tuple(map(str, row[2:])) for row in found]


def alike(regions: Sequence[Sequence[Values]], shown: Sequence[Values]) -> set[frozenset[tuple[Values, ...]]]:
    """The regions that show the same, as one set each."""
    found: dict[Values, set[tuple[Values, ...]]] = defaultdict(set)
    for region, row in zip(regions, shown, strict=True):
        found[row].add(tuple(region))
    return set(map(frozenset, found.values()))


def every_region(values: Values, rows: int, attributes: int = 1) -> list[tuple[Values, ...]]:
    return list(itertools.combinations_with_replacement(itertools.product(values, repeat=attributes), rows))


def bounds_of(values: Values, region: Sequence[Values]) -> Values:
    """The least and the greatest value of each attribute, NULL left out."""
    known = [[value for value in column if value is not None] for column in zip(*region, strict=True)]
    return tuple((min(c, key=values.index), max(c, key=values.index)) if c else None for c in known)


@pytest.fixture(scope="module")
def con() -> Connection:
    return sqlanon.connect(config={"threads": "1"})


def test_bounds_and_a_mean_tell_the_third_of_three_values() -> None:
    """The attack on a release by hand: nothing but the sum is needed."""
    values = KINDS["integers"][2]
    regions = every_region(values, 3)
    by_hand = [(*bounds_of(values, region), sum(value for (value,) in region) / 3) for region in regions]
    assert all(len(same) == 1 for same in alike(regions, by_hand))


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "made"), [*((kind, "TABLE") for kind in KINDS), ("with null", "VIEW"), ("words", "VIEW")]
)
def test_a_centroid_says_no_more_than_the_bounds_beside_it(con: Connection, kind: str, made: str) -> None:
    values = KINDS[kind][2]
    for rows in (2, 3, 4):
        regions = every_region(values, rows)
        shown = released(con, kind, regions, "centroid", made)
        by_bounds = alike(regions, [bounds_of(values, region) for region in regions])
        assert alike(regions, shown) == by_bounds
        # Of three values the bounds leave one open, unless it has no room between them.
        assert rows != 3 or any(len(same) > 1 for same in by_bounds)


@pytest.mark.long
def test_nor_do_the_centroids_of_several_columns(con: Connection) -> None:
    values = KINDS["integers"][2][:3]
    regions = every_region(values, 3, attributes=2)
    shown = released(con, "integers", regions, "centroid", "TABLE")
    assert alike(regions, shown) == alike(regions, [bounds_of(values, region) for region in regions])


@pytest.mark.one_in(2)
@pytest.mark.parametrize("publish", ["range", "ancestor"])
@pytest.mark.parametrize("kind", ["integers", "words of a hierarchy"])
def test_nor_does_a_range_or_an_ancestor(con: Connection, kind: str, publish: str) -> None:
    values = KINDS[kind][2]
    regions = every_region(values, 3)
    shown = released(con, kind, regions, publish, "TABLE")
    assert alike(regions, shown) == alike(regions, [bounds_of(values, region) for region in regions])
