"""What a script brings of METHOD anatomy: the sizes of buckets that it tries, and nothing of the release's rows."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.domain.bound import BoundAttribute, BoundPolicy
from sqlanon.domain.policy import Role
from sqlanon.domain.release import Release
from sqlanon.methods.registry import find_method
from sqlanon.questions.ask import BoundRequirement, least_rows
from sqlanon.warehouses.listed_tables import ListedTable
from sqlanon.warehouses.sizes import sizes

__all__ = ["BucketPlan", "bucket_plan", "unmade_buckets"]

# More rows than there are: all of them are one bucket.
_ALL = 2**62


@dataclass(frozen=True)
class BucketPlan:
    """The sizes of buckets that a script tries, and the published columns that rows keep beside their buckets."""

    trials: ListedTable
    carried: tuple[BoundAttribute, ...]


def unmade_buckets(release: Release, policy: BoundPolicy) -> tuple[str, str] | None:
    """Why no script can deal rows out to such buckets, and what to do instead; None where one can."""
    if len(policy.sensitive) != 1:
        return (
            f"its policy has {len(policy.sensitive)} sensitive columns, and a script deals rows out by one",
            "release one of them",
        )
    return None


def bucket_plan(release: Release, policy: BoundPolicy, requirements: tuple[BoundRequirement, ...]) -> BucketPlan:
    """The sizes: the least with which a bucket can satisfy, then twice as many rows each, and all of them."""
    options = find_method(release.method).options(release.method_arguments)
    least = max(int(options.least), least_rows(requirements))
    tried = [least << number for number in range(sizes().bucket_sizes)]
    rows = tuple((str(number), str(size)) for number, size in enumerate((*tried, _ALL)))
    said = "The sizes of buckets that are tried: the first with which all satisfy the requirements is taken."
    trials = ListedTable("trial_size", said, (("trial", "BIGINT"), ("size", "BIGINT")), rows)
    return BucketPlan(trials, tuple(bound for bound in policy.published if bound.role is not Role.SENSITIVE))
