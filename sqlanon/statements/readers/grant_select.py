"""The statement GRANT SELECT ON RELEASE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.domain.values import QualifiedName
from sqlanon.statements.base import WARNING, Answer, Catalog, Elsewhere, Statement
from sqlanon.syntax.head import granted_releases
from sqlanon.syntax.texts import name_text, releases_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class GrantSelect(Statement):
    """Lets a reader query releases through a door. The answer has a warning about other releases of the same source
    that the reader may have.
    """

    releases: tuple[QualifiedName, ...]
    to: str

    OPENINGS = ("GRANT SELECT ON",)
    EXAMPLES = ("GRANT SELECT ON RELEASE hospital_2026 TO ana",)
    GRAMMAR = """
grant_select = GRANT SELECT ON RELEASE qualified_name {"," qualified_name} TO name ;
"""
    CALCULATES = True
    DISTRIBUTED = Elsewhere("GRANT", "a door serves releases that are in the file of the catalog")
    CATALOG = Catalog.READS
    COLUMNS = (("reader", "VARCHAR"), ("release", "VARCHAR"), ("outcome", "VARCHAR"), WARNING)

    @classmethod
    def read(cls, reader: Reader) -> Self:
        reader.expect("GRANT", "SELECT", "ON")
        releases = granted_releases(reader)
        if not reader.accept("TO"):
            raise reader.expected('"," or TO', among=("TO",))
        reader.mark("reader")
        to = reader.name("the name of the reader")
        reader.end()
        return cls(releases, to)

    def sql(self) -> str:
        return f"GRANT SELECT ON RELEASE {releases_text(self.releases)} TO {name_text(self.to)}"

    def title(self) -> str:
        return f"GRANT SELECT ON RELEASE {', '.join(map(str, self.releases))} TO {self.to}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.statements.readers._readers import grant_releases

        return Answer(self.COLUMNS, tuple(grant_releases(engine, self)))
