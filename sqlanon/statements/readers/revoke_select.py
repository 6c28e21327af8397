"""The statement REVOKE SELECT ON RELEASE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.domain.values import QualifiedName
from sqlanon.statements.base import Answer, Catalog, Statement
from sqlanon.syntax.head import granted_releases
from sqlanon.syntax.texts import name_text, releases_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class RevokeSelect(Statement):
    """Revokes the grants of a reader on releases, including releases that are gone."""

    releases: tuple[QualifiedName, ...]
    from_: str

    OPENINGS = ("REVOKE SELECT ON",)
    EXAMPLES = ("REVOKE SELECT ON RELEASE hospital_2026 FROM ana",)
    GRAMMAR = """
revoke_select = REVOKE SELECT ON RELEASE qualified_name {"," qualified_name} FROM name ;
"""
    CALCULATES = False
    DISTRIBUTED = None
    CATALOG = Catalog.READS
    COLUMNS = (("reader", "VARCHAR"), ("release", "VARCHAR"), ("outcome", "VARCHAR"))

    @classmethod
    def read(cls, reader: Reader) -> Self:
        reader.expect("REVOKE", "SELECT", "ON")
        releases = granted_releases(reader)
        if not reader.accept("FROM"):
            raise reader.expected('"," or FROM', among=("FROM",))
        reader.mark("reader")
        from_ = reader.name("the name of the reader")
        reader.end()
        return cls(releases, from_)

    def sql(self) -> str:
        return " ".join(("REVOKE SELECT ON RELEASE", releases_text(self.releases), "FROM", name_text(self.from_)))

    def title(self) -> str:
        return " ".join(("REVOKE SELECT ON RELEASE", ", ".join(map(str, self.releases)), "FROM", self.from_))

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.statements.readers._readers import revoke_releases

        return Answer(self.COLUMNS, tuple(revoke_releases(engine, self)))
