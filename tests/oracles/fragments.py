"""Fragmentations (De Capitani di Vimercati et al. 2010): enumerates all of them for schemas of a few attributes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Set = frozenset[str]


def correct(fragments: Sequence[Set], confidential: Sequence[Set], visible: Sequence[Set]) -> bool:
    """Whether fragments are disjoint, none contains a constraint, and each visible set lies in one fragment."""
    disjoint = sum(map(len, fragments)) == len(frozenset().union(*fragments))
    apart = not any(constraint <= fragment for constraint in confidential for fragment in fragments)
    shown = all(any(one <= fragment for fragment in fragments) for one in visible)
    return disjoint and apart and shown and all(fragments)


def every(attributes: Sequence[str]) -> Iterator[tuple[Set, ...]]:
    """Yields every way to assign attributes to fragments, or to none."""
    if not attributes:
        yield ()
        return
    first, rest = frozenset(attributes[:1]), attributes[1:]
    for fragments in every(rest):
        yield fragments
        yield (first, *fragments)
        for place, fragment in enumerate(fragments):
            yield (*fragments[:place], fragment | first, *fragments[place + 1 :])


def best(
    attributes: Sequence[str], confidential: Sequence[Set], visible: Sequence[Set], required: Set = frozenset()
) -> tuple[int, int] | None:
    """Returns the fewest fragments, at least one, and the most attributes that this number of fragments can publish;
    (0, 0) if nothing may be published, None if no fragmentation is correct.
    """
    found = [
        (len(fragments), -sum(map(len, fragments)))
        for fragments in every(attributes)
        if correct(fragments, confidential, visible) and required <= frozenset().union(*fragments)
    ]
    if not found:
        return None
    fewest, published = min([one for one in found if one[0]], default=(0, 0))
    return fewest, -published
