"""SHIFT, naively: HMAC-SHA-256 by RFC 2104 from two digests, and dates moved one by one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from hashlib import sha256

_BLOCK = 64


def offset(key: bytes, respondent: str, width: int) -> int:
    """Returns a number from -width to width, computed from the first 128 bits of the HMAC."""
    padded = (sha256(key).digest() if len(key) > _BLOCK else key).ljust(_BLOCK, b"\0")
    inner, outer = (bytes(byte ^ mask for byte in padded) for mask in (0x36, 0x5C))
    message = f"sqlanon shift days:{respondent}".encode()
    digest = sha256(outer + sha256(inner + message).digest()).hexdigest()
    return int(digest[:32], 16) % (2 * width + 1) - width


def shifted(
    key: bytes, rows: Sequence[tuple[str, date | None]], width: int, unit: int = 1
) -> list[tuple[str, date | None]]:
    """Returns the rows of respondent and date, with each date moved by its respondent's offset."""
    return [
        (respondent, None if day is None else day + timedelta(days=unit * offset(key, respondent, width)))
        for respondent, day in rows
    ]
