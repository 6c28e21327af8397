"""Shows how much the point that On the Tradeoff (2009) prints, k = 5000, depends on the rule by which Mondrian cuts.

The paper does not say in which order words are, which attribute is cut first, or on which side of a cut the median is.
A naive Mondrian tries 600 rules, and the losses are computed from their definitions, without sqlanon's figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sqlanon
from benchmarks.papers.adult import Selection, described
from benchmarks.papers.statements import Attributes, cell, table

__all__ = ["CHOICES", "CUTS", "EDUCATIONS", "OTHERS", "PRINTED", "divergence", "lines", "losses"]

Numbers = NDArray[np.int64]
Shares = NDArray[np.float64]

K, MIN_SUPPORT = 5000, 0.05
# P_loss and U_loss as printed, and the greatest difference that counts as agreement.
PRINTED, TOLERANCE = (0.086, 0.0288), 0.005
# The order of words: by the hierarchy, the alphabet or how many rows have them, as rows name them first, or as Adult's
# documentation lists them.
ORDERS = ("hierarchy", "alphabet", "frequency", "rows", "documentation")
EDUCATIONS = ("words", "number")
_DOCUMENTED = {
    "workclass": "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay",
    "education": "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th Masters "
    "1st-4th 10th Doctorate 5th-6th Preschool",
    "marital_status": "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent "
    "Married-AF-spouse",
    "race": "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black",
}


def _widths(values: Numbers, whole: Numbers) -> dict[str, Shares]:
    """Returns the width of each attribute in a region, by the rules that choose the attribute to cut."""
    span, of_all = np.ptp(values, axis=0), np.ptp(whole, axis=0)
    different = np.array([len(np.unique(column)) for column in values.T])
    number = np.arange(values.shape[1])
    return {
        "widest range": span / of_all,
        "widest range, not divided": span.astype(float),
        "most values": different.astype(float),
        "largest share of values": different / np.array([len(np.unique(column)) for column in whole.T]),
        "first attribute": -number.astype(float),
        "last attribute": number.astype(float),
    }


CHOICES = tuple(_widths(np.zeros((1, 1), np.int64), np.array([[0], [1]])))
# The greatest value of the lower half.
CUTS: dict[str, Callable[[Numbers], float]] = {
    "with the median": lambda values: float(np.sort(values)[(len(values) - 1) // 2]),
    "without the median": lambda values: float(np.sort(values)[len(values) // 2]) - 0.5,
    "nearest to half": lambda values: _nearest(values),
    "middle of the range": lambda values: float(values.max() + values.min()) / 2,
    "middle value": lambda values: float(np.unique(values)[(len(np.unique(values)) - 1) // 2]),
}
# Whether another attribute is tried where the chosen one cannot be cut.
OTHERS = (True, False)


@dataclass(frozen=True)
class Source:
    """Adult's rows: of each attribute the values, and the codes of the occupations."""

    names: tuple[str, ...]
    values: dict[str, list[object]]
    numbers: Numbers
    sensitive: Numbers
    selection: Selection


def lines(connection: sqlanon.Connection, attributes: Attributes, *, quick: bool) -> Iterator[str]:
    """Yields a table of the rules whose losses are both as printed, nearest P_loss first, one with the range of P_loss
    and the number of rules, and one of the first cuts that delta-disclosure allows.
    """
    source = _source(connection, attributes)
    whole = _shares(source.sensitive)
    k = len(source.numbers) // 9 if quick else K
    tried: list[tuple[float, tuple[str, ...], Numbers, list[Numbers]]] = []
    for order, education in product(ORDERS[: 1 if quick else None], EDUCATIONS):
        rows = np.stack([_column(source, name, order, education) for name in source.names], axis=1)
        for choice, cut, others in product(CHOICES, CUTS, OTHERS):
            regions = _regions(rows, k, choice, cut, others)
            loss = max(divergence(whole, _shares(source.sensitive[region])) for region in regions)
            tried.append((loss, (order, education, choice, cut, "yes" if others else "no"), rows, regions))
    populations = _populations(source)
    tried.sort(key=lambda each: abs(each[0] - PRINTED[0]))
    near = tried[:2] if quick else [each for each in tried if abs(each[0] - PRINTED[0]) <= TOLERANCE]
    agreeing = list(_agreeing(source, near, populations, float("inf") if quick else TOLERANCE))
    heads = ("words by", "education as", "cuts", "at", "or another", "classes", "P_loss", "U_loss")
    yield from table(heads, iter(agreeing))
    yield ""
    losses = [loss for loss, *_ in tried]
    counts = (str(len(losses)), cell(min(losses)), cell(max(losses)), str(len(near)), str(len(agreeing)))
    yield from table(("rules", "least P_loss", "greatest P_loss", "P_loss agrees", "U_loss too"), iter([counts]))
    yield ""
    yield from table(("first cut of", "delta above"), _first_cuts(source))


