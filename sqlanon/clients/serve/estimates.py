"""ESTIMATE through the door: reads the statement in the front, and answers it in a worker."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlanon.clients.serve.refused import Refused
from sqlanon.domain.values import QualifiedName
from sqlanon.errors import SqlanonError

if TYPE_CHECKING:
    from sqlanon.engines.room_reader import RoomReader
    from sqlanon.statements.releases.estimate import Estimate

_NO_BUDGET = "a budget is spent where the source is, not through this door: ask its owner, or ESTIMATE ... FROM RELEASE"


def read_estimate(text: str) -> Estimate:
    """Reads an ESTIMATE from a release. Raises Refused for any other statement, and for parts that read elsewhere."""
    # Imported with the first ESTIMATE: most readers send none.
    from sqlanon.statements.budgets.estimate_under_budget import EstimateUnderBudget
    from sqlanon.statements.parser import parse_script
    from sqlanon.statements.releases.estimate import Estimate

    try:
        statements = parse_script(text)
    except SqlanonError as error:
        raise Refused(" ".join(error.message.split())[:300]) from None
    if len(statements) != 1:
        raise Refused(f"write one statement; this text has {len(statements)}")
    [statement] = statements
    if isinstance(statement, EstimateUnderBudget):
        raise Refused(_NO_BUDGET)
    if not isinstance(statement, Estimate) or statement.release is None:
        raise Refused("write ESTIMATE ... FROM RELEASE and the name of a granted release; no file is read here")
    if statement.marginals:
        raise Refused("MARGINALS are not read here")
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
