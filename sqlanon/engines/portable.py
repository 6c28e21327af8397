"""Lists the parts of queries that every engine answers alike. Only queries that consist of such parts may leave DuckDB.

The list has the parts that were tried on both DuckDB and Spark. Any other part is an error that names it, because an
engine often answers an unknown construct without complaint and differently: a hash, an element of a list or a rounded
number is simply another one there.

A query does not show the types of its columns. Texts of floating-point numbers differ between engines, and so do
floating-point columns that are cast to whole numbers; queries of sqlanon have neither.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from sqlglot import exp

from sqlanon.domain.identifiers import same_name
from sqlanon.errors import EngineError
from sqlanon.sql.build.expressions import as_text, big, paren, text_by_bytes, text_without_collation
from sqlanon.sql.build.render import to_sql

# DuckDB's texts for the dates before and after all others.
INFINITE = ("infinity", "-infinity")

_Kind = type[exp.Expr]
_Types = exp.DataType.Type

# Nodes with one meaning, whatever they contain.
_PLAIN: frozenset[_Kind] = frozenset(
    {
        *(exp.Alias, exp.Boolean, exp.From, exp.Having, exp.Identifier, exp.Null, exp.Paren),
        *(exp.Parameter, exp.PropertyEQ, exp.Struct, exp.TableAlias, exp.Tuple, exp.Values, exp.Var, exp.Where),
        *(exp.And, exp.Between, exp.EQ, exp.Exists, exp.GT, exp.GTE, exp.In, exp.Is, exp.LT, exp.LTE, exp.NEQ),
        *(exp.Not, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Or),
        *(exp.Abs, exp.Add, exp.Ceil, exp.Div, exp.Exp, exp.Floor, exp.IntDiv, exp.Ln, exp.Mod, exp.Mul, exp.Neg),
        *(exp.Round, exp.Sqrt, exp.Sub),
        *(exp.Case, exp.Coalesce, exp.Greatest, exp.If, exp.IsNan, exp.Least, exp.Nullif),
        *(exp.DPipe, exp.Left, exp.Length, exp.Repeat),
        *(exp.Avg, exp.Count, exp.Filter, exp.Max, exp.Min, exp.Sum),
        *(exp.DenseRank, exp.Lag, exp.Lead, exp.Rank, exp.RowNumber),
        *(exp.Dot, exp.Limit),
    }
)

# Nodes that may have parts that another engine lacks, with the parts that every engine has.
_PARTS: dict[_Kind, frozenset[str]] = {
    exp.Select: frozenset(
        {"with_", "expressions", "distinct", "from_", "joins", "where", "group", "having", "order", "limit", "windows"}
    ),
    exp.Subquery: frozenset({"this", "alias", "with_"}),
    exp.Union: frozenset({"this", "expression", "distinct", "with_", "order", "limit"}),
    exp.With: frozenset({"expressions"}),
    exp.CTE: frozenset({"this", "alias"}),
    exp.Table: frozenset({"this", "db", "catalog", "alias"}),
    exp.Join: frozenset({"this", "on", "using", "side", "kind"}),
    exp.Group: frozenset({"expressions"}),
    exp.Distinct: frozenset({"expressions"}),
    exp.Star: frozenset({"except_"}),
}

_TYPES = frozenset(
    {
        *(_Types.BIGINT, _Types.BOOLEAN, _Types.DATE, _Types.DECIMAL, _Types.DOUBLE, _Types.INT),
        *(_Types.SMALLINT, _Types.TEXT, _Types.TIMESTAMPNTZ, _Types.TINYINT, _Types.VARCHAR),
    }
)
_WHOLE = frozenset({_Types.BIGINT, _Types.INT, _Types.SMALLINT, _Types.TINYINT})
_NUMBERS = frozenset({_Types.DECIMAL, _Types.DOUBLE})
_TEXTS = frozenset({_Types.TEXT, _Types.VARCHAR})
_TIMESTAMPS = frozenset({_Types.DATE, _Types.TIMESTAMPNTZ})
_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_UNITS = frozenset({"YEAR", "QUARTER", "MONTH", "DAY", "HOUR", "DOY", "ISODOW"})
_JOINS = frozenset({"", "CROSS", "INNER", "OUTER"})
_IN_ORDER = (exp.DenseRank, exp.Lag, exp.Lead, exp.Rank, exp.RowNumber)
_BITWISE = (exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseLeftShift, exp.BitwiseRightShift)
_FRACTIONAL = (exp.Avg, exp.Div, exp.Exp, exp.Ln, exp.Sqrt)
_WHOLE_AGAIN = (exp.Ceil, exp.Count, exp.Floor, exp.IntDiv, exp.Round)
_MAX_BIGINT = 2**63 - 1


def require_portable(tree: exp.Expr) -> None:
    """Raises EngineError, which names the construct, for a query that engines may answer differently or not at all."""
    for problem in _problems(tree):
        raise EngineError(
            f"this query runs on DuckDB only: {problem} is not on the list of constructs with the same result on all "
            "engines"
        )


def _problems(tree: exp.Expr) -> Iterator[str]:
    for node in tree.walk():
        kind = type(node)
        problem = None
        if kind in _RULES:
            problem = _RULES[kind](node)
        elif kind in _PARTS:
            problem = _extra(node, _PARTS[kind])
        elif kind not in _PLAIN:
            problem = _called(node)
        if problem:
            yield problem


def _called(node: exp.Expr) -> str:
    if isinstance(node, exp.Anonymous):
        return f"the function {node.name}"
    return f"the function {node.sql_name()}" if isinstance(node, exp.Func) else type(node).__name__


def _extra(node: exp.Expr, known: frozenset[str]) -> str | None:
    extra = [name.rstrip("_") for name, part in node.args.items() if part and name not in known]
    return f"{type(node).__name__} with {', '.join(extra)}" if extra else None


def _literal(node: exp.Expr) -> str | None:
    """Names a number beyond BIGINT, or a decimal number without a CAST, with which engines compute differently."""
    assert isinstance(node, exp.Literal)
    text = node.name
    if node.is_string or "e" in text.lower():
        return None
    if "." in text:
        typed = isinstance(node.parent, exp.Cast) and node.parent.to.this in _NUMBERS
        return None if typed else f"the decimal number {text} without a CAST"
    return f"the number {text}, beyond BIGINT," if int(text) > _MAX_BIGINT else None


def _cast(node: exp.Expr) -> str | None:
    assert isinstance(node, exp.Cast)
    to, value = node.to.this, node.this.unnest()
    if isinstance(value, exp.Literal) and value.is_string:
        return (
            None
            if to in _TEXTS | _NUMBERS or (to in _TIMESTAMPS and (_never_met(node) or _is_day(value)))
            else _reading(node)
        )
    if to is _Types.INT128:
        return None if isinstance(_added(value), exp.Sum) else "the type HUGEINT"
    if to not in _TEXTS and (_is_text(value) or (isinstance(node, exp.TryCast) and isinstance(value, exp.Column))):
        return _reading(node)
    return f"a fraction cast to {_name(node.to)}" if to in _WHOLE and _fractional(value) else None


def _never_met(node: exp.Cast) -> bool:
    """Whether a cast is in CASE WHEN ... = 'infinity'.

    On engines other than DuckDB no date is infinite, so they never evaluate this branch.
    """
    parent = node.parent
    branch = parent.parent if isinstance(parent, exp.EQ) else None
    whole = isinstance(branch, exp.If) and branch.this is parent and isinstance(branch.parent, exp.Case)
    return whole and node.this.name in INFINITE


def _is_day(value: exp.Literal) -> bool:
    """Whether all engines read the text as the same day, such as 1937-01-01."""
    return _DAY.fullmatch(value.name) is not None


def _reading(node: exp.Cast) -> str:
    return f"reading {_name(node.to)} from text"


def _name(kind: exp.DataType) -> str:
    return kind.sql(dialect="duckdb")


def _is_text(value: exp.Expr) -> bool:
    return isinstance(value, exp.Cast) and value.to.this in _TEXTS


def _added(value: exp.Expr) -> exp.Expr:
    return value.this if isinstance(value, exp.Coalesce) else value


def _fractional(value: exp.Expr) -> bool:
    """Whether the expression's value may be a fraction, which engines round differently."""
    value = value.unnest()
    if isinstance(value, _WHOLE_AGAIN) or (isinstance(value, exp.Cast) and value.to.this in _WHOLE):
        return False
    if isinstance(value, exp.Literal):
        return not value.is_int
    if isinstance(value, _FRACTIONAL) or (isinstance(value, exp.Cast) and value.to.this in _NUMBERS):
        return True
    if isinstance(value, exp.Window):
        return _fractional(value.this)
    return any(_fractional(part) for part in value.iter_expressions() if not isinstance(part, exp.Query))


