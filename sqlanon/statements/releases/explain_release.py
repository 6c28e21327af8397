"""EXPLAIN ANONYMIZED."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.statements.base import Answer, Catalog, Statement
from sqlanon.statements.releases.create_release import CreateRelease
from sqlanon.syntax.definitions import anonymized_text

if TYPE_CHECKING:
    from sqlanon.domain.watching import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class ExplainRelease(Statement):
    """Says how a release would be made, and publishes nothing: a dry run."""

    create: CreateRelease

    OPENINGS = ("EXPLAIN [CREATE [OR REPLACE]] ANONYMIZED",)
    KINDS = (" VIEW", " TABLE")
    EXAMPLES = ("EXPLAIN ANONYMIZED TABLE hospital_2026 AS POLICY hospital METHOD generalization(suppression => 0.02)",)
    GRAMMAR = """
explain_release = EXPLAIN [ CREATE [OR REPLACE] ] anonymized ;
"""
    CALCULATES = True
    DISTRIBUTED = None
    CATALOG = Catalog.READS
    COLUMNS = (("stage", "VARCHAR"), ("item", "VARCHAR"), ("detail", "VARCHAR"))

    @classmethod
    def read(cls, reader: Reader) -> Self:
        reader.expect("EXPLAIN")
        or_replace = reader.accept("CREATE") and reader.accept("OR", "REPLACE")
        return cls(CreateRelease.after_create(reader, or_replace))

    def sql(self) -> str:
        opening = "EXPLAIN CREATE OR REPLACE" if self.create.or_replace else "EXPLAIN"
        return f"{opening} {anonymized_text(self.create)}"

    def title(self) -> str:
        return f"EXPLAIN ANONYMIZED {self.create.kind.upper()} {self.create.name}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.release.pipeline import run
        from sqlanon.release.pipeline.explain import explanation

        return Answer(self.COLUMNS, tuple(explanation(run.explain(engine, self.create, progress))))
