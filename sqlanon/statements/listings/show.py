"""The statement SHOW."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from sqlanon.statements.base import Answer, Catalog, Presentation, Statement
from sqlanon.statements.listings.describe_policy import DescribePolicy

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader

# The kinds of objects that are listed.
SHOWN = ("policies", "hierarchies", "releases", "workloads", "frontiers", "series", "streams", "budgets", "readers")


@dataclass(frozen=True)
class Show(Statement):
    """Lists all objects of a kind; `kind` is the word after SHOW, in lower case."""

    kind: str

    OPENINGS = tuple(f"SHOW {kind.upper()}" for kind in SHOWN)
    OPENINGS_BEFORE_NAME: ClassVar[Mapping[str, type[Statement]]] = {"SHOW POLICY": DescribePolicy}
    EXAMPLES = OPENINGS
    GRAMMAR = """
show = SHOW ( POLICIES | HIERARCHIES | RELEASES | WORKLOADS | FRONTIERS | SERIES | STREAMS | BUDGETS | READERS ) ;
"""
    CALCULATES = False
    DISTRIBUTED = None
    CATALOG = Catalog.LISTS
    COLUMNS = None

    @classmethod
    def read(cls, reader: Reader) -> Self:
        reader.expect("SHOW")
        kind = reader.choose(tuple(word.upper() for word in SHOWN)).lower()
        reader.form = cls(kind).sql()
        reader.end()
        return cls(kind)

    def sql(self) -> str:
        return f"SHOW {self.kind.upper()}"

    def title(self) -> str:
        return self.sql()

    def presentation(self) -> Presentation:
        return Presentation.DEFINITIONS if self.kind == "hierarchies" else self.PRESENTATION

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.statements.listings._listings import show

        return Answer(*show(engine, self.kind))
