"""Column types as they may be published."""

from __future__ import annotations

import re

from sqlanon.domain.bound import BoundPolicy

# A type that says no more of an ENUM than that it is one.
ENUM = "ENUM"

# Possessive quantifiers (*+) read a quote that is written twice in one way, and a list that is never closed once.
_ENUM = re.compile(r"ENUM\((?:'[^']*+(?:''[^']*+)*+'(?:,\s*+)?+)*+\)", re.IGNORECASE)


def without_enums(column_type: str) -> str:
    """The type with every ENUM, also inside lists and structs, replaced by VARCHAR.

    An ENUM's dictionary lists values that no released row holds.
    """
    return _ENUM.sub("VARCHAR", column_type)


def column_types(policy: BoundPolicy) -> dict[str, str]:
    """The types of the columns that the policy names, without what an ENUM's dictionary lists."""
    attributes = (*policy.attributes, *(bound for table in policy.related for bound in table.attributes))
    return {b.column: ENUM if _ENUM.fullmatch(b.type) else b.published_type for b in attributes}
