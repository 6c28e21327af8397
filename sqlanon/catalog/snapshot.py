"""The copy of a policy and its hierarchies that a release carries, so that it outlives their replacement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlanon.catalog._domain_json import definition_from_json, definition_to_json, policy_from_json, policy_to_json
from sqlanon.catalog._json import BadJson, dumps, fields_of, list_of, loads, text_of
from sqlanon.catalog.hierarchies import StoredHierarchy
from sqlanon.domain.policy import Policy
from sqlanon.domain.release import Release
from sqlanon.errors import CatalogError

__all__ = ["hierarchies_of", "joined_with", "policy_of", "release_json", "series_name_of", "types_of"]


def release_json(
    policy: Policy,
    hierarchies: Sequence[StoredHierarchy],
    types: Mapping[str, str],
    joined: str | None = None,
    series: str | None = None,
) -> str:
    """The text that `policy_of`, `hierarchies_of`, `types_of`, `joined_with` and `series_name_of` read back.

    Of stored labels it holds the digest only. `types` are those of the source's columns by their names, for the
    policy's attributes; `joined` is the id of the release that the policy joins; `series` is the name of the
    series that the release is made in.
    """
    return dumps(
        {
            "types": dict(types),
            **({"joined": joined} if joined is not None else {}),
            **({"series": series} if series is not None else {}),
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


def types_of(release: Release) -> dict[str, str]:
    """The types of the source's columns that the policy names.

    Raises CatalogError as `policy_of` does.
    """
    return _read(release)[2]


def joined_with(release: Release) -> str | None:
    """The id of the release whose join with this one was measured when it was made; None if its policy joins none.

    Raises CatalogError as `policy_of` does.
    """
    return _read(release)[3]


def series_name_of(release: Release) -> str | None:
    """The series that a release says it was made in; None for a release made in none.

    Raises CatalogError as `policy_of` does.
    """
    return _read(release)[4]


def _read(release: Release) -> tuple[Policy, tuple[StoredHierarchy, ...], dict[str, str], str | None, str | None]:
    try:
        copy = loads(release.policy_json)
        known = ("types", "policy", "hierarchies")
        optional = [key for key in ("joined", "series") if isinstance(copy, dict) and key in copy]
        fields = fields_of(copy, "the copy", (*known, *optional))
        stored = list_of(fields["hierarchies"], "the hierarchies")
        types = _types(fields["types"])
        joined = text_of(fields["joined"], "the joined release") if "joined" in optional else None
        series = text_of(fields["series"], "the series") if "series" in optional else None
        return policy_from_json(fields["policy"]), tuple(_hierarchy(item) for item in stored), types, joined, series
    except BadJson as problem:
        raise CatalogError(
            f"release {release.name}: the policy that its row in anon.release carries cannot be read: {problem}",
            hint="the row was changed: drop the release and make it again",
        ) from None


def _types(json_value: Any) -> dict[str, str]:
    if not isinstance(json_value, dict):
        raise BadJson("the types must be an object")
    return {text_of(name, "a column"): text_of(kind, "a type") for name, kind in json_value.items()}


def _hierarchy(json_value: Any) -> StoredHierarchy:
    fields = fields_of(json_value, "a stored hierarchy", ("definition", "height", "digest"))
    height = fields["height"]
    if isinstance(height, bool) or not isinstance(height, int):
        raise BadJson("a height must be a whole number")
    return StoredHierarchy(definition_from_json(fields["definition"]), height, text_of(fields["digest"], "a digest"))
