"""The methods by the names that users type, and what each says of itself.

A folder may have several. Each is a module with the parts of `base.Method`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType

from sqlanon.domain.policy import Requirement, Role
from sqlanon.domain.release import Release
from sqlanon.domain.report import Assumption
from sqlanon.domain.values import Value
from sqlanon.errors import InternalError
from sqlanon.methods.base import parts_lacking
from sqlanon.plugins import named_module

__all__ = ["METHODS", "assumed_by", "assumed_of", "find_method", "in_buckets", "keeps_constraints", "promised_by"]

METHODS: Mapping[str, str] = {
    "anatomy": "sqlanon.methods.anatomy.method",
    "fragments": "sqlanon.methods.fragmentation.fragments",
    "generalization": "sqlanon.methods.generalization.method",
    "loose": "sqlanon.methods.fragmentation.loose",
    "mondrian": "sqlanon.methods.mondrian.method",
}


def find_method(name: str) -> ModuleType:
    """The module of a method, whatever the case of its name.

    Raises UserError, with the names there are, for others, and InternalError for a method that lacks a part.
    """
    module = named_module("methods", name, METHODS)
    if lacking := parts_lacking(module):
        raise InternalError(f"the method {name} has no {', '.join(lacking)}")
    return module


def promised_by(method: str, arguments: Sequence[tuple[str, Value]]) -> tuple[Requirement, ...]:
    """What a method promises of itself, besides what a policy requires. Raises UserError as its `options` does."""
    module = find_method(method)
    return tuple(module.promises(module.options(arguments))) if hasattr(module, "promises") else ()


def assumed_by(method: str, arguments: Sequence[tuple[str, Value]], sensitive: Sequence[str]) -> tuple[Assumption, ...]:
    """What the figures of a method's release rest on; `sensitive` are its columns. Raises as `promised_by` does."""
    module = find_method(method)
    return tuple(module.assumes(module.options(arguments), sensitive)) if hasattr(module, "assumes") else ()


def assumed_of(release: Release) -> tuple[Assumption, ...]:
    """What the figures of a release that was made rest on."""
    sensitive = [one.source or one.name for one in release.attributes if one.role is Role.SENSITIVE]
    return assumed_by(release.method, release.method_arguments, sensitive)


def in_buckets(method: str, arguments: Sequence[tuple[str, Value]]) -> bool:
    """Whether a method publishes quasi-identifiers as they are, and each row's bucket. Raises as `promised_by` does."""
    module = find_method(method)
    return hasattr(module, "in_buckets") and bool(module.in_buckets(module.options(arguments)))


def keeps_constraints(method: str) -> bool:
    """Whether a method keeps apart what a policy names as CONFIDENTIAL, and promises nothing else."""
    return bool(getattr(find_method(method), "KEEPS_CONSTRAINTS", False))
