"""Which columns are kept apart, in words."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.methods.fragmentation.choice import Fragmented

__all__ = ["kept_apart"]


def kept_apart(found: Fragmented) -> Iterator[tuple[str, str]]:
    """Rows of (item, detail): which columns are published together, and how loosely fragments are associated."""
    yield "fragments", f"{len(found.fragments)}: {_minimal(found)}"
    for number, fragment in enumerate(found.fragments, start=1):
        yield f"fragment {number}", ", ".join(fragment)
    if found.sizes:
        loose = "no constraint lies across fragments" if found.k is None else f"{found.k}-loose"
        yield "groups", f"of at least {', '.join(map(str, found.sizes))} rows: {loose}"
    allowed = f", at most {found.limit} allowed" if found.sizes else ""
    yield "suppressed rows", f"{found.suppressed} of {found.rows}{allowed}"
    if found.alike:
        share = f"1 in {found.suppressed / found.alike:.4g}"
        yield "of which", f"not more than {found.alike} are alike in what is CONFIDENTIAL, {share}"


def _minimal(found: Fragmented) -> str:
    if found.given:
        return "those of the statement"
    if found.proven or found.least == len(found.fragments):
        return "proven minimal"
    return f"not proven to be minimal: there are at least {found.least}"