def _type(node: exp.Expr) -> str | None:
    assert isinstance(node, exp.DataType)
    if node.this is _Types.INT128 and isinstance(node.parent, exp.Cast):
        return None  # the cast itself is looked at
    if node.this not in _TYPES:
        return f"the type {_name(node)}"
    wanted = 2 if node.this is _Types.DECIMAL else 0
    if len(node.expressions) == wanted:
        return None
    return f"the type {_name(node)} {'without' if wanted else 'with'} a width"


def _extract(node: exp.Expr) -> str | None:
    unit = node.name.upper()
    return None if unit in _UNITS else f"EXTRACT({unit})"


def _join(node: exp.Expr) -> str | None:
    assert isinstance(node, exp.Join)
    return _extra(node, _PARTS[exp.Join]) or (None if node.kind in _JOINS else f"a {node.kind} join")


def _distinct(node: exp.Expr) -> str | None:
    if len(node.expressions) > 1:
        return "DISTINCT of several values"
    return _extra(node, _PARTS[exp.Distinct])


def _order(node: exp.Expr) -> str | None:
    """Names an ORDER BY without a place for NULLs, on which engines disagree; None for any other."""
    is_explicit = all(
        isinstance(part, exp.Ordered) and part.args.get("nulls_first") is not None for part in node.expressions
    )
    return None if is_explicit else "ORDER BY without NULLS FIRST or NULLS LAST"


