"""The statement SHOW GRANTS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.statements.base import Answer, Catalog, Statement
from sqlanon.syntax.texts import name_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class ShowGrants(Statement):
    """Lists the grants of all readers, or of one reader, on releases and budgets, each with its state."""

    reader: str | None = None

    OPENINGS = ("SHOW GRANTS",)
    EXAMPLES = ("SHOW GRANTS", "SHOW GRANTS FOR ana")
    GRAMMAR = """
show_grants = SHOW GRANTS [FOR name] ;
"""
    CALCULATES = False
    DISTRIBUTED = None
    CATALOG = Catalog.LISTS
    COLUMNS = (
        ("reader", "VARCHAR"),
        ("object", "VARCHAR"),
        ("kind", "VARCHAR"),
        ("state", "VARCHAR"),
        ("granted_at", "VARCHAR"),
    )

    @classmethod
    def read(cls, reader: Reader) -> Self:
        reader.expect("SHOW", "GRANTS")
        name = None
        if reader.accept("FOR"):
            reader.mark("reader")
            name = reader.name("the name of the reader")
        reader.end(*(("FOR",) if name is None else ()))
        return cls(name)

    def sql(self) -> str:
        return "SHOW GRANTS" if self.reader is None else f"SHOW GRANTS FOR {name_text(self.reader)}"

    def title(self) -> str:
        return "SHOW GRANTS" if self.reader is None else f"SHOW GRANTS FOR {self.reader}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.statements.readers._readers import grants_shown

        return Answer(self.COLUMNS, tuple(grants_shown(engine, self.reader)))
