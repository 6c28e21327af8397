"""A portable query as a warehouse writes it.

Queries have to be on the list of what engines answer alike (`engines/portable.py`). A part that a warehouse spells in
another way, or means something else by, is replaced here; one that it lacks is an error. Nothing is left to guesses of
a generator: it raises where it would leave a part out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from sqlglot import ErrorLevel, exp
from sqlglot.errors import SqlglotError

from sqlanon.engines.portable import INFINITE, require_portable
from sqlanon.errors import EngineError, InternalError, UserError
from sqlanon.export.warehouses.dialects import Dialect
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import as_text, big, cast, exists, infix, integer, is_null, joined, paren
from sqlanon.sql.build.names import column, literal

_Types = exp.DataType.Type


def translated(query: exp.Query, dialect: Dialect) -> exp.Query:
    """The query in the parts of a dialect, a tree of its own.

    Raises UserError, naming the part, for what is not known to mean the same there.
    """
    try:
        require_portable(query)
    except EngineError as error:
        raise UserError(f"{dialect.title} cannot make this release: {error.message}") from None
    # Wrapped, so that the query itself can be replaced like any other part.
    tree = paren(query.copy())
    # What stands in a part is replaced before the part is.
    for node in reversed(list(tree.walk(bfs=False))):
        if isinstance(node, exp.Greatest | exp.Least) and not node.args.get("ignore_nulls"):
            node.set("ignore_nulls", False)
        _replace(node, dialect)
    rewritten = tree.this
    assert isinstance(rewritten, exp.Query)
    return rewritten


def script_sql(tree: exp.Expr, dialect: Dialect) -> str:
    """The text of a statement that is made of translated queries."""
    for node in tree.find_all(exp.Literal, exp.Identifier):
        if "\0" in node.name:
            # A client may take it for the end of a line, and what stood within a text would stand outside.
            raise _refused(dialect, "a name or a value holds a NUL character")
        if dialect.substitutes and "${" in node.name:
            raise _refused(dialect, "a name or a text holds ${, which it may replace")
    for node in list(tree.find_all(exp.Literal)):
        if node.is_string and dialect.escaped and dialect.escaped.search(node.name):
            node.replace(_spelled(node.name, dialect.escaped))
    try:
        return tree.sql(
            dialect=dialect.name,
            identify=True,
            pretty=True,
            unsupported_level=ErrorLevel.RAISE,
            normalize_functions=False,
        )
    except SqlglotError as error:
        raise _refused(dialect, str(error)) from None


def _refused(dialect: Dialect, why: str) -> UserError:
    return UserError(f"{dialect.title} cannot make this release: {why}")


def _replace(node: exp.Expr, dialect: Dialect) -> None:
    """Puts another part in the place of one that the dialect reads differently. What stands in it is kept as it is."""
    for kind, replace in _REPLACEMENTS:
        if isinstance(node, kind):
            replace(node, dialect)
            return


def _replace_type(node: exp.DataType, dialect: Dialect) -> None:
    if node.this is _Types.INT128:
        node.replace(exp.DataType.build("BIGDECIMAL" if dialect.name == "bigquery" else "DECIMAL(38, 0)"))
    elif node.this is _Types.DECIMAL and dialect.name == "bigquery":
        # Its NUMERIC has 29 digits before the point.
        node.set("this", _Types.BIGDECIMAL)
        node.set("expressions", [])


def _replace_try_cast(node: exp.TryCast, _: Dialect) -> None:
    """A cast that ends the script, which then publishes nothing, where it fails; in DuckDB the value would be NULL."""
    node.replace(exp.Cast(this=node.this, to=node.to))


def _refuse_decimal_text(node: exp.Cast, dialect: Dialect) -> None:
    if dialect.name == "bigquery" and _prints_decimal(node):
        raise _refused(dialect, "it prints decimal numbers without zeros at the end, so that labels would be others")


def _drop_infinite(node: exp.Case, dialect: Dialect) -> None:
    """Only PostgreSQL has infinite dates, as DuckDB does: elsewhere no value is in these branches."""
    if dialect.name == "postgres":
        return
    branches = [branch for branch in node.args["ifs"] if not _asks_infinite(branch.this)]
    if len(branches) < len(node.args["ifs"]) and branches:
        node.set("ifs", branches)
    elif not branches:
        node.replace(node.args["default"])


def _asks_infinite(condition: exp.Expr) -> bool:
    if not isinstance(condition, exp.EQ):
        return False
    infinite = condition.expression.unnest()
    whole = isinstance(infinite, exp.Cast) and infinite.this.is_string and infinite.this.name in INFINITE
    return whole and infinite.to.this in (_Types.DATE, _Types.TIMESTAMP, _Types.TIMESTAMPNTZ)


def _replace_identical(node: exp.NullSafeEQ, dialect: Dialect) -> None:
    """Two equalities, by which tables are joined as quickly as by any: texts of one type are equal where values are."""
    if dialect.has_identical:
        return
    left, right = node.this, node.expression
    texts = [f.coalesce(as_text(side.copy()), "") for side in (left, right)]
    nulls = [paren(is_null(side.copy())) for side in (left, right)]
    node.replace(paren(exp.and_(infix(texts[0], "=", texts[1]), infix(nulls[0], "=", nulls[1]))))


def _refuse_distinct(_: exp.NullSafeNEQ, dialect: Dialect) -> None:
    if not dialect.has_identical:
        raise _refused(dialect, "IS DISTINCT FROM is not among what was tried there")


def _replace_not_in(node: exp.Not, _: Dialect) -> None:
    """An anti join: for NOT IN, which has to mind NULLs, PostgreSQL compares all pairs where the list is long.

    Classes have numbers, none of which is NULL, so that both mean the same.
    """
    member = node.this
    if not isinstance(member, exp.In) or not member.args.get("query"):
        return
    select = node.find_ancestor(exp.Select)
    query = member.args["query"].unnest()
    outer = member.this
    if select is None or not isinstance(outer, exp.Column) or not isinstance(query, exp.Select):
        raise InternalError("a list of classes is read in another way than it is written")
    table = select.args["from_"].this.alias_or_name
    (name,) = (output.alias_or_name for output in query.selects)
    listed_class = exp.select(literal(1)).from_(query.subquery("listed", copy=False), copy=False)
    listed_class.where(column(name, "listed").eq(column(outer.name, outer.table or table)), copy=False)
    node.set("this", exists(listed_class))


def _replace_extract(node: exp.Extract, dialect: Dialect) -> None:
    unit = node.name.upper()
    if unit in ("ISODOW", "DOY") and dialect.name in ("redshift", "snowflake", "bigquery"):
        raise _refused(dialect, "the WEEK of a CALENDAR hierarchy is not among what was tried there")
    if unit == "ISODOW" and dialect.name == "spark":
        node.set("this", exp.var("DAYOFWEEK_ISO"))
    if dialect.name == "postgres" and not isinstance(node.parent, exp.Cast):
        # It is a NUMERIC there, in older versions a DOUBLE.
        wrapped = integer(node.copy())
        node.replace(wrapped)


def _replace_division(node: exp.IntDiv, dialect: Dialect) -> None:
    """Whole numbers, none of them negative, divided without a remainder."""
    left, right = node.this, node.expression
    if dialect.name in ("redshift", "snowflake"):
        # Their quotients of whole numbers are rounded, or are not whole.
        rest = f.call("MOD", left.copy(), right.copy())
        whole = paren(infix(left.copy(), "-", rest))
        node.replace(big(infix(whole, "/", right.copy())))


def _replace_quotient(node: exp.Div, _: Dialect) -> None:
    node.set("this", cast(node.this, "DOUBLE"))


def _replace_repeat(node: exp.Repeat, _: Dialect) -> None:
    """Repeats a text at least 0 times: engines differ on what a text repeated -1 times is."""
    node.set("times", f.greatest(node.args["times"], 0))


def _replace_order(node: exp.Ordered, dialect: Dialect) -> None:
    """NULLs last by a key of their own: the windows of BigQuery cannot say where they stand."""
    parent = node.parent
    if dialect.name != "bigquery":
        return
    if node.args.get("nulls_first") or parent is None or node.args.get("desc"):
        return
    value = node.this
    node.set("nulls_first", True)
    keys = parent.args["expressions"]
    if node in keys and not _never_null(value):
        keys.insert(keys.index(node), exp.Ordered(this=is_null(value.copy()), nulls_first=True))
        parent.set("expressions", keys)


def _never_null(value: exp.Expr) -> bool:
    return isinstance(value, exp.Is)


def _prints_decimal(node: exp.Cast) -> bool:
    if node.to.this not in (_Types.TEXT, _Types.VARCHAR):
        return False
    return any(part.this in (_Types.DECIMAL, _Types.BIGDECIMAL) for part in node.this.find_all(exp.DataType))


def _spelled(text: str, escaped: re.Pattern[str]) -> exp.Expr:
    """The text as parts between characters that are named by their numbers."""
    parts: Iterator[exp.Expr] = (
        f.call("CHR", ord(part)) if escaped.fullmatch(part) else exp.Literal.string(part)
        for part in escaped.split(text)
        if part
    )
    return paren(joined(*parts))


# What replaces a part of a kind; of several kinds that a part is of the first counts.
_REPLACEMENTS: Sequence[tuple[type[exp.Expr], Callable[..., None]]] = (
    (exp.DataType, _replace_type),
    (exp.TryCast, _replace_try_cast),
    (exp.Case, _drop_infinite),
    (exp.NullSafeEQ, _replace_identical),
    (exp.NullSafeNEQ, _refuse_distinct),
    (exp.Not, _replace_not_in),
    (exp.Extract, _replace_extract),
    (exp.IntDiv, _replace_division),
    (exp.Div, _replace_quotient),
    (exp.Repeat, _replace_repeat),
    (exp.Ordered, _replace_order),
    (exp.Cast, _refuse_decimal_text),
)
