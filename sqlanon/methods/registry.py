"""The methods by the names that users type, and what each says of itself.

A folder may have several. Each is a module with `Options`, `options` and `solve`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

from sqlanon.plugins import named_module

__all__ = ["METHODS", "find_method"]

METHODS: Mapping[str, str] = {
    "anatomy": "sqlanon.methods.anatomy.method",
    "fragments": "sqlanon.methods.fragmentation.fragments",
    "generalization": "sqlanon.methods.generalization.method",
    "loose": "sqlanon.methods.fragmentation.loose",
    "mondrian": "sqlanon.methods.mondrian.method",
}


def find_method(name: str) -> ModuleType:
    """The module of a method, whatever the case of its name. Raises UserError, with the names there are, for others."""
    return named_module("methods", name, METHODS)
