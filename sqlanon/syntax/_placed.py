"""What every statement has besides what it says: where it stands in its script."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlanon.errors import EngineError, Position, SqlanonError, UserError
from sqlanon.syntax._wording import UNPAIRED
from sqlanon.syntax.parts import Parts
from sqlanon.syntax.placeholders import Placeholder

__all__ = ["Placed"]


@dataclass(frozen=True)
class Placed:
    position: Position | None = field(default=None, compare=False, kw_only=True)
    parts: Parts | None = field(default=None, compare=False, repr=False, kw_only=True)
    placeholders: tuple[Placeholder, ...] = field(default=(), compare=False, repr=False, kw_only=True)

    def locate(self, error: SqlanonError) -> SqlanonError:
        """Says where in the script an error belongs, unless it knows, and which line stands there; returns it.

        That is the part that the error is about. Where the statement has no such part, the column of a policy that it
        names, say, it is that name, and without a part the beginning of the statement. Where quotes of the statement
        do not pair, an error that may name what they set free says only that.
        """
        if self.parts and self.parts.is_doubtful and isinstance(error, UserError | EngineError):
            error.message, error.hint = UNPAIRED
            error.args, error.quoted = (error.message,), None
        if error.position is None and self.parts:
            error.position = self.parts.position_in_query(error.quoted) if error.quoted else None
            if error.position is None and error.part:
                error.position = self.parts.position_of(error.part) or self.parts.position_of(("policy",))
        error.at(self.position)
        if error.excerpt is None and self.parts and error.position:
            error.excerpt = self.parts.excerpt(error.position)
        return error
