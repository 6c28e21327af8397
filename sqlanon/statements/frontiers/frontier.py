"""The statement FRONTIER."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from sqlanon.domain.requests import FigureCall, MethodCall
from sqlanon.domain.values import Scalar
from sqlanon.statements.base import MAKES_CANDIDATES, Answer, Catalog, Elsewhere, Statement
from sqlanon.syntax import values
from sqlanon.syntax.head import accept_workload, object_name, policy_name
from sqlanon.syntax.texts import call_text, figure_text, name_text, value_text, word_text

if TYPE_CHECKING:
    from sqlanon.domain.context import Watching
    from sqlanon.engines.base import Engine
    from sqlanon.syntax.reader import Reader


@dataclass(frozen=True)
class Sweep:
    """The clause parameter IN (value, ...): the values of a parameter, with its name in lower case."""

    parameter: str
    values: tuple[Scalar, ...]


@dataclass(frozen=True)
class Frontier(Statement):
    """Makes candidates of a policy by methods and swept parameters, measures them and drops them.

    There is at least one figure or workload.
    """

    name: str
    policy: str
    methods: tuple[MethodCall, ...]
    sweep: tuple[Sweep, ...] = ()
    figures: tuple[FigureCall, ...] = ()
    workloads: tuple[str, ...] = ()

    OPENINGS = ("FRONTIER",)
    EXAMPLES = (
        "FRONTIER choice ON POLICY hospital METHODS (generalization, mondrian) SWEEP k IN (5, 10) MEASURE p_loss, gain",
    )
    GRAMMAR = """
frontier = FRONTIER name ON POLICY name METHODS "(" call {"," call} [","] ")"
  [ SWEEP sweep {"," sweep} ] MEASURE measured {"," measured} [","] ;
sweep = name IN "(" scalar {"," scalar} [","] ")" ;
measured = WORKLOAD identifier | call ;
"""
    CALCULATES = True
    DISTRIBUTED = Elsewhere("FRONTIER", MAKES_CANDIDATES)
    CATALOG = Catalog.READS
    # A column for each figure.
    COLUMNS = None

    @classmethod
    def read(cls, reader: Reader) -> Self:
        reader.expect("FRONTIER")
        name = object_name(reader, "frontier")
        reader.expect("ON", "POLICY")
        policy = policy_name(reader)
        reader.expect("METHODS")
        methods: list[MethodCall] = []
        reader.listed(
            lambda: methods.append(MethodCall(*values.call(reader, "a method", "mondrian(l => 2)", "method")))
        )
        sweep: dict[str, Sweep] = {}
        if reader.choose(("SWEEP", "MEASURE")) == "SWEEP":
            _swept(reader, sweep)
            while reader.accept_symbol(","):
                _swept(reader, sweep)
            reader.expect("MEASURE")
        figures: list[FigureCall] = []
        workloads: list[str] = []
        _measured(reader, figures, workloads)
        while reader.further():
            _measured(reader, figures, workloads)
        reader.end()
        return cls(
            name,
            policy,
            tuple(dict.fromkeys(methods)),
            tuple(sweep.values()),
            tuple(dict.fromkeys(figures)),
            tuple(dict.fromkeys(workloads)),
        )

    def sql(self) -> str:
        methods = ", ".join(map(call_text, self.methods))
        swept = [f"{word_text(sweep.parameter)} IN {value_text(sweep.values)}" for sweep in self.sweep]
        sweep = f" SWEEP {', '.join(swept)}" if swept else ""
        measured = [*map(figure_text, self.figures), *(f"WORKLOAD {name_text(name)}" for name in self.workloads)]
        return (
            f"FRONTIER {name_text(self.name)} ON POLICY {name_text(self.policy)} METHODS ({methods}){sweep} "
            f"MEASURE {', '.join(measured)}"
        )

    def title(self) -> str:
        return f"FRONTIER {self.name}"

    def run(self, engine: Engine, progress: Watching | None) -> Answer:
        from sqlanon.statements.frontiers._candidates import make_frontier

        return make_frontier(engine, self, progress)


def _swept(reader: Reader, sweep: dict[str, Sweep]) -> None:
    token = reader.peek()
    parameter = reader.named("the name of a parameter", "sweep").lower()
    if parameter in sweep:
        raise reader.refused(f"{parameter} is swept twice", hint=f"keep one {parameter} IN (...)", token=token)
    reader.expect("IN")
    swept: list[Scalar] = []
    reader.listed(lambda: swept.append(_swept_value(reader, parameter)))
    sweep[parameter] = Sweep(parameter, tuple(dict.fromkeys(swept)))


def _swept_value(reader: Reader, parameter: str) -> Scalar:
    """Reads a value, and marks its part: ("sweep", "k", "5")."""
    start = reader.peek().start
    value = values.scalar(reader)
    reader.parts.add(start, "sweep", parameter, str(value))
    return value


def _measured(reader: Reader, figures: list[FigureCall], workloads: list[str]) -> None:
    if accept_workload(reader):
        reader.mark("workload")
        workloads.append(reader.name("the name of the workload"))
    else:
        figures.append(FigureCall(*values.call(reader, "a figure", "p_loss(above => 0.3)", "figures")))
