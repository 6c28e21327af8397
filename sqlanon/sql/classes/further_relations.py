"""Builds the normal relations of single models: guarding nodes, known triples, ranges of shares, numbers."""

from __future__ import annotations

import re

from sqlglot import exp

from sqlanon.sql.build import functions as f
from sqlanon.sql.build.expressions import (
    as_text,
    cast,
    is_not_null,
    try_cast,
)
from sqlanon.sql.build.names import alias, column, literal, relation
from sqlanon.sql.build.queries import extend, select
from sqlanon.sql.build.sql_files import filled_query, query_file
from sqlanon.sql.build.steps import Step
from sqlanon.sql.cells.taxonomy import Taxonomy, level_labels
from sqlanon.sql.classes.rows import Rows

# Guarding nodes (Xiao and Tao 2006): the nodes of the sensitive hierarchy that respondents named for themselves.


def guarding_steps(index: int, rows: Rows, guard: str, paths: str, height: int) -> list[Step]:
    """Returns the steps that make the relations guarded and guarding_node of the requirement at `index`.

    A guarding node is the node of the hierarchy that a respondent wants hidden. `guard` is the column of the rows that
    holds the nodes as texts. `paths` is the name of the relation `sensitive_path` of the guarded attribute.
    """
    counted, coded, meant = f"class_guard_{index}", f"guard_code_{index}", f"guard_label_{index}"
    tables = {"coded": coded, "meant": meant, "paths": paths}
    return [
        (counted, _class_guard(rows, guard)),
        (coded, _guard_code(counted)),
        (f"guarded_{index}", _guarded(counted, coded)),
        (meant, query_file("guarding", "guard_label", tables={"coded": coded, "labels": level_labels(paths, height)})),
        (f"guarding_node_{index}", query_file("guarding", "guarding_node", tables=tables)),
    ]


def _class_guard(rows: Rows, guard: str) -> exp.Select:
    """SELECT of class_guard_r(class_id, guard): the guarding nodes of each class, as texts; NULL guards no value."""
    value = rows.value(guard)
    text = as_text(value)
    return extend(rows.grouped(text), alias(text, "guard"), where=[is_not_null(value)])


def _guard_code(counted: str) -> exp.Query:
    """SELECT of guard_code_r(guard, node): the texts of guarding nodes, numbered in their order."""
    occurring = "FROM (SELECT DISTINCT guard FROM counted) AS occurring"
    return filled_query(
        f"SELECT guard, row_number() OVER (ORDER BY guard) AS node {occurring}", tables={"counted": counted}
    )


def _guarded(counted: str, coded: str) -> exp.Query:
    """SELECT of guarded_r(class_id, node): the distinct guarding nodes of each class."""
    query = "SELECT counted.class_id, coded.node FROM counted JOIN coded ON counted.guard = coded.guard"
    return filled_query(query, tables={"counted": counted, "coded": coded})


# Tables of sensitive values beside the source, by the codes of the values.


def of_listed(kind: str, listed: exp.Query, codes: str, taxonomy: Taxonomy) -> exp.Query:
    """Returns one of the relations in LISTED, made from the table of values that a requirement names.

    `listed` has the columns of LISTED; `codes` is a relation of the values (value_0) and their numbers (code).
    """
    typed = try_cast(column("value", "listed"), taxonomy.bound.published_type)
    return query_file("guarding", kind, tables={"listed": listed, "coded": codes}, typed=typed)


# The numbers of a sensitive attribute's codes, for models that measure the distance of values.


OF_NUMBERS = "sensitive_number"
# Types whose values are numbers, or dates, whose differences are numbers.
_WHOLE_NUMBERS = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)")
_DECIMALS = re.compile(r"DECIMAL\(\d+, ?(\d+)\)")
_OTHER_NUMBERS = ("FLOAT", "DOUBLE", "BIGNUM")
_TIMESTAMPS = re.compile(r"DATE|TIMESTAMP(_S|_MS|_NS)?|TIMESTAMP WITH TIME ZONE")
# Decimals with more digits after the decimal point are read as DOUBLEs: an engine may round their products.
_MOST_DIGITS = 6
# A number of more units is reduced to this many, so its distance from other numbers can only look smaller.
_MOST_UNITS = 2 * 10**19
_MICROSECONDS = 86_400_000_000


def is_numeric(kind: str) -> bool:
    """Whether values of a type have distances, as numbers, dates and timestamps do."""
    exact = _WHOLE_NUMBERS.fullmatch(kind) or _DECIMALS.fullmatch(kind) or _TIMESTAMPS.fullmatch(kind)
    return exact is not None or kind in _OTHER_NUMBERS


def sensitive_number(codes: str, kind: str) -> exp.Select:
    """Returns sensitive_number(value, whole, unit, number), which maps the codes of a column of this type to numbers.

    A whole number, a decimal, a date or a timestamp is `whole` units, of which `unit` make 1, or a day. Any other
    number is the DOUBLE `number`. Columns that do not apply are NULL; for the value NULL, all are.
    """
    value = column("value_0")
    nothing, decimal = cast(exp.null(), _UNITS), _DECIMALS.fullmatch(kind)
    digits = int(decimal[1]) if decimal else 0
    whole: exp.Expr = nothing.copy()
    unit = 1
    number: exp.Expr = cast(exp.null(), "DOUBLE")
    if _TIMESTAMPS.fullmatch(kind):
        # The first and the last possible dates have no timestamp, and infinite dates no position: both have no number.
        unit = _MICROSECONDS
        timestamp = value if kind == "TIMESTAMP WITH TIME ZONE" else try_cast(value, "TIMESTAMP")
        whole = cast(f.built_in("epoch_us", timestamp), _UNITS)
    elif digits <= _MOST_DIGITS and (decimal or (_WHOLE_NUMBERS.fullmatch(kind) and kind != "UHUGEINT")):
        unit = 10**digits
        whole = _units(value, kind, digits)
    else:
        number = cast(value, "DOUBLE")
    parts = {"whole": whole, "unit": cast(literal(unit), _UNITS), "number": number}
    named = [alias(part, name) for name, part in parts.items()]
    return select(alias(column("code"), "value"), *named, of=relation(codes))


_UNITS = "DECIMAL(38, 0)"


def _units(value: exp.Expr, kind: str, digits: int) -> exp.Expr:
    exact = f"DECIMAL(38, {digits})"
    # A HUGEINT may have more digits than a DECIMAL.
    number: exp.Expr = try_cast(value, exact) if kind == "HUGEINT" else cast(value, exact)
    most = _MOST_UNITS // 10**digits
    if kind == "HUGEINT" or digits or kind == "UBIGINT":
        high, low = (cast(exp.Literal.string(str(end)), exact) for end in (most, -most))
        number = f.greatest(f.least(number, high, ignore_nulls=False), low, ignore_nulls=False)
    return cast(number * cast(literal(10**digits), "DECIMAL(19, 0)"), _UNITS) if digits else number
