"""Validates the clauses that replace the values of a column: PSEUDONYM, MASK and SHIFT."""

from __future__ import annotations

from sqlanon.domain.identifiers import nearest
from sqlanon.domain.policy import KEYLESS_MASKS, MASKS, Attribute, InPlace, Mask, Policy, Role, Shift
from sqlanon.domain.values import UNNAMED, QualifiedName, Value, written
from sqlanon.errors import PolicyError

_WITH_PSEUDONYM = (Role.IDENTIFIER, Role.ENTITY)
# The roles of columns whose dates may be shifted.
_WITH_SHIFT = (Role.SENSITIVE, Role.INSENSITIVE)
# The widest shift, in days or in weeks.
_WIDEST_SHIFT = 100_000


def clause_of(attribute: Attribute) -> str:
    """Returns the keyword of the clause of an attribute: MASK, SHIFT or PSEUDONYM."""
    if isinstance(attribute.pseudonym, Shift):
        return "SHIFT"
    return "MASK" if isinstance(attribute.pseudonym, Mask) else "PSEUDONYM"


def _wrong(policy: Policy, problem: str, hint: str) -> PolicyError:
    return PolicyError(f"policy {policy.name}: {problem}", hint=hint)


def validate_in_place(policy: Policy, attribute: Attribute, pseudonym: InPlace, role: str) -> None:
    """Raises PolicyError unless the clause of a column, such as MASK, is allowed for its role; `role` is the role's
    name in the error.
    """
    if isinstance(pseudonym, Shift):
        _validate_shift(policy, attribute, pseudonym, role)
    elif attribute.role not in _WITH_PSEUDONYM:
        raise _wrong(
            policy,
            f"{attribute.name} is {role} and cannot be a pseudonym",
            f"{clause_of(attribute)} belongs to IDENTIFIER and ENTITY",
        )
    if pseudonym.key_variable == "":
        raise _wrong(
            policy,
            f"the key of {attribute.name} has no name",
            "name the environment variable that holds the key, or none",
        )
    if isinstance(pseudonym, Mask):
        _validate_mask(policy, attribute, pseudonym)


def _validate_shift(policy: Policy, attribute: Attribute, shift: Shift, role: str) -> None:
    if attribute.role not in _WITH_SHIFT:
        hint = "requirements are about true values: give it a hierarchy, or shift it in the policy's query"
        if attribute.role is not Role.QUASI_IDENTIFIER:
            hint = "SHIFT belongs to SENSITIVE and INSENSITIVE"
        raise _wrong(policy, f"{attribute.name} is {role} and cannot be shifted", hint)
    if attribute.hierarchy is not None:
        raise _wrong(
            policy, f"{attribute.name} is shifted, and a hierarchy is of true values", "leave USING or SHIFT out"
        )
    if (shift.days is None) == (shift.weeks is None):
        raise _wrong(policy, f"{attribute.name}: a shift has days or weeks", "write SHIFT (DAYS => 182)")
    if not 1 <= shift.width <= _WIDEST_SHIFT:
        raise _wrong(
            policy,
            f"{attribute.name} is shifted by up to {shift.width}",
            f"give a whole number from 1 to {_WIDEST_SHIFT}, as in SHIFT (DAYS => 182)",
        )
    if policy.entity is None and not policy.pivot:
        raise _wrong(
            policy,
            f"the dates of {attribute.name} move by one number of days for each respondent, and none is named",
            "give the column that says whose a row is as ENTITY",
        )


def _validate_mask(policy: Policy, attribute: Attribute, mask: Mask) -> None:
    if mask.name not in MASKS:
        hint = nearest(mask.name, list(MASKS)) or f"masks are {', '.join(MASKS)}"
        raise _wrong(policy, f"{attribute.name}: there is no mask {mask.name}", hint)
    known = MASKS[mask.name]
    for index, (name, value) in enumerate(mask.arguments):
        if name not in known:
            problem = "takes named arguments only" if name == UNNAMED else f"takes no argument {name}"
            hint = f"it takes {', '.join(f'{each} => ...' for each in known)}" if known else f"write MASK {mask.name}"
            raise _wrong(policy, f"{attribute.name}: the mask {mask.name} {problem}", hint)
        if name in dict(mask.arguments[:index]):
            raise _wrong(policy, f"{attribute.name}: {name} of the mask {mask.name} is given twice", "keep one of them")
        if hint_of := _MASK_ARGUMENTS[name](value):
            raise _wrong(policy, f"{attribute.name}: {name} of the mask {mask.name} is {written(value)}", hint_of)
    if mask.name == "choice" and mask.argument("from") is None:
        hint = "write MASK choice(from => first_names), with a table of one column"
        raise _wrong(policy, f"{attribute.name}: the mask choice needs a table to choose from", hint)
    if mask.name == "choice" and attribute.role is Role.ENTITY:
        hint = "use alphanumeric, which gives different values different masks, or PSEUDONYM"
        raise _wrong(policy, f"{attribute.name}: the mask choice gives several respondents one value", hint)
    if mask.name in KEYLESS_MASKS and mask.key_variable is not None:
        raise _wrong(policy, f"{attribute.name}: the mask {mask.name} uses no key", "leave KEY out")


def _characters(value: Value) -> str | None:
    """Returns a hint for a value that is not a number of characters; None for a valid number."""
    is_number = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_CHARACTERS
    return None if is_number else f"give a whole number from 0 to {_MOST_CHARACTERS}"


def _one_character(value: Value) -> str | None:
    return None if isinstance(value, str) and len(value) == 1 else "give one character, as in with => '*'"


def _region(value: Value) -> str | None:
    is_code = isinstance(value, str) and len(value) == 2 and value.isascii() and value.isalpha() and value.isupper()
    return None if is_code else "give a country's two letters, as in region => 'DE'"


def _table(value: Value) -> str | None:
    return None if isinstance(value, QualifiedName) else "name a table of one column: from => first_names"


# The most characters that a mask keeps at one end.
_MOST_CHARACTERS = 1000
_MASK_ARGUMENTS = {
    "first": _characters,
    "last": _characters,
    "with": _one_character,
    "region": _region,
    "from": _table,
}
