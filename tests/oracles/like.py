"""LIKE of SQL, from its definition: % stands for any text, _ for any character."""

from __future__ import annotations

__all__ = ["like"]


def like(text: str, pattern: str) -> bool:
    if not pattern:
        return not text
    if pattern[0] == "%":
        return any(like(text[start:], pattern[1:]) for start in range(len(text) + 1))
    return bool(text) and pattern[0] in ("_", text[0]) and like(text[1:], pattern[1:])
