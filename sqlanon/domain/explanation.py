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

    `classes` is their number, `rows` the number of their rows, and `smallest` the size of the smallest class. `label`
    is the label that a release would show for this class: pairs of a column and its generalized text. If the
    requirement counts respondents, who may have several rows, this is the class with the fewest respondents, and
    `respondents` is their number. `curable` says whether withholding rows helps. `on` are the quasi-identifiers that
    tell the requirement's classes apart; it is empty for all of them.
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
    """A requirement of the join with another release, with the value that a release at a node would reach."""

    requirement: str
    other: str
    achieved: float | None
    satisfied: bool

    def __str__(self) -> str:
        return f"joined with {self.other}, {self.requirement} would come to {self.figure}"

    @property
    def figure(self) -> str:
        """The achieved value as text; there is a special text if no rows of the two releases match."""
        return "nothing, for no rows match" if self.achieved is None else f"{self.achieved:.6g}"


@dataclass(frozen=True)
class ExaminedNode:
    """A node of the lattice whose classes were examined: a level for each quasi-identifier.

    `withheld` is the number of rows in classes that violate a requirement by themselves. `later` is the number of rows
    that further rounds withhold, because the distribution of the remaining rows has changed; None if a class still
    violates after all rounds. `violated` has the violated requirements, beginning with the requirement with the most
    violating rows; a class may violate several. `bound` is a lower bound of the node's loss, from the marginal counts
    of single attributes. `loss` is its loss, or None if the node may not be published or suppresses too many rows.
    `joins` has the value that the node reaches in each requirement of a join, and is empty if the node suppresses too
    many rows.
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
        """The number of rows that a release at this node would leave out, if it has any rows at all."""
        return self.withheld + (self.later or 0)

    def breaks(self, limit: int) -> Violated | None:
        """Returns the requirement that alone keeps the node from being published; None if there is no single
        requirement.

        It is the first requirement whose violating rows alone exceed the `limit` of suppressed rows, or that cannot be
        satisfied by withholding rows. If there is none, and a class still violates after all rounds, it is the
        requirement with the most violating rows.
        """
        for violated in self.violated:
            if violated.rows > limit or not violated.curable:
                return violated
        return self.violated[0] if self.violated and self.later is None else None


@dataclass(frozen=True)
class LessGeneral:
    """A quasi-identifier, the level below the chosen level, and the node with this level and the other levels
    unchanged.

    `node` is None if MIN LEVEL forbids the level.
    """

    column: str
    level: int
    node: ExaminedNode | None


@dataclass(frozen=True)
class Binding:
    """The reason that keeps most of the nodes one level less general from being published.

    `requirement` is a requirement, or None for the suppression budget. It is the reason for `at` of the `of` nodes that
    may not be published. `of_join` is true if the requirement is about the join with another release, so that no row
    violates it by itself.
    """

    requirement: str | None
    at: int
    of: int
    of_join: bool = False


@dataclass(frozen=True)
class CommonValue:
    """The most frequent value of an attribute among the suppressed rows: `most` of `rows` rows have it.

    Among the `published` rows, the most frequent value has `most_published` rows.
    """

    attribute: str
    rows: int
    most: int
    published: int
    most_published: int


@dataclass(frozen=True)
class Explanation:
    """The reasons for the node of a release.

    At most `limit` rows may be suppressed. For local recoding in several rounds, the explanation is about the first
    round, whose `withheld` rows are left to the later rounds. `less_general` has each quasi-identifier that is
    generalized. `cheaper` are the nodes that may not be published although their bound is below the chosen node's loss,
    with the greatest bound first. They are chosen among the `among` nodes of the lattice whose levels differ from the
    chosen ones by at most `reach`, which is None for all nodes. If there is only one round, `common_values` are the
    most frequent values of the suppressed rows. `together` is the number of respondents in the smallest class by all
    quasi-identifiers; None if all requirements are on all quasi-identifiers, or if nothing is published.
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
        """The nodes with one attribute one level less general."""
        return tuple(step.node for step in self.less_general if step.node is not None)

    @property
    def failing(self) -> tuple[ExaminedNode, ...]:
        """The neighbors that may not be published."""
        return tuple(node for node in self.neighbours if node.loss is None)

    def extra_loss(self, node: ExaminedNode) -> Fraction:
        """Returns the loss of a publishable node beyond the loss of the chosen node; it is below 0 if the node loses
        less.
        """
        assert node.loss is not None
        assert self.chosen.loss is not None
        return node.loss - self.chosen.loss

    @property
    def better(self) -> tuple[ExaminedNode, ...]:
        """The neighbors that may be published and lose no more. There may be such neighbors if the search was
        stopped.
        """
        return tuple(node for node in self.neighbours if node.loss is not None and self.extra_loss(node) <= 0)

    @property
    def most_rows(self) -> str | None:
        """The requirement that most rows of the neighbors violate; None if they do not violate any."""
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
        """The requirement, or the budget, that keeps most neighbors from being published; None if no neighbor is kept
        from it.

        Each such neighbor counts for its first violated requirement of a join, or else for the requirement that
        `breaks` returns. If several requirements count equally often, the one with more violating rows in all neighbors
        is returned, then the first.
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


# The facts that every method reports about its choice.


@dataclass(frozen=True)
class Searched:
    """The effort of a search, and the proof that its result is the best.

    Of `nodes` candidates, the classes of `checked` were counted, and `pruned` were ruled out without a count. If
    `proven` is true, no candidate loses less; otherwise no candidate loses less than `least`, if that is known.
    """

    nodes: int
    checked: int
    pruned: int
    proven: bool
    least: Fraction | None


class Choice(Protocol):
    """The rows and labels that a method chose to publish; `suppressed` of the source's `rows` rows are left out.

    `loss` is the loss by the measure `loss_name`. `searched` describes the search, None if the method does not search.
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
    """A choice that is made of counts with noise, which cost `spent` of a budget: epsilon and delta.

    `rows` is the number of published rows, because the number of the source's rows stays secret.
    """

    @property
    def spent(self) -> tuple[Decimal, Decimal]: ...


@runtime_checkable
class Remarked(Protocol):
    """A choice with remarks for the owner: sentences with counts, not with values."""

    @property
    def remarks(self) -> tuple[str, ...]: ...
