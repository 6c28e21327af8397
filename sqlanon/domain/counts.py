"""Numbers of things in words."""

from __future__ import annotations


def counted(number: int, noun: str, nouns: str | None = None) -> str:
    """The number with its noun: 1 row, 2 rows; `nouns` is the plural, if it is not made with an s."""
    return f"{number} {noun if number == 1 else nouns or noun + 's'}"


def count_of(number: int, of: int, noun: str, nouns: str | None = None) -> str:
    """How many of how many: 1 of 1 row, 1 of 17 rows."""
    return f"{number} of {counted(of, noun, nouns)}"


def per_cent(share: float) -> str:
    """A share in per cent, to two digits: 0.66 %, 12 %, 100 %; what is not all is "over 99 %" and never 100 %."""
    rounded = float(f"{100 * share:.2g}")
    return "over 99 %" if share < 1 and rounded >= 100 else f"{rounded:g} %"
