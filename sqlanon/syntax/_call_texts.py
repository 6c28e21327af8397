"""Calls as a statement has them, and the statements that are made of them: FRONTIER, CREATE SERIES, streams."""

from __future__ import annotations

from sqlanon.domain.policy import JoinedRelease, Requirement
from sqlanon.syntax._calls import FigureCall, MethodCall
from sqlanon.syntax._frontier_statements import Advise, Bound, Frontier, workload_of
from sqlanon.syntax._series_statements import CheckJoined, CreateSeries
from sqlanon.syntax._stream_statements import Advance, CreateStream
from sqlanon.syntax._texts import arguments_text, name_text, qualified_text, string_text, value_text, word_text

__all__ = [
    "advance_text",
    "advise_text",
    "call_text",
    "check_joined_text",
    "create_series_text",
    "create_stream_text",
    "figure_text",
    "frontier_text",
    "joined_text",
]


def advise_text(statement: Advise) -> str:
    where = f"WHERE {' AND '.join(map(_bound_text, statement.bounds))} " if statement.bounds else ""
    return f"ADVISE {name_text(statement.frontier)} {where}LEAST {_figure_name_text(statement.least)}"


def frontier_text(statement: Frontier) -> str:
    methods = ", ".join(map(call_text, statement.methods))
    swept = [f"{word_text(sweep.parameter)} IN {value_text(sweep.values)}" for sweep in statement.sweep]
    sweep = f" SWEEP {', '.join(swept)}" if swept else ""
    measured = [*map(figure_text, statement.figures), *(f"WORKLOAD {name_text(name)}" for name in statement.workloads)]
    return (
        f"FRONTIER {name_text(statement.name)} ON POLICY {name_text(statement.policy)} METHODS ({methods}){sweep} "
        f"MEASURE {', '.join(measured)}"
    )


def check_joined_text(statement: CheckJoined) -> str:
    required = ", ".join(map(call_text, statement.requirements))
    joined = joined_text(JoinedRelease(statement.other, statement.columns))
    return f"CHECK {qualified_text(statement.name)} {joined}REQUIRE {required}"


def joined_text(joined: JoinedRelease | None) -> str:
    """JOINED WITH RELEASE with a blank behind it; nothing where no release is joined."""
    if joined is None:
        return ""
    return f"JOINED WITH RELEASE {qualified_text(joined.release)} ON ({', '.join(map(name_text, joined.columns))}) "


def create_series_text(statement: CreateSeries, condition: str) -> str:
    """The statement; `condition` is IF NOT EXISTS with a blank behind it, or nothing."""
    head = f"CREATE SERIES {condition}{name_text(statement.name)} ON POLICY {name_text(statement.policy)}"
    required = ", ".join(map(call_text, statement.requirements))
    return f"{head} KEY {string_text(statement.key_variable)}" + (f" REQUIRE {required}" if required else "")


def create_stream_text(statement: CreateStream, condition: str) -> str:
    """The statement; `condition` is IF NOT EXISTS with a blank behind it, or nothing."""
    head = f"CREATE ANONYMIZED STREAM {condition}{qualified_text(statement.name)} AS POLICY"
    order = f"ORDER BY {name_text(statement.order_column)}"
    return f"{head} {name_text(statement.policy)} {order} METHOD {call_text(statement.method)}"


def advance_text(statement: Advance) -> str:
    until = f" TO {string_text(statement.until)}" if statement.until is not None else ""
    return f"ADVANCE {qualified_text(statement.name)}{' TO END' if statement.to_end else until}"


def _bound_text(bound: Bound) -> str:
    return f"{_figure_name_text(bound.figure)} {'<' if bound.strict else '<='} {value_text(bound.most)}"


def _figure_name_text(figure: str) -> str:
    return f"WORKLOAD {name_text(name)}" if (name := workload_of(figure)) else word_text(figure)


def figure_text(call: FigureCall) -> str:
    return call_text(call) if call.arguments else word_text(call.name)


def call_text(call: Requirement | MethodCall | FigureCall) -> str:
    name = call.model if isinstance(call, Requirement) else call.name
    return f"{word_text(name)}({', '.join(arguments_text(call.arguments))})"
