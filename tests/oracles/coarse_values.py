"""Labels in place of sensitive values (Xiao and Tao 2006, with one cut for all rows), naively: a dict from values.

A tree maps each value to its labels from level 1 up to the last below the top, all of one length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from fractions import Fraction

Tree = Mapping[str | None, Sequence[str]]
Labels = Mapping[str | None, str | None]


def at_level(tree: Tree, level: int) -> Labels:
    """The label of each value at a level; a NULL that the tree does not list stays NULL."""
    return {None: None} | {value: labels[level - 1] for value, labels in tree.items()}


def hidden(tree: Tree, nodes: Collection[str]) -> Labels | None:
    """Returns the label of each value if these nodes are hidden; None if the parent of a node is the top.

    A value at or below a hidden node gets the label of the highest parent of such a node, any other value its own text.
    A text that occurs at several levels of a value's path is the highest of these nodes.
    """
    paths = {value: (value, *labels) for value, labels in tree.items()}
    parents = set()
    for path in paths.values():
        for node in nodes:
            places = [place for place, label in enumerate(path) if label == node]
            if places and places[-1] + 1 == len(path):
                return None
            if places:
                parents.add((places[-1] + 1, path[places[-1] + 1]))
    labels: dict[str | None, str | None] = {None: None}
    for value, path in paths.items():
        above = [label for place, label in enumerate(path) if (place, label) in parents]
        labels[value] = above[-1] if above else value
    return labels


def recoded(labels: Labels, values: Sequence[str | None]) -> list[str | None]:
    """Returns the label of the value of each row."""
    return [labels[value] for value in values]


def belief(labels: Labels, of_class: Sequence[Hashable], source: Sequence[str | None], value: str) -> Fraction:
    """Returns the adversary's belief that a row of a class has a value, given the shares q of all values in the source.

    It is p(label) q(value) / q(label); `of_class` has the labels of the class.
    """
    label = labels[value]
    share = Fraction(Counter(of_class)[label], len(of_class))
    below = sum(1 for other in source if labels[other] == label)
    return share * Fraction(sum(1 for other in source if other == value), below) if below else Fraction(0)
