"""The statement MEASURE ... WITH TASK."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.domain.values import QualifiedName, Value
from sqlanon.statements.base import READS_RELEASE, Answer, Catalog, Elsewhere, Statement
from sqlanon.statements.workloads.measure_figures import FIGURES
from sqlanon.syntax import values
from sqlanon.syntax.texts import arguments_text, qualified_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class MeasureTask(Statement):
    """Measures the accuracy of models that learn from a release."""

    release: QualifiedName
    arguments: tuple[tuple[str, Value], ...]

    OPENINGS = ()
    EXAMPLES = ("MEASURE hospital_2026 WITH TASK (target => disease)",)
    GRAMMAR = """
measure_task = MEASURE release WITH TASK "(" named_argument {"," named_argument} [","] ")" ;
"""
    CALCULATES = True
    DISTRIBUTED = Elsewhere("MEASURE ... WITH TASK", READS_RELEASE)
    CATALOG = Catalog.READS
    COLUMNS = FIGURES

    @classmethod
    def after_task(cls, reader: Reader, release: QualifiedName) -> Self:
        """Reads the arguments after MEASURE release WITH TASK."""
        arguments: dict[str, Value] = {}
        reader.listed(lambda: values.named(reader, arguments, "task"))
        reader.end()
        return cls(release, tuple(arguments.items()))

    def sql(self) -> str:
        return f"MEASURE {qualified_text(self.release)} WITH TASK ({', '.join(arguments_text(self.arguments))})"

    def title(self) -> str:
        return f"MEASURE {self.release}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.assess.measure_figures import OWNERS
        from sqlanon.release.existing.loaded import load_release
        from sqlanon.statements.workloads._in_words import measure_task

        release = load_release(engine, self.release)
        figures = measure_task(engine, release, self.arguments)
        remarks = (OWNERS,) if release.has_noise else ()
        return Answer(self.COLUMNS, tuple((str(release.name), f.name, f.attribute, f.value) for f in figures), remarks)
