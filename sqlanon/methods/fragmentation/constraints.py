"""What the methods that publish fragments have in common: what they refuse, and which columns are in which fragment."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sqlglot import exp

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy, Role
from sqlanon.engines.base import Engine
from sqlanon.errors import PolicyError
from sqlanon.methods.fragmentation.minimal_fragmentation import Fragmentation, fragmentation, require_correct
from sqlanon.methods.limits import Limits, Refusal
from sqlanon.sqlgen.build import functions as f
from sqlanon.sqlgen.build.names import relation

__all__ = ["Sets", "constraints_of", "fragments_of", "limits_of_fragments", "loss_of", "publishable", "rows_of_source"]

Sets = Sequence[Sequence[str]]

_HIDDEN = (Role.IDENTIFIER, Role.ENTITY)


def publishable(policy: Policy) -> list[str]:
    """The attributes that a fragment may have: all that do not name a respondent."""
    return [attribute.name for attribute in policy.attributes if attribute.role not in _HIDDEN]


def constraints_of(policy: Policy) -> list[tuple[str, ...]]:
    """The confidentiality constraints that a release could break; those with an identifier it never can."""
    shown = set(map(fold, publishable(policy)))
    return [one for one in policy.confidential if shown.issuperset(map(fold, one))]


def limits_of_fragments() -> Limits:
    """What fragments can promise: that columns are not seen together, whatever else is asked."""
    model = Refusal(
        "{policy}: METHOD {method} keeps what is CONFIDENTIAL, and cannot promise {requirement}",
        "leave REQUIRE out, or use METHOD generalization with a policy without CONFIDENTIAL",
    )
    return Limits(
        view=Refusal(
            "a live view cannot publish the fragments of METHOD {method}: their rows are in the source's order, "
            "which links them",
            "make a snapshot, CREATE ANONYMIZED TABLE",
        ),
        unconstrained=Refusal(
            "{policy}: nothing is CONFIDENTIAL, so that METHOD {method} has nothing to keep apart",
            "say what must not be seen together: CONFIDENTIAL (zip, disease)",
        ),
        confidential=None,
        sets=None,
        requirements=model,
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
        max_level=None,
        public=model,
        guarding=model,
        jointly=model,
    )


def fragments_of(policy: BoundPolicy, given: Sets, method: str) -> Fragmentation:
    """The user's own fragments, if they are correct, or a minimal correct fragmentation; names are those of the source.

    A fragmentation that is found publishes every attribute but those that are CONFIDENTIAL by themselves.
    Raises PolicyError where there is none.
    """
    asked = policy.policy
    names = publishable(asked)
    columns = {fold(bound.column): bound.column for bound in policy.attributes}
    if given:
        _require_published(policy, given, method)
        require_correct(given, names, asked.confidential, asked.visible)
        found = Fragmentation(tuple(map(tuple, given)), (), len(given), proven=False)
    else:
        constraints = constraints_of(asked)
        alone = {fold(one[0]) for one in constraints if len(one) == 1}
        required = [name for name in names if fold(name) not in alone]
        found = fragmentation(names, constraints, asked.visible, required)
    if not found.fragments:
        raise PolicyError(
            f"{asked}: nothing is left to publish: every column is CONFIDENTIAL by itself",
            hint="name columns that may be seen",
        )
    own = tuple(tuple(columns[fold(name)] for name in fragment) for fragment in found.fragments)
    published = {name for fragment in own for name in fragment}
    left = tuple(name for name in map(columns.__getitem__, map(fold, names)) if name not in published)
    return Fragmentation(own, left, found.least, found.proven)


def _require_published(policy: BoundPolicy, given: Sets, method: str) -> None:
    hidden = {fold(bound.column): bound for bound in policy.attributes if bound.role in _HIDDEN}
    for name in (name for fragment in given for name in fragment):
        if fold(name) in hidden:
            role = hidden[fold(name)].role.upper()
            raise PolicyError(
                f"METHOD {method}: FRAGMENTS names {name}, which is {role} and not published",
                hint="leave it out",
            )


def loss_of(policy: BoundPolicy, fragments: Sets, rows: int, suppressed: int) -> Fraction:
    """The granularity loss: 0 for a value as it is, 1 for one that is not published, by the weights of attributes."""
    held = {name for fragment in fragments for name in fragment}
    weights = {bound.column: Fraction(bound.attribute.weight) for bound in policy.quasi_identifiers}
    whole = sum(weights.values(), Fraction(0)) * rows
    if not whole:
        return Fraction(0)
    shown = sum((weight for name, weight in weights.items() if name in held), Fraction(0)) * (rows - suppressed)
    return 1 - shown / whole


def rows_of_source(engine: Engine, policy: BoundPolicy) -> int:
    query = exp.select(f.count()).from_(relation(policy.relation))
    return int(engine.rows(query)[0][0])
