"""k-butterfly (Pei, Tao, Li and Xiao 2009), from its definition over rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

__all__ = ["is_butterfly"]


def is_butterfly(rows: Sequence[Sequence[Hashable]], first: Sequence[int], second: Sequence[int], k: int) -> bool:
    """Whether each row is one of k or more that agree on the rest of either set, in a class of the shared columns."""
    shared = [place for place in first if place in second]
    for row in rows:
        hub = [other for other in rows if all(other[i] == row[i] for i in shared)]
        for columns in (first, second):
            rest = [place for place in columns if place not in shared]
            if sum(all(other[i] == row[i] for i in rest) for other in hub) < k:
                return False
    return True
