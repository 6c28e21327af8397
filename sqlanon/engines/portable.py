"""Lists what every engine answers alike: the queries that may leave DuckDB.

The list holds what was tried on both DuckDB and Spark. Anything else is an error that
names it, since what an engine does not know the same way it often answers without
complaint: a hash, an element of a list or a rounded number is simply another one there.

What a query cannot show of itself is the type of its columns. Texts of floating-point
numbers differ between engines, and so do floating-point columns cast to whole numbers:
no query of ours does either.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from sqlglot import exp

from sqlanon.domain.identifiers import same_name
from sqlanon.errors import EngineError
from sqlanon.sql.build.expressions import as_text, big, paren, text_by_bytes, text_without_collation
from sqlanon.sql.build.render import to_sql

# How DuckDB writes the dates before and after all others.
INFINITE = ("infinity", "-infinity")

_Kind = type[exp.Expr]
_Types = exp.DataType.Type

# Nodes that mean one thing, whatever stands in them.
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

# Nodes of which a part may be missing on another engine, with the parts that are not.
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
_MOMENTS = frozenset({_Types.DATE, _Types.TIMESTAMPNTZ})
_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_UNITS = frozenset({"YEAR", "QUARTER", "MONTH", "DAY", "HOUR", "DOY", "ISODOW"})
_JOINS = frozenset({"", "CROSS", "INNER", "OUTER"})
_IN_ORDER = (exp.DenseRank, exp.Lag, exp.Lead, exp.Rank, exp.RowNumber)
_BITWISE = (exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseLeftShift, exp.BitwiseRightShift)
_FRACTIONAL = (exp.Avg, exp.Div, exp.Exp, exp.Ln, exp.Sqrt)
_WHOLE_AGAIN = (exp.Ceil, exp.Count, exp.Floor, exp.IntDiv, exp.Round)
_MAX_BIGINT = 2**63 - 1


def require_portable(tree: exp.Expr) -> None:
    """Raises EngineError, naming the construct, for a query that engines may answer differently, or not at all."""
    for problem in _problems(tree):
        raise EngineError(
            f"this query runs on DuckDB only: {problem} is not on the list of what all engines answer alike"
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
    """Numbers with a decimal point are exact decimals, and each engine has its own rules to compute with those."""
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
            if to in _TEXTS | _NUMBERS or (to in _MOMENTS and (_never_met(node) or _is_day(value)))
            else _reading(node)
        )
    if to is _Types.INT128:
        return None if isinstance(_added(value), exp.Sum) else "the type HUGEINT"
    if to not in _TEXTS and (_is_text(value) or (isinstance(node, exp.TryCast) and isinstance(value, exp.Column))):
        return _reading(node)
    return f"a fraction cast to {_name(node.to)}" if to in _WHOLE and _fractional(value) else None


def _never_met(node: exp.Cast) -> bool:
    """Whether it is CASE WHEN ... = 'infinity': elsewhere no date, or moment, is infinite, and the branch not taken."""
    parent = node.parent
    branch = parent.parent if isinstance(parent, exp.EQ) else None
    whole = isinstance(branch, exp.If) and branch.this is parent and isinstance(branch.parent, exp.Case)
    return whole and node.this.name in INFINITE


def _is_day(value: exp.Literal) -> bool:
    """Whether the text is a day that all engines read as that day: 1937-01-01."""
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
    """Whether it shows that the value need not be whole: engines round it differently."""
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
    """Engines disagree where NULLs stand, so the query says it."""
    said = all(isinstance(part, exp.Ordered) and part.args.get("nulls_first") is not None for part in node.expressions)
    return None if said else "ORDER BY without NULLS FIRST or NULLS LAST"


def _frame(node: exp.Expr) -> str | None:
    if node.args.get("exclude"):
        return "a window frame with EXCLUDE"
    kind = node.args.get("kind", "").upper()
    return None if kind == "ROWS" else f"a window frame in {kind}"


def _window(node: exp.Expr) -> str | None:
    """DuckDB numbers the rows of a table as they stand in it; elsewhere they stand in no order."""
    unordered = isinstance(node.this, _IN_ORDER) and not node.args.get("order")
    return f"the function {node.this.sql_name()} without ORDER BY" if unordered else None


def _bits(node: exp.Expr) -> str | None:
    """Each engine has an order of its own for operators on bits, so parentheses say it."""
    left, right = node.this, node.expression
    nested = isinstance(left, exp.Binary) and not isinstance(left, exp.Dot) and type(left) is not type(node)
    if nested or (isinstance(right, exp.Binary) and not isinstance(right, exp.Dot)):
        return f"{type(node).__name__} without parentheses"
    return None


def _column(node: exp.Expr) -> str | None:
    """Returns the words for the column rowid, because only DuckDB numbers rows by it; None for other columns."""
    return "the column rowid" if same_name(node.name, "rowid") else None


def _rows(node: exp.Expr) -> str | None:
    """Lists are not portable, but the rows of a list of numbers are."""
    return None if isinstance(node.this, exp.GenerateSeries) else "the rows of a list"


def _numbers(node: exp.Expr) -> str | None:
    """The numbers up to another one, as rows. Where there are none DuckDB has no row, and Spark an error.

    Without a step Spark counts down to a number that is less; nothing says so.
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


# A portable query in Spark's words.


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
