"""Measures where the engine spends its time: the operators of each query of a statement, from DuckDB's profile."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from sqlanon import Connection

__all__ = ["Operator", "Operators", "of_query", "of_statement", "of_view"]

_SHOWN = 5
_DETAILS = ("Table", "Conditions", "Groups", "Order By", "Expression", "Projections")
_RANDOM_NAME = re.compile(r"(__sqlanon_(?:candidate_)?)[0-9a-f]+")
_LENGTH = 90


@dataclass(frozen=True)
class Operator:
    """The seconds of an operator, over all threads, in all queries of a stage whose plans have it."""

    stage: str
    kind: str
    detail: str
    seconds: float
    times: int


@dataclass(frozen=True)
class Operators:
    """The costliest operators, the seconds of all operators, and the wall time of their queries."""

    costliest: tuple[Operator, ...]
    seconds: float
    wall_seconds: float
    queries: int


class _Profile:
    """Adds up the profiles of the queries on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._found: dict[tuple[str, str, str], tuple[float, int]] = {}
        self._wall = 0.0
        self._queries = 0

    def __enter__(self) -> _Profile:
        self._connection.execute("PRAGMA enable_profiling = 'no_output'")
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.execute("PRAGMA disable_profiling")

    def take(self, stage: str) -> None:
        """Adds the profile of the query that ran last."""
        profile = json.loads(self._connection.duckdb.get_profiling_information("json"))
        if "operator" not in profile:
            return
        self._queries += 1
        self._wall += profile["query"]["total_time"]
        for operator in _walk(profile["operator"]):
            key = stage, operator["type"], _detail(operator["extra_info"])
            seconds, times = self._found.get(key, (0.0, 0))
            self._found[key] = seconds + operator["timing"], times + 1

    def operators(self) -> Operators:
        every = [Operator(*key, seconds, times) for key, (seconds, times) in self._found.items()]
        every.sort(key=lambda operator: -operator.seconds)
        return Operators(tuple(every[:_SHOWN]), sum(o.seconds for o in every), self._wall, self._queries)


def _walk(operators: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for operator in operators:
        yield operator
        yield from _walk(operator.get("children", []))


def _detail(information: dict[str, Any]) -> str:
    for name in _DETAILS:
        if given := information.get(name):
            text = ", ".join(map(str, given)) if isinstance(given, list) else str(given)
            text = _RANDOM_NAME.sub(r"\1", " ".join(text.split()))
            return text if len(text) <= _LENGTH else text[: _LENGTH - 3] + "..."
    return ""


def of_statement(connection: Connection, statement: str, stages: Collection[str]) -> Operators:
    """Returns the operators of one more run of a sqlanon statement, in some of its stages.

    DuckDB keeps a query's profile until the next query runs, so the profile is read when the next one is announced.
    """
    with _Profile(connection) as profile:
        before: list[str] = []

        def observe(stage: str, sql: str | None, *_: object) -> None:
            if sql is None:
                return
            if before and before[-1] in stages:
                profile.take(before[-1])
            before.append(stage)

        connection.observe(observe)
        try:
            connection.sql(statement)
        finally:
            connection.observe(None)
        return profile.operators()


def of_query(connection: Connection, query: str) -> Operators:
    """Returns the operators of one query."""
    with _Profile(connection) as profile:
        connection.duckdb.execute(query).fetchall()
        profile.take("query")
        return profile.operators()


def of_view(connection: Connection, view: str, query: str) -> Operators:
    """Returns the operators of a query on `view`, whose text is inlined because a secure view hides its operators."""
    text = connection.duckdb.execute("SELECT sql FROM duckdb_views() WHERE view_name = ?", [view]).fetchall()[0][0]
    body = text.partition(" AS ")[2].rstrip().rstrip(";")
    return of_query(connection, f"WITH {view} AS NOT MATERIALIZED ({body}) {query}")
