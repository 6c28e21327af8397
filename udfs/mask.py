"""Masks for identifying values, computed by a function that holds the key."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

__all__ = ["PARAMETERS", "RETURNS", "mask", "of_value"]

PARAMETERS = ("VARCHAR",)
RETURNS = "VARCHAR"


def mask(values: pa.Array | pa.ChunkedArray, masked: Callable[[str], str | None]) -> pa.Array:
    """Returns the mask of each text; NULL for NULL, and for a text without a mask."""
    import pyarrow as pa

    return pa.array([None if value is None else masked(value) for value in values.to_pylist()], type=pa.string())


def of_value(value: str | None, masked: Callable[[str], str | None]) -> str | None:
    """Returns the mask of one text."""
    return None if value is None else masked(value)
