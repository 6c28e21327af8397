"""What a release cannot have yet whose rows are on another engine than the catalog."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlanon.domain.policy import Policy
from sqlanon.errors import PolicyError
from sqlanon.questions.ask import BoundRequirement
from sqlanon.syntax.statements import CreateRelease

__all__ = ["METHODS", "require_possible"]

# The methods that work on summaries of the source and whose releases are one SELECT, and those whose rows get numbers
# that no order of them is read for.
METHODS = ("generalization", "mondrian", "anatomy", "fragments", "loose", "slicing", "trivial")

# What an argument of a method asks for that rows on Spark cannot have, by its value.
_ARGUMENTS = {
    ("generalization", "recoding", "local"): "recodes rows in rounds, which are a recursive query",
    ("mondrian", "mode", "relaxed"): "gives equal rows several regions by their numbers, which rows on Spark have not",
    ("mondrian", "publish", "none"): "mixes the values of each region by draws of DuckDB's",
}


def require_possible(create: CreateRelease, policy: Policy, requirements: Sequence[BoundRequirement]) -> None:
    """Raises PolicyError, with the reason, for what a release on Spark cannot be or have."""
    for part, what in _refused(create, policy, requirements):
        raise PolicyError(
            f"{what}, so that it does not run with engine => 'spark'",
            hint="make it on DuckDB, with a table of the rows there: CREATE TABLE ... AS FROM read_parquet(...)",
            part=part,
        )


def _refused(
    create: CreateRelease, policy: Policy, requirements: Sequence[BoundRequirement]
) -> Iterator[tuple[tuple[str, ...], str]]:
    """What is not possible, each with the part of the statement that asks for it."""
    method = create.method.name
    if create.kind == "view":
        yield ("release",), "a live view is a query of DuckDB's on its source"
    if method not in METHODS:
        yield ("method", method), f"METHOD {method} moves rows between temporary tables of DuckDB's"
    for name, value in create.method.arguments:
        if why := _ARGUMENTS.get((method, name, str(value))):
            yield ("method", method), f"{name} => '{value}' {why}"
    if method == "loose" and dict(create.method.arguments).get("near"):
        yield ("method", method), "near rows are moved between temporary tables of DuckDB's until they fit"
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
