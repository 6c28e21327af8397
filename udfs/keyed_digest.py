"""Keyed digests by which a series knows its respondents: BLAKE2b with a key (RFC 7693), 128 bits, as a UUID.

Who does not hold the key can neither compute the digest of a guessed value nor tell which value a digest stands for.
Two different values share one with a probability below n^2 / 2^129 for n values.
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
    """The digest of each text under `key`, of its UTF-8 bytes as they are; NULL for NULL."""
    import pyarrow as pa

    # What there is of a value is its own: the key goes into each digest once, and is hashed once.
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
    """The digest of one text."""
    if value is None:
        return None
    return uuid.UUID(bytes=hashlib.blake2b(value.encode(), key=key, digest_size=_BYTES).digest())
