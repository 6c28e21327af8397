"""ESTIMATE through the door: reads the statement in the front, and answers it from a room in a worker."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from sqlanon.clients.serve.refused import Forbidden, Refused
from sqlanon.clients.serve.tree_walk import on_one_line
from sqlanon.domain.identifiers import fold
from sqlanon.domain.values import QualifiedName
from sqlanon.errors import SqlanonError

if TYPE_CHECKING:
    from sqlanon.engines.room_reader import RoomReader
    from sqlanon.statements.base import Statement
    from sqlanon.statements.budgets.estimate_under_budget import EstimateUnderBudget
    from sqlanon.statements.releases.estimate import Estimate

# The reason of a door that has no source.
NO_BUDGET = "a budget is spent where the source is, not through this door: ask its owner, or ESTIMATE ... FROM RELEASE"


# The time of an answer under a budget may depend on the rows: these bound the work of a row, and how often one may ask.
_MOST_QUERY_BYTES = 4096
_LEAST_EPSILON = Decimal("0.001")


@dataclass(frozen=True)
class Question:
    """An ESTIMATE under a budget: the name of the budget, and the epsilon that the statement offers."""

    budget: str
    epsilon: float | None


def read_estimate(text: str) -> Estimate:
    """Reads the statement ESTIMATE from a release.

    Raises Refused for any other statement, and for parts that read anything but the release.
    """
    # Imported with the first ESTIMATE: most readers send none.
    from sqlanon.statements.budgets.estimate_under_budget import EstimateUnderBudget
    from sqlanon.statements.releases.estimate import Estimate

    statement = _one_statement(text)
    if isinstance(statement, EstimateUnderBudget):
        raise Refused(NO_BUDGET)
    if not isinstance(statement, Estimate) or statement.release is None:
        raise Refused("write ESTIMATE ... FROM RELEASE and the name of a granted release; no file is read here")
    if statement.marginals:
        raise Refused("MARGINALS are not read here")
    return statement


def read_under_budget(text: str) -> EstimateUnderBudget | None:
    """Reads an ESTIMATE under a budget; returns None for any other statement.

    Raises Refused for a text that is not one statement, for a long query, for an epsilon below 0.001, and for a table
    of keys, because its rows would be shown.
    """
    from sqlanon.estimates.noisy.options import FOUND
    from sqlanon.statements.budgets.estimate_under_budget import EstimateUnderBudget

    statement = _one_statement(text)
    if not isinstance(statement, EstimateUnderBudget):
        return None
    for name, value in statement.arguments:
        if isinstance(value, QualifiedName) and (fold(name) != "keys" or tuple(map(fold, value.parts)) != (FOUND,)):
            raise Refused(f"{name} names a table, and no table is read here: list the keys, keys => ('F', 'M')")
    if (size := len(statement.query.encode())) > _MOST_QUERY_BYTES:
        raise Refused(f"the query has {size:,} bytes; at most {_MOST_QUERY_BYTES:,} are read under a budget")
    epsilon = _epsilon(statement)
    if epsilon is not None and not epsilon >= _LEAST_EPSILON:
        raise Refused(f"an answer costs an epsilon of at least {_LEAST_EPSILON} here")
    return statement


def not_granted(budget: str) -> Refused:
    """Returns the error for a budget that is not granted to the reader who names it."""
    return Forbidden(f"no budget of this name is granted to you: {on_one_line(budget)}")


def question_of(statement: EstimateUnderBudget) -> Question:
    """Returns the facts about a statement that the audit log records."""
    epsilon = _epsilon(statement)
    return Question(statement.budget, None if epsilon is None else float(epsilon))


def _epsilon(statement: EstimateUnderBudget) -> Decimal | None:
    """Returns the epsilon that a statement offers, None if it is not a number."""
    epsilon = {fold(name): value for name, value in statement.arguments}.get("epsilon")
    is_number = isinstance(epsilon, int | Decimal) and not isinstance(epsilon, bool)
    return Decimal(str(epsilon)) if is_number else None


def _one_statement(text: str) -> Statement:
    from sqlanon.statements.parser import parse_script

    try:
        statements = parse_script(text)
    except SqlanonError as error:
        raise Refused(" ".join(error.message.split())[:300]) from None
    if len(statements) != 1:
        raise Refused(f"write one statement; this text has {len(statements)}")
    [statement] = statements
    if statement.placeholders:
        raise Refused("an ESTIMATE has no parameters here: write the values")
    return statement


def estimate_query(room: RoomReader, release: QualifiedName, text: str) -> str:
    """Estimates an admitted query from a release of a room. Returns a query whose rows are the answer."""
    from sqlanon.engines.duckdb import DuckDBEngine
    from sqlanon.export.room_model import estimate_in_room
    from sqlanon.sql.build.render import to_sql
    from sqlanon.sql.classes.normal_relations import literal_rows

    with room.session() as connection:
        columns, rows = estimate_in_room(DuckDBEngine(connection, alone=True), Path(room.path), release, text)
    return to_sql(literal_rows(columns, rows))
