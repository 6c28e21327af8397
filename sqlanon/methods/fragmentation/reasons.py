"""Which columns are kept apart, in words."""

from __future__ import annotations

from collections.abc import Iterator

from sqlanon.methods.fragmentation.choice import Fragmented


def kept_apart(choice: Fragmented) -> Iterator[tuple[str, str]]:
    """Rows of (item, detail): which columns are published together, and how loosely fragments are associated."""
    yield "fragments", f"{len(choice.fragments)}: {_minimal(choice)}"
    for number, fragment in enumerate(choice.fragments, start=1):
        yield f"fragment {number}", ", ".join(fragment)
    if choice.sizes:
        loose = "no constraint lies across fragments" if choice.k is None else f"{choice.k}-loose"
        yield "groups", f"of at least {', '.join(map(str, choice.sizes))} rows: {loose}"
    allowed = f", at most {choice.limit} allowed" if choice.sizes else ""
    yield "suppressed rows", f"{choice.suppressed} of {choice.rows}{allowed}"
    if choice.alike:
        share = f"1 in {choice.suppressed / choice.alike:.4g}"
        yield "of which", f"not more than {choice.alike} are alike in what is CONFIDENTIAL, {share}"


def _minimal(choice: Fragmented) -> str:
    if choice.of_statement:
        return "those of the statement"
    if choice.proven or choice.least == len(choice.fragments):
        return "proven minimal"
    return f"not proven to be minimal: there are at least {choice.least}"
