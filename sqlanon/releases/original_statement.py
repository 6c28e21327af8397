"""The statement that makes a release again as it was made."""

from __future__ import annotations

from sqlanon.catalog.snapshot import policy_of
from sqlanon.domain.release import Release
from sqlanon.errors import SqlanonError
from sqlanon.syntax.render import to_sql
from sqlanon.syntax.statements import CreateRelease, MethodCall

__all__ = ["statement_again"]


def statement_again(release: Release, *, or_replace: bool = False) -> str:
    """CREATE ANONYMIZED with the release's policy, method, arguments and sets of columns, as SQL.

    It makes the release by the policy as it is now, which may have changed.
    """
    method = MethodCall(release.method, release.method_arguments, _sets(release))
    return to_sql(CreateRelease(release.kind, release.name, release.policy, method, or_replace))


def _sets(release: Release) -> tuple[tuple[str, ...], ...]:
    """The sets of columns that are published together, where the policy keeps columns apart."""
    try:
        policy = policy_of(release)
    except SqlanonError:
        return ()
    if not policy.confidential:
        return ()
    known = {attribute.name for attribute in policy.attributes}
    names = dict.fromkeys(made.fragment for made in release.published)
    sets = (
        tuple(name_in_policy for a in release.attributes_of(name) if (name_in_policy := a.source or a.name) in known)
        for name in names
    )
    return tuple(columns for columns in sets if columns)
