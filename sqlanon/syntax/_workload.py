"""CREATE and DROP WORKLOAD, and MEASURE with a workload or with figures."""

from __future__ import annotations

from sqlanon.domain.values import Value
from sqlanon.errors import Position
from sqlanon.syntax import _values
from sqlanon.syntax._head import created, dropped, object_name, skip_kind
from sqlanon.syntax._lexer import Kind
from sqlanon.syntax._reader import Reader
from sqlanon.syntax.statements import CreateWorkload, DropWorkload, FigureCall, Measure, MeasureFigures, MeasureTask

__all__ = ["create", "drop", "measure"]

_EXAMPLE = "p_loss(above => 0.3)"


def create(reader: Reader, position: Position) -> CreateWorkload:
    """CREATE [OR REPLACE] WORKLOAD [IF NOT EXISTS] name ON POLICY policy [(name => value, ...)]."""
    or_replace, if_not_exists = created(reader, "WORKLOAD")
    name = object_name(reader, "workload")
    reader.expect("ON", "POLICY")
    reader.mark("policy")
    policy = reader.name("the name of the policy")
    arguments: dict[str, Value] = {}
    if reader.sees_symbol("("):
        reader.listed(lambda: _values.named(reader, arguments, "argument"), empty=True)
    reader.end()
    return CreateWorkload(name, policy, tuple(arguments.items()), or_replace, if_not_exists, position=position)


def drop(reader: Reader, position: Position) -> DropWorkload:
    """DROP WORKLOAD [IF EXISTS] name."""
    if_exists = dropped(reader, "WORKLOAD")
    name = object_name(reader, "workload")
    reader.end()
    return DropWorkload(name, if_exists, position=position)


def measure(reader: Reader, position: Position) -> Measure | MeasureFigures | MeasureTask:
    """MEASURE release [WITH WORKLOAD name] [WITH FIGURES (name [(argument => value)], ...) | TASK (argument => value)].

    There is a task alone.
    """
    reader.expect("MEASURE")
    skip_kind(reader)
    reader.mark("release")
    release = reader.qualified_name("the name of the release")
    reader.about(str(release))
    if reader.peek().kind is Kind.END:
        return MeasureFigures(release, position=position)
    reader.expect("WITH")
    what = reader.choose(("WORKLOAD", "FIGURES", "TASK"))
    if what == "TASK":
        arguments: dict[str, Value] = {}
        reader.listed(lambda: _values.named(reader, arguments, "task"))
        reader.end()
        return MeasureTask(release, tuple(arguments.items()), position=position)
    workload = None
    if what == "WORKLOAD":
        reader.mark("workload")
        workload = reader.name("the name of the workload")
        if reader.peek().kind is Kind.END:
            return Measure(release, workload, position=position)
        reader.expect("WITH")
        reader.expect("FIGURES")
    figures: list[FigureCall] = []
    reader.listed(lambda: figures.append(FigureCall(*_values.call(reader, "a figure", _EXAMPLE, "figures"))))
    reader.end()
    return MeasureFigures(release, tuple(dict.fromkeys(figures)), workload, position=position)
