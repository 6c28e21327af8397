"""The columns of a policy, by their roles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from decimal import Decimal

from sqlanon.clients.api.arguments import Number, column_names, described, one_name
from sqlanon.domain.identifiers import fold, nearest
from sqlanon.domain.policy import Attribute, Mask, Pseudonym, Role
from sqlanon.errors import UserError
from sqlanon.sources.data_frames import plain_scalar

# The order of the arguments.
ROLES = (Role.IDENTIFIER, Role.ENTITY, Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.INSENSITIVE)


@dataclass(frozen=True, repr=False)
class QuasiIdentifier:
    """What goes with a quasi-identifier: how its values become coarser, and how much its loss counts.

    `hierarchy` is the name of one that CREATE HIERARCHY made; without it a value is published, or * in its place.
    `min_level` and `max_level` are the least and the most general level that a release may have, 0 being the value
    itself, and `weight` is its share in the loss.

    >>> QuasiIdentifier("zip_prefix", min_level=1)
    QuasiIdentifier(hierarchy='zip_prefix', min_level=1)
    """

    hierarchy: str | None = None
    min_level: int | None = None
    max_level: int | None = None
    weight: Number = 1

    def __repr__(self) -> str:
        """The call that makes it."""
        said = {field.name: getattr(self, field.name) for field in fields(self)}
        named = [f"{field.name}={said[field.name]!r}" for field in fields(self) if said[field.name] != field.default]
        return f"QuasiIdentifier({', '.join(named)})"


Identifiers = Iterable[str] | Mapping[str, Pseudonym | Mask | None]
Entity = str | Mapping[str, Pseudonym | Mask | None]
QuasiIdentifiers = Iterable[str] | Mapping[str, QuasiIdentifier | str | None]
Sensitive = Iterable[str] | Mapping[str, str | None]


def attributes(
    *,
    identifiers: Identifiers = (),
    entity: Entity | None = None,
    quasi_identifiers: QuasiIdentifiers = (),
    sensitive: Sensitive = (),
    insensitive: Iterable[str] = (),
    order: Iterable[str] | None = None,
) -> tuple[Attribute, ...]:
    """The columns with their roles, in the order of the arguments or in that which `order` says.

    Raises UserError, which names the argument, for what is no column, or no such thing as goes with its role.
    """
    listed = (
        *_with_pseudonyms("identifiers", Role.IDENTIFIER, identifiers),
        *_with_pseudonyms("entity", Role.ENTITY, () if entity is None else entity),
        *_quasi_identifiers(quasi_identifiers),
        *_sensitive(sensitive),
        *(Attribute(name, Role.INSENSITIVE) for name in column_names("insensitive", insensitive)),
    )
    return listed if order is None else _in_order(listed, column_names("order", order))


def _details(argument: str, columns: object) -> list[tuple[str, object]]:
    """The columns, each with what a mapping has for it; None for those of a list."""
    if isinstance(columns, Mapping):
        return [(one_name(argument, name), detail) for name, detail in columns.items()]
    return [(name, None) for name in column_names(argument, columns)]


def _with_pseudonyms(argument: str, role: Role, columns: object) -> list[Attribute]:
    listed = []
    for name, pseudonym in _details(argument, columns):
        if pseudonym is not None and not isinstance(pseudonym, Pseudonym | Mask):
            raise _wrong(argument, name, pseudonym, "Pseudonym(), Mask(...) or None")
        if pseudonym and pseudonym.key_variable is not None:
            one_name(f"{argument}[{name!r}]: key_variable", pseudonym.key_variable)
        listed.append(Attribute(name, role, pseudonym=pseudonym))
    return listed


def _quasi_identifiers(columns: object) -> list[Attribute]:
    return [_quasi_identifier(name, detail) for name, detail in _details("quasi_identifiers", columns)]


def _quasi_identifier(name: str, detail: object) -> Attribute:
    about = detail
    if detail is None or isinstance(detail, str):
        about = QuasiIdentifier(detail)
    if not isinstance(about, QuasiIdentifier):
        raise _wrong("quasi_identifiers", name, detail, "the name of a hierarchy, QuasiIdentifier(...) or None")
    called = f"quasi_identifiers[{name!r}]"
    hierarchy = None if about.hierarchy is None else one_name(f"{called}: hierarchy", about.hierarchy)
    for level, number in (("min_level", about.min_level), ("max_level", about.max_level)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int)):
            raise UserError(f"{called}: {level} is a whole number, not {described(number)}")
    weight = plain_scalar(about.weight)
    if isinstance(weight, bool) or not isinstance(weight, int | Decimal):
        raise UserError(f"{called}: weight is a finite number, not {described(about.weight)}")
    return Attribute(name, Role.QUASI_IDENTIFIER, hierarchy, about.min_level, about.max_level, Decimal(weight))


def _sensitive(columns: object) -> list[Attribute]:
    listed = []
    for name, hierarchy in _details("sensitive", columns):
        if hierarchy is not None and not isinstance(hierarchy, str):
            raise _wrong("sensitive", name, hierarchy, "the name of a hierarchy or None")
        listed.append(Attribute(name, Role.SENSITIVE, hierarchy))
    return listed


def _wrong(argument: str, name: str, detail: object, expected: str) -> UserError:
    return UserError(f"{argument}[{name!r}] is {described(detail)}", hint=f"give {expected}")


def _in_order(listed: tuple[Attribute, ...], order: tuple[str, ...]) -> tuple[Attribute, ...]:
    """The columns as `order` has them. Raises UserError unless it names each of them once."""
    known = {fold(attribute.name): attribute for attribute in listed}
    for name in order:
        if fold(name) not in known:
            hint = nearest(name, [attribute.name for attribute in listed]) or "give the column a role"
            raise UserError(f"order: {name} is no column of the policy", hint=hint)
    folded = [fold(name) for name in order]
    if len(folded) != len(listed) or len(set(folded)) != len(listed):
        raise UserError("order does not name each column once", hint=f"there are {len(listed)} with a role")
    return tuple(known[name] for name in folded)
