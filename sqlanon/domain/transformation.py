"""What a method decided: how the values of a release are to be recoded."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Bucketization", "Fragmented", "Generalization", "Partition", "Round", "Transformation"]


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


@dataclass(frozen=True)
class Partition:
    """Multidimensional recoding: a region for every row, each of which meets the requirements.

    `regions` and `points` are the temporary tables of `recursion.Partitioned`, `ranked`
    those of each attribute's values in their order. `count` regions, of `smallest` to `largest`
    rows, were found by cutting
    all that were open `attempts` times. `loss` is what the release loses by the measure
    `loss_name`. Nothing is suppressed.
    """

    regions: str
    points: str
    ranked: tuple[str, ...]
    count: int
    smallest: int
    largest: int
    attempts: int
    loss: Fraction
    rows: int
    strict: bool
    publish: str
    bounds: bool
    suppressed: int = 0
    loss_name: str = "granularity_loss"


@dataclass(frozen=True)
class Bucketization:
    """Bucketization (Xiao and Tao 2006): a bucket for every row, and no value changed.

    `places` is a temporary table with a row a row of the source: its bucket, the codes of its
    sensitive values, and its other columns that are published (bucket, code_0, ..., column_0, ...);
    those in `words` are of a type of few texts. `codes` are the sensitive columns
    in that order, each with the table of its values (value, code). There are `count`
    buckets of `smallest` to `largest` rows, within `regions` regions. `once` says that
    no bucket has two rows of one value. Nothing is suppressed, and no value is coarser:
    the loss is 0.
    """

    places: str
    codes: tuple[tuple[str, str], ...]
    count: int
    smallest: int
    largest: int
    regions: int
    rows: int
    loss: Fraction = Fraction(0)
    suppressed: int = 0
    loss_name: str = "granularity_loss"
    once: bool = False
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fragmented:
    """Fragments (De Capitani di Vimercati et al. 2010): sets of columns that are published apart, no value changed.

    `given` says that the user named them; if not, no correct fragmentation has fewer than
    `least`, and `proven` says that none is better. Of a loose association `sizes` are the
    rows that a group of each fragment has at least, `k` how loose it is, None where no
    constraint lies across fragments, and `groups` the temporary table of each row's groups
    (row, group_0, ...), the row being its number in the source, or in `copied`, a
    temporary copy with the columns value_0, ... in the order of the fragments. Rows that
    no group has are suppressed, of which there may be `limit`; `alike` of them at most
    have the same of a constraint in a fragment. The loss is that of what is not published; no value is coarser.
    """

    fragments: tuple[tuple[str, ...], ...]
    given: bool
    least: int
    proven: bool
    rows: int
    suppressed: int = 0
    limit: int = 0
    alike: int = 0
    sizes: tuple[int, ...] = ()
    k: int | None = None
    groups: str = ""
    copied: str = ""
    loss: Fraction = Fraction(0)
    loss_name: str = "granularity_loss"


Transformation = Generalization | Partition | Bucketization | Fragmented
