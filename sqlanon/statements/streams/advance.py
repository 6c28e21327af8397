"""The statement ADVANCE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.domain.values import QualifiedName
from sqlanon.statements.base import MOVES_BATCHES, Answer, Catalog, Elsewhere, Statement, released_rows
from sqlanon.syntax import values
from sqlanon.syntax.head import stream_name
from sqlanon.syntax.lexer import Kind, keyword_of
from sqlanon.syntax.texts import qualified_text, string_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class Advance(Statement):
    """Publishes the rows of a stream that are due; at its end, all waiting rows."""

    name: QualifiedName
    to_end: bool = False
    until: str | None = None

    OPENINGS = ("ADVANCE",)
    EXAMPLES = ("ADVANCE visits_stream", "ADVANCE visits_stream TO END")
    GRAMMAR = """
advance = ADVANCE ( qualified_name | [ANONYMIZED] STREAM written_name )
  [ TO ( END | [ DATE | TIMESTAMP | TIMESTAMPTZ ] string ) ] ;
"""
    CALCULATES = True
    DISTRIBUTED = Elsewhere("ADVANCE", MOVES_BATCHES)
    CATALOG = Catalog.READS
    COLUMNS = (
        ("stream", "VARCHAR"),
        ("batch", "BIGINT"),
        ("read_rows", "BIGINT"),
        ("classes", "BIGINT"),
        ("released_rows", "BIGINT"),
        ("reused_rows", "BIGINT"),
        ("withheld_rows", "BIGINT"),
        ("late_rows", "BIGINT"),
        ("vanished_rows", "BIGINT"),
        ("waiting_rows", "BIGINT"),
        ("required", "DOUBLE"),
        ("achieved", "DOUBLE"),
    )

    @classmethod
    def read(cls, reader: Reader) -> Self:
        reader.expect("ADVANCE")
        if reader.sees("ANONYMIZED") and keyword_of(reader.peek(1)) == "STREAM":
            reader.take()
        behind = reader.peek(1)
        if reader.sees("STREAM") and behind.kind in (Kind.WORD, Kind.QUOTED) and keyword_of(behind) != "TO":
            reader.take()
        name = stream_name(reader)
        if not reader.accept("TO"):
            reader.end("TO END", "TO 'timestamp'")
            return cls(name)
        if reader.accept("END"):
            reader.end()
            return cls(name, to_end=True)
        reader.mark("until")
        if reader.sees("DATE") or reader.sees("TIMESTAMP") or reader.sees("TIMESTAMPTZ"):
            reader.take()
        until = values.string(reader, "END or a timestamp in quotes, as in '2024-12-31 23:59:00'")
        reader.end()
        return cls(name, until=until)

    def sql(self) -> str:
        until = f" TO {string_text(self.until)}" if self.until is not None else ""
        return f"ADVANCE {qualified_text(self.name)}{' TO END' if self.to_end else until}"

    def title(self) -> str:
        return f"ADVANCE {self.name}"

    def released_rows(self, answer: Answer) -> int | None:
        return released_rows(answer)

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.statements.streams._stream import advance_stream

        advanced = advance_stream(engine, self)
        batch = advanced.batch
        numbers = (batch.released_rows, batch.reused_rows, batch.withheld_rows, batch.late_rows, batch.vanished_rows)
        head = (str(advanced.stream.name), batch.batch, batch.read_rows, batch.classes)
        row = (*head, *numbers, batch.waiting_rows, float(advanced.stream.k), advanced.fewest)
        return Answer(self.COLUMNS, (row,), advanced.remarks)
