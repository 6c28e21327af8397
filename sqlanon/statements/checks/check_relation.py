"""The statement CHECK of any table or query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.domain.policy import Requirement
from sqlanon.domain.values import Source
from sqlanon.statements.base import Answer, Catalog, Presentation
from sqlanon.statements.checks._measured import CHECKED, Check, checked
from sqlanon.syntax.attributes import sensitive_columns
from sqlanon.syntax.lexer import Kind
from sqlanon.syntax.policy import against, requirements
from sqlanon.syntax.texts import (
    against_text,
    names_text,
    requirements_text,
    sensitive_text,
    source_text,
    typed_name,
    typed_qualified,
)

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class CheckRelation(Check):
    """Measures requirements on any table or query; if there are no requirements, by every model.

    `hierarchies` are the sensitive columns with USING, each with the hierarchy that its distances use.
    """

    source: Source
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    requirements: tuple[Requirement, ...]
    hierarchies: tuple[tuple[str, str], ...] = ()
    against: Source | None = None

    OPENINGS = ()
    EXAMPLES = ("CHECK patients (age, zip) SENSITIVE disease REQUIRE k_anonymity(k => 4)",)
    GRAMMAR = """
check_relation = CHECK target columns [sensitive] [ AGAINST source [requirements] | requirements ] ;
"""
    CALCULATES = True
    DISTRIBUTED = None
    CATALOG = Catalog.NONE
    COLUMNS = CHECKED

    @classmethod
    def after_source(cls, reader: Reader, source: Source) -> Self:
        """Reads (columns) [SENSITIVE columns] [AGAINST public] [REQUIRE requirements] after CHECK source."""
        columns: list[str] = []
        reader.listed(lambda: columns.append(reader.column("column")))
        sensitive = sensitive_columns(reader)
        also = ("USING", '","') if sensitive else ("SENSITIVE",)
        ends = reader.peek().kind is Kind.END
        public = None if ends else against(reader, *also)
        required = () if ends or reader.peek().kind is Kind.END else requirements(reader)
        reader.end()
        hierarchies = tuple((column, hierarchy) for column, hierarchy in sensitive if hierarchy is not None)
        names = tuple(column for column, _ in sensitive)
        return cls(source, tuple(columns), names, required, hierarchies, public)

    def sql(self) -> str:
        sensitive = sensitive_text(self.sensitive, self.hierarchies)
        required = against_text(self.against) + requirements_text(self.requirements)
        return f"CHECK {source_text(self.source)} ({names_text(self.quasi_identifiers)}){sensitive} {required}".rstrip()

    def title(self) -> str:
        return f"CHECK {self.source}"

    def outcome(self, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
        """Returns `measured` if there are no requirements."""
        return super().outcome(columns, rows) if self.requirements else "measured"

    def sources(self) -> Sequence[Source]:
        return [self.source, self.against] if self.against else [self.source]

    def presentation(self) -> Presentation:
        return self.PRESENTATION if self.requirements else Presentation.UNASKED

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.assess.attacks.attacked import unbounded
        from sqlanon.statements.checks._relation import check_relation

        report, required = check_relation(engine, self)
        sensitive = self.sensitive if self.requirements else ()
        remarks = unbounded(engine, required, report.measurements, sensitive, self._attacked())
        return checked(str(self.source), report.measurements, remarks)

    def _attacked(self) -> str:
        """Returns the table as it is written after ATTACK; (SELECT ...) for a query."""
        target = typed_qualified(self.source.name) if self.source.name else "(SELECT ...)"
        columns, sensitive = (", ".join(map(typed_name, names)) for names in (self.quasi_identifiers, self.sensitive))
        return f"{target} ({columns}) SENSITIVE {sensitive}"
