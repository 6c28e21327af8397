"""The copy of a policy and its hierarchies that a release carries, so that it outlives their replacement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlanon.catalog._domain_json import definition_from_json, definition_to_json, policy_from_json, policy_to_json
from sqlanon.catalog._json import BadJson, dumps, fields_of, list_of, loads, text_of
from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.domain.policy import Policy
from sqlanon.domain.release import Release
from sqlanon.errors import CatalogError

__all__ = ["hierarchies_of", "policy_of", "release_json"]


def release_json(policy: Policy, hierarchies: Sequence[StoredHierarchy]) -> str:
    """The text that `policy_of` and `hierarchies_of` read back; of stored labels it holds the digest only."""
    return dumps(
        {
            "policy": policy_to_json(policy),
            "hierarchies": [
                {"definition": definition_to_json(h.definition), "height": h.height, "digest": h.digest}
                for h in hierarchies
            ],
        }
    )


def policy_of(release: Release) -> Policy:
    """The policy that a release was made under, whatever became of it since.

    Raises CatalogError if the release's row was changed so that it cannot be read.
    """
    return _read(release)[0]


def hierarchies_of(release: Release) -> tuple[StoredHierarchy, ...]:
    """The hierarchies that a release was made with; raises CatalogError as `policy_of` does."""
    return _read(release)[1]


def _read(release: Release) -> tuple[Policy, tuple[StoredHierarchy, ...]]:
    try:
        fields = fields_of(loads(release.policy_json), "the copy", ("policy", "hierarchies"))
        stored = list_of(fields["hierarchies"], "the hierarchies")
        return policy_from_json(fields["policy"]), tuple(_hierarchy(item) for item in stored)
    except BadJson as problem:
        raise CatalogError(
            f"release {release.name}: the policy that its row in anon.release carries cannot be read: {problem}",
            hint="the row was changed: drop the release and make it again",
        ) from None


def _hierarchy(json_value: Any) -> StoredHierarchy:
    fields = fields_of(json_value, "a stored hierarchy", ("definition", "height", "digest"))
    height = fields["height"]
    if isinstance(height, bool) or not isinstance(height, int):
        raise BadJson("a height must be a whole number")
    return StoredHierarchy(definition_from_json(fields["definition"]), height, text_of(fields["digest"], "a digest"))
