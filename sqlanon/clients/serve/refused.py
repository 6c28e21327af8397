"""The errors of a statement, a name or a request that the door does not admit."""

from __future__ import annotations

from sqlanon.errors import UserError

# One text for all reasons, so that a peer learns none of them.
NOT_ADMITTED = "the name or the token is wrong or missing, or has expired: ask the owner for a new token"


class Refused(UserError):
    """A reader's request is refused. The message is one line that a reader may see: it has no path and no name of
    others.
    """


class Forbidden(Refused):
    """The error for a request that no reader may make, or that names a release which is not granted to the reader."""


class Busy(Refused):
    """The error of a door that cannot answer now; the same request may be answered later."""
