"""The cells, as methods see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sqlanon.sqlgen.build.steps import Step
from sqlanon.sqlgen.cells.key_layout import KeyLayout

__all__ = ["CellSource", "RankedCells"]


class CellSource(Protocol):
    """The cells, as the encode stage leaves them."""

    @property
    def table(self) -> str: ...
    @property
    def trees(self) -> Sequence[str]: ...
    @property
    def layout(self) -> KeyLayout: ...
    @property
    def rows(self) -> int: ...
    @property
    def values(self) -> Sequence[int]: ...
    @property
    def spread(self) -> Sequence[Sequence[int]]: ...
    @property
    def most(self) -> Sequence[Sequence[int]]: ...
    @property
    def carried(self) -> tuple[str, ...]:
        """The columns whose codes the cells carry."""
        ...

    @property
    def given(self) -> tuple[Step, ...]:
        """The normal relations that are the same for every node."""
        ...

    @property
    def public(self) -> str | None:
        """The cells of the public table."""
        ...


class RankedCells(CellSource, Protocol):
    """Cells that may have ranks for codes."""

    @property
    def ranked(self) -> Sequence[str]:
        """The tables of each quasi-identifier's values in their order; none where codes are no ranks."""
        ...
