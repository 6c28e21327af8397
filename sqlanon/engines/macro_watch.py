"""Whether a macro may have come since the macros were listed last, so that each statement need not list them.

To list macros DuckDB describes each of its 3,000 functions, and nothing else tells them. But DuckDB numbers whatever is
made in a catalog, in one sequence for all connections and all attached databases, temporary objects among them. A new
connection takes the next numbers for its temporary database, and so shows how far the sequence has come. Where it has
come no further than at the end of a statement that found no macro, there is none now.

What a statement itself makes is in the sequence, too. That nobody else made anything while it ran is known from the
sequence of queries: it has come as far as the engine's own queries go. A macro that another connection has made and not
yet committed has a number from before, so nothing is kept where there is another connection, nor in a transaction of
the user's, which may be rolled back.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any, NamedTuple

from sqlanon.engines.statement_memo import Session

# A connection takes so many numbers for its temporary database. Where it takes others, nothing is kept.
_OF_A_CONNECTION = 3


class ConnectionNumbers(NamedTuple):
    """The row of `sql/statements/connection_numbers.sql`, of a new connection."""

    temporary_database: int
    query: int
    extensions: int

    def follows(self, former: ConnectionNumbers) -> bool:
        """Whether nothing has been made in a catalog between the `former` connection and this one."""
        return self.temporary_database == former.temporary_database + _OF_A_CONNECTION


class MacroWatch:
    """The macros that one connection sees: whether there may be new ones.

    `ask` reads the numbers of a new connection, in one query, on the connection that it is given; None where it cannot.
    """

    def __init__(self, connection: Any, ask: Callable[[Any], ConnectionNumbers | None]) -> None:
        self._connection = connection
        self._ask = ask
        # The numbers at the end of a statement that found no macro.
        self._settled: ConnectionNumbers | None = None
        # Of the statement that runs: the number of its first query, the extensions, and how many queries the engine
        # had run by its first one, less those of new connections since then, which the engine does not count.
        self._begun: tuple[int, int, int] | None = None
        self._has_counted = False

    def begin(self, now: Session, queries: int, *, in_transaction: bool) -> bool:
        """Begins a statement: whether there are still no macros, as the last statement has found.

        `now` was read by the statement's own connection, and so after all queries of that had ended; `queries` is how
        many the engine had run by then. `in_transaction` is whether the user has begun one.
        """
        settled, self._settled, self._begun = self._settled, None, None
        if in_transaction or now.connections != 1 or now.foreign_databases:
            return False
        numbers = self._numbers()
        if numbers is None:
            return False
        self._begun = (now.query, numbers.extensions, queries - 1)
        return settled is not None and numbers.follows(settled) and numbers.extensions == settled.extensions

    def forget(self) -> None:
        """The statement has found a macro: at its end nothing is known."""
        self._begun = None

    def end(self, queries: int) -> None:
        """Ends a statement that found no macro; `queries` is how many the engine has run by now."""
        if self._begun is None:
            return
        (first_query, extensions, before), self._begun = self._begun, None
        last = self._numbers()
        if last is None or last.query != first_query + (queries - before) + 1 or last.extensions != extensions:
            return
        if not self._has_counted:
            # Whether a connection takes as many numbers as it is taken to is seen where nothing else has come between.
            first, last = last, self._numbers()
            self._has_counted = last is not None and last.follows(first) and last.query == first.query + 1
        if self._has_counted:
            self._settled = last

    def _numbers(self) -> ConnectionNumbers | None:
        with closing(self._connection.cursor()) as connection:
            return self._ask(connection)