def _first_cuts(source: Source) -> Iterator[Sequence[str]]:
    """Yields for each attribute the delta above which both halves of all rows are delta-disclosure-private."""
    whole = _shares(source.sensitive)
    for name in source.names:
        column = _column(source, name, "hierarchy", "words")
        lower = column <= CUTS["nearest to half"](column)
        halves = [_shares(source.sensitive[half]) for half in (lower, ~lower)]
        lacks = any((half == 0).any() for half in halves)
        yield (name, "-" if lacks else cell(max(float(np.abs(np.log(half / whole)).max()) for half in halves), 3))


def losses(connection: sqlanon.Connection, attributes: Attributes, k: int) -> tuple[float, float]:
    """Returns P_loss and U_loss of regions of k rows or more, by the rule that sqlanon's Mondrian follows."""
    source = _source(connection, attributes)
    rows = np.stack([_column(source, name, "hierarchy", "words") for name in source.names], axis=1)
    regions = _regions(rows, k, "widest range", "nearest to half", others=True)
    whole = _shares(source.sensitive)
    privacy = max(divergence(whole, _shares(source.sensitive[region])) for region in regions)
    return privacy, _utility_loss(source, rows, regions, _populations(source))


def _agreeing(
    source: Source,
    tried: Sequence[tuple[float, tuple[str, ...], Numbers, list[Numbers]]],
    populations: tuple[list[Conditions], list[Population]],
    tolerance: float,
) -> Iterator[Sequence[str]]:
    """Yields the rules whose U_loss differs from the printed one by at most the tolerance."""
    for loss, rule, rows, regions in tried:
        utility = _utility_loss(source, rows, regions, populations)
        if abs(utility - PRINTED[1]) <= tolerance:
            yield (*rule, str(len(regions)), cell(loss), cell(utility))


def _source(connection: sqlanon.Connection, attributes: Attributes) -> Source:
    names = attributes.quasi_identifiers
    query = f"SELECT {', '.join(names)}, education_num, occupation FROM people ORDER BY number"
    *columns, sensitive = zip(*connection.duckdb.execute(query).fetchall(), strict=True)
    selection = described(connection, Selection("six", names, {}, {}))
    values = {name: list(column) for name, column in zip(names, columns, strict=False)}
    codes = np.unique(np.array(sensitive), return_inverse=True)[1]
    return Source(names, values, np.array(columns[-1]), codes, selection)


def _column(source: Source, name: str, order: str, education: str) -> Numbers:
    """Returns the codes of an attribute's values, in the order in which they are cut."""
    values = source.values[name]
    if name == "age":
        return np.array(values)
    if name == "education" and education == "number":
        return source.numbers
    listed: dict[str, Callable[[], Iterable[Any]]] = {
        "hierarchy": lambda: source.selection.domains[name],
        "alphabet": lambda: sorted(set(map(str, values))),
        "frequency": lambda: [value for value, _ in Counter(values).most_common()],
        "rows": lambda: list(dict.fromkeys(values)),
        "documentation": lambda: _DOCUMENTED.get(name, "Female Male").split(),
    }
    codes = {value: code for code, value in enumerate(listed[order]())}
    return np.array([codes[value] for value in values])


def _nearest(values: Numbers) -> float:
    """Returns the value whose cut gives halves of the least difference in rows."""
    different, counts = np.unique(values, return_counts=True)
    below = np.abs(np.cumsum(counts)[:-1] - len(values) / 2)
    return float(different[int(below.argmin())])


