"""Local recoding in rounds, row by row, from its definition.

A round recodes the rows that no earlier round kept, all at one node, and keeps the classes that satisfy. The search for
a round's node starts at the best node for all rows, in later rounds at the best node for the rows left, and takes the
best step of one level of one attribute as long as it improves. A row that a node does not keep costs as much as it
costs on average at the starting node. The rounds together publish one table, in which classes that look alike are one
class.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum, log2

from tests.oracles.granularity_loss import Taxonomy
from tests.oracles.lattice import Node, nodes, recoded

Class = Hashable
Classes = Mapping[Class, Sequence[int]]
Counts = Mapping[Class, int]

# The class of the rows of other rounds, and of the public rows that no round keeps.
ELSEWHERE = ("elsewhere",)


@dataclass(frozen=True)
class Chosen:
    """The levels and the places of the published rows of each round, and the loss, summed over all rows."""

    rounds: tuple[tuple[Node, frozenset[int]], ...]
    loss: Fraction


@dataclass(frozen=True)
class Task:
    """A table with its hierarchies, and the requirements on its release.

    `violating` returns the violating classes, given the classes and the number of public rows in each. `withheld`
    returns the places of the rows to suppress until nothing violates, or None. At most `limit` rows may be suppressed.
    `public` has the rows of the public table. `incurable` tells whether a class violates in a way that no suppression
    cures, `labelled` whether the hierarchies have labels for a row at a node.
    """

    rows: Sequence[tuple[Hashable, ...]]
    taxonomies: Sequence[Taxonomy]
    weights: Sequence[Fraction]
    low: Node
    high: Node
    limit: int
    violating: Callable[[Classes, Counts], set[Class]]
    withheld: Callable[[Classes, Counts], set[int] | None]
    public: Sequence[tuple[Hashable, ...]] = ()
    public_taxonomies: Sequence[Taxonomy] = ()
    incurable: Callable[[Classes, Counts], bool] = lambda classes, public: False
    labelled: Callable[[int, Node], bool] = lambda place, node: True

    def cost(self, place: int, node: Node) -> Fraction:
        """Returns the loss of a published row."""
        parts = zip(self.weights, self.rows[place], self.taxonomies, node, strict=True)
        return sum((weight * taxonomy.cost(value, level) for weight, value, taxonomy, level in parts), Fraction(0))

    @property
    def suppressed(self) -> Fraction:
        """Returns the loss of a suppressed row."""
        return sum(self.weights, Fraction(0))

    def classes(
        self, places: Sequence[int], public: Sequence[int], node: Node
    ) -> tuple[dict[Class, list[int]], dict[Class, int]]:
        """Returns the classes of these rows at a node, with all other rows in a class of their own, and counts these
        public rows by class.
        """
        classes: dict[Class, list[int]] = defaultdict(list)
        for place in range(len(self.rows)):
            classes[self.label(place, node) if place in places else ELSEWHERE].append(place)
        counts: dict[Class, int] = defaultdict(int)
        for place in public:
            counts[recoded(self.public[place], self.public_taxonomies, node)] += 1
        return classes, counts

    def label(self, place: int, node: Node) -> Class:
        return recoded(self.rows[place], self.taxonomies, node) if self.labelled(place, node) else ELSEWHERE

    def left(self, places: Sequence[int], public: Sequence[int], node: Node) -> tuple[list[int], list[int]]:
        """Returns the rows, and the public rows, that a round at this node does not keep."""
        classes, counts = self.classes(places, public, node)
        kept = set(classes) - self.violating(classes, counts) - {ELSEWHERE}
        gone = [place for place in places if self.label(place, node) not in kept]
        return gone, [p for p in public if recoded(self.public[p], self.public_taxonomies, node) not in kept]

    def loss(self, places: Sequence[int], node: Node, gone: Sequence[int]) -> Fraction:
        own = sum((self.cost(place, node) for place in places if place not in gone), Fraction(0))
        return own + len(gone) * self.suppressed


def optimum(task: Task) -> tuple[Fraction, int, Node, frozenset[int]] | None:
    """Global recoding: returns the least loss, with height, levels and suppressed rows of the best node; None if none
    is feasible.
    """
    found = []
    for node in nodes(task.low, task.high):
        gone = task.withheld(*task.classes(range(len(task.rows)), range(len(task.public)), node))
        if gone is not None and len(gone) <= task.limit:
            loss = task.loss(range(len(task.rows)), node, sorted(gone))
            found.append((loss, sum(node), node, frozenset(gone)))
    return min(found, key=lambda one: one[:3], default=None)


def local_recoding(task: Task, most: int) -> Chosen | None:
    """Returns the best result of up to `most` rounds, by loss and then by suppressed rows; None if there is none."""
    start = optimum(task)
    if start is None:
        return None
    loss, _, node, gone = start
    every = range(len(task.rows))
    best = ((loss, len(gone)), Chosen(((node, frozenset(every) - gone),), loss))
    places, public, low = list(every), list(range(len(task.public))), task.low
    last: tuple[Fraction, Node] | None = (loss, node)
    done: list[Node] = []

    def consider(levels: Sequence[Node]) -> None:
        nonlocal best
        found = union(task, levels) if len(levels) > 1 else None
        if found is not None:
            rank = (found.loss, len(task.rows) - sum(len(kept) for _, kept in found.rounds))
            if rank < best[0]:
                best = (rank, found)

    while len(done) + 1 < most:
        node = _descended(task, places, public, low, last)
        rest, public_rest = task.left(places, public, node)
        if len(rest) == len(places):
            break
        done.append(node)
        places, public, low = rest, public_rest, node
        if not places:
            consider(done)
            break
        last = _best(task, places, public, low)
        if last is not None:
            keeps = len(task.left(places, public, last[1])[0]) < len(places)
            consider([*done, last[1]] if keeps else done)
    return best[1]


def _descended(
    task: Task, places: Sequence[int], public: Sequence[int], low: Node, last: tuple[Fraction, Node] | None
) -> Node:
    each = last[0] / len(places) if last is not None and places else task.suppressed

    def expected(node: Node) -> tuple[Fraction, int, Node]:
        gone, _ = task.left(places, public, node)
        kept = task.loss(places, node, gone) - len(gone) * task.suppressed
        return kept + len(gone) * each, sum(node), node

    here = task.high if last is None else last[1]
    while True:
        around = [
            (*here[:place], level, *here[place + 1 :])
            for place in range(len(here))
            for level in (here[place] - 1, here[place] + 1)
            if low[place] <= level <= task.high[place]
        ]
        best = min([here, *around], key=expected)
        if best == here:
            return here
        here = best


def _best(task: Task, places: Sequence[int], public: Sequence[int], low: Node) -> tuple[Fraction, Node] | None:
    """Returns loss and levels of the best node for some rows within the budget, by the classes that violate at once."""
    found = []
    for node in nodes(low, task.high):
        gone, _ = task.left(places, public, node)
        if len(gone) <= task.limit and not task.incurable(*task.classes(places, public, node)):
            found.append((task.loss(places, node, gone), sum(node), node))
    best = min(found, default=None)
    return None if best is None else (best[0], best[2])


def union(task: Task, levels: Sequence[Node]) -> Chosen | None:
    """Returns what rounds at these levels publish; None if more than `limit` rows would be suppressed."""
    placed, public = placements(task, levels)
    classes: dict[Class, list[int]] = defaultdict(list)
    for place, number in placed.items():
        classes[shown(task.rows[place], task.taxonomies, levels, number)].append(place)
    counts: dict[Class, int] = defaultdict(int)
    for place, row in enumerate(task.public):
        of = shown(row, task.public_taxonomies, levels, public[place]) if place in public else ELSEWHERE
        counts[of] += 1
    gone = task.withheld(classes, counts)
    if gone is None:
        return None
    kept = [
        frozenset(p for p, own in placed.items() if own == number and p not in gone) for number in range(len(levels))
    ]
    suppressed = len(task.rows) - sum(map(len, kept))
    if suppressed > task.limit:
        return None
    rounds = tuple(zip(levels, kept, strict=True))
    loss = sum((task.cost(place, node) for node, own in rounds for place in own), Fraction(0))
    return Chosen(rounds, loss + suppressed * task.suppressed)


def placements(task: Task, levels: Sequence[Node]) -> tuple[dict[int, int], dict[int, int]]:
    """Returns the round, from 0, that keeps each row and each public row; rows that no round keeps are left out."""
    places, public = list(range(len(task.rows))), list(range(len(task.public)))
    placed: dict[int, int] = {}
    public_placed: dict[int, int] = {}
    for number, node in enumerate(levels):
        rest, public_rest = task.left(places, public, node)
        placed |= {place: number for place in places if place not in rest}
        public_placed |= {place: number for place in public if place not in public_rest}
        places, public = rest, public_rest
    return placed, public_placed


def shown(
    row: Sequence[Hashable], taxonomies: Sequence[Taxonomy], levels: Sequence[Node], number: int
) -> tuple[Hashable, ...]:
    """Returns the values that a row shows in a round: texts for attributes whose levels differ among the rounds."""
    labels = recoded(row, taxonomies, levels[number])
    mixed = [len({node[place] for node in levels}) > 1 for place in range(len(labels))]
    return tuple(text(label) if several else label for label, several in zip(labels, mixed, strict=True))


def lost(name: str, task: Task, rounds: Sequence[tuple[Node, frozenset[int]]], k: int) -> Fraction | float:
    """Returns the loss of a table in which each round publishes exactly these rows, by the name of the loss."""
    every = [(place, number) for number, (_, kept) in enumerate(rounds) for place in sorted(kept)]
    gone = sorted(set(range(len(task.rows))) - {place for place, _ in every})
    levels = [node for node, _ in rounds]
    sizes = Counter(shown(task.rows[place], task.taxonomies, levels, number) for place, number in every)
    cells = len(task.rows) * task.suppressed
    match name:
        case "granularity_loss":
            own = sum((task.cost(place, levels[number]) for place, number in every), Fraction(0))
            return (own + len(gone) * task.suppressed) / cells if cells else Fraction(0)
        case "precision":
            parts = list(zip(task.weights, task.taxonomies, strict=True))
            each = [
                sum((w * Fraction(at, t.height) for (w, t), at in zip(parts, n, strict=True)), Fraction(0))
                for n in levels
            ]
            own = sum((each[number] for _, number in every), Fraction(0))
            return (own + len(gone) * task.suppressed) / cells if cells else Fraction(0)
        case "discernibility":
            return Fraction(sum(size**2 for size in sizes.values()) + len(gone) * len(task.rows))
        case "average_class_size":
            return Fraction(len(task.rows), k) / (len(sizes) or Fraction(1, 2))
        case "height":
            return Fraction(sum(levels[0]))
        case _:
            return _bits(task, levels, every, gone)


def _bits(task: Task, levels: Sequence[Node], every: Sequence[tuple[int, int]], gone: Sequence[int]) -> float:
    """Returns non-uniform entropy: a published cell costs -log2(rows with its value / rows with its label) of the
    source.
    """
    bits = []
    for column, (taxonomy, weight) in enumerate(zip(task.taxonomies, task.weights, strict=True)):
        values = [row[column] for row in task.rows]
        without = Counter(values[place] for place in gone)
        for place, number in every:
            level = levels[number][column]
            own = taxonomy.label(values[place], level)
            alike = sum(taxonomy.label(value, level) == own for value in values)
            bits.append(float(weight) * log2(alike / values.count(values[place])))
        bits += [float(weight) * log2(len(gone) / without[values[place]]) for place in gone]
    return fsum(bits)


def text(value: Hashable) -> Hashable:
    """Returns a value as SQL writes it; NULL stays NULL."""
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)
