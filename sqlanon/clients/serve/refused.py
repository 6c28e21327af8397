"""The errors of a statement, a name or a request that the door does not admit."""

from __future__ import annotations

from sqlanon.errors import UserError


class Refused(UserError):
    """A reader's request is refused. The message is one line that a reader may see: it has no path and no name of
    others.
    """


class Forbidden(Refused):
    """The request asks for what no reader may do, or for a release that is not granted to the reader."""


class Busy(Refused):
    """The door cannot answer now; the same request may be answered later."""
