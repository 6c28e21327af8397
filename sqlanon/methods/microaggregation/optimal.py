"""The partition of one column's values into groups of at least k with the least sum of squared errors.

Hansen and Mukherjee, A polynomial algorithm for optimal univariate microaggregation (2003): groups of neighbors, of
k to 2k - 1 values, are the edges of a graph, and the best partition is its shortest path.
"""

from __future__ import annotations

import numpy as np

from sqlanon.methods.microaggregation.mdav import Numbers, Rows

# The maximum number of group errors in memory at once.
_AT_ONCE = 4_000_000


def optimal(values: Numbers, k: int) -> Rows:
    """The group number of each of at least k values, from 0 in the order of the values."""
    order = np.argsort(values, kind="stable")
    ordered, count = values[order], len(values)
    longest = min(2 * k - 1, count)
    # The least error of the first n values, infinite if they cannot be divided, and the size of their last group.
    least, last = np.full(count + 1, np.inf), np.zeros(count + 1, dtype=np.int64)
    least[0] = 0.0
    step = max(_AT_ONCE // longest // k, 1) * k
    for start in range(k, count + 1, step):
        ends = np.arange(start, min(start + step, count + 1))
        errors = _errors(ordered, ends, k, longest)
        # Groups have at least k values, so none of k consecutive ends depends on another.
        for first in range(0, len(ends), k):
            of_ends = ends[first : first + k]
            before = of_ends[:, None] - np.arange(k, longest + 1)
            through = np.where(before < 0, np.inf, least[np.maximum(before, 0)]) + errors[first : first + k]
            best = np.argmin(through, axis=1)
            least[of_ends], last[of_ends] = through[np.arange(len(of_ends)), best], best + k
    groups = np.zeros(count, dtype=np.int64)
    end = count
    while end > 0:
        groups[order[end - last[end] : end]] = end
        end -= int(last[end])
    numbers: Rows = np.unique(groups, return_inverse=True)[1].reshape(count)
    return numbers


def _errors(ordered: Numbers, ends: Rows, k: int, longest: int) -> Numbers:
    """Returns the sums of squared errors of all possible groups of neighbors among sorted values.

    There is a row for each of `ends`, the index before which a group ends, and a column for each size from k to
    `longest`. Values are subtracted from the greatest value of a group, so that sums of large numbers keep small
    differences exact.
    """
    members = ends[:, None] - 1 - np.arange(longest)
    below = ordered[ends - 1][:, None] - ordered[np.maximum(members, 0)]
    sums, squares = np.cumsum(below, axis=1), np.cumsum(below * below, axis=1)
    errors: Numbers = (squares - sums * sums / np.arange(1, longest + 1))[:, k - 1 :]
    return np.maximum(errors, 0.0)
