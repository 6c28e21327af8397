"""Translates a portable query to a warehouse's dialect.

Queries may have only the parts that engines answer alike, which are listed in `engines/portable.py`. A part with
another spelling or meaning in the warehouse is replaced here; a missing part is an error. The generator does not guess,
because it raises an error if it would leave a part out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import ErrorLevel, exp
from sqlglot.errors import SqlglotError

from sqlanon.domain.identifiers import nearest
from sqlanon.engines.portable import INFINITE, require_portable
from sqlanon.errors import EngineError, InternalError, UserError
from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import and_, as_text, big, cast, exists, infix, integer, is_null, joined, paren
from sqlanon.sql.build.names import column, identifier, literal
from sqlanon.sql.build.queries import extend, select, subquery

# The differences between warehouses that matter to a script.


_DECIMAL = re.compile(r"DECIMAL\(\d+,\s*(\d+)\)")


@dataclass(frozen=True)
class Dialect:
    """A warehouse, named as sqlglot names its SQL; `title` is its name for people.

    - `by_bytes` builds a text that is compared by its bytes, whatever the collation of its column. `by_default` gives
      this text the collation of new columns again; it is None if the text never lost this collation.
    - `collates`: a database may compare the texts of new columns differently than by their bytes.
    - `draw` builds a random number or text for each row, to order the published rows; None if tables have no order.
    - `deal` builds a text for each row that nobody can compute, to assign rows to buckets and to order the published
      rows; it is None if random numbers depend on only a few bits, or if tables have no order.
    - `analyzes`: until the rows of new tables are sampled, joins are planned by guesses and may compare all pairs.
    - `is_staged`: there are no temporary tables; steps are tables of a schema that nobody else reads.
    - `replaces`: CREATE OR REPLACE removes the tables of an earlier run.
    - `has_identical`: IS NOT DISTINCT FROM exists, and joins by it are as fast as by equality.
    - `has_infinite`: dates and timestamps may be infinite.
    - `escaped`: characters that are written by their numbers, because the reading of these characters in a text depends
      on settings or is undocumented.
    - `folds_names`: unquoted names in lower case mean names in upper case.
    - `substitutes`: a text that begins with ${ may be replaced before the script is read.
    - `has_search_path`: functions and operators are looked up in the schemas of other users unless these are excluded;
      tables then need a schema.
    - `typed` builds a value cast to a type of DuckDB.
    - `longest_name`: the maximum number of bytes in a name, if longer names are cut off; None if they are an error.
    """

    name: str
    title: str
    by_bytes: Callable[[exp.Expr], exp.Expr]
    by_default: Callable[[exp.Expr], exp.Expr] | None = None
    draw: Callable[[], exp.Expr] | None = None
    deal: Callable[[], exp.Expr] | None = None
    collates: bool = True
    analyzes: bool = False
    is_staged: bool = False
    replaces: bool = False
    has_identical: bool = True
    has_infinite: bool = False
    escaped: re.Pattern[str] | None = None
    folds_names: bool = False
    substitutes: bool = False
    has_search_path: bool = False
    longest_name: int | None = None
    typed: Callable[[exp.Expr, str], exp.Expr] = cast


def _collate(value: exp.Expr, collation: str) -> exp.Expr:
    return exp.Collate(this=value, expression=identifier(collation))


def _postgres_bytes(value: exp.Expr) -> exp.Expr:
    return _collate(as_text(value), "C")


def _spark_bytes(value: exp.Expr) -> exp.Expr:
    return exp.Collate(this=as_text(value), expression=exp.var("UTF8_BINARY"))


def _redshift_bytes(value: exp.Expr) -> exp.Expr:
    """Removes the blanks at the end, because Redshift's comparisons ignore them, so that equal texts would look
    different.
    """
    return f.call("COLLATE", f.call("RTRIM", as_text(value)), "case_sensitive")


def _uncollated(value: exp.Expr) -> exp.Expr:
    return f.call("COLLATE", as_text(value), "")


def _rounded(value: exp.Expr, kind: str) -> exp.Expr:
    """Casts a value to a type; a DECIMAL is rounded to its scale first, because BigQuery's cast refuses
    other values.
    """
    decimal = _DECIMAL.fullmatch(kind)
    return f.call("ROUND", cast(value, kind), int(decimal[1])) if decimal else cast(value, kind)


def _call(name: str, *arguments: str) -> Callable[[], exp.Expr]:
    return lambda: f.call(name, *arguments)


DIALECTS: Mapping[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            "postgres",
            "PostgreSQL",
            _postgres_bytes,
            by_default=lambda value: _collate(value, "default"),
            draw=_call("GEN_RANDOM_UUID"),
            deal=_call("GEN_RANDOM_UUID"),
            collates=False,
            analyzes=True,
            has_identical=False,
            has_infinite=True,
            escaped=re.compile(r"(\\)"),
            has_search_path=True,
            longest_name=63,
        ),
        Dialect(
            "redshift",
            "Amazon Redshift",
            _redshift_bytes,
            draw=_call("RANDOM"),
            has_identical=False,
            escaped=re.compile(r"(['\\\x00-\x1f\x7f])"),
            longest_name=127,
        ),
        Dialect(
            "snowflake",
            "Snowflake",
            _uncollated,
            draw=_call("UUID_STRING"),
            deal=_call("UUID_STRING"),
            replaces=True,
            folds_names=True,
        ),
        Dialect("bigquery", "BigQuery", _uncollated, replaces=True, typed=_rounded),
        Dialect(
            "spark",
            "Spark SQL",
            _spark_bytes,
            by_default=as_text,
            draw=_call("UUID"),
            # The session's own random numbers depend on 48 bits; these have 122 bits of java.security.SecureRandom.
            deal=_call("REFLECT", "java.util.UUID", "randomUUID"),
            is_staged=True,
            substitutes=True,
        ),
    )
}


def dialect_named(name: str) -> Dialect:
    """Returns the dialect of this name. Raises UserError, with the names of all dialects, for another name."""
    if name in DIALECTS:
        return DIALECTS[name]
    raise UserError(
        f"there is no dialect {name}", hint=nearest(name, list(DIALECTS)) or f"there are: {', '.join(DIALECTS)}"
    )


_Types = exp.DataType.Type


def translated(query: exp.Query, dialect: Dialect) -> exp.Query:
    """Returns a copy of the query that has only parts of the dialect.

    Raises UserError, which names the part, for a part whose meaning may differ there.
    """
    try:
        require_portable(query)
    except EngineError as error:
        raise UserError(f"{dialect.title} cannot make this release: {error.message}") from None
    # In parentheses, the query itself can be replaced like any of its parts.
    tree = paren(query)
    # Inner parts are replaced before the parts around them.
    for node in reversed(list(tree.walk(bfs=False))):
        if isinstance(node, exp.Greatest | exp.Least) and not node.args.get("ignore_nulls"):
            node.set("ignore_nulls", False)
        _replace(node, dialect)
    rewritten = tree.this
    assert isinstance(rewritten, exp.Query)
    return rewritten


def script_sql(tree: exp.Expr, dialect: Dialect) -> str:
    """Returns the text of a statement that is made of translated queries."""
    for node in tree.find_all(exp.Literal, exp.Identifier):
        if "\0" in node.name:
            # A client may end the line there, and the rest of a text would be outside the text.
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
    """Replaces a part that the dialect reads differently; its inner parts stay as they are."""
    for kind, replace in _REPLACEMENTS:
        if isinstance(node, kind):
            replace(node, dialect)
            return


def _replace_type(node: exp.DataType, dialect: Dialect) -> None:
    if node.this is _Types.INT128:
        node.replace(exp.DataType.build("BIGDECIMAL" if dialect.name == "bigquery" else "DECIMAL(38, 0)"))
    elif node.this is _Types.DECIMAL and dialect.name == "bigquery":
        # BigQuery's NUMERIC has 29 digits before the point.
        node.set("this", _Types.BIGDECIMAL)
        node.set("expressions", [])


def _replace_try_cast(node: exp.TryCast, _: Dialect) -> None:
    """Replaces TRY_CAST by a cast in the tree.

    A cast that fails ends the script, so that nothing is published; in DuckDB the result would be NULL.
    """
    node.replace(exp.Cast(this=node.this, to=node.to))


def _refuse_decimal_text(node: exp.Cast, dialect: Dialect) -> None:
    if dialect.name == "bigquery" and _prints_decimal(node):
        raise _refused(dialect, "it prints decimal numbers without zeros at the end, so that labels would be others")


def _drop_infinite(node: exp.Case, dialect: Dialect) -> None:
    """Removes branches for infinite dates; only PostgreSQL has such dates."""
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
    """Replaces IS NOT DISTINCT FROM by two equalities, which joins compare fast; texts of one type are equal if the
    values are.
    """
    if dialect.has_identical:
        return
    left, right = node.this, node.expression
    texts = [f.coalesce(as_text(side), "") for side in (left, right)]
    nulls = [paren(is_null(side)) for side in (left, right)]
    node.replace(paren(and_(infix(texts[0], "=", texts[1]), infix(nulls[0], "=", nulls[1]))))


def _refuse_distinct(_: exp.NullSafeNEQ, dialect: Dialect) -> None:
    if not dialect.has_identical:
        raise _refused(dialect, "IS DISTINCT FROM has not been tested there")


def _replace_not_in(node: exp.Not, _: Dialect) -> None:
    """Replaces NOT IN by an anti join, because PostgreSQL's NOT IN compares all pairs for a long list, on account of
    NULLs.

    Both mean the same here, because numbers of classes are never NULL.
    """
    member = node.this
    if not isinstance(member, exp.In) or not member.args.get("query"):
        return
    outer_query = node.find_ancestor(exp.Select)
    query = member.args["query"].unnest()
    outer = member.this
    if outer_query is None or not isinstance(outer, exp.Column) or not isinstance(query, exp.Select):
        raise InternalError("a list of classes is read in another way than it is written")
    table = outer_query.args["from_"].this.alias_or_name
    (name,) = (output.alias_or_name for output in query.selects)
    listed_class = select(literal(1), of=subquery(query, "listed"))
    extend(listed_class, where=[column(name, "listed").eq(column(outer.name, outer.table or table))])
    node.set("this", exists(listed_class))


def _replace_extract(node: exp.Extract, dialect: Dialect) -> None:
    unit = node.name.upper()
    if unit in ("ISODOW", "DOY") and dialect.name in ("redshift", "snowflake", "bigquery"):
        raise _refused(dialect, "the WEEK of a CALENDAR hierarchy has not been tested there")
    if unit == "ISODOW" and dialect.name == "spark":
        node.set("this", exp.var("DAYOFWEEK_ISO"))
    if dialect.name == "postgres" and not isinstance(node.parent, exp.Cast):
        # In PostgreSQL it is a NUMERIC, in older versions a DOUBLE.
        wrapped = integer(node)
        node.replace(wrapped)


def _replace_division(node: exp.IntDiv, dialect: Dialect) -> None:
    """Replaces the quotient of whole numbers, which are never negative, if the dialect's own quotient is not whole."""
    left, right = node.this, node.expression
    if dialect.name in ("redshift", "snowflake"):
        # Their quotients of whole numbers are rounded or fractions.
        rest = f.call("MOD", left, right)
        whole = paren(infix(left, "-", rest))
        node.replace(big(infix(whole, "/", right)))


def _replace_quotient(node: exp.Div, _: Dialect) -> None:
    node.set("this", cast(node.this, "DOUBLE"))


def _replace_repeat(node: exp.Repeat, _: Dialect) -> None:
    """Repeats a text at least 0 times, because engines differ for -1 times."""
    node.set("times", f.greatest(node.args["times"], 0))


def _replace_order(node: exp.Ordered, dialect: Dialect) -> None:
    """Replaces NULLS LAST by a separate sort key in the tree, because windows of BigQuery have no NULLS LAST."""
    parent = node.parent
    if dialect.name != "bigquery":
        return
    if node.args.get("nulls_first") or parent is None or node.args.get("desc"):
        return
    value = node.this
    node.set("nulls_first", True)
    keys = parent.args["expressions"]
    if node in keys and not _never_null(value):
        keys.insert(keys.index(node), exp.Ordered(this=is_null(value), nulls_first=True))
        parent.set("expressions", keys)


def _never_null(value: exp.Expr) -> bool:
    return isinstance(value, exp.Is)


def _prints_decimal(node: exp.Cast) -> bool:
    if node.to.this not in (_Types.TEXT, _Types.VARCHAR):
        return False
    return any(part.this in (_Types.DECIMAL, _Types.BIGDECIMAL) for part in node.this.find_all(exp.DataType))


def _spelled(text: str, escaped: re.Pattern[str]) -> exp.Expr:
    """Returns the SQL of a text as a concatenation in which characters in `escaped` are given by their numbers."""
    parts: Iterator[exp.Expr] = (
        f.call("CHR", ord(part)) if escaped.fullmatch(part) else exp.Literal.string(part)
        for part in escaped.split(text)
        if part
    )
    return paren(joined(*parts))


# The function that replaces a kind of part; the first matching kind counts.
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


# A step of a script.


# The names of steps in every script.
SOURCE = "source"
CANDIDATE = "candidate"


@dataclass(frozen=True)
class ScriptStep:
    """A query under its name, with a sentence for the reader of the script, which may be empty.

    `about` has further lines, such as the source's column behind a column of the step. `drawn` is the name of a further
    column that has a random number of the warehouse for each row.
    """

    name: str
    query: exp.Query
    comment: str = ""
    about: tuple[str, ...] = ()
    drawn: str | None = None
