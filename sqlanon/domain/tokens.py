"""Tokens of a door's readers.

A token has 256 random bits, so nobody can find it by trial; a slow hash, which passwords need, would not add anything.
"""

from __future__ import annotations

import secrets
from hashlib import sha256

# The prefix lets scanners find tokens that were published by mistake.
PREFIX = "sqlanon_"
_BYTES = 32
# A digest that no token has, for comparisons that take as long as those of a token.
NO_DIGEST = "0" * 64


def new_token() -> str:
    """Returns a new token."""
    return PREFIX + secrets.token_urlsafe(_BYTES)


def token_digest(token: str) -> str:
    """Returns the SHA-256 of a token, or of any other text, in hexadecimal digits."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
