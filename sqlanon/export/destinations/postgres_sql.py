"""Statements of PostgreSQL's that sqlglot has no trees for: texts with names and literals that it has quoted."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sqlanon.sql.build.names import identifier, relation

# Names are looked up in no schema of the user's, and a reader who never ends does not hold the export up for ever: a
# shorter time is set with PGOPTIONS. What a row-level policy would hide is an error. Nobody's view is read, where the
# server can be told so: it would run its owner's functions with the rights of the reader.
SETTINGS = (
    "SET LOCAL search_path = pg_catalog",
    "SET LOCAL standard_conforming_strings = on",
    "SET LOCAL row_security = off",
    "SELECT set_config(name, 'view, foreign-table', true) FROM pg_settings "
    "WHERE name = 'restrict_nonsystem_relation_kind'",
    "SELECT set_config('lock_timeout', '60s', true) WHERE current_setting('lock_timeout') = '0'",
)
READ_ONLY = "SET TRANSACTION READ ONLY"
# How tables are locked until the end of the transaction: others may do anything but to alter and drop them, or may read
# them and nothing else. Two exports have the latter one after the other, and then the DROP waits for readers alone.
READING = "ACCESS SHARE"
REPLACING = "SHARE ROW EXCLUSIVE"


def create_schema(name: str) -> str:
    return "CREATE SCHEMA " + _quoted(identifier(name))


def drop_schema(name: str) -> str:
    """Fails if anything is in it."""
    return "DROP SCHEMA " + _quoted(identifier(name)) + " RESTRICT"


def drop_table(schema: str, name: str) -> str:
    """Fails if anything elsewhere depends on it, such as a view."""
    return "DROP TABLE " + _quoted(relation((schema, name))) + " RESTRICT"


def lock_tables(schema: str, names: Sequence[str], mode: str) -> str:
    """Waits until it has them; a name is that of the table which has it then."""
    return "LOCK TABLE ONLY " + ", ONLY ".join(_quoted(relation((schema, name))) for name in names) + f" IN {mode} MODE"


def rename_schema(name: str, new: str) -> str:
    return "ALTER SCHEMA " + _quoted(identifier(name)) + " RENAME TO " + _quoted(identifier(new))


def comment(kind: str, what: exp.Expr, text: str) -> str:
    """COMMENT ON SCHEMA, TABLE or COLUMN."""
    return "COMMENT ON " + kind + " " + _quoted(what) + " IS " + _quoted(exp.Literal.string(text))


def _quoted(tree: exp.Expr) -> str:
    return tree.sql(dialect="postgres")