def _regions(rows: Numbers, k: int, choice: str, cut: str, others: bool) -> list[Numbers]:
    """Returns the rows of each region that cannot be cut into two of k rows or more."""
    finished: list[Numbers] = []
    left = [np.arange(len(rows))]
    while left:
        region = left.pop()
        values = rows[region]
        widest = np.argsort(-_widths(values, rows)[choice], kind="stable")
        for attribute in widest if others else widest[:1]:
            column = values[:, attribute]
            if column.min() == column.max():
                continue
            lower = column <= CUTS[cut](column)
            if min(lower.sum(), (~lower).sum()) >= k:
                left += [region[lower], region[~lower]]
                break
        else:
            finished.append(region)
    return finished


def _shares(codes: Numbers) -> Shares:
    return np.bincount(codes, minlength=14) / len(codes)


def divergence(first: Shares, second: Shares) -> float:
    """Returns the Jensen-Shannon divergence of two distributions, in nats."""
    middle = (first + second) / 2
    return (_relative_entropy(first, middle) + _relative_entropy(second, middle)) / 2


def _relative_entropy(shares: Shares, other: Shares) -> float:
    present = shares > 0
    return float((shares[present] * np.log(shares[present] / other[present])).sum())


@dataclass(frozen=True)
class Population:
    """A large population: the index of the condition on each attribute that has one, and its true distribution."""

    conditions: tuple[tuple[int, int], ...]
    shares: Shares


# For each attribute its values, and for each condition whether it includes each value.
Conditions = tuple[Sequence[object], list[NDArray[np.bool_]]]


def _conditions(source: Source, name: str) -> Conditions:
    """Returns the conditions on an attribute: one of its values, or a label of its hierarchy below `*`."""
    values = sorted(set(source.values[name]), key=lambda value: (isinstance(value, str), value))
    if name == "age":
        ages = np.array(values)
        labels = [ages // width == start for width in (5, 10, 20, 40) for start in np.unique(ages // width)]
    else:
        domain = source.selection.domains[name]
        below = source.selection.labels[name].values()
        labels = [np.isin(np.array(values), [domain[code] for code in codes]) for codes in below]
    single = [np.array(values) == value for value in values]
    wide = {label.tobytes(): label for label in labels if 1 < label.sum() < len(values) or name == "age"}
    return values, [*single, *(label for label in wide.values() if label.sum() > 1)]


def _populations(source: Source) -> tuple[list[Conditions], list[Population]]:
    conditions = [_conditions(source, name) for name in source.names]
    members: list[list[NDArray[np.bool_]]] = []
    for name, (values, included) in zip(source.names, conditions, strict=True):
        place = {value: index for index, value in enumerate(values)}
        of_rows = np.array([place[value] for value in source.values[name]])
        members.append([each[of_rows] for each in included])
    found: list[Population] = []
    least = MIN_SUPPORT * len(source.sensitive)

    def extend(attribute: int, rows: NDArray[np.bool_], chosen: tuple[tuple[int, int], ...]) -> None:
        if attribute == len(members):
            if chosen:
                found.append(Population(chosen, _shares(source.sensitive[rows])))
            return
        extend(attribute + 1, rows, chosen)
        for index, member in enumerate(members[attribute]):
            both = rows & member
            if both.sum() >= least:
                extend(attribute + 1, both, (*chosen, (attribute, index)))

    extend(0, np.ones(len(source.sensitive), bool), ())
    return conditions, found


def _utility_loss(
    source: Source, rows: Numbers, regions: Sequence[Numbers], populations: tuple[list[Conditions], list[Population]]
) -> float:
    """Returns the mean divergence of estimated and true distributions; values of a range are equally likely."""
    conditions, found = populations
    counts = np.stack([np.bincount(source.sensitive[region], minlength=14) for region in regions])
    overlaps: list[Shares] = []
    for attribute, (values, included) in enumerate(conditions):
        codes = dict(zip(source.values[source.names[attribute]], rows[:, attribute], strict=True))
        place = np.array([codes[value] for value in values])
        of_regions = []
        for region in regions:
            inside = (place >= rows[region, attribute].min()) & (place <= rows[region, attribute].max())
            of_regions.append([(inside & each).sum() / inside.sum() for each in included])
        overlaps.append(np.array(of_regions))
    losses = []
    for population in found:
        weight = np.ones(len(regions))
        for attribute, index in population.conditions:
            weight = weight * overlaps[attribute][:, index]
        estimated = weight @ counts
        losses.append(divergence(population.shares, estimated / estimated.sum()))
    return float(np.mean(losses))
