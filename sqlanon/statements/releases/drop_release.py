"""The statement DROP ANONYMIZED."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.domain.values import QualifiedName
from sqlanon.errors import UserError
from sqlanon.statements.base import DONE, Answer, Catalog, Statement, done
from sqlanon.statements.releases.create_release import RELEASE_KINDS
from sqlanon.syntax.head import release_name
from sqlanon.syntax.texts import if_exists_text, qualified_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class DropRelease(Statement):
    """Drops the tables or views of a release, and its catalog entry. The statement fails for a view if the release is a
    table, and the other way round.
    """

    kind: str
    name: QualifiedName
    if_exists: bool = False

    OPENINGS = ("DROP ANONYMIZED",)
    KINDS = (" VIEW", " TABLE")
    EXAMPLES = ("DROP ANONYMIZED TABLE IF EXISTS hospital_2026",)
    GRAMMAR = """
drop_release = DROP ANONYMIZED ( VIEW | TABLE ) [IF EXISTS] qualified_name ;
"""
    CALCULATES = True
    DISTRIBUTED = None
    CATALOG = Catalog.LISTS
    COLUMNS = DONE

    @classmethod
    def read(cls, reader: Reader) -> Self:
        reader.expect("DROP", "ANONYMIZED")
        kind = reader.choose(RELEASE_KINDS, "STREAM").lower()
        if_exists = reader.accept("IF", "EXISTS")
        name = release_name(reader)
        reader.end()
        return cls(kind, name, if_exists)

    def sql(self) -> str:
        return f"DROP ANONYMIZED {self.kind.upper()} {if_exists_text(self.if_exists)}{qualified_text(self.name)}"

    def title(self) -> str:
        return f"DROP ANONYMIZED {self.kind.upper()} {self.name}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.catalog import releases
        from sqlanon.release.existing.loaded import load_release
        from sqlanon.release.existing.objects import drop_release
        from sqlanon.sources.source import qualified

        statement = f"DROP ANONYMIZED {self.kind.upper()}"
        with engine.transaction():
            release = releases.find(engine, qualified(engine, self.name))
            if release is None and self.if_exists:
                return done(statement, str(self.name), "absent")
            release = release or load_release(engine, self.name)
            if release.kind != self.kind:
                raise UserError(
                    f"the release {release.name} is a {release.kind}",
                    hint=f"write DROP ANONYMIZED {release.kind.upper()}",
                )
            drop_release(engine, release)
        return done(statement, str(self.name), "dropped")
