"""Minimal fragmentations: the attributes that are published together, and those that are not published.

De Capitani di Vimercati, Foresti, Jajodia, Paraboschi and Samarati, Fragments and loose associations: respecting
privacy in data publishing (2010). A fragment is a set of attributes whose values a release shows together. A
fragmentation is correct if its fragments have no attribute in common, none contains a confidentiality constraint, and
each visibility requirement lies whole within one of them. It is minimal if no other has fewer fragments; among minimal
ones, one that publishes most attributes is chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sqlanon.domain.bound import BoundPolicy
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Policy, Role
from sqlanon.domain.release import Reading
from sqlanon.errors import PolicyError
from sqlanon.methods.limits import CAN, Limits, Refusal

# The search behind fragments: units are colored so that no color has all attributes of a constraint.
#
# Attributes are bits. A unit is a set of attributes that belong in one fragment; a color is a fragment.


# With at most this many units, every coloring that could be better is examined.
EXACT_UNITS = 16


@dataclass(frozen=True)
class Colouring:
    """The union of each color's units. `least` is a lower bound of the number of colors; if `proven` is true, this is
    the best coloring.
    """

    classes: tuple[int, ...]
    least: int
    proven: bool


def coloured(required: Sequence[int], optional: Sequence[int], constraints: Sequence[int]) -> Colouring:
    """Colors all required units with few colors, then as many optional units as these colors can hold.

    Each single unit must satisfy every constraint. If there are no required units, one color holds optional units.
    """
    graph = _Conflicts(constraints)
    # Units in many conflicts come first: they leave the fewest choices to later units.
    needed = sorted(required, key=graph.degree, reverse=True)
    others = sorted(optional, key=graph.degree)
    least = len(graph.clique(needed)) or min(1, len(others))
    first = _greedy(needed, constraints)
    if not first and others:
        first = [0]
    classes = _added(first, others, constraints)
    if len(first) == least and _size(classes) == _size([*needed, *others]):
        return Colouring(tuple(classes), least, proven=True)
    if len(needed) + len(others) > EXACT_UNITS:
        return Colouring(tuple(classes), least, proven=False)
    while least < len(first) and not _Search(needed, (), constraints, least).best:
        least += 1
    start = classes if least == len(first) else ()
    best = _Search(needed, others, constraints, least, start).best
    return Colouring(tuple(best), least, proven=True)


class _Conflicts:
    """The conflicts between units: two units whose union contains a constraint cannot have the same color."""

    def __init__(self, constraints: Sequence[int]) -> None:
        self._constraints = constraints

    def degree(self, unit: int) -> int:
        return sum(1 for constraint in self._constraints if unit & constraint)

    def clique(self, units: Sequence[int]) -> list[int]:
        """The largest set of pairwise conflicting units that a greedy search finds; each of them needs its own
        color.
        """
        largest: list[int] = []
        for start in units:
            clique = [start]
            for unit in units:
                if all(self._between(unit, other) for other in clique):
                    clique.append(unit)
            largest = max(largest, clique, key=len)
        return largest

    def _between(self, unit: int, other: int) -> bool:
        return unit != other and not _allowed(unit | other, self._constraints)


def _allowed(mask: int, constraints: Sequence[int]) -> bool:
    return not any(mask & constraint == constraint for constraint in constraints)


def _greedy(units: Sequence[int], constraints: Sequence[int]) -> list[int]:
    """Puts each unit into the first color that can hold it, or into a new one."""
    classes: list[int] = []
    for unit in units:
        index = next((i for i, colour in enumerate(classes) if _allowed(colour | unit, constraints)), None)
        if index is None:
            classes.append(unit)
        else:
            classes[index] |= unit
    return classes


def _added(classes: Sequence[int], units: Sequence[int], constraints: Sequence[int]) -> list[int]:
    """Puts each of `units` into the first of the colors that can hold it; others remain without a color."""
    extended = list(classes)
    for unit in units:
        index = next((i for i, colour in enumerate(extended) if _allowed(colour | unit, constraints)), None)
        if index is not None:
            extended[index] |= unit
    return extended


def _size(classes: Sequence[int]) -> int:
    return sum(mask.bit_count() for mask in classes)


class _Search:
    """Branch and bound over the colors of each unit, with a limited number of colors.

    `best` has the colors that hold all required and the most optional units; it is empty if the required units do not
    fit. `start` is a coloring to improve.
    """

    def __init__(
        self,
        required: Sequence[int],
        optional: Sequence[int],
        constraints: Sequence[int],
        colours: int,
        start: Sequence[int] = (),
    ) -> None:
        self._units = (*required, *optional)
        self._needed = len(required)
        self._constraints = constraints
        self._colours = colours
        self._all = _size(self._units)
        self.best = list(start)
        self._most = _size(start) if start else -1
        self._extend([], 0, 0)

    def _extend(self, classes: list[int], index: int, left_out: int) -> None:
        if self._all - left_out <= self._most:
            return  # Whatever follows, as many are left out already.
        if index == len(self._units):
            self.best, self._most = list(classes), self._all - left_out
            return
        unit = self._units[index]
        for i, colour in enumerate(classes):
            if _allowed(colour | unit, self._constraints):
                classes[i] = colour | unit
                self._extend(classes, index + 1, left_out)
                classes[i] = colour
        # New colors are alike, so one of them is tried.
        if len(classes) < self._colours:
            classes.append(unit)
            self._extend(classes, index + 1, left_out)
            classes.pop()
        if index >= self._needed:
            self._extend(classes, index + 1, left_out + unit.bit_count())


_Sets = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Fragmentation:
    """Fragments of attributes, in the order in which they were given, and the attributes that are in no fragment.

    No correct fragmentation has fewer than `least` fragments. If `proven` is true, no fragmentation has fewer fragments
    than this one, and none with as many fragments publishes more attributes.
    """

    fragments: tuple[tuple[str, ...], ...]
    unpublished: tuple[str, ...]
    least: int
    proven: bool


def fragmentation(
    attributes: Sequence[str], confidential: _Sets, visible: _Sets = (), required: Iterable[str] = ()
) -> Fragmentation:
    """A minimal correct fragmentation; any attribute may stay unpublished unless `required` or `visible` names it.

    The search is exact if at most EXACT_UNITS attributes, or sets of attributes that must be visible together, occur in
    constraints. Otherwise it is greedy, and `least` bounds the distance from the minimum.

    Raises PolicyError, which names the sets, if visibility and confidentiality exclude each other.
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
    return _fragmentation_of(names, colouring, free=others & ~involved)


