"""The statement DESCRIBE ANONYMIZED."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.domain.values import QualifiedName
from sqlanon.errors import UserError
from sqlanon.statements.base import Answer, Catalog, Statement
from sqlanon.syntax.head import release_name
from sqlanon.syntax.texts import qualified_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class DescribeRelease(Statement):
    """Lists the parts of a release: its method and the compared methods, and its columns, rows and measurements.

    The statement fails for a view if the release is a table, and the other way round.
    """

    kind: str
    name: QualifiedName

    OPENINGS = ("DESCRIBE ANONYMIZED",)
    KINDS = (" VIEW", " TABLE")
    EXAMPLES = ("DESCRIBE ANONYMIZED TABLE hospital_2026",)
    GRAMMAR = """
describe_release = DESCRIBE ANONYMIZED ( VIEW | TABLE ) qualified_name ;
"""
    CALCULATES = False
    DISTRIBUTED = None
    CATALOG = Catalog.READS
    COLUMNS = (("part", "VARCHAR"), ("name", "VARCHAR"), ("detail", "VARCHAR"))

    @classmethod
    def read(cls, reader: Reader) -> Self:
        reader.expect("DESCRIBE", "ANONYMIZED")
        kind = reader.choose(("VIEW", "TABLE")).lower()
        name = release_name(reader)
        reader.end()
        return cls(kind, name)

    def sql(self) -> str:
        return f"DESCRIBE ANONYMIZED {self.kind.upper()} {qualified_text(self.name)}"

    def title(self) -> str:
        return f"DESCRIBE ANONYMIZED {self.kind.upper()} {self.name}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.release.existing.loaded import load_release
        from sqlanon.statements.listings._listings import parts_of_release

        release = load_release(engine, self.name)
        if release.kind != self.kind:
            raise UserError(
                f"{release.name} is a {release.kind}",
                hint=f"write DESCRIBE ANONYMIZED {release.kind.upper()}",
                part=("release",),
            )
        return Answer(self.COLUMNS, tuple(parts_of_release(engine, release)))
