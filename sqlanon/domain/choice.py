"""What every method says of the release that it chose, whatever it is made of."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class Searched:
    """How a search came to its choice.

    Of `nodes` candidates `checked` had their classes counted and `pruned` were ruled out unseen. If `proven`, no
    candidate loses less; if not, none loses less than `least`, where that is known.
    """

    nodes: int
    checked: int
    pruned: int
    proven: bool
    least: Fraction | None


class Choice(Protocol):
    """What a method publishes in place of the source's `rows`, of which it leaves `suppressed` out.

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
class Remarked(Protocol):
    """A choice about which there is something to say to whoever makes the release: sentences of counts, not values."""

    @property
    def remarks(self) -> tuple[str, ...]: ...
