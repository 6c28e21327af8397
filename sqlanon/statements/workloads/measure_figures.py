"""The statement MEASURE, with all figures or WITH FIGURES."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlanon.domain.requests import FigureCall
from sqlanon.domain.values import QualifiedName
from sqlanon.statements.base import Answer, Catalog, Columns, Presentation, Statement
from sqlanon.syntax.texts import figure_text, name_text, qualified_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine

# The columns of figures of a release, each of all attributes or of one.
FIGURES: Columns = (("release", "VARCHAR"), ("figure", "VARCHAR"), ("attribute", "VARCHAR"), ("value", "DOUBLE"))

_MEANING = ("meaning", "VARCHAR")


@dataclass(frozen=True)
class MeasureFigures(Statement):
    """Measures the risk and the loss of a release, by all figures or by named figures.

    A workload adds its errors as figures, and is only possible if figures are named. If no figures are named, the
    answer has all of them, begins with three figures in words, and has a further column with the meaning of each
    figure.
    """

    release: QualifiedName
    figures: tuple[FigureCall, ...] = ()
    workload: str | None = None

    OPENINGS = ()
    EXAMPLES = ("MEASURE hospital_2026 WITH FIGURES (membership)",)
    GRAMMAR = """
measure_figures = MEASURE release
  [ [ WITH WORKLOAD name ] WITH FIGURES "(" call {"," call} [","] ")" ] ;
"""
    PRESENTATION = Presentation.FIGURES
    CALCULATES = True
    DISTRIBUTED = None
    CATALOG = Catalog.READS
    COLUMNS = FIGURES

    def sql(self) -> str:
        workload = f" WITH WORKLOAD {name_text(self.workload)}" if self.workload is not None else ""
        figures = f" WITH FIGURES ({', '.join(map(figure_text, self.figures))})" if self.figures else ""
        return f"MEASURE {qualified_text(self.release)}{workload}{figures}"

    def title(self) -> str:
        return f"MEASURE {self.release}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.assess.measure_figures import OWNERS, measure_figures
        from sqlanon.release.existing.loaded import load_release

        release = load_release(engine, self.release)
        remarks: list[str] = [OWNERS] if release.has_noise else []
        undefined: list[str] = []
        figures = measure_figures(engine, release, self.figures, remark=remarks.append, undefined=undefined.append)
        if undefined:
            why = f"MEASURE {name_text(release.name.name)} WITH FIGURES ({undefined[0]})"
            remarks.append(f"this release does not have {', '.join(undefined)}; {why} says why")
        if self.workload is not None:
            from sqlanon.assess.workloads.measure import workload_figures

            figures = [*workload_figures(engine, release, self.workload, progress), *figures]
        name = str(release.name)
        if not self.figures:
            from sqlanon.statements.workloads._in_words import explained, in_words

            words = (*in_words(engine, release, figures), *explained(figures))
            return Answer((*self.COLUMNS, _MEANING), tuple((name, *row) for row in words), tuple(remarks))
        return Answer(self.COLUMNS, tuple((name, f.name, f.attribute, f.value) for f in figures), tuple(remarks))
