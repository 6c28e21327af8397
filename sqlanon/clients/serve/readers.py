"""The protocols of the people who may query through the door, and of the places that keep them."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from sqlanon.domain.values import QualifiedName

if TYPE_CHECKING:
    import pyarrow as pa

    from sqlanon.clients.serve.gate import Admitted
    from sqlanon.clients.serve.workers import Limits


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
    """The readers that a door knows. It keeps only digests of their tokens."""

    def authenticate(self, name: str, token: str) -> Reader | None:
        """Returns the reader with this name and token; None for another name or token, and after the expiry.

        The door asks at each request, so that a revoked grant or a dropped reader counts from the next request on.
        """
        ...


class Budgets(Protocol):
    """The protocol of a source that answers an ESTIMATE under a budget that was granted to a reader."""

    def budgets(self) -> frozenset[str]:
        """Returns the names of the budgets that are granted to anybody now."""
        ...

    def require(self, reader: Reader, admitted: Admitted) -> None:
        """Raises Refused if the budget of the statement is not granted to the reader, as far as the door knows."""
        ...

    def schema(self, reader: Reader, admitted: Admitted, limits: Limits) -> pa.Schema:
        """Returns the schema of an answer, and spends nothing. Raises Refused or Stopped if there is no schema."""
        ...

    def answer(self, reader: Reader, admitted: Admitted, limits: Limits) -> pa.Table:
        """Returns an answer. Its cost is in the ledger before a row is read.

        Raises Refused if nothing was spent, and Stopped if the cost is or may be spent without an answer.
        """
        ...
