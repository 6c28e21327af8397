"""The statement CHECK of an export."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.statements.base import FILES, Answer, Catalog, Elsewhere
from sqlanon.statements.checks._measured import CHECKED, Check, checked
from sqlanon.syntax import values
from sqlanon.syntax.texts import string_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class CheckExport(Check):
    """Measures an export, by its folder, a data file or its certificate, and compares it with its certificate.

    `key` is a file with the public key of the required signer.
    """

    path: str
    key: str | None = None

    OPENINGS = ()
    EXAMPLES = ("CHECK 'out/'",)
    GRAMMAR = """
check_export = CHECK text [ SIGNED BY string ] ;
"""
    CALCULATES = True
    DISTRIBUTED = Elsewhere("CHECK of an export", FILES)
    CATALOG = Catalog.NONE
    COLUMNS = (*CHECKED, ("known_by", "VARCHAR"))

    @classmethod
    def after_check(cls, reader: Reader) -> Self:
        """Reads 'path' [SIGNED BY 'file with the public key'] after CHECK."""
        reader.mark("path")
        path, key = values.string(reader, "a path"), None
        if reader.accept("SIGNED", "BY"):
            reader.mark("key")
            key = values.string(reader, "the file with the public key, as in 'publisher.pub'")
        reader.end(*(() if key else ("SIGNED BY",)))
        return cls(path, key)

    def sql(self) -> str:
        signed = "" if self.key is None else f" SIGNED BY {string_text(self.key)}"
        return f"CHECK {string_text(self.path)}{signed}"

    def title(self) -> str:
        return f"CHECK {self.path}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.errors import about
        from sqlanon.export.receiver_answers import check_export

        with about("path"):
            export = check_export(engine, self.path, self.key)
        # Remarks on unbounded attacks are for the publisher, who can require more: CHECK of the release has them.
        answer = checked(export.release, [evidence.measurement for evidence in export.evidence])
        rows = tuple((*row, e.known_by) for row, e in zip(answer.rows, export.evidence, strict=True))
        return Answer(self.COLUMNS, rows)
