"""The statement that makes a first release of a proposed policy, and what to know of both before they are run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlanon.assess.profiling.sizes import sizes
from sqlanon.domain.policy import Role
from sqlanon.domain.requests import MethodCall, ReleaseRequest
from sqlanon.domain.values import QualifiedName
from sqlanon.statements.policies._proposal import ProposedColumn, nodes
from sqlanon.syntax.definitions import release_text


def first_release(columns: Sequence[ProposedColumn], policy: str, name: str) -> str:
    """CREATE ANONYMIZED TABLE: a snapshot can be made of any source and in any database file.

    The default method, unless it would search for minutes: then Mondrian, which searches no lattice.
    """
    method = MethodCall("mondrian") if _is_large(columns) else MethodCall()
    return release_text(ReleaseRequest("table", QualifiedName((name,)), policy, method))


def about_policy(columns: Sequence[ProposedColumn]) -> str:
    """What the policy does not promise, and why its levels may take long to find."""
    return "; ".join(["edit it, then run it", *_warnings(columns)])


def about_release(columns: Sequence[ProposedColumn]) -> str:
    """When to make the release, and why by a method that is not the default."""
    when = "run it when the policy is as you want it: a snapshot beside its source, to look at"
    return f"{when}; METHOD mondrian, since generalization would search for minutes" if _is_large(columns) else when


def _warnings(columns: Sequence[ProposedColumn]) -> Iterator[str]:
    if entities := [column.attribute.name for column in columns if column.may_be_entity]:
        *others, last = entities
        names = f"{', '.join(others)} or {last}" if others else last
        yield (
            f"if {names} says whom a row is about, make it ENTITY: requirements count rows until then, and all k rows "
            "of a class may be of one person"
        )
    if all(column.attribute.role is not Role.SENSITIVE for column in columns):
        yield (
            "no column looks SENSITIVE: is any of these what people would keep to themselves? make it SENSITIVE, since "
            "until then the policy promises k-anonymity alone: nobody's row is found, but what all rows of a class "
            "have in common is known of each person in it"
        )
    if _is_large(columns):
        yield (
            f"its levels have {nodes(columns):,} combinations, which METHOD generalization searches for minutes, or "
            "only with time_limit: METHOD mondrian has none to search, generalization(time_limit => 60) stops at the "
            "best so far, and with fewer quasi-identifiers more is left of each"
        )


def _is_large(columns: Sequence[ProposedColumn]) -> bool:
    return nodes(columns) > sizes().quick_nodes
