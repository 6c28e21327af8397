"""The statement CHECK ... FOR SAFE HARBOR of a release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.domain.values import QualifiedName
from sqlanon.statements.base import READS_SOURCE, Answer, Catalog, Elsewhere, Statement
from sqlanon.statements.checks._harbor import (
    FINDINGS,
    REMARK,
    Arguments,
    for_safe_harbor,
    named_columns,
    read_arguments,
)
from sqlanon.syntax.texts import qualified_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class CheckSafeHarbor(Statement):
    """Lists the 18 identifiers of HIPAA's safe harbor with the release's columns that have them, by its levels and its
    texts.
    """

    name: QualifiedName
    arguments: Arguments = ()

    OPENINGS = ()
    EXAMPLES = (
        "CHECK hospital_2026 FOR SAFE HARBOR",
        "CHECK hospital_2026 FOR SAFE HARBOR (dates => (admitted, discharged))",
    )
    GRAMMAR = """
check_safe_harbor = CHECK release FOR SAFE HARBOR [ "(" columns_of_kind {"," columns_of_kind} [","] ")" ] ;
"""
    CALCULATES = True
    DISTRIBUTED = Elsewhere("CHECK ... FOR SAFE HARBOR", READS_SOURCE)
    CATALOG = Catalog.READS
    COLUMNS = FINDINGS

    @classmethod
    def after_release(cls, reader: Reader, name: QualifiedName) -> Self:
        """Reads the statement after the name of the release."""
        return cls(name, read_arguments(reader))

    def sql(self) -> str:
        return f"CHECK {qualified_text(self.name)} {for_safe_harbor(self.arguments)}"

    def title(self) -> str:
        return f"CHECK {self.name} FOR SAFE HARBOR"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.assess.check import load_release_or_table
        from sqlanon.assess.published_harbor import harbor_of_release

        release = load_release_or_table(engine, self.name, "CHECK")
        findings, remarks = harbor_of_release(engine, release, named_columns(self.arguments))
        return Answer(FINDINGS, tuple(map(tuple, findings)), (REMARK, *remarks), release.release_id)
