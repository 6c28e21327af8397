"""What functions over masks come to against a loop over every query, bucket, row and value."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from sqlanon import udfs
from sqlanon.workload.answering import Masks, masks_of

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
    return masks_of(VALUES, len(asked), [query for query, *_ in intervals], intervals)


def holds(asked: Sequence[Sequence[Query]], query: int, row: Sequence[int]) -> bool:
    ends = [one[query] for one in asked]
    return all(one is None or one[0] <= value <= one[1] for one, value in zip(ends, row, strict=True))


def typed(rows: Any, name: str) -> pa.Array:
    kinds = {"rows": pa.list_(pa.list_(pa.int32())), "value": pa.list_(pa.list_(pa.int32()))}
    fields = ("rows", "row_buckets", "value", "value_buckets", "weight")
    one = pa.struct([(field, kinds.get(field, pa.list_(pa.int32()))) for field in fields])
    return pa.array(rows, type=one if name == "bucket_sums" else kinds["rows"])


@pytest.mark.parametrize("queries", [1, 64, 130])
@pytest.mark.parametrize("rows", [0, 1, 700, 5000])
def test_rows_that_satisfy(queries: int, rows: int) -> None:
    generator = random.Random(queries * rows)
    asked = [drawn(generator, queries) for _ in range(2)]
    table = [[generator.randrange(VALUES) for _ in range(2)] for _ in range(rows)]
    blocks = [table[: rows // 3], table[rows // 3 :]]
    given = typed([[[row[place] for row in block] for place in range(2)] for block in blocks], "satisfying_rows")
    found = udfs.load("satisfying_rows").satisfying_rows(given, [masks(one) for one in asked], queries).to_pylist()
    assert found == [[sum(holds(asked, query, row) for row in table) for query in range(queries)], []]


@pytest.mark.parametrize("queries", [1, 100])
@pytest.mark.parametrize("sizes", [[3], [1, 2, 3, 4, 5, 17], [3] * 700 + [4] * 30])
def test_sums_over_buckets(queries: int, sizes: list[int]) -> None:
    generator = random.Random(queries + len(sizes))
    asked = [drawn(generator, queries) for _ in range(3)]
    rows = [[[generator.randrange(VALUES) for _ in range(2)] for _ in range(size)] for size in sizes]
    values = [[generator.randrange(VALUES) for _ in range(size)] for size in sizes]
    half = len(sizes) // 2
    blocks = [block(rows[:half], values[:half], generator), block(rows[half:], values[half:], generator)]
    row_masks, value_masks = [masks(one) for one in asked[:2]], [masks(asked[2])]
    function = udfs.load("bucket_sums").bucket_sums
    first, second = function(typed(blocks, "bucket_sums"), row_masks, value_masks, queries).to_pylist()
    assert second == []
    assert first[0]["wrong"] == 0
    expected: dict[int, list[list[int]]] = {size: [[0] * 4 for _ in range(queries)] for size in sorted(set(sizes))}
    for some, dealt in zip(rows, values, strict=True):
        for query, sums in enumerate(expected[n := len(some)]):
            m = sum(holds(asked[:2], query, row) for row in some)
            s = sum(holds(asked[2:], query, [value]) for value in dealt)
            for place, part in enumerate((m * s, m * s * s, max(0, m + s - n), min(m, s))):
                sums[place] += part
    names = ("hits", "squares", "low", "high")
    assert {
        one["n"]: [list(sums) for sums in zip(*(one[name] for name in names), strict=True)] for one in first[1:]
    } == (expected)
    blocks[0 if half else 1]["row_buckets"].append(2)
    for column in blocks[0 if half else 1]["rows"]:
        column.append(0)
    ((wrong,), _) = function(typed(blocks, "bucket_sums"), row_masks, value_masks, queries).to_pylist()
    assert wrong["wrong"] == 1


def block(rows: list[list[list[int]]], values: list[list[int]], generator: random.Random) -> dict[str, Any]:
    """Some buckets as the function gets them, in any order; equal values of a bucket are one with a weight."""
    every = [(place, row) for place, some in enumerate(rows) for row in some]
    held = [(place, value, some.count(value)) for place, some in enumerate(values) for value in sorted(set(some))]
    generator.shuffle(every)
    generator.shuffle(held)
    return {
        "rows": [[row[place] for _, row in every] for place in range(2)],
        "row_buckets": [place for place, _ in every],
        "value": [[value for _, value, _ in held]],
        "value_buckets": [place for place, *_ in held],
        "weight": [weight for *_, weight in held],
    }


@pytest.mark.parametrize("queries", [1, 100])
@pytest.mark.parametrize("sizes", [[2], [1, 2, 3, 4, 5], [2] * 600 + [3] * 20])
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
    lists = pa.list_(pa.int32())
    kind = {"own": pa.list_(lists), "own_group": lists, "other": pa.list_(lists), "link_group": lists}
    kind |= {"link": pa.list_(pa.int64())}
    blocks = [linked(groups[:half], 0, generator), linked(groups[half:], half * 10, generator)]
    given = pa.array(blocks, type=pa.struct(list(kind.items())))
    own, other = [masks(one) for one in asked[:2]], [masks(asked[2])]
    first, second = udfs.load("link_sums").link_sums(given, own, other, queries, links=True).to_pylist()
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
        assert {name: first[0][name][query] for name in names} == sums
        assert {one["total"]: [one["hits"][query], one["squares"][query]] for one in first[1:]} == hits


def linked(groups: list[Any], first: int, generator: random.Random) -> dict[str, Any]:
    """Some groups as the function gets them, in any order; links are numbered from the first."""
    own = [(place, row) for place, (rows, _) in enumerate(groups) for row in rows]
    every = [(place, link) for place, (_, links) in enumerate(groups) for link in links]
    other = [(place, number, value) for number, (place, link) in enumerate(every, start=first) for value in link]
    generator.shuffle(own)
    generator.shuffle(other)
    return {
        "own": [[row[place] for _, row in own] for place in range(2)],
        "own_group": [place for place, _ in own],
        "other": [[value for *_, value in other]],
        "link_group": [place for place, *_ in other],
        "link": [number for _, number, _ in other],
    }
