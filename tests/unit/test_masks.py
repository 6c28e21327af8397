"""What functions over masks come to against a loop over every query, bucket, row and value."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import zip_longest
from math import prod
from typing import Any

import pyarrow as pa
import pytest

from sqlanon.engines import udfs
from sqlanon.estimates.batch.code_layout import CODE_BITS, LINK_BITS
from sqlanon.estimates.batch.label_masks import Codes, Masks, encoded, masks_of
from sqlanon.estimates.batch.on_buckets import asked_sides

# Values are 0 to 9, and queries ask that a row's are between two of them.
VALUES = 10
Query = tuple[int, int] | None


def drawn(generator: random.Random, queries: int) -> list[Query]:
    """What queries ask of one column: nothing at times."""
    found: list[Query] = []
    for _ in range(queries):
        low = generator.randrange(VALUES)
        found.append(None if generator.random() < 0.3 else (low, generator.randrange(low, VALUES)))
    return found


def masks(asked: Sequence[Query]) -> Masks:
    intervals = [(query, *one) for query, one in enumerate(asked) if one is not None]
    return masks_of(len(asked), [query for query, *_ in intervals], intervals)


def codes_of(asked: Sequence[Sequence[Query]], **layout: int) -> tuple[Codes, list[list[int]]]:
    """The codes of columns that queries ask about, and of each value of each of them what it adds to which."""
    every = [masks(one) for one in asked]
    codes = encoded(every, len(asked[0]), **layout)
    places = [
        [where.stride * (sum(start <= value for start in one.first.tolist()) - 1) for value in range(VALUES)]
        for one, where in zip(every, codes.columns, strict=True)
    ]
    return codes, places


def written(
    codes: Codes, places: Sequence[Sequence[int]], rows: Sequence[Sequence[int]], buckets: Sequence[int] = ()
) -> list[int]:
    """The codes of rows: the first of all rows, which has their buckets, then the second, ..."""
    found: list[list[int]] = [[] for _ in range(codes.count)]
    for row, bucket in zip_longest(rows, buckets, fillvalue=0):
        assert not isinstance(row, int)
        sums = [bucket << CODE_BITS, *[0] * (codes.count - 1)]
        for value, place, where in zip(row, places, codes.columns, strict=True):
            sums[where.index] += place[value]
        for one, number in zip(found, sums, strict=True):
            one.append(number)
    return [number for one in found for number in one]


def holds(asked: Sequence[Sequence[Query]], query: int, row: Sequence[int]) -> bool:
    ends = [one[query] for one in asked]
    return all(one is None or one[0] <= value <= one[1] for one, value in zip(ends, row, strict=True))


CODES = pa.list_(pa.int64())
BUCKETS = pa.list_(CODES)
LINKS = pa.struct([("own", CODES), ("other", CODES), ("link", pa.list_(pa.int64()))])


# Columns with few masks are one digit of a code, or each is a digit, or a code of its own.
LAYOUTS = [{}, {"together": 1}, {"together": 1, "bits": 5}]


@pytest.mark.long
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("queries", [1, 64, 130])
@pytest.mark.parametrize("rows", [0, 1, 700, 9000])
def test_rows_that_satisfy(queries: int, rows: int, layout: Any) -> None:
    generator = random.Random(queries * rows)
    asked = [drawn(generator, queries) for _ in range(3)]
    table = [[generator.randrange(VALUES) for _ in asked] for _ in range(rows)]
    codes, places = codes_of(asked, **layout)
    blocks = [written(codes, places, some) for some in (table[: rows // 3], table[rows // 3 :])]
    found = udfs.load("satisfying_rows").satisfying_rows(pa.array([*blocks, None], type=CODES), codes).to_pylist()
    assert found == [[sum(holds(asked, query, row) for row in table) for query in range(queries)], [], []]


def test_columns_with_few_masks_are_one_digit() -> None:
    asked = [drawn(random.Random(column), 300) for column in range(3)]
    sizes = [len(masks(one).words) for one in asked]
    assert [len(digit.words) for digit in codes_of(asked)[0].digits] == [sizes[0] * sizes[1] * sizes[2]]
    assert sorted(len(digit.words) for digit in codes_of(asked, together=1)[0].digits) == sorted(sizes)
    assert codes_of(asked, together=1, bits=5)[0].count == 3


def test_nothing_is_asked_of_the_rows() -> None:
    codes = encoded([], 3)
    found = udfs.load("satisfying_rows").satisfying_rows(pa.array([[0] * 5], type=CODES), codes)
    assert found.to_pylist() == [[5, 5, 5]]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("queries", "sizes"), [(1, [3]), (50, [1, 2, 3, 4, 5, 8, 17, 40]), (2, [3] * 1200 + [4] * 30), (1, [1, 2, 15])]
)
def test_sums_over_buckets(queries: int, sizes: list[int]) -> None:
    """Sums by bucket for queries with conditions on rows of two columns and on three sets of values."""
    generator = random.Random(queries + len(sizes))
    asked = asked_sides([sides for sides in ((1,), (0, 1), (1, 2), (0, 2, 3), (1, 2, 3)) for _ in range(queries)])
    every = [[drawn(generator, asked[-1].last) for _ in range(columns)] for columns in (2, 1, 1, 1)]
    for run in asked:
        for side in {0, 1, 2, 3} - set(run.sides):
            for column in every[side]:
                column[run.first : run.last] = [None] * (run.last - run.first)
    codes = [codes_of(columns) for columns in every]
    buckets = [
        [[[generator.randrange(VALUES) for _ in columns] for _ in range(size)] for columns in every] for size in sizes
    ]
    half = len(sizes) // 2
    blocks = [block(some, codes, generator) for some in (buckets[:half], buckets[half:])]
    function = partial(udfs.load("bucket_sums").bucket_sums, codes=[one for one, _ in codes], asked=asked)
    (found,), second = function(pa.array(blocks, type=BUCKETS)).to_pylist()
    assert second == []
    assert found["wrong"] == 0
    for run in asked:
        for query in range(run.first, run.last):
            hits, variance, low, high = Fraction(0), Fraction(0), 0, 0
            for bucket in buckets:
                n = len(bucket[0])
                m, *values = [
                    sum(holds(columns, query, row) for row in rows) for columns, rows in zip(every, bucket, strict=True)
                ]
                p = prod((Fraction(s, n) for s in values), start=Fraction(1))
                hits, variance = hits + m * p, variance + m * p * (1 - p)
                low, high = low + max(0, m - sum(n - s for s in values)), high + min(m, *values)
            assert found["hits"][query] == pytest.approx(float(hits))
            # What is asked of the values of one set alone is certain.
            assert found["variance"][query] == pytest.approx(0 if run.sides == (1,) else float(variance))
            assert (found["low"][query], found["high"][query]) == (low, high)


def test_buckets_without_as_many_values_as_rows_are_counted() -> None:
    generator = random.Random(7)
    codes = [codes_of([drawn(generator, 3)]) for _ in range(3)]
    whole = block([[[[1], [2]] for _ in codes], [[[3]] for _ in codes]], codes, generator)
    function = partial(udfs.load("bucket_sums").bucket_sums, codes=[one for one, _ in codes])
    for side in (0, 1, 2):
        changed = [list(rows) for rows in whole]
        changed[side].append(2 << CODE_BITS)
        ((found,), _) = function(pa.array([changed, whole], type=BUCKETS), asked=asked_sides([(1, 2)] * 3)).to_pylist()
        assert found == {"wrong": 2 if side == 0 else 1, **dict.fromkeys(("hits", "variance", "low", "high"))}


def block(
    buckets: list[list[list[list[int]]]], codes: Sequence[tuple[Codes, list[list[int]]]], generator: random.Random
) -> list[list[int]]:
    """Some buckets as the function gets them, in any order: the codes of the rows, and of each set of values."""
    sides = []
    for side, of_side in enumerate(codes):
        rows = [(number, row) for number, bucket in enumerate(buckets) for row in bucket[side]]
        generator.shuffle(rows)
        sides.append(written(*of_side, [row for _, row in rows], [number for number, _ in rows]))
    return sides


@pytest.mark.one_in(12)
@pytest.mark.parametrize("queries", [1, 100])
@pytest.mark.parametrize("sizes", [[2], [1, 2, 3, 4, 5], [2] * 1100 + [3] * 20])
def test_sums_over_links(queries: int, sizes: list[int]) -> None:
    """A group has as many links as rows; each link leads to some rows of another fragment."""
    generator = random.Random(queries + sum(sizes))
    asked = [drawn(generator, queries) for _ in range(3)]
    groups = [
        (
            [[generator.randrange(VALUES) for _ in range(2)] for _ in range(size)],
            [[generator.randrange(VALUES) for _ in range(generator.randint(1, 3))] for _ in range(size)],
        )
        for size in sizes
    ]
    half = len(groups) // 2
    own, other = codes_of(asked[:2]), codes_of(asked[2:])
    blocks = [linked(groups[:half], own, other, 0, generator), linked(groups[half:], own, other, half * 10, generator)]
    function = udfs.load("link_sums").link_sums
    first, second = function(pa.array(blocks, type=LINKS), own[0], other[0], links=True).to_pylist()
    assert second == []
    names = ("possible", "open", "satisfying", "failing", "apart")
    for query in range(queries):
        hits: dict[int, list[int]] = {}
        sums = dict.fromkeys(names, 0)
        for rows, links in groups:
            s = sum(holds(asked[:2], query, row) for row in rows)
            found = [(sum(holds(asked[2:], query, [value]) for value in link), len(link)) for link in links]
            for part, total in found:
                of = hits.setdefault(len(rows) * total, [0, 0])
                of[0] += s * part
                of[1] += (s * part) ** 2
            possible = [(part, total) for part, total in found if s and part]
            unsure = sum(s < len(rows) or part < total for part, total in possible)
            narrow = sum(part < total for part, total in possible)
            fails = len(rows) - s
            counted = (len(possible), unsure, min(unsure, s), min(unsure, fails + min(s, narrow)), min(unsure, fails))
            for name, number in zip(names, counted, strict=True):
                sums[name] += number
        assert first[0]["wrong"] == 0
        assert {name: first[1][name][query] for name in names} == sums
        of_links: dict[int, list[int]] = {}
        for one in first[2:]:
            both = of_links.setdefault(one["total"], [0, 0])
            both[0] += one["hits"][query]
            both[1] += one["squares"][query]
        assert of_links == hits


@pytest.mark.parametrize("change", ["a row more", "a link that leads nowhere", "no links", "no rows"])
def test_groups_that_do_not_have_as_many_rows_as_links(change: str) -> None:
    asked = [[(0, 3)], [(2, 5)]]
    own, other = codes_of(asked[:1]), codes_of(asked[1:])
    groups = [([[1], [2]], [[3], [4]]) for _ in range(3)]
    changed = linked(groups, own, other, 0, random.Random(1))
    if change == "a row more":
        changed["own"].append(2 << CODE_BITS)
    elif change == "a link that leads nowhere":
        changed["other"][0] = -1
    else:
        changed |= dict.fromkeys(("other", "link") if change == "no links" else ("own",))
    blocks = [linked(groups, own, other, 10, random.Random(1)), changed]
    function = udfs.load("link_sums").link_sums
    ((wrong,), _) = function(pa.array(blocks, type=LINKS), own[0], other[0], links=True).to_pylist()
    assert wrong["wrong"] == (3 if change in ("no links", "no rows") else 1)


def linked(groups: list[Any], of_own: Any, of_other: Any, first: int, generator: random.Random) -> dict[str, Any]:
    """Some groups as the function gets them, in any order; links are numbered from the first."""
    own = [(group, row) for group, (rows, _) in enumerate(groups) for row in rows]
    every = [(group, link) for group, (_, links) in enumerate(groups) for link in links]
    other = [(group, number, value) for number, (group, link) in enumerate(every, start=first) for value in link]
    generator.shuffle(own)
    generator.shuffle(other)
    return {
        "own": written(*of_own, [row for _, row in own], [group for group, _ in own]),
        "other": written(*of_other, [[value] for *_, value in other]),
        "link": [(group << LINK_BITS) + number for group, number, _ in other],
    }
