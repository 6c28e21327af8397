"""The deFinetti attack (Kifer 2009), over every assignment of a bucket's values: naive Bayes learned in rounds.

The input is what is published: the rows of each bucket with their columns, and its values in any order.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from itertools import permutations
from math import prod

__all__ = ["Belief", "Bucket", "named", "rounds_of_belief"]

Row = tuple[Hashable, ...]
# The rows of a bucket, and its values, each as often as it occurs.
Bucket = tuple[Sequence[Row], Sequence[Hashable]]
# For each row of a bucket the probability of each value.
Belief = list[dict[Hashable, float]]


def rounds_of_belief(buckets: Sequence[Bucket], rounds: int) -> list[list[Belief]]:
    """Returns the beliefs about each bucket before the first round and after each round.

    A round adds up how often each value goes with each value of a column by the current beliefs, plus one each. Then
    the likelihood of an assignment is the product over the bucket's rows and their columns.
    """
    columns = len(buckets[0][0][0])
    kinds = [len({row[place] for rows, _ in buckets for row in rows}) for place in range(columns)]
    believed = [_random_worlds(bucket) for bucket in buckets]
    found = [believed]
    for _ in range(rounds):
        having: dict[Hashable, float] = defaultdict(float)
        pairs: dict[tuple[int, Hashable, Hashable], float] = defaultdict(float)
        for (rows, _), belief in zip(buckets, believed, strict=True):
            for row, shares in zip(rows, belief, strict=True):
                for value, share in shares.items():
                    having[value] += share
                    for place, part in enumerate(row):
                        pairs[place, part, value] += share
        believed = [
            _posterior(
                bucket,
                [
                    {
                        value: prod(
                            (pairs[place, part, value] + 1) / (having[value] + kinds[place])
                            for place, part in enumerate(row)
                        )
                        for value in bucket[1]
                    }
                    for row in bucket[0]
                ],
            )
            for bucket in buckets
        ]
        found.append(believed)
    return found


def _random_worlds(bucket: Bucket) -> Belief:
    rows, values = bucket
    return [{value: n / len(values) for value, n in Counter(values).items()} for _ in rows]


def _posterior(bucket: Bucket, likely: Sequence[dict[Hashable, float]]) -> Belief:
    """Returns the probability of each value for each row: assignments of the bucket's values by their likelihood."""
    rows, values = bucket
    found = [dict.fromkeys(values, 0.0) for _ in rows]
    whole = 0.0
    for dealing in permutations(values):
        weight = prod(shares[value] for shares, value in zip(likely, dealing, strict=True))
        whole += weight
        for shares, value in zip(found, dealing, strict=True):
            shares[value] += weight
    return [{value: share / whole for value, share in shares.items()} for shares in found]


def named(belief: dict[Hashable, float]) -> tuple[Hashable, float]:
    """Returns the most probable value, and its probability."""
    return max(belief.items(), key=lambda one: (one[1], str(one[0])))
