"""The statement that makes a release again as it was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.calls import MethodCall
from sqlanon.domain.release import Release
from sqlanon.domain.requests import ReleaseRequest
from sqlanon.domain.values import Value
from sqlanon.errors import SqlanonError
from sqlanon.methods.registry import find_method
from sqlanon.methods.shared.arguments import Argument, arguments_of
from sqlanon.syntax.definitions import release_text


def statement_again(release: Release, *, or_replace: bool = False, series: str | None = None) -> str:
    """CREATE ANONYMIZED with the release's policy, method, arguments and sets of columns, as SQL, in a series.

    It makes the release by the policy as it is now, which may have changed.
    """
    return release_text(replace(request_again(release, or_replace=or_replace), series=series))


def request_again(release: Release, *, or_replace: bool = False) -> ReleaseRequest:
    """The request of `statement_again`, outside of any series."""
    return ReleaseRequest(release.kind, release.name, release.policy, _method(release), or_replace)


def _method(release: Release) -> MethodCall:
    """The method, its arguments and the columns of each table, where a user may name them."""
    call = MethodCall(release.method, release.method_arguments)
    try:
        policy = policy_of(release)
        method = find_method(release.method)
        limits = method.limits(method.options(release.method_arguments))
    except SqlanonError:
        return call
    known = {attribute.name for attribute in policy.attributes}
    names = dict.fromkeys(made.fragment for made in release.published)
    sets = (
        tuple(name_in_policy for a in release.attributes_of(name) if (name_in_policy := a.source or a.name) in known)
        for name in names
    )
    columns = tuple(columns for columns in sets if columns)
    if limits.columns is None:
        return replace(call, arguments=_beside_columns(arguments_of(method.OPTIONS), release), columns=columns)
    return replace(call, sets=columns) if limits.sets is None else call


def _beside_columns(known: Mapping[str, Argument], release: Release) -> tuple[tuple[str, Value], ...]:
    """The arguments but those that say how columns are found: the statement names the columns."""
    return tuple((name, value) for name, value in release.method_arguments if not known[name].finds_columns)
