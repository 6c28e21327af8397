"""Numbers of things in words."""

from __future__ import annotations

__all__ = ["count_of", "counted"]


def counted(number: int, noun: str, nouns: str | None = None) -> str:
    """The number with its noun: 1 row, 2 rows; `nouns` is the plural, if it is not made with an s."""
    return f"{number} {noun if number == 1 else nouns or noun + 's'}"


def count_of(number: int, of: int, noun: str, nouns: str | None = None) -> str:
    """How many of how many: 1 of 1 row, 1 of 17 rows."""
    return f"{number} of {counted(of, noun, nouns)}"
