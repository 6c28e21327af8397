"""The methods by the names that users type, and what each says of itself.

A folder may have several. Each is a module with the parts of `base.Method`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from sqlanon.domain.policy import Requirement, Role
from sqlanon.domain.release import Release
from sqlanon.domain.report import Assumption, Measurement
from sqlanon.domain.values import Value
from sqlanon.errors import InternalError, PolicyError, PrivacyViolation
from sqlanon.methods.base import Method, PublishedTables, Structure, Task, Wording, parts_lacking
from sqlanon.methods.shared.arguments import given_or_default
from sqlanon.plugins import incomplete, named_module

__all__ = [
    "BASELINES",
    "DEFAULT",
    "DEFAULT_OF_FRAMES",
    "METHODS",
    "assumed_by",
    "assumed_of",
    "find_method",
    "options_of",
    "preferred_to",
    "promised_by",
    "require_kept",
    "verified",
    "worded",
]

# The method of a statement that names none.
DEFAULT = "generalization"
# The method of anonymize(): columns need no hierarchy, and no row is left out.
DEFAULT_OF_FRAMES = "mondrian"

# What every other release is compared with, as a method and its arguments: nobody learns of a person from it.
BASELINES: Sequence[tuple[str, tuple[tuple[str, Value], ...]]] = (
    ("trivial", (("drop", "quasi_identifiers"),)),
    ("trivial", (("drop", "sensitive"),)),
)

METHODS: Mapping[str, str] = {
    "anatomy": "sqlanon.methods.anatomy.method",
    "fragments": "sqlanon.methods.fragmentation.fragments",
    "generalization": "sqlanon.methods.generalization.method",
    "itemsets": "sqlanon.methods.itemsets.method",
    "loose": "sqlanon.methods.fragmentation.loose",
    "m_invariance": "sqlanon.methods.m_invariance.method",
    "mondrian": "sqlanon.methods.mondrian.method",
    "slicing": "sqlanon.methods.slicing.method",
    "trivial": "sqlanon.methods.trivial.method",
}


if TYPE_CHECKING:
    # That a module has the parts is seen when it is found; here the types of its parts are compared.
    from sqlanon.methods.anatomy import method as anatomy
    from sqlanon.methods.fragmentation import fragments, loose
    from sqlanon.methods.generalization import method as generalization
    from sqlanon.methods.itemsets import method as itemsets
    from sqlanon.methods.m_invariance import method as m_invariance
    from sqlanon.methods.mondrian import method as mondrian
    from sqlanon.methods.slicing import method as slicing
    from sqlanon.methods.trivial import method as trivial

    def _typed(method: Method) -> None: ...

    _typed(anatomy)
    _typed(fragments)
    _typed(generalization)
    _typed(itemsets)
    _typed(loose)
    _typed(m_invariance)
    _typed(mondrian)
    _typed(slicing)
    _typed(trivial)


def find_method(name: str) -> Method:
    """The module of a method, whatever the case of its name.

    Raises UserError, with the names there are, for others, and InternalError for a method that lacks a part, or
    UserError where it is another package's.
    """
    module = named_module("methods", name, METHODS)
    if lacking := parts_lacking(module):
        raise incomplete("methods", name, f"has no {', '.join(lacking)}")
    return cast(Method, module)


def options_of(method: str, arguments: Sequence[tuple[str, Value]]) -> dict[str, Value]:
    """Each option that a method goes by and its value, given or by default. Raises UserError as its `options` does."""
    return given_or_default(find_method(method).options(arguments))


def preferred_to(
    method: str, arguments: Sequence[tuple[str, Value]], task: Task, levels: tuple[int, ...], most: int
) -> Sequence[tuple[int, ...]]:
    """The levels that a method would have published in place of these, had they satisfied.

    For methods with a part `preferred` beside those that each has: they publish the best levels that satisfy. `task`
    requires what each class satisfies. Raises PolicyError for other methods, where it depends on more than the levels,
    and for more than `most` to choose from.
    """
    module = find_method(method)
    preferred = getattr(module, "preferred", None)
    if preferred is None:
        raise PolicyError(f"{method} does not publish the best of several levels")
    chosen: Sequence[tuple[int, ...]] = preferred(task, module.options(arguments), levels, most)
    return chosen


def promised_by(method: str, arguments: Sequence[tuple[str, Value]]) -> tuple[Requirement, ...]:
    """What a method promises of itself, besides what a policy requires. Raises UserError as its `options` does."""
    module = find_method(method)
    return module.promises(module.options(arguments))


def assumed_by(method: str, arguments: Sequence[tuple[str, Value]], sensitive: Sequence[str]) -> tuple[Assumption, ...]:
    """What the figures of a method's release rest on; `sensitive` are its columns. Raises as `promised_by` does."""
    module = find_method(method)
    return module.assumes(module.options(arguments), sensitive)


def assumed_of(release: Release) -> tuple[Assumption, ...]:
    """What the figures of a release that was made rest on."""
    sensitive = [output.source or output.name for output in release.attributes if output.role is Role.SENSITIVE]
    return assumed_by(release.method, release.method_arguments, sensitive)


def verified(method: str, arguments: Sequence[tuple[str, Value]], published: PublishedTables) -> Structure:
    """What the tables of a release keep of what its method promises of them. Raises as `promised_by` does.

    Raises InternalError, too, for a measurement that a certificate could not explain.
    """
    module = find_method(method)
    options = module.options(arguments)
    structure = module.verify(published, options)
    explained = module.wording(options).figures
    if unknown := [reached.question for reached in structure.measurements if reached.question not in explained]:
        raise InternalError(f"the method {method} does not say what {', '.join(unknown)} means; nothing was done")
    return structure


def require_kept(
    method: str, arguments: Sequence[tuple[str, Value]], published: PublishedTables, name: object, done: str
) -> tuple[Measurement, ...]:
    """What tables that are not `done` yet, published or exported, keep of what their method promises of them.

    Raises PrivacyViolation where they keep less, InternalError where they do not fit together, and as `verified` does.
    """
    structure = verified(method, arguments, published)
    for reached in structure.measurements:
        if not reached.satisfied:
            raise PrivacyViolation(
                f"{name} would violate {reached.question}: it reaches {reached.achieved} of {reached.required}; "
                f"nothing was {done}"
            )
    if structure.misfit is not None:
        raise InternalError(f"the tables of {name} do not fit together: {structure.misfit}; nothing was {done}")
    return structure.measurements


def worded(method: str, arguments: Sequence[tuple[str, Value]]) -> Wording:
    """What a certificate says of a method's releases. Raises as `promised_by` does."""
    module = find_method(method)
    return module.wording(module.options(arguments))
