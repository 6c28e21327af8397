"""What fragmentation chose: the sets of columns that are published apart, and the groups of their rows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Fragmented:
    """Fragments (De Capitani di Vimercati et al. 2010): sets of columns that are published apart, no value changed.

    `of_statement` says that the user named them; if not, no correct fragmentation has fewer than
    `least`, and `proven` says that none is better. Of a loose association `sizes` has the least
    number of rows in a group of each fragment, `k` says how loose it is, None where no
    constraint lies across fragments, and `groups` is the temporary table of each row's groups
    (row, group_0, ...), the row being its number in the source, or in `copied`, a
    temporary copy with the columns value_0, ... in the order of the fragments; with
    `has_values` it has these columns itself. At most `limit`
    rows may be in no group; they are suppressed, and at most `alike` of them have the same
    values of a constraint in a fragment. The loss is that of what is not published; no value is coarser.
    """

    fragments: tuple[tuple[str, ...], ...]
    of_statement: bool
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
    has_values: bool = False
    loss: Fraction = Fraction(0)
    loss_name: str = "granularity_loss"

    @property
    def searched(self) -> None:
        """None: there was no search whose end could be proven."""
        return
