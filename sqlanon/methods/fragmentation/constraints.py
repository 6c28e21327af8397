"""What the methods that publish fragments have in common: what they refuse, and which columns are in which fragment."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy, Role
from sqlanon.errors import PolicyError
from sqlanon.methods.fragmentation.minimal_fragmentation import Fragmentation, fragmentation, require_correct
from sqlanon.methods.limits import CAN, Limits, Refusal

Sets = Sequence[Sequence[str]]

_HIDDEN = (Role.IDENTIFIER, Role.ENTITY)

_NO_MODEL = Refusal(
    "{policy}: METHOD {method} keeps what is CONFIDENTIAL, and cannot promise {requirement}",
    "leave REQUIRE out, or use METHOD generalization with a policy without CONFIDENTIAL",
)
# The limits of fragments: columns are not seen together, and nothing else is promised.
OF_FRAGMENTS = Limits(
    without_related=CAN,
    view=Refusal(
        "a live view cannot publish the fragments of METHOD {method}: their rows are in the source's order, "
        "which links them",
        "make a snapshot, CREATE ANONYMIZED TABLE",
    ),
    without_series=CAN,
    confidential=CAN,
    sets=CAN,
    requirements=_NO_MODEL,
    respondents=Refusal(
        "{policy}: METHOD {method} counts rows and not respondents, and {column} is ENTITY",
        "make it an IDENTIFIER, and give each respondent one row in the source, ON (SELECT ...)",
    ),
    pseudonyms=Refusal(
        "{policy}: METHOD {method} publishes no pseudonyms, and {column} is one: tokens would say which rows of a "
        "fragment are one respondent's",
        "leave PSEUDONYM out",
    ),
    min_level=Refusal(
        "{policy}: METHOD {method} publishes {column} as it is, and the policy says MIN LEVEL {level}",
        "leave MIN LEVEL out, or use METHOD generalization",
    ),
    max_level=CAN,
    itemsets=_NO_MODEL,
    on_spark=CAN,
    scripted=CAN,
)


def publishable(policy: Policy) -> list[str]:
    """The attributes that a fragment may have: all that do not name a respondent."""
    return [attribute.name for attribute in policy.attributes if attribute.role not in _HIDDEN]


def constraints_of(policy: Policy) -> list[tuple[str, ...]]:
    """The confidentiality constraints that a release could break; those with an identifier it never can."""
    names = set(map(fold, publishable(policy)))
    return [constraint for constraint in policy.confidential if names.issuperset(map(fold, constraint))]


def fragments_of(policy: BoundPolicy, sets: Sets, method: str) -> Fragmentation:
    """The fragments that the user named, if correct, or a minimal correct fragmentation, in the source's names.

    A minimal one publishes every attribute but those that are CONFIDENTIAL by themselves.
    Raises PolicyError where there is none.
    """
    declared = policy.policy
    names = publishable(declared)
    columns = {fold(bound.column): bound.column for bound in policy.attributes}
    if sets:
        _require_published(policy, sets, method)
        require_correct(sets, names, declared.confidential, declared.visible)
        correct = Fragmentation(tuple(map(tuple, sets)), (), len(sets), proven=False)
    else:
        constraints = constraints_of(declared)
        alone = {fold(constraint[0]) for constraint in constraints if len(constraint) == 1}
        required = [name for name in names if fold(name) not in alone]
        correct = fragmentation(names, constraints, declared.visible, required)
    if not correct.fragments:
        raise PolicyError(
            f"{declared}: nothing is left to publish: every column is CONFIDENTIAL by itself",
            hint="name columns that may be seen",
        )
    fragments = tuple(tuple(columns[fold(name)] for name in fragment) for fragment in correct.fragments)
    published = {name for fragment in fragments for name in fragment}
    left = tuple(name for name in map(columns.__getitem__, map(fold, names)) if name not in published)
    return Fragmentation(fragments, left, correct.least, correct.proven)


def _require_published(policy: BoundPolicy, sets: Sets, method: str) -> None:
    hidden = {fold(bound.column): bound for bound in policy.attributes if bound.role in _HIDDEN}
    for name in (name for fragment in sets for name in fragment):
        if fold(name) in hidden:
            role = hidden[fold(name)].role.upper()
            raise PolicyError(
                f"METHOD {method}: FRAGMENTS names {name}, which is {role} and not published",
                hint="leave it out",
            )


def loss_of(policy: BoundPolicy, fragments: Sets, rows: int, suppressed: int) -> Fraction:
    """The granularity loss: 0 for a value as it is, 1 for one that is not published, by the weights of attributes."""
    published = {name for fragment in fragments for name in fragment}
    weights = {bound.column: Fraction(bound.attribute.weight) for bound in policy.quasi_identifiers}
    whole = sum(weights.values(), Fraction(0)) * rows
    if not whole:
        return Fraction(0)
    remaining = sum((weight for name, weight in weights.items() if name in published), Fraction(0)) * (
        rows - suppressed
    )
    return 1 - remaining / whole
