"""Statements of PostgreSQL's that sqlglot has no trees for: texts with names and literals that it has quoted."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.sqlgen.build.names import identifier, relation

__all__ = ["READ_ONLY", "SETTINGS", "comment", "create_schema", "drop_schema", "drop_table", "rename_schema"]

# Names are looked up in no schema of the user's, and a reader who never ends does not hold the export up for ever: a
# shorter time is set with PGOPTIONS.
SETTINGS = (
    "SET LOCAL search_path = pg_catalog",
    "SET LOCAL standard_conforming_strings = on",
    "SELECT set_config('lock_timeout', '60s', true) WHERE current_setting('lock_timeout') = '0'",
)
READ_ONLY = "SET TRANSACTION READ ONLY"


def create_schema(name: str) -> str:
    return "CREATE SCHEMA " + _quoted(identifier(name))


def drop_schema(name: str) -> str:
    """Fails if anything is in it."""
    return "DROP SCHEMA " + _quoted(identifier(name)) + " RESTRICT"


def drop_table(schema: str, name: str) -> str:
    """Fails if anything elsewhere depends on it, such as a view."""
    return "DROP TABLE " + _quoted(relation((schema, name))) + " RESTRICT"


def rename_schema(name: str, new: str) -> str:
    return "ALTER SCHEMA " + _quoted(identifier(name)) + " RENAME TO " + _quoted(identifier(new))


def comment(kind: str, what: exp.Expr, text: str) -> str:
    """COMMENT ON SCHEMA, TABLE or COLUMN."""
    return "COMMENT ON " + kind + " " + _quoted(what) + " IS " + _quoted(exp.Literal.string(text))


def _quoted(tree: exp.Expr) -> str:
    return tree.sql(dialect="postgres")
