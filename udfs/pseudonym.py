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

    # A copy of one that has the key already takes less than a new one; and unlike hmac.digest, it does not
    # let go of Python's lock for each value, which threads would then pass to and fro.
    keyed = hmac.new(key, digestmod="sha256")
    return pa.array([_token(keyed, value) for value in values.to_pylist()], type=pa.string())


def of_value(value: str | None, key: bytes) -> str | None:
    """The token of one text."""
    return _token(hmac.new(key, digestmod="sha256"), value)


def _token(keyed: hmac.HMAC, value: str | None) -> str | None:
    if value is None:
        return None
    message = keyed.copy()
    message.update(value.encode())
    # FIPS 198-1, section 5: an HMAC is shortened by keeping its leftmost bytes.
    return message.digest()[:TOKEN_BYTES].hex()
