"""Column types as they may be published."""

from __future__ import annotations

import re

__all__ = ["without_enums"]

_ENUM = re.compile(r"ENUM\((?:'(?:[^']|'')*'(?:,\s*)?)*\)", re.IGNORECASE)


def without_enums(column_type: str) -> str:
    """The type with every ENUM, also inside lists and structs, replaced by VARCHAR.

    An ENUM's dictionary lists values that no released row holds.
    """
    return _ENUM.sub("VARCHAR", column_type)
