"""Anonymization for SQL workflows on DuckDB.

`connect()` returns a DuckDB connection that also understands sqlanon's statements:
CREATE HIERARCHY, CREATE POLICY, CREATE WORKLOAD and CREATE SERIES, CREATE ANONYMIZED VIEW | TABLE | STREAM,
REFRESH ANONYMIZED, ADVANCE and EXPLAIN ANONYMIZED, their DROPs, ALTER POLICY, DESCRIBE POLICY, SHOW POLICIES |
HIERARCHIES | RELEASES | WORKLOADS | FRONTIERS | SERIES | STREAMS, PROFILE, CHECK, ATTACK, ESTIMATE, MEASURE, FRONTIER,
ADVISE and EXPORT.
`anonymize()` does without a database: a data frame in, the anonymized one out.
`Policy`, `Requirement`, `Method` and the classes of each model and method write the statements of Python values.
In a notebook `%load_ext sqlanon` makes the magics `%sqlanon` and `%%sqlanon` known.
"""

from __future__ import annotations

__version__ = "0.1.0"

from typing import Any

from sqlanon import api as _api
from sqlanon.api import *
from sqlanon.errors import (
    CatalogError,
    DataError,
    EngineError,
    InternalError,
    PolicyError,
    PrivacyViolation,
    SqlanonError,
    StatementError,
    UserError,
)
from sqlanon.frames import anonymize
from sqlanon.session import Connection, StatementEvent, connect

__all__ = [
    "CatalogError",
    "Connection",
    "DataError",
    "EngineError",
    "InternalError",
    "PolicyError",
    "PrivacyViolation",
    "SqlanonError",
    "StatementError",
    "StatementEvent",
    "UserError",
    "__version__",
    "anonymize",
    "connect",
    "load_ipython_extension",
]
__all__ += _api.__all__


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext sqlanon` calls in a notebook."""
    from sqlanon.notebook import load

    load(shell)
