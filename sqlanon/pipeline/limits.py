"""Stage 2: compares what a statement and its policy need with what the method can do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields

from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy
from sqlanon.errors import PolicyError
from sqlanon.inputs.joins.requirements import bind_joined, of_classes, of_join
from sqlanon.methods.limits import Limits
from sqlanon.questions.ask import BoundRequirement
from sqlanon.syntax.statements import CreateRelease

__all__ = ["require_within"]

_PUBLIC = ("public_class",)
_GUARDING = ("guarding_node", "guarded")


def require_within(
    limits: Limits,
    create: CreateRelease,
    policy: Policy,
    hierarchies: Mapping[str, StoredHierarchy],
    requirements: Sequence[BoundRequirement],
    *,
    distributed: bool,
) -> None:
    """Raises PolicyError, in the method's words, for what a statement needs and the method cannot do.

    `hierarchies` are those of the policy by their folded names. `distributed` says that the rows lie on another engine.
    """
    # Of several uses of an ability the error names the first.
    used = dict(reversed(list(_used(create, policy, hierarchies, requirements))))
    if distributed:
        used["distributed"] = {}
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
    create: CreateRelease,
    policy: Policy,
    hierarchies: Mapping[str, StoredHierarchy],
    requirements: Sequence[BoundRequirement],
) -> Iterator[tuple[str, dict[str, object]]]:
    """The abilities that are used, each with what its sentence may name."""
    if policy.related:
        yield "related", {"table": policy.related[0].name}
    if create.kind == "view":
        yield "view", {}
    yield ("without_series" if create.series is None else "series"), {}
    yield from _constraints_used(create, policy)
    yield from _attributes_used(policy, hierarchies)
    of_policy = requirements if of_classes(policy.requirements) else ()
    if without_itemsets := [requirement for requirement in of_policy if not requirement.of_itemsets]:
        yield "requirements", {"requirement": without_itemsets[0]}
    for requirement in requirements:
        about: dict[str, object] = {"requirement": requirement}
        if requirement.of_itemsets:
            yield "itemsets", about
        if any(name in requirement.reads for name in _PUBLIC):
            yield "public", about
        if any(name in requirement.reads for name in _GUARDING):
            yield "guarding", about
        if len(requirement.attributes) > 1:
            yield "jointly", about
        if requirement.on:
            yield "projections", about
    if policy.joined is not None:
        yield "joined", {"requirement": bind_joined(of_join(policy))[0], "other": policy.joined.release}


def _constraints_used(create: CreateRelease, policy: Policy) -> Iterator[tuple[str, dict[str, object]]]:
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
        if attribute.pseudonym:
            yield "pseudonyms", column
        if attribute.min_level:
            yield "min_level", column | {"level": attribute.min_level}
        # Without a hierarchy there are the value and '*'.
        top = hierarchies[fold(attribute.hierarchy)].height if attribute.hierarchy else 1
        if attribute.max_level is not None and attribute.max_level < top:
            yield "max_level", column | {"level": attribute.max_level}
