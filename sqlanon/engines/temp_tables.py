"""Temporary tables and views of one statement, which are gone when it ends."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from types import TracebackType
from weakref import WeakKeyDictionary

from sqlglot import exp

from sqlanon.engines.base import Engine, TooManyRows
from sqlanon.sql.build.names import relation
from sqlanon.sql.build.render import create_temporary, drop, to_sql

# Prefixes of names used by ended statements; no object has them any more.
_free: WeakKeyDictionary[Engine, list[str]] = WeakKeyDictionary()


class TempTables:
    """Creates temporary objects under its own names and drops them at the end.

    They are in DuckDB's temporary database, on this connection only. The next statement reuses the names, so that a
    repeated statement has the same texts. After a failed statement, other names are used, because its objects may still
    exist.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        free = _free.setdefault(engine, [])
        self.key = free.pop() if free else secrets.token_hex(6)
        self._made: list[tuple[str, str]] = []

    def name(self, purpose: str, kind: str = "TABLE") -> str:
        """Returns a new name, which no table of the user has, for an object that will be dropped."""
        name = f"__sqlanon_{self.key}_{len(self._made)}_{purpose}"
        self._made.append((kind, name))
        return name

    def view_name(self, purpose: str) -> str:
        return self.name(purpose, "VIEW")

    def view(self, purpose: str, query: exp.Query) -> str:
        """Creates a temporary view of a query; returns its name."""
        name = self.view_name(purpose)
        self.engine.run(create_temporary("VIEW", name, query))
        return name

    def table(self, purpose: str, query: exp.Query, parameters: Sequence[object] = ()) -> str:
        """Creates a temporary table with the rows of a query; returns its name."""
        name = self.name(purpose)
        self.engine.run(create_temporary("TABLE", name, query), parameters)
        return name

    def rows(self, purpose: str, query: exp.Query) -> str:
        """Creates a temporary relation with rows of a source, on the engine that holds them; returns its name."""
        name = f"__sqlanon_{self.key}_{len(self._made)}_{purpose}"
        self._made.append((self.engine.copy_rows(name, query), name))
        return name

    def bounded(self, purpose: str, query: exp.Query) -> tuple[str, int | None]:
        """Creates a temporary table with the rows of a query; if they are too many for a copy, they stay on their
        engine.

        Returns the relation's name and the number of its rows, which is None for rows that stay on another engine.
        """
        try:
            return self.counted_table(purpose, query)
        except TooManyRows:
            return self.rows(purpose, query), None

    def counted_table(self, purpose: str, query: exp.Query) -> tuple[str, int]:
        """Creates a temporary table with the rows of a query; returns its name and the number of rows."""
        name = self.name(purpose)
        return name, int(self.engine.rows(create_temporary("TABLE", name, query))[0][0])

    def growing_table(self, purpose: str, query: exp.Query) -> str:
        """Creates a temporary table with the rows of a query, to which more rows will be added; returns its name.

        DuckDB 2.0 loses rows of a table that was created empty and then, in the same transaction, gets 122,880 rows or
        more at once: count(*) counts them, but no scan returns them. A table that once had a row keeps them.
        """
        name, count = self.counted_table(purpose, query)
        if not count:
            self.engine.run(exp.Insert(this=relation(name), default=True))
            self.engine.run(exp.Delete(this=relation(name)))
        return name

    def __enter__(self) -> TempTables:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # After an error the transaction that created the objects is rolled back, and they disappear with it.
        if error is None:
            self.drop()

    def drop(self) -> None:
        """Drops all objects, and leaves their names to the next statement.

        A `with` block calls this method at its end, except after an error. Call it yourself for objects that outlive
        the transaction.
        """
        if self._made:
            drops = (drop(made, relation(name), exists=True) for made, name in reversed(self._made))
            self.engine.run("; ".join(map(to_sql, drops)))
        _free[self.engine].append(self.key)
