"""The literals of sqlanon's statements, and names of objects."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

__all__ = ["QualifiedName", "Scalar", "Source", "Value"]


@dataclass(frozen=True)
class QualifiedName:
    """A possibly qualified name: (table), (schema, table) or (database, schema, table).

    The parts are the names themselves, without quotes.
    """

    parts: tuple[str, ...]

    @property
    def name(self) -> str:
        """The object's own name, without its schema."""
        return self.parts[-1]

    def __str__(self) -> str:
        return ".".join(self.parts)


# An argument as a user writes it: k => 4, t => 0.3, variant => 'distinct', strict => true, or a name, ranges => bounds.
Scalar = bool | int | Decimal | str | QualifiedName
# Or a list of these, groups => (2, 2).
Value = Scalar | tuple[Scalar, ...]


@dataclass(frozen=True)
class Source:
    """What a policy is ON: a relation's name, or the text of a SELECT. Exactly one is set."""

    name: QualifiedName | None = None
    query: str | None = None

    def __str__(self) -> str:
        return str(self.name) if self.name else f"({self.query})"
