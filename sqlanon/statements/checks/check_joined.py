"""The statement CHECK ... JOINED WITH."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.domain.policy import JoinedRelease, Requirement
from sqlanon.domain.values import QualifiedName
from sqlanon.statements.base import COUNTS_RELEASES, Answer, Catalog, Elsewhere
from sqlanon.statements.checks._measured import CHECKED, Check, checked
from sqlanon.syntax.policy import joined, requirements
from sqlanon.syntax.texts import joined_text, qualified_text, requirements_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class CheckJoined(Check):
    """Measures the disclosure by a join of two releases on shared columns."""

    name: QualifiedName
    other: QualifiedName
    columns: tuple[str, ...]
    requirements: tuple[Requirement, ...]

    OPENINGS = ()
    EXAMPLES = (
        "CHECK hospital_2026 JOINED WITH RELEASE hospital_2025 ON (zip) "
        "REQUIRE xy_anonymity(x => (zip, age), y => disease, k => 2)",
    )
    GRAMMAR = """
check_joined = CHECK release joined requirements ;
joined = JOINED WITH RELEASE qualified_name ON column_set ;
"""
    CALCULATES = True
    DISTRIBUTED = Elsewhere("CHECK ... JOINED WITH", COUNTS_RELEASES)
    CATALOG = Catalog.READS
    COLUMNS = CHECKED

    @classmethod
    def after_release(cls, reader: Reader, name: QualifiedName) -> Self:
        """Reads JOINED WITH RELEASE other ON (column, ...) REQUIRE requirements after CHECK release."""
        with_release = joined(reader)
        assert with_release is not None
        required = requirements(reader)
        reader.end()
        return cls(name, with_release.release, with_release.columns, required)

    def sql(self) -> str:
        other = joined_text(JoinedRelease(self.other, self.columns))
        return f"CHECK {qualified_text(self.name)} {other}{requirements_text(self.requirements)}"

    def title(self) -> str:
        return f"CHECK {self.name} JOINED WITH RELEASE {self.other}"

    def explain_lack(self, engine: Engine) -> None:
        from sqlanon.assess.check import require_no_table

        require_no_table(engine, self.name, "CHECK")

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.assess.check import load_release_or_table
        from sqlanon.release.existing.loaded import load_release
        from sqlanon.statements.checks._joined import check_joined

        release = load_release_or_table(engine, self.name, "CHECK")
        other = load_release(engine, self.other, "other")
        return checked(f"{release.name}, {other.name}", check_joined(engine, release, other, self))
