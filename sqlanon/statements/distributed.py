"""Which statements run where rows are on another engine than the catalog, and why the others do not yet."""

from __future__ import annotations

from sqlanon.errors import UserError
from sqlanon.syntax import statements as s

__all__ = ["ELSEWHERE", "REFUSED", "require_possible"]

ELSEWHERE = "run it on DuckDB, with a table of the rows there: CREATE TABLE ... AS FROM read_parquet(...)"

_READS_SOURCE = "it reads the rows of its source with functions that Spark does not have alike"
_READS_RELEASE = "it reads the rows of a release with functions that Spark does not have alike"
_TOGETHER = "it counts the rows of several releases in the transaction of one"
_FILES = "files of an export are DuckDB's to read and write"

# The statements that make or read nothing but the catalog, and those that know where their rows are, are not here.
REFUSED: dict[type, tuple[str, str]] = {
    s.ProposeHierarchy: ("CREATE HIERARCHY ... AUTO", _READS_SOURCE),
    s.CreateSeries: ("CREATE SERIES", _TOGETHER),
    s.CheckSeries: ("CHECK ... IN SERIES", _TOGETHER),
    s.CheckJoined: ("CHECK ... JOINED WITH", _TOGETHER),
    s.CreateStream: ("CREATE ANONYMIZED STREAM", "it publishes rows in batches, which are moved between tables"),
    s.Advance: ("ADVANCE", "it publishes rows in batches, which are moved between tables"),
    s.CheckExport: ("CHECK of an export", _FILES),
    s.Attack: ("ATTACK", _READS_RELEASE),
    s.MeasureTask: ("MEASURE ... WITH TASK", _READS_RELEASE),
    s.Frontier: ("FRONTIER", "it makes many releases, which are rolled back"),
    s.Advise: ("ADVISE", "it makes many releases, which are rolled back"),
}


def require_possible(statement: s.Statement) -> None:
    """Raises UserError, with the reason, for a statement that does not run where rows are on another engine."""
    refused = REFUSED.get(type(statement))
    if isinstance(statement, s.Estimate) and statement.file is not None:
        refused = ("ESTIMATE of an export", _FILES)
    if refused is not None:
        name, reason = refused
        raise UserError(f"{name} does not run with engine => 'spark': {reason}", hint=ELSEWHERE)
