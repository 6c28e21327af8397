"""Decides whether two spellings are the same name, and which name a user may have meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher, get_close_matches

UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# Similarity ratios that differ by less count as equal.
_AS_NEAR = 0.05
# Longer names are not compared: the time of a comparison grows with the product of the lengths.
_LONGEST_COMPARED = 200
_LOWER = str.maketrans(UPPER, UPPER.lower())


def fold(name: str) -> str:
    """Folds the case of a name, so that all spellings of a name are equal.

    As in DuckDB, only the case of A to Z is disregarded: "Ä" and "ä" are different columns.
    """
    return name.lower() if name.isascii() else name.translate(_LOWER)


def same_name(first: str, second: str) -> bool:
    """Whether two spellings are one name."""
    return fold(first) == fold(second)


def free_name(name: str, taken: Iterable[str]) -> str:
    """Returns the name, with underscores appended if it is taken."""
    folded = {*map(fold, taken)}
    while fold(name) in folded:
        name += "_"
    return name


def listed(names: Sequence[str]) -> str:
    """Writes names in parentheses for a message, in quotes if a name could be misread."""
    quoted = ('"' + name.replace('"', '""') + '"' for name in names)
    return f"({', '.join(n if n.isidentifier() else q for n, q in zip(names, quoted, strict=True))})"


def nearest(name: str, known: Sequence[str]) -> str | None:
    """Returns a hint with the known names most similar to a name; None if no name is similar, or if the name is too
    long.
    """
    if len(name) > _LONGEST_COMPARED:
        return None
    spelling = {fold(other): other for other in known if len(other) <= _LONGEST_COMPARED}
    close = get_close_matches(fold(name), list(spelling), n=3)
    # Further names only if they are about as similar as the nearest one.
    likeness = [SequenceMatcher(None, other, fold(name)).ratio() for other in close]
    near = [other for other, ratio in zip(close, likeness, strict=True) if ratio > likeness[0] - _AS_NEAR]
    return f"did you mean {' or '.join(spelling[other] for other in near)}?" if near else None
