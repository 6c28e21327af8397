"""FRONTIER, ADVISE and DROP FRONTIER."""

from __future__ import annotations

from sqlanon.domain.values import Scalar
from sqlanon.errors import Position
from sqlanon.syntax import _values
from sqlanon.syntax._calls import FigureCall, MethodCall
from sqlanon.syntax._frontier_statements import Advise, Bound, DropFrontier, Frontier, Sweep, figure_of_workload
from sqlanon.syntax._head import dropped, object_name
from sqlanon.syntax._lexer import Kind
from sqlanon.syntax._reader import Reader

__all__ = ["advise", "drop", "frontier"]


def frontier(reader: Reader, position: Position) -> Frontier:
    """FRONTIER name ON POLICY policy METHODS (...) [SWEEP parameter IN (...), ...] MEASURE figure, ... ."""
    reader.expect("FRONTIER")
    name = object_name(reader, "frontier")
    reader.expect("ON", "POLICY")
    reader.mark("policy")
    policy = reader.name("the name of the policy")
    reader.expect("METHODS")
    methods: list[MethodCall] = []
    reader.listed(lambda: methods.append(MethodCall(*_values.call(reader, "a method", "mondrian(l => 2)", "method"))))
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
    return Frontier(
        name,
        policy,
        tuple(dict.fromkeys(methods)),
        tuple(sweep.values()),
        tuple(dict.fromkeys(figures)),
        tuple(dict.fromkeys(workloads)),
        position=position,
    )


def _swept(reader: Reader, sweep: dict[str, Sweep]) -> None:
    token = reader.peek()
    parameter = reader.named("the name of a parameter", "sweep").lower()
    if parameter in sweep:
        raise reader.refused(f"{parameter} is swept twice", hint=f"keep one {parameter} IN (...)", token=token)
    reader.expect("IN")
    values: list[Scalar] = []
    reader.listed(lambda: values.append(_swept_value(reader, parameter)))
    sweep[parameter] = Sweep(parameter, tuple(dict.fromkeys(values)))


def _swept_value(reader: Reader, parameter: str) -> Scalar:
    """A value, whose part is called after it: ("sweep", "k", "5")."""
    start = reader.peek().start
    value = _values.scalar(reader)
    reader.parts.add(start, "sweep", parameter, str(value))
    return value


def _measured(reader: Reader, figures: list[FigureCall], workloads: list[str]) -> None:
    if _accept_workload(reader):
        reader.mark("workload")
        workloads.append(reader.name("the name of the workload"))
    else:
        figures.append(FigureCall(*_values.call(reader, "a figure", "p_loss(above => 0.3)", "figures")))


def _accept_workload(reader: Reader) -> bool:
    return reader.peek(1).kind in (Kind.WORD, Kind.QUOTED) and reader.accept("WORKLOAD")


def advise(reader: Reader, position: Position) -> Advise:
    """ADVISE frontier [WHERE figure <= number [AND ...]] LEAST figure."""
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
    return Advise(name, least, tuple(bounds), position=position)


def _bound(reader: Reader) -> Bound:
    figure = _figure(reader)
    if reader.accept_symbol("<="):
        return Bound(figure, _values.number(reader))
    if not reader.accept_symbol("<"):
        raise reader.expected("<= or <", hint="less is better of every figure: write figure <= number")
    strict = not reader.accept_symbol("=")
    return Bound(figure, _values.number(reader), strict)


def _figure(reader: Reader) -> str:
    if _accept_workload(reader):
        return figure_of_workload(reader.name("the name of the workload"))
    return reader.named("a figure", "figures").lower()


def drop(reader: Reader, position: Position) -> DropFrontier:
    """DROP FRONTIER [IF EXISTS] name."""
    if_exists = dropped(reader, "FRONTIER")
    name = object_name(reader, "frontier")
    reader.end()
    return DropFrontier(name, if_exists, position=position)
