"""Values of Python as statements have them."""

from __future__ import annotations

from decimal import Decimal
from numbers import Integral, Real

from sqlanon.domain.values import plain_number


def plain_scalar(value: object) -> bool | int | Decimal | str | None:
    """A number, a text or a truth value of Python's as a statement has it; None for anything else.

    A float is the number that it prints, and one that is whole is an int.
    """
    if isinstance(value, Real) and not isinstance(value, Integral):
        value = Decimal(repr(float(value)))
    if isinstance(value, Decimal) and value.is_finite():
        return plain_number(value)
    if isinstance(value, bool | str):
        return value
    # Those of NumPy are no int.
    return int(value) if isinstance(value, Integral) else None
