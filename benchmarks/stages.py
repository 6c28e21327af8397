"""What a statement spends in each stage of the pipeline, and with how many queries."""

from __future__ import annotations

import time
from collections import Counter

from sqlanon import Connection

__all__ = ["StageTimes", "timed_statement"]


class StageTimes:
    """Listens to one statement; stages follow each other, so each ends where the next begins."""

    def __init__(self) -> None:
        self.queries: Counter[str] = Counter()
        self._starts: dict[str, float] = {}
        self._begun = self._ended = 0.0

    def observe(self, stage: str, sql: str | None, done: int | None, total: int | None) -> None:
        if sql is not None:
            self.queries[stage] += 1
        else:
            self._starts.setdefault(stage, time.perf_counter())

    def run(self, connection: Connection, statement: str) -> None:
        connection.observe(self.observe)
        try:
            self._begun = time.perf_counter()
            connection.sql(statement)
            self._ended = time.perf_counter()
        finally:
            connection.observe(None)

    @property
    def seconds(self) -> dict[str, float]:
        """Each stage's time; the last one's includes the commit and dropping of what was temporary."""
        ends = [*list(self._starts.values())[1:], self._ended]
        return {name: end - start for (name, start), end in zip(self._starts.items(), ends, strict=True)}

    @property
    def total(self) -> float:
        return self._ended - self._begun


def timed_statement(connection: Connection, statement: str) -> StageTimes:
    """Runs one statement and returns where its time went."""
    times = StageTimes()
    times.run(connection, statement)
    return times
