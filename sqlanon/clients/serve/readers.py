"""The protocols of the people who may query through the door, and of the places that keep them."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from sqlanon.domain.values import QualifiedName


class Reader(Protocol):
    """A reader whose token was valid. It tells which releases the reader may read, and when the access ends.

    `grants` are the full names of releases, such as main.hospital_2026. `expires` has a time zone; None means that
    access never expires.
    """

    @property
    def name(self) -> str: ...

    @property
    def grants(self) -> frozenset[QualifiedName]: ...

    @property
    def expires(self) -> datetime | None: ...


class Readers(Protocol):
    """The readers that a door knows. Only digests of their tokens are kept."""

    def authenticate(self, name: str, token: str) -> Reader | None:
        """Returns the reader with this name and token; None for another name or token, and after the expiry.

        The door asks at each request, so that a revoked grant or a dropped reader counts from the next request on.
        """
        ...
