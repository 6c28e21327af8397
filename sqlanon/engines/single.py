"""An engine that has its rows, its catalog and its summaries in one place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from sqlglot import exp

from sqlanon.domain.values import QualifiedName, Source
from sqlanon.engines.base import Query
from sqlanon.sql.build.ddl import create_temporary


class SingleEngine:
    """What the engine protocol asks of engines whose rows are elsewhere, as it is where they are not."""

    distributed = False
    reads_in_place = True
    numbers_rows = True
    shares_names = True
    releases_are_files = False

    def run(self, query: Query, parameters: Sequence[object] = ()) -> None:
        """Runs a statement and drops its result."""
        raise NotImplementedError

    def copy_rows(self, name: str, query: exp.Query) -> str:
        """The rows of a query as a temporary table, whose kind is returned."""
        self.run(create_temporary("TABLE", name, query))
        return "TABLE"

    def declare(self, source: Source) -> Source:
        """The same: relations are known by their names already."""
        return source

    def native_function(self, name: str) -> str | None:
        """None: the engine has no function of `udfs/` before it is registered."""
        return None

    def copy_files(self, table: QualifiedName, folder: Path, named: Callable[[int], str]) -> list[str]:
        """None: no table is one of files."""
        return []

    def shadowing_macros(self) -> list[str]:
        """None: the engine has no macros."""
        return []

    def end_statement(self) -> None:
        """Nothing is noted of a statement."""
