"""The statement CHECK ... IN SERIES."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlanon.domain.values import QualifiedName
from sqlanon.statements.base import COUNTS_RELEASES, Answer, Catalog, Elsewhere
from sqlanon.statements.checks._measured import CHECKED, Check, checked
from sqlanon.syntax.texts import name_text, qualified_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine


@dataclass(frozen=True)
class CheckSeries(Check):
    """Measures the disclosure by all releases of a series together; the named release is one of them."""

    name: QualifiedName
    series: str

    OPENINGS = ()
    EXAMPLES = ("CHECK hospital_2026 IN SERIES monthly",)
    GRAMMAR = """
check_series = CHECK release IN SERIES name ;
"""
    CALCULATES = True
    DISTRIBUTED = Elsewhere("CHECK ... IN SERIES", COUNTS_RELEASES)
    CATALOG = Catalog.READS
    COLUMNS = CHECKED
    # A series may have no requirements, and only a ledger.
    MAY_REQUIRE_NOTHING = True

    def sql(self) -> str:
        return f"CHECK {qualified_text(self.name)} IN SERIES {name_text(self.series)}"

    def title(self) -> str:
        return f"CHECK {self.name} IN SERIES {self.series}"

    def explain_lack(self, engine: Engine) -> None:
        from sqlanon.assess.check import require_no_table

        require_no_table(engine, self.name, "CHECK")

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.assess.check import load_release_or_table
        from sqlanon.statements.series._series import check_series

        release = load_release_or_table(engine, self.name, "CHECK")
        return checked(str(release.name), check_series(engine, release, self.series))
