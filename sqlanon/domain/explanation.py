"""Explanations of a method's choice, which EXPLAIN shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Protocol, runtime_checkable

from sqlanon.domain.numbers import counted


@dataclass(frozen=True)
class Violated:
    """A requirement, and the classes of a node that violate it by themselves.

    `smallest` is the size of the smallest of them, `label` what a release would show of
    it, generalized values only: a column and its text. Where the requirement counts respondents, who may have several
    rows, it is the class of the fewest, and `respondents` is their number. `curable` says whether
    withholding rows helps. `on` are the quasi-identifiers by which its classes are told apart, none if these are all.
    """

    requirement: str
    rows: int
    classes: int
    smallest: int
    label: tuple[tuple[str, str], ...] = ()
    curable: bool = True
    on: tuple[str, ...] = ()
    respondents: int | None = None

    def __str__(self) -> str:
        label = f" ({', '.join(f'{name} = {text}' for name, text in self.label)})" if self.label else ""
        smallest = str(self.smallest)
        if self.respondents is not None:
            smallest = f"{counted(self.respondents, 'respondent')} in {counted(self.smallest, 'row')}"
        return (
            f"classes that violate {self.requirement}: {self.classes} with {counted(self.rows, 'row')}, "
            f"the smallest{label} with {smallest}"
        )


@dataclass(frozen=True)
class JoinReached:
    """The value that a release at a node would reach in a requirement of its join with another release."""

    requirement: str
    other: str
    achieved: float | None
    satisfied: bool

    def __str__(self) -> str:
        return f"joined with {self.other}, {self.requirement} would come to {self.figure}"

    @property
    def figure(self) -> str:
        """The achieved value as a text: no row of one release may match any row of the other."""
        return "nothing, for no rows match" if self.achieved is None else f"{self.achieved:.6g}"


@dataclass(frozen=True)
class ExaminedNode:
    """A node of the lattice that was looked at: a level for each quasi-identifier.

    `withheld` are the rows of the classes that violate a requirement by themselves,
    `later` the rows that are withheld after them, because the distribution of what
    remains has changed, through all rounds; None if even then something violates.
    `violated` has the requirements that classes violate, the one with most rows first; a
    class may violate several. `bound` is the least that the node can lose by the
    marginal counts of single attributes, `loss` what it loses: None where it may not be
    published, or suppresses too many rows. `joins` is what it comes to in each requirement of a join, empty where it
    suppresses too many rows already.
    """

    levels: tuple[int, ...]
    bound: Fraction
    withheld: int
    later: int | None
    violated: tuple[Violated, ...]
    loss: Fraction | None
    joins: tuple[JoinReached, ...] = ()

    @property
    def broken_joins(self) -> tuple[JoinReached, ...]:
        """The requirements of the join with another release that the node violates."""
        return tuple(reached for reached in self.joins if not reached.satisfied)

    @property
    def suppressed(self) -> int:
        """The rows that a release at this node would leave out, if it has any rows at all."""
        return self.withheld + (self.later or 0)

    def breaks(self, limit: int) -> Violated | None:
        """Returns the requirement that alone keeps the node from being published; None if several requirements, or
        later rounds, do.

        The requirement with most rows, if these alone are more than the `limit` that may be
        suppressed, or one that withholding rows cannot cure.
        """
        for violated in self.violated:
            if violated.rows > limit or not violated.curable:
                return violated
        return self.violated[0] if self.violated and self.later is None else None


@dataclass(frozen=True)
class LessGeneral:
    """A quasi-identifier, the level below its own, and the node that has this level and the others as they are.

    `node` is None where MIN LEVEL does not allow it.
    """

    column: str
    level: int
    node: ExaminedNode | None


@dataclass(frozen=True)
class Binding:
    """The reason that keeps most of the nodes one level less general from being published.

    A requirement, or the suppression budget (None), at `at` of the nodes that may not be published, `of` in all.
    `of_join` says that it is about the join with another release, and no row violates it by itself.
    """

    requirement: str | None
    at: int
    of: int
    of_join: bool = False


@dataclass(frozen=True)
class CommonValue:
    """The most frequent value of an attribute among the suppressed rows: `most` of `rows` have it.

    Of the rows published, `published`, the most frequent value has `most_published`.
    """

    attribute: str
    rows: int
    most: int
    published: int
    most_published: int


@dataclass(frozen=True)
class Explanation:
    """The reasons for the node of a release.

    `limit` rows may be suppressed. Of local recoding in several rounds this is about the
    first, whose `withheld` rows are left to the later ones. `less_general` has every
    quasi-identifier that is generalized at all. `cheaper` are nodes whose bound is below
    the chosen node's loss, those of the greatest bound first, that may not be published.
    They were chosen among the `among` nodes of the lattice whose levels differ from the
    chosen ones by at most `reach`; None if those are all. `common_values` are the values that the rows left out
    share most often, in one round. `together` is the number of respondents in the smallest class by all
    quasi-identifiers, where requirements are on some of them; None where none is, or nothing is published.
    """

    limit: int
    chosen: ExaminedNode
    less_general: tuple[LessGeneral, ...]
    cheaper: tuple[ExaminedNode, ...]
    among: int
    reach: int | None
    common_values: tuple[CommonValue, ...] = ()
    together: int | None = None

    @property
    def neighbours(self) -> tuple[ExaminedNode, ...]:
        """The nodes that have one attribute one level less general."""
        return tuple(step.node for step in self.less_general if step.node is not None)

    @property
    def failing(self) -> tuple[ExaminedNode, ...]:
        """The neighbors that may not be published."""
        return tuple(node for node in self.neighbours if node.loss is None)

    def extra_loss(self, node: ExaminedNode) -> Fraction:
        """Returns the loss of a publishable node beyond the loss of the chosen node; below 0 if it loses less."""
        assert node.loss is not None
        assert self.chosen.loss is not None
        return node.loss - self.chosen.loss

    @property
    def better(self) -> tuple[ExaminedNode, ...]:
        """The neighbors that may be published and lose no more: a search that was stopped leaves some."""
        return tuple(node for node in self.neighbours if node.loss is not None and self.extra_loss(node) <= 0)

    @property
    def most_rows(self) -> str | None:
        """The requirement that most rows of the neighbours violate; None if they violate none."""
        rows = self._rows(self.neighbours)
        return max(rows, key=rows.__getitem__) if rows else None

    @staticmethod
    def _rows(nodes: Sequence[ExaminedNode]) -> Counter[str]:
        rows: Counter[str] = Counter()
        for node in nodes:
            rows.update({violated.requirement: violated.rows for violated in node.violated})
        return rows

    @property
    def binding(self) -> Binding | None:
        """Returns the requirement that most of the neighbors break first: the one with most rows, if these alone are
        too many.

        Of equals the one with more rows in all of them, then the first. None where every
        neighbour could be published.
        """
        failing = self.failing
        if not failing:
            return None
        of_joins = {reached.requirement for node in failing for reached in node.broken_joins}
        first = [node.broken_joins[0] if node.broken_joins else node.breaks(self.limit) for node in failing]
        broken = [None if violated is None else violated.requirement for violated in first]
        rows = self._rows(failing)
        requirement, at = max(Counter(broken).items(), key=lambda pair: (pair[1], rows[pair[0] or ""]))
        return Binding(requirement, at, len(failing), of_join=requirement in of_joins)


# What every method says of the release that it chose, whatever it is made of.


@dataclass(frozen=True)
class Searched:
    """The effort and the proof of a search.

    Of `nodes` candidates `checked` had their classes counted and `pruned` were ruled out unseen. If `proven`, no
    candidate loses less; if not, none loses less than `least`, where that is known.
    """

    nodes: int
    checked: int
    pruned: int
    proven: bool
    least: Fraction | None


class Choice(Protocol):
    """The rows and labels that a method chose to publish in place of the source's `rows`; `suppressed` rows are left
    out.

    `loss` is what is lost by the measure `loss_name`. `searched` says how it was found, None without a search.
    """

    @property
    def rows(self) -> int: ...

    @property
    def suppressed(self) -> int: ...

    @property
    def loss(self) -> Fraction: ...

    @property
    def loss_name(self) -> str: ...

    @property
    def searched(self) -> Searched | None: ...


@runtime_checkable
class WithNoise(Protocol):
    """A choice that was made of counts with noise, which have cost `spent` of a budget: epsilon and delta.

    `rows` are those that are published: how many the source has is not told.
    """

    @property
    def spent(self) -> tuple[Decimal, Decimal]: ...


@runtime_checkable
class Remarked(Protocol):
    """A choice with remarks for the owner: sentences with counts, not with values."""

    @property
    def remarks(self) -> tuple[str, ...]: ...
