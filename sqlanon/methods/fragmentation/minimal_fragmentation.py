"""Fragments: which attributes are published beside which, and which not at all.

De Capitani di Vimercati, Foresti, Jajodia, Paraboschi and Samarati, Fragments and loose
associations: respecting privacy in data publishing (2010). A fragment is a set of
attributes whose values a release shows together. A fragmentation is correct if its
fragments have no attribute in common, none contains a confidentiality constraint, and
each visibility requirement lies whole within one of them. It is minimal if none has
fewer fragments; among those of as few, one that publishes most attributes is chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlanon.domain.identifiers import fold
from sqlanon.errors import PolicyError
from sqlanon.methods.fragmentation.colouring import Colouring, coloured

_Sets = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Fragmentation:
    """Fragments of attributes, in the order in which they were given, and the attributes that are in none.

    No correct fragmentation has fewer than `least` fragments. `proven` says that none
    has fewer than this one, and that none of as many publishes more attributes.
    """

    fragments: tuple[tuple[str, ...], ...]
    unpublished: tuple[str, ...]
    least: int
    proven: bool


def fragmentation(
    attributes: Sequence[str], confidential: _Sets, visible: _Sets = (), required: Iterable[str] = ()
) -> Fragmentation:
    """A minimal correct fragmentation; any attribute may stay unpublished unless `required` or `visible` names it.

    The search is exact where at most EXACT_UNITS attributes, or sets of attributes that
    must be visible together, occur in constraints. Beyond that it is greedy, and `least`
    says how far from minimal it can be.

    Raises PolicyError, naming the sets, if visibility and confidentiality exclude each other.
    """
    names = _Names(attributes)
    constraints = _minimal([names.mask(constraint) for constraint in confidential])
    together = _together(names, visible, required)
    for unit, sets in together:
        _require_apart(names, unit, sets, constraints)
    closed = _union(constraint for constraint in constraints if constraint.bit_count() == 1)
    constraints = [constraint for constraint in constraints if constraint.bit_count() > 1]
    involved = _union(constraints)
    units = [unit for unit, _ in together if unit & involved]
    others = names.all & ~closed & ~_union(units)
    colouring = coloured(units, _bits(others & involved), constraints)
    return _named(names, colouring, free=others & ~involved)


def broken(fragments: _Sets, attributes: Sequence[str], confidential: _Sets, visible: _Sets = ()) -> tuple[str, ...]:
    """What a given fragmentation breaks, a sentence each; nothing if it is correct."""
    known = {fold(name): name for name in attributes}
    problems: list[str] = []
    seen: set[str] = set()
    for fragment in fragments:
        if not fragment:
            problems.append("a fragment has no attribute")
        for name in fragment:
            if fold(name) not in known:
                problems.append(f"there is no attribute {name}")
            elif fold(name) in seen:
                problems.append(f"{name} stands twice: fragments have no attribute in common")
            seen.add(fold(name))
    folded = [(fragment, set(map(fold, fragment))) for fragment in fragments]
    for constraint in confidential:
        problems += [
            f"the fragment {_listed(fragment)} contains CONFIDENTIAL {_listed(constraint)}"
            for fragment, names in folded
            if names.issuperset(map(fold, constraint))
        ]
    problems += [
        f"VISIBLE {_listed(constraint)} lies in no fragment"
        for constraint in visible
        if not any(names.issuperset(map(fold, constraint)) for _, names in folded)
    ]
    return tuple(problems)


def require_correct(fragments: _Sets, attributes: Sequence[str], confidential: _Sets, visible: _Sets = ()) -> None:
    """Raises PolicyError, with all that it breaks, unless the fragmentation is correct."""
    if problems := broken(fragments, attributes, confidential, visible):
        raise PolicyError(
            f"these fragments cannot be published: {'; '.join(problems)}",
            hint="move columns to other fragments or leave them out, or name no fragments to have them found",
        )


class _Names:
    """Attributes as bits, in the order in which they were given."""

    def __init__(self, attributes: Sequence[str]) -> None:
        self._spelled = tuple(attributes)
        self._index = {fold(name): index for index, name in enumerate(attributes)}
        self.all = (1 << len(attributes)) - 1

    def mask(self, names: Iterable[str]) -> int:
        mask = 0
        for name in names:
            if fold(name) not in self._index:
                raise PolicyError(f"there is no attribute {name}", hint=f"there are {', '.join(self._spelled)}")
            mask |= 1 << self._index[fold(name)]
        return mask

    def of(self, mask: int) -> tuple[str, ...]:
        return tuple(name for index, name in enumerate(self._spelled) if mask >> index & 1)


def _named(names: _Names, colouring: Colouring, free: int) -> Fragmentation:
    """The fragments by name. What is in no constraint goes with the first of them."""
    masks = sorted(colouring.classes, key=lambda mask: mask & -mask)
    least = colouring.least
    if free and masks:
        masks[0] |= free
    elif free:
        masks, least = [free], 1
    masks.sort(key=lambda mask: mask & -mask)
    return Fragmentation(
        fragments=tuple(map(names.of, masks)),
        unpublished=names.of(names.all & ~_union(masks)),
        least=least,
        proven=colouring.proven,
    )


def _minimal(constraints: Iterable[int]) -> list[int]:
    """The constraints that no other is a part of: they ask for all that the others do."""
    distinct = sorted(set(constraints), key=int.bit_count)
    return [mask for index, mask in enumerate(distinct) if not any(mask & other == other for other in distinct[:index])]


def _together(names: _Names, visible: _Sets, required: Iterable[str]) -> list[tuple[int, list[Sequence[str]]]]:
    """What must lie in one fragment: the attributes, and the sets of `visible` that say so.

    An attribute lies in one fragment only, so two sets that share one lie in one fragment.
    """
    groups: list[tuple[int, list[Sequence[str]]]] = []
    units = [(names.mask(columns), [columns]) for columns in visible]
    for mask, sets in [*units, *((names.mask([name]), []) for name in required)]:
        touched = [other for other in groups if other[0] & mask]
        groups = [other for other in groups if not other[0] & mask]
        union = mask | _union(unit for unit, _ in touched)
        groups.append((union, [*(columns for _, others in touched for columns in others), *sets]))
    return groups


def _require_apart(names: _Names, unit: int, sets: Sequence[Sequence[str]], constraints: Sequence[int]) -> None:
    inside = [_listed(names.of(constraint)) for constraint in constraints if unit & constraint == constraint]
    if not inside:
        return
    if not sets:
        raise PolicyError(
            f"there is no fragmentation: {names.of(unit)[0]} must be published, and it is CONFIDENTIAL by itself",
            hint="leave it out of one of the two",
        )
    shares = "lies" if len(sets) == 1 else "share columns, so they lie"
    raise PolicyError(
        f"there is no fragmentation: VISIBLE {', '.join(map(_listed, sets))} {shares} in one fragment, "
        f"which then contains CONFIDENTIAL {', '.join(inside)}",
        hint="take a column out of VISIBLE, or leave CONFIDENTIAL out",
    )


def _listed(columns: Iterable[str]) -> str:
    return f"({', '.join(columns)})"


def _union(masks: Iterable[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union


def _bits(mask: int) -> list[int]:
    return [1 << index for index in range(mask.bit_length()) if mask >> index & 1]
