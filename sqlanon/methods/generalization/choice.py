"""What generalization chose: the levels of the quasi-identifiers, in one round or several."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sqlanon.domain.choice import Searched


@dataclass(frozen=True)
class Round:
    """A full-domain recoding of the rows that no round before has published; `rows` of them are published here."""

    levels: tuple[int, ...]
    rows: int


@dataclass(frozen=True)
class Generalization:
    """Generalization: one level for each quasi-identifier, in the policy's order, in each round.

    Global recoding has one round. Local recoding may have more: a row is published by
    the first that keeps its class, and the levels never fall from one round to the next.
    `loss` is what the release loses by the measure `loss_name`; `rows` the source's
    rows, `suppressed` those of them that the release leaves out, `limit` how many it was
    allowed to leave out. `nodes` is the size of the lattice, `checked` how many of its
    nodes had their classes counted, `pruned` how many were ruled out unseen, all in the
    search for the best global recoding. `proven` tells whether no node loses less; if
    not, none loses less than `least`. Several rounds are not proven to be the best, and
    there is no bound, but they never lose more than the best global recoding that was found.
    """

    rounds: tuple[Round, ...]
    loss: Fraction
    rows: int
    suppressed: int
    limit: int
    nodes: int
    checked: int
    pruned: int = 0
    proven: bool = True
    least: Fraction | None = None
    loss_name: str = "granularity_loss"
    recoding: str = "global"

    @property
    def levels(self) -> tuple[int, ...]:
        """The levels of the first round."""
        return self.rounds[0].levels

    @property
    def searched(self) -> Searched:
        """How the search of the lattice came to it."""
        return Searched(self.nodes, self.checked, self.pruned, self.proven, self.least)