def broken(fragments: _Sets, attributes: Sequence[str], confidential: _Sets, visible: _Sets = ()) -> tuple[str, ...]:
    """Lists the violations of a fragmentation, one sentence for each; empty if it is correct."""
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
                problems.append(f"{name} is in two fragments: fragments have no attribute in common")
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
    """Raises PolicyError, with all violations, unless the fragmentation is correct."""
    if problems := broken(fragments, attributes, confidential, visible):
        raise PolicyError(
            f"these fragments cannot be published: {'; '.join(problems)}",
            hint="move columns to other fragments or leave them out, or leave FRAGMENTS out, so that sqlanon chooses "
            "them",
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

    def names_in(self, mask: int) -> tuple[str, ...]:
        return tuple(name for index, name in enumerate(self._spelled) if mask >> index & 1)


def _fragmentation_of(names: _Names, colouring: Colouring, free: int) -> Fragmentation:
    """Converts a coloring to fragments by name. Attributes in no constraint go to the first fragment."""
    masks = sorted(colouring.classes, key=lambda mask: mask & -mask)
    least = colouring.least
    if free and masks:
        masks[0] |= free
    elif free:
        masks, least = [free], 1
    masks.sort(key=lambda mask: mask & -mask)
    return Fragmentation(
        fragments=tuple(map(names.names_in, masks)),
        unpublished=names.names_in(names.all & ~_union(masks)),
        least=least,
        proven=colouring.proven,
    )


def _minimal(constraints: Iterable[int]) -> list[int]:
    """The constraints that contain no other constraint; together they imply all other constraints."""
    distinct = sorted(set(constraints), key=int.bit_count)
    return [mask for index, mask in enumerate(distinct) if not any(mask & other == other for other in distinct[:index])]


def _together(names: _Names, visible: _Sets, required: Iterable[str]) -> list[tuple[int, list[Sequence[str]]]]:
    """Returns the sets of attributes that must be in one fragment, each with the sets of `visible` that require it.

    An attribute is in one fragment only, so two sets that share an attribute are in the same fragment.
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
    inside = [_listed(names.names_in(constraint)) for constraint in constraints if unit & constraint == constraint]
    if not inside:
        return
    if not sets:
        raise PolicyError(
            f"there is no fragmentation: {names.names_in(unit)[0]} must be published, and it is CONFIDENTIAL by itself",
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


# The common parts of the methods that publish fragments: their limits, and the columns of each fragment.


Sets = Sequence[Sequence[str]]

_HIDDEN = (Role.IDENTIFIER, Role.ENTITY)

_NO_MODEL = Refusal(
    "{policy}: METHOD {method} keeps what is CONFIDENTIAL, and cannot promise {requirement}",
    "leave REQUIRE out, or use METHOD generalization with a policy without CONFIDENTIAL",
)
# The limits of fragments: columns are not seen together, and nothing else is promised.
OF_FRAGMENTS = Limits(
    labels=CAN,
    without_related=CAN,
    view=Refusal(
        "a live view cannot publish the fragments of METHOD {method}: their rows are in the source's order, "
        "which links them",
        "make a snapshot, CREATE ANONYMIZED TABLE",
    ),
    without_series=CAN,
    confidential=CAN,
    sets=CAN,
    requirements=_NO_MODEL,
    respondents=Refusal(
        "{policy}: METHOD {method} counts rows and not respondents, and {column} is ENTITY",
        "make it an IDENTIFIER, and give each respondent one row in the source, ON (SELECT ...)",
    ),
    pseudonyms=Refusal(
        "{policy}: METHOD {method} publishes no pseudonyms, and {column} is one: tokens would say which rows of a "
        "fragment are one respondent's",
        "leave {clause} out",
    ),
    min_level=Refusal(
        "{policy}: METHOD {method} publishes {column} as it is, and the policy says MIN LEVEL {level}",
        "leave MIN LEVEL out, or use METHOD generalization",
    ),
    max_level=CAN,
    itemsets=_NO_MODEL,
    on_spark=CAN,
    scripted=CAN,
)


def publishable(policy: Policy) -> list[str]:
    """The attributes that a fragment may have: all except identifiers and respondents."""
    return [attribute.name for attribute in policy.attributes if attribute.role not in _HIDDEN]


def constraints_of(policy: Policy) -> list[tuple[str, ...]]:
    """Returns the policy's confidentiality constraints whose columns may all be published.

    A constraint on an identifier is omitted, because no release shows identifiers.
    """
    names = set(map(fold, publishable(policy)))
    return [constraint for constraint in policy.confidential if names.issuperset(map(fold, constraint))]


def fragments_of(policy: BoundPolicy, sets: Sets, method: str) -> Fragmentation:
    """Returns the fragments that the user named, if they are correct, otherwise a minimal correct fragmentation.

    Names are spelled as in the source. A minimal fragmentation publishes every attribute except those that are
    CONFIDENTIAL by themselves. Raises PolicyError if no correct fragmentation publishes anything.
    """
    declared = policy.policy
    names = publishable(declared)
    columns = {fold(bound.column): bound.column for bound in policy.attributes}
    if sets:
        _require_published(policy, sets, method)
        require_correct(sets, names, declared.confidential, declared.visible)
        correct = Fragmentation(tuple(map(tuple, sets)), (), len(sets), proven=False)
    else:
        constraints = constraints_of(declared)
        alone = {fold(constraint[0]) for constraint in constraints if len(constraint) == 1}
        required = [name for name in names if fold(name) not in alone]
        correct = fragmentation(names, constraints, declared.visible, required)
    if not correct.fragments:
        raise PolicyError(
            f"{declared}: nothing is left to publish: every column is CONFIDENTIAL by itself",
            hint="name columns that may be seen",
        )
    fragments = tuple(tuple(columns[fold(name)] for name in fragment) for fragment in correct.fragments)
    published = {name for fragment in fragments for name in fragment}
    left = tuple(name for name in map(columns.__getitem__, map(fold, names)) if name not in published)
    return Fragmentation(fragments, left, correct.least, correct.proven)


def _require_published(policy: BoundPolicy, sets: Sets, method: str) -> None:
    hidden = {fold(bound.column): bound for bound in policy.attributes if bound.role in _HIDDEN}
    for name in (name for fragment in sets for name in fragment):
        if fold(name) in hidden:
            role = hidden[fold(name)].role.upper()
            raise PolicyError(
                f"METHOD {method}: FRAGMENTS names {name}, which is {role} and not published",
                hint="leave it out",
            )


def loss_of(policy: BoundPolicy, fragments: Sets, rows: int, suppressed: int) -> Fraction:
    """Returns the granularity loss of fragments: the weighted share of cells that are not published, from 0 to 1.

    Only quasi-identifiers count, by their weights; the cells of the `suppressed` of all `rows` are not published.
    """
    published = {name for fragment in fragments for name in fragment}
    weights = {bound.column: Fraction(bound.attribute.weight) for bound in policy.quasi_identifiers}
    whole = sum(weights.values(), Fraction(0)) * rows
    if not whole:
        return Fraction(0)
    remaining = sum((weight for name, weight in weights.items() if name in published), Fraction(0)) * (
        rows - suppressed
    )
    return 1 - remaining / whole


# The wording of certificates about releases of fragments.


# The readings of the columns of each table: of a fragment, of one with groups, and of the association.
FRAGMENT_TABLES = ((Reading.BUCKET_VALUE,),)
LOOSE_TABLES = ((Reading.BUCKET_VALUE, Reading.GROUP), (Reading.LINK,))

PUBLISHED = (
    "Values are the source's own, so they show who is in the tables. Which rows of two tables are one row of "
    "the source is not published, except as an association of groups shows it; random bits of the operating "
    "system determine the order of each table and the numbers of groups."
)
