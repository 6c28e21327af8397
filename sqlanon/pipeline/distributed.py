"""What a release cannot have, by any method, whose rows are on another engine than the catalog."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlanon.domain.identifiers import same_name
from sqlanon.domain.policy import Policy
from sqlanon.errors import PolicyError
from sqlanon.methods.limits import ON_DUCKDB
from sqlanon.questions.ask import BoundRequirement
from sqlanon.syntax.statements import CreateRelease

__all__ = ["require_possible"]


def require_possible(create: CreateRelease, policy: Policy, requirements: Sequence[BoundRequirement]) -> None:
    """Raises PolicyError, with the reason, for what a release on Spark cannot be or have."""
    for source in (policy.source, *([policy.against] if policy.against else [])):
        if source.name and len(source.name.parts) == 1 and same_name(source.name.name, create.name.name):
            raise PolicyError(
                f"{create.name} has the name of what it is made from, which would be found in its place",
                hint="give the release another name",
                part=("release",),
            )
    for part, what in _refused(create, policy, requirements):
        raise PolicyError(
            f"{what}, so that it does not run with engine => 'spark'",
            hint=ON_DUCKDB,
            part=part,
        )


def _refused(
    create: CreateRelease, policy: Policy, requirements: Sequence[BoundRequirement]
) -> Iterator[tuple[tuple[str, ...], str]]:
    """What is not possible, each with the part of the statement that asks for it."""
    if create.kind == "view":
        yield ("release",), "a live view is a query of DuckDB's on its source"
    if create.series is not None:
        yield ("series",), "a series keeps who was in which class, as rows of the catalog"
    if policy.joined is not None:
        yield ("policy",), f"{policy} is JOINED WITH RELEASE, whose rows are compared with those of the source"
    if policy.related:
        yield ("policy",), f"{policy} has related tables, whose rows are linked by numbers that are drawn"
    if policy.pivot:
        yield ("policy",), f"{policy} has PIVOT, which makes columns of rows"
    if any(attribute.pseudonym for attribute in policy.all_attributes):
        yield ("policy",), f"{policy} has pseudonyms, whose key stays in the process that makes them"
    for requirement in requirements:
        if requirement.of_itemsets:
            yield ("policy",), f"{requirement} is of items in lists, which engines count differently"
