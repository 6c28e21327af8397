"""64 random bits a row, of the operating system's generator.

The draws cannot be repeated: no seed makes them, whatever the session has set.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["PARAMETERS", "RETURNS", "VOLATILE", "of_value", "random_draw"]

PARAMETERS = ("BIGINT",)
RETURNS = "UBIGINT"
VOLATILE = True

_BYTES = 8


def random_draw(rows: pa.Array | pa.ChunkedArray) -> pa.Array:
    """One draw for each row; what the rows hold does not matter."""
    import pyarrow as pa

    return pa.Array.from_buffers(pa.uint64(), len(rows), [None, pa.py_buffer(os.urandom(_BYTES * len(rows)))])


def of_value(row: int | None) -> int:
    """One draw."""
    return int.from_bytes(os.urandom(_BYTES), "little")
