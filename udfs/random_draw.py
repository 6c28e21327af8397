"""Random numbers of 64 bits, one for each row, from the operating system's generator.

The numbers cannot be reproduced: no seed of the session affects them.
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
    """Returns one random number for each row; the values of the rows do not matter."""
    import pyarrow as pa

    return pa.Array.from_buffers(pa.uint64(), len(rows), [None, pa.py_buffer(os.urandom(_BYTES * len(rows)))])


def of_value(row: int | None) -> int:
    """Returns one random number."""
    return int.from_bytes(os.urandom(_BYTES), "little")
