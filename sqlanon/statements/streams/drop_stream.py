"""The statement DROP ANONYMIZED STREAM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.domain.values import QualifiedName
from sqlanon.statements.base import DONE, Answer, Catalog, Statement, done
from sqlanon.syntax.head import dropped, stream_name
from sqlanon.syntax.texts import if_exists_text, qualified_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class DropStream(Statement):
    """Drops a stream with its published and its waiting rows.

    Another table that has taken the stream's name since then stays.
    """

    name: QualifiedName
    if_exists: bool = False

    OPENINGS = ("DROP ANONYMIZED STREAM",)
    EXAMPLES = ("DROP ANONYMIZED STREAM IF EXISTS visits_stream",)
    GRAMMAR = """
drop_stream = DROP ANONYMIZED STREAM [IF EXISTS] qualified_name ;
"""
    CALCULATES = True
    DISTRIBUTED = None
    CATALOG = Catalog.LISTS
    COLUMNS = DONE

    @classmethod
    def read(cls, reader: Reader) -> Self:
        if_exists = dropped(reader, "ANONYMIZED", "STREAM")
        name = stream_name(reader)
        reader.end()
        return cls(name, if_exists)

    def sql(self) -> str:
        return f"DROP ANONYMIZED STREAM {if_exists_text(self.if_exists)}{qualified_text(self.name)}"

    def title(self) -> str:
        return f"DROP ANONYMIZED STREAM {self.name}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.statements.streams._stream import drop_stream

        was_there = drop_stream(engine, self)
        return done("DROP ANONYMIZED STREAM", str(self.name), "dropped" if was_there else "absent")
