"""The statement MEASURE ... WITH WORKLOAD."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlanon.domain.requests import FigureCall
from sqlanon.domain.values import QualifiedName
from sqlanon.statements.base import Answer, Catalog, Statement
from sqlanon.statements.workloads.measure_figures import MeasureFigures
from sqlanon.statements.workloads.measure_task import MeasureTask
from sqlanon.syntax import values
from sqlanon.syntax.head import release_name, skip_kind
from sqlanon.syntax.lexer import Kind
from sqlanon.syntax.texts import name_text, qualified_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader

_FIGURE_EXAMPLE = "p_loss(above => 0.3)"


@dataclass(frozen=True)
class Measure(Statement):
    """Runs the queries of a workload on a release and on its source, and measures the differences of the answers."""

    release: QualifiedName
    workload: str

    OPENINGS = ("MEASURE",)
    EXAMPLES = ("MEASURE hospital_2026 WITH WORKLOAD counts",)
    GRAMMAR = """
measure = MEASURE release WITH WORKLOAD name ;
"""
    CALCULATES = True
    DISTRIBUTED = None
    CATALOG = Catalog.READS
    COLUMNS = (("release", "VARCHAR"), ("workload", "VARCHAR"), ("figure", "VARCHAR"), ("value", "DOUBLE"))

    @classmethod
    def read(cls, reader: Reader) -> Measure | MeasureFigures | MeasureTask:
        """Reads WITH WORKLOAD, WITH FIGURES, both, or WITH TASK alone."""
        reader.expect("MEASURE")
        skip_kind(reader)
        release = release_name(reader)
        if reader.peek().kind is Kind.END:
            return MeasureFigures(release)
        reader.expect("WITH")
        what = reader.choose(("WORKLOAD", "FIGURES", "TASK"))
        if what == "TASK":
            return MeasureTask.after_task(reader, release)
        workload = None
        if what == "WORKLOAD":
            reader.mark("workload")
            workload = reader.name("the name of the workload")
            if reader.peek().kind is Kind.END:
                return cls(release, workload)
            reader.expect("WITH")
            reader.expect("FIGURES")
        figures: list[FigureCall] = []
        reader.listed(lambda: figures.append(FigureCall(*values.call(reader, "a figure", _FIGURE_EXAMPLE, "figures"))))
        reader.end()
        return MeasureFigures(release, tuple(dict.fromkeys(figures)), workload)

    @classmethod
    def form(cls) -> str:
        return " or ".join((*cls.EXAMPLES, *MeasureFigures.EXAMPLES))

    def sql(self) -> str:
        return f"MEASURE {qualified_text(self.release)} WITH WORKLOAD {name_text(self.workload)}"

    def title(self) -> str:
        return f"MEASURE {self.release}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.assess.workloads.measure import measure
        from sqlanon.release.existing.loaded import load_release

        release = load_release(engine, self.release)
        figures = measure(engine, release, self.workload, progress)
        return Answer(self.COLUMNS, tuple((str(release.name), self.workload, *figure) for figure in figures))