def _frame(node: exp.Expr) -> str | None:
    if node.args.get("exclude"):
        return "a window frame with EXCLUDE"
    kind = node.args.get("kind", "").upper()
    return None if kind == "ROWS" else f"a window frame in {kind}"


def _window(node: exp.Expr) -> str | None:
    """Names a window function that needs an ORDER BY and has none: only DuckDB orders rows. None for any other."""
    unordered = isinstance(node.this, _IN_ORDER) and not node.args.get("order")
    return f"the function {node.this.sql_name()} without ORDER BY" if unordered else None


def _bits(node: exp.Expr) -> str | None:
    """Names nested operators on bits without parentheses, on whose precedence engines disagree; None for any other."""
    left, right = node.this, node.expression
    nested = isinstance(left, exp.Binary) and not isinstance(left, exp.Dot) and type(left) is not type(node)
    if nested or (isinstance(right, exp.Binary) and not isinstance(right, exp.Dot)):
        return f"{type(node).__name__} without parentheses"
    return None


def _column(node: exp.Expr) -> str | None:
    """Names the column rowid for an error, because only DuckDB has row numbers under this name; None for
    other columns.
    """
    return "the column rowid" if same_name(node.name, "rowid") else None


def _rows(node: exp.Expr) -> str | None:
    """Names the rows of a list for an error; None for a series of numbers, which all engines can expand."""
    return None if isinstance(node.this, exp.GenerateSeries) else "the rows of a list"


