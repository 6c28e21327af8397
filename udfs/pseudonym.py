"""Keyed tokens for identifying values: HMAC-SHA-256 (RFC 2104), the first 128 bits in hexadecimal.

Without the key nobody can compute the token of a guessed value, or find the value of a token. Among n different values,
two have the same token with a probability below n^2 / 2^129, which is 2^-69 for a thousand million values.
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
    """Returns the token of each text's UTF-8 bytes under `key`; NULL for NULL.

    Equal texts get equal tokens, and an empty text gets a token as well.
    """
    import pyarrow as pa

    # Copying an HMAC with the key is cheaper than making one; and unlike hmac.digest, it does not
    # release Python's lock for each value, which threads would then pass to and fro.
    keyed = hmac.new(key, digestmod="sha256")
    return pa.array([_token(keyed, value) for value in values.to_pylist()], type=pa.string())


def of_value(value: str | None, key: bytes) -> str | None:
    """Returns the token of one text."""
    return _token(hmac.new(key, digestmod="sha256"), value)


def _token(keyed: hmac.HMAC, value: str | None) -> str | None:
    if value is None:
        return None
    message = keyed.copy()
    message.update(value.encode())
    # FIPS 198-1, section 5: an HMAC is shortened by keeping its leftmost bytes.
    return message.digest()[:TOKEN_BYTES].hex()
