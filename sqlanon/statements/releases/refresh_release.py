"""The statement REFRESH ANONYMIZED TABLE."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from sqlanon.domain.requests import MethodCall
from sqlanon.domain.values import QualifiedName
from sqlanon.errors import UserError
from sqlanon.statements.base import Answer, Catalog, Presentation, Statement, released_rows
from sqlanon.statements.releases.create_release import created
from sqlanon.syntax.head import levels_from, release_name
from sqlanon.syntax.texts import levels_text, qualified_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class RefreshRelease(Statement):
    """Makes a snapshot again from its current source, by the policy, method and series of the release.

    The policy is the current policy in the catalog. If `choose_method` is true, the method is chosen again. REFRESH
    fails for a live view, which always shows its current source.
    """

    name: QualifiedName
    levels_from: QualifiedName | None = None
    choose_method: bool = False

    OPENINGS = ("REFRESH ANONYMIZED",)
    KINDS = (" TABLE",)
    EXAMPLES = ("REFRESH ANONYMIZED TABLE hospital_2026",)
    GRAMMAR = """
refresh_release = REFRESH ANONYMIZED TABLE qualified_name [ CHOOSE METHOD | LEVELS FROM RELEASE qualified_name ] ;
"""
    PRESENTATION = Presentation.RELEASE
    CALCULATES = True
    DISTRIBUTED = None
    CATALOG = Catalog.READS
    # The columns of CREATE ANONYMIZED.
    COLUMNS = None

    @classmethod
    def read(cls, reader: Reader) -> Self:
        reader.expect("REFRESH", "ANONYMIZED", "TABLE")
        name = release_name(reader)
        choose = reader.accept("CHOOSE", "METHOD")
        levels = None if choose else levels_from(reader)
        reader.end(*(() if choose or levels else ("CHOOSE METHOD", "LEVELS FROM RELEASE")))
        return cls(name, levels, choose)

    def sql(self) -> str:
        choose = " CHOOSE METHOD" if self.choose_method else ""
        return f"REFRESH ANONYMIZED TABLE {qualified_text(self.name)}{choose}{levels_text(self.levels_from)}"

    def title(self) -> str:
        return f"REFRESH ANONYMIZED TABLE {self.name}"

    def released_rows(self, answer: Answer) -> int | None:
        return released_rows(answer)

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.release.existing.loaded import load_release, own_series, request_again

        release = load_release(engine, self.name)
        if release.kind == "view":
            raise UserError(
                f"{release.name} is a live view, which shows its source as it is",
                hint="only a snapshot can be refreshed",
                part=("release",),
            )
        request = replace(
            request_again(release, or_replace=True),
            series=own_series(engine, release),
            levels_from=self.levels_from,
            choose_method=self.choose_method,
        )
        if self.choose_method:
            return created(engine, replace(request, method=MethodCall()), progress)
        return created(engine, request, progress, refreshing=True)
