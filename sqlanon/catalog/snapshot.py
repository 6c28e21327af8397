"""Copies a policy and its hierarchies into a release, which keeps them when they are replaced."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache

from sqlanon.catalog._json import (
    BadJson,
    DefinitionObject,
    JsonObject,
    PolicyObject,
    Text,
    canonical,
    dumps,
    json_of,
    loads,
    typed,
)
from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy
from sqlanon.domain.release import Release
from sqlanon.errors import CatalogError


class _Hierarchy(JsonObject, frozen=True):
    definition: DefinitionObject
    height: int
    digest: Text


class _Copy(JsonObject, frozen=True, kw_only=True):
    types: dict[Text, Text]
    joined: Text | None = None
    series: Text | None = None
    policy: PolicyObject
    hierarchies: tuple[_Hierarchy, ...]


def release_json(
    policy: Policy,
    hierarchies: Sequence[StoredHierarchy],
    types: Mapping[str, str],
    joined: str | None = None,
    series: str | None = None,
) -> str:
    """Writes the copy as JSON; `policy_of`, `hierarchies_of`, `types_of`, `joined_with` and `series_name_of` read it.

    Stored labels are represented only by their digest. `types` are the types of the source's columns by name, for the
    policy's attributes; `joined` is the id of the release that the policy joins; `series` is the name of the series in
    which the release is made.
    """
    copy = _Copy(
        types=dict(types),
        joined=joined,
        series=series,
        policy=PolicyObject.of(policy),
        hierarchies=tuple(_Hierarchy(DefinitionObject.of(h.definition), h.height, h.digest) for h in hierarchies),
    )
    return dumps(json_of(copy))


def policy_of(release: Release) -> Policy:
    """Returns the policy under which a release was made, even if it has been changed since.

    Raises CatalogError if the release's row was changed so that the copy cannot be read.
    """
    with _reading(release):
        return _copy(release.policy_json).policy.as_domain


def hierarchies_of(release: Release) -> tuple[StoredHierarchy, ...]:
    """Returns the hierarchies with which a release was made; raises the errors of `policy_of`."""
    with _reading(release):
        return tuple(
            StoredHierarchy(h.definition.as_domain, h.height, h.digest) for h in _copy(release.policy_json).hierarchies
        )


def types_of(release: Release) -> dict[str, str]:
    """Returns the types of the source's columns that the policy names.

    Raises CatalogError as `policy_of` does.
    """
    with _reading(release):
        return dict(_copy(release.policy_json).types)


def joined_with(release: Release) -> str | None:
    """Returns the id of the release whose join with this one was measured when it was made; None if no join was
    measured.

    Raises CatalogError as `policy_of` does.
    """
    with _reading(release):
        return _copy(release.policy_json).joined


def series_name_of(release: Release) -> str | None:
    """Returns the name of the series in which a release was made, by its own copy; None for a release outside of a
    series.

    Raises CatalogError as `policy_of` does.
    """
    with _reading(release):
        return _copy(release.policy_json).series


def changed_since(
    release: Release,
    policy: Policy,
    hierarchies: Sequence[StoredHierarchy],
    types: Mapping[str, str],
    automatic: Collection[str],
) -> str | None:
    """Describes changes of the policy or source since a release was made; None if only rows have changed.

    `policy` and `hierarchies` are the current policy and its hierarchies, and `types` are those of `release_json`.
    Labels that are read from a table count as rows, and so do the `automatic` hierarchies, which USING AUTO makes of
    rows. Raises the errors of `policy_of`.
    """
    ignored = set(map(fold, automatic))
    former = _definitions(policy_of(release), hierarchies_of(release), ignored)
    if former != _definitions(policy, hierarchies, ignored):
        return "the policy has changed"
    former_types = {fold(name): kind for name, kind in types_of(release).items()}
    if former_types != {fold(name): kind for name, kind in types.items()}:
        return "the types of the source's columns have changed"
    return None


def _definitions(policy: Policy, hierarchies: Sequence[StoredHierarchy], ignored: Collection[str]) -> str:
    """Writes a policy and its hierarchies as text, without labels and without the ignored hierarchies."""
    definitions = {fold(h.definition.name): json_of(DefinitionObject.of(h.definition)) for h in hierarchies}
    written = [definition for name, definition in sorted(definitions.items()) if name not in ignored]
    return canonical([json_of(PolicyObject.of(policy)), written])


@lru_cache(maxsize=32)
def _copy(text: str) -> _Copy:
    """Parses a copy; the result is cached, because a statement reads several of its parts."""
    return typed(loads(text), _Copy, "the copy")


@contextmanager
def _reading(release: Release) -> Iterator[None]:
    try:
        yield
    except BadJson as problem:
        raise CatalogError(
            f"release {release.name}: the policy stored in its row of anon.release cannot be read: {problem}",
            hint="the row was changed: drop the release and make it again",
        ) from None


# The fingerprint of a policy and the hierarchies that it uses.


def fingerprint(policy: Policy, hierarchies: Sequence[StoredHierarchy]) -> str:
    """Returns the SHA-256, in hexadecimal, of a policy and its hierarchies, including labels.

    Any change that could change a release changes it, and so do new names. It does not depend on the order of
    hierarchies or named arguments, or on zeros that do not change a number.
    """
    ordered = sorted(hierarchies, key=lambda stored: fold(stored.definition.name))
    text = canonical(
        {
            "policy": json_of(PolicyObject.of(policy)),
            "hierarchies": [[json_of(DefinitionObject.of(h.definition)), h.height, h.digest] for h in ordered],
        }
    )
    return hashlib.sha256(text.encode()).hexdigest()
