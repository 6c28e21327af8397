"""Keyed tokens in place of identifying values: HMAC-SHA-256 (RFC 2104), the first 128 bits in hexadecimal.

Who does not hold the key can neither compute the token of a guessed value nor tell which
value a token stands for. Two different values share a token with a probability below
n^2 / 2^129 for n values: 2^-69 for a thousand million of them.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["PARAMETERS", "RETURNS", "of_value", "pseudonym"]

PARAMETERS = ("VARCHAR",)
RETURNS = "VARCHAR"

TOKEN_BYTES = 16


def pseudonym(values: pa.Array | pa.ChunkedArray, key: bytes) -> pa.Array:
    """The token of each text under `key`, of its UTF-8 bytes as they are; NULL for NULL.

    Equal texts get equal tokens and every text, the empty one too, has one.
    """
    import pyarrow as pa

    return pa.array([of_value(value, key) for value in values.to_pylist()], type=pa.string())


def of_value(value: str | None, key: bytes) -> str | None:
    """The token of one text."""
    if value is None:
        return None
    # FIPS 198-1, section 5: an HMAC is shortened by keeping its leftmost bytes.
    return hmac.digest(key, value.encode(), "sha256")[:TOKEN_BYTES].hex()
