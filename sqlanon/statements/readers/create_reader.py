"""The statement CREATE READER."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Self

from sqlanon.statements.base import DONE, Answer, Catalog, Statement
from sqlanon.syntax import values
from sqlanon.syntax.head import created, object_name
from sqlanon.syntax.texts import if_not_exists_text, name_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class CreateReader(Statement):
    """Makes a reader, who may query granted releases through a door. The answer has the reader's token, which is shown
    only once.
    """

    name: str
    expires: date | None = None
    if_not_exists: bool = False

    OPENINGS = ("CREATE [OR REPLACE] READER",)
    EXAMPLES = ("CREATE READER ana EXPIRES DATE '2027-06-30'",)
    GRAMMAR = """
create_reader = CREATE READER [IF NOT EXISTS] name [EXPIRES DATE date] ;
"""
    CALCULATES = False
    DISTRIBUTED = None
    CATALOG = Catalog.WRITES
    # The token is NULL if IF NOT EXISTS found a reader.
    COLUMNS = (*DONE, ("token", "VARCHAR"))

    @classmethod
    def read(cls, reader: Reader) -> Self:
        token = reader.peek()
        or_replace, if_not_exists = created(reader, "READER")
        if or_replace:
            hint = "ALTER READER name NEW TOKEN replaces the token; DROP READER revokes all grants"
            raise reader.refused("a reader is not replaced", hint=hint, token=token)
        name = object_name(reader, "reader")
        expires = None
        if reader.accept("EXPIRES"):
            expires = values.day(reader, "expires")
        reader.end(*(("EXPIRES DATE",) if expires is None else ()))
        return cls(name, expires, if_not_exists)

    def sql(self) -> str:
        head = f"CREATE READER {if_not_exists_text(self.if_not_exists)}{name_text(self.name)}"
        return head if self.expires is None else f"{head} EXPIRES DATE '{self.expires}'"

    def title(self) -> str:
        return f"CREATE READER {self.name}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.statements.readers._readers import create_reader

        token = create_reader(engine, self)
        outcome = "exists" if token is None else "created"
        return Answer(self.COLUMNS, (("CREATE READER", self.name, outcome, token),))
