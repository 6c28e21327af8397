"""The statement EXPLAIN ANONYMIZED."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.domain.values import Source
from sqlanon.statements.base import Answer, Catalog, Presentation, Statement
from sqlanon.statements.releases.create_release import CreateRelease
from sqlanon.statements.releases.create_short_release import CreateShortRelease

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class ExplainRelease(Statement):
    """Predicts the rows, the loss and the reasons of a release in a dry run, without publishing it.

    If `verbose`, the answer has each step: the level of each column, the reasons for it, the SQL and the fingerprint.
    """

    create: CreateRelease
    verbose: bool = False

    OPENINGS = ("EXPLAIN [VERBOSE] [CREATE [OR REPLACE]] ANONYMIZED",)
    KINDS = (" VIEW", " TABLE")
    EXAMPLES = ("EXPLAIN ANONYMIZED TABLE hospital_2026 AS POLICY hospital METHOD generalization(suppression => 0.02)",)
    GRAMMAR = """
explain_release = EXPLAIN [VERBOSE] [ CREATE [OR REPLACE] ] ( anonymized | short_release ) ;
"""
    PRESENTATION = Presentation.PLAN
    CALCULATES = True
    DISTRIBUTED = None
    CATALOG = Catalog.READS
    COLUMNS = (("stage", "VARCHAR"), ("item", "VARCHAR"), ("detail", "VARCHAR"))

    @classmethod
    def read(cls, reader: Reader) -> Self:
        reader.expect("EXPLAIN")
        verbose = reader.accept("VERBOSE")
        or_replace = reader.accept("CREATE") and reader.accept("OR", "REPLACE")
        return cls(CreateRelease.after_create(reader, or_replace), verbose)

    def sql(self) -> str:
        verbose = " VERBOSE" if self.verbose else ""
        or_replace = " CREATE OR REPLACE" if self.create.or_replace else ""
        return f"EXPLAIN{verbose}{or_replace} {self.create.anonymized_sql()}"

    def title(self) -> str:
        return f"EXPLAIN ANONYMIZED {self.create.kind.upper()} {self.create.name}"

    def catalog(self) -> Catalog:
        """Returns that no catalog is needed for a release with its own policy."""
        return Catalog.NONE if isinstance(self.create, CreateShortRelease) else self.CATALOG

    def sources(self) -> Sequence[Source]:
        return self.create.sources()

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.release.pipeline import run
        from sqlanon.release.pipeline.explain import explanation
        from sqlanon.release.pipeline.summary import summary

        if isinstance(self.create, CreateShortRelease):
            from sqlanon.statements.releases._short_release import planned_with_policy

            plan = planned_with_policy(engine, self.create, progress)
        else:
            plan = run.explain(engine, self.create, progress)
        return Answer(self.COLUMNS, tuple(explanation(plan) if self.verbose else summary(plan)))
