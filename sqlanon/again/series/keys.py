"""The keys of series and pseudonyms: checks that tell a key from others."""

from __future__ import annotations

import hashlib
import hmac

from sqlanon.domain.identifiers import fold
from sqlanon.engines.udfs import release_key


def key_of(name: str, variable: str, of: str = "series") -> bytes:
    """The key in an environment variable, bound to the series of this name, or to the `of` of the policy of this name.

    So the ledger has other tokens than a release whose pseudonyms have the same key. Raises UserError for a variable
    that is not set, or too short.
    """
    return hmac.digest(release_key(variable, f"the {of}"), f"{of}:{fold(name)}".encode(), "sha256")


def key_check(key: bytes) -> str:
    """A check value that differs from key to key and reveals nothing of the key."""
    return hashlib.sha256(b"check:" + key).hexdigest()