def _numbers(node: exp.Expr) -> str | None:
    """Names a list of numbers that engines may not count alike; None for rows counted upwards by a constant step.

    Without a step, Spark counts down to a smaller number. If there is no number, DuckDB returns no row, and Spark
    raises an error.
    """
    if not isinstance(node.parent, exp.Explode) or node.args.get("is_end_exclusive"):
        return "a list of numbers"
    step = node.args.get("step")
    upwards = isinstance(step, exp.Literal) and step.is_int and int(step.name) > 0
    return None if upwards else "a list of numbers without a step up"


def _placeholder(node: exp.Expr) -> str | None:
    if node.name.isdigit():
        return None
    return f"the parameter ${node.name}" if node.this else "the parameter ?"


_RULES: dict[_Kind, Callable[[exp.Expr], str | None]] = {
    exp.Literal: _literal,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.DataType: _type,
    exp.DataTypeParam: lambda node: None,
    exp.Extract: _extract,
    exp.Join: _join,
    exp.Distinct: _distinct,
    exp.Order: _order,
    exp.Ordered: lambda node: _extra(node, frozenset({"this", "desc", "nulls_first"})),
    exp.Window: _window,
    exp.WindowSpec: _frame,
    exp.Placeholder: _placeholder,
    exp.Column: _column,
    exp.Explode: _rows,
    exp.GenerateSeries: _numbers,
    **dict.fromkeys(_BITWISE, _bits),
}


# A portable query in Spark's SQL.


def quoted(name: str) -> str:
    """Quotes a name for Spark, even if it has special characters."""
    return "`" + name.replace("`", "``") + "`"


def spark_sql(tree: exp.Expr) -> str:
    """Writes a portable query in Spark's SQL; parameters become :p1, :p2 and so on.

    Raises EngineError, which names the construct, for a query that is not portable.
    """
    # In parentheses, the query itself can be replaced like any of its parts.
    spelled = paren(tree.copy())
    _compare_by_bytes(spelled)
    require_portable(spelled.this)
    for shift in reversed(list(spelled.find_all(exp.BitwiseLeftShift))):
        # Spark drops the bits beyond an INT; DuckDB raises an error. The cast has a copy, so inner shifts come first.
        shift.set("this", big(shift.this))
    for node in list(spelled.walk()):
        if isinstance(node, exp.DataType) and node.this is exp.DataType.Type.INT128:
            node.replace(exp.DataType.build("DECIMAL(38, 0)"))
        elif isinstance(node, exp.Extract) and node.name.upper() == "ISODOW":
            node.set("this", exp.var("DAYOFWEEK_ISO"))
        elif isinstance(node, exp.Parameter | exp.Placeholder):
            node.replace(exp.Placeholder(this=f"p{node.name}"))
        elif isinstance(node, exp.CTE) and node.args.get("materialized") is False:
            # Spark never materializes it, and has no word for this.
            node.set("materialized", None)
        elif isinstance(node, exp.TryCast):
            # By default sqlglot reads it as a cast that raises errors.
            node.set("safe", True)
        elif isinstance(node, exp.Cast) and node.this.is_string and node.this.name in INFINITE:
            # Spark has no infinite date: the cast returns NULL, which no date equals. Numbers are as in DuckDB.
            node.replace(exp.TryCast(this=node.this.copy(), to=node.to.copy(), safe=True))
    return to_sql(spelled.this, dialect="spark")


def _compare_by_bytes(tree: exp.Expr) -> None:
    """Removes DuckDB's instructions to compare texts by their bytes, which Spark does by default."""
    for node in reversed(list(tree.walk())):
        if (text := text_by_bytes(node)) is not None:
            node.replace(text)
        elif (text := text_without_collation(node)) is not None:
            node.replace(as_text(text))
