"""Finds methods by the names that users type, and calls their parts.

A folder may have several methods; each is a module with one subclass of `base.Method`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from sqlanon.domain.policy import Policy, Requirement, Role
from sqlanon.domain.release import Assumption, Measurement, Release
from sqlanon.domain.values import Value
from sqlanon.engines.base import Engine
from sqlanon.errors import InternalError, PrivacyViolation
from sqlanon.methods.base import Method, PublishedTables, Structure, Wording
from sqlanon.methods.limits import CAN, Limits
from sqlanon.methods.shared.arguments import given_or_default
from sqlanon.methods.shared.task import Task
from sqlanon.plugins import incomplete, named_module

# The methods of a statement without METHOD if methods are not compared: the first that takes as many tables as the
# policy has is used.
DEFAULTS = ("generalization", "multirelational")
# The methods that are compared for a statement without METHOD, by their COMPETES. Of equally good ones the first is
# taken.
COMPETITORS = ("generalization", "mondrian")

# The releases with which others are compared, as methods and arguments: they reveal nothing about a person.
BASELINES: Sequence[tuple[str, tuple[tuple[str, Value], ...]]] = (
    ("trivial", (("drop", "quasi_identifiers"),)),
    ("trivial", (("drop", "sensitive"),)),
)

METHODS: Mapping[str, str] = {
    "anatomy": "sqlanon.methods.anatomy.method",
    "dp_histogram": "sqlanon.methods.noisy.histogram",
    "dp_synthetic": "sqlanon.methods.noisy.synthetic",
    "fragments": "sqlanon.methods.fragmentation.fragments",
    "generalization": "sqlanon.methods.generalization.method",
    "itemsets": "sqlanon.methods.itemsets.method",
    "loose": "sqlanon.methods.fragmentation.loose",
    "m_invariance": "sqlanon.methods.m_invariance.method",
    "microaggregation": "sqlanon.methods.microaggregation.method",
    "mondrian": "sqlanon.methods.mondrian.method",
    "multirelational": "sqlanon.methods.multirelational.method",
    "slicing": "sqlanon.methods.slicing.method",
    "trivial": "sqlanon.methods.trivial.method",
}


def find_method(name: str, engine: Engine | None = None) -> Method[Any, Any]:
    """Finds the method of a name, ignoring case; with an engine, its variant for that engine's rows.

    Raises UserError, with the known names, for an unknown name. A method that lacks a part raises InternalError, or
    UserError if the method is from another package.
    """
    module = named_module("methods", name, METHODS)
    classes = [
        member for member in vars(module).values() if _is_method(member) and member.__module__ == module.__name__
    ]
    if len(classes) != 1:
        raise incomplete("methods", name, f"has {len(classes) or 'no'} subclasses of Method")
    (method,) = classes
    if lacking := sorted(method.__abstractmethods__ | ({"OPTIONS"} - set(dir(method)))):
        raise incomplete("methods", name, f"has no {', '.join(lacking)}")
    by_name = method(name.lower())
    return by_name.on_spark() if engine is not None and engine.distributed else by_name


def _is_method(member: object) -> TypeGuard[type[Method[Any, Any]]]:
    return isinstance(member, type) and issubclass(member, Method)


def default_method(policy: Policy) -> str:
    """The default method of a statement without METHOD, which depends on whether the policy has related tables."""
    return next(name for name in DEFAULTS if _takes(find_method(name).limits(find_method(name).options(())), policy))


def competing() -> Iterator[tuple[Method[Any, Any], Sequence[tuple[tuple[str, Value], ...]]]]:
    """Yields the methods that are compared for a statement without METHOD, each with its argument lists."""
    for name in COMPETITORS:
        method = find_method(name)
        yield method, method.COMPETES


def competitor(*, by_levels: bool) -> str:
    """The name of the first competing method that chooses levels of hierarchies, or of the first that does not choose
    levels.
    """
    methods = (method for method, _ in competing())
    return next(method.name for method in methods if method.publishes_levels(method.options(())) is by_levels)


def _takes(limits: Limits, policy: Policy) -> bool:
    return (limits.related if policy.related else limits.without_related) is CAN


def options_of(method: str, arguments: Sequence[tuple[str, Value]]) -> dict[str, Value]:
    """Each effective option of a method with its value, given or by default. Raises UserError as `Method.options`
    does.
    """
    return given_or_default(find_method(method).options(arguments))


def preferred_to(
    method: str, arguments: Sequence[tuple[str, Value]], task: Task, levels: tuple[int, ...], most: int
) -> Sequence[tuple[int, ...]]:
    """Returns the levels that the method would prefer to `levels`. Raises the errors of `Method.preferred`."""
    by_name = find_method(method, task.engine)
    return by_name.preferred(task, by_name.options(arguments), levels, most)


def promised_by(method: str, arguments: Sequence[tuple[str, Value]]) -> tuple[Requirement, ...]:
    """Returns the requirements that a method itself guarantees, besides the requirements of a policy. Raises UserError
    as the method's `options` does.
    """
    by_name = find_method(method)
    return by_name.promises(by_name.options(arguments))


def assumed_by(method: str, arguments: Sequence[tuple[str, Value]], sensitive: Sequence[str]) -> tuple[Assumption, ...]:
    """Returns the assumptions behind the figures of a method's release; `sensitive` are its columns. Raises the errors
    of `promised_by`.
    """
    by_name = find_method(method)
    return by_name.assumes(by_name.options(arguments), sensitive)


def assumed_of(release: Release) -> tuple[Assumption, ...]:
    """Returns the assumptions behind the figures of an existing release, from its method, arguments and sensitive
    columns.
    """
    sensitive = [output.source or output.name for output in release.attributes if output.role is Role.SENSITIVE]
    return assumed_by(release.method, release.method_arguments, sensitive)


def verified(method: str, arguments: Sequence[tuple[str, Value]], published: PublishedTables) -> Structure:
    """Measures how a release's tables keep the promises of its method. Raises the errors of `promised_by`.

    Raises InternalError, too, for a measurement that a certificate could not explain.
    """
    by_name = find_method(method, published.engine)
    options = by_name.options(arguments)
    structure = by_name.verify(published, options)
    explained = by_name.wording(options).figures
    if unknown := [reached.question for reached in structure.measurements if reached.question not in explained]:
        raise InternalError(f"the method {method} does not say what {', '.join(unknown)} means; nothing was done")
    return structure


def require_kept(
    method: str, arguments: Sequence[tuple[str, Value]], published: PublishedTables, name: object, done: str
) -> tuple[Measurement, ...]:
    """Measures how tables keep the promises of their method before they are published or exported; `done` is
    "published" or "exported".

    Raises PrivacyViolation for a violated promise, InternalError for tables that do not fit together, and the errors of
    `verified`.
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
    """Returns the certificate's texts about a method's releases. Raises the errors of `promised_by`."""
    by_name = find_method(method)
    return by_name.wording(by_name.options(arguments))
