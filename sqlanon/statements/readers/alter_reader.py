"""The statement ALTER READER."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Self

from sqlanon.statements.base import DONE, Answer, Catalog, Statement
from sqlanon.syntax import values
from sqlanon.syntax.head import object_name
from sqlanon.syntax.texts import name_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class AlterReader(Statement):
    """Gives a reader a new token, or another last day. The grants stay.

    If `new_token` is false, the last day becomes `expires`, or None for NEVER.
    """

    name: str
    new_token: bool = False
    expires: date | None = None

    OPENINGS = ("ALTER READER",)
    EXAMPLES = ("ALTER READER ana NEW TOKEN", "ALTER READER ana EXPIRES DATE '2028-06-30'")
    GRAMMAR = """
alter_reader = ALTER READER name ( NEW TOKEN | EXPIRES ( DATE date | NEVER ) ) ;
"""
    CALCULATES = False
    DISTRIBUTED = None
    CATALOG = Catalog.READS
    # The token is NULL without NEW TOKEN.
    COLUMNS = (*DONE, ("token", "VARCHAR"))

    @classmethod
    def read(cls, reader: Reader) -> Self:
        reader.expect("ALTER", "READER")
        name = object_name(reader, "reader")
        new_token = reader.choose(("NEW TOKEN", "EXPIRES")) == "NEW TOKEN"
        is_endless = new_token or reader.accept("NEVER")
        expires = None if is_endless else values.day(reader, "expires", "NEVER")
        reader.end()
        return cls(name, new_token, expires)

    def sql(self) -> str:
        expires = "NEVER" if self.expires is None else f"DATE '{self.expires}'"
        return f"ALTER READER {name_text(self.name)} {'NEW TOKEN' if self.new_token else f'EXPIRES {expires}'}"

    def title(self) -> str:
        return f"ALTER READER {self.name}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.statements.readers._readers import alter_reader

        return Answer(self.COLUMNS, (("ALTER READER", self.name, "altered", alter_reader(engine, self)),))
