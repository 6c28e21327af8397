"""Keyed digests that identify respondents in a series: BLAKE2b with a key (RFC 7693), 128 bits, as a UUID.

Without the key nobody can compute the digest of a guessed value, or find the value of a digest. Among n different
values, two have the same digest with a probability below n^2 / 2^129.
"""

from __future__ import annotations

import hashlib
import uuid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["PARAMETERS", "RETURNS", "keyed_digest", "of_value"]

PARAMETERS = ("VARCHAR",)
RETURNS = "UUID"

_BYTES = 16


def keyed_digest(values: pa.Array | pa.ChunkedArray, key: bytes) -> pa.Array:
    """Returns the digest of each text's UTF-8 bytes under `key`; NULL for NULL."""
    import pyarrow as pa

    # The state after the key is computed once and copied for each value.
    keyed = hashlib.blake2b(key=key, digest_size=_BYTES).copy
    digests: list[bytes] = []
    append = digests.append
    for value in values.cast(pa.large_binary()).drop_null().to_pylist():
        message = keyed()
        message.update(value)
        append(message.digest())
    if values.null_count:
        each = iter(digests)
        known = pa.array([next(each) if valid else None for valid in values.is_valid().to_pylist()], pa.binary(_BYTES))
    else:
        known = pa.Array.from_buffers(pa.binary(_BYTES), len(digests), [None, pa.py_buffer(b"".join(digests))])
    return pa.ExtensionArray.from_storage(pa.uuid(), known)


def of_value(value: str | None, key: bytes) -> uuid.UUID | None:
    """Returns the digest of one text."""
    if value is None:
        return None
    return uuid.UUID(bytes=hashlib.blake2b(value.encode(), key=key, digest_size=_BYTES).digest())
