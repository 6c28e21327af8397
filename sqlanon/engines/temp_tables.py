"""Temporary tables and views of one statement, gone when it ends."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from types import TracebackType
from weakref import WeakKeyDictionary

from sqlglot import exp

from sqlanon.engines.base import Engine, TooManyRows
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.render import create_temporary, drop, to_sql

# What the names of ended statements began with, which none of their objects has any more.
_free: WeakKeyDictionary[Engine, list[str]] = WeakKeyDictionary()


class Scratch:
    """Makes temporary objects under names of its own and drops them at the end.

    They live in DuckDB's temporary database, on this connection only. The next statement has the same names, so that
    one that is repeated has the same texts, unless this one failed and may have left its objects.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        free = _free.setdefault(engine, [])
        self.key = free.pop() if free else secrets.token_hex(6)
        self._made: list[tuple[str, str]] = []

    def name(self, purpose: str, kind: str = "TABLE") -> str:
        """A new name, which no table of the user's has, for an object that will be dropped."""
        name = f"__sqlanon_{self.key}_{len(self._made)}_{purpose}"
        self._made.append((kind, name))
        return name

    def view_name(self, purpose: str) -> str:
        return self.name(purpose, "VIEW")

    def view(self, purpose: str, query: exp.Query) -> str:
        """A temporary view of a query; returns its name."""
        name = self.view_name(purpose)
        self.engine.run(create_temporary("VIEW", name, query))
        return name

    def table(self, purpose: str, query: exp.Query, parameters: Sequence[object] = ()) -> str:
        """A temporary table with the rows of a query; returns its name."""
        name = self.name(purpose)
        self.engine.run(create_temporary("TABLE", name, query), parameters)
        return name

    def rows(self, purpose: str, query: exp.Query) -> str:
        """A temporary relation of rows, as many as those of a source, where they are; returns its name."""
        name = f"__sqlanon_{self.key}_{len(self._made)}_{purpose}"
        self._made.append((self.engine.copy_rows(name, query), name))
        return name

    def bounded(self, purpose: str, query: exp.Query) -> tuple[str, int | None]:
        """A temporary table with the rows of a query where they may go there, and else one of rows where they are.

        Returns its name and the number of its rows, None where they are where they were: on another engine than
        tables, and too many to go from one to the other.
        """
        try:
            return self.counted_table(purpose, query)
        except TooManyRows:
            return self.rows(purpose, query), None

    def counted_table(self, purpose: str, query: exp.Query) -> tuple[str, int]:
        """A temporary table with the rows of a query; returns its name and how many they are."""
        name = self.name(purpose)
        return name, int(self.engine.rows(create_temporary("TABLE", name, query))[0][0])

    def growing_table(self, purpose: str, query: exp.Query) -> str:
        """A temporary table with the rows of a query, to which more will be added; returns its name.

        DuckDB 2.0 loses rows of a table that gets no row at first, when it is made or by an INSERT, and then, in the
        same transaction, those of 122,880 or more at once: count(*) counts them, and no scan returns them. A table that
        has had a row, if only for a moment, keeps them.
        """
        name, count = self.counted_table(purpose, query)
        if not count:
            self.engine.run(exp.Insert(this=relation(name), default=True))
            self.engine.run(exp.Delete(this=relation(name)))
        return name

    def __enter__(self) -> Scratch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # After an error the transaction that made them is rolled back, and they with it.
        if error is None:
            self.drop()

    def drop(self) -> None:
        """Drops what was made, and hands its names on to the next statement.

        For what outlives a transaction, after an error as well; `with` sees to the rest.
        """
        if self._made:
            drops = (drop(made, relation(name), exists=True) for made, name in reversed(self._made))
            self.engine.run("; ".join(map(to_sql, drops)))
        _free[self.engine].append(self.key)
