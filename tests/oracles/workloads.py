"""Errors of a workload by their definitions: each result on its own, and then the figures of all results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median

__all__ = ["Result", "figures"]


@dataclass(frozen=True)
class Result:
    """One figure of a query: the true answer (None: the source has no such group), the estimate, and its bounds."""

    query: int
    actual: float | None
    estimated: float | None
    low: float | None
    high: float | None
    lost: bool = False
    invented: bool = False

    @property
    def error(self) -> float | None:
        """The relative error; None if the true answer is 0 or unknown, or if there is no estimate."""
        if self.estimated is None or not self.actual:
            return None
        return abs(self.estimated - self.actual) / abs(self.actual)

    @property
    def within(self) -> bool | None:
        if self.invented or (self.actual is None and not self.lost):
            return None
        if self.lost or self.actual is None:
            return False
        return (self.low is None or self.low <= self.actual) and (self.high is None or self.actual <= self.high)


def figures(results: Sequence[Result]) -> Mapping[str, float | None]:
    """Returns the figures of MEASURE, except the 95 % quantile."""
    errors = [error for one in results if (error := one.error) is not None]
    within = [one.within for one in results if one.within is not None]
    return {
        "queries": len({one.query for one in results}),
        "results": len(results),
        "mean_relative_error": mean(errors) if errors else None,
        "median_relative_error": median(errors) if errors else None,
        "bounds_hit_rate": mean(within) if within else None,
        "zero_actual": sum(one.actual == 0 for one in results),
        "not_estimated": sum(one.actual is not None and one.estimated is None and not one.lost for one in results),
        "lost_groups": sum(one.lost for one in results),
        "invented_groups": sum(one.invented for one in results),
    }
