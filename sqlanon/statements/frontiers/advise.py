"""The statement ADVISE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.domain.values import Value
from sqlanon.domain.workload import figure_of_workload, workload_of
from sqlanon.statements.base import MAKES_CANDIDATES, Answer, Catalog, Elsewhere, Presentation, Statement
from sqlanon.syntax import values
from sqlanon.syntax.head import accept_workload, object_name
from sqlanon.syntax.texts import name_text, value_text, word_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class Bound:
    """A bound figure <= most, or figure < most if `strict`. The figure of a workload is called `workload` and its
    name.
    """

    figure: str
    most: Value
    strict: bool = False


@dataclass(frozen=True)
class Advise(Statement):
    """Chooses the candidate of a frontier with the least value of one figure among the candidates within bounds."""

    frontier: str
    least: str
    bounds: tuple[Bound, ...] = ()

    OPENINGS = ("ADVISE",)
    EXAMPLES = ("ADVISE choice WHERE p_loss <= 0.1 LEAST gain",)
    GRAMMAR = """
advise = ADVISE name [ WHERE bound {AND bound} ] LEAST figure_name ;
bound = figure_name ( "<=" | "<" ) number ;
figure_name = WORKLOAD identifier | name ;
"""
    PRESENTATION = Presentation.ADVICE
    CALCULATES = False
    DISTRIBUTED = Elsewhere("ADVISE", MAKES_CANDIDATES)
    CATALOG = Catalog.READS
    # A column for each figure.
    COLUMNS = None

    @classmethod
    def read(cls, reader: Reader) -> Self:
        reader.expect("ADVISE")
        name = object_name(reader, "frontier")
        bounds: list[Bound] = []
        if reader.choose(("WHERE", "LEAST")) == "WHERE":
            bounds.append(_bound(reader))
            while reader.accept("AND"):
                bounds.append(_bound(reader))
            reader.expect("LEAST")
        least = _figure(reader)
        reader.end()
        return cls(name, least, tuple(bounds))

    def sql(self) -> str:
        where = f"WHERE {' AND '.join(map(_bound_text, self.bounds))} " if self.bounds else ""
        return f"ADVISE {name_text(self.frontier)} {where}LEAST {_figure_text(self.least)}"

    def title(self) -> str:
        return f"ADVISE {self.frontier}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.statements.frontiers._sweep import advise

        return advise(engine, self)


def _bound(reader: Reader) -> Bound:
    figure = _figure(reader)
    if reader.accept_symbol("<="):
        return Bound(figure, values.number(reader))
    if not reader.accept_symbol("<"):
        raise reader.expected("<= or <", hint="less is better of every figure: write figure <= number")
    strict = not reader.accept_symbol("=")
    return Bound(figure, values.number(reader), strict)


def _figure(reader: Reader) -> str:
    if accept_workload(reader):
        return figure_of_workload(reader.name("the name of the workload"))
    return reader.named("a figure", "figures").lower()


def _bound_text(bound: Bound) -> str:
    return f"{_figure_text(bound.figure)} {'<' if bound.strict else '<='} {value_text(bound.most)}"


def _figure_text(figure: str) -> str:
    return f"WORKLOAD {name_text(name)}" if (name := workload_of(figure)) else word_text(figure)
