"""A portable query in Spark's words."""

from __future__ import annotations

from sqlglot import exp

from sqlanon.engines.portable import INFINITE, require_portable
from sqlanon.sql.build.binary_text import text_by_bytes, text_without_collation
from sqlanon.sql.build.expressions import as_text, big, paren
from sqlanon.sql.build.render import to_sql


def quoted(name: str) -> str:
    """A name as Spark reads it, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"


def spark_sql(tree: exp.Expr) -> str:
    """A portable query as Spark writes it; parameters become :p1, :p2 and so on.

    Raises EngineError, naming the construct, for a query that is not portable.
    """
    # Wrapped, so that the query itself can be replaced like any other part.
    spelled = paren(tree.copy())
    _compare_by_bytes(spelled)
    require_portable(spelled.this)
    for node in list(spelled.walk()):
        if isinstance(node, exp.DataType) and node.this is exp.DataType.Type.INT128:
            node.replace(exp.DataType.build("DECIMAL(38, 0)"))
        elif isinstance(node, exp.Extract) and node.name.upper() == "ISODOW":
            node.set("this", exp.var("DAYOFWEEK_ISO"))
        elif isinstance(node, exp.BitwiseLeftShift):
            # Spark drops the bits that leave an INT; DuckDB has an error for it.
            node.set("this", big(node.this))
        elif isinstance(node, exp.Parameter | exp.Placeholder):
            node.replace(exp.Placeholder(this=f"p{node.name}"))
        elif isinstance(node, exp.CTE) and node.args.get("materialized") is False:
            # Spark has no words for what it does anyway.
            node.set("materialized", None)
        elif isinstance(node, exp.TryCast):
            # Unless told so, sqlglot takes it for one that raises errors.
            node.set("safe", True)
        elif isinstance(node, exp.Cast) and node.this.is_string and node.this.name in INFINITE:
            # No date of Spark's is infinite, and none equals NULL. Numbers are as in DuckDB.
            node.replace(exp.TryCast(this=node.this.copy(), to=node.to.copy(), safe=True))
    return to_sql(spelled.this, dialect="spark")


def _compare_by_bytes(tree: exp.Expr) -> None:
    """Takes out what has DuckDB compare texts by their bytes, as Spark does unless a type says otherwise."""
    for node in list(tree.walk()):
        if (text := text_by_bytes(node)) is not None:
            node.replace(text)
        elif (text := text_without_collation(node)) is not None:
            node.replace(as_text(text))
