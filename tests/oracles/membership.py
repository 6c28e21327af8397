"""Membership (Li, Li, Zhang and Molloy, Slicing, 2012, sections 5 and 6.3), from its definitions, over tuples.

Each tuple is compared with every bucket; no tables are joined.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

__all__ = ["Column", "figures", "most_fakes"]

Tuple = tuple[Hashable, ...]


@dataclass(frozen=True)
class Column:
    """Some attributes of a tuple, by position, and the values of these attributes in each bucket."""

    attributes: Sequence[int]
    values: Mapping[Hashable, Sequence[Tuple]]


def _domain(columns: Sequence[Column], attribute: int) -> list[Hashable]:
    """Returns the values that an attribute has in any bucket."""
    return list(
        {
            values[list(column.attributes).index(attribute)]
            for column in columns
            if attribute in column.attributes
            for of_bucket in column.values.values()
            for values in of_bucket
        }
    )


def _matches(some: Tuple, columns: Sequence[Column], bucket: Sequence[Hashable]) -> bool:
    return all(
        tuple(some[attribute] for attribute in column.attributes) in column.values.get(name, ())
        for column, name in zip(columns, bucket, strict=True)
    )


def _tuples(source: Sequence[Tuple], columns: Sequence[Column]) -> Iterator[Tuple]:
    """Yields all tuples that could match, and all tuples of the source."""
    attributes = sorted({attribute for column in columns for attribute in column.attributes})
    yield from {*product(*(_domain(columns, attribute) for attribute in attributes)), *source}


def figures(
    source: Sequence[Tuple], columns: Sequence[Column], buckets: Sequence[Sequence[Hashable]]
) -> dict[str, Fraction | None]:
    """Returns the figures of a release; `buckets` has for each bucket its name in every column."""
    matching = {
        some: sum(_matches(some, columns, bucket) for bucket in {*map(tuple, buckets)})
        for some in _tuples(source, columns)
    }
    original = [n for some, n in matching.items() if n and some in source]
    fake = [n for some, n in matching.items() if n and some not in source]
    return {
        "original": Fraction(len(original)),
        "fake": Fraction(len(fake)),
        "fake_original_ratio": Fraction(len(fake), len(original)) if original else None,
        **_matched("original", original),
        **_matched("fake", fake),
    }


def _matched(kind: str, buckets: Sequence[int]) -> dict[str, Fraction | None]:
    def share(some: Sequence[int]) -> Fraction | None:
        return Fraction(len(some), len(buckets)) if buckets else None

    name = f"matching_buckets_{kind}"
    return {
        name: Fraction(sum(buckets), len(buckets)) if buckets else None,
        f"{name}_at_most_10": share([n for n in buckets if n <= 10]),
        f"{name}_11_to_20": share([n for n in buckets if 11 <= n <= 20]),
        f"{name}_above_20": share([n for n in buckets if n > 20]),
    }


def most_fakes(size: int, columns: int) -> int:
    """Returns the paper's bound for the fakes of a bucket, k^c - k, which is reached if all values are different."""
    return int(size**columns - size)
