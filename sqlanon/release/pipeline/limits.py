"""Stage 2: compares the needs of a statement and its policy with the abilities of the method and of the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields

from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.catalog.in_place import clause_of
from sqlanon.domain.identifiers import fold, same_name
from sqlanon.domain.policy import Policy
from sqlanon.domain.requests import ReleaseRequest
from sqlanon.errors import PolicyError
from sqlanon.methods.limits import ON_DUCKDB, Limits
from sqlanon.sources.joins import bind_joined, of_classes, of_join
from sqlanon.sql.classes.supersets import SUPERSET
from sqlanon.sql.questions.ask import BoundRequirement

_PUBLIC = ("public_class",)
_GUARDING = ("guarding_node", "guarded")


def require_within(
    limits: Limits,
    create: ReleaseRequest,
    policy: Policy,
    hierarchies: Mapping[str, StoredHierarchy],
    requirements: Sequence[BoundRequirement],
    *,
    on_spark: bool,
) -> None:
    """Raises PolicyError, in the method's words, if a statement needs an ability that the method lacks.

    `hierarchies` has the policy's hierarchies by their folded names. `on_spark` is true for rows on Spark.
    """
    # Of several uses of an ability the error names the first.
    used = dict(reversed(list(_used(create, policy, hierarchies, requirements))))
    if on_spark:
        used["on_spark"] = {}
    for limit in fields(limits):
        refusal = getattr(limits, limit.name)
        if refusal is not None and limit.name in used:
            about = {"policy": policy, "method": create.method.name} | used[limit.name]
            raise PolicyError(
                refusal.sentence.format_map(about),
                hint=refusal.hint.format_map(about),
                part=("method", create.method.name),
            )


def _used(
    create: ReleaseRequest,
    policy: Policy,
    hierarchies: Mapping[str, StoredHierarchy],
    requirements: Sequence[BoundRequirement],
) -> Iterator[tuple[str, dict[str, object]]]:
    """Yields the abilities that the statement needs, each with the values for the placeholders of its refusal."""
    tables: dict[str, object] = {"table": policy.related[0].name} if policy.related else {}
    yield ("related" if policy.related else "without_related"), tables
    if create.kind == "view":
        yield "view", tables | {"release": create.name}
    yield ("without_series" if create.series is None else "series"), tables
    yield from _constraints_used(create, policy)
    yield from _attributes_used(policy, hierarchies)
    yield from _requirements_used(policy, requirements)
    if policy.joined is not None:
        yield "joined", {"requirement": bind_joined(of_join(policy))[0], "other": policy.joined.release}


def _requirements_used(
    policy: Policy, requirements: Sequence[BoundRequirement]
) -> Iterator[tuple[str, dict[str, object]]]:
    without_itemsets = [requirement for requirement in requirements if not requirement.of_itemsets]
    if without_itemsets and of_classes(policy.requirements):
        yield "requirements", {"requirement": without_itemsets[0]}
    for requirement in requirements:
        about: dict[str, object] = {"requirement": requirement}
        uses = {
            "itemsets": requirement.of_itemsets,
            "public": not set(_PUBLIC).isdisjoint(requirement.reads),
            "guarding": not set(_GUARDING).isdisjoint(requirement.reads),
            "samples": requirement.question.of_sample,
            "jointly": len(requirement.attributes) > 1,
            "projections": bool(requirement.on),
            "whole": requirement.of_whole_release and SUPERSET not in requirement.reads,
            "broader": SUPERSET in requirement.reads,
        }
        yield from ((ability, about) for ability, used in uses.items() if used)


def _constraints_used(create: ReleaseRequest, policy: Policy) -> Iterator[tuple[str, dict[str, object]]]:
    if policy.confidential:
        yield "confidential", {"set": f"({', '.join(policy.confidential[0])})"}
    else:
        yield "unconstrained", {}
    if create.method.sets:
        yield "sets", {"set": f"({', '.join(create.method.sets[0])})"}
    if create.method.columns or create.method.each_apart:
        yield "columns", {}


def _attributes_used(
    policy: Policy, hierarchies: Mapping[str, StoredHierarchy]
) -> Iterator[tuple[str, dict[str, object]]]:
    for attribute in policy.all_attributes:
        column: dict[str, object] = {"column": attribute.name}
        if attribute is policy.entity:
            yield "respondents", column
        if attribute.is_shifted:
            yield "shifts", column
        elif attribute.pseudonym:
            yield "pseudonyms", column | {"clause": clause_of(attribute)}
        if attribute.is_coarse:
            yield "labels", column
        elif attribute.min_level:
            yield "min_level", column | {"level": attribute.min_level}
        # A column without a hierarchy has two levels: the value and '*'.
        top = hierarchies[fold(attribute.hierarchy)].height if attribute.hierarchy else 1
        if attribute.max_level is not None and attribute.max_level < top:
            yield "max_level", column | {"level": attribute.max_level}


def require_snapshot(create: ReleaseRequest, requirements: Sequence[BoundRequirement]) -> None:
    """Raises PolicyError for a live view with a requirement that compares a class with broader classes."""
    if create.kind != "view":
        return
    for requirement in requirements:
        if SUPERSET in requirement.reads:
            raise PolicyError(
                f"a live view cannot check {requirement}: the broader classes that it compares with change with every "
                "row",
                hint="make a snapshot, CREATE ANONYMIZED TABLE",
                part=("release",),
            )


def require_possible(create: ReleaseRequest, policy: Policy, requirements: Sequence[BoundRequirement]) -> None:
    """Raises PolicyError, with the reason, for a release that cannot be made on Spark."""
    for source in (policy.source, *([policy.against] if policy.against else [])):
        if source.name and len(source.name.parts) == 1 and same_name(source.name.name, create.name.name):
            raise PolicyError(
                f"{create.name} has the same name as its source, so the two could be confused",
                hint="give the release another name",
                part=("release",),
            )
    for part, what in _refused(create, policy, requirements):
        raise PolicyError(
            f"{what}, so it does not run with engine => 'spark'",
            hint=ON_DUCKDB,
            part=part,
        )


def _refused(
    create: ReleaseRequest, policy: Policy, requirements: Sequence[BoundRequirement]
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yields the reasons of refusal, each with the part of the statement that it concerns."""
    if create.kind == "view":
        yield ("release",), "a live view is a query of DuckDB's on its source"
    if create.series is not None:
        yield ("series",), "a series keeps who was in which class, as rows of the catalog"
    if policy.joined is not None:
        yield ("policy",), f"{policy} is JOINED WITH RELEASE, whose rows are compared with the source's rows"
    if policy.related:
        yield ("policy",), f"{policy} has related tables, whose rows are linked by random numbers"
    if policy.pivot:
        yield ("policy",), f"{policy} has PIVOT, which makes columns of rows"
    if any(attribute.is_shifted for attribute in policy.all_attributes):
        yield ("policy",), f"{policy} has SHIFT, whose key stays in the process that computes the days"
    elif any(attribute.pseudonym for attribute in policy.all_attributes):
        yield ("policy",), f"{policy} has pseudonyms, whose key stays in the process that makes them"
    for requirement in requirements:
        if SUPERSET in requirement.reads:
            yield ("policy",), f"{requirement} reads the labels above a class's labels, which are kept on DuckDB"
        if requirement.of_itemsets:
            yield ("policy",), f"{requirement} is of items in lists, which engines count differently"
