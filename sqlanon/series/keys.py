"""The keys of series and pseudonyms: checks that tell a key from others, and the function that makes digests."""

from __future__ import annotations

import hashlib
import hmac

from sqlanon.domain.identifiers import fold
from sqlanon.udfs import release_key

__all__ = ["NEWEST", "key_check", "key_of", "keyed_function"]

NEWEST = "keyed_digest"
# Functions under udfs/, each with what stands before the key in its check. Those series that were begun before there
# was a quicker one know their respondents by HMAC.
_PREFIXES = {NEWEST: b"check:blake2b:", "pseudonym": b"check:"}


def key_of(name: str, variable: str, of: str = "series") -> bytes:
    """The key in an environment variable, bound to the series of this name, or to the `of` of the policy of this name.

    So the ledger has other tokens than a release whose pseudonyms have the same key. Raises UserError for a variable
    that is not set, or too short.
    """
    return hmac.digest(release_key(variable, f"the {of}"), f"{of}:{fold(name)}".encode(), "sha256")


def key_check(key: bytes, function: str = NEWEST) -> str:
    """What tells a key, and the function that it is used with, from others, and tells nothing of the key."""
    return hashlib.sha256(_PREFIXES[function] + key).hexdigest()


def keyed_function(key: bytes, check: str) -> str | None:
    """The function with which the key has this check; None where it is another key."""
    return next((name for name in _PREFIXES if key_check(key, name) == check), None)
